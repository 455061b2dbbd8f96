"""Write and check the statement of an answer: its promise, level and digest, and every fact that follows from these.

The statement is plain data, ready for JSON, and contains no true value. The check reads the facts that do not follow
from others, writes the statement again, and compares every field: budget share of each cell, distribution, margins,
sentences. The check needs no data and no solver. `ON_TRUST` lists what cannot be checked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact, read_confidence
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.errors import BadTable, OutOfRange, PrivacyWarning, Unsupported, UtmostError, warn
from utmost.publish.promises.codec import (
    StatementForm,
    check_header,
    digest_of,
    does_not_follow,
    stated_field,
    stated_rows,
)
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, Margin, NoiseAtLevel
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement_kinds import KINDS_BESIDE_TABLES, STATEMENT_KIND
from utmost.publish.promises.table_statements import cells_digest, outcome_line
from utmost.tables.files import files
from utmost.tables.files.json_files import read_json
from utmost.tables.files.saving import Digest
from utmost.tables.files.sidecars import check_unchanged
from utmost.tables.frames.any_table import adapter_of

ON_TRUST_OF_DRAWS = "utmost drew the noise as stated"
CHOSEN_BEFOREHAND = "epsilon, and the ends of amounts, were chosen without looking at the data"

ON_TRUST = (
    "one individual changes no more than stated",
    "the public columns and a declared list of rows would be the same without any one individual",
    CHOSEN_BEFOREHAND,
    ON_TRUST_OF_DRAWS,
)
"""The assumptions that a reader cannot check."""

PLACES_ON_TRUST = (
    "the columns are coordinates in one unit of length, and distances are measured in it",
    "the public columns and a declared list of rows would be the same without any one individual",
    CHOSEN_BEFOREHAND,
    ON_TRUST_OF_DRAWS,
)
"""The assumptions that a reader of points cannot check."""


class StatementFacts(Display, dict[str, Any]):
    __slots__ = ("read_table",)
    __repr__ = dict.__repr__

    def __init__(self, facts: Mapping[str, Any], read_table: Any = None) -> None:
        """Store the facts; ``read_table`` is a table read from the file whose digest is in the statement."""
        super().__init__(facts)
        self.read_table = read_table

    def __reduce__(self) -> tuple[Any, ...]:
        return StatementFacts, (dict(self),)


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of one answer: of cells, sums of a plan, points, columns changed together, or selected keys.

    Attributes:
        promise: Promise, with the released and public columns of the published table, and with the noise as drawn.
        noise: Noise at the level of the answer, with the confidence of the margins.
        rows: Number of rows of the table, or of sums.
        digest: SHA-256 of the published table or sums, see `cells_digest`; None without a table.
        ledger: Facts that a ledger adds; None for a release without history.

    >>> from utmost import Promise, Unit
    >>> promise = Promise("n", unit=Unit(1, 2))
    >>> statement = Statement(promise, promise.at(1), 12, None, None)
    >>> statement.noise.distribution, statement.facts()["margins"]
    (Geometric(epsilon='1/2', sensitivity=1), {'n_margin': 6})
    >>> Statement.of_facts(statement.facts()) == statement
    True
    """

    promise: Promise
    noise: NoiseAtLevel
    rows: int
    digest: Digest | None
    ledger: LedgerFacts | None

    def __post_init__(self) -> None:
        promise = instance(self.promise, Promise, "promise")
        object.__setattr__(self, "promise", promise.as_drawn(self.noise))

    @property
    def level(self) -> Level:
        """The level of the answer."""
        return self.noise.level

    @property
    def delta(self) -> Fraction | None:
        """The delta of (epsilon, delta); None for pure differential privacy."""
        noise = self.promise.noise
        return noise.delta if isinstance(noise, Noise) else None

    @property
    def guarantee(self) -> str:
        """The guarantee in sentences; with a stopping rule, both for the whole release and for this outcome."""
        promise, stop = self.promise, None if self.ledger is None else self.ledger.stop
        sentence = promise.guarantee(self.level if stop is None else stop.promised)
        if stop is not None:
            sentence = f"{sentence} {outcome_line(self.level)}"
        return f"{sentence} {promise.assumed}".rstrip()

    def facts(self) -> dict[str, Any]:
        """Return the statement as JSON values."""
        return STATEMENT_FORM.statement(self, self.digest)

    def _fields(self) -> dict[str, Any]:
        noise = self.noise
        return {
            "guarantee": self.guarantee,
            **level_facts(noise.level),
            **({} if self.delta is None else {"delta": str(self.delta)}),
            "promise": self.promise.published_facts(),
            "noise": noise.facts(),
            "confidence_exactly": str(noise.confidence),
            "margins": {name: list(bar) if isinstance(bar, tuple) else bar for name, bar in self._margins().items()},
            **({} if self.promise.noise.rows is not None else {"rows": self.rows}),
            **({} if self.ledger is None else self.ledger.facts()),
        }

    def _margins(self) -> dict[str, Margin]:
        return {name: margin for name, (_, margin) in self.noise.bars(self.promise.columns).items()}

    @classmethod
    def _of_fields(cls, document: Mapping[str, Any]) -> "Statement":
        """Read the fields that do not follow from others; refuse a promise whose noise a search must still find."""
        level = level_from_facts(document)
        promise = Promise.of_facts(stated_field(document, "promise", dict))
        if promise.noise.needs_search:
            raise does_not_follow("promise")
        rows = stated_rows(document) if promise.noise.rows is None else promise.noise.rows
        try:  # checked before the noise is computed, which may take long for a number of cells that no table has
            promise.noise.check_size(rows, len(promise.columns))
        except (BadTable, OutOfRange):
            raise does_not_follow("rows") from None
        noise = promise.noise.at(level, read_confidence(stated_field(document, "confidence_exactly", str)))
        if promise.as_drawn(noise) != promise:
            raise does_not_follow("promise")
        statement = cls(promise, noise, rows, digest_of(document), LedgerFacts.of_statement(document, level))
        # Check that the stopping rule may have stopped at this level, and that the margins hold there.
        ledger, until = statement.ledger, promise.until
        if ledger is not None and (stop := ledger.stop) is not None:
            ladder = () if until is None or not stop.levels else until.levels(stop.promised)
            climbed = tuple(rung for rung in ladder if rung <= level)
            is_stop = ledger.levels == climbed and (stop.is_met or level == stop.promised)
            if stop.levels != ladder or level not in ladder or not (is_stop or stop.is_met is None):
                raise does_not_follow("stopped")
            if noise.confidence != promise.at_stop(level, stop).confidence:
                raise does_not_follow("stopped")
        return statement

    def check(self, table: Any, *, digested: bool = True) -> NoiseAtLevel:
        """Check that a table is the one that this statement describes: columns, rows, margins, cells and digest.

        Args:
            table: Table as it was released, of any kind.
            digested: Whether to compare the digest of the cells; pass False if the digest of the file was compared.

        Raises:
            BadTable: if the table is not the table of this statement.
        """
        noise, columns = self.noise, self.promise.columns
        stated = {"rows": self.rows, "table": self.digest}
        check_table(columns, stated, table, self._margins(), self.promise.public, digested=digested)
        self.check_order(adapter_of(table).names(table))
        if self.promise.noise.names_rows:
            adapter = adapter_of(table)
            cells = {name: plain_cells(adapter.column(table, name)) for name in columns}
            self.promise.noise.check_published(self.level, cells)
        if isinstance(noise, CellNoiseAtLevel) or self.promise.noise.is_in_steps:
            until, stop = self.promise.until, None if self.ledger is None else self.ledger.stop
            if until is not None and stop is not None and stop.is_met is not None:
                # The rule reads margins of 95 %, even if the statement has others.
                read = self.promise.at_stop(self.level, replace(stop, confidence=CONFIDENCE))
                if until.is_met(table, columns, read) != stop.is_met:
                    required = "the statement must say whether the table meets the stopping rule"
                    raise BadTable(required, came="the opposite", where="stopped")
            for name in columns:
                self.check_cells(adapter_of(table).column(table, name), name)
        return noise

    def check_order(self, names: Sequence[str]) -> None:
        """Check that the statement names the columns in the order of the table, whose columns are `names`."""
        # Noise that names its columns has them in an order of its own, from which the statement follows.
        for listed in (() if self.promise.noise.orders_columns else self.promise.columns, self.promise.public):
            if [name for name in names if name in listed] != list(listed):
                required = "the statement must name the columns in the order of the table"
                raise BadTable(required, came=", ".join(listed), where="promise")

    def check_cells(self, column: Any, name: str) -> None:
        """Check that each cell of a released column is a value that this noise can give."""
        # A float cell is the nearest float to a multiple of ``step``; without a step a cell is an integer.
        if isinstance(self.noise, CellNoiseAtLevel):
            step = self.noise.width
        else:
            step = None if self.noise.unit.step == 1 else self.noise.unit.step
        # Refuse blanks, formulas and numbers between two steps: a reader would trust them in a verified table.
        cells = column.tolist() if hasattr(column, "tolist") else column
        kinds = set(map(type, cells))
        if step is None and kinds <= {int}:
            return
        if step is not None and kinds <= {float, int, Decimal} and max(step.numerator, step.denominator) < _SHORT:
            numbers = np.array(cells, np.float64)
            units = np.rint(numbers / step.numerator * step.denominator) * step.numerator
            # A quotient of integers below 2^53 is rounded to the nearest float; remaining cells are checked one by one.
            if bool((np.abs(units) < _SHORT).all() and (units / step.denominator == numbers).all()):
                return
        for row, cell in enumerate(cells):
            if not _is_released(cell, step):
                required = f"a released cell must be {'an integer' if step is None else f'a multiple of {step}'}"
                raise BadTable(required, came="another", where=f"row {row + 1}, column {name!r}")

    @classmethod
    def of_facts(cls, document: Mapping[str, Any]) -> "Statement":
        """Read the statement in a document; compute every field again and compare.

        Raises:
            BadTable: if a field does not follow from the others; the message names the first such field.
            Unsupported: if the format or the cost is unknown.
            WrongKind: if the document is not a mapping.

        >>> from utmost import Promise, Unit
        >>> promise = Promise("n", unit=Unit(1, 2))
        >>> facts = Statement(promise, promise.at(1), 12, None, None).facts()
        >>> Statement.of_facts(facts | {"margins": {"n_margin": 5}})
        Traceback (most recent call last):
        utmost.errors.BadTable: margins.n_margin: every field of a statement must follow from its promise and level; ...
        """
        return STATEMENT_FORM.checked(document)


