r"""The independent check of an optimum: what its channel costs, that it is private, and what its dual proves.

It knows nothing of the solver or of how the optimum was found. A primal is either a remap of the geometric mechanism
(counts only), or an explicit matrix of Fractions. A dual is a vector mu, and, away from the line of counts, multipliers
lambda >= 0 of the privacy of each edge, such that for every secret x and action r

    p_x l(x, r) - mu_x - (the multipliers' combination of privacy constraints)_x >= 0;

then no private channel loses less than sum_x mu_x. All is exact for exact consumers at a rational alpha. Otherwise the
two bounds are floats rounded outward: the loss of an exactly private channel, and a proven lower bound.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.design.levels import alphas_below
from utmost.design.line_check import dual_bound, remap_loss
from utmost.design.multipliers import Multipliers
from utmost.design.near_ties import doubtful_ratios
from utmost.errors import PromiseBroken
from utmost.exact import Array, is_exact, round_down, round_up
from utmost.privacy import PrivacyType
from utmost.spaces import Consumer, LineMetric


@dataclass(frozen=True, slots=True)
class Bounds:
    """The optimum lies between ``lower`` and ``upper``; both are Fractions, or floats rounded outward."""

    lower: Any
    upper: Any

    @property
    def gap(self) -> Any:
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
    """What primal and dual prove, computed from nothing else.

    Raises:
        PromiseBroken: when the channel is not private, or the dual is not feasible.
    """
    exactly = consumer.is_exact and ptype.level.is_rational and is_exact(dual)
    on_the_line = isinstance(ptype.space.metric, LineMetric)
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
        check_private(ptype, matrix)
        upper = matrix_loss(consumer, matrix, exactly)
    return Bounds(lower, upper)


def check_private(ptype: PrivacyType, matrix: Array) -> None:
    """Raise PromiseBroken unless a matrix of Fractions is a channel that keeps the level along every edge, exactly."""
    for x in np.flatnonzero(matrix.sum(axis=1) != 1)[:1]:
        raise PromiseBroken(f"row {x} of the channel must sum to 1", came=matrix[x].sum())
    for x, r in np.argwhere(matrix < 0)[:1]:
        raise PromiseBroken(f"entry [{x}, {r}] of the channel must not be negative", came=matrix[x, r])
    for x, y, r, factor in doubtful_ratios(ptype, matrix):
        if matrix[x, r] < factor * matrix[y, r]:
            raise PromiseBroken(
                f"secrets {x} and {y} must keep the level in column {r}", came=(matrix[x, r], matrix[y, r])
            )


def matrix_loss(consumer: Consumer, matrix: Array, exactly: bool) -> Any:
    """sum_x p_x sum_r X[x, r] l(x, r) of a matrix of Fractions, every float read as the rational that it is."""
    loss = consumer.loss
    total = Fraction(0)
    for x, p in enumerate(consumer.prior.tolist()):
        if p:
            total += Fraction(p) * sum(
                (Fraction(l) * c for l, c in zip(loss[x].tolist(), matrix[x], strict=True)), Fraction(0)
            )
    return total if exactly else round_up(total)


def edge_bound(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, exactly: bool
) -> Any:
    """sum_x mu_x, once the multipliers, (edges, 2, actions) or a list, prove it a lower bound.

    Raises:
        PromiseBroken: naming the secret and the action whose inequality fails.
    """
    if ((multipliers.value if isinstance(multipliers, Multipliers) else multipliers) < 0).any():
        raise PromiseBroken("multipliers of privacy must not be negative")
    slack = edge_slacks(ptype, consumer, dual, multipliers, exactly)
    for x, r in np.argwhere(~(slack >= 0))[:1]:
        raise PromiseBroken(f"the dual must be feasible for secret {x} and action {r}", came=float(slack[x, r]))
    total = sum(map(Fraction, dual.tolist()), Fraction(0))
    return total if exactly else round_down(total)


def edge_slacks(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers, exactly: bool
) -> Array:
    """p l - mu - (combination of privacy constraints), (secrets, actions): exact, or certain lower bounds.

    Privacy of the edge e = (x, y) is v_x - alpha^d v_y >= 0 with multiplier [e, 0], and the same with x and y exchanged
    with multiplier [e, 1].
    """
    world = object if exactly else np.float64
    prior, loss = (np.asarray(a, dtype=world) for a in (consumer.prior, consumer.loss))
    mu, cost = np.asarray(dual, dtype=world)[:, None], prior[:, None] * loss
    listed = multipliers if isinstance(multipliers, Multipliers) else _listed(ptype, multipliers)
    factors = _factors(ptype, listed, exactly)
    minus, plus = listed.total(1, cost.shape), listed.total(factors, cost.shape, at_high=True)
    slack = cost - mu - minus + plus
    if exactly:
        return np.asarray(slack)
    roundings = 8 + 2 * listed.most(cost.shape)
    return np.asarray(slack - roundings * 2.0**-52 * (cost + abs(mu) + minus + plus) - 1e-300)


def _listed(ptype: PrivacyType, multipliers: Array) -> Multipliers:
    """The multipliers (edges, 2, actions) that are not zero."""
    e, side, action = np.nonzero(multipliers)
    ends = ptype.space.edges
    return Multipliers(ends[e, side], ends[e, 1 - side], action, multipliers[e, side, action])


def _factors(ptype: PrivacyType, listed: Multipliers, exactly: bool) -> Array:
    """alpha^d of each pair in the list, or a float below it."""
    each, where = np.unique(listed.pairs, axis=0, return_inverse=True)
    below = alphas_below(ptype, each)
    if not exactly:
        rounded = {factor: round_down(factor) for factor in set(below.tolist())}
        below = np.array([rounded[factor] for factor in below.tolist()], dtype=np.float64)
    return np.asarray(below[where.ravel()])
