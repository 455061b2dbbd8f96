"""What a statement says, in the words of people who fill in forms: for a registry's entry, and for a page to print.

Every statement is checked before a word of it is repeated, as `utmost verify` does: its figures are computed again from
its level, unit and noise, and it is refused where they differ.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import exact
from utmost.core.exact.shown import few
from utmost.core.exact.written_levels import level_name, level_of_text, level_words
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.grid import FARTHEST
from utmost.publish.promises.plan import CellsAt
from utmost.publish.promises.statement_check import ON_TRUST, stated_plan
from utmost.publish.promises.statement_kinds import WORKLOAD_KIND
from utmost.publish.promises.table_statements import promise_line
from utmost.publish.releases.release_facts import MOST_BARS, Bars, Facts, StatedNoise

if TYPE_CHECKING:  # who reads a table's words waits for no plan's
    from utmost.publish.promises.planar_law import PlanarLaw
    from utmost.publish.promises.together_plan import TogetherAt
    from utmost.publish.releases.workload_release import WorkloadRelease

CONFIDENCES = (Fraction(1, 2), Fraction(19, 20), Fraction(99, 100))
"""How surely the error bars hold that a page shows, beside the statement's own."""


_EVERYBODY = "; nobody is left out or in fewer, so that the total is public"
_NO_CHANGE = "none: every true value in the released columns got its noise as it was"
_NEGATIVE = "none: noisy values are published as they are, so counts may be negative and sums need not agree"


def table_in_words(said: Mapping[str, Any]) -> Facts:
    """A table: its columns, the noise of each cell, and its error bars."""
    plan = stated_plan(said)
    if plan.grid is None:
        before = _rounded(plan.unit, "cell") + _NO_CHANGE
    else:
        half = plan.grid * FARTHEST
        before = f"each value was rounded to the next multiple of {plan.grid}, by at most {half}, before the noise"
    noise = StatedNoise(
        ", ".join(said["released"]),
        _listed("column", said["released"]) + ", in each cell",
        repr(plan.drawn)
        + ("" if plan.width is None else f" in steps of {plan.width if plan.grid else plan.unit.text(1)}"),
        level_name(plan.law.level),
        _bars(plan.confidence, lambda sure: _margin(plan, sure)),
        "± {} around each released cell",
    )
    total, shared = in_ledger(said, plan.level)
    divided = _divided(int(plan.unit.charged))
    return Facts(
        **_common(said, total, plan.level, "released cell"),
        noises=(noise,),
        why=plan.theorem,
        before=before,
        after=shared[1] or _NEGATIVE,
        composition=f"{divided} {shared[0]}".strip(),
        on_trust=ON_TRUST,
    )


def _margin(plan: CellsAt, sure: Fraction) -> int | float:
    steps = plan.drawn.margin(sure)
    return plan.unit.margin(steps) if plan.grid is None else round_up((steps + FARTHEST) * plan.grid)


def together_in_words(said: Mapping[str, Any]) -> Facts:
    """Columns that one individual changes together."""
    from utmost.publish.statements.together_check import stated_together

    plan = stated_together(said)
    after = _NEGATIVE
    if plan.way.kind == "rotated":
        ends = "multiples of 1/2 are kept" if plan.halves == "keep" else "halves are rounded by a fair coin"
        after = f"columns are read off noisy sums and differences; {ends}"
    if plan.way.kind == "signed":
        ends = "fractions are kept" if plan.halves == "keep" else "fractions are rounded by a coin"
        after = f"columns are read off noisy signed sums; {ends}"
    noises = tuple(
        StatedNoise(
            name,
            _listed("column", [name]) + ", in each cell",
            plan.drawn_for(at),
            f"{level_name(plan.level)} for the cells of one row together",
            _bars(plan.confidence, lambda sure, at=at: _together_margin(plan, sure, at)),
        )
        for at, name in enumerate(plan.columns)
    )
    total, shared = in_ledger(said, plan.level)
    divided = "the cells of one row are released together at the whole level; no individual is in two rows"
    changes = f"only the {plan.unit.cells} released cells of one row, each by at most {plan.unit.sensitivity}"
    changes += ", and lowers none" * plan.unit.nonnegative
    return Facts(
        **_common(said, total, plan.level, "released cell") | {"unit": f"one individual, who changes {changes}"},
        noises=noises,
        why=plan.why,
        before=_NO_CHANGE,
        after=after,
        composition=f"{divided}. {shared[0]}".strip() if shared[0] else divided,
        on_trust=(*ON_TRUST, "that no individual changes cells of two rows"),
    )


