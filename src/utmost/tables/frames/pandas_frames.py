"""Frames and series of pandas and GeoPandas, with their index, names and types.

The labels of an index are published with the rows, so they are columns, which come first and must be declared. An index
that numbers the rows 0, 1, 2, ... is ignored. A released frame keeps its index, its column names even if they are not
text (years, or the pairs of a crosstab), and the families of its types. The type of a released column is a function of
the original type and of released values, never of true values.
"""

import json
import sys
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.tables.frames import adapters
from utmost.tables.frames.adapters import Column, named
from utmost.tables.frames.fresh_columns import fresh_pandas, is_extension
from utmost.tables.frames.wide_integers import wide_in_arrow
from utmost.tables.optional_imports import extra

_KIND = "pandas:"
_MARGIN = "_margin"


@dataclass(frozen=True, slots=True, eq=False)
class PandasShape:
    """The names of the index levels and columns of a frame, as text."""

    levels: tuple[str, ...]  # names of the index levels; empty if the index numbers the rows
    columns: Mapping[str, Hashable]  # the name of each column, by the name as text

    @classmethod
    def of(cls, frame: Any) -> "PandasShape":
        columns = [named(name) for name in frame.columns]
        index = frame.index
        if index.nlevels > 1:
            levels = tuple(f"level_{at}" if name is None else named(name) for at, name in enumerate(index.names))
        elif index.dtype.kind in "iu" and (index == np.arange(len(index))).all():
            levels = ()  # the index numbers the rows
        else:
            levels = ("index" if index.name is None else named(index.name),)
        adapters.distinct_names((*levels, *columns))
        return cls(levels, dict(zip(columns, frame.columns, strict=True)))

    @property
    def names(self) -> list[str]:
        """The names of the levels of the index, followed by the names of the columns."""
        return [*self.levels, *self.columns]


