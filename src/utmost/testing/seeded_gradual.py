"""A gradual release that repeats, for tests of what is built on it."""

from collections.abc import Mapping
from typing import Any

from utmost.exact import Number
from utmost.release.gradual import GradualRelease
from utmost.sampling.draw import Method
from utmost.testing.randomness import SeededRandomness


def seeded_gradual_release(
    values: Any,
    sensitivity: Number | Mapping[Any, Number],
    seed: int | str | bytes,
    *,
    cells: Number = 1,
    domain: str | Mapping[Any, str] = "integers",
    grid: Number | None = None,
    half_step: bool = False,
    method: Method | None = None,
) -> GradualRelease:
    """A `GradualRelease` with bits from a seed. It is not private: the seed takes the noise off again.

    >>> one, other = (seeded_gradual_release([10, 20], 1, seed=7) for _ in range(2))
    >>> one.at(epsilon=1).tolist() == other.at(epsilon=1).tolist()
    True
    """
    release = object.__new__(GradualRelease)
    release._open(values, sensitivity, cells, domain, grid, half_step, SeededRandomness(seed), method)
    return release
