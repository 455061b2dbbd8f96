"""Least squares from sums and differences of two columns: each side by itself, a cell is half of their sum."""

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
from utmost.tables.axes.domain import Domain, Family

_FLOATS_UP_TO = 1 << 53


@dataclass(frozen=True, slots=True, eq=False)
class RotatedReconstruction:
    """`Reconstruction` where families without the axis of a pair measure sums, and those with it differences.

    The two kinds have noises of their own and nothing in common, so least squares of both is that of each.

    Args:
        pair: the axis of two values, and its domain.
        weights: Positive integer for each measured family.
    """

    pair: PairAxis
    weights: Mapping[Family, int]
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
        """The domain of the cells."""
        return self.pair.domain

    def estimates(self, measured: Mapping[Family, NDArray[Any]], family: Family) -> tuple[NDArray[Any], int]:
        """Least squares of the sums over a family, see `Reconstruction.estimates`."""
        self.check_family_determined(family)
        row, split_sums = self.pair.of_rows(family), self.pair.split(measured)
        halves = [
            side.estimates(of, row)
            for side, of in zip(self._sides[: self._needed(family)], split_sums, strict=False)
            if side is not None
        ]
        if len(halves) == 1:
            return halves[0]
        common = 2 * math.lcm(*(divisor for _, divisor in halves))
        kind = object if any(largest_size(sums) * common >= 1 << 61 for sums, _ in halves) else np.int64
        total, apart = (sums.astype(kind) * (common // (2 * divisor)) for sums, divisor in halves)
        return np.concatenate([total + apart, total - apart], axis=self.pair.place), common

    def value(self, measured: Mapping[Family, NDArray[Any]], form: ProductForm) -> Fraction:
        """Least squares of one answer."""
        self.check_determined(form)
        split_sums, value = self.pair.split(measured), Fraction(0)
        for side, of, half in zip(self._sides, split_sums, self._halves(form), strict=True):
            if side is not None and _is_wanted(half):
                value += side.value(of, half)
        return value

    def check_family_determined(self, family: Family) -> None:
        """Check that the measured sums and differences determine every sum over a family."""
        for side in self._sides[: self._needed(family)]:
            if side is None:
                raise not_determined(self.domain, family, self.weights)
            side.check_family_determined(self.pair.of_rows(family))

    def check_determined(self, form: ProductForm) -> None:
        """Check that the measured sums and differences determine an answer."""
        for side, half in zip(self._sides, self._halves(form), strict=True):
            if side is None and _is_wanted(half):
                raise not_determined(self.domain, form.family, self.weights)
            if side is not None:
                side.check_determined(half)

    def kinds(self, family: Family) -> NDArray[np.intp]:
        """A number for each group of a family, equal where errors have one law; the two cells of a row have one."""
        rows = next(side for side in self._sides if side is not None).kinds(self.pair.of_rows(family))
        shaped = rows.reshape(self.pair.rows.group_shape(self.pair.of_rows(family)))
        return np.repeat(shaped, self._needed(family), axis=self.pair.place).ravel()

    def terms(self, *forms: ProductForm) -> dict[Family, dict[tuple[Fraction, ...], int]]:
        """The answers as sums of the noises of sums and differences, see `Reconstruction.terms`."""
        halves = zip(*(self._halves(form) for form in forms), strict=True)
        noise_terms = {}
        for side, half, named in zip(self._sides, halves, (self.pair.of_sums, self.pair.of_differences), strict=True):
            for family, terms in {} if side is None else side.terms(*half).items():
                noise_terms[named(family)] = terms
        return noise_terms

    def on_cells(
        self, measured: Mapping[Family, NDArray[Any]]
    ) -> tuple[Reconstruction, dict[Family, tuple[NDArray[Any], int]]]:
        """Least squares over sums of cells in the place of this one, with its `estimates` as measured sums.

        Weights q_+ of a family's sums and q_- of its differences are those of cells' sums at 2 q_-, and of the sums at
        q_+ - q_- beside them. Where q_- is the larger they are taken at 2 q_+: differences count less then.
        """
        weights: dict[Family, int] = {}
        sums, differences = self.pair.split(self.weights)
        for row in {**sums, **differences}:
            more, less = sums.get(row, 0), differences.get(row, 0)
            weights[self.pair.of_differences(row)] = 2 * min(more, less)
            weights[self.pair.of_sums(row)] = max(0, more - less)
        positive = {family: weight for family, weight in weights.items() if weight}
        estimates = {family: self.estimates(measured, family) for family in positive}
        return Reconstruction(self.domain, positive), estimates

    def _needed(self, family: Family) -> int:
        """1 where sums alone say it, 2 where differences are needed, too."""
        return 2 if self.pair.is_difference(family) else 1

    def _halves(self, form: ProductForm) -> tuple[ProductForm, ProductForm]:
        """The coefficients of an answer in the sums and in the differences: (c_1 + c_2)/2 and (c_1 - c_2)/2."""
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
def _rebuilt(domain: Domain, name: str, weights: Mapping[Family, int]) -> RotatedReconstruction:
    return RotatedReconstruction(PairAxis.of(domain, name), weights)


def _is_wanted(form: ProductForm) -> bool:
    return all(any(factor.tolist()) for factor in form.factors)


def numbers_of(sums: NDArray[Any], divisor: int) -> NDArray[Any]:
    """The estimates as integers where they are, else as floats, or as fractions where floats lose a whole digit."""
    if divisor == 1:
        return sums
    if largest_size(sums) < _FLOATS_UP_TO * divisor:
        return np.asarray(sums.astype(np.float64) / divisor)
    exactly = [Fraction(estimate) / divisor for estimate in sums.ravel().tolist()]
    return np.array(exactly, dtype=object).reshape(sums.shape)
