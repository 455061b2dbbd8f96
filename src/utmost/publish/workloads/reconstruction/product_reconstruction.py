"""Estimate sums from noisy products of listed rows, one axis after another: exactly unbiased, in rationals.

Along an axis, let y0 be the noisy values, with weights D, and y_H the noisy sums by the rows H, with weights w. Least
squares is

    x^ = y0 + R (y_H - H y0),        R = D^-1 H' (H D^-1 H' + 1/w)^-1.

y_H - H y0 has mean zero for every x, so **the estimate is exactly unbiased for every R**. R is rounded to the same
binary digits on every machine. With several axes, these estimates are applied one axis after another. With one axis,
the estimate is least squares; with several, it is least squares if the weights of products are products of weights,
which holds for 1/variance at small levels. The weight of a class is the sum of the weights of all marginals that take
this class.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, Floats
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.measuring.product_rows import AxisRows, ProductRows
from utmost.publish.workloads.measuring.signed_axis import SignedAxis
from utmost.publish.workloads.reconstruction.certain_inverse import rounded_inverse
from utmost.publish.workloads.reconstruction.least_squares import not_cleanable, not_determined, read_weights
from utmost.tables.axes.domain import Domain, Marginal

_DIGITS = 60
_MOST_COEFFICIENTS = 10**7


@dataclass(frozen=True, slots=True, eq=False)
class ProductReconstruction:
    """Least squares as in `Reconstruction`, if products of listed rows are measured [woodbury1950]."""

    # Time of an estimate: for each axis the number of values times rows; for the first estimate also the cube of the
    # rows.
    rows: ProductRows
    weights: Mapping[Marginal, int]  # a positive integer for each marginal, proportional to the precision of its sums
    _along: tuple["_AxisSquares | _SignedSquares", ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if set(self.weights) != set(self.rows.shares):
            raise OutOfRange(
                "there must be a weight for each measured marginal, and no other weight", came="other weights"
            )
        object.__setattr__(self, "weights", read_weights(self.weights))
        along: list[_AxisSquares | _SignedSquares] = []
        for axis, listed in enumerate(self.rows.axes):
            classes = [0] * len(listed.places)
            for marginal, weight in self.weights.items():
                classes[self.rows.classes(marginal)[axis]] += weight
            if isinstance(listed, SignedAxis):
                along.append(_SignedSquares(listed, *listed.exact_estimates(classes)))
            else:
                along.append(_AxisSquares.of(listed, classes))
        object.__setattr__(self, "_along", tuple(along))

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductReconstruction, (self.rows, dict(self.weights))

    @property
    def domain(self) -> Domain:
        return self.rows.domain

    @property
    def place(self) -> int:
        """The index of the axis with the most values."""
        sizes = self.domain.shape
        return sizes.index(max(sizes, default=0)) if sizes else 0

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        self.check_marginal_determined(marginal)
        estimates, divisor = self.rows.joined(measured), 1
        for place, (axis, squares, level) in enumerate(zip(self.domain.axes, self._along, marginal, strict=True)):
            starts = np.searchsorted(axis.group_starts(squares.listed.level), axis.group_starts(level))
            estimates = squares.estimated(estimates, place, starts)
            divisor *= squares.divisor
        return estimates, divisor

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        self.check_determined(form)
        sums, divisor = self.rows.joined(measured), form.denominator
        for coefficients, squares in zip(self._coefficients(form), self._along, strict=True):
            sums = np.tensordot(coefficients, sums, axes=1)
            divisor *= squares.divisor
        return Fraction(int(sums), divisor)

    def check_marginal_determined(self, marginal: Marginal) -> None:
        if any(level < base for level, base in zip(marginal, self.rows.base, strict=True)):
            raise not_determined(self.domain, marginal, [self.rows.base])

    def check_determined(self, form: ProductForm) -> None:
        is_something = all(any(factor.tolist()) for factor in form.factors)
        if is_something and any(level < base for level, base in zip(form.marginal, self.rows.base, strict=True)):
            raise not_determined(self.domain, form.marginal, [self.rows.base])

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Return a different number for each group, since every group's error has its own distribution."""
        return np.arange(math.prod(self.domain.group_shape(marginal)), dtype=np.intp)

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        divisor = math.prod(squares.divisor for squares in self._along)
        below = [form.denominator * divisor for form in forms]
        of_forms = [self._coefficients(form) for form in forms]
        alike = [
            [
                Counter(zip(*(factors[axis][places].tolist() for factors in of_forms), strict=True))
                for places in listed.places
            ]
            for axis, listed in enumerate(self.rows.axes)
        ]
        terms = {}
        for marginal in self.weights:
            counted: dict[tuple[Fraction, ...], int] = {}
            classes = [of[number] for of, number in zip(alike, self.rows.classes(marginal), strict=True)]
            for picked in product(*(columns.items() for columns in classes)):
                times = math.prod(count for _, count in picked)
                sizes = [math.prod(column[which] for column, _ in picked) for which in range(len(forms))]
                if any(sizes):
                    key = tuple(Fraction(size, divisor) for size, divisor in zip(sizes, below, strict=True))
                    counted[key] = counted.get(key, 0) + times
            terms[marginal] = counted
        return terms

    def on_cells(self, measured: Mapping[Marginal, NDArray[Any]]) -> NoReturn:
        raise not_cleanable()

    def coefficients(self, marginal: Marginal, others: Sequence[int]) -> list[tuple[Marginal, Floats, int]]:
        """Return the coefficients of the measured noise in a marginal's sums along the longest axis, as floats."""
        sums = math.prod(self.domain.group_shape(marginal))
        if sums * math.prod(listed.entries for listed in self.rows.axes) > _MOST_COEFFICIENTS:
            remedy = "Use .total for single sums, or a table of fewer cells."
            raise Unsupported(
                "the margins of error of all cells can be computed only for a smaller table",
                came=f"{sums} sums",
                remedy=remedy,
            )
        along, beside = self.place, list(others)
        factors = []
        for place, (axis, squares, level) in enumerate(zip(self.domain.axes, self._along, marginal, strict=True)):
            groups = squares.float_groups(axis.group_starts(level), axis.group_starts(squares.listed.level))
            factors.append(groups if place == along else groups[[beside.pop(0)]])
        entering = []
        for measured in self.weights:
            total = np.ones((1, 1))
            for chosen, factor in zip(self.rows.places(measured), factors, strict=True):
                # One axis has a row for each sum, the other axes have one row: multiply row by row.
                part = factor[:, chosen]
                total = (total[:, :, None] * part[:, None, :]).reshape(max(len(total), len(part)), -1)
            entering.append((measured, total, 1))
        return entering

    def _coefficients(self, form: ProductForm) -> list[NDArray[Any]]:
        """Return a form's coefficients in the measured entries of each axis, times the axis' divisor."""
        coefficients = []
        for axis, squares, factor in zip(self.domain.axes, self._along, form.factors, strict=True):
            coefficients.append(squares.coefficients(factor[axis.group_starts(squares.listed.level)]))
        return coefficients


