"""The independent check of an optimum: what its channel costs, that it is private, and what its dual proves.

It knows nothing of the solver or of how the optimum was found. A primal is either a remap of the geometric mechanism
(counts only), or an explicit matrix of Fractions. A dual is a vector mu, and, away from the line of counts, multipliers
lambda >= 0 of the privacy of each edge, such that for every secret x and action r

    p_x l(x, r) - mu_x - (the multipliers' combination of privacy constraints)_x >= 0;

then no private channel loses less than sum_x mu_x. All is exact for exact consumers at a rational alpha. Otherwise the
two bounds are floats rounded outward: the loss of an exactly private channel, and a proven lower bound.
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

# Bounds of a power from below and from above, and floats at or beyond these. Floats stay floats: a Fraction takes
# longer to form than the power, and few are read. Bounds are kept as long as their type, by length and by pair.
_PowerBounds = tuple[Fraction | float, Fraction | float, float, float]
_kept_powers: WeakKeyDictionary[PrivacyType, dict[Length | float, _PowerBounds]] = WeakKeyDictionary()
_kept_pairs: WeakKeyDictionary[PrivacyType, dict[int, _PowerBounds]] = WeakKeyDictionary()
_kept_edges: WeakKeyDictionary[PrivacyType, tuple[list[_PowerBounds], NDArray[np.intp]]] = WeakKeyDictionary()


def alpha_above(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just above it: whatever keeps this factor is private."""
    return Fraction(_power_bounds(ptype, ptype.space.length(i, j))[1])


def alpha_below(ptype: PrivacyType, i: int, j: int) -> Fraction:
    """alpha^d(i, j) or a float just below it: whatever is private keeps this factor."""
    return Fraction(_power_bounds(ptype, ptype.space.length(i, j))[0])


