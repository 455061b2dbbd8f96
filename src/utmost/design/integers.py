"""Long integers: python-flint's where it is installed (extra ``exact``), several times faster, else Python's own."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from utmost.exact import Array


def _fastest() -> Callable[[int], Any]:
    try:
        from flint import fmpz
    except ImportError:
        return int
    return fmpz


integer: Callable[[int], Any] = _fastest()
"""An int as the fastest long integer there is; ``int`` brings it back."""


def integers(numbers: Iterable[int]) -> Array:
    """Long integers as an object array of one dimension.

    >>> integers([1, 2]).sum() == 3
    True
    """
    held = [integer(x) for x in numbers]
    array = np.empty(len(held), dtype=object)
    array[:] = held
    return array
