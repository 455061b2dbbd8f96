"""The sentences that statements of all noises share: rows, tables, neighbours, error bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.core.exact.intervals import round_up
from utmost.core.exact.written_levels import level_name
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.grid import FARTHEST
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.statement import ON_TRUST, Statement
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.releases.release_facts import Bars, StatedNoise

CONFIDENCES = (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100))
"""How surely the error bars hold that a page shows, beside the statement's own."""

# The sentences of a table: each is written here once, and pages, screens and entries repeat it.
_EVERYBODY = "; nobody is left out or in fewer, so that the total is public"

NO_CHANGE = "none: noise was added to each true value as it was"

NEGATIVE = "none: noisy values are published as they are, so counts may be negative and sums need not agree"

ONE_TOTAL = "none: noisy values are published as they are, so counts may be negative; every table adds up to the total"

WHOLE_BUDGET = (
    "each cell gets the whole privacy budget, since one individual changes only one cell (parallel composition)."
)

EVEN_BUDGET = (
    "the privacy budget is split evenly: each cell gets 1/{charged} of it, since one individual is charged for "
    "{charged} cells (sequential composition)."
)

ROW_BUDGET = "the cells of one row share the whole privacy budget; no individual is in two rows."


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
    composition: str
    on_trust: tuple[str, ...]
    domain: str


def words_of_cells(statement: Statement, at_level: CellNoiseAtLevel) -> NoiseWords:
    """The sentences of noise that each cell gets by itself."""
    columns, unit = statement.promise.columns, at_level.unit
    if at_level.grid is None:
        before = rounded(unit, "cell") + NO_CHANGE
    else:
        half = at_level.grid * FARTHEST
        before = f"each value was rounded to the next multiple of {at_level.grid}, by at most {half}, before the noise"
    noise = StatedNoise(
        ", ".join(columns),
        listed("column", columns) + ", in each cell",
        repr(at_level.drawn)
        + ("" if at_level.width is None else f" in steps of {at_level.width if at_level.grid else unit.text(1)}"),
        level_name(at_level.law.level),
        bars(at_level.confidence, lambda sure: _margin(at_level, sure)),
        "± {} around each released cell",
    )
    numbers = "integers" if at_level.grid is None else "real numbers"
    if unit.step != 1:
        numbers = f"multiples of {unit.step}"
    changed = changes(unit, "released cell")
    return NoiseWords(
        line=promise_line(at_level.level, unit.neighbours),
        per=None,
        released=released_rows(columns, statement.rows),
        unit=f"one individual, who {changed}",
        neighbours=alike(unit, "released cell"),
        noises=(noise,),
        why=at_level.theorem,
        before=before,
        after=NEGATIVE,
        composition=_divided(int(unit.charged)),
        on_trust=ON_TRUST,
        domain=table_domain(statement, numbers),
    )


def _margin(at_level: CellNoiseAtLevel, sure: Fraction) -> int | float:
    steps = at_level.drawn.margin(sure)
    return at_level.unit.margin(steps) if at_level.grid is None else round_up((steps + FARTHEST) * at_level.grid)


def table_domain(statement: Statement, numbers: str) -> str:
    """The data sets of which a statement speaks."""
    columns = ", ".join(statement.promise.columns)
    return f"Tables of {statement.rows} rows whose released columns ({columns}) hold {numbers}."


def rounded(unit: Unit, cell: str) -> str:
    """The treatment of amounts before they were summed, and of values before the distinct ones were counted."""
    if unit.amount is None:
        return ""
    if unit.amount.distinct is not None:
        return (
            f"what is counted, as {unit.amount.name}, is how many of {unit.amount.distinct} values that were declared "
            f"beforehand occur in each {cell}; of one individual at most {unit.most} of them count there; such numbers "
            f"do not add up over {cell}s, which may have values in common; "
        )
    return f"what is summed is {unit.amount.name}, in steps of {unit.text(1)}, to the next of which it was rounded; "


def changes(unit: Unit, cell: str) -> str:
    """The change that one individual makes, in words."""
    many = f"{unit.many(cell)},{'' if unit.cells == 1 else ' each'} by at most {unit.most_of}"
    return f"changes at most {many}{', and lowers none' if unit.nonnegative else ''}{_EVERYBODY * unit.exactly}"


def alike(unit: Unit, cell: str) -> str:
    """The neighbouring data sets, in words."""
    if unit.neighbours == "add-remove":
        return f"the same data with one person more or one fewer, who {changes(unit, cell)}"
    many = f"{unit.many(cell)},{'' if unit.cells == 1 else ' each'} by at most {unit.most_of}"
    charged = "by what it takes from some sums and adds to others" if unit.nonnegative else "twice"
    return (
        f"data sets that differ in one individual's record, which counts in at most {many}; that is charged {charged}"
    )


def released_rows(columns: Sequence[str], rows: int, each: str = "") -> str:
    """Which columns have noise, and in how many rows."""
    return f"{', '.join(columns)}{each} ({rows} row{'s' * (rows != 1)})"


def listed(noun: str, names: Sequence[str]) -> str:
    """A noun with names: "the columns a, b"; nothing where there is none."""
    return f"the {noun}{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""


def _divided(charged: int) -> str:
    if charged == 1:
        return WHOLE_BUDGET
    return EVEN_BUDGET.format(charged=charged)


def bars(stated: Fraction, margin: Any) -> Bars:
    """The distance for each confidence, the statement's own among them."""
    return tuple((sure, margin(sure)) for sure in sorted({*CONFIDENCES, stated}))
