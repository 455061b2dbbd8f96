"""The protocol of all estimates from measured sums."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.publish.workloads.reconstruction.hat_reconstruction import HatReconstruction
from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
from utmost.publish.workloads.reconstruction.tree_reconstruction import TreeReconstruction
from utmost.tables.axes.domain import Domain, Marginal

SumSquares = Reconstruction | TreeReconstruction | HatReconstruction
"""Least squares that `clean` can minimise: from sums of groups and hat functions."""


class LeastSquares(Protocol):
    """Estimates from measured marginals; every method refuses (NotDetermined) what the sums do not determine."""

    @property
    def domain(self) -> Domain: ...

    @property
    def weights(self) -> Mapping[Marginal, int]:
        """The weight of each measured marginal."""

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        """The estimates of all sums of a marginal: integers, and their divisor."""

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        """The estimate of one linear form."""

    def check_determined(self, form: ProductForm) -> None:
        """Check that the measured sums determine a linear form."""

    def check_marginal_determined(self, marginal: Marginal) -> None:
        """Check that the measured sums determine every sum of a marginal."""

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """A number for each group of a marginal, equal for groups whose errors have one distribution."""

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        """For each measured marginal, the coefficients of its noise in the forms, and how often each occurs."""

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[SumSquares, dict[Marginal, tuple[NDArray[Any], int]]]:
        """Least squares over sums of cells for clean tables, with measured sums and divisors, if possible."""


@runtime_checkable
class CoefficientsAlong(LeastSquares, Protocol):
    """Estimates where nearly every sum along one axis has a different distribution of its error."""

    @property
    def place(self) -> int:
        """The index of the axis."""

    def coefficients(self, marginal: Marginal, others: Sequence[int]) -> list[tuple[Marginal, Floats, int]]:
        """The coefficients of measured noise in a marginal's sums along the axis, at indices of the others."""


def values_by(
    squares: LeastSquares, measured: Mapping[Marginal, NDArray[Any]], forms: Sequence[ProductForm]
) -> list[Fraction]:
    """The estimates of several linear forms; faster together where all come from one estimate."""
    if isinstance(squares, Reconstruction | HatReconstruction):
        return squares.values(measured, forms)
    return [squares.value(measured, form) for form in forms]
