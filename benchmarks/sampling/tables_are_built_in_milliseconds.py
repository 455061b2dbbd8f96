"""What it takes to make the sampler of a distribution, before its first draw.

Run: PYTHONPATH=src python benchmarks/sampling/tables_are_built_in_milliseconds.py
"""

from timing import Contender, compared, shown

from utmost.core.sampling.draw import StaircaseSampler
from utmost.core.sampling.geometric_draws import CONSTANT, TABLE, SamplingPlan, TwoSidedGeometricSampler
from utmost.noise import DiscreteStaircase, Geometric, IntegerDistribution


def build(distribution: IntegerDistribution, plan: SamplingPlan) -> object:
    profile = distribution.profile
    ratio = profile.level.alpha_interval
    if profile.period == 1:
        return TwoSidedGeometricSampler(ratio, plan)
    return StaircaseSampler(ratio, profile.period, profile.step, plan)


def main():
    distributions = [
        Geometric(epsilon=1),
        Geometric(alpha="1/2"),
        DiscreteStaircase(epsilon=1, sensitivity=10**9),
        Geometric(epsilon="0.001"),
        Geometric(epsilon="1e-6", sensitivity=10**9),
    ]
    plans = {"table": TABLE, "constant": CONSTANT}
    found = compared(
        [
            Contender(
                f"{name}, {distribution!r}"[:44],
                lambda distribution=distribution, plan=plan: build(distribution, plan),
                10**6,
            )
            for distribution in distributions
            for name, plan in plans.items()
        ]
    )
    shown(found, unit="ms")


if __name__ == "__main__":
    main()
