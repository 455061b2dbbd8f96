"""Release several amounts of the same persons as one table of counts, sums and means by group.

Each amount is released with an equal share of the level. Each of these releases also counts the persons; the table
shows the mean of these counts, because its error is smaller than the error of one count.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import mapping, wrong_kind
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.combination import Combination
from utmost.core.noise.ratio_bars import FiellerSet, RatioBar
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import OutOfRange
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.codec import StatementForm, stated_field
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement_kinds import MEASURES_KIND
from utmost.publish.promises.table_statements import LISTS_ASSUMED, promise_text
from utmost.publish.releases.estimates import Estimate, estimate_of
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.shared_release import release_shared
from utmost.publish.releases.table_bars import places_of
from utmost.publish.releases.workload_errors import scaled
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.measuring.forms import ProductForm, group_of
from utmost.publish.workloads.planning.cells_plan import cells_plan
from utmost.publish.workloads.planning.shared_level import SharedLevel
from utmost.tables.axes.domain import Domain, Marginal, Where
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.files.table_formats import as_columns
from utmost.tables.frames.table import Table


@dataclass(frozen=True, eq=False)
class MeasuresTable:
    """Counts, sums and means of several amounts by group, as one table with one statement; made by `release_measures`.

    Attributes:
        releases: Mapping from the name of each amount to the release of its sums and counts.

    Raises:
        OutOfRange: if not all releases are of sums and counts over the same axes, at equal levels.
    """

    releases: Mapping[str, NoisySums]

    def __post_init__(self) -> None:
        mapping(self.releases, "releases")
        for release in self.releases.values():
            if not isinstance(release, NoisySums):
                raise wrong_kind("releases", "releases of `ut.mean`, by name", release)
        first, *others = self.releases.values() or [None]
        if first is None or not all(release.unit.is_shared for release in self.releases.values()):
            remedy = 'Count the tables with ut.count_measures: {"income": ut.mean("income", each=(0, 1000))}.'
            raise OutOfRange(
                "releases must map the name of each amount to a release of a table counted with ut.mean",
                came="other releases, or none",
                remedy=remedy,
            )
        alike = [
            (
                [
                    Domain({column: axis}).facts()
                    for column, axis in zip(one.domain.columns, one.domain.axes, strict=True)
                    if column != _pair(one).amount.name
                ],
                one.level,
                one.confidence,
                one.unit.neighbours,
                one.unit.cells,
                one.promise.with_noise(first.promise.noise),
            )
            for one in (first, *others)
        ]
        is_named = all(
            _pair(one).amount.name == name and one.measure in (None, name) for name, one in self.releases.items()
        )
        if not is_named or any(one != alike[0] for one in alike[1:]):
            required = "the amounts of one table must have the same axes, persons and level"
            raise OutOfRange(required, came="different ones", remedy="Count the amounts with ut.count_measures.")
        if any(release.stop is not None for release in self.releases.values()):
            remedy = "Publish each amount by itself; or leave out until= and pass epsilon=."
            raise OutOfRange(
                "all amounts of one table must be released at the same level", came="a stopping rule", remedy=remedy
            )
        if first.promise.part is not None:
            raise OutOfRange(
                "a table of several amounts must count all data, not a part",
                came="a part",
                remedy="Count without part=.",
            )
        histories = [
            None if facts is None else (facts.data_version, facts.levels, facts.together)
            for facts in (release.ledger_facts for release in self.releases.values())
        ]
        if any(history != histories[0] for history in histories):
            required = "the amounts of one table must have the same history in a ledger"
            raise OutOfRange(
                required,
                came="different ones",
                remedy="Publish all amounts by publish_means, and relax them by relax_means.",
            )

    @property
    def level(self) -> Level:
        """The cost of the releases of all amounts together."""
        return self._first.level.scaled(len(self.releases))

    @property
    def is_in_ledger(self) -> bool:
        """Whether a ledger stores the releases."""
        return self._first.ledger_facts is not None

    @property
    def ledger_facts(self) -> LedgerFacts | None:
        """The name, version and levels of the whole table in a ledger; None if no ledger stores it."""
        facts, parts = self._first.ledger_facts, len(self.releases)
        if facts is None:
            return None
        return LedgerFacts(
            facts.name.removesuffix(f": {_pair(self._first).amount.name}"),
            facts.data_version,
            tuple(answered.scaled(parts) for answered in facts.levels),
            None if facts.together is None else facts.together.scaled(parts),
            None if facts.together_seen is None else facts.together_seen.scaled(parts),
            None,
        )

    @property
    def table(self) -> Table:
        """The labels, the number of persons, and the sum and mean of each amount; a margin follows each number.

        Cost: 50 ms for the interval of each mean, once.
        """
        return Table({name: list(cells) for name, cells in self._columns.items()})

    @cached_property
    def _columns(self) -> dict[str, list[Any]]:
        first, noise, counts = self._first, self._count_noise, []
        for group in range(prod(first.domain.group_shape(self._seen_marginal))):
            persons = [of.reconstruction.value(of.measured, form) for of, form in self._count_forms(group)]
            counts.append(estimate_of(sum(persons, Fraction(0)) / len(self.releases), noise, first.confidence))
        columns = dict[str, list[Any]]()
        for name, release in self.releases.items():
            shown = as_columns(release.with_means(self._marginal))
            if not columns:
                columns = {label: list(shown[label]) for label in first.domain.group_labels(self._seen_marginal)}
                columns |= {"count": [one.value for one in counts], "count_margin": [one.margin for one in counts]}
            added = {column: list(cells) for column, cells in shown.items() if column.startswith(f"{name}_")}
            if set(added) & set(columns):
                came = repr(min(set(added) & set(columns)))
                raise OutOfRange(
                    "the columns of different amounts must have different names", came=came, remedy="Rename an amount."
                )
            columns |= added
        return columns

    @property
    def statement(self) -> dict[str, Any]:
        """The public statement: the guarantee for all amounts together, and each amount's statement and sums."""
        return self.statement_with(None)

    def statement_with(self, digest: Digest | None) -> dict[str, Any]:
        """Return the statement, with the digest of the published table."""
        return MEASURES_FORM.statement(self, digest)

    @property
    def changes(self) -> str:
        """A phrase that says what one individual can change; amounts with equal bounds are listed together."""
        if all(release.unit.counted_noun == "people" for release in self.releases.values()):
            amounts = [_pair(release).amount for release in self.releases.values()]
            owned = [
                f"one {amount.name} (from {amount.text(amount.ends[0])} to {amount.text(amount.ends[1])})"
                for amount in amounts
            ]
            return f"at most 1 group, where it counts once, with at most {' and '.join(owned)}"
        bounds: dict[str, list[str]] = {}
        for release in self.releases.values():
            bound, _, amount = release.unit.changes_text("cell").rpartition(" (")
            bounds.setdefault(bound, []).append(amount.removesuffix(")"))
        return "; ".join(f"{bound} ({', '.join(amounts)})" for bound, amounts in bounds.items())

    def _fields(self) -> dict[str, Any]:
        first, share, ledger = self._first, str(Fraction(1, len(self.releases))), self.ledger_facts
        promised = promise_text(self.level, first.unit, "the table", self.changes)
        return {
            "guarantee": f"{promised} {LISTS_ASSUMED} {first.promise.sentences}".rstrip(),
            **level_facts(self.level),
            **({} if ledger is None else ledger.facts()),
            "shares": dict.fromkeys(self.releases, share),
            "releases": {name: release.facts() for name, release in self.releases.items()},
        }

    @classmethod
    def _of_fields(cls, document: Mapping[str, Any]) -> "MeasuresTable":
        releases = stated_field(document, "releases", dict)
        return cls({str(name): NoisySums.of_facts(facts) for name, facts in releases.items()})

    def save(
        self,
        path: Path | str,
        *,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table, and its statement as ``path`` plus ".json": both files appear, or none.

        Args:
            path, format, sign, overwrite: Arguments of `saved`.
        """
        publication = SavedContent(self.table, self.statement_with)
        return saved(publication, path, format=format, sign=sign, overwrite=overwrite)

    @property
    def _first(self) -> NoisySums:
        return next(iter(self.releases.values()))

    @property
    def _seen_marginal(self) -> Marginal:
        return _pair(self._first).seen(self._first.domain.finest)

    @property
    def _marginal(self) -> str:
        return _pair(self._first).name(self._first.domain.finest)

    def _count_forms(self, group: int) -> list[tuple[NoisySums, ProductForm]]:
        """Return each release with the linear combination of its cells that counts the persons of a group."""
        place, forms = places_of(group, self._first.domain.group_shape(self._seen_marginal)), []
        for release in self.releases.values():
            pair = _pair(release)
            seen = group_of(release.domain, pair.seen(release.domain.finest), place)
            forms.append((release, pair.form(seen, pair.count)))
        return forms

    @property
    def _count_noise(self) -> Combination:
        """The noise of the mean count of a group; equal for all groups, since each cell is measured."""
        parts = len(self.releases)
        distributions = [scaled(of.noise(form), 1 / _pair(of).amount.step / parts) for of, form in self._count_forms(0)]
        return Combination(
            [size for distribution in distributions for size in distribution.coefficients],
            [level for distribution in distributions for level in distribution.levels],
            [count for distribution in distributions for count in distribution.counts],
        )

    def count_margin(self, confidence: Number | None = None) -> int | float:
        """Return the margin of a group's number of persons; this number is a mean of one count for each amount."""
        return estimate_of(Fraction(0), self._count_noise, self._read_confidence(confidence)).margin

    def column_bars(self) -> dict[str, int | float]:
        """Return the margin of each column; for a mean, the margin times the number of events."""
        margins = {"count": self.count_margin()}
        for release in self.releases.values():
            (own,) = release.column_bars(self._marginal).values()
            margins |= {name: margin for name, margin in own.items() if name != "count"}
        return margins

    def total(self, where: Where | None = None, *, confidence: Number | None = None) -> Estimate:
        """Return the number of events in a selection, as the mean of the counts of all amounts, with its margin.

        Args:
            where, confidence: Arguments of `NoisySums.total`.

        Raises:
            NotDetermined, OutOfRange: as for `NoisySums.total`.
        """
        value, _, distribution = self._counts_of({} if where is None else where, {})
        return estimate_of(
            value,
            Combination(distribution["u"], distribution["levels"], distribution["counts"]),
            self._read_confidence(confidence),
        )

    def difference(self, first: Where, second: Where, *, confidence: Number | None = None) -> Estimate:
        """Return the number of events in one selection minus that in another; arguments as for `total`."""
        over, under, distribution = self._counts_of(first, second)
        sizes = [u - v for u, v in zip(distribution["u"], distribution["v"], strict=True)]
        return estimate_of(
            over - under,
            Combination(sizes, distribution["levels"], distribution["counts"]),
            self._read_confidence(confidence),
        )

    def ratio(self, where: Where, over: Where | None = None, *, confidence: Number | None = None) -> RatioBar:
        """Return an interval for the ratio of the numbers of events in two selections; see `NoisySums.ratio`.

        >>> import utmost as ut
        >>> people = {"region": ["N", "N", "S"], "income": [20, 40, 30], "rent": [5, 9, 7]}
        >>> measures = {"income": ut.mean("income", each=(0, 100)), "rent": ut.mean("rent", each=(0, 20))}
        >>> tables = ut.count_measures(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measures)
        >>> table = release_measures(tables, epsilon=2000)
        >>> print(table.total({"region": "N"}).value, table.ratio({"region": "N"}))
        2.0 0.6... to 0.6...
        """
        top, bottom, distribution = self._counts_of(where, {} if over is None else over)
        return FiellerSet.of(top, bottom, **distribution, confidence=self._read_confidence(confidence)).bar()

    def _counts_of(self, first: Where, second: Where) -> tuple[Fraction, Fraction, dict[str, list[Any]]]:
        """Return the mean counts of two selections, and the joint noise of these two numbers."""
        parts = len(self.releases)
        counts = [release.counts_of(first, second) for release in self.releases.values()]
        distribution: dict[str, list[Any]] = {name: [] for name in ("u", "v", "levels", "counts")}
        for _, _, noises in counts:
            for name, terms in noises.items():
                distribution[name] += [term / parts if name in ("u", "v") else term for term in terms]
        over = sum((count[0] for count in counts), Fraction(0)) / parts
        under = sum((count[1] for count in counts), Fraction(0)) / parts
        return over, under, distribution

    def _read_confidence(self, confidence: Number | None) -> Fraction:
        return self._first.confidence if confidence is None else read_confidence(confidence)

    def with_confidence(self, confidence: Number) -> "MeasuresTable":
        """Return this table with margins at another confidence."""
        sure = read_confidence(confidence)
        return MeasuresTable({name: replace(release, confidence=sure) for name, release in self.releases.items()})

    @classmethod
    def without_data(
        cls, tables: Mapping[str, CountedTable], at: Level, confidence: Number = DEFAULT_CONFIDENCE
    ) -> "MeasuresTable":
        """Return the table with zeros instead of noisy sums; its margins are those of the real release."""
        check_tables(tables)
        share, sure = at.scaled(Fraction(1, len(tables))), read_confidence(confidence)
        return cls(
            {name: NoisySums.without_data(Promise.of_counted(table), share, sure) for name, table in tables.items()}
        )


MEASURES_FORM = StatementForm(
    MEASURES_KIND, "a statement of a table of measures", MeasuresTable._fields, MeasuresTable._of_fields
)
"""How the statement of a table of several amounts is written, and read and checked."""


@progress_bar("Noising sums")
def release_measures(
    tables: Mapping[str, CountedTable],
    *,
    epsilon: Number | Level,
    confidence: Number = DEFAULT_CONFIDENCE,
    randomness: Randomness | None = None,
) -> MeasuresTable:
    """Release counts, sums and means of several amounts as one table; each amount gets an equal share of the level.

    Args:
        tables: Mapping from the name of each amount to its counted table, which `count_measures` made with the measure
            `mean`.
        epsilon: Privacy level of all amounts together.
        confidence: Confidence of the margins.
        randomness: Source of random bits, the operating system's if left out.

    Raises:
        OutOfRange, NotALevel, NotANumber, Unsupported, PromiseBroken: as for `release_shared`.

    >>> import utmost as ut
    >>> people = {"region": ["N", "N", "S"], "income": [20, 40, 30], "rent": [5, 9, 7]}
    >>> measures = {"income": ut.mean("income", each=(0, 100)), "rent": ut.mean("rent", each=(0, 20))}
    >>> tables = ut.count_measures(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measures)
    >>> table = release_measures(tables, epsilon=2000).table
    >>> table["count"], table["income_sum"], table["rent_mean"]
    ([2.0, 1.0], [60, 30], [7.0, 7.0])
    """
    check_tables(tables)
    at, share = level(epsilon), Fraction(1, len(tables))
    plans = {name: cells_plan(table.domain, table.unit) for name, table in tables.items()}
    shared = SharedLevel(plans, dict.fromkeys(plans, share), at)
    answers = release_shared(tables, shared, epsilon=at, confidence=confidence, randomness=randomness)
    return MeasuresTable({name: answer.table for name, answer in answers.items()})


def check_tables(tables: Mapping[str, CountedTable]) -> None:
    """Check that there is a table, and that each table has sums and counts of the amount with its name."""
    for name, table in mapping(tables, "tables").items():
        if not isinstance(table, CountedTable):
            raise wrong_kind("tables", "counted tables by name", table)
        amount = table.unit.amount if table.unit.is_shared else None
        if amount is None or amount.name != name:
            required = "tables must map the name of each amount to a table counted with ut.mean"
            remedy = 'Count the tables with ut.count_measures: {"income": ut.mean("income", each=(0, 1000))}.'
            raise OutOfRange(required, came=repr(name), remedy=remedy)
    if not tables:
        raise OutOfRange(
            "tables must contain at least one table", came="none", remedy="Count the tables with ut.count_measures."
        )


def _pair(release: NoisySums) -> AmountPair:
    pair = release.plan.amount_pair
    assert pair is not None, "checked when it was made"
    return pair
