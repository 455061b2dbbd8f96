"""Check a proof that a channel is private and optimal for a consumer, independently of the solver that found it.

The channel is either a remap of the geometric mechanism (only on counts), or a matrix of Fractions. The loss of the
channel is an upper bound of the least loss. The dual is a vector mu and, on spaces other than counts, multipliers
lambda >= 0 of the privacy constraints along the edges, such that for every secret x and action r

    p_x l(x, r) - mu_x - (the combination of privacy constraints with lambda)_x >= 0.

A dual with this property proves that no private channel loses less than sum_x mu_x. Bounds are exact for exact
consumers and a rational alpha. For other consumers and levels, the bounds are floats, rounded outward.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from utmost.core.exact.arrays import (
    Array,
    Floats,
    PickledByFields,
    as_rationals,
    check_array,
    frozen,
    is_exact,
    objects,
)
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import exp_floats, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.linear_algebra import by_integers
from utmost.core.exact.surds import Surd
from utmost.design.optima.checker_on_counts import dual_bound, remap_loss
from utmost.design.privacy_types.privacy_type import Length, PrivacyType, at_most, power_interval
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.errors import OutOfRange, PromiseBroken

# Four bounds of a power alpha^d: a lower and an upper bound, a float at or below the lower bound, and a float at or
# above the upper bound. Lower and upper bound are not converted from floats to Fractions, because the conversion takes
# longer than the power, and few bounds are used. Bounds are cached for each privacy type, by length and by pair of
# secrets.
_PowerBounds = tuple[Fraction | float, Fraction | float, float, float]
_kept_powers: WeakKeyDictionary[PrivacyType, dict[Length | float, _PowerBounds]] = WeakKeyDictionary()
_kept_pairs: WeakKeyDictionary[PrivacyType, dict[int, _PowerBounds]] = WeakKeyDictionary()
_kept_edges: WeakKeyDictionary[PrivacyType, tuple[list[_PowerBounds], NDArray[np.intp]]] = WeakKeyDictionary()


def alpha_above(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """Return alpha^d(i, j), rounded up to a float if irrational: matrices that satisfy this factor are private."""
    return Fraction(_power_bounds(ptype, ptype.space.length(i, j))[1])


def alpha_below(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """Return alpha^d(i, j), rounded down to a float if irrational: private matrices satisfy this factor."""
    return Fraction(_power_bounds(ptype, ptype.space.length(i, j))[0])


def alphas_above(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """Return `alpha_above` for pairs of secrets (m, 2), as an object array (m,)."""
    return _one_side_of_pairs(ptype, pairs, 1)


def alphas_below(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """Return `alpha_below` for pairs of secrets (m, 2), as an object array (m,)."""
    return _one_side_of_pairs(ptype, pairs, 0)


def largest_alpha(ptype: PrivacyType) -> Fraction:
    """Return the largest value of `alpha_above` over the edges of the space; 0 if there are no edges."""
    ends, _ = _bounds_of_pairs(ptype, ptype.space.edges)
    most = max((end[3] for end in ends), default=0.0)
    return Fraction(max((end[1] for end in ends if end[3] == most), default=0))


def _one_side_of_pairs(ptype: PrivacyType, pairs: NDArray[np.intp], side: int) -> Array:
    ends, where = _bounds_of_pairs(ptype, pairs)
    return np.asarray(objects(Fraction(end[side]) for end in ends)[where])


def _bounds_of_pairs(ptype: PrivacyType, pairs: NDArray[np.intp]) -> tuple[list[_PowerBounds], NDArray[np.intp]]:
    """Return the bounds of alpha^d for each distinct pair, and for each of ``pairs`` the index of its bounds."""
    # A design needs the bounds of its edges about six times, so they are cached.
    are_edges, ends_of_edges = pairs is ptype.space.edges, _kept_edges.get(ptype)
    if are_edges and ends_of_edges is not None:
        return ends_of_edges
    known, n = _kept_pairs.setdefault(ptype, {}), ptype.space.size
    each, where = np.unique(pairs.min(axis=1) * n + pairs.max(axis=1), return_inverse=True)
    codes = each.tolist()
    new = [code for code in codes if code not in known]
    if new:
        # A float that equals a Fraction has the same key.
        lengths = np.asarray(ptype.space.metric.lengths(*np.divmod(np.array(new), n))).tolist()
        # Compute one power for each distinct length: on a grid of 400 places, 80 000 pairs have about 100 lengths.
        powers = _known_powers(ptype, lengths)
        known.update((code, powers[d]) for code, d in zip(new, lengths, strict=True))
    ends = [known[code] for code in codes]
    if are_edges:
        _kept_edges[ptype] = ends, where
    return ends, where


def near_alphas_above(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Floats:
    """Return `alphas_above` rounded to the nearest floats."""
    ends, where = _bounds_of_pairs(ptype, pairs)
    return np.array([float(end[1]) for end in ends], dtype=np.float64)[where]


def _power_bounds(ptype: PrivacyType, length: Length) -> _PowerBounds:
    return _known_powers(ptype, [length])[length]


def _known_powers(ptype: PrivacyType, lengths: Sequence[Length | float]) -> dict[Length | float, _PowerBounds]:
    """Add bounds of alpha^length for the given lengths to the cache of a type, and return the cache."""
    powers = _kept_powers.setdefault(ptype, {})
    new = [length for length in dict.fromkeys(lengths) if length not in powers]
    level = ptype.level
    # For a rational alpha^length both bounds are equal; for an irrational one they are neighbouring floats.
    if level.base is not None or any(isinstance(length, Surd) or length == 0 for length in new):
        powers.update((length, _enclosed_one(level, length)) for length in new)
        return powers
    power = -fmpq(*level.power.as_integer_ratio())
    floats = exp_floats(power * fmpq(*length.as_integer_ratio()) for length in new if not isinstance(length, Surd))
    for length, around in zip(new, floats, strict=True):
        powers[length] = (*around, *around) if around else _enclosed_one(level, length)
    return powers


def _enclosed_one(level: Level, length: Length | float) -> _PowerBounds:
    """Return the bounds of one power; for an irrational power, with enough bits that they are neighbouring floats."""
    length = length if isinstance(length, Surd) else Fraction(length)
    if level.base is not None and not isinstance(length, Surd) and level.scaled(length).is_rational:
        alpha = level.scaled(length).alpha_fraction()
        return alpha, alpha, round_down(alpha), round_up(alpha)
    bits = 128
    # Rounded ends: an irrational number is no float, so a narrow interval lies between two neighbouring floats.
    while True:
        around = power_interval(level, length, bits)
        low, high = round_down(around), round_up(around)
        if nextafter(low, inf) == high:
            return low, high, low, high
        bits *= 2


# A float product of nearest floats differs from the exact product by at most three roundings of 2^-53.
_SURELY = 1 + 2.0**-50
# A product of floats loses no digits to underflow if it is at least this large.
_LEAST = 1e-280
# Largest number of entries (edges times outcomes) that are computed together, which bounds the memory.
_BLOCK = 1 << 20


def doubtful_ratios(ptype: PrivacyType, matrix: Array, scale: Any = None) -> Iterator[tuple[int, int, int, Fraction]]:
    """Yield (x, y, r, alpha^d(x, y)), for edges (x, y), if floats do not decide X[x, r] >= alpha^d(x, y) X[y, r]."""
    # X is ``matrix``, of nonnegative Fractions; or of integers, divided by ``scale``: one number, or (n, 1) for each
    # row. The inequality holds if X[y, r] is 0. Cost: O(edges k) float operations, and one exact number for each
    # result. Python computes the float nearest to a quotient of integers ten times as fast as the float nearest to a
    # Fraction.
    near, empty = (matrix if scale is None else matrix / scale).astype(np.float64), matrix == 0
    edges = ptype.space.edges
    ends, where = _bounds_of_pairs(ptype, edges)
    above = np.array([end[3] for end in ends], dtype=np.float64)[where]
    step = max(1, _BLOCK // max(1, matrix.shape[1]))
    for start in range(0, len(edges), step):
        block = edges[start : start + step]
        for x, y in ((block[:, 0], block[:, 1]), (block[:, 1], block[:, 0])):
            needed = above[start : start + step, None] * near[y]
            here = near[x]
            # Floats decide an inequality if the difference exceeds all rounding errors. The caller decides the few
            # others in Fractions.
            doubt = ~empty[y] & ((here < _SURELY * needed) | ((needed < _LEAST) & (here < _LEAST)))
            for e, r in np.argwhere(doubt).tolist():
                yield int(x[e]), int(y[e]), r, Fraction(ends[where[start + e]][1])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Multipliers(Display, PickledByFields):
    """Multipliers lambda_t >= 0 of the constraints X[low_t, action_t] >= alpha^d(low_t, high_t) X[high_t, action_t].

    A pair need not be an essential edge, because the constraints of the type hold for all pairs of secrets.

    Attributes:
        low, high: (N,) indices of the two secrets.
        action: (N,) index of the column.
        value: (N,) multipliers, floats or Fractions.

    Raises:
        OutOfRange: if the arrays have different lengths, if the two secrets of a pair are equal, or if an index is
            negative.

    >>> Multipliers([0], [1], [0], np.array([0.5])).total(1, (2, 1)).tolist()
    [[0.5], [0.0]]
    """

    low: NDArray[np.intp]
    high: NDArray[np.intp]
    action: NDArray[np.intp]
    value: Array

    def __post_init__(self) -> None:
        for name in ("low", "high", "action"):
            object.__setattr__(self, name, frozen(np.array(getattr(self, name), dtype=np.intp)))
        object.__setattr__(self, "value", frozen(np.array(self.value)))
        if len({len(part) for part in (self.low, self.high, self.action, self.value)}) != 1:
            came = f"lengths {[len(part) for part in (self.low, self.high, self.action, self.value)]}"
            raise OutOfRange("low, high, action and value must have the same length", came=came)
        if (self.low == self.high).any():
            at = int(np.argmax(self.low == self.high))
            raise OutOfRange(
                "a multiplier needs two different secrets", came=f"secret {self.low[at]} twice in multiplier {at}"
            )
        if min((int(part.min()) for part in (self.low, self.high, self.action) if part.size), default=0) < 0:
            least = min(int(part.min()) for part in (self.low, self.high, self.action))
            raise OutOfRange("indices of secrets and actions must be at least 0", came=least)

    def __len__(self) -> int:
        return len(self.value)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """The pairs of secrets (low, high), (N, 2)."""
        return np.column_stack([self.low, self.high])

    def total(self, factors: Any, shape: tuple[int, int], at_high: bool = False) -> Array:
        """Return the sum of factor times multiplier for each action and low secret, or high secret if ``at_high``."""
        sums = np.zeros(shape, dtype=self.value.dtype)
        np.add.at(sums, (self.high if at_high else self.low, self.action), factors * self.value)
        return sums

    def most(self, shape: tuple[int, int]) -> int:
        """Return the largest number of multipliers that share one secret and action."""
        counted = np.zeros(shape, dtype=np.intp)
        for side in (self.low, self.high):
            np.add.at(counted, (side, self.action), 1)
        return int(counted.max(initial=0))


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Display):
    """Bounds of the least loss, ``lower`` <= least loss <= ``upper``: Fractions, or floats rounded outward."""

    lower: Fraction | float
    upper: Fraction | float

    @property
    def gap(self) -> Fraction | float:
        """``upper - lower``, 0 if both bounds are exact; a float is rounded up."""
        exactly = Fraction(self.upper) - Fraction(self.lower)
        return exactly if isinstance(self.upper, Fraction) else round_up(exactly)


def certified_bounds(
    ptype: PrivacyType,
    consumer: Consumer,
    *,
    actions: Array | None,
    matrix: Array | None,
    dual: Array,
    multipliers: Array | Multipliers | None,
) -> Bounds:
    """Return the bounds that channel and dual prove; raise PromiseBroken if the channel or the dual is invalid."""
    # Check sizes first: a dual entry without a constraint would increase the bound without proof, and a missing outcome
    # would add no loss.
    n, k = ptype.space.size, consumer.actions
    if consumer.secrets != n:
        raise PromiseBroken(f"the consumer must have {n} secrets", came=consumer.secrets)
    if dual.shape != (n,):
        raise PromiseBroken(f"the dual must hold {n} numbers", came=f"shape {dual.shape}")
    if actions is not None and len(actions) != n:
        raise PromiseBroken(f"the remap must have {n} outcomes", came=len(actions))
    if matrix is not None and matrix.shape != (n, k):
        raise PromiseBroken(f"the channel must have {n} rows and {k} columns", came=f"shape {matrix.shape}")
    numbers = [dual, multipliers.value if isinstance(multipliers, Multipliers) else multipliers]
    are_rational = [holds_rationals(values) for values in numbers if values is not None and values.size]
    in_rationals = all(are_rational)
    exactly = consumer.is_exact and ptype.level.is_rational and in_rationals
    on_the_line = isinstance(ptype.space.metric, LineMetric)
    # On counts mu determines the multipliers; on other spaces they must be given.
    if not on_the_line and (multipliers is None or actions is not None):
        raise PromiseBroken(
            "a certificate on other spaces than counts needs a matrix and multipliers", came=ptype.space
        )
    if multipliers is None:
        lower = dual_bound(ptype.level, consumer, dual, exactly)
    else:
        lower = edge_bound(ptype, consumer, dual, multipliers, in_rationals)
        lower = lower if exactly else round_down(lower)
    if actions is not None:
        upper = remap_loss(ptype.level, consumer, actions, exactly)
    else:
        assert matrix is not None, "a certificate has a remap or a matrix"
        check_array(matrix, "channel", 2)
        integers = by_integers(as_rationals(matrix))
        _check_private(ptype, matrix, *integers)
        upper = _loss(consumer, *integers, exactly)
    return Bounds(lower if lower > 0 else type(lower)(0), upper)  # the loss is never negative


def holds_rationals(values: Array) -> bool:
    """Return whether all entries of an array are rationals; raise PromiseBroken if some entry is neither a rational nor
    a finite float.
    """
    if not is_exact(values):
        if not np.isfinite(values).all():
            raise PromiseBroken("every number in the evidence must be finite", came="NaN or infinity")
        return False
    if not all(isinstance(value, int | Fraction) for value in values.ravel().tolist()):
        kinds = ", ".join(sorted({type(value).__name__ for value in values.ravel().tolist()}))
        raise PromiseBroken("evidence must hold rationals, or be an array of floats", came=kinds)
    return True


def check_private(ptype: PrivacyType, matrix: Array) -> None:
    """Check that a matrix of Fractions is a channel that satisfies the level along every edge, exactly."""
    check_array(matrix, "channel", 2)
    # Sum integers over one denominator for each row, because sums of Fractions compute a common divisor at each step.
    _check_private(ptype, matrix, *by_integers(as_rationals(matrix)))


def _check_private(ptype: PrivacyType, matrix: Array, whole: Array, scale: Array) -> None:
    for x in np.flatnonzero(whole.sum(axis=1) != scale[:, 0])[:1]:
        raise PromiseBroken(f"row {x} of the channel must sum to 1", came=str(matrix[x].sum()))
    for x, r in np.argwhere(whole < 0)[:1]:
        raise PromiseBroken(f"entry [{x}, {r}] of the channel must not be negative", came=str(matrix[x, r]))
    for x, y, r, factor in doubtful_ratios(ptype, whole, scale):
        if not at_most(factor, matrix[y, r], matrix[x, r]):
            came = f"{float(matrix[x, r])} and {float(matrix[y, r])}"
            raise PromiseBroken(f"secrets {x} and {y} must satisfy the level in column {r}", came=came)


def matrix_loss(consumer: Consumer, matrix: Array, exactly: bool) -> Fraction | float:
    """Return sum_x p_x sum_r X[x, r] l(x, r) for a matrix of Fractions; floats are converted to rationals exactly."""
    return _loss(consumer, *by_integers(matrix), exactly)


def _loss(consumer: Consumer, chances: Array, scale: Array, exactly: bool) -> Fraction | float:
    losses, units = by_integers(consumer.loss)
    tops, below = (losses * chances).sum(axis=1).tolist(), (units * scale).ravel().tolist()
    rows = zip(consumer.prior.tolist(), tops, below, strict=True)
    total = _sum(fmpq(*p.as_integer_ratio()) * fmpq(top, bottom) for p, top, bottom in rows if p)
    return total if exactly else round_up(total)


def edge_bound(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, in_rationals: bool
) -> Fraction:
    """Return the lower bound sum_x mu_x; raise PromiseBroken if the multipliers, (edges, 2, actions) or a list, do not
    prove it.
    """
    values = multipliers.value if isinstance(multipliers, Multipliers) else multipliers
    if (values < 0).any():
        raise PromiseBroken("multipliers must not be negative", came=float(values.min()))
    slack = edge_slacks(ptype, consumer, dual, multipliers, in_rationals)
    # `slack < 0` would be False for NaN.
    for x, r in np.argwhere(~(slack >= 0))[:1]:
        came = f"slack {float(slack[x, r])}"
        raise PromiseBroken(f"the dual must be feasible for secret {x} and action {r}", came=came)
    return _sum(fmpq(*price.as_integer_ratio()) for price in dual.tolist())


def _sum(numbers: Iterable[fmpq]) -> Fraction:
    total = sum(numbers, fmpq(0))
    return Fraction(int(total.p), int(total.q))


def edge_slacks(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, in_rationals: bool
) -> Array:
    """Return p l - mu - (the combination of privacy constraints), (secrets, actions). In floats, the entries are lower
    bounds.
    """
    # ``in_rationals`` computes without rounding, and replaces an irrational alpha^d by a rational just below, which
    # every private column satisfies too. The multiplier [e, 0] of an edge e = (x, y) is that of the constraint
    # v_x - alpha^d v_y >= 0, and [e, 1] that of v_y - alpha^d v_x >= 0.
    number_kind = object if in_rationals else np.float64
    prior, loss = (
        as_rationals(a) if in_rationals else np.asarray(a, dtype=number_kind) for a in (consumer.prior, consumer.loss)
    )
    mu, cost = np.asarray(dual, dtype=number_kind)[:, None], prior[:, None] * loss
    listed = as_list(ptype, multipliers)
    if in_rationals:
        factors = alphas_below(ptype, listed.pairs)
    else:
        ends, where = _bounds_of_pairs(ptype, listed.pairs)
        factors = np.array([end[2] for end in ends], dtype=np.float64)[where]
    minus, plus = listed.total(1, cost.shape), listed.total(factors, cost.shape, at_high=True)
    slack = cost - mu - minus + plus
    if in_rationals:
        return np.asarray(slack)
    # Each multiplier is rounded once in a product and once in the sum. The term 1e-300 accounts for underflow.
    roundings = 8 + 2 * listed.most(cost.shape)
    return np.asarray(slack - roundings * 2.0**-52 * (cost + abs(mu) + minus + plus) - 1e-300)


def as_list(ptype: PrivacyType, multipliers: Array | Multipliers) -> Multipliers:
    """Return multipliers as `Multipliers`; from a table (edges, 2, actions), take the nonzero entries."""
    if isinstance(multipliers, Multipliers):
        return multipliers
    e, side, action = np.nonzero(multipliers)
    ends = ptype.space.edges
    return Multipliers(ends[e, side], ends[e, 1 - side], action, multipliers[e, side, action])
