"""Add methods of this package to frames of pandas and Polars: ``df.utmost.release(...)``.

Nothing is registered until `register_frames` is called, and neither package is imported before.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.interop.packages import package
from utmost.publish.counting.counted import CountedTable
from utmost.publish.counting.counted_events import EVENTS, count_table
from utmost.publish.counting.counted_measures import MeasureSpec
from utmost.publish.counting.counting import Counting
from utmost.publish.ledger.releasing import release
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.answer import Answer
from utmost.tables.axes.domain import Domain
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

_NAME, _LIBRARIES = "utmost", ("pandas", "polars")


class FrameMethods:
    """The accessor ``frame.utmost``: it releases or counts the frame.

    >>> from utmost import Unit
    >>> import pandas as pd
    >>> register_frames("pandas")
    ('pandas',)
    >>> table = pd.DataFrame({"department": ["A", "B"], "admitted": [601, 370]})
    >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
    >>> made = table.utmost.release(promise, epsilon=100)
    >>> made.table.to_dict("list")
    {'department': ['A', 'B'], 'admitted': [601, 370], 'admitted_margin': [0, 0]}
    """

    __slots__ = ("_frame",)

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def release(self, promise: Promise, *, epsilon: Number | Level) -> Answer[Any]:
        """Release columns of the frame; arguments and errors are those of `utmost.release`."""
        return release(self._frame, promise, epsilon=epsilon)

    def count(
        self,
        domain: Domain | Mapping[str, Any],
        counting: Counting,
        *,
        measure: MeasureSpec = EVENTS,
        by: str | Sequence[str] | None = None,
        spelling: Spelling = PLAIN_SPELLING,
        outside: str | None = None,
    ) -> CountedTable:
        """Count events, one in each row of the frame; arguments and errors are those of `utmost.count_table`."""
        return count_table(self._frame, domain, counting, measure=measure, by=by, spelling=spelling, outside=outside)


def register_frames(*libraries: str) -> tuple[str, ...]:
    """Add the accessor ``utmost`` to frames of pandas and Polars, also to lazy frames.

    ``frame.utmost.release`` calls `utmost.release` with the frame, and ``frame.utmost.count`` calls
    `utmost.count_table`. A second registration changes nothing.

    Args:
        libraries: "pandas", "polars", or both; if left out, those of the two that are installed.

    Returns:
        The libraries whose frames have the accessor.

    Raises:
        OutOfRange: if another library is named.
        Unsupported: if a library is not installed, or if its frames have an accessor ``utmost`` of another package.

    >>> register_frames("pandas"), register_frames("pandas")
    (('pandas',), ('pandas',))
    """
    for library in libraries:
        if library not in _LIBRARIES:
            raise OutOfRange(
                "the dataframe library must allow methods to be added to its frames",
                came=repr(library),
                where="register_frames",
                remedy=f"Use one of these: {', '.join(_LIBRARIES)}.",
            )
    chosen = libraries or tuple(library for library in _LIBRARIES if find_spec(library) is not None)
    for library in chosen:
        frames = package(library)
        if library == "pandas":
            api = package("pandas.api.extensions")
            _add(frames.DataFrame, api.register_dataframe_accessor)
            _add(frames.Series, api.register_series_accessor)
        else:
            _add(frames.DataFrame, frames.api.register_dataframe_namespace)
            _add(frames.LazyFrame, frames.api.register_lazyframe_namespace)
    return chosen


def _add(kind: type, registering: Callable[[str], Callable[[type], type]]) -> None:
    """Register the accessor; refuse a name that is taken, because both libraries would replace another accessor."""
    existing = getattr(kind, _NAME, None)
    if existing is FrameMethods:
        return
    if existing is not None:
        raise Unsupported(
            f"frames must have no attribute {_NAME!r} of another package",
            came=getattr(existing, "__module__", type(existing).__name__),
            where=f"{kind.__module__}.{kind.__name__}",
            remedy="Call utmost.release and utmost.count_table with the frame.",
        )
    registering(_NAME)(FrameMethods)
