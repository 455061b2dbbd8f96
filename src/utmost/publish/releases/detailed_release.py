"""Two-stage releases: first noisy totals of groups, then, for each group, the breakdown that its noisy total allows.

A first release measures the sums of coarse groups, with a share of the level. A public rule on its *noisy* sums chooses
a breakdown for each group: none, a coarse one, or a fine one. A second release measures the chosen breakdowns, with the
rest of the level.

*Claim.* Both releases together satisfy the whole level. *Proof.* Given the first noisy sums, the rows of the second
table are fixed: the parts of one breakdown of each group, so that each cell of the domain is in at most one row. If one
individual changes at most k cells, by |d|_1 <= R in total, the rows change by at most R in total, and at most k of
them, each by at most R. So the second release satisfies its level for the same individual *for every outcome of the
first*, and by adaptive composition the two levels add up. ∎ The rule may be any function of noisy sums.

One plan cannot choose breakdowns by group. If a plan measures several breakdowns, they share the level; if a plan
measures only the finest one, a coarse part has the noise of all cells in this part (proofs/theory/workloads.md, "Two
stages").
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, text
from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, between_0_and_1, exact, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts, level_from_facts
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import narrowed
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import NotDetermined, OutOfRange, Unsupported
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.codec import StatementForm, does_not_follow, stated_field
from utmost.publish.promises.statement_kinds import DETAILED_KIND
from utmost.publish.promises.sum_distributions import noise_distributions
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.promises.table_statements import LISTS_ASSUMED, promise
from utmost.publish.releases.checked_sums import CheckedSums, counted_for
from utmost.publish.releases.clean_release import CleanProblem, CleanTable
from utmost.publish.releases.estimates import Estimate
from utmost.publish.releases.given_facts import GivenFacts
from utmost.publish.releases.noisy_sums import MarginalNames, NoisySums
from utmost.publish.workloads.planning.plan import Plan
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.domain import Domain, Marginal, Where
from utmost.tables.axes.listed_keys import BETWEEN
from utmost.tables.files.saving import SavedContent, saved
from utmost.tables.frames.adapters import Column, LabelledTable

_FEW = 5

PART, DETAIL = "part", "detail"
"""Columns of the second table, besides the group: the labels of the part, and the name of its breakdown."""


@dataclass(frozen=True, slots=True, repr=False)
class DetailRule(Display):
    """A public rule that chooses the breakdown of a group by its noisy sum.

    Args:
        group: Level of the groups that are measured first.
        details: Mapping from breakdowns to bounds, such as ``{"sex": 100, "age sex": 500}``: the smallest noisy sum
            with which a group gets each breakdown. A group whose sum reaches several bounds gets the breakdown with the
            largest bound; a group below all bounds gets none.

    Raises:
        OutOfRange: if there is no breakdown, or if two have equal bounds.

    >>> DetailRule("county", {"sex": 100, "age sex": "500"}).detail_of(499)
    'sex'
    """

    group: str
    details: Mapping[str, Number]

    def __post_init__(self) -> None:
        text(self.group, "group")
        mapping(self.details, "details")
        if not all(isinstance(name, str) and name for name in self.details):
            raise OutOfRange(
                "details must map the name of each breakdown to its bound", came="other keys", where="details"
            )
        bounds = {name: exact(bound, "details") for name, bound in self.details.items()}
        if not bounds or len(set(bounds.values())) < len(bounds):
            came = "two equal bounds" if bounds else "no breakdown"
            raise OutOfRange(
                "there must be at least one breakdown, and each must have a different bound", came=came, where="details"
            )
        object.__setattr__(self, "details", bounds)

    def detail_of(self, noisy: Number) -> str | None:
        """Return the breakdown of a group with this noisy sum; a sum equal to a bound reaches it. None below all
        bounds.
        """
        value, bounds = exact(noisy, "noisy"), {exact(bound): name for name, bound in self.details.items()}
        reached = [bound for bound in bounds if value >= bound]
        return bounds[max(reached)] if reached else None

    def facts(self) -> dict[str, Any]:
        """Return the rule as JSON values."""
        return {"group": self.group, "details": {name: str(bound) for name, bound in self.details.items()}}

    def chosen(self, first: NoisySums) -> dict[str, str]:
        """Return {group: breakdown} as each group's noisy sum chooses it; groups without a breakdown are left out.

        Raises:
            OutOfRange: if the sums of the groups were not measured.
        """
        instance(first, NoisySums, "first").domain.level_named(self.group)  # an unknown group raises here
        sums = first.raw(self.group)
        names = _texts(sums[self.group])
        details = zip(names, map(self.detail_of, plain_cells(sums["measured"])), strict=True)
        return {name: detail for name, detail in details if detail is not None}

    def keys(self, domain: Domain, chosen: Mapping[str, str]) -> dict[tuple[str, str, str], int]:
        """Return the rows (group, breakdown, part) of the second table, each with its index in the breakdown's table.

        Raises:
            OutOfRange: if the group is no level of the domain, if a breakdown contains the group's axis, or if it names
                unknown levels.
        """
        mapping(chosen, "chosen")
        instance(domain, Domain, "domain")
        rows: dict[str, dict[tuple[str, str, str], int]] = {}
        for detail in self.details:
            labels = domain.group_labels(self.marginal(domain, detail))
            own = [name for name in labels if name != self.group]
            parts = [BETWEEN.join(texts) for texts in zip(*(_texts(labels[name]) for name in own), strict=True)]
            for at, group in enumerate(_texts(labels[self.group])):
                if chosen.get(group) == detail:
                    rows.setdefault(group, {})[group, detail, parts[at]] = at
        return {key: at for group in chosen if group in rows for key, at in rows[group].items()}

    def marginal(self, domain: Domain, detail: str) -> Marginal:
        """Return the marginal that contains one breakdown of all groups.

        Raises:
            OutOfRange: if the breakdown contains the group's axis, or names unknown levels.
        """
        place, _ = instance(domain, Domain, "domain").level_named(self.group)
        text(detail, "detail")
        names = domain.level_names(domain.marginal(detail))
        if any(domain.level_named(name)[0] == place for name in names):
            raise OutOfRange("a breakdown must not contain the axis of the group", came=repr(detail), where="details")
        return domain.marginal([self.group, *names])

    def domain_of(self, domain: Domain, chosen: Mapping[str, str]) -> Domain:
        """Return the domain of the second table: the list of its rows (group, breakdown, part)."""
        return Domain.listed(list(self.keys(domain, chosen)), names=[self.group, DETAIL, PART])

    def counted(self, table: CountedTable, first: NoisySums) -> CountedTable:
        """Return the true sums of the breakdowns that a first release chose, with their unit of privacy.

        Release the result like any counted table: once, or in a ledger under the dataset of the first release, where
        the levels of both releases add up and both can be relaxed. Pass the answer ``first`` that was published first,
        not a relaxed one: its sums determine the choice of breakdowns.

        Raises:
            OutOfRange: if no group has a breakdown, or if ``first`` is over another domain.
            Unsupported: if the table has numbers of distinct values, which do not add up, or sums and counts with
                shared noise.
        """
        instance(table, CountedTable, "table").check_fits(instance(first, NoisySums, "first").plan)
        unit, chosen = detailed_unit(table.unit), self.chosen(first)
        if not chosen:
            remedy = "Publish the first release alone: no group reaches the bound of a breakdown."
            raise OutOfRange(
                "at least one group must reach the bound of a breakdown", came="none", where="details", remedy=remedy
            )
        rows, domain = self.keys(table.domain, chosen), self.domain_of(table.domain, chosen)
        sums = {
            detail: table.domain.sums(table.summable, self.marginal(table.domain, detail)).ravel()
            for detail in dict.fromkeys(chosen.values())
        }
        by_text = {BETWEEN.join(key): int(sums[key[1]][at]) for key, at in rows.items()}
        cells = narrowed(np.array([by_text[str(text)] for text in domain.axes[0].labels[0]], dtype=object))
        return replace(table, domain=domain, cells=cells, unit=unit, together=None, report=None)


def detailed_unit(unit: Unit) -> Unit:
    """Return the unit of privacy of rows that are sums of disjoint sets of cells with the unit ``unit``."""
    if unit.is_distinct or unit.is_shared:
        came = "distinct values" if unit.is_distinct else "sums and counts together"
        raise Unsupported("a release in two stages must be of counts or of sums of amounts", came=came)
    if unit.cells == 1:
        # Individuals in a group without a breakdown are not counted in these rows, so that their total is not public.
        return replace(unit, exactly=False) if unit.exactly else unit
    return Unit(unit.reach, unit.cells, unit.neighbours, unit.amount, unit.nonnegative, unit.reach)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DetailedSums(Display):
    """A release in two stages: the sums of groups, and for each group the breakdown that its sum chose.

    No promise can name the plan of the second stage beforehand, because the noisy sums of the first stage choose it.

    Attributes:
        rule: Rule that chose the breakdowns.
        first: Sums of the groups.
        fine: Sums of the chosen breakdowns, one for each row (group, breakdown, part); None if no group has a
            breakdown.
        level: Level of both stages together.
        share: Budget share of the first stage.
    """

    _shown = ("level", "rule")

    rule: DetailRule
    first: NoisySums = field(repr=False)
    fine: NoisySums | None = field(repr=False)
    level: Level
    share: Fraction

    @property
    def spent(self) -> Level:
        """The cost of both stages together, which is the same for every choice of breakdowns."""
        return self.level

    @property
    def tables(self) -> tuple[LabelledTable, LabelledTable | None]:
        """The table of groups and the table of breakdowns (None without any), each with estimates and margins."""
        return self.first[self.rule.group], None if self.fine is None else self.fine[self.fine.domain.finest]

    def total(self, where: Where | None = None, *, confidence: Number | None = None) -> Estimate:
        """Return the sum over a selection, with its margin; if both stages estimate it, return the more accurate sum.

        Args:
            where: Selection of cells, as for `NoisySums.total`.
            confidence: Confidence of the margin; that of the release if left out.

        Raises:
            NotDetermined: if a selected group has no breakdown by the selected levels; the message names the groups.
            OutOfRange: if a name or label is not in the domain.
        """
        domain = self.first.domain
        taken, groups = (
            domain.selection({} if where is None else mapping(where, "where")),
            domain.marginal(self.rule.group),
        )
        inside, touched = _groups_taken(domain, groups, taken)
        answers = [self.first.total(where, confidence=confidence)] if inside[touched].all() else []
        rows, lost = self._rows(taken)
        if rows and not lost:
            assert self.fine is not None, "rows are those of the second stage"
            answers.append(self.fine.total({PART: rows}, confidence=confidence))
        if not answers:
            remedy = "Select whole groups, or the breakdowns in release.tables."
            came = ", ".join(lost[:_FEW]) + " and others" * (len(lost) > _FEW)
            raise NotDetermined(
                "each selected group must have a breakdown by the selected levels", came=came, remedy=remedy
            )
        return min(answers, key=lambda answer: answer.margin)

    def _rows(self, taken: Sequence[NDArray[np.bool_]]) -> tuple[list[str], list[str]]:
        """Return the rows of the second stage that add up to a selection, and the groups that have no such rows."""
        domain, chosen = self.first.domain, self.rule.chosen(self.first)
        groups, (place, _) = domain.marginal(self.rule.group), domain.level_named(self.rule.group)
        alone = [row if at == place else np.ones_like(row) for at, row in enumerate(taken)]
        named = zip(
            _texts(domain.group_labels(groups)[self.rule.group]), _groups_taken(domain, groups, alone)[1], strict=True
        )
        lost = [name for name, is_wanted in named if is_wanted and name not in chosen]
        details = {name: _groups_taken(domain, self.rule.marginal(domain, name), taken) for name in self.rule.details}
        rows = list[str]()
        for key, at in self.rule.keys(domain, chosen).items():
            inside, touched = details[key[1]]
            if inside[at]:
                rows.append(BETWEEN.join(key))
            elif touched[at] and key[0] not in lost:
                lost.append(key[0])
        return rows, lost

    @progress_bar("Making whole numbers")
    def clean(self, given: GivenFacts | None = None, *, hold: MarginalNames | None = None) -> CleanTable:
        """Compute nonnegative integers for both stages, such that all their sums agree, to publish beside the release.

        Groups and the rows of their breakdowns form a tree, so the problem of each group is solved separately, and its
        sums can be rounded to integers that still agree. The table has the rows of the second stage; a group without a
        breakdown has one row, with the group's level as its breakdown.

        Args:
            given, hold: Arguments of `NoisySums.clean` that a release in two stages does not take.

        Raises:
            Unsupported: if ``given`` or ``hold`` is passed.
            SolverFailed: if the numerical search for the cells fails.
        """
        return self.clean_problem(given, hold).solved()

    def clean_problem(self, given: GivenFacts | None = None, hold: MarginalNames | None = None) -> CleanProblem:
        """Return the least-squares problem whose solution is the clean table, see `clean`."""
        if given is not None or hold is not None:
            came = "given=" if hold is None else "hold="
            remedy = "Leave out given= and hold=: the margins of both stages together are not known."
            raise Unsupported("given= and hold= are not allowed for a release in two stages", came=came, remedy=remedy)
        both, groups = self.together, self.first.domain.marginal(self.rule.group)
        distributions = [*both.distributions(both.domain.finest).values(), *self.first.distributions(groups).values()]
        return CleanProblem.of(
            both,
            both.reconstruction,
            max(distributions, key=lambda distribution: distribution.variance),
            both.kind,
            None,
            None,
        )

    @property
    def domain(self) -> Domain:
        """The domain of clean tables: the rows (group, breakdown, part)."""
        return self.together.domain

    @property
    def together(self) -> NoisySums:
        """The sums of both stages as one release over a tree, to compute clean tables; its margins have no meaning.

        A group without a breakdown has one row with the group's sum: then the least-squares estimates of group and row
        are that sum.
        """
        rule, first = self.rule, self.first
        groups = first.domain.marginal(rule.group)
        names = _texts(first.domain.group_labels(groups)[rule.group])
        totals = dict(zip(names, first.measured[groups].ravel().tolist(), strict=True))
        parts: dict[str, dict[tuple[str, str, str], int]] = {}
        if self.fine is not None:
            keys = rule.keys(first.domain, rule.chosen(first))
            for key, part in zip(keys, self.fine.measured[self.fine.domain.finest].tolist(), strict=True):
                parts.setdefault(key[0], {})[key] = part
        rows = {
            key: part
            for name, total in totals.items()
            for key, part in parts.get(name, {(name, rule.group, name): total}).items()
        }
        domain = Domain.listed(list(rows), names=[rule.group, DETAIL, PART])
        shares = {domain.marginal(rule.group): self.share, domain.finest: 1 - self.share}
        plan = Plan(domain, detailed_unit(first.unit), shares)
        sums = (np.array(list(each.values()), dtype=object) for each in (totals, rows))
        measured = dict(zip(shares, map(narrowed, sums), strict=True))
        return NoisySums(first.promise.with_noise(SumNoise(plan)), self.level, first.confidence, measured, first.kind)

    @property
    def statement(self) -> dict[str, Any]:
        """The public statement: the guarantee of both stages, the rule, and the statement of each stage."""
        fine = None if self.fine is None else self.fine.statement
        return {**self.facts(), "first": self.first.statement, "fine": fine}

    def facts(self) -> dict[str, Any]:
        """Return the release as JSON values: the statement, and the noisy sums of both stages."""
        return DETAILED_FORM.statement(self, None)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "DetailedSums":
        """Read the release in a document that `facts` wrote; every field is computed again and compared.

        The check covers both stages, the rows that the rule chooses by the first noisy sums, the unit of the second
        stage, and the sum of the levels.

        Raises:
            BadTable: if a field does not follow from the others; the error names the first such field.
        """
        return DETAILED_FORM.checked(facts)

    def _fields(self) -> dict[str, Any]:
        promised = promise(self.level, self.first.unit, "both releases", "cell")
        assumed = (
            f"Released sums chose which breakdown of {self.rule.group!r} is published; epsilon covers that choice. "
            + LISTS_ASSUMED
        )
        return {
            "guarantee": f"{promised} {assumed} {self.first.promise.sentences}".rstrip(),
            **level_facts(self.level),
            "rule": self.rule.facts(),
            "share": str(self.share),
            "first": self.first.facts(),
            "fine": None if self.fine is None else self.fine.facts(),
        }

    @classmethod
    def _of_fields(cls, document: Mapping[str, Any]) -> "DetailedSums":
        first = NoisySums.of_facts(stated_field(document, "first", dict))
        fine = None if document.get("fine") is None else NoisySums.of_facts(stated_field(document, "fine", dict))
        facts = stated_field(document, "rule", dict)
        rule = DetailRule(stated_field(facts, "group", str), stated_field(facts, "details", dict))
        level, share = level_from_facts(document), exact(stated_field(document, "share", str))
        # The rule and the first stage determine what the second stage must be.
        chosen, domain = rule.chosen(first), first.domain
        if not 0 < share < 1 or first.level != level.scaled(share):
            raise does_not_follow("share")
        if first.plan.shares != {domain.marginal(rule.group): 1}:
            raise does_not_follow("first")
        if (fine is None) != (not chosen):
            raise does_not_follow("fine")
        if fine is not None:
            same = fine.domain.same_as(rule.domain_of(domain, chosen)) and fine.unit == detailed_unit(first.unit)
            plain = (
                fine.plan.shares == {fine.domain.finest: 1}
                and fine.promise.with_noise(first.promise.noise) == first.promise
            )
            if not (same and plain and fine.level == level.scaled(1 - share)):
                raise does_not_follow("fine")
        return cls(rule, first, fine, level, share)

    def save(self, path: Path | str, *, sign: Path | str | None = None, overwrite: bool = False) -> dict[str, Any]:
        """Write the release as one .json file; see `saved`."""
        publication = SavedContent(self.first.measured, lambda _: self.facts(), self.facts)
        return saved(publication, path, sign=sign, overwrite=overwrite)


DETAILED_FORM = StatementForm(DETAILED_KIND, "a release in two stages", DetailedSums._fields, DetailedSums._of_fields)
"""How a release in two stages is written as a document, and read and checked."""


def whole_release(document: Mapping[str, Any]) -> NoisySums | DetailedSums:
    """Read and check the document of a release by a plan, in one stage or in two."""
    is_staged = isinstance(document, Mapping) and document.get("kind") == DETAILED_KIND
    return DetailedSums.of_facts(document) if is_staged else NoisySums.of_facts(document)


def release_detailed(
    table: CountedTable,
    group: str,
    details: Mapping[str, Number],
    *,
    epsilon: Number | Level,
    first: Number = "1/8",  # the groups get an eighth of the level, if nobody says otherwise
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> DetailedSums:
    """Release the sums of groups, and for each group the breakdown that its noisy sum allows, within one level.

    Args:
        table: Counted table of `count_table`; a person may change several of its cells.
        group, details: Arguments of `DetailRule`.
        epsilon: Privacy level of both stages together.
        first: Budget share of the sums of groups, strictly between 0 and 1.
        confidence, randomness: Arguments of `release`.

    Returns:
        Both stages, which cannot be relaxed later. If you may want to relax them, publish the two stages in a ledger
        under one dataset, see `DetailRule.counted`: the levels of the stages add up.

    Raises:
        OutOfRange: if ``first`` is not strictly between 0 and 1, or as for `DetailRule`.
        Unsupported: as for `DetailRule.counted`; this error is raised before anything is drawn.

    Source: adaptive composition; proofs/theory/workloads.md, "Two stages".

    >>> import numpy as np
    >>> domain = Domain(county=["A", "B"], age=["young", "old"], sex=["men", "women"])
    >>> table = CountedTable(domain, np.array([900, 800, 700, 600, 3, 0, 2, 4]).reshape(2, 2, 2), Unit(1, 1))
    >>> release = release_detailed(table, "county", {"age": 100, "age sex": 1000}, epsilon=2)
    >>> release.fine.domain.label_columns((0,)), release.fine.domain.size, release.spent
    (('county', 'detail', 'part'), 4, level(epsilon=2))
    """
    rule, whole = DetailRule(group, details), level(epsilon)
    share, _ = rehearse_detailed(instance(table, CountedTable, "table"), rule, whole, first, confidence)
    bits, groups = secure(randomness), Plan(table.domain, table.unit, {group: 1})
    coarse = CheckedSums.of(*counted_for(table, groups), whole.scaled(share), confidence).draw(bits)
    if not rule.chosen(coarse):
        return DetailedSums(rule, coarse, None, whole, share)
    fine = rule.counted(table, coarse)
    plan = Plan(fine.domain, fine.unit, {fine.domain.finest: 1})
    chosen = CheckedSums.of(*counted_for(fine, plan), whole.scaled(1 - share), confidence).draw(bits)
    return DetailedSums(rule, coarse, chosen, whole, share)


def rehearse_detailed(
    table: CountedTable, rule: DetailRule, whole: Level, first: Number, confidence: Number = DEFAULT_CONFIDENCE
) -> tuple[Fraction, dict[str, Any]]:
    """Check both stages for every choice of breakdowns; return the first stage's share, and each table's margin."""
    share, sure = between_0_and_1(first, "first"), read_confidence(confidence)
    table.domain.level_named(rule.group)
    unit, coarse = detailed_unit(table.unit), Plan(table.domain, table.unit, {rule.group: 1})
    groups = _texts(table.domain.group_labels(table.domain.marginal(rule.group))[rule.group])
    (distribution,) = noise_distributions(coarse, whole.scaled(share)).values()
    margins = {rule.group: unit.margin(distribution.margin(sure))}
    for detail in rule.details:
        rows = rule.domain_of(table.domain, dict.fromkeys(groups, detail))
        (distribution,) = noise_distributions(Plan(rows, unit, {rows.finest: 1}), whole.scaled(1 - share)).values()
        margins[detail] = unit.margin(distribution.margin(sure))
    return share, margins


def _groups_taken(
    domain: Domain, marginal: Marginal, taken: Sequence[NDArray[np.bool_]]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """For each sum of a marginal, return whether a selection contains all of its cells, and whether it contains any."""
    starts = [axis.group_starts(level) for axis, level in zip(domain.axes, marginal, strict=True)]
    ways = np.logical_and, np.logical_or
    whole, some = ([way.reduceat(row, at) for row, at in zip(taken, starts, strict=True)] for way in ways)
    return reduce(np.logical_and.outer, whole).ravel(), reduce(np.logical_and.outer, some).ravel()


def _texts(labels: Column) -> list[str]:
    return [str(label_text(label)) for label in plain_cells(labels)]
