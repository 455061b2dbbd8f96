"""Store mechanisms of large types as weights of powers alpha^d; their matrices are computed when needed.

Each mechanism has ``shape`` and ``matrix``, and can be passed wherever a channel is accepted.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, PickledByFields, frozen, is_exact, objects, same_numbers, to_floats
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
    """Return the privacy types of the parts of a product space that lists secrets with the last part varying fastest;
    else None.
    """
    # Distances of parts add up, so alpha^d is the product of the powers of the parts. So if columns v and w are
    # private, v kron w is private. The columns alpha^d(., j) and 1 / alpha^d(., j) have this form. Hence mechanisms,
    # nonnegative duals, sum_y max_x M[x, y] and sum_y min_x M[x, y] of the parts multiply.
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
"""The number of secrets at each distance from one secret, by distance."""


def distance_profile(space: Space) -> DistanceCounts | None:
    """Return the number of secrets at each distance from a secret, if these numbers are the same for every secret; else
    None.
    """
    # Every vertex-transitive space has a profile. Cost: O(1) for equal distances and Hamming cubes, else O(n^2 log n).
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
    # any level will do, because only the distances are used
    similarity = Similarity.of(PrivacyType(space, level(1)))
    counts = np.sort(similarity.kinds, axis=1)
    if (counts != counts[0]).any():
        return None
    return dict(
        zip(similarity.lengths, np.bincount(counts[0], minlength=len(similarity.lengths)).tolist(), strict=True)
    )


# The smallest positive float is 2^-1074, so these bits determine the float nearest to any number up to 1.
_BITS_OF_ANY_FLOAT = 1200


def profile_shares(at: Level, profile: DistanceCounts, sign: int) -> dict[Length, Fraction] | dict[Length, Interval]:
    """Return alpha^(sign d) / s for each distance d, where s is the sum of alpha^(sign d) over the distances from one
    secret to all secrets: Fractions if all powers are rational, else intervals.
    """
    scaled = [(at.scaled(d) if d and isinstance(d, Fraction) else None, d) for d in profile]
    if all(isinstance(d, Fraction) and (s is None or s.is_rational) for s, d in scaled):
        powers = {d: s.alpha_fraction() ** sign if s else Fraction(1) for s, d in scaled}
        whole = sum((count * powers[d] for d, count in profile.items()), Fraction(0))
        return {d: power / whole for d, power in powers.items()}
    # For sign -1 every power is multiplied by alpha^D, with the largest distance D: numbers up to 1 need no more bits
    # at a high level.
    farthest = max(profile)
    steps = tuple(profile if sign > 0 else (_difference(farthest, d) for d in profile))
    zeros = min(3 * at.epsilon_float * float(farthest), _BITS_OF_ANY_FLOAT)
    bits = 256 + int(zeros) + max(profile.values()).bit_length()
    around = power_intervals(at, steps, bits)
    total = Interval.of(0, bits)
    for count, power in zip(profile.values(), around, strict=True):
        total = total + power * count
    return {d: power / total for d, power in zip(profile, around, strict=True)}


def _difference(first: Length, second: Length) -> Length:
    gap = first - second
    return gap.simplified() if isinstance(gap, Surd) else gap


class ImplicitMechanism(Display, PickledByFields, ABC):
    """A mechanism of a privacy type whose matrix is computed only when needed."""

    __slots__ = ()

    ptype: PrivacyType

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """The numbers (n, m) of secrets and outcomes."""

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """The matrix (n, m), read-only: Fractions if every entry is rational, else float64. Cost: O(n m)."""

    def channel(self) -> Channel:
        """Return the mechanism as a channel. Cost: O(n m)."""
        return Channel(self.matrix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.matrix, dtype=dtype)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SimilarityMechanism(ImplicitMechanism):
    """The mechanism M[x, j] = alpha^(sign d(x, j)) weights[j], perhaps with a rest column that makes rows sum to 1.

    Attributes:
        ptype: Privacy type on n secrets.
        weights: Weights of the columns: n nonnegative Fractions.
        sign: 1 or -1.
        has_rest: Whether there is the rest column 1 - sum_j M[., j].
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
        # Compute the rest exactly: in floats, a rest far below the rounding error of the row sums would be lost.
        rest = np.array([1 - (below + above) / 2 for below, above in zip(low, high, strict=True)], dtype=object)
        rest = rest if is_exact(columns) else np.maximum(rest.astype(np.float64), 0.0)
        return frozen(np.concatenate([columns, rest[:, None]], axis=1))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UniformMechanism(ImplicitMechanism):
    """The mechanism M[x, j] = alpha^(sign d(x, j)) / s, for spaces in which all rows of alpha^(sign d) have the same
    sum s.

    If all distances are equal, sign 1 gives randomised response, in which the true secret is the most likely outcome,
    and sign -1 gives the mechanism in which the true secret is the least likely outcome.

    Attributes:
        ptype: Privacy type on n secrets that all have the same `distance_profile`.
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
        assert profile is not None, "all secrets of a uniform mechanism have the same distances to the others"
        shares = profile_shares(self.ptype.level, profile, self.sign)
        similarity = Similarity.of(self.ptype)
        entries = [shares[d] for d in similarity.lengths]
        if all(isinstance(entry, Fraction) for entry in entries):
            return frozen(objects(entries)[similarity.kinds])
        return frozen(np.array([nearest(entry) for entry in entries])[similarity.kinds])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProductMechanism(ImplicitMechanism):
    """The mechanism A kron B kron ..., with one mechanism for each part of a secret. In the lists of secrets and of
    outcomes, the last part varies fastest.
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
    """Bounds of row sums and of extreme entries of the columns of an `EnvelopeMechanism`, without its rest column."""

    least: Fraction  # lower bound of the sum of any row
    most: Fraction  # upper bound of the sum of any row
    largest: Fraction  # lower bound of the sum of the largest entries of the columns
    smallest: Fraction  # lower bound of the sum of the smallest entries of the columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EnvelopeMechanism(ImplicitMechanism):
    """The mechanism M[x, c] = max_y alpha^d(x, y) heights[y, c], with a rest column that makes the rows sum to 1.

    Each column is the smallest column that satisfies the level and is nowhere below its heights. If the heights satisfy
    the level up to rounding, the column is hardly larger than its heights. Only the rest column may violate the level,
    so only the rest column needs a check.

    Attributes:
        ptype: Privacy type on n secrets.
        heights: Nonnegative float64 matrix (n, k).
    """

    ptype: PrivacyType
    heights: NDArray[np.float64]

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=np.float64)
        if heights.ndim != 2 or len(heights) != self.ptype.space.size:
            required = f"heights must have {self.ptype.space.size} rows, one for each secret"
            raise OutOfRange(required, came=f"shape {heights.shape}")
        if not ((heights >= 0) & (heights <= 1)).all():
            came = f"heights from {heights.min()} to {heights.max()}"
            raise OutOfRange("heights must lie between 0 and 1", came=came)
        object.__setattr__(self, "heights", frozen(heights))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.heights), self.heights.shape[1] + 1

    @property
    def matrix(self) -> Array:
        columns = self.columns()
        return frozen(np.column_stack([columns, np.maximum(1 - columns.sum(axis=1), 0.0)]))

    def columns(self) -> NDArray[np.float64]:
        """Return all columns except the rest column, (n, k), with relative errors below 6 * 2^-53. Cost: O(n^2 k)."""
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
        """Return bounds of the row sums, and of the sums of extreme entries, of all columns except the rest column."""
        # A power, a product and each of k additions have a relative error of at most one unit of 2^-53.
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
    """The mechanism M[(r, c), (i, j)] = g_i(r) h_j(c) on a lattice, from two-column geometric mechanisms g and h.

    The mechanism g for the row r has the level epsilon p, and h for the column c has epsilon q, where (p, q) is the
    unit vector along the diagonal of the lattice. If a side has only one point, the mechanism of that side has one
    column.

    Attributes:
        ptype: Privacy type on a Euclidean lattice of at least two points.
    """

    ptype: PrivacyType

    def __post_init__(self) -> None:
        metric = self.ptype.space.metric
        if not isinstance(metric, EuclideanGridMetric) or metric.size < 2:
            remedy = "Use spaces.grid(rows, cols)."
            required = "the space must be a Euclidean lattice of at least two points"
            raise OutOfRange(required, came=self.ptype.space, remedy=remedy)

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
        """Return a lower and an upper bound of sum_c min_x M[x, c], the sum of the least entries of the columns."""
        # The sum is a product of a factor for each side: t^m for 2m + 1 points and 2 t^(m+1) / (1 + t) for 2m + 2
        # points, with t = alpha^p or alpha^q. If both sides are odd, it is alpha^D for the half diagonal D.
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
    """Return the geometric mechanism with its columns merged into two, (side, 2): one merges all columns that are least
    at one end, the other all columns that are least at the other end. For one count, return [[1]].
    """
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
