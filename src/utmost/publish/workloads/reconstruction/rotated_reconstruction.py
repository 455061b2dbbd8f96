"""Least squares from measured sums x and differences y of two columns, separately: cells are (x + y)/2, (x - y)/2."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import largest_size, unpickler
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction, not_determined
from utmost.tables.axes.domain import Domain, Marginal

_FLOATS_UP_TO = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class RotatedReconstruction:
    """Least squares as in `Reconstruction`, if sums and differences along the axis of a pair are measured."""

    # Sums and differences have independent noise and no common parameters, so each is estimated by its own least
    # squares.
    pair: PairAxis
    weights: Mapping[Marginal, int]  # a positive integer for each measured marginal
    _sides: tuple[Reconstruction | None, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", dict(self.weights))
        rows = self.pair.rows
        sides = (Reconstruction(rows, of) if of else None for of in self.pair.split(self.weights))
        object.__setattr__(self, "_sides", tuple(sides))

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.pair.domain, self.pair.name, dict(self.weights))

    @property
    def domain(self) -> Domain:
        return self.pair.domain

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        self.check_marginal_determined(marginal)
        row, split_sums = self.pair.of_rows(marginal), self.pair.split(measured)
        halves = [
            side.estimates(of, row)
            for side, of in zip(self._sides[: self._needed(marginal)], split_sums, strict=False)
            if side is not None
        ]
        if len(halves) == 1:
            return halves[0]
        common = 2 * math.lcm(*(divisor for _, divisor in halves))
        kind = object if any(largest_size(sums) * common >= 1 << 61 for sums, _ in halves) else np.int64
        total, difference = (sums.astype(kind) * (common // (2 * divisor)) for sums, divisor in halves)
        return np.concatenate([total + difference, total - difference], axis=self.pair.place), common

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        split_sums, value = self.pair.split(measured), Fraction(0)
        for side, of, half in zip(self._sides, split_sums, self._halves(form), strict=True):
            if side is not None and _is_wanted(half):
                value += side.value(of, half)
        return value

    def check_marginal_determined(self, marginal: Marginal) -> None:
        for side in self._sides[: self._needed(marginal)]:
            if side is None:
                raise not_determined(self.domain, marginal, self.weights)
            side.check_marginal_determined(self.pair.of_rows(marginal))

    def check_determined(self, form: ProductForm) -> None:
        for side, half in zip(self._sides, self._halves(form), strict=True):
            if side is None and _is_wanted(half):
                raise not_determined(self.domain, form.marginal, self.weights)
            if side is not None:
                side.check_determined(half)

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Return a number for each group; groups with the same number have errors with the same distribution."""
        rows = next(side for side in self._sides if side is not None).kinds(self.pair.of_rows(marginal))
        shaped = rows.reshape(self.pair.rows.group_shape(self.pair.of_rows(marginal)))
        return np.repeat(shaped, self._needed(marginal), axis=self.pair.place).ravel()

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        halves = zip(*(self._halves(form) for form in forms), strict=True)
        noise_terms = {}
        for side, half, named in zip(self._sides, halves, (self.pair.of_sums, self.pair.of_differences), strict=True):
            for marginal, terms in {} if side is None else side.terms(*half).items():
                noise_terms[named(marginal)] = terms
        return noise_terms

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[Reconstruction, dict[Marginal, tuple[NDArray[Any], int]]]:
        """Return the least-squares problem of a clean table, in sums of cells, and the estimates of these sums."""
        # A weight q_+ of the sums and q_- of the differences is the same as a weight 2 q_- of each column's sums and
        # q_+ - q_- of the sums. If q_- is larger, each column's sums get the weight 2 q_+, and differences count less
        # than in least squares.
        weights: dict[Marginal, int] = {}
        sums, differences = self.pair.split(self.weights)
        for row in {**sums, **differences}:
            more, less = sums.get(row, 0), differences.get(row, 0)
            weights[self.pair.of_differences(row)] = 2 * min(more, less)
            weights[self.pair.of_sums(row)] = max(0, more - less)
        positive = {marginal: weight for marginal, weight in weights.items() if weight}
        estimates = {marginal: self.estimates(measured, marginal) for marginal in positive}
        return Reconstruction(self.domain, positive), estimates

    def _needed(self, marginal: Marginal) -> int:
        """Return 1 if sums determine a marginal, 2 if it needs differences, too."""
        return 2 if self.pair.is_difference(marginal) else 1

    def _halves(self, form: ProductForm) -> tuple[ProductForm, ProductForm]:
        """Return a form's coefficients in the sums, (c_1 + c_2)/2, and in the differences, (c_1 - c_2)/2."""
        place = self.pair.place
        first, second = form.factors[place].tolist()
        halves = [
            replace(
                form,
                domain=self.pair.rows,
                factors=(*form.factors[:place], np.array([factor], dtype=object), *form.factors[place + 1 :]),
                denominator=2 * form.denominator,
            )
            for factor in (first + second, first - second)
        ]
        return halves[0], halves[1]


@unpickler
def _rebuilt(domain: Domain, name: str, weights: Mapping[Marginal, int]) -> RotatedReconstruction:
    return RotatedReconstruction(PairAxis.of(domain, name), weights)


def _is_wanted(form: ProductForm) -> bool:
    return all(any(factor.tolist()) for factor in form.factors)


def numbers_of(sums: NDArray[Any], divisor: int) -> NDArray[Any]:
    """Return the estimates as integers if possible, else as floats; as Fractions if floats lose integer digits."""
    if divisor == 1:
        return sums
    if largest_size(sums) < _FLOATS_UP_TO * divisor:
        return np.asarray(sums.astype(np.float64) / divisor)
    exactly = [Fraction(estimate) / divisor for estimate in sums.ravel().tolist()]
    return np.array(exactly, dtype=object).reshape(sums.shape)
