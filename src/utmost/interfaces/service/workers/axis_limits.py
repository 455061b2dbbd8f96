"""How long an axis may be, and how many rows may be listed along it, that somebody asks a server to make or to solve:
bins and periods are many in a few words, and estimates from listed rows cost the square of the rows.
"""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.errors import OutOfRange, UtmostError
from utmost.tables.axes.axis_facts import spelled_periods
from utmost.tables.axes.clock import LEAST_SECONDS, Period, read_time

MOST_VALUES = 200_000
"""The values of all axes together over the wire: one and a half seconds of work."""

MOST_AXES = 64
"""The axes of a domain over the wire: an array has no more."""

MOST_PRODUCTS = 1 << 23
"""The values of an axis, or the rows where they are more, times the rows squared: what least squares multiplies in one
and a half seconds; plans of `ut.choose_plan` have two thirds of it at most."""

MOST_NAMES = 1 << 15
"""The names of axes in all measured families together, over the wire: half a second of reading."""


def check_axes(domain: Any) -> None:
    """Check that the axes of a domain, as JSON, have no more values together than a server makes for whoever asks.

    What is no domain is passed on, to be refused where it is read.

    >>> check_axes({"age": {"bins": [0, 100], "width": 5}})
    >>> check_axes({"age": {"bins": [0, "1e8"]}})
    Traceback (most recent call last):
    utmost.errors.OutOfRange: axis 'age': the axes over the wire must have at most 200000 values together; got 10000...
    """
    axes = domain if isinstance(domain, Mapping) else {}
    if len(axes) > MOST_AXES:
        raise OutOfRange(f"a domain over the wire must have at most {MOST_AXES} axes", came=len(axes), where="domain")
    together = 0
    for name, axis in axes.items():
        together += _length(axis) if isinstance(axis, Mapping) else 0
        if together > MOST_VALUES:
            raise OutOfRange(
                f"the axes over the wire must have at most {MOST_VALUES} values together",
                came=f"{together} of them",
                where=f"axis {str(name)!r}",
                remedy="Declare wider bins or longer periods; or publish it on the machine that has the ledger.",
            )


def check_listed(plan: Any) -> None:
    """Check that a plan, as JSON, has no axis too long, names no more families than a server reads for whoever
    looks at it, and lists no more rows than it solves for.

    >>> check_listed({"domain": {"age": {"bins": [0, 4]}}, "rows": [{"level": "age", "parts": 2, "rows": [[1] * 4]}]})
    """
    if not isinstance(plan, Mapping):
        return
    check_axes(plan.get("domain"))
    shares = plan.get("shares")
    names = sum(len(part) for share in (shares if isinstance(shares, list) else ()) for part in _lists(share))
    if names > MOST_NAMES:
        raise OutOfRange(
            f"the families over the wire must name at most {MOST_NAMES} axes together",
            came=f"{names} of them",
            where="plan",
            remedy="Measure fewer families; or publish it on the machine that has the ledger.",
        )
    listed = plan.get("rows")
    for axis in listed if isinstance(listed, list) else ():
        rows = axis.get("rows") if isinstance(axis, Mapping) else None
        if not isinstance(rows, list):
            continue
        values = max((len(row) for row in rows if isinstance(row, list)), default=0)
        if max(values, len(rows)) * len(rows) ** 2 > MOST_PRODUCTS:
            raise OutOfRange(
                f"rows over the wire, squared, times the values must be at most {MOST_PRODUCTS}",
                came=f"{len(rows)} rows of {values} values",
                where="plan",
                remedy="List fewer rows; or publish it on the machine that has the ledger.",
            )


def _lists(share: Any) -> list[list[Any]]:
    return [part for part in share if isinstance(part, list)] if isinstance(share, list) else []


def _length(axis: Mapping[str, Any]) -> int:
    """The number of bins or periods that the words of an axis make; 0 where they make none."""
    try:
        axis = spelled_periods(axis)
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
