"""Write a statement as sentences, for a registry's entry and for a page to print.

Every statement is checked first, as `utmost verify` does: its figures are computed again from its level, unit and
noise, and a statement with other figures is refused.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Any

from utmost.core.exact.display import few
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import level_name
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.statement_kinds import is_of_sums
from utmost.publish.promises.table_statements import outcome_line, promise_line
from utmost.publish.promises.until import Stop
from utmost.publish.releases.release_facts import MOST_MARGINS_IN_A_ROW, ReleaseFacts, StatedNoise
from utmost.publish.statements.table_words import (
    AS_DRAWN,
    DECLARED_ROWS,
    LONE_KEY,
    NOTHING_UNPROTECTED,
    bars,
    beyond_unit,
    changes,
    listed,
    rounded,
    words_of_cells,
)

if TYPE_CHECKING:  # plans are imported only when a statement needs them: imports take time
    from utmost.publish.releases.noisy_sums import NoisySums


OBSERVED_ROWS = "the list of rows, which was found in the data"
ROWS_UNPROTECTED = "which rows there are: they were found in the data, and one individual may be the reason for a row"
NAMED_ROWS = "nothing: the list of rows is itself the release"

SPLIT_BUDGET = "Epsilon is split among the tables as shown."
SHARED_BUDGET = (
    "Epsilon is split among the tables as shown. The shares add up to more than 1, because no individual can make the "
    "largest change in every table at once."
)
EPSILON_ADDS_UP = "Epsilon adds up with that of other releases of the same individuals."
DRAWN_ONCE = f"The noise was drawn once. {EPSILON_ADDS_UP}"
FEWER_LEVELS = f"an answer at a smaller epsilon is the answer at a larger epsilon with more noise; {AS_DRAWN}"


def table_in_words(document: Mapping[str, Any]) -> ReleaseFacts:
    """Check the statement of an answer, whose noise may be of any kind; return the statement in words."""
    if is_of_sums(document):
        from utmost.publish.releases.noisy_sums import NoisySums

        return sums_in_words(document, NoisySums.of_document(document))
    statement = Statement.of_facts(document)
    promise, level = statement.promise, statement.level
    noise, ledger = promise.noise, statement.ledger
    total, (adds, makes) = level_in_ledger(ledger, level)
    if isinstance(noise, Noise) and not noise.is_relaxed:
        adds, makes = DRAWN_ONCE, ""
    public = what_is_public(promise.public, promise.rows)
    if noise.names_rows:
        delta = statement.delta
        public = {
            "public": NAMED_ROWS,
            "unprotected": "nothing" if delta is None else LONE_KEY.format(delta=delta),
        }
    if isinstance(statement.noise, CellNoiseAtLevel):
        words = words_of_cells(statement, statement.noise)
    else:  # imported here, because most statements have noise of single cells
        from utmost.publish.statements.noise_words import words_of_noise

        words = words_of_noise(statement)
    if ledger is not None and (stop := ledger.stop) is not None:
        line, reached = _stop_words(stop, level, noise.unit)

        def margin(sure: Fraction) -> int | float:
            return statement.promise.at_stop(statement.level, replace(stop, confidence=sure)).margin

        words = replace(
            words,
            line=line,
            composition=f"{words.composition} {reached}".strip(),
            noises=tuple(replace(noise, bars=bars(stop.confidence, margin)) for noise in words.noises),
        )
    return ReleaseFacts(
        statement=document,
        level=total,
        own_level=level,
        line=words.line,
        per=words.per,
        released=words.released,
        unit=words.unit,
        neighbours=words.neighbours,
        noises=words.noises,
        why=words.why,
        **public,
        beyond=words.beyond,
        before=words.before,
        after=makes or words.after,
        composition=f"{words.composition} {adds or EPSILON_ADDS_UP}".strip(),
        on_trust=words.on_trust,
        delta=statement.delta,
        domain=words.domain,
        is_relaxed=not isinstance(noise, Noise) or noise.is_relaxed,
        promise=promise,
    )


def _stop_words(stop: Stop, level: Level, unit: Unit) -> tuple[str, str]:
    """Return a line about the promised level and the level reached, and a sentence about what chose this level."""
    chose = "A rule about released values chose" if stop.is_met is not None else "A person, not the rule, asked for"
    reached = f"{chose} {level_name(level)}; {level_name(stop.promised)} was promised beforehand."
    return f"{promise_line(stop.promised, unit)} {outcome_line(level)}", reached


def sums_in_words(statement: Mapping[str, Any], release: "NoisySums") -> ReleaseFacts:
    """Return in words the statement of a release by a plan; ``statement`` must belong to ``release``."""
    from utmost.publish.statements.workload_files import trust_of_sums

    marginals = statement["noise"]["marginals"]
    plain = release.plan.measurement.adds_to_one(release.plan.shares)
    whole = "epsilon" if plain else "the epsilon that a cell alone would have"
    amounts = release.plan.amount_pair
    noises = tuple(
        StatedNoise(
            name,
            sums,
            f"{distribution!r}{'' if release.unit.step == 1 else f' in steps of {release.unit.text(1)}'}",
            "" if len(marginals) == 1 and one["share"] == "1" else f"{_share_text(one['share'])} of {whole}",
            bars(release.confidence, margin),
            within,
        )
        for (marginal, distribution), one in zip(_distributions(release), marginals, strict=True)
        for name, sums, margin, within in _noised(release, marginal, distribution, one)
    )
    part = ""
    if release.promise.part is not None:
        axis, label = release.promise.part
        part = (
            f" This is the part {label} of {axis}: no individual is in two parts, so only the largest epsilon "
            "of any part counts."
        )
    measured_marginals = zip(_distributions(release), marginals, strict=True)
    words = release.plan.marginal_words if amounts is None else amounts.name
    shares = [
        f"{words(marginal) or 'total'} with {_share_text(one['share'])} of {whole}"
        for (marginal, _), one in measured_marginals
    ]
    summed = release.unit.amount
    of = "" if summed is None or summed.distinct is not None else f" of {summed.name}"
    count, sums = release.plan.measured, "sums"
    if amounts is not None:
        count, sums = count // amounts.size, "groups, each with count, sum and mean"
    named = "" if release.measure is None else f"{release.measure}: "
    clipped = "" if summed is None or summed.clipped is None else f" ({summed.clipped})"
    by = f": {few(shares, MOST_MARGINS_IN_A_ROW)}"
    if len(marginals) == 1 and plain:
        (marginal,) = release.plan.shares
        by = f" by {words(marginal)}" if words(marginal) else ""
    measured = f"{named}{count} {sums}{of}{clipped}{by}"
    total, (adds, _) = level_in_ledger(release.ledger_facts, release.level)
    line, split = promise_line(release.level, release.unit), f"{SHARED_BUDGET} "
    if plain:
        split = "" if len(release.plan.shares) == 1 else f"{SPLIT_BUDGET} "
    if release.stop is not None:
        line, reached = _stop_words(release.stop, release.level, release.unit)
        split = f"{split}{reached} "
    amount, domain = release.unit.amount, release.domain
    counts = "Counts" if amount is None else f"Sums of {amount.name}"
    if amount is not None and amount.distinct is not None:
        counts = f"Numbers of distinct values ({amount.name})"
    before = "utmost left nothing out: it was given a counted table"
    if release.promise.proved:
        # The sentence about values outside the domain depends on the domain alone, and not on the data.
        open_axes = [f"{axis.levels[0]}, counted as {axis.other}" for axis in domain.axes if axis.other is not None]
        counted = f", except those of {' and of '.join(open_axes)}" if open_axes else ""
        unknown = [f"{axis.levels[0]}, as {axis.missing}" for axis in domain.axes if axis.missing is not None]
        counted += f"; missing values are counted for {' and for '.join(unknown)}" if unknown else ""
        if amount is not None and amount.missing:
            counted += f"; rows without {amount.name} were left out of its sums and means"
            counted += ", and are counted among all" if release.unit.is_shared else ""
        bounded = "each individual's contribution was limited to what is stated above; "
        bounded += f"rows with a value outside the declared lists were left out{counted}"
        before = bounded if amount is None or amount.clipped is None else f"{amount.clipped}; {bounded}"
    if release.unit.is_distinct:
        after = "nothing: each noisy cell is published as it is"
    elif release.unit.is_shared:
        after = (
            "every sum of amounts and every count of events is computed from the noisy sums by least squares, without "
            "bias. It costs no more epsilon"
        )
    else:
        numbers = "whole numbers" if release.unit.step == 1 else f"multiples of {release.unit.text(1)}"
        after = (
            "every table and total is computed from the noisy sums by least squares, without bias; a clean copy, where "
            f"one is published, holds {numbers} that are not negative and whose sums agree. Neither costs more epsilon"
        )
    return ReleaseFacts(
        statement=statement,
        level=total,
        own_level=release.level,
        line=line,
        released=measured,
        unit=f"one individual, who {changes(release.unit, 'cell')}",
        neighbours=release.unit.neighbours_text,
        public=possible_values(
            [name for name in release.domain.columns if amounts is None or name != amounts.amount.name]
        ),
        unprotected=NOTHING_UNPROTECTED,
        noises=noises,
        why=str(statement["noise"]["theorem"]),
        beyond=beyond_unit(release.promise, release.unit, "cell", release.domain.size),
        before=f"{rounded(release.unit, 'cell')}{before}",
        after=after,
        composition=f"{split}{adds or EPSILON_ADDS_UP}{part}",
        domain=f"{counts} over a declared domain of {domain.size} cells: {', '.join(domain.columns)}.",
        on_trust=trust_of_sums(release.promise),
        promise=release.promise,
    )


def possible_values(columns: Sequence[str]) -> str:
    """Return the sentence about the lists of possible values, which are published without noise."""
    lists = f"list{'s' * (len(columns) > 1)} of possible values"
    return f"only the {lists} of {', '.join(columns)}, declared beforehand; not which individual has which value"


def _noised(
    release: "NoisySums", marginal: Any, distribution: Geometric, one: Mapping[str, Any]
) -> list[tuple[str, str, Callable[[Any], int | float], str]]:
    """For a measured marginal, or each column of its amount, return name, sums, margin, and the margin as text."""
    amounts, words = release.plan.amount_pair, release.plan.marginal_words(marginal)
    if amounts is None:
        sums = (
            f"the {one['sums']} {one.get('of', 'sums')} by {words}"
            if words
            else f"the {one.get('of', 'sum')} of everything"
        )
        is_table = (
            "of" not in one and min(marginal, default=0) >= 0 and len(release.plan.shares) <= MOST_MARGINS_IN_A_ROW
        )

        def margin(sure: Any) -> int | float:
            """Return the margin of the least-squares estimate if ``is_table``, else that of the noisy sum."""
            if not is_table:
                return release.unit.margin(distribution.margin(release.at_one_level(sure)))
            return next(iter(release.widest_bars([marginal], None, sure, together=False).values()))

        return [(words or "total", sums, margin, "± {}")]
    name, low, high = amounts.name(marginal) or "total", *map(release.unit.text, amounts.amount.ends)
    sums, third = ("three", ", and of the events without an amount") if amounts.amount.missing else ("two", "")
    parts = f", all columns computed from {sums} noisy sums: of the amounts above {low}, of those below {high}{third}"
    is_table = min(marginal, default=0) >= 0 and len(release.plan.shares) <= MOST_MARGINS_IN_A_ROW

    def margin_of(column: str, weights: Any) -> Callable[[Any], int | float]:
        """Return the function that gives the margin of a value in one column of the published table at a confidence."""
        if not is_table:
            return lambda sure: dict(amounts.bars(distribution.ratio, release.at_one_level(sure)))[column]
        seen = [amounts.seen(marginal)]
        return lambda sure: next(iter(release.widest_bars(seen, weights, sure, together=False).values()))

    counted = f"counts of {release.unit.counted_noun}"
    *_, mean = amounts.mean_columns
    what = {
        "count": counted,
        f"{amounts.amount.name}_count": f"{counted} that have {amounts.amount.name}",
        f"{amounts.amount.name}_sum": f"sums of {amounts.amount.name}",
        mean.name: f"means of {amounts.amount.name} ({_divided_by(mean.name)})",
    }
    return [
        (
            _column_of(name, column.name),
            f"the {one['sums'] // amounts.size} {what[column.name]} by {name}{parts if place == 0 else ''}",
            margin_of(column.name, column.weights),
            _within(column.name),
        )
        for place, column in enumerate(amounts.mean_columns)
    ]


def _share_text(share: str) -> str:
    """Return a budget share as text: the fraction, or a rounded percentage if its denominator is above 1000."""
    part = Fraction(share)
    return share if part.denominator <= _LONG else f"about {float(100 * part):.3g} %"


_LONG = 1000


def _divided_by(column: str) -> str:
    """Say in words by which number a margin must be divided to get the margin of a mean."""
    return f"the margin is approximately the number shown, divided by {column.rpartition(' times ')[2]}"


def _distributions(release: "NoisySums") -> list[tuple[Any, Geometric]]:
    from utmost.publish.promises.sum_distributions import noise_distributions

    return list(noise_distributions(release.plan, release.level).items())


def what_is_public(public: Sequence[str], rows_from: str) -> dict[str, str]:
    """Return the sentences about columns without noise, and about what the promise does not cover."""
    columns = listed("column", public)
    if rows_from == "observed":
        rows, unprotected = OBSERVED_ROWS, ROWS_UNPROTECTED
    else:
        rows, unprotected = DECLARED_ROWS, NOTHING_UNPROTECTED
    return {"public": f"{columns}, and {rows}" if columns else rows, "unprotected": unprotected}


def level_in_ledger(ledger: LedgerFacts | None, own: Level) -> tuple[Level, tuple[str, str]]:
    """Return the level of all answers of a release together, and two sentences about composition (or "")."""
    if ledger is None or ledger.together is None:
        return own, ("", "")
    largest = max(ledger.levels)
    adds = (
        f"All answers of this release together cost the largest of their levels, {level_name(largest)}, and not the "
        f"sum [koufogiannis2015]. {EPSILON_ADDS_UP}"
    )
    if ledger.together != largest:
        adds = f"{adds} With the other versions of the data the cost is {level_name(ledger.together)} in total."
    return ledger.together, (adds, FEWER_LEVELS if len(ledger.levels) > 1 else "")


def sums_table_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Return in words the statement of a table of a release by a plan: its margins, then those of measured sums."""
    from utmost.publish.releases.noisy_sums import SUMS_TABLE_FORM
    from utmost.publish.workloads.workload import narrowed

    table = SUMS_TABLE_FORM.checked(statement)
    release, facts = table.release, sums_in_words(statement["release"], table.release)
    marginal, labels = narrowed(release.domain, table.marginal)
    if marginal in release.plan.shares:
        return facts
    own, amounts = _computed(release, marginal, labels), release.plan.amount_pair
    if amounts is not None and not labels:
        measured = {amounts.name(each) for each in release.plan.shares}
        if release.domain.marginal_name(marginal) in measured and len(measured) == 1:
            return replace(facts, noises=tuple(replace(one, distribution=facts.noises[0].distribution) for one in own))
    return replace(facts, released=f"{own[0].of}, of these: {facts.released}", noises=(*own, *facts.noises))


