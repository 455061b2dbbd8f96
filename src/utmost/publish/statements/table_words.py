"""Sentences of statements that several kinds of noise have: about rows, tables, neighbours, margins of error."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.core.exact.intervals import round_up
from utmost.core.exact.written_levels import level_name
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.grid import FARTHEST
from utmost.publish.counting.counted_facts import EACH_ROW
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import ON_TRUST, Statement
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.releases.release_facts import Bars, StatedNoise

STATED_CONFIDENCES = (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100))
"""The confidences of margins that a page shows, in addition to the statement's own."""

# Parts of sentences about a table; pages, screens and registry entries show them.
_EVERYBODY = "; every individual contributes exactly this much, so that the total is public"

DECLARED_ROWS = "the list of rows, declared beforehand"

NOTHING_UNPROTECTED = "facts about groups, and values that are published without noise"

LONE_KEY = "with a chance of at most {delta}, a key that one individual alone holds is selected"

NO_CHANGE = "noise was added to the unchanged true values"

_COUNTED_ON_TRUST = "utmost counted the people, and kept each individual within the stated limits"
_ROWS_ON_TRUST = (
    "no person has more than one row",
    "utmost counted the rows, and kept each row within the stated limits",
)

COUNTED_WITHIN = "utmost counted each individual with no more than is stated above; then noise was added to each count"

AS_DRAWN = "noisy values are published as they are, so counts may be negative and sums need not agree"

ONE_TOTAL = "noisy values are published as they are, so counts may be negative; every table adds up to the total"

WHOLE_BUDGET = "One individual changes only one cell, so each cell has the whole epsilon (parallel composition)."

EVEN_BUDGET = (
    "One individual changes up to {cells} cells, so each cell has 1/{cells} of epsilon (sequential composition)."
)

REPLACED_BUDGET = (
    "One individual's record counts in up to {cells} cells; replacing it may change twice as many, so each cell has "
    "1/{parts} of epsilon (sequential composition)."
)

ROW_BUDGET = "The cells of one row share the whole epsilon; no individual is in two rows."


@dataclass(frozen=True, slots=True)
class NoiseWords:
    """The sentences that depend on the kind of noise."""

    line: str
    per: str | None
    released: str
    unit: str
    neighbours: str
    noises: tuple[StatedNoise, ...]
    why: str
    before: str
    after: str
    beyond: str
    composition: str
    on_trust: tuple[str, ...]
    domain: str


def words_of_cells(statement: Statement, at_level: CellNoiseAtLevel) -> NoiseWords:
    """Return the sentences about separate noise of each cell."""
    columns, unit = statement.promise.columns, at_level.unit
    if at_level.grid is None:
        before = rounded(unit, "cell") + (COUNTED_WITHIN if statement.promise.proved else NO_CHANGE)
    else:
        half = at_level.grid * FARTHEST
        before = f"each value was rounded to the nearest multiple of {at_level.grid}, by at most {half}"

    def margin(sure: Fraction) -> int | float:
        steps = at_level.drawn.margin(sure)
        return unit.margin(steps) if at_level.grid is None else round_up((steps + FARTHEST) * at_level.grid)

    noise = StatedNoise(
        ", ".join(columns),
        f"each cell of {listed('column', columns)}",
        repr(at_level.drawn)
        + ("" if at_level.width is None else f" in steps of {at_level.width if at_level.grid else unit.text(1)}"),
        "" if unit.epsilon_parts == 1 else level_name(at_level.distribution.level),
        bars(at_level.confidence, margin),
        "± {} for each released cell",
    )
    numbers = "integers" if at_level.grid is None else "real numbers"
    if unit.step != 1:
        numbers = f"multiples of {unit.step}"
    composition = WHOLE_BUDGET
    if unit.epsilon_parts != 1:
        budget = EVEN_BUDGET if unit.neighbours == "add-remove" else REPLACED_BUDGET
        composition = budget.format(cells=unit.cells, parts=unit.epsilon_parts)
    return NoiseWords(
        line=promise_line(at_level.level, unit),
        per=None,
        released=released_rows(columns, statement.rows),
        unit=f"one individual, who {changes(unit, 'released cell')}",
        neighbours=unit.neighbours_text,
        noises=(noise,),
        why=at_level.theorem,
        before=before,
        after=AS_DRAWN,
        beyond=beyond_unit(statement.promise, unit, "released cell", statement.rows * len(columns))
        if at_level.grid is None
        else "",
        composition=composition,
        on_trust=trust_of_cells(statement.promise),
        domain=table_domain(statement, numbers),
    )


