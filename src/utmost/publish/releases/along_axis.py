"""What a release by a plan says along an ordered axis: quantiles, variance, cumulative sums; all post-processing."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.kinds import checked
from utmost.core.exact.numbers import Number
from utmost.core.noise.ratio_bars import FiellerSet, RatioBar
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange
from utmost.publish.releases.family_tables import labelled_table
from utmost.publish.releases.quantiles import QuantileBar, cumulative_forms, quantile_bar
from utmost.publish.releases.spread import deviation_bar, variance_bar
from utmost.publish.releases.workload_answers import Printing
from utmost.publish.releases.workload_errors import AnswerErrors
from utmost.publish.workloads.measuring.forms import ProductForm, numbers_of, selected
from utmost.publish.workloads.planning.strategy import Strategy
from utmost.publish.workloads.reconstruction.tree_reconstruction import LeastSquares, values_by
from utmost.tables.axes.domain import Domain, Family, Where


class AlongAxis:
    """The questions along an axis that a release by a plan answers; `WorkloadRelease` does."""

    if TYPE_CHECKING:  # what the release has
        kind: str
        measured: Mapping[Family, NDArray[Any]]

        @property
        def domain(self) -> Domain:
            """The declared domain."""

        @property
        def unit(self) -> Unit:
            """What one individual changes."""

        @property
        def reconstruction(self) -> LeastSquares:
            """Least squares from the measured families."""

        @property
        def _errors(self) -> AnswerErrors: ...
        @property
        def strategy(self) -> Strategy:
            """The families that were measured."""

        def form(self, where: Where | None = None) -> ProductForm:
            """The answer that `total` gives."""

        def counted_form(self, where: Where | None = None) -> ProductForm:
            """The number of events of a selection."""

        def _sure(self, confidence: Number | None) -> Fraction: ...
        def _ratio(self, over: ProductForm, of: Any, under: ProductForm, confidence: Any) -> FiellerSet: ...

    @checked
    def quantile(
        self, name: str, q: Number, *, where: Where | None = None, confidence: Number | None = None
    ) -> QuantileBar:
        """Which cells of an ordered axis can hold a quantile of a selection.

        Args:
            name: a level of an axis of bins.
            q: which one, strictly between 0 and 1: "1/4" for the first quartile.
            where: the selection; everything when left out.
            confidence: that the lower and the upper quantile both lie there; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`; for an axis that has no order.

        Cost: an estimate and a bound for each group of the level.
        Source: docs/theory/quantiles.md.

        >>> from utmost.releases import release_workload
        >>> from utmost.workloads import Strategy, bins
        >>> domain = Domain(age=edges([0, 15, 25, 65, None]))
        >>> released = release_workload(np.array([90, 10, 20, 30]), Strategy(domain, Unit(1, 1), {"age": 1}), epsilon=9)
        >>> print(released.quantile("age", "1/2"), released.quantile("age", "9/10").interval)
        in 0 to 14 (Fraction(65, 1), inf)
        """
        sure = self._sure(confidence)

        def measured(forms: Sequence[ProductForm]) -> list[tuple[Fraction, bool]]:
            values = values_by(self.reconstruction, self.measured, forms)
            return list(zip(values, self._errors.leave_out(forms, values, 1 - sure), strict=True))

        selection = self.counted_form(where)
        return quantile_bar(self.domain, selection, name, q, sure, measured)

    def median(self, name: str, *, where: Where | None = None, confidence: Number | None = None) -> QuantileBar:
        """Which cells of an ordered axis can hold the median of a selection: `quantile` at 1/2."""
        return self.quantile(name, Fraction(1, 2), where=where, confidence=confidence)

    @checked
    def variance(
        self, name: str, *, where: Where | None = None, values: Any = "midpoints", confidence: Number | None = None
    ) -> RatioBar:
        """The variance of a number over the individuals of a selection, sum (x - mean)^2 over their count.

        It is that of the numbers that labels stand for: what varies within a bin is not in it.

        Args:
            name: a level whose labels stand for numbers.
            where: the selection; everything when left out.
            values: as for `mean`.
            confidence: of the interval; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`; for sums of amounts, which count nobody.

        Cost: that of two ratios, 0.1 s, or five times as much where the mean is hardly known.
        Source: docs/theory/quantiles.md, "Variance and spread".

        >>> from utmost.releases import release_workload
        >>> from utmost.workloads import Strategy
        >>> domain = Domain(rooms=[1, 2, 3])
        >>> plan = Strategy(domain, Unit(1, 1), {"rooms": 1})
        >>> released = release_workload(np.array([900, 100, 900]), plan, epsilon=9)
        >>> 0.94 < released.variance("rooms", values=[1, 2, 3]).lower < 0.95
        True
        """
        if self.unit.amount is not None:
            remedy = "Count the individuals by bins of the amount: its spread is that of the axis."
            raise OutOfRange("a variance is over individuals that are counted", came="sums of amounts", remedy=remedy)
        place, level = self.domain.level_named(name)
        chosen: Where = {} if where is None else where
        everybody, axis = selected(self.domain, chosen), self.domain.axes[place]
        numbers = numbers_of(axis, level, values, name, everybody.factors[place])
        taken = dict.fromkeys(axis.group_of(level)[np.asarray(everybody.factors[place], dtype=bool)].tolist())

        def mean_of(points: Sequence[Fraction], sure: Fraction) -> FiellerSet:
            weights = dict(zip(taken, points, strict=True))
            along = {name: [weights.get(group, 0) for group in range(len(numbers))]}
            return self._ratio(selected(self.domain, chosen, along), self, everybody, sure)

        return variance_bar([numbers[group] for group in taken], self._sure(confidence), mean_of)

    def spread(
        self, name: str, *, where: Where | None = None, values: Any = "midpoints", confidence: Number | None = None
    ) -> RatioBar:
        """The standard deviation of a number over the individuals of a selection: the root of `variance`."""
        return deviation_bar(self.variance(name, where=where, values=values, confidence=confidence))

    @checked
    def cumulative(
        self, name: str, *, where: Where | None = None, confidence: Number | None = None, together: bool = False
    ) -> Any:
        """How many lie in each group of an ordered level or before it, as a table: labels, estimates and margins.

        Plan for it by `Workload.prefixes`, on the command line ``--want "prefixes of age"``.

        Args:
            name: a level of an axis of bins or periods; missing values have no place in it.
            where: the selection; everything when left out.
            confidence: of each margin; the release's when left out.
            together: whether all sums of the table lie within their margins at once with that confidence.

        Raises:
            NotDetermined, OutOfRange: as for `quantile`.

        Cost: an error bar for each group.

        >>> from utmost.releases import release_workload
        >>> from utmost.workloads import Strategy, bins
        >>> domain = Domain(age=edges([0, 15, 25, 65, None]))
        >>> plan = Strategy(domain, Unit(1, 1), {"age": 1})
        >>> released = release_workload(np.array([90, 10, 20, 30]), plan, epsilon=9)
        >>> released.cumulative("age")["margin"].tolist()
        [0, 0, 0, 0]
        """
        amounts = self.strategy.amount_pair
        if amounts is None:
            answers = [(("estimate", "margin"), self.form(where), self.unit.amount)]
        else:
            both = (self.counted_form(where), None), (self.form(where), amounts.amount)
            answers = [(names, *answer) for names, answer in zip(amounts.columns, both, strict=True)]
        columns: dict[str, NDArray[Any]] = {}
        for (value_name, margin_name), of_all, amount in answers:
            forms = cumulative_forms(self.domain, of_all, name)
            laws, sure = [self._errors.of(form) for form in forms], self._sure(confidence)
            each = 1 - (1 - sure) / len(forms) if together else sure
            printing = Printing.of(laws, amount)
            values = values_by(self.reconstruction, self.measured, forms)
            columns[value_name] = np.array([printing.estimate(value) for value in values])
            columns[margin_name] = np.array([printing.margin(law.margin(each)) for law in laws])
        place, level = self.domain.level_named(name)
        count = len(next(iter(columns.values())))
        labels = {name: np.array(self.domain.axes[place].labels[level][:count])}
        return labelled_table(self.kind, labels, columns)
