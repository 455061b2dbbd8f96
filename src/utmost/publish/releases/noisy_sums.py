"""Releases by a plan: noisy sums of the measured marginals, and all other sums estimated from these."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import ceil, floor, log10
from os import fsdecode
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, iterable, mapping, optional, text, truth, wrong_kind
from utmost.core.exact.arguments import path as as_path
from utmost.core.exact.arrays import frozen
from utmost.core.exact.defaults import CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.combination import Combination
from utmost.core.noise.ratio_bars import FiellerSet, RatioBar
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, NotDetermined, OutOfRange, Unsupported, UtmostError
from utmost.publish.promises.codec import StatementForm, does_not_follow, stated_field
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.noise_at_level import NoiseAtLevel
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.statement_kinds import SUMS_TABLE_KIND, is_of_sums
from utmost.publish.promises.sum_distributions import noise_distributions
from utmost.publish.promises.sum_noise import MEASURED, SumNoise
from utmost.publish.promises.until import Stop, Until
from utmost.publish.releases.clean_release import FAR_OFF, CleanProblem, CleanTable, warn_far_off
from utmost.publish.releases.estimates import Estimate, Printing, estimate_of
from utmost.publish.releases.given_facts import GivenFacts
from utmost.publish.releases.marginal_tables import (
    amount_columns,
    estimated_columns,
    groups_in,
    marginal_table,
    wanted_marginals,
)
from utmost.publish.releases.quantiles import QuantileBar, cumulative_forms, quantile_bar
from utmost.publish.releases.spread import deviation_bar, variance_bar
from utmost.publish.releases.sums_document import read_sums, sums_digest, sums_facts
from utmost.publish.releases.table_bars import places_of
from utmost.publish.releases.withheld import MarginalCells, WithheldTables, withheld_marginals
from utmost.publish.releases.withholding import WithholdingRule
from utmost.publish.releases.workload_errors import AnswerErrors, MarginalDistributions, scaled
from utmost.publish.workloads.amount_pair import AmountPair, Weights, value_column
from utmost.publish.workloads.measuring.forms import (
    Along,
    LevelNumbers,
    ProductForm,
    ends_of_bins,
    group_of,
    numbers_of,
    selected,
)
from utmost.publish.workloads.measuring.measured_marginals import measured_marginal
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.reconstruction.estimates import LeastSquares, values_by
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.publish.workloads.workload import narrowed
from utmost.tables.axes.domain import Domain, Marginal, Where
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.files.table_formats import with_blanks
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import adapter_of, labelled

_BESIDE = ("measure", "sums")
"""Fields of a document of sums that a statement does not have."""

_MOST_SUMS = 1 << 26  # measured sums of a release by a plan

BarT = TypeVar("BarT", Estimate, RatioBar, QuantileBar)
"""A result that has a confidence."""

MarginalNames = str | Sequence[str] | Marginal
"""A marginal by the names of its levels, or as a tuple of level numbers, see `Domain.marginal`."""


def _read_only(sums: Any) -> NDArray[Any]:
    """Return a read-only array unchanged, and a copy of any other."""
    owner = sums if getattr(sums, "base", None) is None else sums.base
    arrays = isinstance(sums, np.ndarray) and isinstance(owner, np.ndarray) and owner.base is None
    return sums if arrays and not (sums.flags.writeable or owner.flags.writeable) else np.array(sums)


@dataclass(frozen=True, eq=False, repr=False)
class NoisySums(Display):
    """The noisy sums of a plan, and the results that follow from them; the ``table`` of an answer by a plan.

    Attributes:
        promise: Promise of the release; its noise has the plan.
        level: Level that the whole release spent.
        confidence: Default confidence of the margins; it also holds if a stopping rule chose the level.
        measured: Noisy sums of each measured marginal, integers of shape ``plan.measured_shape``. They are everything
            that was released about the data: all other results are computed from them.
        kind: Kind of the tables that methods return: the name of a table adapter.
        weights: Weight of each measured marginal in least squares; computed from the noise if left out.
        ledger_facts: Facts that a ledger adds to the statement; None without a ledger.
        measure: Name of the measure, if several were counted in one pass.
    """

    _shown = ("domain", "spent", "confidence")

    promise: Promise
    level: Level
    confidence: Fraction
    measured: Mapping[Marginal, NDArray[Any]] = field(repr=False)
    kind: str = "columns:"
    weights: Mapping[Marginal, int] = field(default_factory=dict, repr=False)
    ledger_facts: LedgerFacts | None = field(default=None, repr=False)
    measure: str | None = None

    def __post_init__(self) -> None:
        instance(instance(self.promise, Promise, "promise").noise, SumNoise, "promise")
        instance(self.level, Level, "level")
        object.__setattr__(self, "confidence", read_confidence(self.confidence))
        mapping(self.measured, "measured")
        mapping(self.weights, "weights")
        text(self.kind, "kind")
        optional(self.measure, text, "measure")
        if self.ledger_facts is not None:
            instance(self.ledger_facts, LedgerFacts, "ledger_facts")
        if self.stop is not None and self.stop.confidence != self.confidence:
            assert self.ledger_facts is not None, "it has a stop"
            stop = replace(self.stop, confidence=self.confidence)
            object.__setattr__(self, "ledger_facts", replace(self.ledger_facts, stop=stop))
        if set(self.measured) != set(self.plan.shares):
            raise OutOfRange("the measured marginals must be the marginals of the plan", came="other marginals")
        shaped = {
            marginal: frozen(_read_only(self.measured[marginal])).reshape(self.plan.measured_shape(marginal))
            for marginal in self.plan.shares
        }
        object.__setattr__(self, "measured", shaped)
        if self.weights and set(self.weights) != set(self.measured):
            raise OutOfRange("there must be a weight for each measured marginal", came="other weights")
        if not self.weights:
            object.__setattr__(self, "weights", precision_weights(self._ratios))
        _ = self.reconstruction  # raises if the sums cannot be reconstructed

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.promise, self.level, self.confidence, dict(self.measured), self.kind, self.weights)
        return NoisySums, (*parts, self.ledger_facts, self.measure)

    @cached_property
    def plan(self) -> Plan:
        """The plan: which marginals are measured with which budget shares, over which domain, for which unit."""
        assert isinstance(self.promise.noise, SumNoise), "checked when it was made"
        return self.promise.noise.plan

    @property
    def stop(self) -> Stop | None:
        """The result of the stopping rule (`within`) at this level; None without a rule."""
        return None if self.ledger_facts is None else self.ledger_facts.stop

    @property
    def at_level(self) -> NoiseAtLevel:
        """The level, unit and distribution of the noise."""
        return self.promise.at(self.level, confidence=self._confidence_at_level(None))

    @property
    def domain(self) -> Domain:
        """The domain of the table whose sums were measured."""
        return self.plan.domain

    @property
    def unit(self) -> Unit:
        """The unit of privacy, in cells."""
        return self.plan.unit

    @property
    def spent(self) -> Level:
        """The level that the sums cost."""
        return self.level

    @cached_property
    def reconstruction(self) -> LeastSquares:
        """The least-squares estimator of cells and sums from the measured marginals."""
        return self.plan.measurement.reconstruction(self.weights)

    @property
    def digest(self) -> str:
        """The SHA-256 of the domain and the noisy sums; `sums_digest` describes its input."""
        return sums_digest(self.plan, self.measured)

    @property
    def stated(self) -> Statement:
        """The statement as an object; `statement` has it as JSON values."""
        digest = {"of": "sums", "sha256": self.digest}
        return Statement(self.promise, self.at_level, self.plan.measured, digest, self.ledger_facts)

    @property
    def statement(self) -> dict[str, Any]:
        """The public statement: the promise, the level, the noise of each marginal, and the digest of the sums."""
        return self.stated.facts() | ({} if self.measure is None else {"measure": self.measure})

    def facts(self) -> dict[str, Any]:
        """Return the release as JSON values, which `of_facts` reads: the statement, and the noisy sums."""
        return {**self.statement, "sums": sums_facts(self.plan, self.measured)}

    def save(
        self,
        path: Path | str,
        *,
        marginal: MarginalNames | None = None,
        means: bool = False,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the release as one .json document; or the table of one marginal, and a statement with the release.

        Args:
            path: A path that ends in .json gets the document with statement and noisy sums; any other path gets a
                table, see `saved`.
            marginal: Levels of the table; those of the cells if left out.
            means: Whether to add means to sums and counts with shared noise, see `with_means`.
            format, sign, overwrite: Arguments of `saved`.

        Returns:
            The document; or the statement of the table: the document, the marginal, and the digest of the table.

        Raises:
            NotDetermined, OutOfRange: if the release does not have the marginal.
            Unsupported, KeyRefused: as for `saved`.
        """
        averaged = truth(means, "means")
        if (
            marginal is None
            and format is None
            and not averaged
            and fsdecode(as_path(path, "path")).lower().endswith(".json")
        ):
            publication = SavedContent(self.measured, lambda _: self.facts(), self.facts)
        else:
            publication = SumsTable(self, self.finest_table if marginal is None else marginal, averaged).publication
        return saved(publication, path, format=format, sign=sign, overwrite=overwrite)

    @property
    def finest_table(self) -> tuple[str, ...]:
        """The names of the levels of the cells; `save` writes the table of the cells if the user names no marginal.

        Raises:
            NotDetermined: if the measured marginals do not determine the cells; the message suggests tables to name.
        """
        finest = self.domain.finest
        try:
            self.distributions(finest)
        except NotDetermined as error:
            required = "without marginal=, the measured tables must determine the cells"
            remedy = f"Pass marginal=, such as {' or '.join(map(repr, islice(self, 3)))}."
            came = f"sums over {self.domain.marginal_name(finest)!r}"
            raise NotDetermined(required, came=came, remedy=remedy) from error
        return self.domain.level_names(finest if self._amounts is None else self._amounts.seen(finest))

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "NoisySums":
        """Read the sums in a document that `facts` wrote; every field is computed again and compared.

        Promise, level and sums are read; distributions, margins and the weights of least squares are computed from
        them. The sums themselves are protected by the digest and, if the document is signed, by the signature.

        Raises:
            BadTable: if a field does not follow from the others; the error names the first such field.
            Unsupported: if the format is unknown.
            WrongKind: if the document is not a mapping.

        >>> import json
        >>> import numpy as np
        >>> from utmost import Unit, release
        >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 1), {"sex": 1})
        >>> facts = json.loads(json.dumps(release(np.array([5, 7]), plan, epsilon=1, once=True).table.facts()))
        >>> NoisySums.of_facts(facts).bars()
        {'sex': 3}
        >>> NoisySums.of_facts(facts | {"epsilon": "1/2"})
        Traceback (most recent call last):
        utmost.errors.BadTable: guarantee: ...
        """
        statement, plan = cls._stated(facts)
        release = cls._of_statement(statement, read_sums(plan, facts), facts)
        if release.stated != statement:
            raise does_not_follow("sums" if release.stated.digest != statement.digest else "promise")
        until, stop = statement.promise.until, release.stop
        if until is not None and stop is not None and stop.is_met not in (None, release.is_within(until)):
            required = "the statement must say truly whether the tables meet the stopping rule"
            raise BadTable(required, came="the opposite", where="stopped")
        return release

    @classmethod
    def of_document(cls, facts: Mapping[str, Any]) -> "NoisySums":
        """Read a document of sums; if it has no sums, because cells are withheld, set all sums to 0."""
        return cls.of_facts(facts) if "sums" in mapping(facts, "facts") else cls.without_sums(facts)

    @classmethod
    def without_sums(cls, facts: Mapping[str, Any]) -> "NoisySums":
        """Make the release that a statement without digest and sums describes, with 0 for each sum.

        Labels, distributions, margins and sentences are those of the real release; the estimates are meaningless.

        Raises:
            BadTable, WrongKind: as for `of_facts`.
            Unsupported: if there are more sums than a file may contain.
        """
        statement, plan = cls._stated(facts)
        if plan.measured > _MOST_SUMS:
            raise Unsupported(f"a statement must describe at most {_MOST_SUMS} sums", came="more sums", where="promise")
        zeros = {marginal: np.zeros(plan.measured_shape(marginal), np.int64) for marginal in plan.shares}
        release = cls._of_statement(statement, zeros, facts)
        if statement.digest is not None or replace(release.stated, digest=None) != statement:
            raise does_not_follow("promise" if statement.digest is None else "table")
        return release

    @classmethod
    def _stated(cls, facts: Mapping[str, Any]) -> tuple[Statement, Plan]:
        whole = mapping(facts, "facts")
        if not is_of_sums(whole):
            came, remedy = repr(whole.get("kind"))[:60], "Pass the saved .json file of a release by a plan."
            raise BadTable("the document must be the statement of a release by a plan", came=came, remedy=remedy)
        statement = Statement.of_facts({name: fact for name, fact in whole.items() if name not in _BESIDE})
        assert isinstance(statement.promise.noise, SumNoise), "only the noise of sums has this kind"
        return statement, statement.promise.noise.plan

    @classmethod
    def _of_statement(
        cls,
        statement: Statement,
        measured: Mapping[Marginal, NDArray[Any]],
        facts: Mapping[str, Any],
    ) -> "NoisySums":
        noise = statement.noise
        measure = stated_field(facts, "measure", str) if "measure" in facts else None
        if measure == "":
            raise does_not_follow("measure")
        stop = None if statement.ledger is None else statement.ledger.stop
        try:
            return cls(
                statement.promise,
                noise.level,
                noise.confidence if stop is None else stop.confidence,
                measured,
                ledger_facts=statement.ledger,
                measure=measure,
            )
        except UtmostError as error:
            raise BadTable("the fields of the document must agree with each other", came=str(error)) from None

    def is_within(self, until: Until) -> bool:
        """Whether the released tables are as accurate as a stopping rule requires; only published values decide this.

        The rule reads the tables of the workload with margins at 95 % confidence, even if the release shows others. A
        rule that chooses cells by labels reads only the tables that have columns of these labels.
        """
        rule = instance(until, Until, "until")
        read = self if self.confidence == CONFIDENCE else replace(self, confidence=CONFIDENCE)
        columns = {margin: name for name, margin in self.value_columns}
        tables = (read[name] for name in self.plan.tables)
        return all(rule.is_met_by(table, columns) for table in tables if rule.reads(adapter_of(table).names(table)))

    def __getitem__(self, marginal: MarginalNames) -> LabelledTable:
        """Return one marginal as a table: its labels, the estimates, and their margins with the release's confidence.

        If counts and sums share noise (``most_events``), the table has columns of both.

        Args:
            marginal: Names of levels; a level may be restricted to one label: ``"department outcome=admitted"``.

        Raises:
            NotDetermined: if the measured marginals do not determine this one.
            OutOfRange: if a name is not in the domain.
        """
        chosen, narrow = self._read_marginal(marginal)
        amounts = self._amounts
        if amounts is None:
            return marginal_table(self.domain, self.kind, chosen, self._estimated(chosen), narrow)
        known = self.reconstruction, self._errors, self.measured
        columns = amount_columns(*known, chosen, self._confidence_at_level(None), amounts)
        return marginal_table(self.domain, self.kind, amounts.seen(chosen), columns, narrow)

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the workload's tables, or of the measured ones if there is no workload."""
        return (self.table_name(marginal) for marginal in wanted_marginals(self.plan))

    def raw(self, marginal: MarginalNames) -> LabelledTable:
        """Return the noisy sums of a measured marginal as drawn; if the plan measures differences, return these.

        Raises:
            OutOfRange: if the marginal was not measured.
        """
        chosen = measured_marginal(self.domain, marginal)
        chosen = chosen if self._amounts is None else self._amounts.both(chosen)
        if chosen not in self.measured:
            names = ", ".join(repr(self.table_name(of_measured)) for of_measured in self.measured)
            raise OutOfRange("raw needs the name of a measured table", came=marginal, remedy=f"Pass one of {names}.")
        pair = self.plan.pair
        labelled = chosen if pair is None else pair.of_rows(chosen)
        drawn = self.unit.numbers(self.measured[chosen].ravel())
        return marginal_table(self.domain, self.kind, labelled, {"measured": drawn})

    def total(
        self,
        where: Where | None = None,
        *,
        column: str | None = None,
        along: Along | None = None,
        confidence: Number | None = None,
    ) -> Estimate:
        """Return a selection's number of individuals or events (or sum, if only sums were released), with its margin.

        Args:
            where: Selection of cells: a mapping from names of levels to one label, a list of labels, or (for bins)
                ``slice(low, high)``; all cells if left out.
            column: Name of the amount to sum, if it shares noise with counts.
            along: Weights of the cells: a mapping from names of levels to a number for each label of the level.
            confidence: Confidence of the margin; that of the release if left out.

        Raises:
            NotDetermined: if the measured marginals do not determine the sum.
            OutOfRange: if a name or label is not in the domain, or if the amount was not released.
        """
        form_of, steps = self._sum_of_column(column)
        form = form_of(where, along)
        value, distribution = self.reconstruction.value(self.measured, form), self._errors.of(form)
        return self._estimate(value, distribution, confidence, steps)

    def difference(
        self, first: Where, second: Where, *, column: str | None = None, confidence: Number | None = None
    ) -> Estimate:
        """Return the total of one selection minus the total of another, with the margin of the difference.

        Args:
            first, second: Two selections as for `total`, which may overlap.
            column, confidence: Arguments of `total`.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        form_of, steps = self._sum_of_column(column)
        forms = form_of(mapping(first, "first")), form_of(mapping(second, "second"))
        value, less = (self.reconstruction.value(self.measured, form) for form in forms)
        distribution = self._errors.of_difference(*forms)
        return self._estimate(value - less, distribution, confidence, steps)

    def total_noise(self, where: Where | None = None, *, column: str | None = None) -> Combination:
        """Return the distribution of the error of `total`, in the unit of the total."""
        form_of, steps = self._sum_of_column(column)
        distribution = self._errors.of(form_of(where))
        return distribution if steps is None else scaled(distribution, steps.step)

    def _sum_of_column(self, column: str | None) -> tuple[Callable[..., ProductForm], Amount | None]:
        """Return the function that sums a selection, and the amount in whose steps that sum is; None for counts."""
        if optional(column, text, "column") is None:
            return self.counted_form, None if self.unit.is_shared else self.unit.amount
        self.check_amount(str(column))
        return self.form, self.unit.amount

    def ratio(
        self,
        numerator: Where,
        denominator: Where,
        *,
        column: str | None = None,
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval that contains the true ratio of two counts, "not determined" if the second count may be 0.

        For a release of sums only, the interval is for a ratio of two sums.

        Args:
            numerator, denominator: Two selections, which may overlap.
            column: Name of the amount whose sums are divided, if it shares noise with counts.
            confidence: Confidence of the interval; that of the release if left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        form_of, _ = self._sum_of_column(column)
        over, under = form_of(mapping(numerator, "numerator")), form_of(mapping(denominator, "denominator"))
        return self._as_shown(self._ratio(over, self, under, self._confidence_at_level(confidence)).bar(), confidence)

    def check_amount(self, name: str) -> None:
        """Check that sums of the amount with this name were released.

        Raises:
            OutOfRange: if this amount was not released; the message names the amount that was.
        """
        amount = self.unit.amount
        if amount is None or amount.distinct is not None or amount.name != name:
            there = (
                "The release has only counts."
                if amount is None
                else f"Pass column={amount.name!r}, the released amount."
            )
            raise OutOfRange("the amount must have been released", came=repr(name), remedy=there)

    def counts_of(self, first: Where, second: Where) -> tuple[Fraction, Fraction, dict[str, Any]]:
        """Return the noisy numbers of events in two selections, and the joint distribution of their errors."""
        forms = self.counted_form(first), self.counted_form(second)
        over, under = (self.reconstruction.value(self.measured, form) for form in forms)
        return over, under, self._errors.of_pair(*forms, self._errors)

    def mean(
        self,
        name: str | None = None,
        *,
        where: Where | None = None,
        values: LevelNumbers = "midpoints",
        sums: "NoisySums | None" = None,
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval for the mean of a number over the individuals of a selection: a sum divided by a count.

        For an axis of bins, the interval contains the mean of the numbers that stand for the bins, not of the values
        within them. With ``values="ends"`` the interval contains the mean of the values, if each value lies in its bin.

        Args:
            name: Level whose labels stand for numbers; leave it out with ``sums``, and for the amounts that share noise
                with counts.
            where: Selection of cells, as for `total`; all cells if left out.
            values: Numbers for which the labels stand, in the order of the labels or by label; for bins, "midpoints" or
                "ends".
            sums: Another release, which has the sums of the number; its domain must have the levels that ``where``
                names.
            confidence: Confidence of the interval; that of the release if left out.

        Returns:
            An interval. The interval is not determined if the noisy count is negative, or so small that the selection
            may be empty. If amounts were clipped to two ends, the mean is that of the clipped amounts, and lies between
            these ends.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        optional(name, text, "name")
        if sums is not None:
            instance(sums, NoisySums, "sums")
        if name is None and sums is None and self._amounts is not None:
            name = self._amounts.amount.name
        if (name is None) == (sums is None):
            remedy = "Pass name=, a level whose labels are numbers; or sums=, a release of sums."
            raise OutOfRange(
                "exactly one of name= and sums= must be given for a mean",
                came="neither" if name is None else "both",
                remedy=remedy,
            )
        chosen: Where = {} if where is None else where
        counts, sure, ends = self.counted_form(chosen), self._confidence_at_level(confidence), None
        amounts = self._amounts
        if sums is not None:
            step = self.unit.step if amounts is None else Fraction(1)
            both = sums.at_one_level(sure)  # a rule may have stopped either release at any level of its ladder
            ratio = self._ratio(sums.form(chosen), sums, counts, both, sums.unit.step / step)
        elif amounts is not None and name == amounts.amount.name:
            stated, ends = self._selected(chosen, None, amounts.stated), amounts.amount.between
            ratio = self._ratio(self.form(chosen), self, stated, sure, self.unit.step)
        elif isinstance(values, str) and values == "ends":
            return self._as_shown(self._mean_in_bins(str(name), chosen, counts, sure), confidence)
        else:
            ratio = self._ratio(self.counted_form(chosen, {str(name): values}), self, counts, sure)
        return self._as_shown(_mean(ratio, ends), confidence)

    def _mean_in_bins(self, name: str, where: Where, counts: ProductForm, sure: Fraction) -> RatioBar:
        """Return an interval for the mean of values that lie anywhere in their bins, from one interval for each end."""
        # The true mean lies between these two means. Each interval may be wrong with half of the probability 1 - sure.
        middle = _mean(self._ratio(self.counted_form(where, {name: "midpoints"}), self, counts, sure))
        place, level = self.domain.level_named(name)
        ends = [pair or (Fraction(0), Fraction(0)) for pair in ends_of_bins(self.domain.axes[place], level)]
        low, high = (
            _mean(self._ratio(self.counted_form(where, {name: list(numbers)}), self, counts, (1 + sure) / 2))
            for numbers in zip(*ends, strict=True)
        )
        if not (low.determined and high.determined):
            return RatioBar.undetermined(sure)
        return RatioBar(middle.estimate, low.lower, high.upper, sure)

    def column_bars(
        self, *marginals: MarginalNames, confidence: Number | None = None, together: bool = False
    ) -> dict[str, dict[str, int | float]]:
        """Return the margins of counts, sums and means with shared noise, by table and column; see `bars`.

        The number for a mean is the margin of the mean times the number of events: divide it by 100 for a group of 100
        events.

        >>> import utmost as ut
        >>> people = {"region": ["N", "N", "S"], "income": [20, 40, 30]}
        >>> paid = ut.mean("income", each=(0, 100))
        >>> table = ut.count_table(people, {"region": ["N", "S"]}, ut.Counting(each_row=True), measure=paid)
        >>> ut.release(table, ut.Promise.of_counted(table), epsilon=1, once=True).column_bars("region")
        {'region': {'count': 4.12, 'income_sum': 300, 'income_mean times count': 300}}
        """
        chosen = [self.domain.marginal(name) for name in marginals] or wanted_marginals(self.plan)
        amounts, sure, at_once = self._pair(), self._shown_confidence(confidence), truth(together, "together")
        bars: dict[str, dict[str, int | float]] = {self.table_name(marginal): {} for marginal in chosen}
        for column in amounts.mean_columns:
            for name, bar in self.widest_bars(chosen, column.weights, sure, together=at_once).items():
                bars[name][column.name] = bar
        return bars

    def with_means(self, marginal: MarginalNames) -> LabelledTable:
        """Return a table of counts and sums with shared noise, with the mean of each group and its interval.

        Means that are not determined are blank: their noisy count is compatible with 0.

        Args:
            marginal: Name of the table; "" for the total.

        Raises:
            NotDetermined: if the release does not determine the table.
            OutOfRange: if the release is of counts only or of sums only.

        Cost: 50 ms for the interval of each row.
        """
        name = self._pair().amount.name
        table, names = self[marginal], [f"{name}_mean{end}" for end in ("", "_lower", "_upper")]
        taken = set(adapter_of(table).names(table))
        if taken & set(names):
            came = repr(min(taken & set(names)))
            raise OutOfRange(
                "no level may have the name that a column of means has", came=came, remedy="Rename the level."
            )
        shown_means = [_rounded_mean(bar) for bar in self.group_means(marginal)]
        ends: list[list[float | None]] = [list(listed) for listed in zip(*shown_means, strict=True)]
        shown: LabelledTable = with_blanks(
            table, dict(zip(names, ends, strict=True)), dict.fromkeys(names, f"{name}_sum_margin")
        )
        return shown

    def group_means(self, marginal: MarginalNames) -> list[RatioBar]:
        """For each row of a marginal's table, return an interval for the mean amount of an event."""
        (chosen, narrow), amounts = self._read_marginal(marginal), self._pair()
        seen, shape = amounts.seen(chosen), self.domain.group_shape(amounts.seen(chosen))
        groups = np.flatnonzero(groups_in(self.domain, seen, narrow)).tolist()
        forms = [group_of(self.domain, seen, places_of(group, shape)) for group in groups]
        of_forms = ((amounts.form(form, amounts.total), amounts.form(form, amounts.stated)) for form in forms)
        ratios = (
            self._ratio(over, self, under, self._confidence_at_level(None), self.unit.step) for over, under in of_forms
        )
        return [_mean(ratio, amounts.amount.between) for ratio in ratios]

    def quantile(
        self, name: str, q: Number, *, where: Where | None = None, confidence: Number | None = None
    ) -> QuantileBar:
        """Return the cells of an ordered axis that can contain a quantile; missing and other values are not counted.

        Args:
            name: Level of an axis of bins.
            q: Fraction of the individuals below the quantile, strictly between 0 and 1: "1/4" for the first quartile.
            where: Selection of cells, as for `total`; all cells if left out.
            confidence: Confidence of the result; that of the release if left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`; OutOfRange also if the axis has no order.

        Cost: an estimate and a bound for each group of the level.

        Source: proofs/theory/quantiles.md.

        >>> import numpy as np
        >>> from utmost.privacy import Unit
        >>> from utmost import release
        >>> from utmost.workloads import Plan, edges
        >>> domain = Domain(age=edges([0, 15, 25, 65, None]))
        >>> released = release(np.array([90, 10, 20, 30]), Plan(domain, Unit(1, 1), {"age": 1}), epsilon=9)
        >>> print(released.quantile("age", "1/2"), released.quantile("age", "9/10").interval)
        in 0 to 14 (Fraction(65, 1), inf)
        """
        text(name, "name")
        sure = self._confidence_at_level(confidence)

        def measured(forms: Sequence[ProductForm]) -> list[tuple[Fraction, bool]]:
            values = values_by(self.reconstruction, self.measured, forms)
            return list(zip(values, self._errors.exclude_zero(forms, values, 1 - sure), strict=True))

        selection = self.counted_form(where)
        return self._as_shown(quantile_bar(self.domain, selection, name, q, sure, measured), confidence)

    def median(self, name: str, *, where: Where | None = None, confidence: Number | None = None) -> QuantileBar:
        """Return the cells of an ordered axis that can contain the median of a selection: `quantile` at 1/2."""
        return self.quantile(name, Fraction(1, 2), where=where, confidence=confidence)

    def variance(
        self,
        name: str,
        *,
        where: Where | None = None,
        values: LevelNumbers = "midpoints",
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval for the variance of a number over a selection, sum (x - mean)^2 / count.

        All individuals of a bin are counted with one number, which represents the bin.

        Args:
            name: Level whose labels stand for numbers.
            where: Selection of cells, as for `total`; all cells if left out.
            values: Numbers of the labels, as for `mean`.
            confidence: Confidence of the interval; that of the release if left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`; OutOfRange also if sums of amounts were released, which do not
                count individuals.

        Cost: that of two ratios, 0.1 s, or five times as much if the mean is inaccurate.

        Source: proofs/theory/quantiles.md, "Variance and spread".

        >>> import numpy as np
        >>> from utmost.privacy import Unit
        >>> from utmost import release
        >>> from utmost.workloads import Plan
        >>> domain = Domain(rooms=[1, 2, 3])
        >>> plan = Plan(domain, Unit(1, 1), {"rooms": 1})
        >>> released = release(np.array([900, 100, 900]), plan, epsilon=9)
        >>> 0.94 < released.variance("rooms", values=[1, 2, 3]).lower < 0.95
        True
        """
        text(name, "name")
        if self.unit.amount is not None and (not self.unit.is_shared or name == self.unit.amount.name):
            remedy = "Count the people by bins of the amount, and compute the variance along that axis."
            raise OutOfRange(
                "a variance can be computed only from a release of counts", came="sums of amounts", remedy=remedy
            )
        place, level = self.domain.level_named(name)
        chosen: Where = {} if where is None else mapping(where, "where")
        everybody, counts = selected(self.domain, chosen), self.counted_form(chosen)
        axis = self.domain.axes[place]
        numbers = numbers_of(axis, level, values, name, everybody.factors[place])
        taken = dict.fromkeys(axis.group_of(level)[np.asarray(everybody.factors[place], dtype=bool)].tolist())

        def mean_of(points: Sequence[Fraction], sure: Fraction) -> FiellerSet:
            weights = dict(zip(taken, points, strict=True))
            along = {name: [weights.get(group, 0) for group in range(len(numbers))]}
            return self._ratio(self.counted_form(chosen, along), self, counts, sure)

        bar = variance_bar([numbers[group] for group in taken], self._confidence_at_level(confidence), mean_of)
        return self._as_shown(bar, confidence)

    def spread(
        self,
        name: str,
        *,
        where: Where | None = None,
        values: LevelNumbers = "midpoints",
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval for the standard deviation of a number over a selection: the root of `variance`.

        All individuals of a bin are counted with one number, which represents the bin.
        """
        return deviation_bar(self.variance(name, where=where, values=values, confidence=confidence))

    def cumulative(
        self, name: str, *, where: Where | None = None, confidence: Number | None = None, together: bool = False
    ) -> LabelledTable:
        """Return the cumulative sums along an ordered level, as a table: labels, estimates and margins.

        For accurate cumulative sums, plan for them with `Workload.prefixes`, or on the command line with ``--want
        "prefixes of age"``.

        Args:
            name: Level of an axis of bins or periods; missing and other values are left out.
            where: Selection of cells, as for `total`; all cells if left out.
            confidence: Confidence of each margin; that of the release if left out.
            together: Whether ``confidence`` is the probability that *all* margins of the table hold.

        Raises:
            NotDetermined, OutOfRange: as for `quantile`.

        Cost: that of one margin for each group.

        >>> import numpy as np
        >>> from utmost.privacy import Unit
        >>> from utmost import release
        >>> from utmost.workloads import Plan, edges
        >>> domain = Domain(age=edges([0, 15, 25, 65, None]))
        >>> plan = Plan(domain, Unit(1, 1), {"age": 1})
        >>> released = release(np.array([90, 10, 20, 30]), plan, epsilon=9)
        >>> released.cumulative("age")["count_margin"].tolist()
        [0, 0, 0, 0]
        """
        text(name, "name")
        at_once = truth(together, "together")
        amounts = self.plan.amount_pair
        if amounts is None:
            answers = [(self.value_columns[0], self.form(where), self.unit.amount)]
        else:
            answers = [
                ((column.name, column.margin), self._selected(where, None, column.weights), column.amount)
                for column in amounts.columns
            ]
        columns: dict[str, NDArray[Any]] = {}
        for (value_name, margin_name), of_all, amount in answers:
            forms = cumulative_forms(self.domain, of_all, name)
            distributions, sure = [self._errors.of(form) for form in forms], self._confidence_at_level(confidence)
            each = 1 - (1 - sure) / len(forms) if at_once else sure
            printing = Printing.of(distributions, amount)
            values = values_by(self.reconstruction, self.measured, forms)
            columns[value_name] = np.array([printing.estimate(value) for value in values])
            columns[margin_name] = np.array(
                [printing.margin(distribution.margin(each)) for distribution in distributions]
            )
        place, level = self.domain.level_named(name)
        count = len(next(iter(columns.values())))
        labels = {name: np.array(self.domain.axes[place].labels[level][:count])}
        return labelled(self.kind, labels, columns)

    def form(self, where: Where | None = None, along: Along | None = None) -> ProductForm:
        """Return the linear combination of cells that `total` estimates; if amounts share noise with counts, their sum.

        Raises:
            OutOfRange: if a name or label is not in the domain.
        """
        amounts = self._amounts
        return self._selected(where, along, None if amounts is None else amounts.total)

    def counted_form(self, where: Where | None = None, along: Along | None = None) -> ProductForm:
        """Return the linear combination of cells that counts a selection's events; without counts, return `form`.

        Raises:
            OutOfRange: if a name or label is not in the domain.
        """
        amounts = self._amounts
        return self._selected(where, along, None if amounts is None else amounts.count)

    @property
    def value_columns(self) -> tuple[tuple[str, str], ...]:
        """The name of each column of values in the tables, with the name of its column of margins."""
        if self._amounts is None:
            name = value_column(self.unit)
            return ((name, f"{name}_margin"),)
        return tuple((column.name, column.margin) for column in self._amounts.columns)

    def table_name(self, marginal: Marginal) -> str:
        """Return the name of a marginal's table: its levels, without the axis of an amount's sums and counts."""
        chosen = self.domain.marginal(marginal)
        return self.domain.marginal_name(chosen) if self._amounts is None else self._amounts.name(chosen)

    def bars(
        self, *marginals: MarginalNames, confidence: Number | None = None, together: bool = False
    ) -> dict[str, int | float]:
        """Return the margin of error of each marginal, by name: the largest margin among its groups.

        If counts and sums share noise, these are the margins of the sums; `column_bars` has all margins.

        Args:
            marginals: Marginals; by default those of the plan's workload, or the measured ones.
            confidence: Confidence of each margin; that of the release if left out.
            together: Whether ``confidence`` is the probability that the margins of *all* sums of all these marginals
                hold.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        chosen = [self.domain.marginal(name) for name in marginals] or wanted_marginals(self.plan)
        weights = None if self._amounts is None else self._amounts.total
        sure, at_once = self._shown_confidence(confidence), truth(together, "together")
        return self.widest_bars(chosen, weights, sure, together=at_once)

    @classmethod
    def without_data(cls, promise: Promise, level: Level, confidence: Fraction) -> "NoisySums":
        """Return the release of a plan with zeros instead of noisy sums; its margins are those of the real release."""
        noise, nothing = instance(promise, Promise, "promise").noise, np.zeros((), dtype=np.int64)
        assert isinstance(noise, SumNoise), "the promise of a plan"
        zeros = {
            marginal: np.broadcast_to(nothing, noise.plan.measured_shape(marginal)) for marginal in noise.plan.shares
        }
        return cls(promise, level, confidence, zeros)

    def widest_bars(
        self, marginals: Iterable[Marginal], weights: Weights | None, sure: Fraction, *, together: bool
    ) -> dict[str, int | float]:
        """Return the margins of marginals, as `bars` does; for an amount those of its parts' sum with ``weights``."""
        amounts = self._amounts
        chosen = [self.domain.marginal(marginal) for marginal in iterable(marginals, "marginals")]
        distributions = {marginal: self._marginal_distributions(marginal, weights) for marginal in chosen}
        numbers = () if amounts is None else (amounts.count, amounts.stated)
        amount = None if weights in numbers else self.unit.amount
        return {
            self.table_name(marginal): Printing.of(distributions[marginal][1].values(), amount).margin(margin)
            for marginal, margin in self._errors.widest(
                distributions, self.at_one_level(sure), together=together
            ).items()
        }

    @progress_bar("Withholding cells")
    def withhold(
        self,
        *marginals: MarginalNames,
        below: Number | None = None,
        relative_margin: Number | None = None,
        complementary: bool = False,
        mark: str = "withheld",
    ) -> WithheldTables:
        """Return tables with cells withheld by a public rule on their noisy values; this costs no epsilon.

        Args:
            marginals: Marginals to publish; by default as for `bars`.
            below, relative_margin, complementary, mark: Arguments of `WithholdingRule`.

        Raises:
            NotDetermined, OutOfRange, NotANumber: if the release does not have a marginal, or if the rule is invalid.
            Unsupported: if ``complementary`` would have to compare too many cells.
        """
        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        return self.withheld(rule, marginals or wanted_marginals(self.plan))

    def withheld(self, rule: WithholdingRule, marginals: Iterable[MarginalNames]) -> WithheldTables:
        """Withhold cells by a rule object, like `withhold`; marginals may have any form that the release accepts."""
        instance(rule, WithholdingRule, "rule")
        iterable(marginals, "marginals")
        if self._amounts is not None:
            remedy = "Save the table, and delete the rows whose noisy count is small: this costs no epsilon."
            raise Unsupported(
                "withhold needs a release of counts alone or of sums alone", came="a release of means", remedy=remedy
            )
        cells = []
        for marginal, narrow in (narrowed(self.domain, name) for name in marginals):
            columns, distribution = (
                self._estimated(marginal),
                max(self.distributions(marginal).values(), key=lambda distribution: distribution.variance),
            )
            cells.append(
                MarginalCells.of(self.domain, self.kind, marginal, narrow, columns, distribution, self.unit.step)
            )
        return withheld_marginals(self.domain, cells, self.statement, rule)

    @progress_bar("Making whole numbers")
    def clean(self, given: GivenFacts | None = None, *, hold: MarginalNames | None = None) -> CleanTable:
        """Compute nonnegative integers whose sums all agree, to publish beside the release, never instead of it.

        If the plan measures overlapping tables and not the cells, the result has only the tables that follow from the
        measured ones.

        Args:
            given: Public facts that the result must satisfy, such as {"sex=men": ut.workloads.between(high=5)}; see
                `read_given`.
            hold: One table whose sums stay as released, only rounded; "total" also reduces the error of most other
                sums.

        Raises:
            NotDetermined: if the table has numbers of distinct values; or if the measured marginals do not determine
                the cells, and there are more than 65 536 cells or measured hat functions.
            Unsupported: if sums and counts share noise, or if the plan measures differences or listed rows.
            SolverFailed: if the numerical search for the cells fails.
            OutOfRange, WrongKind, NotANumber: if a fact is invalid.
            Infeasible: if the facts hold for no table.

        Warns:
            FactsFarOff: if a fact is so far from the released sum that noise alone explains it with probability at most
                10^-6.

        Cost: seconds for 10^5 cells; if the cells are not determined, five seconds for 10^4 cells, a minute for six
        times as many.
        """
        problem = self.clean_problem(given, hold)
        whole = problem.solved()
        if (facts := problem.facts) is not None:
            # Warn of facts that the released sums practically exclude, such as a mistyped total
            count, far = sum(len(facts.places(marginal)) for marginal in facts.bounds), []
            for marginal, bounds in facts.bounds.items():
                try:
                    sums, divisor = self.reconstruction.estimates(self.measured, marginal)
                    kinds, distributions = self._errors.of_marginal(marginal)
                except NotDetermined:  # no released sums to compare with
                    continue
                reach = {
                    kind: Fraction(distribution.margin(1 - FAR_OFF / count))
                    for kind, distribution in distributions.items()
                }
                estimates, (lower, upper) = sums.ravel(), (ends.ravel() for ends in bounds)
                for place in facts.places(marginal):
                    estimate, farthest = Fraction(int(estimates[place]), divisor), reach[int(kinds[place])]
                    if lower[place] - estimate > farthest or estimate - upper[place] > farthest:
                        answer = self._estimate(estimate, distributions[int(kinds[place])], None, self.unit.amount)
                        far.append(f"{facts.fact(marginal, place)}, where {answer} was released")
            warn_far_off(far)
        return whole

    def clean_problem(self, given: GivenFacts | None = None, hold: MarginalNames | None = None) -> CleanProblem:
        """Return the least-squares problem whose solution is the clean table, see `clean`."""
        self.plan.check_clean(self.reconstruction)
        try:
            distributions = [*self.distributions(self.domain.finest).values()]
        except NotDetermined:  # the cells are not determined
            distributions = [
                distribution for marginal in self.measured for distribution in self.distributions(marginal).values()
            ]
        cell = max(distributions, key=lambda distribution: distribution.variance)
        return CleanProblem.of(self, self.reconstruction, cell, self.kind, given, hold)

    def noise(self, form: ProductForm) -> Combination:
        """Return the distribution of the error of an estimated linear combination; for amounts, in their own unit.

        Raises:
            NotDetermined: if the measured marginals do not determine the combination.
        """
        if not isinstance(form, ProductForm):
            raise wrong_kind("form", "a ProductForm", form)
        return scaled(self._errors.of(form), self.unit.step)

    @cached_property
    def _ratios(self) -> dict[Marginal, Level]:
        return {
            marginal: distribution.ratio
            for marginal, distribution in noise_distributions(self.plan, self.level).items()
        }

    @cached_property
    def _errors(self) -> AnswerErrors:
        return AnswerErrors(self.reconstruction, self._ratios, self.unit)

    def at_one_level(self, confidence: Fraction) -> Fraction:
        """Return the confidence that margins at one level need for ``confidence`` to hold under a stopping rule."""
        return confidence if self.stop is None else self.stop.at_one_level(confidence)

    def distributions(self, marginal: str | Sequence[str] | Marginal) -> dict[int, Combination]:
        """Return {kind of sum: distribution of its error} for a marginal's sums; errors of amounts count steps.

        Args:
            marginal: Marginal as `Domain.marginal` reads it: "department sex", a list of levels, or a tuple.

        Raises:
            OutOfRange: if the domain does not have a level of the marginal.
        """
        weights = None if self._amounts is None else self._amounts.total
        return self._marginal_distributions(self.domain.marginal(marginal), weights)[1]

    def _marginal_distributions(self, marginal: Marginal, weights: Weights | None) -> MarginalDistributions:
        amounts = self._amounts
        if amounts is None or weights is None:
            return self._errors.of_marginal(marginal)
        return self._errors.of_amounts(amounts, marginal, weights)

    def _pair(self) -> AmountPair:
        """Return the pair of sums and counts of an amount; refuse a release that has no such pair."""
        amounts = self._amounts
        if amounts is None:
            remedy = "Count with ut.mean, or --mean."
            raise OutOfRange(
                "means need sums and counts that were released together", came="sums or counts alone", remedy=remedy
            )
        return amounts

    @property
    def _amounts(self) -> AmountPair | None:
        return self.plan.amount_pair

    def _read_marginal(self, marginal: MarginalNames) -> tuple[Marginal, Mapping[int, int]]:
        """Read the name of a marginal; return the marginal, and the labels to which axes are restricted."""
        chosen, narrow = narrowed(self.domain, marginal)
        if self._amounts is None:
            return chosen, narrow
        self._amounts.check_narrow(narrow)
        return self._amounts.both(chosen), narrow

    def _selected(self, where: Where | None, along: Along | None, weights: Weights | None) -> ProductForm:
        chosen: Where = {} if where is None else mapping(where, "where")
        if along is not None:
            mapping(along, "along")
        amounts = self._amounts
        if amounts is None or weights is None:
            return selected(self.domain, chosen, along)
        amounts.check_where(chosen, {} if along is None else along)
        return amounts.form(selected(self.domain, chosen, along), weights)

    def _estimated(self, marginal: Marginal) -> dict[str, NDArray[Any]]:
        known = self.reconstruction, self._errors, self.measured
        (names,) = self.value_columns
        return estimated_columns(*known, marginal, self._confidence_at_level(None), self.unit.amount, names=names)

    def _shown_confidence(self, confidence: Number | None) -> Fraction:
        return self.confidence if confidence is None else read_confidence(confidence)

    def _confidence_at_level(self, confidence: Number | None) -> Fraction:
        """Return the confidence for a fixed level, from the confidence that is shown; see `at_one_level`."""
        return self.at_one_level(self._shown_confidence(confidence))

    def _as_shown(self, bar: BarT, confidence: Number | None) -> BarT:
        """Return a result with the confidence that is shown, which also holds if a stopping rule chose the level."""
        return replace(bar, confidence=self._shown_confidence(confidence))

    def _estimate(
        self, value: Fraction, distribution: Combination, confidence: Number | None, amount: Amount | None
    ) -> Estimate:
        return self._as_shown(
            estimate_of(value, distribution, self._confidence_at_level(confidence), amount), confidence
        )

    def _ratio(
        self,
        over: ProductForm,
        of: "NoisySums",
        under: ProductForm,
        sure: Fraction,
        steps: Fraction | None = None,
    ) -> FiellerSet:
        """Return Fieller's set of a ratio; ``steps`` is the numerator's unit in units of the denominator."""
        distribution = of._errors.of_pair(over, under, self._errors)
        top, bottom = of.reconstruction.value(of.measured, over), self.reconstruction.value(self.measured, under)
        steps = of.unit.step / self.unit.step if steps is None else steps
        moved = distribution | {"u": [steps * u for u in distribution["u"]]}
        return FiellerSet.of(steps * top, bottom, **moved, confidence=sure)


def _mean(ratio: FiellerSet, ends: tuple[Fraction, Fraction] | None = None) -> RatioBar:
    """Return the interval of a mean, cut to the ends of clipped amounts; not determined if the count may be 0."""
    if ratio.bottom <= 0:  # a noisy count of 0 or less: the mean is not determined
        return RatioBar.undetermined(1 - ratio.miss)
    return ratio.bar() if ends is None else ratio.bar().between(*ends)


def _rounded_mean(bar: RatioBar) -> tuple[float | None, float | None, float | None]:
    """Round a mean and its interval outwards, to three digits of the interval's width; blank if not determined."""
    if not bar.determined or bar.estimate is None:
        return None, None, None
    places = 2 - floor(log10(bar.upper - bar.lower)) if bar.upper > bar.lower else 15
    unit = Fraction(10) ** -places
    rounded = round(Fraction(bar.estimate) / unit), floor(Fraction(bar.lower) / unit), ceil(Fraction(bar.upper) / unit)
    mean, lower, upper = (float(steps * unit) for steps in rounded)
    return mean, lower, upper


def sums_in_one_column(
    promise: Promise, level: Level, columns: Mapping[str, NDArray[Any]], kind: str, remembered: LedgerFacts | None
) -> NoisySums:
    """Make the release from all its noisy sums in one column; margins are at 95 % confidence."""
    assert isinstance(promise.noise, SumNoise), "only the noise of sums needs a counted table"
    measured = promise.noise.by_marginal(columns[MEASURED])
    return NoisySums(promise, level, CONFIDENCE, measured, kind, ledger_facts=remembered)


@dataclass(frozen=True, slots=True)
class SumsTable:
    """One table that is computed from the sums of a plan, to be published; its statement has the whole release."""

    release: NoisySums
    marginal: MarginalNames
    means: bool  # Whether the table has the means of amounts beside their sums and counts

    @property
    def table(self) -> LabelledTable:
        return self.release.with_means(self.marginal) if self.means else self.release[self.marginal]

    @property
    def publication(self) -> SavedContent:
        return SavedContent(self.table, self.statement)

    def statement(self, digest: Digest | None) -> dict[str, Any]:
        return SUMS_TABLE_FORM.statement(self, digest)

    def _fields(self) -> dict[str, Any]:
        names: Any = self.marginal
        if isinstance(names, tuple) and names and all(isinstance(level, int) for level in names):
            names = self.release.domain.level_names(names)
        listed = names if isinstance(names, str) else [one if isinstance(one, str) else list(one) for one in names]
        release = self.release.facts()
        return {
            "guarantee": release["guarantee"],
            "marginal": listed,
            **({"means": True} if self.means else {}),
            "release": release,
        }

    @classmethod
    def _of_fields(cls, document: Mapping[str, Any]) -> "SumsTable":
        release, means = NoisySums.of_facts(stated_field(document, "release", dict)), "means" in document
        if means and not release.unit.is_shared:
            required = "means need sums and counts with shared noise"
            raise BadTable(required, came="other sums", where="means")
        marginal = document["marginal"]
        if isinstance(marginal, list):
            marginal = [tuple(name) if isinstance(name, list) else name for name in marginal]
        try:
            _, narrow = narrowed(release.domain, marginal)
            if (amounts := release.plan.amount_pair) is not None:
                amounts.check_narrow(narrow)
        except (UtmostError, TypeError) as error:
            required = "a table of sums must name its marginal"
            raise BadTable(required, came=type(error).__name__, where="marginal") from None
        return cls(release, marginal, means)


SUMS_TABLE_FORM = StatementForm(
    SUMS_TABLE_KIND, "a statement of a table of sums", SumsTable._fields, SumsTable._of_fields
)
"""How the statement beside one table of a release by a plan is written, and read and checked."""
