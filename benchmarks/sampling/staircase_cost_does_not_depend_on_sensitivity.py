"""Discrete staircase draws at sensitivity 1, 1e3, 1e6 and 1e9, a million each, by both methods.

Run: PYTHONPATH=src python benchmarks/sampling/staircase_cost_does_not_depend_on_sensitivity.py
"""

from timing import Contender, compared, shown

from utmost.noise import DiscreteStaircase
from utmost.sampling import sample

N = 1_000_000


def main():
    laws = {D: DiscreteStaircase(epsilon=1, sensitivity=D) for D in (1, 10**3, 10**6, 10**9)}
    shown(
        compared(
            [
                Contender(
                    f"{method}, sensitivity {D:.0e}", lambda law=law, method=method: sample(law, N, method=method), N
                )
                for method in ("table", "constant")
                for D, law in laws.items()
            ]
        )
    )


if __name__ == "__main__":
    main()
