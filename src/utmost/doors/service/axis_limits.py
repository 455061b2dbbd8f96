"""How long an axis may be that somebody asks a server to make: bins and periods are many in a few words."""

from collections.abc import Mapping
from typing import Any

from utmost.errors import OutOfRange, UtmostError
from utmost.laws.exact import exact
from utmost.publish.workloads.clock import LEAST_SECONDS, Period, read_time

MOST_VALUES = 200_000
"""The values of an axis over the wire: one and a half seconds of work."""


def check_axes(domain: Any) -> None:
    """Check that no axis of a domain, as JSON, has more values than a server makes for whoever asks.

    What is no domain is passed on, to be refused where it is read.

    Raises:
        OutOfRange: for a longer axis.

    >>> check_axes({"age": {"bins": [0, 100], "width": 5}})
    >>> check_axes({"age": {"bins": [0, "1e8"]}})
    Traceback (most recent call last):
    utmost.errors.OutOfRange: axis 'age': an axis over the wire must have at most 200000 values; got 10000...
    """
    for name, axis in domain.items() if isinstance(domain, Mapping) else ():
        length = _length(axis) if isinstance(axis, Mapping) else 0
        if length > MOST_VALUES:
            raise OutOfRange(
                f"an axis over the wire must have at most {MOST_VALUES} values",
                came=f"{length} of them",
                where=f"axis {str(name)!r}",
                remedy="Declare wider bins or longer periods; or publish it on the machine that has the ledger.",
            )


def _length(axis: Mapping[str, Any]) -> int:
    """How many bins or periods the words of an axis make; 0 where they make none."""
    try:
        if "bins" in axis:
            low, high = (exact(end) for end in axis["bins"])
            return int((high - low) / exact(axis.get("width", 1)))
        if "periods" in axis:
            start, stop = (read_time(end, "periods") for end in axis["periods"])
            period = Period.named(axis["every"])
            return (stop - start) // (LEAST_SECONDS[period.unit] * period.times)
    except (UtmostError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        pass
    return 0