def _together_margin(plan: "TogetherAt", sure: Fraction, at: int) -> int | float:
    from utmost.publish.promises.together_plan import plan_of_way

    asked = plan_of_way(
        plan.columns, plan.level, plan.unit, plan.way, halves=plan.halves, confidence=sure, cost=plan.cost
    )
    return asked.margins[at]


def points_in_words(said: Mapping[str, Any]) -> Facts:
    """Points: the law of the noise, by distance."""
    from utmost.publish.statements.places_check import PLACES_ON_TRUST, stated_places

    law = stated_places(said)
    total, shared = in_ledger(said, law.level)
    sure = exact(said["confidence_exactly"], "confidence")
    noise = StatedNoise(
        "points",
        f"the points ({', '.join(said['released'])}), in each row",
        f"density proportional to exp(-epsilon |v|/{law.per}) in {law.dimensions} dimensions, in steps of {law.grid}",
        f"{level_name(law.level)} for each {law.per} of distance",
        _bars(sure, law.margin),
        "within {} of each point",
    )
    about = _common(said, total, law.level, "")
    return Facts(
        **about,
        noises=(noise,),
        why=str(said["theorem"]),
        after=shared[1] or f"noisy points are rounded to steps of {law.grid}",
        composition=f"the distances of several rows of one individual add up. {shared[0]}".strip(),
        on_trust=PLACES_ON_TRUST,
    )


def workload_in_words(said: Mapping[str, Any]) -> Facts:
    """A whole release by a plan."""
    from utmost.publish.statements.workload_files import check_workload

    return sums_in_words(said, check_workload(said))


def sums_in_words(statement: Mapping[str, Any], release: "WorkloadRelease") -> Facts:
    """What the statement of a release by a plan says, which is known to be its own."""
    from utmost.publish.statements.workload_files import ON_TRUST_OF_SUMS

    plain = release.strategy.measurement.adds_to_one(release.strategy.shares)
    whole = "the whole" if plain else "the level that a cell alone would have"
    amounts = release.strategy.amount_pair
    noises = tuple(
        StatedNoise(
            name,
            sums,
            f"{law!r}{'' if release.unit.step == 1 else f' in steps of {release.unit.text(1)}'}",
            f"{level_name(law.level)}, {one['share']} of {whole}",
            _bars(release.confidence, margin),
        )
        for (family, law), one in zip(_laws(release), statement["families"], strict=True)
        for name, sums, margin in _noised(release, family, law, one)
    )
    part = ""
    if release.part is not None:
        axis, label = release.part
        part = f" This is the part {label} of {axis}; parts share nobody, so the largest level of any part counts."
    measured_families = zip(_laws(release), statement["families"], strict=True)
    words = release.strategy.family_words if amounts is None else amounts.name
    shares = [f"{words(family) or 'total'} {one['share']}" for (family, _), one in measured_families]
    summed = release.unit.amount
    of = "" if summed is None or summed.distinct is not None else f" of {summed.name}"
    count, sums = release.strategy.measured, "sums"
    if amounts is not None:
        count, sums = count // 2, "pairs of sums and counts"
    named = "" if release.measure is None else f"{release.measure}: "
    measured = f"{named}{count} {sums}{of}: {few(shares, MOST_BARS)} of {whole}"
    total, (adds, _) = in_ledger(statement, release.level)
    return Facts(
        **_common(statement, total, release.level, "cell", measured),
        noises=noises,
        why=str(statement["theorem"]),
        before=f"{_rounded(release.unit, 'cell')}each individual's contribution was bounded as the unit says; "
        f"{_outside(release)}",
        after="nothing: each cell is shown as it was noised"
        if release.unit.is_distinct
        else _sums_of_cells(release.unit),
        composition="the families of sums share the level as stated, and the shares are together "
        + ("1." if plain else "what one individual, who cannot change as much in all of them, leaves room for.")
        + (f" {adds}" if adds else "")
        + part,
        on_trust=ON_TRUST_OF_SUMS,
    )


def _noised(
    release: "WorkloadRelease", family: Any, law: Geometric, one: Mapping[str, Any]
) -> list[tuple[str, str, Callable[[Any], int | float]]]:
    """What a measured family gives: names, the sums in words, and their margins; of a pair of sums and counts both."""
    amounts, words = release.strategy.amount_pair, release.strategy.family_words(family)
    if amounts is None:
        sums = f"the {one['sums']} {one.get('of', 'sums')} of {words or 'everything'}"
        return [(words or "total", sums, lambda sure: release.unit.margin(law.margin(sure)))]
    name, low, high = amounts.name(family) or "total", *map(release.unit.text, amounts.amount.ends)
    parts = f"each made of two noisy sums, of what events have above {low} and below {high}"

    def margin_of(column: str) -> Callable[[Any], int | float]:
        return lambda sure: dict(amounts.bars(law.ratio, sure))[column]

    listed = (amounts.amount.name, f"sums of {amounts.amount.name}"), ("count", "counts of events")
    return [
        (f"{name}: {column}", f"the {one['sums'] // 2} {what} by {name}, {parts}", margin_of(column))
        for column, what in listed
    ]


