"""The door to numba: functions compiled on their first call, kept on disk between processes."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function in machine code."""
    return cast(F, njit(cache=True)(function))


def inlined(function: F) -> F:
    """The same, copied into its callers."""
    return cast(F, njit(cache=True, inline="always")(function))