def _column_of(table: str, column: str) -> str:
    """Return the name of a table, followed by that of a column unless ``column`` is empty."""
    return f"{table}: {column.partition(' times ')[0]}" if column else table


def _within(column: str) -> str:
    """Return the text of a column's margin; the margin of a mean is divided by the number of events in its group."""
    _, _, number = column.rpartition(" times ")
    return f"± at most about {{}} / {number}" if " times " in column else "± {}"


def _computed(release: "NoisySums", marginal: Any, labels: Mapping[int, Any]) -> tuple[StatedNoise, ...]:
    """Return the margins of a table that was computed from measured sums; amounts have one margin for each column."""
    amounts, name = release.plan.amount_pair, release.domain.marginal_name(marginal)
    shape = release.domain.group_shape(marginal)
    count = prod(1 if axis in labels else groups for axis, groups in enumerate(shape))
    columns: list[tuple[str, str, Any]] = [("", f"{count} sums" if count > 1 else "one sum", None)]
    if amounts is not None:
        *plain, mean = amounts.mean_columns
        columns = [(column.name, f"{column.name}, {count} values", column.weights) for column in plain]
        words = f"{mean.name.partition(' times ')[0]}, {count} values ({_divided_by(mean.name)})"
        columns.append((mean.name, words, mean.weights))

    def margin_of(weights: Any) -> Callable[[Any], int | float]:
        return lambda sure: next(iter(release.widest_bars([marginal], weights, sure, together=False).values()))

    return tuple(
        StatedNoise(
            _column_of(name or "total", column),
            f"this table: {words} by {name}" if name else f"this total: {words}",
            "computed from the noisy sums below",
            "",
            bars(release.confidence, margin_of(weights)),
            _within(column),
        )
        for column, words, weights in columns
    )