def _sums_of_cells(unit: Unit) -> str:
    """What is made of noisy sums; amounts are rounded to their step."""
    if unit.is_shared:
        return (
            "every sum of amounts and every count of events is made of the noisy sums by least squares, exactly "
            "unbiased. It costs no more"
        )
    whole = "whole numbers" if unit.step == 1 else f"multiples of {unit.text(1)}"
    return (
        "every table and total is made of the noisy sums by least squares, exactly unbiased; a clean copy, where "
        f"one is published, is rounded to {whole} that are not negative and whose sums agree. Neither costs more"
    )


def _rounded(unit: Unit, cell: str) -> str:
    """What became of amounts before they were summed, and of values before the distinct ones were counted."""
    if unit.amount is None:
        return ""
    if unit.amount.distinct is not None:
        return (
            f"what is counted, as {unit.amount.name}, is how many of {unit.amount.distinct} values that were declared "
            f"beforehand occur in each {cell}; of one individual at most {unit.most} of them count there; such numbers "
            f"do not add up over {cell}s, which may have values in common; "
        )
    return f"what is summed is {unit.amount.name}, in steps of {unit.text(1)}, to the next of which it was rounded; "


def _outside(release: "WorkloadRelease") -> str:
    """What became of values that the domain does not declare: a fact of the domain, not of the data."""
    axes = release.domain.axes
    open_axes = [f"{axis.levels[0]}, as {axis.other}" for axis in axes if axis.other is not None]
    counted = f", but those of {' and of '.join(open_axes)}" if open_axes else ""
    unknown = [f"{axis.levels[0]}, as {axis.missing}" for axis in axes if axis.missing is not None]
    counted += f"; missing values are counted for {' and for '.join(unknown)}" if unknown else ""
    return f"whatever has a value outside the domain was left out of every sum{counted}"


def _laws(release: "WorkloadRelease") -> list[tuple[Any, Geometric]]:
    from utmost.publish.promises.sum_laws import noise_laws

    return list(noise_laws(release.strategy, release.level).items())


def _common(said: Mapping[str, Any], total: Level, own: Level, cell: str, released: str = "") -> dict[str, Any]:
    """What all kinds say: level, promise, unit, what is public."""
    per = said.get("per")
    if per is None:
        protects = Unit.of_facts(said)
        many = f"{protects.many(cell)},{'' if protects.cells == 1 else ' each'} by at most {protects.most_of}"
        changes = f"changes at most {many}{', and lowers none' if protects.nonnegative else ''}"
        changes += _EVERYBODY * protects.exactly
        line, neighbours = promise_line(own, said["neighbours"]), said["neighbours"]
        unit = f"one individual, who {changes}"
        alike = {
            "add-remove": f"data sets that differ by one individual more or less, who {changes}",
            "change-one": f"data sets that differ in one individual's record, which counts in at most "
            f"{many}; that is charged "
            + ("by what it takes from some sums and adds to others" if protects.nonnegative else "twice"),
        }[neighbours]
    else:
        from utmost.publish.promises.places_statements import places_line
        from utmost.publish.statements.places_check import stated_places

        law = stated_places(said)
        line, unit = places_line(law), f"one row's point, moved by {per} of distance"
        alike = _metric_words(law, said["released"])
    return {
        "statement": said,
        "level": total,
        "own_level": own,
        "line": line,
        "per": per,
        "released": released or released_rows(said),
        "unit": unit,
        "neighbours": alike,
        **what_is_public(said),
    }


def released_rows(statement: Mapping[str, Any]) -> str:
    """Which columns have noise, and in how many rows."""
    what, rows = ", ".join(statement["released"]), statement["rows"]
    return f"{what}{': one point a row' if 'per' in statement else ''} ({rows} row{'s' * (rows != 1)})"


def _metric_words(law: "PlanarLaw", released: Sequence[str]) -> str:
    return (
        f"data sets that differ in one row's point ({', '.join(released)}); for points a Euclidean distance d apart "
        f"the probabilities of any result differ by a factor of at most exp(epsilon d/{law.per}) (metric privacy, also "
        "known as geo-indistinguishability)"
    )


