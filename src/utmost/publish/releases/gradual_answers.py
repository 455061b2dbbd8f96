"""An answer of a gradual release as what is published: a table with its error bars, and the statement of its level."""

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from os import fsdecode
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping, optional, text, truth
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.written_levels import level_words
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.errors import BadTable, NotALevel, Unsupported
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.tables.files.saving import Digest, SavedContent, check_destination_free, saved
from utmost.tables.frames.adapters import Column, check_column, named


@dataclass(frozen=True, slots=True)
class Saving:
    """Destination and form of an answer, as the parameters of a ``save`` say it.

    Attributes:
        path, format, sign, overwrite: Arguments of `saved`.
        level: Level of the answer.
        name: Name of the release in the statement; the file's name without its ending if left out.
        public: columns to stand beside, by name: the labels of the rows. No cell of them may depend on any individual.
        confidence: Confidence of the error bars.
    """

    path: Path | str
    format: str | None
    sign: Path | str | None
    overwrite: bool
    level: Level
    name: str | None
    public: Mapping[Hashable, Column]
    confidence: Fraction

    @classmethod
    def of(
        cls,
        path: Path | str,
        level: Callable[[], Level],
        name: str | None,
        public: Mapping[Any, Column] | None,
        confidence: Number,
        *,
        format: str | None,
        sign: Path | str | None,
        overwrite: bool,
    ) -> "Saving":
        """The parameters of a ``save``, read, and found to name files that can be written: nothing has been drawn yet.

        Args:
            level: gives the level that is meant, see `level_of_answer`.

        Raises:
            OutOfRange: for an invalid confidence. NotALevel: as `level_of_answer`.
            BadTable: for an invalid public column, and for two of different lengths. Others: as `saved`.
        """
        sure = read_confidence(confidence)
        columns = {} if public is None else dict(mapping(public, "public"))
        _check_columns(columns)
        named_format, may_overwrite = optional(format, text, "format"), truth(overwrite, "overwrite")
        check_destination_free(path, format=named_format, sign=sign, overwrite=may_overwrite)
        return cls(path, named_format, sign, may_overwrite, level(), optional(name, text, "name"), columns, sure)

    @property
    def title(self) -> str:
        """The name of the release."""
        if self.name is not None:
            return self.name
        stem = Path(fsdecode(self.path)).name.partition(".")[0]
        return "release" if stem in ("", "-") else stem


Said = Callable[[Digest | None, LedgerFacts], dict[str, Any]]
"""A function from the digest of a table, and the other answers of its release, to its statement."""