def measures_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Return in words the statement of a table of several amounts."""
    from utmost.publish.releases.measures_table import MEASURES_FORM

    measures = MEASURES_FORM.checked(statement)
    first = next(iter(measures.releases.values()))
    each = [
        sums_in_words(statement["releases"][name], replace(release, measure=name))
        for name, release in measures.releases.items()
    ]
    share = next(iter(statement["shares"].values()))
    is_alone = len(each) == 1
    own = "" if is_alone else f"{share} of epsilon"
    axes = [axis for axis in first.domain.columns if axis not in measures.releases]
    noises = [replace(noise, level=own) for facts in each for noise in facts.noises]
    counts = StatedNoise(
        f"{' '.join(axes) or 'total'}: count",
        f"number of {first.unit.counted_noun}: the average of the counts measured with each amount",
        noises[0].distribution,
        "",
        bars(first.confidence, measures.count_margin),
    )
    noises = noises if is_alone else [counts, *(noise for noise in noises if noise.name != counts.name)]
    ledger = measures.ledger_facts
    together, (adds, _) = level_in_ledger(ledger, measures.level)
    if not is_alone:
        later = "" if ledger is None else ", and later, more accurate copies cost only the largest level"
        split = f"Each amount uses {share} of epsilon; the whole table costs {level_name(measures.level)}{later}."
        adds = f"{split} {adds or EPSILON_ADDS_UP}"
    return replace(
        each[0],
        statement=statement,
        domain=f"Counts, sums and means of {', '.join(measures.releases)} over a declared domain: {', '.join(axes)}.",
        public=possible_values(axes),
        level=together,
        own_level=measures.level,
        line=promise_line(measures.level, first.unit),
        released="; ".join(facts.released for facts in each),
        unit=f"one individual, who {first.unit.verb} {measures.changes}",
        neighbours="; ".join(dict.fromkeys(facts.neighbours for facts in each)),
        before="; ".join(dict.fromkeys(step for facts in each for step in facts.before.split("; "))),
        beyond="; ".join(dict.fromkeys(facts.beyond for facts in each)),
        noises=tuple(noises),
        composition=adds or EPSILON_ADDS_UP,
    )


def detailed_in_words(document: Mapping[str, Any]) -> ReleaseFacts:
    """Return in words the statement of a release in two stages."""
    from utmost.publish.releases.detailed_release import DetailedSums

    release = DetailedSums.of_facts(document)
    group, share = release.rule.group, release.share
    first = sums_in_words(document["first"], release.first)
    bounds = ", ".join(f"{detail} from {bound}" for detail, bound in release.rule.details.items())
    noises = [replace(noise, level=f"{share} of epsilon") for noise in first.noises]
    if release.fine is not None:
        level = f"{1 - share} of epsilon"
        noises += [replace(noise, level=level) for noise in sums_in_words(document["fine"], release.fine).noises]
    return replace(
        first,
        statement=document,
        level=release.level,
        own_level=release.level,
        line=promise_line(release.level, release.first.unit),
        released=f"the sums by {group}, each broken down as finely as its noisy sum allows: {bounds}",
        noises=tuple(noises),
        composition=f"The sums by {group} have {share} of epsilon, the breakdowns {1 - share}. Noisy sums alone chose "
        f"the breakdown of each group, so that both stages together cost epsilon. {EPSILON_ADDS_UP}",
        is_relaxed=False,
    )


def withheld_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Return in words the statement of a table with withheld cells: the statement of its release, and the rule."""
    from utmost.publish.statements.withheld_check import WITHHELD_FORM

    described, whole = WITHHELD_FORM.checked(statement), table_in_words(statement["release"])
    facts = ", ".join(f"{name} {'none' if fact is None else fact}" for name, fact in statement["rule"].items())
    rule = (
        f"{described.words} The arguments of the rule: {facts}; {described.shown} of {described.cells} cells are shown."
    )
    return replace(
        whole,
        after=f"{whole.after}. Then cells were withheld by a public rule. {rule}",
        on_trust=(
            *whole.on_trust,
            "only the cells that the rule selects are withheld; the complete release alone can show this",
        ),
    )
