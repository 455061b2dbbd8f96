"""Sums, counts and means of one column that were noised together: for each sum two parts, and nothing for the count.

An event of amount x between l and h adds x - l to the one part, S, and h - x to the other, S'. Together they are h - l,
whatever x is, so one individual changes both by no more than the sum alone would be: both have the whole level, and the
count (S + S')/(h - l) costs nothing. See docs/theory/counting.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.laws.exact import Number, checked, wrong_kind
from utmost.laws.exact.numbers import read_confidence
from utmost.laws.noise import RatioBar
from utmost.laws.privacy import Amount
from utmost.publish.releases.workload_answers import Answer, answer_of
from utmost.publish.releases.workload_errors import scaled
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.tables.adapters import labelled
from utmost.publish.workloads.domain import Where
from utmost.publish.workloads.forms import ProductForm, group_of, selected


@dataclass(frozen=True, slots=True)
class SumsAndCounts:
    """What a release of a table with ``most_events`` says of events and of their amounts.

    Every estimate is an unbiased combination of the noisy sums; bars are certified, and nothing costs privacy.

    Args:
        release: by a strategy, of such a table.

    Raises:
        OutOfRange: for a release of another table.

    >>> from utmost.publish.counting import count_table
    >>> from utmost.publish.releases.noised_workloads import release_workload
    >>> from utmost.publish.workloads import Strategy
    >>> sales = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
    >>> words = {"values": "paid", "each": (0, 10), "most_events": 2}
    >>> counted = count_table(sales, person="user", domain={"shop": ["A", "B"]}, at_most=2, **words)
    >>> strategy = Strategy(counted.domain, counted.unit, {"shop paid": 1})
    >>> both = SumsAndCounts(release_workload(counted, strategy, epsilon=2000))
    >>> both.count({"shop": "A"}).value, both.total({"shop": "A"}).value, both.mean({"shop": "A"}).estimate
    (2.0, 10, 5.0)
    """

    release: WorkloadRelease

    def __post_init__(self) -> None:
        if not isinstance(self.release, WorkloadRelease):
            raise wrong_kind("release", "a release by a plan", self.release)
        if not self.release.unit.is_shared:
            remedy = "Count with most_events=, beside values= and each=."
            raise OutOfRange("sums and counts must have been noised together", came="sums alone", remedy=remedy)

    @property
    def amount(self) -> Amount:
        """What is summed, between which ends."""
        amount = self.release.unit.amount
        assert amount is not None, "what is shared is an amount"
        return amount

    @checked
    def count(self, where: Where | None = None, *, confidence: Number | None = None) -> Answer:
        """How many events a selection has.

        Args:
            where: as for `WorkloadRelease.total`, on the axes of the domain that was declared.
            confidence: of the margin; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `WorkloadRelease.total`.
        """
        return self._answer(self._form(where, self._one), confidence, None)

    @checked
    def total(self, where: Where | None = None, *, confidence: Number | None = None) -> Answer:
        """The sum of the amounts of a selection; arguments as for `count`."""
        return self._answer(self._form(where, self._sum), confidence, self.amount)

    @checked
    def mean(self, where: Where | None = None, *, confidence: Number | None = None) -> RatioBar:
        """The mean amount of the events of a selection, with its interval; arguments as for `count`."""
        return self.release.mean(self.amount.name, where=where, confidence=confidence)

    def __getitem__(self, family: Any) -> Any:
        """One family as a table: its labels, counts and sums, each with its margin behind it.

        Args:
            family: names of levels of the domain that was declared; "" for the total.

        Raises:
            NotDetermined, OutOfRange: as for `WorkloadRelease.total`.
        """
        domain, name = self.release.domain, self.amount.name
        chosen = domain.family(family)
        groups = [group_of(domain, chosen, place) for place in np.ndindex(domain.group_shape(chosen))]
        labels, columns = domain.group_labels(chosen), dict[str, Any]()
        if name in (*labels, "count", "count_margin"):
            raise OutOfRange("sums and counts are of both parts, by names of their own", came=repr(name))
        for column, weights, amount in (("count", self._one, None), (name, self._sum, self.amount)):
            answers = [self._answer(self._weighted(group, weights), None, amount) for group in groups]
            columns[column] = np.array([answer.value for answer in answers])
            columns[f"{column}_margin"] = np.array([answer.margin for answer in answers])
        return labelled(self.release.kind, labels, columns)

    @property
    def _one(self) -> list[Fraction]:
        """With what each part counts in the number of events."""
        low, high = self.amount.ends
        return [Fraction(1, high - low)] * 2

    @property
    def _sum(self) -> list[Fraction]:
        """With what each part counts in the sum, in steps: x = (x - l) + l, and l as often as there are events."""
        low, high = self.amount.ends
        return [Fraction(high, high - low), Fraction(low, high - low)]

    def _form(self, where: Where | None, weights: list[Fraction]) -> ProductForm:
        selection = {} if where is None else where
        if self.amount.name in selection:
            raise OutOfRange("sums and counts are of both parts", came=f"where={self.amount.name!r}")
        return self._weighted(selected(self.release.domain, selection), weights)

    def _weighted(self, form: ProductForm, weights: list[Fraction]) -> ProductForm:
        """The same with the two parts weighted."""
        domain, common = self.release.domain, lcm(*(weight.denominator for weight in weights))
        place, factors = domain.columns.index(self.amount.name), list(form.factors)
        factors[place] = factors[place] * np.array([int(weight * common) for weight in weights], dtype=object)
        return ProductForm(domain, tuple(factors), form.denominator * common)

    def _answer(self, form: ProductForm, confidence: Number | None, amount: Amount | None) -> Answer:
        release = self.release
        value = release.reconstruction.value(release.measured, form)
        sure = release.confidence if confidence is None else read_confidence(confidence)
        return answer_of(value, scaled(release.noise(form), 1 / self.amount.step), sure, amount)
