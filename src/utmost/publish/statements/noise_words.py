"""Write the sentences about noise of points, of keys, and of columns that one individual changes together."""

from fractions import Fraction

from utmost.core.noise.draw_with_total import DrawWithTotal
from utmost.publish.promises.one_draw_noise import OneDrawAtLevel
from utmost.publish.promises.places_statements import places_drawn, places_line, places_theorem
from utmost.publish.promises.point_noise import PointNoiseAtLevel
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement import CHOSEN_BEFOREHAND, ON_TRUST, ON_TRUST_OF_DRAWS, PLACES_ON_TRUST, Statement
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.promises.together_at_level import NoiseTogetherAtLevel, noise_of_way
from utmost.publish.releases.release_facts import MOST_MARGINS_IN_A_ROW, StatedNoise
from utmost.publish.statements.table_words import (
    AS_DRAWN,
    COUNTED_WITHIN,
    NO_CHANGE,
    ONE_TOTAL,
    ROW_BUDGET,
    STATED_CONFIDENCES,
    NoiseWords,
    bars,
    beyond_unit,
    changes,
    listed,
    released_rows,
    table_domain,
    trust_of_cells,
)


def words_of_noise(statement: Statement) -> NoiseWords:
    """Return the sentences about the noise of a statement, if it is not noise of single cells."""
    at_level = statement.noise
    if isinstance(at_level, NoiseTogetherAtLevel):
        return _of_columns_together(statement, at_level)
    if isinstance(at_level, OneDrawAtLevel):
        return _of_one_draw(statement, at_level)
    if isinstance(at_level, PointNoiseAtLevel):
        return _of_points(statement, at_level)
    return _of_any_noise(statement)


def _of_columns_together(statement: Statement, at_level: NoiseTogetherAtLevel) -> NoiseWords:
    after = AS_DRAWN
    if at_level.way.kind == "rotated":
        ends = "multiples of 1/2 are kept" if at_level.halves == "keep" else "halves are rounded by a fair coin"
        after = f"columns are computed from noisy sums and differences; {ends}"
    if at_level.way.kind == "signed":
        ends = "fractions are kept" if at_level.halves == "keep" else "fractions are rounded by a coin"
        after = f"columns are computed from noisy signed sums; {ends}"

    def with_confidence(sure: Fraction) -> NoiseTogetherAtLevel:
        way, halves, cost = at_level.way, at_level.halves, at_level.cost
        columns, level, unit = at_level.columns, at_level.level, at_level.unit
        return noise_of_way(columns, level, unit, way, halves=halves, confidence=sure, cost=cost)

    noises = tuple(
        StatedNoise(
            name,
            f"each cell of {listed('column', [name])}",
            at_level.drawn_for(at),
            "the cells of one row share epsilon",
            bars(at_level.confidence, lambda sure, at=at: with_confidence(sure).margins[at]),
        )
        for at, name in enumerate(at_level.columns)
    )
    changes = f"only the {at_level.unit.cells} released cells of one row, each by at most {at_level.unit.sensitivity}"
    changes += ", and lowers none" * at_level.unit.nonnegative
    return NoiseWords(
        line=promise_line(at_level.level, at_level.unit),
        per=None,
        released=released_rows(at_level.columns, statement.rows),
        unit=f"one individual, who changes {changes}",
        neighbours=at_level.unit.neighbours_text,
        noises=noises,
        why=at_level.why,
        before=NO_CHANGE,
        after=after,
        beyond="",
        composition=ROW_BUDGET,
        on_trust=(*ON_TRUST, "no individual changes cells of two rows"),
        domain=table_domain(statement, "integers"),
    )