def what_is_public(said: Mapping[str, Any]) -> dict[str, str]:
    """What is published without noise, and what of it the promise does not cover."""
    if said["kind"] == WORKLOAD_KIND:
        names = ", ".join(said["domain"])
        return {
            "public": f"the declared domain ({names}), which depends on no individual",
            "unprotected": "none: the domain was declared beforehand, and every sum over it has noise",
        }
    columns = _listed("column", said["public"])
    if said["rows_from"] == "observed":
        rows = "the list of rows, which was found in the data"
        return {
            "public": f"{columns}, and {rows}" if columns else rows,
            "unprotected": "which rows there are: they were found in the data, and one individual may be the reason",
        }
    rows = "the list of rows, which was fixed beforehand"
    return {
        "public": f"{columns}, and {rows}" if columns else rows,
        "unprotected": "none: what is published without noise was declared to depend on no individual",
    }


def _listed(noun: str, names: Sequence[str]) -> str:
    return f"the {noun}{'s' * (len(names) > 1)} {', '.join(names)}" if names else ""


def _divided(charged: int) -> str:
    if charged == 1:
        return "each cell has the whole level, since one individual changes only one of them (parallel composition)."
    return f"each cell has 1/{charged} of the level, since one individual is charged for {charged} (sequential)."


def in_ledger(said: Mapping[str, Any], own: Level) -> tuple[Level, tuple[str, str]]:
    """What all answers of a release cost, how they add up, and how they are made; nothing without a ledger."""
    if "name" not in said:
        return own, ("", "")
    total = level_of_text(said["together"]["epsilon"])
    answered = ", ".join(level_words(level_of_text(text)) for text in said["levels"])
    adds = (
        f"The release is kept, and was answered at epsilon = {answered}: all answers put together cost the "
        f"largest level, {level_name(total)}, since they have one joint law (gradual release, Koufogiannis, Han and "
        "Pappas 2015)."
    )
    makes = "an answer below a larger level is that answer with more noise; noisy values are published as they are"
    return total, (adds, makes)


def _bars(stated: Fraction, margin: Any) -> Bars:
    """The distance for each confidence, the statement's own among them."""
    return tuple((sure, margin(sure)) for sure in sorted({*CONFIDENCES, stated}))


def workload_table_in_words(said: Mapping[str, Any]) -> Facts:
    """A table of a release by a plan, with that release."""
    from utmost.publish.statements.workload_files import stated_workload_table

    release = stated_workload_table(said)
    return sums_in_words(said["release"], release)


def detailed_in_words(document: Mapping[str, Any]) -> Facts:
    """A release in two stages: the facts of the first, the noise of both, and how the one chose the other."""
    from utmost.publish.statements.detailed_check import check_detailed

    release = check_detailed(document)
    group, share = release.rule.group, release.share
    first = sums_in_words(document["first"], release.first)
    bounds = ", ".join(f"{detail} from {bound}" for detail, bound in release.rule.details.items())
    noises = [
        replace(noise, level=f"{level_name(release.first.level)}, {share} of the whole") for noise in first.noises
    ]
    if release.fine is not None:
        level = f"{level_name(release.fine.level)}, {1 - share} of the whole"
        noises += [replace(noise, level=level) for noise in sums_in_words(document["fine"], release.fine).noises]
    return replace(
        first,
        statement=document,
        level=release.level,
        own_level=release.level,
        line=promise_line(release.level, release.first.unit.neighbours),
        released=f"the sums of {group}, and of each the breakdown that they bear: {bounds}",
        noises=tuple(noises),
        composition=f"the sums of {group} have {share} of the level, the breakdowns {1 - share}; which one a group has "
        "was chosen by noisy sums alone, and whatever they choose both cost the level together.",
        is_relaxed=False,
    )


def withheld_in_words(statement: Mapping[str, Any]) -> Facts:
    """The words of the release, and after the noise the rule, as facts, too."""
    from utmost.publish.statements.withheld_check import stated_withheld, unsummed_release

    described, release = stated_withheld(statement), statement["release"]
    is_plan = described.family is not None
    whole = sums_in_words(release, unsummed_release(release)) if is_plan else table_in_words(release)
    facts = ", ".join(f"{name} {'none' if fact is None else fact}" for name, fact in statement["rule"].items())
    rule = f"{described.words} As facts: {facts}; {described.shown} of {described.cells} cells are shown."
    return replace(
        whole,
        after=f"{whole.after}. Then cells were withheld by a public rule. {rule}",
        on_trust=(*whole.on_trust, "that no other cell is withheld than the rule names, without the whole release"),
    )
