"""Releasing a workload: the sums over a strategy's families noised once, and every other sum made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from os import fsdecode
from pathlib import Path as PathLike
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange, UtmostError
from utmost.laws.exact import Level, Number, checked, frozen, wrong_kind
from utmost.laws.exact.long_work import long_work
from utmost.laws.exact.numbers import read_confidence
from utmost.laws.exact.shown import Shown
from utmost.laws.noise import Combination, RatioBar
from utmost.laws.noise.ratio_bars import FiellerSet
from utmost.laws.privacy import Unit
from utmost.publish.promises.sum_noise import noise_laws
from utmost.publish.releases.along_axis import AlongAxis
from utmost.publish.releases.clean_release import CleanProblem, CleanTable
from utmost.publish.releases.family_tables import estimated_columns, family_table, wanted_families
from utmost.publish.releases.withheld import FamilyCells, WithheldTables, withheld_families
from utmost.publish.releases.withholding import WithholdingRule
from utmost.publish.releases.workload_answers import Answer, Printing, answer_of
from utmost.publish.releases.workload_errors import AnswerErrors, scaled
from utmost.publish.releases.workload_statements import (
    check_stated,
    workload_facts,
    workload_parts,
    workload_statement,
    workload_table_statement,
)
from utmost.publish.tables.saving import FileWords, Publication, saved
from utmost.publish.workloads import Domain, Strategy
from utmost.publish.workloads.domain import Family, Where
from utmost.publish.workloads.forms import ProductForm, selected
from utmost.publish.workloads.measured_families import measured_family
from utmost.publish.workloads.reconstruction import precision_weights
from utmost.publish.workloads.tree_reconstruction import LeastSquares
from utmost.publish.workloads.workload import narrowed

Families = str | Sequence[str] | Family
"""A family by the names of its levels, or as the domain has it."""


def _own(sums: Any) -> NDArray[Any]:
    """A copy, but of an array that nobody can write, neither it nor what it is a view of."""
    owner = sums if getattr(sums, "base", None) is None else sums.base
    arrays = isinstance(sums, np.ndarray) and isinstance(owner, np.ndarray) and owner.base is None
    return sums if arrays and not (sums.flags.writeable or owner.flags.writeable) else np.array(sums)


@dataclass(frozen=True, eq=False, repr=False)
class WorkloadRelease(AlongAxis, Shown):
    """The noisy sums of a workload, and what follows from them; made by `release_workload`.

    Attributes:
        strategy: the families that were measured and their shares, with domain and unit.
        level: what the whole release spent.
        confidence: of the margins that are shown unless another is asked for.
        measured: for each measured family, its noisy sums, integers of shape ``strategy.measured_shape``: all that
            was said of the data. What else this class gives is computed from them.
        kind: of what kind the tables made of it are, as an adapter names it.
        part: where individuals were split into parts that share nobody, the partition and this part of it.
        weights: for each measured family, its weight in least squares; chosen by the noise when left out.
    """

    _shown = ("domain", "spent", "confidence")

    strategy: Strategy
    level: Level
    confidence: Fraction
    measured: Mapping[Family, NDArray[Any]] = field(repr=False)
    kind: str = "columns:"
    part: tuple[str, str] | None = None
    weights: Mapping[Family, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if set(self.measured) != set(self.strategy.shares):
            raise OutOfRange("the measured families must be those of the strategy", came="others")
        self.unit.check_part(self.part)
        shaped = {
            family: frozen(_own(self.measured[family])).reshape(self.strategy.measured_shape(family))
            for family in self.strategy.shares
        }
        object.__setattr__(self, "measured", shaped)
        if not self.weights:
            object.__setattr__(self, "weights", precision_weights(self._ratios))
        _ = self.reconstruction  # refuses what cannot be reconstructed

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.strategy, self.level, self.confidence, dict(self.measured), self.kind, self.part, self.weights)
        return WorkloadRelease, parts

    @property
    def domain(self) -> Domain:
        """The declared domain."""
        return self.strategy.domain

    @property
    def unit(self) -> Unit:
        """What one individual changes, in cells."""
        return self.strategy.unit

    @property
    def spent(self) -> Level:
        """What the whole release cost."""
        return self.level

    @cached_property
    def reconstruction(self) -> LeastSquares:
        """Least squares from the measured families."""
        return self.strategy.measurement.reconstruction(self.weights)

    @property
    def statement(self) -> dict[str, Any]:
        """What is said publicly: the promise, the domain, the families and their noise, see `workload_statement`."""
        return workload_statement(self)

    def facts(self) -> dict[str, Any]:
        """The whole release as JSON values, which `of_facts` reads: the statement, and the noisy sums."""
        return workload_facts(self)

    @checked
    def save(
        self, path: PathLike | str, *, family: Families | None = None, **file: Unpack[FileWords]
    ) -> dict[str, Any]:
        """Write the whole release as one .json document, or one family's table with the release beside it.

        Args:
            path: ends in .json for the document, which holds statement and noisy sums; else the table's, see `saved`.
            family: the levels of the table; those of the cells if left out.
            format, sign, overwrite: as for `saved`.

        Returns:
            The document; or what stands beside the table: the document, the family, and the digest of the table.

        Raises:
            NotDetermined, OutOfRange: for a family that the release does not have.
            Unsupported, KeyRefused: as `saved`.
        """
        if family is None and file.get("format") is None and PathLike(fsdecode(path)).suffix.lower() == ".json":
            publication = Publication(self.measured, lambda _: self.facts(), self.facts)
        else:
            chosen = self.domain.level_names(self.domain.finest) if family is None else family
            publication = Publication(self[chosen], lambda digest: workload_table_statement(self, chosen, digest))
        return saved(publication, path, **file)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "WorkloadRelease":
        """The release that JSON values describe; its digest and its statement are checked.

        Raises:
            BadTable: for what describes none.
        """
        parts = workload_parts(facts)
        try:
            release = cls(**parts)
        except (UtmostError, ValueError) as error:
            raise BadTable("the document's parts must make a workload release", came=str(error)) from None
        check_stated(facts, release)
        return release

    def __getitem__(self, family: Families) -> Any:
        """One family as a table: its labels, the estimates, and behind them their margins, of the release's confidence.

        Args:
            family: names of levels, each of which may be narrowed to a label: ``"department outcome=admitted"``.

        Raises:
            NotDetermined: for a family that the measured ones do not determine.
            OutOfRange: for names that the domain has not.
        """
        chosen, narrow = narrowed(self.domain, family)
        return family_table(self.domain, self.kind, chosen, self._estimated(chosen), narrow)

    def raw(self, family: Families) -> Any:
        """The noisy sums of one measured family as they were drawn, before anything was made of them; or differences.

        Raises:
            OutOfRange: for a family that was not measured.
        """
        chosen = measured_family(self.domain, family)
        if chosen not in self.measured:
            names = ", ".join(repr(self.domain.family_name(of_measured)) for of_measured in self.measured)
            raise OutOfRange("the family must be a measured one", came=family, remedy=f"Measured are {names}.")
        pair = self.strategy.pair
        labelled = chosen if pair is None else pair.of_rows(chosen)
        drawn = self.unit.numbers(self.measured[chosen].ravel())
        return family_table(self.domain, self.kind, labelled, {"measured": drawn})

    @checked
    def total(
        self, where: Where | None = None, *, along: Mapping[str, Any] | None = None, confidence: Number | None = None
    ) -> Answer:
        """The sum over a selection of cells, with its error bar.

        Args:
            where: by the name of a level a label, a list of labels, or of bins ``slice(low, high)``; everything when
                left out.
            along: by the name of a level, a number for each of its labels that its cells count with.
            confidence: of the margin; the release's when left out.

        Raises:
            NotDetermined: for an answer that the measured families do not determine.
            OutOfRange: for names and labels that the domain has not.
        """
        form = selected(self.domain, {} if where is None else where, along)
        value, law = self.reconstruction.value(self.measured, form), self._errors.of(form)
        return answer_of(value, law, self._sure(confidence), self.unit.amount)

    @checked
    def difference(self, first: Where, second: Where, *, confidence: Number | None = None) -> Answer:
        """The sum over a selection less the sum over another, with the error bar of the difference's own law.

        Args:
            first, second: two selections, which may overlap, as for `total`.
            confidence: of the margin; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        forms = selected(self.domain, first), selected(self.domain, second)
        value, less = (self.reconstruction.value(self.measured, form) for form in forms)
        return answer_of(value - less, self._errors.of_difference(*forms), self._sure(confidence), self.unit.amount)

    @checked
    def ratio(self, numerator: Where, denominator: Where, *, confidence: Number | None = None) -> RatioBar:
        """The ratio of two sums, with an interval that holds the true one; "not determined" where nothing is said.

        Args:
            numerator, denominator: two selections, which may overlap.
            confidence: of the interval; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        return self._ratio(selected(self.domain, numerator), self, selected(self.domain, denominator), confidence).bar()

    @checked
    def mean(
        self,
        name: str | None = None,
        *,
        where: Where | None = None,
        values: Any = "midpoints",
        sums: "WorkloadRelease | None" = None,
        confidence: Number | None = None,
    ) -> RatioBar:
        """The mean of a number over the individuals of a selection: a sum over a count, with its interval.

        Args:
            name: a level whose labels stand for numbers; left out where ``sums`` is given.
            where: the selection; everything when left out.
            values: a number for each label, in order or by label; for bins, their midpoints.
            sums: another release, of the sums of the number, over a domain in which the selection can be said.
            confidence: of the interval; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        if (name is None) == (sums is None):
            remedy = "Pass the name of a level whose labels are numbers, or a release of sums."
            raise OutOfRange(
                "a mean is of one of name and sums", came="neither" if name is None else "both", remedy=remedy
            )
        chosen: Where = {} if where is None else where
        counts = selected(self.domain, chosen)
        if sums is not None:
            if not isinstance(sums, WorkloadRelease):
                raise wrong_kind("sums", "a WorkloadRelease", sums)
            return self._ratio(selected(sums.domain, chosen), sums, counts, confidence).bar()
        points = self.unit.points_along(str(name)) or values
        return self._ratio(selected(self.domain, chosen, {str(name): points}), self, counts, confidence).bar()

    @checked
    def bars(
        self, *families: Families, confidence: Number | None = None, together: bool = False
    ) -> dict[str, int | float]:
        """The margins of families, by name; of several sizes of groups the largest.

        Args:
            families: the families; when none is named, those that the strategy's workload wants, or the measured ones.
            confidence: of each margin; the release's when left out.
            together: whether *all* sums of all these families lie within the margins at once with that confidence.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        chosen = [self.domain.family(name) for name in families] or wanted_families(self.strategy)
        widest = self._errors.widest(chosen, self._sure(confidence), together=together)
        return {
            self.domain.family_name(family): Printing.of(self.laws(family).values(), self.unit.amount).margin(margin)
            for family, margin in widest.items()
        }

    @checked
    @long_work("Withholding cells")
    def withhold(
        self,
        *families: Families,
        below: Number | None = None,
        relative_margin: Number | None = None,
        complementary: bool = False,
        mark: str = "withheld",
    ) -> WithheldTables:
        """Tables with cells left out by a public rule on their noisy values; it costs nothing.

        Args:
            families: the tables that are published; as for `bars` when none is named.
            below, relative_margin, complementary, mark: as `WithholdingRule` has them.

        Raises:
            NotDetermined, OutOfRange, NotANumber: for a family that the release has not, and a rule that is none.
            Unsupported: where too many cells would have to be compared for ``complementary``.
        """
        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        return self.withheld(rule, families or wanted_families(self.strategy))

    @checked
    def withheld(self, rule: WithholdingRule, families: Iterable[Any]) -> WithheldTables:
        """`withhold` by a rule, with families in any form that a release takes."""
        cells = []
        for family, narrow in (narrowed(self.domain, name) for name in families):
            columns, law = self._estimated(family), max(self.laws(family).values(), key=lambda law: law.variance)
            cells.append(FamilyCells.of(self.domain, self.kind, family, narrow, columns, law, self.unit.step))
        return withheld_families(self.domain, cells, self.statement, rule)

    @checked
    @long_work("Making whole numbers")
    def clean(self, given: Any = None, *, hold: Families | None = None) -> CleanTable:
        """Whole numbers, none negative, whose sums all agree: beside the release, never instead of it.

        Args:
            given: public facts that then hold, {"total": 9, "sex=men": ut.workloads.between(high=5)}: see `read_given`.
            hold: one table whose sums stay as released, rounded; "total" makes most other sums better, too.

        Raises:
            NotDetermined, SolverFailed: where the measured families do not determine the cells, and of distinct counts;
                where a program fails.
            OutOfRange, WrongKind, Infeasible: for facts that are none, and such as hold of no table.

        Cost: seconds for 10^5 cells.
        """
        return self.clean_problem(given, hold).solved()

    def clean_problem(self, given: Any = None, hold: Families | None = None) -> CleanProblem:
        """What a clean table is nearest to, and what must hold of it: see `clean`."""
        self.unit.check_adds(is_one_cell=False, came="a clean table, whose sums agree")
        self.reconstruction.check_family_determined(self.domain.finest)
        cell = max(self.laws(self.domain.finest).values(), key=lambda law: law.variance)
        return CleanProblem.of(self, self.reconstruction, cell, self.kind, given, hold)

    def noise(self, form: ProductForm) -> Combination:
        """The law of an answer's error, of amounts in their own unit.

        Raises:
            NotDetermined: for an answer that the measured families do not determine.
        """
        if not isinstance(form, ProductForm):
            raise wrong_kind("form", "a ProductForm", form)
        return scaled(self._errors.of(form), self.unit.step)

    @cached_property
    def _ratios(self) -> dict[Family, Level]:
        return {family: law.ratio for family, law in noise_laws(self.strategy, self.level).items()}

    @cached_property
    def _errors(self) -> AnswerErrors:
        return AnswerErrors(self.reconstruction, self._ratios, self.unit)

    def laws(self, family: str | Sequence[str] | Family) -> dict[int, Combination]:
        """The laws of the errors of a family's sums.

        Args:
            family: as `Domain.family` reads it: "department sex", a list of levels, or a family.

        Raises:
            OutOfRange: for a level that the domain does not have.
        """
        return self._errors.of_family(self.domain.family(family))[1]

    def _estimated(self, family: Family) -> dict[str, NDArray[Any]]:
        known = self.reconstruction, self._errors, self.measured
        return estimated_columns(*known, family, self.confidence, self.unit.amount)

    def _sure(self, confidence: Number | None) -> Fraction:
        return self.confidence if confidence is None else read_confidence(confidence)

    def _ratio(self, over: ProductForm, of: "WorkloadRelease", under: ProductForm, confidence: Any) -> FiellerSet:
        law = of._errors.of_pair(over, under, self._errors)
        top, bottom = of.reconstruction.value(of.measured, over), self.reconstruction.value(self.measured, under)
        steps = of.unit.step / self.unit.step
        moved = law | {"u": [steps * u for u in law["u"]]}
        return FiellerSet.of(steps * top, bottom, **moved, confidence=self._sure(confidence))