STATEMENT_FORM = StatementForm(STATEMENT_KIND, "a statement", Statement._fields, Statement._of_fields)
"""The form of statements of one answer, from promise, level, confidence, rows, digest, and the ledger's facts."""


def read_statement(path: Path | str) -> dict[str, Any]:
    """Read a statement from a file; its fields are not checked yet, see `Statement.of_facts`."""
    statement: dict[str, Any] = read_json(path if isinstance(path, Path) else Path(path), "a statement must")
    kind = statement.get("kind") if isinstance(statement, dict) else None
    if isinstance(kind, str) and kind in KINDS_BESIDE_TABLES:
        check_header(statement, kind, "a statement", where=str(path))
    else:
        came = "a document without a kind" if not isinstance(kind, str) else f"a document of the kind {kind[:60]!r}"
        remedy = (
            "Pass table.csv.json, the statement of table.csv; a release by a plan has its statement in the same file."
        )
        raise BadTable("the file must contain the statement of a release", came=came, where=str(path), remedy=remedy)
    return statement


def check_statement(statement: Mapping[str, Any], table: Any, *, digested: bool = True) -> NoiseAtLevel:
    """Check every field of a statement, and that the statement belongs to this table.

    Args:
        statement: Statement of the table.
        table: Table as it was released, of any kind; or the path of its file. The statement of a file has the digest of
            that file. The values of a table in memory are then compared only if the statement comes from a release that
            was read from the file.
        digested: Whether to compare the digest of the cells; pass False if the digest of the file was compared.

    Returns:
        The noise at the level of the statement: its distribution and margins. The draw and the privacy unit cannot be
        checked.

    Raises:
        BadTable: if a field does not follow from the others (the message names it), or if columns, rows, margins or
            digest are not those of the table.
        Unsupported: if the format or the cost is unknown.

    Warns:
        PrivacyWarning: if the values of a table in memory were not compared. Pass the path of its file to compare them.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost import release
    >>> answer = release({"n": [7, 9]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1)
    >>> check_statement(answer.statement, answer.table).margin
    3
    >>> check_statement(answer.statement, answer.table | {"n": [0, 0]})
    Traceback (most recent call last):
    utmost.errors.BadTable: table: the table was changed after it was released, or belongs to another statement; ...
    """
    kind = statement.get("kind") if isinstance(statement, Mapping) else None
    if isinstance(kind, str) and kind in KINDS_BESIDE_TABLES - {STATEMENT_KIND}:
        remedy = "Call ut.read_release(file): it checks every kind of statement with its table."
        raise BadTable("the statement must describe one table of cells", came=kind, where="kind", remedy=remedy)
    checked = Statement.of_facts(statement)
    is_of_file = digested and checked.digest is not None and checked.digest["of"] == "file"
    if isinstance(table, str | Path):
        if is_of_file:
            check_unchanged(Path(table), dict(statement))
        return checked.check(files.read(Path(table)), digested=digested and not is_of_file)
    noise = checked.check(table, digested=digested and not is_of_file)
    if is_of_file:
        if not isinstance(statement, StatementFacts) or statement.read_table is None:
            remedy = "Pass the path of the file to compare the values, too."
            # With a table in memory the SHA-256 of a file is not compared, hence the warning.
            warn(
                f"The statement has the digest of a file, and a table in memory has no digest. {remedy}", PrivacyWarning
            )
        elif table is not statement.read_table:
            _check_values(table, statement.read_table)
    return noise


