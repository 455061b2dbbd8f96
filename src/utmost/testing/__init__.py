"""Seeded randomness for tests. No function of this module may be used for a real release.

Strategies for property tests are in `utmost.testing.strategies`, which imports hypothesis.
"""

from utmost.interfaces.testing.seeded import (
    SeededRandomness,
    seeded_draw,
    seeded_gradual_release,
    seeded_ledger,
    seeded_planar_release,
    seeded_release,
    seeded_responses,
    seeded_workload_release,
)

__all__ = [
    "SeededRandomness",
    "seeded_draw",
    "seeded_gradual_release",
    "seeded_ledger",
    "seeded_planar_release",
    "seeded_release",
    "seeded_responses",
    "seeded_workload_release",
]


def __dir__() -> list[str]:
    return __all__
