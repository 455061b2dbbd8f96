"""The sentences of noise that is not of single cells: columns changed together, points, named keys and others."""

from collections.abc import Sequence
from fractions import Fraction

from utmost.publish.promises.places_statements import places_drawn, places_line, places_theorem
from utmost.publish.promises.planar_law import PlanarLaw
from utmost.publish.promises.point_noise import PointPlan
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement import ON_TRUST, ON_TRUST_OF_DRAWS, PLACES_ON_TRUST, Statement
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.promises.together_plan import TogetherPlan, plan_of_way
from utmost.publish.releases.release_facts import MOST_BARS, StatedNoise
from utmost.publish.statements.table_words import (
    CONFIDENCES,
    NEGATIVE,
    NO_CHANGE,
    ROW_BUDGET,
    NoiseWords,
    bars,
    listed,
    neighbours_in_words,
    released_rows,
    table_domain,
)


def words_of_noise(statement: Statement) -> NoiseWords:
    """The sentences of a statement whose noise is not of single cells."""
    plan = statement.plan
    if isinstance(plan, TogetherPlan):
        return _of_columns_together(statement, plan)
    if isinstance(plan, PointPlan):
        return _of_points(statement, plan)
    return _of_any_noise(statement)


def _of_columns_together(statement: Statement, plan: TogetherPlan) -> NoiseWords:
    after = NEGATIVE
    if plan.way.kind == "rotated":
        ends = "multiples of 1/2 are kept" if plan.halves == "keep" else "halves are rounded by a fair coin"
        after = f"columns are read off noisy sums and differences; {ends}"
    if plan.way.kind == "signed":
        ends = "fractions are kept" if plan.halves == "keep" else "fractions are rounded by a coin"
        after = f"columns are read off noisy signed sums; {ends}"
    noises = tuple(
        StatedNoise(
            name,
            f"each cell of {listed('column', [name])}",
            plan.drawn_for(at),
            "the cells of one row share epsilon",
            bars(plan.confidence, lambda sure, at=at: _together_margin(plan, sure, at)),
        )
        for at, name in enumerate(plan.columns)
    )
    changes = f"only the {plan.unit.cells} released cells of one row, each by at most {plan.unit.sensitivity}"
    changes += ", and lowers none" * plan.unit.nonnegative
    return NoiseWords(
        line=promise_line(plan.level, plan.unit.neighbours),
        per=None,
        released=released_rows(plan.columns, statement.rows),
        unit=f"one individual, who changes {changes}",
        neighbours=neighbours_in_words(plan.unit),
        noises=noises,
        why=plan.why,
        before=NO_CHANGE,
        after=after,
        composition=ROW_BUDGET,
        on_trust=(*ON_TRUST, "no individual changes cells of two rows"),
        domain=table_domain(statement, "integers"),
    )


def _together_margin(plan: TogetherPlan, sure: Fraction, at: int) -> int | float:
    asked = plan_of_way(
        plan.columns, plan.level, plan.unit, plan.way, halves=plan.halves, confidence=sure, cost=plan.cost
    )
    return asked.margins[at]


def _of_points(statement: Statement, plan: PointPlan) -> NoiseWords:
    law, columns = plan.law, statement.promise.columns
    noise = StatedNoise(
        "points",
        f"the point ({', '.join(columns)}) of each row",
        places_drawn(law),
        "",
        bars(plan.confidence, law.margin),
        "within {} of the true point",
    )
    return NoiseWords(
        line=places_line(law),
        per=str(law.per),
        released=released_rows(columns, statement.rows, ": one point a row"),
        unit=f"where one row's point is, among all places within some {law.per} of it",
        neighbours=_metric_words(law, columns),
        noises=(noise,),
        why=places_theorem(law),
        before="nothing",
        after=f"noisy points are rounded to steps of {law.grid}",
        composition="The distances of several rows of one individual add up.",
        on_trust=PLACES_ON_TRUST,
        domain=table_domain(statement, "points"),
    )


def _of_any_noise(statement: Statement) -> NoiseWords:
    noise, level = statement.promise.noise, statement.level
    assert isinstance(noise, Noise), "noise for one level has a plan of its own"
    named_bars = {
        sure: noise.named_bars(level, sure, MOST_BARS) for sure in sorted({*CONFIDENCES, statement.confidence})
    }
    noises = tuple(
        StatedNoise(
            name,
            name,
            noise.drawn(level),
            "",
            tuple((sure, named[place][1]) for sure, named in named_bars.items()),
        )
        for place, (name, _) in enumerate(named_bars[statement.confidence])
    )
    columns, line = statement.promise.columns, promise_line(level, noise.unit.neighbours)
    named = f" ({statement.rows} named)" if statement.rows else ""
    return NoiseWords(
        line=line if noise.delta is None else f"{line[:-1]}, except with a chance of {noise.delta}.",
        per=None,
        released=f"{', '.join(columns)}{named}" if noise.names_rows else released_rows(columns, statement.rows),
        unit=noise.whom,
        neighbours=neighbours_in_words(noise.unit),
        noises=noises,
        why=noise.theorem,
        before="nothing",
        after="nothing",
        composition="",
        on_trust=("one individual changes no more than stated", ON_TRUST_OF_DRAWS) if noise.names_rows else ON_TRUST,
        domain=f"Tables of {noise.subject}.",
    )


def _metric_words(law: PlanarLaw, released: Sequence[str]) -> str:
    return (
        f"the same data with one row's point ({', '.join(released)}) moved by a Euclidean distance d, which changes "
        f"the chance of any result by a factor of at most exp(epsilon d/{law.per})"
    )
