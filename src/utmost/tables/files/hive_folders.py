"""Columns in the names of folders, as in data lakes (Hive style): `events/year=2020/month=01/part-0.parquet`.

The name of a folder consists of a key and a cell, each percent-encoded; `__HIVE_DEFAULT_PARTITION__` denotes a missing
cell. All cells but missing ones are text, as in a CSV file: the type of a column must not depend on the names of all
folders, because the events of one person may add a folder. `month=01` stays "01", while DuckDB, Polars, Spark and Arrow
turn it into 1. A domain lists the cells as the folders spell them. `check_labels` refuses a label with any other
spelling, because all events of that label would be lost.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from utmost.errors import BadTable
from utmost.tables.axes.axes import Axis, label_text
from utmost.tables.optional_imports import extra

_MISSING = "__HIVE_DEFAULT_PARTITION__"
_PADDED = re.compile(r"(-?)0*([0-9]+)", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FolderColumns:
    """The columns in the names of the folders of some files."""

    schema: Any  # Arrow schema of the columns, all of text, in the order of the folders
    cells: tuple[Any, ...]  # for each column an Arrow array with a cell for each file

    @classmethod
    def of(cls, root: Path, files: Sequence[Path], names: Sequence[str]) -> "FolderColumns":
        """The columns in the names of folders below ``root``; columns of the files (``names``) take precedence."""
        folders = [_cells_of_folders(root, file) for file in files]
        keys = list(folders[0])
        for file, keyed in zip(files, folders, strict=True):
            if list(keyed) != keys:
                came = f"{_listed(keyed)} and {_listed(keys)}"
                raise BadTable("all files must be in folders with the same keys", came=came, where=shown(root, file))
        for key in keys:
            for name in {*names, *keys} - {key}:
                if name.casefold() == key.casefold():
                    raise BadTable(
                        "names of keys and columns must differ in more than upper and lower case",
                        came=f"{key!r}, {name!r}",
                    )
        arrow, arrays = extra("pyarrow", "tables"), {}
        for key in keys:
            if key in names:
                continue
            arrays[key] = arrow.array([keyed[key] for keyed in folders], arrow.string())
        schema = arrow.schema([(key, array.type) for key, array in arrays.items()])
        return cls(schema, tuple(arrays.values()))

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def column(self, name: str, file: int, rows: int) -> Any:
        """A folder's column for all rows of a file: an Arrow dictionary array with a single value."""
        arrow, cells = extra("pyarrow", "tables"), self.cells[self.names.index(name)]
        if not cells[file].is_valid:
            return arrow.nulls(rows, cells.type)
        return arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(rows, np.int32)), cells.slice(file, 1))

    def with_columns(self, batch: Any, file: int) -> Any:
        """Add the folder columns, at the end, to a batch of a file's rows."""
        for name in self.names:
            batch = batch.append_column(name, self.column(name, file, batch.num_rows))
        return batch

    def check_labels(self, axes: Iterable[Axis]) -> None:
        """Check that no axis lists a number with leading zeros that differ from those in the folders, such as 1 for
        `month=01`.
        """
        # Otherwise the events of such a folder would be lost without a warning.
        listing = [
            (name, values)
            for axis in axes
            if axis.edges is None
            for name, values in zip(axis.columns, axis.label_columns(0).values(), strict=True)
        ]
        for name, values in listing:
            if name not in self.names:
                continue
            labels = {label_text(value) or "" for value in values}
            cells = {str(cell) for cell in self.cells[self.names.index(name)].to_pylist() if cell is not None}
            if {_unpadded(cell) for cell in cells - labels} & {_unpadded(label) for label in labels} - {None}:
                raise BadTable(
                    "labels must be spelled as the names of the folders",
                    came="the same number with other leading zeros",
                    where=f"column {name!r}",
                    remedy='Declare "01" for month=01, and 1 for month=1.',
                )


def shown(root: Path, file: Path) -> str:
    """The path of a file for a message. The path contains the keys in the names of folders, but not the cells."""
    parts = file.relative_to(root).parts
    keys = (f"{part.partition('=')[0]}=..." if "=" in part else part for part in parts[:-1])
    return str(root.joinpath(*keys, *parts[-1:]))


def _cells_of_folders(root: Path, file: Path) -> dict[str, str | None]:
    """The cells in the names of the folders of a file, by key."""
    cells: dict[str, str | None] = {}
    for part in file.relative_to(root).parts[:-1]:
        key, sign, cell = part.partition("=")
        if not key or not sign:
            continue
        name = _decoded(key, root, file)
        if name in cells:
            raise BadTable(
                "no two folders of a path may have the same key", came=f"{name!r} twice", where=shown(root, file)
            )
        cells[name] = None if cell == _MISSING else _decoded(cell, root, file)
    return cells


def _decoded(text: str, root: Path, file: Path) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeError:
        where = shown(root, file)
        raise BadTable("the names of folders must be text in UTF-8", came="other bytes", where=where) from None


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(map(repr, keys)) or "none"


def _unpadded(text: str) -> str | None:
    """A number in text without its leading zeros, or None for other text."""
    digits = _PADDED.fullmatch(text)
    return None if digits is None else "".join(digits.groups())
