"""The error of plans that measure products of listed rows, from the workload's Gram matrices along each axis.

    sum over the classes of v(E s_1 s_2 ...) b_1 b_2 ...,    b = the sum over a class of diag(B' M B),

with the least-squares estimates B and the shares s of each axis, and the variance v of geometric noise. Source:
[mckenna2018], OPT_x and OPT_+.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

MOST_VALUES_WITH_ROWS = 1100  # the largest number of values of an axis along which rows are searched

_SILENT = 100.0  # higher levels get the weight of this level, see `precision_weights`


def product_variances(
    workload: Workload, rows: ProductRows, shares: Mapping[Marginal, Fraction], level: float
) -> dict[str, float]:
    weighted = ProductErrors.of(workload, rows.base).weighted(rows, shares, level)
    return {part.name: error / float(part.weight) for part, error in zip(workload.parts, weighted, strict=True)}


@dataclass(frozen=True, slots=True, eq=False)
class ProductErrors:
    """The Gram matrices of a workload along each axis, and the errors of plans with listed rows."""

    workload: Workload
    base: Marginal  # for each axis, the level whose groups are measured one by one
    # for each part and axis, the sum of w w' over the rows w, in groups of the base
    grams: tuple[tuple[Floats, ...], ...]

    @classmethod
    def of(cls, workload: Workload, base: Marginal | None = None) -> "ProductErrors":
        """Compute the Gram matrices; ``base`` is by default the coarsest marginal that determines the workload."""
        marginals = [part.marginal(workload.domain) for part in workload.parts]
        coarsest = tuple(map(min, *marginals)) if len(marginals) > 1 else marginals[0]
        chosen = coarsest if base is None else base
        if any(level > wanted for level, wanted in zip(chosen, coarsest, strict=True)):
            raise OutOfRange("the measured tables must determine every wanted answer", came="coarser tables")
        grams = []
        for part in workload.parts:
            of_part = []
            for sums, axis, level in zip(part.sums, workload.domain.axes, chosen, strict=True):
                if axis.size > MOST_VALUES_WITH_ROWS:
                    raise Unsupported(
                        f"an axis with listed rows must have at most {MOST_VALUES_WITH_ROWS} values",
                        came=axis.size,
                        where=axis.levels[0],
                    )
                starts = axis.group_starts(level)
                of_part.append(sums.gram(axis)[np.ix_(starts, starts)])
            grams.append(tuple(of_part))
        return cls(workload, chosen, tuple(grams))

    @property
    def weights(self) -> Floats:
        """For each part, the weight of the variance of one of its answers."""
        return np.array([float(part.weight / part.answers) for part in self.workload.parts])

    def weighted(self, rows: ProductRows, shares: Mapping[Marginal, Fraction], level: float) -> list[float]:
        """For each part, return its weight times the mean variance of its answers."""
        levels = np.empty([len(listed.places) for listed in rows.axes])
        for marginal, share in shares.items():
            levels[rows.classes(marginal)] = float(share) * level
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
    """Return 1/variance of geometric noise at these levels; levels above 1400 count as 1400."""
    return np.asarray(2 * np.sinh(np.minimum(levels, 1400.0) / 2) ** 2)
