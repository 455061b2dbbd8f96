"""The mechanism with a column for each corner of a Euclidean lattice: a product of two mechanisms on counts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.mechanisms import ImplicitMechanism
from utmost.errors import OutOfRange
from utmost.exact import Array, Interval, Surd, frozen
from utmost.privacy import PrivacyType
from utmost.privacy.ratios import power_interval
from utmost.spaces import EuclideanGridMetric


@dataclass(frozen=True, slots=True, eq=False)
class LatticeMechanism(ImplicitMechanism):
    """M[(r, c), (i, j)] = g_i(r) h_j(c): the two-column geometric mechanisms of rows and columns at levels e p and e q.

    (p, q) is the direction of the diagonal; a side of one point has one column.

    Attributes:
        ptype: a Euclidean lattice of at least two points.
    """

    ptype: PrivacyType

    def __post_init__(self) -> None:
        metric = self.ptype.space.metric
        if not isinstance(metric, EuclideanGridMetric) or metric.size < 2:
            raise OutOfRange("the mechanism needs a Euclidean lattice of at least two points", came=self.ptype.space)

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        metric = self._metric
        return metric.size, min(2, metric.rows) * min(2, metric.cols)

    @property
    def matrix(self) -> Array:  # noqa: D102
        metric, epsilon = self._metric, self.ptype.level.epsilon_float
        diagonal = float(np.hypot(metric.rows - 1, metric.cols - 1))
        sides = [two_columns(side, epsilon * (side - 1) / diagonal) for side in (metric.rows, metric.cols)]
        return frozen(np.kron(*sides))

    def least(self) -> tuple[Fraction, Fraction]:
        """Bounds of the sum of the least entries of the columns: a^D where both sides are odd.

        Of 2m + 1 counts at alpha t it is t^m, of 2m + 2 counts 2 t^(m+1) / (1 + t); t = alpha^p.
        """
        metric, level, bits = self._metric, self.ptype.level, 384
        square = (metric.rows - 1) ** 2 + (metric.cols - 1) ** 2
        if metric.rows % 2 and metric.cols % 2:
            total = power_interval(level, (Surd.sqrt(square) * Fraction(1, 2)).simplified(), bits)
            return total.lower, total.upper
        total = Interval.of(1, bits)
        for side in (metric.rows, metric.cols):
            slope = (Surd.sqrt(square) * Fraction(side - 1, square)).simplified()
            steep = power_interval(level, (Surd.of(0) + slope * ((side + 1) // 2 - side % 2)).simplified(), bits)
            total = total * (steep if side % 2 else steep * 2 / (1 + power_interval(level, slope, bits)))
        return total.lower, total.upper

    @property
    def _metric(self) -> EuclideanGridMetric:
        metric = self.ptype.space.metric
        assert isinstance(metric, EuclideanGridMetric), "the constructor looked"
        return metric

    def __reduce__(self) -> tuple[Any, ...]:
        return LatticeMechanism, (self.ptype,)


def two_columns(side: int, epsilon: float) -> NDArray[np.float64]:
    """The geometric mechanism on counts, its columns merged by where they are least: (side, 2) or (1, 1)."""
    if side == 1:
        return np.ones((1, 1))
    half = np.arange(side // 2)
    t = np.exp(-epsilon)
    if side % 2:
        rising = np.exp(-epsilon * (side // 2 - half)) / 2
        first = np.concatenate([rising, [0.5], 1 - rising[::-1]])
    else:
        rising = np.exp(-epsilon * (side // 2 - half)) / (1 + t)
        first = np.concatenate([rising, 1 - rising[::-1]])
    return np.column_stack([first, 1 - first])