def alphas_above(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """`alpha_above` of many pairs (m, 2), as an object array (m,). Cost: one power for each distinct length."""
    return _one_side_of_pairs(ptype, pairs, 1)


def alphas_below(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Array:
    """`alpha_below` of many pairs (m, 2), as an object array (m,)."""
    return _one_side_of_pairs(ptype, pairs, 0)


def largest_alpha(ptype: PrivacyType) -> Fraction:
    """The largest `alpha_above` of an edge; 0 without one."""
    ends, _ = _bounds_of_pairs(ptype, ptype.space.edges)
    most = max((end[3] for end in ends), default=0.0)
    return Fraction(max((end[1] for end in ends if end[3] == most), default=0))


def _one_side_of_pairs(ptype: PrivacyType, pairs: NDArray[np.intp], side: int) -> Array:
    ends, where = _bounds_of_pairs(ptype, pairs)
    return np.asarray(objects(Fraction(end[side]) for end in ends)[where])


def _bounds_of_pairs(ptype: PrivacyType, pairs: NDArray[np.intp]) -> tuple[list[_PowerBounds], NDArray[np.intp]]:
    """The distinct pairs with their bounds, and the index of each pair among them."""
    # A design asks for its edges half a dozen times.
    are_edges, ends_of_edges = pairs is ptype.space.edges, _kept_edges.get(ptype)
    if are_edges and ends_of_edges is not None:
        return ends_of_edges
    known, n = _kept_pairs.setdefault(ptype, {}), ptype.space.size
    each, where = np.unique(pairs.min(axis=1) * n + pairs.max(axis=1), return_inverse=True)
    codes = each.tolist()
    new = [code for code in codes if code not in known]
    if new:
        # Floats are looked up as such: one that equals a Fraction is found under the same key.
        lengths = np.asarray(ptype.space.metric.lengths(*np.divmod(np.array(new), n))).tolist()
        # Many pairs share a length: on a grid of 400 places 80 000 pairs have some hundred lengths.
        powers = _known_powers(ptype, lengths)
        known.update((code, powers[d]) for code, d in zip(new, lengths, strict=True))
    ends = [known[code] for code in codes]
    if are_edges:
        _kept_edges[ptype] = ends, where
    return ends, where


def _near_alphas(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Floats:
    """Floats at or below `alphas_below` of many pairs."""
    ends, where = _bounds_of_pairs(ptype, pairs)
    return np.array([end[2] for end in ends], dtype=np.float64)[where]


def near_alphas_above(ptype: PrivacyType, pairs: NDArray[np.intp]) -> Floats:
    """`alphas_above` as the nearest floats."""
    ends, where = _bounds_of_pairs(ptype, pairs)
    return np.array([float(end[1]) for end in ends], dtype=np.float64)[where]


def _power_bounds(ptype: PrivacyType, length: Length) -> _PowerBounds:
    return _known_powers(ptype, [length])[length]


def _known_powers(ptype: PrivacyType, lengths: Sequence[Length | float]) -> dict[Length | float, _PowerBounds]:
    """The known powers of the type's alpha, with those of the lengths."""
    powers = _kept_powers.setdefault(ptype, {})
    new = [length for length in dict.fromkeys(lengths) if length not in powers]
    powers.update(zip(new, _enclosed(ptype.level, new), strict=True))
    return powers


def _enclosed(level: Level, lengths: Sequence[Length | float]) -> list[_PowerBounds]:
    """alpha^length twice where it is rational, else the floats around it."""
    if level.base is not None or any(isinstance(length, Surd) or length == 0 for length in lengths):
        return [_enclosed_one(level, length) for length in lengths]
    power = -fmpq(*level.power.as_integer_ratio())
    floats = exp_floats(power * fmpq(*length.as_integer_ratio()) for length in lengths if not isinstance(length, Surd))
    pairs = zip(lengths, floats, strict=True)
    return [(*ends, *ends) if ends else _enclosed_one(level, length) for length, ends in pairs]


def _enclosed_one(level: Level, length: Length | float) -> _PowerBounds:
    """Bounds of an irrational power, with enough bits that they are neighbouring floats."""
    length = length if isinstance(length, Surd) else Fraction(length)
    if level.base is not None and not isinstance(length, Surd) and level.scaled(length).is_rational:
        alpha = level.scaled(length).alpha_fraction()
        return alpha, alpha, round_down(alpha), round_up(alpha)
    bits = 128
    while True:  # ends: an irrational number is no float, so that narrow intervals lie between two of them
        around = power_interval(level, length, bits)
        low, high = round_down(around), round_up(around)
        if nextafter(low, inf) == high:
            return low, high, low, high
        bits *= 2


# Three roundings of 2^-53 separate a float product of nearest floats from the exact one.
_SURELY = 1 + 2.0**-50
# Products of floats at least this large do not lose places to underflow.
_LEAST = 1e-280
# Entries of a block of edges times outcomes: bounds the memory, not the answer.
_BLOCK = 1 << 20


def doubtful_ratios(ptype: PrivacyType, matrix: Array, scale: Any = None) -> Iterator[tuple[int, int, int, Fraction]]:
    """(x, y, r, alpha^d(x, y)) for all essential edges in both directions where X[x, r] >= alpha^d X[y, r] is not sure.

    It is sure where X[y, r] is 0, whatever X[x, r] is.

    Args:
        ptype: Space and level.
        matrix: (n, k) Fractions, not negative; or integers over a ``scale``, one for all or for each row (n, 1).

    Cost: O(edges k) float operations, and one exact number for each doubt.
    """
    # Python rounds a quotient of integers to the nearest float, as it does a Fraction, in a tenth of the time.
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
            # A float decides where it is past every rounding; the rest, a few ties, is multiplied out in Fractions.
            doubt = ~empty[y] & ((here < _SURELY * needed) | ((needed < _LEAST) & (here < _LEAST)))
            for e, r in np.argwhere(doubt).tolist():
                yield int(x[e]), int(y[e]), r, Fraction(ends[where[start + e]][1])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Multipliers(Display, PickledByFields):
    """lambda_t >= 0 for the constraints X[low_t, action_t] >= alpha^d(low_t, high_t) X[high_t, action_t].

    Any pair of secrets may be named, an essential edge or not: what the type allows holds along all of them.

    Attributes:
        low, high: (N,) the two secrets.
        action: (N,) the column.
        value: (N,) the multipliers, floats or Fractions.

    Raises:
        OutOfRange: for lists of different lengths, a pair of one secret with itself, and negative numbers.

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
            raise OutOfRange("multipliers need two secrets, an action and a value each", came=len(self.value))
        if (self.low == self.high).any():
            raise OutOfRange("a multiplier needs two different secrets")
        if min((int(part.min()) for part in (self.low, self.high, self.action) if part.size), default=0) < 0:
            raise OutOfRange("secrets and actions are numbered from 0")

    def __len__(self) -> int:
        return len(self.value)

    @property
    def pairs(self) -> NDArray[np.intp]:
        """(N, 2): low and high."""
        return np.column_stack([self.low, self.high])

    def total(self, factors: Any, shape: tuple[int, int], at_high: bool = False) -> Array:
        """The sums of factor times multiplier that meet at each secret and action: at the low secret, or the high."""
        sums = np.zeros(shape, dtype=self.value.dtype)
        np.add.at(sums, (self.high if at_high else self.low, self.action), factors * self.value)
        return sums

    def most(self, shape: tuple[int, int]) -> int:
        """The largest number of multipliers at one secret and action."""
        counted = np.zeros(shape, dtype=np.intp)
        for side in (self.low, self.high):
            np.add.at(counted, (side, self.action), 1)
        return int(counted.max(initial=0))


@dataclass(frozen=True, slots=True, repr=False)
class Bounds(Display):
    """The optimum lies between ``lower`` and ``upper``; both are Fractions, or floats rounded outward."""

    lower: Fraction | float
    upper: Fraction | float

    @property
    def gap(self) -> Fraction | float:
        """``upper - lower``: zero when the optimum is exact (floats: rounded up)."""
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
    """The bounds that primal and dual prove, computed from these alone.

    Raises:
        PromiseBroken: when the channel is not private, or the dual is not feasible.
    """
    # Sizes come first: a dual entry without a constraint would raise the bound for nothing, and an outcome that is left
    # out would cost nothing.
    n, k = ptype.space.size, consumer.actions
    if consumer.secrets != n:
        raise PromiseBroken(f"the consumer must have {n} secrets", came=consumer.secrets)
    if dual.shape != (n,):
        raise PromiseBroken(f"the dual must hold {n} numbers", came=dual.shape)
    if actions is not None and len(actions) != n:
        raise PromiseBroken(f"the remap must take each of {n} outcomes", came=len(actions))
    if matrix is not None and matrix.shape != (n, k):
        raise PromiseBroken(f"the channel must have {n} rows and {k} columns", came=matrix.shape)
    numbers = [dual, multipliers.value if isinstance(multipliers, Multipliers) else multipliers]
    are_rational = [holds_rationals(values) for values in numbers if values is not None and values.size]
    exactly = consumer.is_exact and ptype.level.is_rational and all(are_rational)
    on_the_line = isinstance(ptype.space.metric, LineMetric)
    # On the line of counts mu alone determines its multipliers; elsewhere nothing does.
    if not on_the_line and (multipliers is None or actions is not None):
        raise PromiseBroken(
            "away from counts a certificate needs a matrix and the multipliers of every edge", came=ptype.space
        )
    if multipliers is None:
        lower = dual_bound(ptype.level, consumer, dual, exactly)
    else:
        lower = edge_bound(ptype, consumer, dual, multipliers, exactly)
    if actions is not None:
        upper = remap_loss(ptype.level, consumer, actions, exactly)
    else:
        assert matrix is not None, "a certificate has a remap or a matrix"
        check_array(matrix, "channel", 2)
        integers = by_integers(as_rationals(matrix))
        _check_private(ptype, matrix, *integers)
        upper = _loss(consumer, *integers, exactly)
    return Bounds(lower, upper)


def holds_rationals(values: Array) -> bool:
    """Whether every number of an array is a rational, so that no sum of theirs is rounded; else all are floats.

    Raises:
        PromiseBroken: for anything else among rationals, and floats that are no numbers.
    """
    if not is_exact(values):
        if not np.isfinite(values).all():
            raise PromiseBroken("evidence must hold numbers", came="NaN, or an infinity")
        return False
    if not all(isinstance(value, int | Fraction) for value in values.ravel().tolist()):
        raise PromiseBroken("evidence must hold rationals, or floats in an array of floats", came="others")
    return True


def check_private(ptype: PrivacyType, matrix: Array) -> None:
    """Raise PromiseBroken unless a matrix of Fractions is a channel that keeps the level along every edge, exactly."""
    check_array(matrix, "channel", 2)
    # Sums of integers over one denominator for each row: a sum of Fractions would find a common divisor at each step.
    _check_private(ptype, matrix, *by_integers(as_rationals(matrix)))


def _check_private(ptype: PrivacyType, matrix: Array, whole: Array, scale: Array) -> None:
    for x in np.flatnonzero(whole.sum(axis=1) != scale[:, 0])[:1]:
        raise PromiseBroken(f"row {x} of the channel must sum to 1", came=matrix[x].sum())
    for x, r in np.argwhere(whole < 0)[:1]:
        raise PromiseBroken(f"entry [{x}, {r}] of the channel must not be negative", came=matrix[x, r])
    for x, y, r, factor in doubtful_ratios(ptype, whole, scale):
        if not at_most(factor, matrix[y, r], matrix[x, r]):
            raise PromiseBroken(
                f"secrets {x} and {y} must keep the level in column {r}", came=(matrix[x, r], matrix[y, r])
            )


def matrix_loss(consumer: Consumer, matrix: Array, exactly: bool) -> Fraction | float:
    """sum_x p_x sum_r X[x, r] l(x, r) of a matrix of Fractions, every float read as the rational that it is."""
    return _loss(consumer, *by_integers(matrix), exactly)


def _loss(consumer: Consumer, chances: Array, scale: Array, exactly: bool) -> Fraction | float:
    losses, units = by_integers(consumer.loss)
    tops, below = (losses * chances).sum(axis=1).tolist(), (units * scale).ravel().tolist()
    rows = zip(consumer.prior.tolist(), tops, below, strict=True)
    total = _sum(fmpq(*p.as_integer_ratio()) * fmpq(top, bottom) for p, top, bottom in rows if p)
    return total if exactly else round_up(total)


def edge_bound(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, exactly: bool
) -> Fraction | float:
    """sum_x mu_x, once the multipliers, (edges, 2, actions) or a list, prove it a lower bound.

    Raises:
        PromiseBroken: naming the secret and the action whose inequality fails.
    """
    if ((multipliers.value if isinstance(multipliers, Multipliers) else multipliers) < 0).any():
        raise PromiseBroken("multipliers of privacy must not be negative")
    slack = edge_slacks(ptype, consumer, dual, multipliers, exactly)
    # Not `slack < 0`, which NaN is not.
    for x, r in np.argwhere(~(slack >= 0))[:1]:
        raise PromiseBroken(f"the dual must be feasible for secret {x} and action {r}", came=float(slack[x, r]))
    total = _sum(fmpq(*price.as_integer_ratio()) for price in dual.tolist())
    return total if exactly else round_down(total)


def _sum(numbers: Iterable[fmpq]) -> Fraction:
    total = sum(numbers, fmpq(0))
    return Fraction(int(total.p), int(total.q))


def edge_slacks(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, exactly: bool
) -> Array:
    """p l - mu - (combination of privacy constraints), (secrets, actions): exact, or certain lower bounds.

    Privacy of the edge e = (x, y) is v_x - alpha^d v_y >= 0 with multiplier [e, 0], and the same with x and y exchanged
    with multiplier [e, 1].
    """
    number_kind = object if exactly else np.float64
    prior, loss = (np.asarray(a, dtype=number_kind) for a in (consumer.prior, consumer.loss))
    mu, cost = np.asarray(dual, dtype=number_kind)[:, None], prior[:, None] * loss
    listed = as_list(ptype, multipliers)
    factors = alphas_below(ptype, listed.pairs) if exactly else _near_alphas(ptype, listed.pairs)
    minus, plus = listed.total(1, cost.shape), listed.total(factors, cost.shape, at_high=True)
    slack = cost - mu - minus + plus
    if exactly:
        return np.asarray(slack)
    # Each multiplier that meets here is rounded once as a product and once in the sum; 1e-300 is for what underflows.
    roundings = 8 + 2 * listed.most(cost.shape)
    return np.asarray(slack - roundings * 2.0**-52 * (cost + abs(mu) + minus + plus) - 1e-300)


def as_list(ptype: PrivacyType, multipliers: Array | Multipliers) -> Multipliers:
    """Multipliers as a list; a table (edges, 2, actions) becomes the list of its entries that are not zero."""
    if isinstance(multipliers, Multipliers):
        return multipliers
    e, side, action = np.nonzero(multipliers)
    ends = ptype.space.edges
    return Multipliers(ends[e, side], ends[e, 1 - side], action, multipliers[e, side, action])
