"""Store the matrix alpha^d of a privacy type by its distinct entries, and bound weighted row sums of this matrix."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, frozen, objects
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.exact.linear_algebra import table_product
from utmost.core.exact.surds import Surd
from utmost.design.privacy_types.privacy_type import Length, PrivacyType, near_length, power_interval, power_intervals
from utmost.design.spaces.families import EuclideanGridMetric, LineMetric
from utmost.design.spaces.space import Space, TableMetric
from utmost.errors import PromiseBroken

# The similarity of a type is cached as long as the type exists.
_similarities: WeakKeyDictionary[PrivacyType, "Similarity"] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Similarity:
    """The matrix E[x, y] = alpha^d(x, y), stored as powers[kinds[x, y]]."""

    # A column of a private channel with entry 1 at y lies between E[., y] and 1 / E[., y].
    level: Level
    kinds: NDArray[np.int32]  # (n, n) the index of the distance of each pair in `lengths`; 0 is distance 0
    lengths: tuple[Length, ...]  # the distinct distances, exact and ascending

    @classmethod
    def of(cls, ptype: PrivacyType) -> "Similarity":
        """Return the matrix alpha^d of a type. The matrix is computed once in O(n^2), and 4 n^2 bytes are cached while
        the type exists.
        """
        if ptype not in _similarities:
            kinds, lengths = _kinds(ptype.space)
            _similarities[ptype] = cls(ptype.level, frozen(kinds), lengths)
        return _similarities[ptype]

    @property
    def size(self) -> int:
        return len(self.kinds)

    @cached_property
    def is_rational(self) -> bool:
        """Whether alpha^d is rational for every distance d."""
        return all(not isinstance(d, Surd) and (d == 0 or self.level.scaled(d).is_rational) for d in self.lengths)

    @cached_property
    def fractions(self) -> Array:
        """The powers alpha^d for each distance, as Fractions; read it only if `is_rational`."""
        rational = (d for d in self.lengths if not isinstance(d, Surd))
        return frozen(objects(self.level.scaled(d).alpha_fraction() if d else Fraction(1) for d in rational))

    @cached_property
    def floats(self) -> NDArray[np.float64]:
        """The powers alpha^d for each distance, as float64, for searches but not for proofs."""
        return frozen(np.exp(-self.level.epsilon_float * np.array([near_length(d) for d in self.lengths])))

    def intervals(self, bits: int) -> tuple[Interval, ...]:
        """Return an interval around alpha^d for each distance d of the space, a few units of 2^-bits wide."""
        return power_intervals(self.level, self.lengths, bits)

    def matrix(self, sign: int = 1, floats: bool = False) -> Array:
        """Return the matrix alpha^(sign d): float64 if ``floats`` or if a power is irrational, else Fractions."""
        table = self.floats if floats or not self.is_rational else self.fractions
        return frozen((table if sign > 0 else 1 / table)[self.kinds])


def _kinds(space: Space) -> tuple[NDArray[np.int32], tuple[Length, ...]]:
    metric = space.metric
    if isinstance(metric, EuclideanGridMetric):
        # Every distance occurs between a corner and some point, so number the squared distances from a corner.
        squares = np.unique(metric.squares(0, np.arange(metric.size)))
        number = np.zeros(int(squares[-1]) + 1, dtype=np.int32)
        number[squares] = np.arange(len(squares))
        rows, cols = (np.arange(side) for side in (metric.rows, metric.cols))
        steps = number[(rows**2)[:, None] + cols**2]
        across, down = abs(cols[:, None] - cols), abs(rows[:, None] - rows)
        kinds = steps[down[:, None, :, None], across[None, :, None, :]].reshape(metric.size, metric.size)
        return kinds, tuple(Surd.sqrt(int(square)).simplified() for square in squares)
    if isinstance(metric, LineMetric):
        return space.distances.astype(np.int32), tuple(map(Fraction, range(space.size)))
    table = metric.exact if isinstance(metric, TableMetric) else space.distances
    if table.dtype == object:
        lengths = tuple(sorted(set(table.flat)))
        number_of = {d: k for k, d in enumerate(lengths)}
        return np.array([number_of[d] for d in table.flat], dtype=np.int32).reshape(table.shape), lengths
    values, kinds = np.unique(table, return_inverse=True)
    return kinds.reshape(table.shape).astype(np.int32), tuple(Fraction(value) for value in values.tolist())


BITS = 96
# If a common denominator would be longer than this many bits, fixed-point numbers are used.
_LONGEST = 1 << 14


def row_sums(ptype: PrivacyType, weights: Array, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """Return lower and upper bounds of sum_j alpha^(sign d(x, j)) weights[j] for every x, for weights >= 0."""
    used = np.flatnonzero(weights != 0)
    # At a high level no bits suffice for alpha^-d, which a dual of zeros does not need.
    if not used.size or len(weights) == 1:
        return weights.tolist(), weights.tolist()
    if isinstance(ptype.space.metric, LineMetric):
        return _line_sums(ptype, weights, sign)
    similarity = Similarity.of(ptype)
    low, high, scale = scaled_table(similarity, sign)
    weights, kinds = weights[used], similarity.kinds[:, used]
    common = lcm(*(w.denominator for w in weights.tolist()))
    scaled = objects(w.numerator * (common // w.denominator) for w in weights.tolist())
    below, unit = table_product(low, kinds, scaled), scale * common
    width = max((high - low).tolist()) * sum(scaled.tolist())
    lower = [Fraction(t, unit) for t in below]
    return lower, lower if width == 0 else [s + Fraction(width, unit) for s in lower]


def scaled_table(similarity: Similarity, sign: int) -> tuple[Array, Array, int]:
    """Return alpha^(sign d) for each distance: the numerators rounded down, those rounded up, and the common
    denominator.
    """
    if similarity.is_rational:
        exactly = similarity.fractions if sign > 0 else 1 / similarity.fractions
        scale = lcm(*(p.denominator for p in exactly.tolist()))
        if scale.bit_length() <= _LONGEST:
            table = objects([p.numerator * (scale // p.denominator) for p in exactly.tolist()])
            return table, table, scale
    bits = BITS + 16 + _zeros(similarity.level.epsilon_float, similarity.lengths[-1], sign)
    around = [_signed(power, sign).at(BITS) for power in similarity.intervals(bits)]
    return objects([i.low for i in around]), objects([i.high for i in around]), 1 << BITS


def _line_sums(ptype: PrivacyType, weights: Array, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """Return `row_sums` on counts, in O(n): the sum over smaller counts, the weight itself, and the sum over larger
    counts are added.
    """
    a: Any
    zero: Any
    if ptype.level.is_rational:
        a, zero = ptype.level.alpha_fraction(), Fraction(0)
    else:
        bits = 2 * BITS + _zeros(ptype.level.epsilon_float, Fraction(1), sign)
        a, zero = ptype.level.alpha_interval(bits), Interval.of(0, bits)
    a = a if sign > 0 else 1 / a
    left, right = [zero], [zero]
    for w in weights.tolist()[:-1]:
        left.append((left[-1] + w) * a)
    for w in weights.tolist()[:0:-1]:
        right.append((right[-1] + w) * a)
    sums = [p + w + q for p, w, q in zip(left, weights.tolist(), reversed(right), strict=True)]
    if isinstance(zero, Interval):
        return [s.lower for s in sums], [s.upper for s in sums]
    return sums, sums


def farthest(ptype: PrivacyType, sign: int) -> tuple[list[Fraction], list[Fraction]]:
    """Return, for each secret, bounds of alpha^(sign d), where d is the distance to the farthest secret."""
    metric = ptype.space.metric
    if isinstance(metric, LineMetric):
        steps = [max(j, metric.n - j) for j in range(metric.n + 1)]
        powers = {}
        for d in set(steps):
            if ptype.level.is_rational:
                exactly = ptype.level.alpha_fraction() ** (sign * d)
                powers[d] = exactly, exactly
            else:
                bits = 2 * BITS + _zeros(ptype.level.epsilon_float, Fraction(d), sign)
                around = _signed(power_interval(ptype.level, Fraction(d), bits), sign)
                powers[d] = around.lower, around.upper
        pairs = [powers[d] for d in steps]
    else:
        similarity = Similarity.of(ptype)
        low, high, scale = scaled_table(similarity, sign)
        pairs = [(Fraction(int(low[k]), scale), Fraction(int(high[k]), scale)) for k in similarity.kinds.max(axis=0)]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _signed(power: Interval, sign: int) -> Interval:
    return power if sign > 0 else 1 / power


# A weight that is positive and below 2^-100000 is in no proof.
_MOST_ZEROS = 1 << 17


def _zeros(epsilon: float, length: Fraction | Surd, sign: int) -> int:
    """Return the number of additional bits that a division by alpha^length needs for the same precision."""
    zeros = 0 if sign > 0 else int(3 * epsilon * float(length)) + 2
    if zeros > _MOST_ZEROS:
        raise PromiseBroken("weights must be 0 if alpha^-d is as large as at this epsilon", came=f"epsilon={epsilon}")
    return zeros
