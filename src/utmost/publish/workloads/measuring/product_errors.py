r"""The error of products of listed rows: of a workload whose Gram matrix is a sum of products of one matrix each axis.

    sum over the classes of v(E s_1 s_2 ...) b_1 b_2 ...,    b = the sum over a class of diag(B' M B),

with the estimates B of each axis and the shares s. Source: [mckenna2018], OPT_x and OPT_+.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Family

MOST_VALUES = 1100
"""Along an axis of more values no rows are searched."""

_SILENT = 100.0  # where weights stop to differ, see `precision_weights`


def product_variances(
    workload: Workload, rows: ProductRows, shares: Mapping[Family, Fraction], level: float
) -> dict[str, float]:
    """The mean variance of each part's answers."""
    weighted = ProductErrors.of(workload, rows.base).weighted(rows, shares, level)
    return {part.name: error / float(part.weight) for part, error in zip(workload.parts, weighted, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class ProductErrors:
    """A workload as matrices along each axis, and the errors of rows for it.

    Attributes:
        workload: the sums that are wanted.
        base: Level of each axis whose groups are measured by themselves.
        grams: Sum of w w' over the rows of each part along each axis, in groups of the base.
    """

    workload: Workload
    base: Family
    grams: tuple[tuple[Floats, ...], ...]

    @classmethod
    def of(cls, workload: Workload, base: Family | None = None) -> "ProductErrors":
        """The matrices of a workload; the base is the coarsest level that determines it where none is named."""
        families = [part.family(workload.domain) for part in workload.parts]
        coarsest = tuple(map(min, *families)) if len(families) > 1 else families[0]
        chosen = coarsest if base is None else base
        if any(level > wanted for level, wanted in zip(chosen, coarsest, strict=True)):
            raise OutOfRange("the measured families must determine every wanted answer", came="coarser ones")
        grams = []
        for part in workload.parts:
            of_part = []
            for sums, axis, level in zip(part.sums, workload.domain.axes, chosen, strict=True):
                if axis.size > MOST_VALUES:
                    raise Unsupported(
                        f"rows are listed along axes of at most {MOST_VALUES} values",
                        came=axis.size,
                        where=axis.levels[0],
                    )
                starts = axis.group_starts(level)
                of_part.append(sums.gram(axis)[np.ix_(starts, starts)])
            grams.append(tuple(of_part))
        return cls(workload, chosen, tuple(grams))

    @property
    def weights(self) -> Floats:
        """How much the sum of the variances of each part's answers counts."""
        return np.array([float(part.weight / part.answers) for part in self.workload.parts])

    def weighted(self, rows: ProductRows, shares: Mapping[Family, Fraction], level: float) -> list[float]:
        """The weight of each part times the mean variance of its answers."""
        levels = np.empty([len(listed.places) for listed in rows.axes])
        for family, share in shares.items():
            levels[rows.classes(family)] = float(share) * level
        weights = row_precision(np.minimum(levels, _SILENT))
        with np.errstate(over="ignore", divide="ignore"):
            variances = 1 / row_precision(levels)
        axes = range(levels.ndim)
        estimates = [
            listed.float_estimates(weights.sum(axis=tuple(other for other in axes if other != place)))
            for place, listed in enumerate(rows.axes)
        ]
        errors = []
        for weight, of_part in zip(self.weights, self.grams, strict=True):
            error = variances
            for gram, B, listed in zip(of_part, estimates, rows.axes, strict=True):
                squares = ((gram @ B) * B).sum(axis=0)
                across = np.array([squares[places].sum() for places in listed.places])
                error = np.tensordot(across, error, axes=1)
            errors.append(float(weight * error))
        return errors


def row_precision(levels: Floats) -> Floats:
    """1/variance of geometric noise at the levels of rows; beyond 1400 as there."""
    return np.asarray(2 * np.sinh(np.minimum(levels, 1400.0) / 2) ** 2)
