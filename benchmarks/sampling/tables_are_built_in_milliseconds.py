"""What it takes to make the sampler of a law, before its first draw.

Run: PYTHONPATH=src python benchmarks/sampling/tables_are_built_in_milliseconds.py
"""

from timing import Contender, compared, shown

from utmost.core.sampling.draw import StaircaseSampler
from utmost.core.sampling.geometric_draws import CONSTANT, TABLE, SamplingPlan, TwoSidedGeometricSampler
from utmost.noise import DiscreteStaircase, Geometric, IntegerLaw


def build(law: IntegerLaw, plan: SamplingPlan) -> object:
    profile = law.profile
    ratio = profile.level.alpha_interval
    if profile.period == 1:
        return TwoSidedGeometricSampler(ratio, plan)
    return StaircaseSampler(ratio, profile.period, profile.step, plan)


def main():
    laws = [
        Geometric(epsilon=1),
        Geometric(alpha="1/2"),
        DiscreteStaircase(epsilon=1, sensitivity=10**9),
        Geometric(epsilon="0.001"),
        Geometric(epsilon="1e-6", sensitivity=10**9),
    ]
    plans = {"table": TABLE, "constant": CONSTANT}
    found = compared(
        [
            Contender(f"{name}, {law!r}"[:44], lambda law=law, plan=plan: build(law, plan), 10**6)
            for law in laws
            for name, plan in plans.items()
        ]
    )
    shown(found, unit="ms")


if __name__ == "__main__":
    main()
