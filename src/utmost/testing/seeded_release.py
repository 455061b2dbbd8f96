"""A release that repeats, for tests of what is built on releases."""

from typing import Any

from utmost.exact import Number
from utmost.noise import Law
from utmost.release.values import noised
from utmost.sampling.draw import Method
from utmost.testing.randomness import SeededRandomness


def seeded_release(
    values: Any,
    law: Law,
    seed: int | str | bytes,
    *,
    method: Method | None = None,
    grid: Number | None = None,
) -> Any:
    """What `utmost.release` does, with bits from a seed. It is not private: the seed takes the noise off again.

    >>> from utmost.noise import Geometric
    >>> seeded_release([10, 20], Geometric(epsilon=1), seed=7).tolist() == seeded_release(
    ...     [10, 20], Geometric(epsilon=1), seed=7
    ... ).tolist()
    True
    """
    return noised(values, law, randomness=SeededRandomness(seed), method=method, grid=grid)
