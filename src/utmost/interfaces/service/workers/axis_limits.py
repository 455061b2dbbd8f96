"""Refuse requests with so many bins, periods, names or listed rows that estimates would take long."""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.errors import OutOfRange, UtmostError
from utmost.tables.axes.axis_facts import spelled_periods
from utmost.tables.axes.clock import LEAST_SECONDS, Period, read_time

MOST_VALUES_OF_A_REQUEST = 200_000
"""The largest number of values of all axes together in a request: one and a half seconds of work."""

MOST_CELLS_OF_A_FILE = {"csv": 2_000_000, "parquet": 500_000, "xlsx": 300_000}
"""An Excel file that a page writes or verifies has at most 300 000 cells, Parquet 500 000, CSV 2 000 000."""

MOST_DRAWN = 1 << 24
"""The largest number of sums that a request measures, times the levels of its stopping rule: half a minute of draws,
during which no other table can be published."""

MOST_AXES = 64
"""The largest number of axes of a domain in a request: the limit of an array."""

MOST_PRODUCTS = 1 << 23
"""Largest product of max(values of an axis, rows) and rows squared, for one axis: least squares takes one and a half
seconds. Plans of `ut.choose_plan` reach at most two thirds of this product."""

MOST_NAMES = 1 << 15
"""The largest number of names of axes in all measured marginals together; reading them takes half a second."""


def check_axes(domain: Any) -> None:
    """Check that the axes of a domain, as JSON, have few enough values in total; ignore other errors.

    >>> check_axes({"age": {"bins": [0, 100], "width": 5}})
    >>> check_axes({"age": {"bins": [0, "1e8"]}})
    Traceback (most recent call last):
    utmost.errors.OutOfRange: axis 'age': the axes in a request must have at most 200000 values together; got 1000...
    """
    axes = domain if isinstance(domain, Mapping) else {}
    if len(axes) > MOST_AXES:
        raise OutOfRange(f"a domain in a request must have at most {MOST_AXES} axes", came=len(axes), where="domain")
    together = 0
    for name, axis in axes.items():
        together += _axis_length(axis) if isinstance(axis, Mapping) else 0
        if together > MOST_VALUES_OF_A_REQUEST:
            raise OutOfRange(
                f"the axes in a request must have at most {MOST_VALUES_OF_A_REQUEST} values together",
                came=f"{together} values",
                where=f"axis {str(name)!r}",
                remedy="Declare wider bins or longer periods; or publish the table on the machine that has the ledger.",
            )


def check_listed(plan: Any) -> None:
    """Check that a plan, as JSON, has few enough values, names of axes, and listed rows."""
    if not isinstance(plan, Mapping):
        return
    check_axes(plan.get("domain"))
    shares = plan.get("shares")
    lists = [share for share in (shares if isinstance(shares, list) else ()) if isinstance(share, list)]
    names = sum(len(part) for share in lists for part in share if isinstance(part, list))
    if names > MOST_NAMES:
        raise OutOfRange(
            f"the measured tables in a request must name at most {MOST_NAMES} axes together",
            came=f"{names} axes",
            where="plan",
            remedy="Measure fewer tables; or publish the release on the machine that has the ledger.",
        )
    listed = plan.get("rows")
    for axis in listed if isinstance(listed, list) else ():
        rows = axis.get("rows") if isinstance(axis, Mapping) else None
        if not isinstance(rows, list):
            continue
        values = max((len(row) for row in rows if isinstance(row, list)), default=0)
        if max(values, len(rows)) * len(rows) ** 2 > MOST_PRODUCTS:
            raise OutOfRange(
                "for each axis, the square of the number of rows, times the larger of the numbers of rows "
                f"and values, must be at most {MOST_PRODUCTS}",
                came=f"{len(rows)} rows of {values} values",
                where="plan",
                remedy="List fewer rows; or publish the release on the machine that has the ledger.",
            )


def _axis_length(axis: Mapping[str, Any]) -> int:
    """Return the number of bins or periods of an axis; 0 if its facts describe none."""
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