def _check_values(table: Any, original: Any) -> None:
    """Check that two tables with the same columns have the same cells, row by row."""
    ours, theirs = adapter_of(table), adapter_of(original)
    for name in theirs.names(original):
        cells = zip(ours.column(table, name), theirs.column(original, name), strict=True)
        if any(unlike(cell, expected) for cell, expected in cells):
            required = "the table was changed after it was released, or belongs to another statement"
            remedy = "Get the table and its statement again from the publisher."
            raise BadTable(required, came="another value", where=f"column {name!r}", remedy=remedy)


def check_table(
    released: Sequence[str],
    stated: Mapping[str, Any],
    table: Any,
    margins: Mapping[str, Margin],
    public: Sequence[str],
    *,
    digested: bool,
) -> None:
    """Check that a table has these columns and margins, and the rows and digest of a checked statement."""
    adapter = adapter_of(table)
    names = adapter.names(table)
    if sorted(names) != sorted([*released, *margins, *public]):
        raise BadTable(
            "the table must have the columns that its statement names", came=", ".join(names), where="released"
        )
    columns = {name: adapter.column(table, name) for name in (*released, *margins)}
    if any(len(column) != stated["rows"] for column in columns.values()):
        raise BadTable(
            "the table must have the number of rows that its statement gives", came="another number", where="rows"
        )
    for name, margin in margins.items():
        if isinstance(margin, tuple):
            is_stated = len(margin) == len(columns[name]) and all(map(_is_margin, columns[name], map(float, margin)))
        else:
            is_stated = all(_is_margin(cell, float(margin)) for cell in set(columns[name]))
        if not is_stated:
            raise BadTable(
                "the margin of a column must be the margin that the statement gives",
                came="another margin",
                where=f"column {name!r}",
            )
    if digested and stated["table"] != cells_digest(table):
        remedy = "Get the table and its statement again from the publisher."
        came = "another SHA-256 than the statement's"
        raise BadTable(
            "the table was changed after it was released, or belongs to another statement",
            came=came,
            where="table",
            remedy=remedy,
        )