class AnsweredLevels(Display, ProcessMemory):
    """Answers that this process remembers: at any levels, in any order, at the price of the largest."""

    __slots__ = ()

    @property
    @abstractmethod
    def levels(self) -> tuple[Level, ...]:
        """Every level that has been answered, strictest first."""

    @property
    def spent(self) -> Level | None:
        """The largest level answered: that of all answers together. None before the first answer."""
        return max(self.levels, default=None)

    @abstractmethod
    def _published(self, how: Saving) -> tuple[dict[str, Column], Said]:
        """The answer that is saved, as a table, and what is said of it; all that can fail has failed before a draw."""

    def save(
        self,
        path: Path | str,
        *,
        epsilon: Number | Level | None = None,
        name: str | None = None,
        public: Mapping[Any, Column] | None = None,
        confidence: Number = "0.95",
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the answer at a level as a table with error bars and, beside it, its statement: both appear, or none.

        A number is a table of one row; an array has a row for each value, and of several dimensions a column for the
        place along each.

        Args:
            epsilon: the level; needed once there are several answers. A new one is answered, and spent.
            name: Name of the release in the statement; the file's name without its ending if left out.
            public: columns to stand beside, such as the labels of the rows; none may depend on any individual.
            confidence: Confidence of the error bars.
            path, format, sign, overwrite: Arguments of `saved`.

        Raises:
            NotALevel: where no level is named, and none or several were answered.
            Unsupported: for columns whose individuals or numbers differ, of which one statement cannot speak.
            BadTable: for a public column of another length.
        """
        how = Saving.of(
            path,
            lambda: self._meant(epsilon),
            name,
            public,
            confidence,
            format=format,
            sign=sign,
            overwrite=overwrite,
        )
        return self._written(how, *self._published(how))

    def _meant(
        self,
        epsilon: Number | Level | None,
    ) -> Level:
        """The level of the answer that is saved."""
        return level_of_answer(epsilon, lambda: self.levels, "save")

    def _written(self, how: Saving, table: dict[str, Column], said: Said) -> dict[str, Any]:
        """Write an answer, and with it what all answers cost together."""
        answered = LedgerFacts(how.title, 1, self.levels, self.spent, None)
        publication = SavedContent(table, lambda digest: said(digest, answered))
        return saved(publication, how.path, format=how.format, sign=how.sign, overwrite=how.overwrite)


def level_of_answer(epsilon: Number | Level | None, levels: Callable[[], Sequence[Level]], where: str) -> Level:
    """The level of the answer that is meant: the one that is named, else that of the only answer there is.

    An answer belongs to the level of the call that made it, so nobody is given the least noisy of several unasked.

    Args:
        levels: gives those that have been answered, where none is named.
        where: Name of the release in messages.

    Raises:
        NotALevel: where none is named, and there is no answer or more than one.
    """
    if epsilon is not None:
        return level(epsilon)
    answered = levels()
    if len(answered) == 1:
        return answered[0]
    if not answered:
        remedy = "Pass epsilon=, or ask at() first."
        raise NotALevel("epsilon must be given before the first answer", came="none", where=where, remedy=remedy)
    raise NotALevel(
        "epsilon must be given where a release has several answers",
        came=f"none, beside answers at epsilon = {', '.join(map(level_words, answered))}",
        where=where,
        remedy="Pass epsilon= with one of these levels.",
    )


@dataclass(frozen=True, slots=True, eq=False)
class LaidOut:
    """An answer as columns of one length.

    Attributes:
        released: the answer itself, by column.
        public: Columns beside it: those that were given, or the place of each value of an array.
        rows: Number of rows.
    """

    released: dict[str, NDArray[Any]]
    public: dict[str, Column]
    rows: int

    @classmethod
    def of(cls, answer: object, public: Mapping[Hashable, Column]) -> "LaidOut":
        """A number, an array or columns, as columns; an array of several dimensions has a column for each of them.

        Raises:
            Unsupported: for columns that are no columns, or of different lengths.
            BadTable: for a public column of another length, or of a name that is taken.
        """
        places: dict[str, Column] = {}
        if isinstance(answer, Mapping):
            released = {named(name): _array(column) for name, column in answer.items()}
        else:
            array = _array(answer)
            released = {"value": array.reshape(-1)}
            if array.ndim > 1:
                places = {f"axis_{k}": at.ravel() for k, at in enumerate(np.indices(array.shape))}
        lengths = {column.shape for column in released.values()}
        if len(lengths) != 1 or len(next(iter(lengths))) > 1:
            remedy = "Save the columns one by one."
            raise Unsupported(
                "the columns of a table must have one length", came="other shapes", where="save", remedy=remedy
            )
        rows = next(iter(released.values())).size
        beside = {named(name): column for name, column in public.items()}
        _check_beside(beside, {*released, *places, *(f"{name}_margin" for name in released)}, rows)
        return cls({name: column.reshape(-1) for name, column in released.items()}, {**beside, **places}, rows)

    def with_margins(self, margins: Mapping[str, int | float]) -> dict[str, Column]:
        """The table: what is public first, then each released column with its margin behind it."""
        table = dict(self.public)
        for name, column in self.released.items():
            table[name] = column
            if name in margins:
                table[f"{name}_margin"] = np.full(self.rows, margins[name])
        return table


def _array(answer: object) -> NDArray[Any]:
    """A number, or an array of numbers or texts, as an array."""
    wide = isinstance(answer, int) and abs(answer) >= 1 << 63
    try:
        array = np.asarray(answer, dtype=object if wide else None)
    except ValueError:  # lists of different lengths
        array = np.asarray(None)
    alone = array.ndim == 0
    kinds = (Real, Decimal) if alone else (Real, Decimal, str)
    whole = all(isinstance(cell, kinds) for cell in array.reshape(-1).tolist()) if array.dtype == object else True
    if not whole or array.dtype.kind not in ("biufO" if alone else "biufOUT"):
        required = "save needs a number, or numbers or texts in an array or in columns"
        raise Unsupported(required, came=type(answer).__name__, remedy="Pass np.asarray(values), or a dict of columns.")
    return array


def _check_columns(public: Mapping[Any, Column]) -> None:
    """Check what can be checked of public columns before it is known how many rows there are."""
    for name, column in public.items():
        check_column(column, named(name))
        if np.ndim(column) != 1 and isinstance(column, np.ndarray):
            raise BadTable("a column must be one-dimensional", came=f"shape {column.shape}", where=f"column {name!r}")
    if len(set(map(len, public.values()))) > 1:
        raise BadTable(
            "public columns must have one length", came="different lengths", remedy="Pass a label for each row."
        )


def _check_beside(public: Mapping[str, Column], taken: set[str], rows: int) -> None:
    for name, column in public.items():
        if name in taken:
            raise BadTable(
                "column names must be distinct", came=repr(name), where="public", remedy="Rename the public column."
            )
        if len(column) != rows:
            remedy = "Pass a label for each row."
            raise BadTable(
                f"a public column must have {rows} rows", came=len(column), where=f"column {name!r}", remedy=remedy
            )
