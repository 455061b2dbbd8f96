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
from utmost.tables.axes.domain import Domain, Family

SumSquares = Reconstruction | TreeReconstruction | HatReconstruction
"""Least squares from sums of groups and hat functions, over which `clean` minimises."""


class LeastSquares(Protocol):
    """Estimates from measured families, whatever these are: what a release, its bars and its documents need of them.

    Raises:
        NotDetermined: from every method, where the measured sums do not determine what is asked for.
    """

    @property
    def domain(self) -> Domain:
        """The domain."""

    @property
    def weights(self) -> Mapping[Family, int]:
        """The weight of each measured family."""

    def estimates(self, measured: Mapping[Family, NDArray[Any]], family: Family) -> tuple[NDArray[Any], int]:
        """All sums over a family: integers, and what they are to be divided by."""

    def value(self, measured: Mapping[Family, NDArray[Any]], form: ProductForm) -> Fraction:
        """One answer."""

    def check_determined(self, form: ProductForm) -> None:
        """Check that the measured sums determine an answer."""

    def check_family_determined(self, family: Family) -> None:
        """Check that they determine every sum over a family."""

    def kinds(self, family: Family) -> NDArray[np.intp]:
        """A number for each group of a family, equal for groups whose errors have one law."""

    def terms(self, *forms: ProductForm) -> dict[Family, dict[tuple[Fraction, ...], int]]:
        """The answers as sums of the measured families' noises: which coefficients, and how often each occurs."""

    def on_cells(
        self, measured: Mapping[Family, NDArray[Any]]
    ) -> tuple[SumSquares, dict[Family, tuple[NDArray[Any], int]]]:
        """Least squares over sums of cells that clean tables are made by, with its measured sums and their divisors.

        Raises:
            Unsupported: where other than groups, hat functions and rotated sums are measured.
        """


@runtime_checkable
class CoefficientsAlong(LeastSquares, Protocol):
    """Estimates of which nearly every one along an axis has an error of its own law."""

    @property
    def place(self) -> int:
        """The place of the axis."""

    def coefficients(self, family: Family, others: Sequence[int]) -> list[tuple[Family, Floats, int]]:
        """The coefficients of the measured noises in the sums of a family along the axis, at places of the others."""


def values_by(
    squares: LeastSquares, measured: Mapping[Family, NDArray[Any]], forms: Sequence[ProductForm]
) -> list[Fraction]:
    """Several answers, from one estimate where that is known how.

    Raises:
        NotDetermined: where the measured sums do not determine one of them.
    """
    if isinstance(squares, Reconstruction):
        return squares.values(measured, forms)
    return [squares.value(measured, form) for form in forms]
