"""The table of a release: named columns, with methods that convert it to dataframes and write it to files."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.core.exact.display import Display
from utmost.tables.optional_imports import extra


class TableMethods(Display, ABC):
    """The methods of every table, whether its columns are in memory or in a file."""

    __slots__ = ()

    @abstractmethod
    def __getitem__(self, name: Any, /) -> Any:
        """The column with this name, as a list or an array."""

    @abstractmethod
    def __iter__(self) -> Iterator[str]:
        """The names of the columns."""

    def to_pandas(self) -> Any:
        """The table as a dataframe of pandas. If pandas is not installed, this raises `Unsupported`."""
        return extra("pandas", "tables").DataFrame(self._in_columns())

    def to_polars(self) -> Any:
        """The table as a dataframe of Polars. If Polars is not installed, this raises `Unsupported`."""
        return extra("polars", "tables").DataFrame(self._in_columns())

    def to_arrow(self) -> Any:
        """The table as a table of PyArrow. If PyArrow is not installed, this raises `Unsupported`."""
        return extra("pyarrow", "tables").table(self._in_columns())

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as an Arrow stream, which pyarrow and other libraries read."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: Path | str, *, overwrite: bool = False) -> None:
        """Write only the columns into a file. `Answer.save` also writes the statement of the answer.

        Args:
            path: Path that ends in .csv, .tsv, .jsonl, .parquet, .feather or .xlsx.
            overwrite: Whether an existing file is replaced.

        Raises:
            Unsupported: if the file has any other ending, if a package is missing, or if the file exists and
                ``overwrite`` is False.
        """
        from utmost.core.exact.arguments import path as read_path
        from utmost.core.exact.arguments import truth
        from utmost.tables.files import files
        from utmost.tables.files.atomic import write_together

        file, columns = Path(read_path(path, "path")), self._in_columns()
        files.check_same_kind(Path("table.csv"), file)
        may_replace = truth(overwrite, "overwrite")
        write_together({file: lambda target: files.write(columns, target, file)}, overwrite=may_replace)

    def _in_columns(self) -> dict[str, Any]:
        from utmost.tables.files import files

        return files.columns(self)


class Table(TableMethods, dict[str, Any]):
    """A table in memory: a dict from the names of its columns to lists or arrays, with methods to convert and write.

    The table of an answer is of this type if the data were passed as columns or as a file. If the data were passed as a
    dataframe, the table is a dataframe of the same kind.

    Args:
        columns: Dict from names to lists or arrays; by default no columns.

    Raises:
        WrongKind: if ``columns`` is no mapping.

    >>> import utmost as ut
    >>> promise = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
    >>> table = ut.release({"town": ["Ash", "Elm"], "n": [12, 7]}, promise, epsilon=1).table
    >>> type(table).__name__, table.rows, list(table), table["n_margin"]
    ('Table', 2, ['town', 'n', 'n_margin'], [3, 3])
    >>> table.to_pandas().shape, table == dict(table)
    ((2, 3), True)
    """

    __slots__ = ()

    def __init__(self, columns: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(mapping(columns, "columns"))

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()))) if self else 0

    __repr__ = dict.__repr__
    __getitem__ = dict.__getitem__
    __iter__ = dict.__iter__