def is_pandas(table: Any) -> bool:
    """Whether the table is a frame or a series of pandas. The test does not import pandas."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame | pandas.Series)


class _PandasAdapter(adapters.TableAdapter):
    """The adapter of frames and series of pandas. A series is a frame of one column."""

    def knows(self, table: Any) -> bool:
        return is_pandas(table)

    def names(self, table: Any) -> list[str]:
        return PandasShape.of(_frame(table)).names

    def column(self, table: Any, name: str, most: int | None = None) -> Column:
        cells = _cells(_frame(table), name)
        # This is an array if all cells are numbers, else a list whose missing cells are None.
        cells = cells if most is None else cells[:most]
        if is_categorical(cells):
            return cells_of_categories(cells)
        missing = cells.isna()
        if not missing.any() and cells.dtype.kind in "iuf":
            return np.asarray(cells.to_numpy())
        return [None if gone else cell for cell, gone in zip(cells.tolist(), missing.tolist(), strict=True)]

    def with_columns(self, table: Any, columns: Mapping[str, Column], after: Mapping[str, str]) -> Any:
        frame = _frame(table)
        shape = PandasShape.of(frame)
        if any(name in shape.levels for name in columns):
            frame = frame.reset_index()
            shape = PandasShape.of(frame)
        frame = frame.copy(deep=False)
        if frame.columns.nlevels == 1:
            # Columns named by dates or categories would accept no other names.
            frame.columns = frame.columns.astype(object)
        # The order is reversed, because each new column is inserted right after the column that it belongs to.
        for name, column in reversed([*columns.items()]):
            owner = after.get(name, name)
            kind = _cells(frame, owner).dtype if owner in shape.names else None
            cells = _typed(column, kind, frame.index)
            if name in shape.columns:
                frame[shape.columns[name]] = cells
                continue
            own = shape.columns[owner]
            key: Hashable = name
            if isinstance(own, tuple) and name.startswith(owner):
                key = (*own[:-1], f"{own[-1]}{name.removeprefix(owner)}")
            elif isinstance(own, tuple):
                key = (*(name for _ in own[:-1]), name)
            frame.insert(list(frame.columns).index(own) + 1, key, cells)
        if frame.columns.nlevels == 1:
            frame.columns = extra("pandas", "tables").Index(list(frame.columns), name=frame.columns.name)
        return frame

    def without(self, table: Any, names: Sequence[str]) -> Any:
        frame = _frame(table)
        shape = PandasShape.of(frame)
        frame = frame.drop(columns=[shape.columns[name] for name in names if name in shape.columns])
        gone = [at for at, name in enumerate(shape.levels) if name in names]
        if gone:
            frame = frame.reset_index(level=gone, drop=True)
        # Only cells and names of columns stay: no attrs, unused categories or levels, cells of removed rows, name of
        # the header, or name of an index that numbers the rows.
        frame = frame.copy()
        frame.attrs = {}
        for at in range(frame.shape[1]):
            cells = frame.iloc[:, at]
            if is_extension(cells):
                frame.isetitem(at, fresh_pandas(cells.array))
        for axis in ("index", "columns"):
            labels = getattr(frame, axis)
            if labels.nlevels > 1:
                setattr(frame, axis, labels.remove_unused_levels())
            elif is_extension(labels):
                setattr(frame, axis, extra("pandas", "tables").Index(fresh_pandas(labels.array), name=labels.name))
        frame.columns.names = [None] * frame.columns.nlevels
        if not shape.levels:
            frame.index.name = None
        return frame

    def kind(self, table: Any, names: Sequence[str]) -> str:
        frame = _frame(table)
        shape = PandasShape.of(frame)
        own = {name: _spelled(shape.columns[name]) for name in names if name in shape.columns}
        kinds = {name: _type_family(frame[shape.columns[name]].dtype) for name in own}
        # The columns of geometries and their coordinate reference systems; the active column is last.
        active = getattr(frame, "_geometry_column_name", None)
        systems = []
        for name in sorted(own, key=lambda name: name == active):
            cells = _cells(frame, name)
            if str(cells.dtype) == "geometry":
                systems.append([name, None if cells.crs is None else cells.crs.to_wkt()])
        facts = {
            "index": [[name, frame.index.names[at]] for at, name in enumerate(shape.levels) if name in names],
            "columns": {name: spelled for name, spelled in own.items() if spelled != name},
            "types": {name: kind for name, kind in kinds.items() if kind},
            "crs": systems,
        }
        if not any(facts.values()):
            return "dataframe:pandas"
        return _KIND + json.dumps(facts, sort_keys=True, separators=(",", ":"), default=str)

    def made(self, kind: str, columns: Mapping[str, Column]) -> Any:
        if not kind.startswith(_KIND) or find_spec("pandas") is None:
            return None
        pandas, facts = extra("pandas", "tables"), json.loads(kind.removeprefix(_KIND))
        family = facts["types"]
        rows = pandas.RangeIndex(len(next(iter(columns.values()))))
        types = {"nullable": pandas.Int64Dtype()}
        if "arrow" in family.values():
            types["arrow"] = pandas.ArrowDtype(extra("pyarrow", "tables").int64())
        frame = pandas.DataFrame(
            {name: _typed(column, types.get(family.get(name)), rows) for name, column in columns.items()}
        )
        for name, crs in facts["crs"] or ():
            if name in frame.columns and find_spec("geopandas") is not None:
                geopandas = extra("geopandas", "tables")
                geometry = geopandas.GeoSeries.from_wkt(frame[name], crs=crs).rename(name)
                frame = geopandas.GeoDataFrame(frame).set_geometry(geometry)
        if facts["index"]:
            frame = frame.set_index([name for name, _ in facts["index"]])
            frame.index.names = [own for _, own in facts["index"]]
        # The columns get their original names.
        own = facts["columns"]
        pandas = extra("pandas", "tables")
        names = [own.get(name, name) for name in frame.columns]
        if names and all(isinstance(name, list) for name in names):
            frame.columns = pandas.MultiIndex.from_tuples([tuple(name) for name in names])
        elif own:
            frame.columns = pandas.Index([tuple(name) if isinstance(name, list) else name for name in names])
        return frame


def _frame(table: Any) -> Any:
    """A frame unchanged, or a series as a frame of one column."""
    if hasattr(table, "columns"):
        return table
    return table.to_frame("value" if table.name is None else table.name)


def _cells(frame: Any, name: str) -> Any:
    """One column, or one level of the index, as a series."""
    shape = PandasShape.of(frame)
    if name in shape.columns:
        return frame[shape.columns[name]]
    pandas = extra("pandas", "tables")
    return pandas.Series(frame.index.get_level_values(shape.levels.index(name)).array, index=frame.index)


def is_categorical(column: Any) -> bool:
    """Whether a column is a categorical series of pandas, or the array of such a series."""
    return type(getattr(column, "dtype", None)).__name__ == "CategoricalDtype" and is_pandas_column(column)


def is_pandas_column(column: Any) -> bool:
    """Whether a column belongs to pandas, without importing pandas."""
    return type(column).__module__.partition(".")[0] == "pandas"


def cells_of_categories(column: Any) -> list[Any]:
    """The cells of a categorical column, looked up by their codes. (pandas would turn integers into floats if a cell is
    missing.)
    """
    array = getattr(column, "array", column)
    categories = list(array.categories)
    return [None if code < 0 else categories[code] for code in array.codes.tolist()]


def _type_family(kind: Any) -> str:
    """The family of a type: "arrow", "nullable", or "" for NumPy's types."""
    if type(kind).__name__ == "ArrowDtype":
        return "arrow"
    return "nullable" if hasattr(kind, "numpy_dtype") and kind.kind in "iuf" else ""


def _typed(column: Column, kind: Any, index: Any) -> Any:
    """Make a series of the cells. The type of the series belongs to the family of ``kind``, but a released column
    always has 64 bits, since its width must not depend on the values.
    """
    # Integers beyond 64 bits become decimals or text in Arrow's family, and Python's integers in the others: the noise
    # has already been drawn, so nothing is refused here.
    pandas, family = extra("pandas", "tables"), "" if kind is None else _type_family(kind)
    cells: NDArray[Any] | Sequence[Any] = column
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and family:
        real = column.dtype.kind == "f"
        wanted = ("double[pyarrow]", "int64[pyarrow]") if family == "arrow" else ("Float64", "Int64")
        cells = pandas.array(column, dtype=wanted[not real])
    elif isinstance(column, np.ndarray) and column.dtype == object and family == "arrow":
        wide = wide_in_arrow(column)
        cells = pandas.array(wide.to_pylist(), dtype=pandas.ArrowDtype(wide.type))
    return pandas.Series(cells, index=index)


def _spelled(name: Hashable) -> Any:
    """The name of a column as JSON: text and integers are unchanged, a tuple becomes a list, and any other name becomes
    text.
    """
    if isinstance(name, tuple):
        return [_spelled(part) for part in name]
    if is_integer(name):
        return int(name)
    return str(name)


def register() -> None:
    adapters.register(_ADAPTER)


_ADAPTER = _PandasAdapter()