@dataclass(frozen=True, slots=True, eq=False)
class _AxisSquares:
    """The estimator along one axis, of its values and rows."""

    listed: AxisRows
    gain: Array  # R times 2^shift; (values, rows), Python integers
    shift: int

    @classmethod
    def of(cls, listed: AxisRows, classes: Sequence[int]) -> "_AxisSquares":
        """Compute the estimator for these weights of the classes."""
        count, values = listed.rows.shape
        if not count:
            return cls(listed, np.zeros((values, 0), dtype=object), 0)
        *own, of_rows = classes
        least = min(own)
        # The inverse of a weight far above the least one would have few digits, so add digits according to their ratio.
        digits = _DIGITS + max(0, max([*own, of_rows]).bit_length() - least.bit_length())
        inverse = np.zeros(values, dtype=object)
        for places, weight in zip(listed.places, own, strict=False):
            # Round halves up, in integers: the same on every machine. The estimate is unbiased for any rounding.
            inverse[places] = ((least << digits) + weight // 2) // weight
        H = listed.rows.astype(object)
        weighed = H * inverse
        products = weighed.dot(H.T)
        for row in range(count):
            products[row, row] += ((least << digits) + of_rows // 2) // of_rows
        shift = 2 * digits
        gain = weighed.T.dot(rounded_inverse(products, 1 << (digits + shift)))
        spare = shift + digits - _DIGITS
        half = 1 << (spare - 1)
        return cls(listed, (gain + half) >> spare, _DIGITS)

    @property
    def divisor(self) -> int:
        return 1 << self.shift

    def coefficients(self, factor: NDArray[Any]) -> NDArray[Any]:
        """Return a form's coefficients in the values, then in the rows, times 2^shift."""
        taken = np.asarray(factor, dtype=object)
        across = taken.dot(self.gain)
        return np.concatenate([taken * (1 << self.shift) - across.dot(self.listed.rows.astype(object)), across])

    def estimated(self, measured: NDArray[Any], place: int, starts: NDArray[np.intp]) -> NDArray[Any]:
        """Estimate sums of neighbouring values, times 2^shift, from an array of the axis' entries."""
        moved = np.moveaxis(measured, place, 0)
        own, across = moved[: self.listed.values], moved[self.listed.values :]
        groups = np.add.reduceat(own, starts, axis=0) * (1 << self.shift)
        if len(across):
            off = across - np.tensordot(self.listed.rows.astype(object), own, axes=1)
            groups = groups + np.tensordot(np.add.reduceat(self.gain, starts, axis=0), off, axes=1)
        return np.moveaxis(groups, 0, place)

    def float_groups(self, starts: NDArray[np.intp], base: NDArray[np.intp]) -> Floats:
        """Return the coefficients of sums over groups, as floats; (groups, entries)."""
        places = np.searchsorted(base, starts)
        gain = np.add.reduceat((self.gain / (1 << self.shift)).astype(np.float64), places, axis=0)
        whole = np.add.reduceat(np.eye(self.listed.values), places, axis=0)
        return np.concatenate([whole - gain @ self.listed.rows, gain], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class _SignedSquares:
    """The estimator along an axis of signed rows."""

    listed: SignedAxis
    gain: Array  # the matrix of the estimates times the divisor; (values, rows), Python integers
    divisor: int

    def coefficients(self, factor: NDArray[Any]) -> NDArray[Any]:
        """Return a form's coefficients in the rows, times the divisor."""
        return np.asarray(np.asarray(factor, dtype=object).dot(self.gain))

    def estimated(self, measured: NDArray[Any], place: int, starts: NDArray[np.intp]) -> NDArray[Any]:
        """Estimate sums of neighbouring values, times the divisor."""
        moved = np.moveaxis(measured, place, 0)
        groups = np.tensordot(np.add.reduceat(self.gain, starts, axis=0), moved, axes=1)
        return np.moveaxis(groups, 0, place)

    def float_groups(self, starts: NDArray[np.intp], base: NDArray[np.intp]) -> Floats:
        """Return the coefficients of sums over groups, as floats; (groups, rows)."""
        places = np.searchsorted(base, starts)
        return np.asarray(np.add.reduceat((self.gain / self.divisor).astype(np.float64), places, axis=0))
