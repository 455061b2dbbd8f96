"""Mechanisms that are larger than what describes them.

Each is a similarity and some weights, has ``shape`` and ``matrix`` (formed when asked for), and can be given wherever a
channel is read.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, PickledByFields, frozen, is_exact, same_numbers, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, nearest
from utmost.core.exact.levels import Level, level
from utmost.core.exact.surds import Surd
from utmost.design.capacities.similarity import Similarity, row_sums
from utmost.design.channels.channel import Channel
from utmost.design.privacy_types.privacy_type import Length, PrivacyType, power_interval, power_intervals
from utmost.design.spaces.families import (
    DiscreteMetric,
    EuclideanGridMetric,
    HammingMetric,
    ManhattanGridMetric,
    counts,
)
from utmost.design.spaces.products import SumMetric
from utmost.design.spaces.space import Space
from utmost.errors import OutOfRange


def product_parts(ptype: PrivacyType) -> tuple[PrivacyType, ...] | None:
    """The types of the parts of a product, the part that moves fastest last; None where none are known.

    Columns v kron w of private columns are private, for alpha^d is the product of the parts' powers; and the steepest
    columns are of this form. So mechanisms and nonnegative duals of the parts multiply, and with them sum_y max_x M
    and sum_y min_x M.

    >>> from utmost.spaces import grid
    >>> [part.space.size for part in product_parts(PrivacyType(grid(2, 5, "manhattan"), 1))]
    [2, 5]
    """
    metric = ptype.space.metric
    match metric:
        case SumMetric():
            parts = Space(metric.first), Space(metric.second)
        case ManhattanGridMetric():
            parts = counts(metric.rows - 1), counts(metric.cols - 1)
        case EuclideanGridMetric() if 1 in (metric.rows, metric.cols):
            return (PrivacyType(counts(metric.size - 1), ptype.level),)
        case _:
            return None
    return tuple(PrivacyType(part, ptype.level) for part in parts)


DistanceCounts = dict[Length, int]
"""The number of secrets at each distance from a secret."""


def distance_profile(space: Space) -> DistanceCounts | None:
    """The distances that every secret sees, with their multiplicities; None where secrets see different ones.

    Vertex-transitive spaces have a profile, and so has every space whose rows of distances are permutations of each
    other. Cost: O(1) for equal distances and cubes, else O(n^2 log n).

    >>> from utmost.spaces import counts, hamming
    >>> [*distance_profile(hamming(3)).values()], distance_profile(counts(2))
    ([1, 3, 3, 1], None)
    """
    metric = space.metric
    if isinstance(metric, DiscreteMetric):
        distances: DistanceCounts = {Fraction(0): 1}
        return distances | ({Fraction(1): metric.k - 1} if metric.k > 1 else {})
    if isinstance(metric, HammingMetric):
        return {Fraction(k): comb(metric.bits, k) for k in range(metric.bits + 1)}
    some = np.unique([0, space.size // 2, space.size - 1])
    rows = np.sort(np.asarray(metric.distance(some[:, None], np.arange(space.size)[None, :])), axis=1)
    if (rows != rows[0]).any():
        return None
    similarity = Similarity.of(
        PrivacyType(space, level(1))
    )  # the level does not matter: only the kinds of distances do
    counts = np.sort(similarity.kinds, axis=1)
    if (counts != counts[0]).any():
        return None
    return dict(
        zip(similarity.lengths, np.bincount(counts[0], minlength=len(similarity.lengths)).tolist(), strict=True)
    )


def profile_sum(at: Level, profile: DistanceCounts, sign: int) -> Fraction | Interval:
    """sum_d count(d) alpha^(sign d): a Fraction where all terms are, else an interval."""
    scaled = [(at.scaled(d) if d and isinstance(d, Fraction) else None, d, count) for d, count in profile.items()]
    if all(isinstance(d, Fraction) and (s is None or s.is_rational) for s, d, _ in scaled):
        powers = ((s.alpha_fraction() if s else Fraction(1), count) for s, _, count in scaled)
        return sum((count * (p if sign > 0 else 1 / p) for p, count in powers), Fraction(0))
    # Powers begin with so many zeros in binary: as many bits more.
    zeros = max(int(3 * at.epsilon_float * float(d)) for d in profile) + 2
    bits = 256 + 2 * zeros + max(profile.values()).bit_length()
    total = Interval.of(0, bits)
    for count, power in zip(profile.values(), power_intervals(at, tuple(profile), bits), strict=True):
        total = total + (power if sign > 0 else 1 / power) * count
    return total


class ImplicitMechanism(Display, PickledByFields, ABC):
    """A channel that is written down as a matrix only when someone asks for it.

    Attributes:
        ptype: Privacy type that it keeps.
    """

    __slots__ = ()

    ptype: PrivacyType

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """The whole matrix, read-only: Fractions where every entry is rational, else float64. Cost: O(n m)."""

    def channel(self) -> Channel:
        """The mechanism as a channel. Cost: O(n m)."""
        return Channel(self.matrix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.matrix, dtype=dtype)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimilarityMechanism(ImplicitMechanism):
    """M[x, j] = alpha^(sign d(x, j)) weights[j], and, where it has a rest, one more column that makes rows sum to 1.

    Attributes:
        ptype: n secrets.
        weights: (n,) nonnegative Fractions.
        sign: 1 or -1.
        has_rest: Whether the mechanism has the column 1 - sum_j M[., j].
    """

    ptype: PrivacyType
    weights: Array
    sign: int = 1
    has_rest: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights.copy()))

    @property
    def shape(self) -> tuple[int, int]:
        return self.ptype.space.size, len(self.weights) + self.has_rest

    @property
    def matrix(self) -> Array:
        similarity = Similarity.of(self.ptype).matrix(self.sign)
        columns = similarity * (self.weights if is_exact(similarity) else to_floats(self.weights))
        if not self.has_rest:
            return frozen(columns)
        low, high = row_sums(self.ptype, self.weights, self.sign)
        # A rest far below the last place of the row sums is still a column of its own: it is not read off floats.
        rest = np.array([1 - (below + above) / 2 for below, above in zip(low, high, strict=True)], dtype=object)
        rest = rest if is_exact(columns) else np.maximum(rest.astype(np.float64), 0.0)
        return frozen(np.concatenate([columns, rest[:, None]], axis=1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniformMechanism(ImplicitMechanism):
    """M[x, j] = alpha^(sign d(x, j)) / s where every secret sees the same distances, so that all rows have one sum s.

    Sign 1 is randomised response on equally distant secrets, sign -1 its dual.

    Attributes:
        ptype: n secrets that are alike.
        sign: 1 or -1.
    """

    ptype: PrivacyType
    sign: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        return self.ptype.space.size, self.ptype.space.size

    @property
    def matrix(self) -> Array:
        profile = distance_profile(self.ptype.space)
        assert profile is not None, "the secrets of a uniform mechanism are alike"
        total = profile_sum(self.ptype.level, profile, self.sign)
        similarity = Similarity.of(self.ptype).matrix(self.sign)
        if is_exact(similarity) and isinstance(total, Fraction):
            return frozen(similarity / total)
        return frozen(to_floats(similarity) / nearest(total))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProductMechanism(ImplicitMechanism):
    """M = A kron B kron ...: each part of the secret is answered by its own mechanism, independently.

    Attributes:
        parts: Mechanisms; the last part of the secret moves fastest.
    """

    parts: "tuple[CapacityMechanism, ...]"

    @property
    def shape(self) -> tuple[int, int]:
        rows, cols = (int(np.prod(sizes)) for sizes in zip(*(part.shape for part in self.parts), strict=True))
        return rows, cols

    @property
    def matrix(self) -> Array:
        return frozen(reduce(np.kron, same_numbers(*(part.matrix for part in self.parts))))


CapacityMechanism = Channel | ImplicitMechanism
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, repr=False)
class EnvelopeFacts(Display):
    """Bounds of the sums of an envelope's columns.

    Attributes:
        least, most: Least and the largest sum of a row, from below and from above.
        largest: At most the sum of the columns' largest entries.
        smallest: At least the sum of the columns' smallest entries.
    """

    least: Fraction
    most: Fraction
    largest: Fraction
    smallest: Fraction


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EnvelopeMechanism(ImplicitMechanism):
    """M[x, c] = max over y of alpha^d(x, y) heights[y, c], and one more column that makes the rows sum to 1.

    A column is the least private one above its heights: heights that are private but for their rounding are hardly
    moved. Whatever the numbers, only the last column has to be looked at.

    Attributes:
        ptype: n secrets.
        heights: (n, k) nonnegative float64.
    """

    ptype: PrivacyType
    heights: NDArray[np.float64]

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=np.float64)
        if heights.ndim != 2 or len(heights) != self.ptype.space.size:
            raise OutOfRange("an envelope needs a row of heights for each secret", came=heights.shape)
        if not ((heights >= 0) & (heights <= 1)).all():
            raise OutOfRange("heights must lie between 0 and 1", came="another one")
        object.__setattr__(self, "heights", frozen(heights))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.heights), self.heights.shape[1] + 1

    @property
    def matrix(self) -> Array:
        columns = self.columns()
        return frozen(np.column_stack([columns, np.maximum(1 - columns.sum(axis=1), 0.0)]))

    def columns(self) -> NDArray[np.float64]:
        """The columns but the last, (n, k); each entry is right to six units of roundoff. Cost: O(n^2 k)."""
        similarity = Similarity.of(self.ptype)
        middles = [(power.lower + power.upper) / 2 for power in similarity.intervals(1100)]
        powers = np.array([float(middle) for middle in middles])
        n, k = self.heights.shape
        columns = np.empty((n, k))
        step = max(1, _BLOCK // (n * k))
        for start in range(0, n, step):
            block = powers[similarity.kinds[start : start + step]]
            columns[start : start + step] = (block[:, :, None] * self.heights).max(axis=1)
        return columns

    def facts(self) -> "EnvelopeFacts":
        """The sums of all columns but the last, rounded outward.

        A power is right to one unit of roundoff of its own and a product to another; k additions add one each.
        """
        columns = self.columns()
        error, tiny = Fraction(self.heights.shape[1] + 8, 1 << 53), Fraction(1, 1 << 900)
        sums = columns.sum(axis=1)
        largest = sum(map(Fraction, self.heights.max(axis=0).tolist()), Fraction(0))
        smallest = sum(map(Fraction, columns.min(axis=0).tolist()), Fraction(0))
        return EnvelopeFacts(
            Fraction(float(sums.min())) * (1 - error) - tiny,
            Fraction(float(sums.max())) * (1 + error) + tiny,
            largest,
            smallest * (1 + error) + tiny * self.heights.shape[1],
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LatticeMechanism(ImplicitMechanism):
    """M[(r, c), (i, j)] = g_i(r) h_j(c): the two-column geometric mechanisms of rows and columns at levels e p and e q.

    (p, q) is the direction of the diagonal; a side of one point has one column.

    Attributes:
        ptype: Euclidean lattice of at least two points.
    """

    ptype: PrivacyType

    def __post_init__(self) -> None:
        metric = self.ptype.space.metric
        if not isinstance(metric, EuclideanGridMetric) or metric.size < 2:
            raise OutOfRange("the mechanism needs a Euclidean lattice of at least two points", came=self.ptype.space)

    @property
    def shape(self) -> tuple[int, int]:
        metric = self._metric
        return metric.size, min(2, metric.rows) * min(2, metric.cols)

    @property
    def matrix(self) -> Array:
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