def is_blank(cell: Any) -> bool:
    return cell is None or cell == "" or cell != cell


def unlike(cell: Any, expected: Any) -> bool:
    """Whether a cell of a file differs from the expected cell; numbers are compared exactly, and blanks are equal."""
    # This case is the usual one, and must be fast for millions of cells.
    if type(expected) in (int, str) and type(cell) in (int, str) and str(cell) == str(expected):
        return False
    if is_blank(cell) or is_blank(expected):
        return is_blank(cell) != is_blank(expected)
    if isinstance(expected, str) or str(cell) == str(expected):
        return str(cell) != str(expected)
    try:
        return exact(cell) != exact(expected)
    except UtmostError:
        return True


def _is_margin(cell: Any, margin: float) -> bool:
    try:
        return bool(cell == margin) or float(exact(cell)) == margin
    except (UtmostError, TypeError, ValueError, OverflowError):
        return False


_SHORT = 1 << 53


def _is_released(cell: Any, step: Fraction | None) -> bool:
    try:
        if step is None:
            return exact(cell).denominator == 1
        return float(round(exact(cell) / step) * step) == float(cell)
    except (UtmostError, TypeError, ValueError, OverflowError):
        return False


def reading_noise(stated: Mapping[str, Any], column: str | None = None) -> Level | IntegerDistribution:
    """Return the level of geometric noise per change of 1, or the distribution if the noise is a discrete staircase."""
    checked = Statement.of_facts(stated)
    columns, noise = checked.promise.columns, checked.noise
    if column is not None and column not in columns:
        raise BadTable(
            "the statement must describe the noise of the column that is read",
            came=", ".join(columns),
            where=f"column {column!r}",
            remedy=f'Pass column="{columns[0]}": only released columns have noise that can be read.',
        )
    distribution = noise.distribution
    is_read = isinstance(noise, CellNoiseAtLevel) and noise.width is None
    if not is_read or not isinstance(distribution, IntegerDistribution):
        remedy = 'Pass a statement of a release with numbers="integers", which has such noise.'
        drawn = type(distribution).__name__ if isinstance(noise, CellNoiseAtLevel) else checked.promise.noise.kind
        came = drawn if noise.unit.step == 1 else "amounts in steps"
        raise Unsupported(
            "only geometric noise and discrete staircases can be read", came=came, where="distribution", remedy=remedy
        )
    return distribution if distribution.ratio is None else distribution.ratio
