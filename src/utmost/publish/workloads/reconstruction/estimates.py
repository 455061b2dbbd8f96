"""The protocol of all estimators that compute sums from measured sums."""

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
"""Least-squares problems for which clean tables can be computed: from sums over groups and hat functions."""


class LeastSquares(Protocol):
    """An estimator from measured marginals; it raises NotDetermined for anything that these do not determine."""

    @property
    def domain(self) -> Domain: ...

    @property
    def weights(self) -> Mapping[Marginal, int]:
        """For each measured marginal, its weight in the sum of squares."""

    def estimates(self, measured: Mapping[Marginal, NDArray[Any]], marginal: Marginal) -> tuple[NDArray[Any], int]:
        """Return the estimates of all sums of a marginal: integers, and their divisor."""

    def value(self, measured: Mapping[Marginal, NDArray[Any]], form: ProductForm) -> Fraction:
        """Return the estimate of one linear form."""

    def check_determined(self, form: ProductForm) -> None:
        """Check that the measured sums determine a linear form."""

    def check_marginal_determined(self, marginal: Marginal) -> None:
        """Check that the measured sums determine every sum of a marginal."""

    def kinds(self, marginal: Marginal) -> NDArray[np.intp]:
        """Return a number for each group of a marginal; equal numbers mean equal error distributions."""

    def terms(self, *forms: ProductForm) -> dict[Marginal, dict[tuple[Fraction, ...], int]]:
        """For each measured marginal, count the sums whose noise has the same coefficients in the forms' estimates."""

    def on_cells(
        self, measured: Mapping[Marginal, NDArray[Any]]
    ) -> tuple[SumSquares, dict[Marginal, tuple[NDArray[Any], int]]]:
        """Return a clean table's least-squares problem, and the sums of cells measured in it, with their divisors."""


@runtime_checkable
class CoefficientsAlong(LeastSquares, Protocol):
    """An estimator whose errors along one axis have a different distribution for nearly every sum."""

    @property
    def place(self) -> int:
        """The index of the axis along which the distributions differ."""

    def coefficients(self, marginal: Marginal, others: Sequence[int]) -> list[tuple[Marginal, Floats, int]]:
        """Return the coefficients of the measured sums' noise in the estimates of a marginal's sums along the axis.

        ``others`` has the index of one group on each other axis.
        """


def values_by(
    squares: LeastSquares, measured: Mapping[Marginal, NDArray[Any]], forms: Sequence[ProductForm]
) -> list[Fraction]:
    """Return the estimates of several linear forms, from one common estimate if the estimator can do this."""
    if isinstance(squares, Reconstruction | HatReconstruction):
        return squares.values(measured, forms)
    return [squares.value(measured, form) for form in forms]