def table_domain(statement: Statement, numbers: str) -> str:
    """Return the sentence that says how many rows, and which numbers, the released table may have."""
    columns = ", ".join(statement.promise.columns)
    return f"Tables of {statement.rows} rows whose released columns ({columns}) hold {numbers}."


def rounded(unit: Unit, cell: str) -> str:
    """Return the sentence about the rounding of amounts, or about distinct values; "" for counts."""
    if unit.amount is None:
        return ""
    if unit.amount.distinct is not None:
        return (
            f"{unit.amount.name} counts the different values in each {cell}, of {unit.amount.distinct} "
            "values that were declared beforehand; one individual adds at most "
            f"{unit.largest_change} of them to a {cell}; such numbers do not add up over {cell}s, which may have "
            "values in common; "
        )
    return f"{unit.amount.name} was rounded to the nearest multiple of {unit.text(1)} and then summed; "


def changes(unit: Unit, cell: str) -> str:
    """Return in words what one individual changes."""
    return f"{unit.verb} {unit.changes_text(cell)}{', and lowers none' * unit.nonnegative}{_EVERYBODY * unit.exactly}"


def trust_of_cells(promise: Promise) -> tuple[str, ...]:
    """Return the assumptions that a release with separate noise of each cell cannot prove."""
    return (*counted_on_trust(promise), *ON_TRUST[1:]) if promise.proved else ON_TRUST


def counted_on_trust(promise: Promise) -> tuple[str, ...]:
    """Return the assumptions about the counting of a table that utmost counted."""
    return _ROWS_ON_TRUST if promise.individual == EACH_ROW else (_COUNTED_ON_TRUST,)


def beyond_unit(promise: Promise, unit: Unit, cell: str, size: int | None) -> str:
    """Return the sentence about contributions beyond the bounds, or about the publisher's declaration of the bounds."""
    # `size` is the number of cells of the table, if it is known: nobody is in more cells.
    # The sentence depends on the unit, which is public, and not on the data.
    if not promise.proved:
        return "how much one individual changes: nothing here shows that utmost counted this table; ask who counted"
    uncounted = "" if promise.individual == EACH_ROW else unit.uncounted_text(cell, size)
    averaged = "" if promise.individual == EACH_ROW else unit.averaged_text("group")
    more = f". {averaged[0].upper()}{averaged[1:]}" if averaged else ""
    lost = f"{uncounted}, and " if uncounted else ""
    return f"{lost}rows with values outside the declared lists: they are in no figure, and no margin covers them{more}"


def released_rows(columns: Sequence[str], rows: int, each: str = "") -> str:
    """Return the columns with noise, and the number of rows, as text."""
    return f"{', '.join(columns)}{each} ({rows} row{'s' * (rows != 1)})"


def listed(noun: str, names: Sequence[str]) -> str:
    """Return a noun with names, such as "the columns a, b"; "" without names."""
    return f"the {noun}{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""


def bars(stated: Fraction, margin: Any) -> Bars:
    """Compute the margin at each of `STATED_CONFIDENCES`, and at the confidence ``stated`` in the statement."""
    return tuple((sure, margin(sure)) for sure in sorted({*STATED_CONFIDENCES, stated}))
