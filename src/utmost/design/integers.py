"""Long integers: python-flint's where it is installed (extra ``exact``), several times faster, else Python's own."""

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

from utmost.exact import Array


def integer(x: int) -> Any:
    """An int as the fastest long integer there is; ``int`` brings it back."""
    return _fastest()(x)


def integers(numbers: Iterable[int]) -> Array:
    """Long integers as an object array of one dimension.

    >>> integers([1, 2]).sum() == 3
    True
    """
    kind = _fastest()
    held = [kind(x) for x in numbers]
    array = np.empty(len(held), dtype=object)
    array[:] = held
    return array


@cache
def _fastest() -> Callable[[int], Any]:
    """Looked for at the first use, so that importing utmost does not load it."""
    try:
        from flint import fmpz
    except ImportError:
        return int
    return fmpz