def _of_one_draw(statement: Statement, at_level: OneDrawAtLevel) -> NoiseWords:
    columns, unit = statement.promise.columns, at_level.unit
    cell = "group of each table" if at_level.rows else "released cell"
    composition = "All released cells share the whole epsilon, in one draw."
    if isinstance(at_level.distribution, DrawWithTotal):
        composition = "Epsilon is split: one draw of noise for all cells, and separate noise for their total."
    if at_level.further_tables:
        composition = "Epsilon is split: one draw of noise for the one-way tables, separate noise for each other table."
    stated = StatedNoise(
        ", ".join(columns),
        f"all cells of {listed('column', columns)} together",
        at_level.drawn,
        "all released cells share epsilon",
        bars(at_level.confidence, lambda sure: at_level.with_confidence(sure).margin),
        "± {} at most; margins differ from row to row" if at_level.rows else "± {} for each released cell",
    )
    return NoiseWords(
        line=promise_line(at_level.level, unit),
        per=None,
        released=released_rows(columns, statement.rows),
        unit=f"one individual, who {changes(unit, cell)}",
        neighbours=unit.neighbours_text,
        noises=(stated,),
        why=at_level.theorem,
        before=COUNTED_WITHIN if statement.promise.proved else NO_CHANGE,
        after=ONE_TOTAL if at_level.rows else AS_DRAWN,
        beyond=beyond_unit(statement.promise, unit, cell, statement.rows * len(columns)),
        composition=composition,
        on_trust=trust_of_cells(statement.promise),
        domain=table_domain(statement, statement.promise.noise.subject),
    )


def _of_points(statement: Statement, at_level: PointNoiseAtLevel) -> NoiseWords:
    distribution, columns = at_level.distribution, statement.promise.columns
    noise = StatedNoise(
        "points",
        f"the point ({', '.join(columns)}) of each row",
        places_drawn(distribution),
        "",
        bars(at_level.confidence, distribution.margin),
        "within {} of the true point",
    )
    return NoiseWords(
        line=places_line(distribution),
        per=str(distribution.per),
        released=released_rows(columns, statement.rows, ": one point a row"),
        unit=f"where one row's point is, among all places within some {distribution.per} of it",
        neighbours=f"the same data with one row's point ({', '.join(columns)}) moved by a Euclidean distance d, which "
        f"multiplies or divides the chance of any result by at most exp(epsilon d/{distribution.per})",
        noises=(noise,),
        why=places_theorem(distribution),
        before="nothing",
        after=f"noisy points are rounded to steps of {distribution.grid}",
        beyond="",
        composition="The distances of several rows of one individual add up.",
        on_trust=PLACES_ON_TRUST,
        domain=table_domain(statement, "points"),
    )


def _of_any_noise(statement: Statement) -> NoiseWords:
    noise, level = statement.promise.noise, statement.level
    assert isinstance(noise, Noise), "planned noise has its own sentences"
    named_bars = {
        sure: noise.named_bars(level, sure, MOST_MARGINS_IN_A_ROW)
        for sure in sorted({*STATED_CONFIDENCES, statement.noise.confidence})
    }
    noises = tuple(
        StatedNoise(
            name,
            name,
            noise.drawn(level),
            "",
            tuple((sure, named[place][1]) for sure, named in named_bars.items()),
        )
        for place, (name, _) in enumerate(named_bars[statement.noise.confidence])
    )
    columns, line = statement.promise.columns, promise_line(level, noise.unit)
    named = f" ({statement.rows} named)" if statement.rows else ""
    return NoiseWords(
        line=line if noise.delta is None else f"{line[:-1]}, except with a chance of {noise.delta}.",
        per=None,
        released=f"{', '.join(columns)}{named}" if noise.names_rows else released_rows(columns, statement.rows),
        unit=noise.whom,
        neighbours=noise.unit.neighbours_text,
        noises=noises,
        why=noise.theorem,
        before="nothing",
        after="nothing",
        beyond="",
        composition="",
        on_trust=(ON_TRUST[0], CHOSEN_BEFOREHAND, ON_TRUST_OF_DRAWS) if noise.names_rows else ON_TRUST,
        domain=f"Tables of {noise.subject}.",
    )
