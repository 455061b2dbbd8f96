"""Repair float solutions: turn a nearly private matrix into an exactly private channel, and make a dual feasible."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from utmost.core.exact.arguments import instance, real
from utmost.core.exact.arrays import Array, as_array, as_rationals, frozen, is_exact, objects
from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, exact, refused_as
from utmost.design.channels.channel import Channel, ChannelLabels, stochastic
from utmost.design.optima.checker import Multipliers, as_list, doubtful_ratios, edge_slacks, largest_alpha
from utmost.design.privacy_types.privacy_type import PrivacyType, at_most
from utmost.design.spaces.consumer import Consumer
from utmost.errors import NotAChannel, PromiseBroken

_GRID = 1 << 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Repair(Display):
    """An exactly private channel close to a given matrix, with measures of the change."""

    channel: Channel  # the private channel, with entries that are Fractions
    # Largest total variation distance between a row of the channel and the same row of the matrix: if the rows of both
    # sum to 1, the probability of an event changes by at most this.
    change: Fraction
    bound: Fraction  # an upper bound of `change`: `share` plus the change by rounding
    breach: Fraction  # sum over outcomes of the largest violation of a privacy constraint; 0 for a private matrix
    share: Fraction  # theta, the weight of the constant channel in the mixture


def repair(
    ptype: PrivacyType, channel: Channel | object, *, within: Number | None = None, tolerance: float = 1e-6
) -> Repair:
    """Return an exactly private channel close to a nearly private matrix, such as a float solution or a printed table.

    Exact entries are not rounded. Float entries are rounded to multiples of 2^-60, and the largest entry of each row is
    changed to make the row sum 1. If the matrix then violates privacy, it is mixed with a constant channel, which
    reveals nothing.

    Args:
        ptype: Privacy type of the result.
        channel: Matrix (n, m), one row for each secret of the space.
        within: Largest allowed total variation distance between a row and its repair; by default no limit.
        tolerance: Largest accepted distance of a negative float entry from 0, and of the sum of a float row from 1.

    Raises:
        NotAChannel: if the matrix is not close to a channel.
        PromiseBroken: if the change exceeds ``within``.

    >>> from utmost.spaces import discrete
    >>> local = PrivacyType(discrete(2), alpha="1/2")
    >>> found = repair(local, [[0.666667, 0.333333], [0.333333, 0.666667]])
    >>> local.contains(found.channel), float(found.change) < 1e-6
    (True, True)
    """
    instance(ptype, PrivacyType, "ptype")
    tolerance = real(tolerance, "tolerance")
    names: tuple[ChannelLabels, ChannelLabels] = None, None
    if isinstance(channel, Channel):
        near, names = channel.matrix, (channel.secrets, channel.outcomes)
    else:
        with refused_as(NotAChannel):
            near = as_array(channel, "channel", ndim=2)
    rows = ptype.space.size
    if len(near) != rows or 0 in near.shape:
        raise NotAChannel(f"the channel must have {rows} rows, one for each secret", came=f"shape {near.shape}")
    allowed = 0 if is_exact(near) else tolerance
    for x, y in np.argwhere(near < -allowed)[:1]:
        raise NotAChannel(f"entry [{x}, {y}] of the channel must not be negative", came=str(near[x, y]))
    for x in np.flatnonzero(abs(near.sum(axis=1) - 1) > allowed)[:1]:
        raise NotAChannel(f"row {x} of the channel must sum to 1", came=str(near[x].sum()))
    start = near if is_exact(near) else _fractions_of(_units(near, _GRID), _GRID)
    # Check the rational matrix that will be used, not its floats.
    violations, largest = _violations(ptype, start)
    # The result is (1 - theta) X + theta K with a constant channel K; see `private_matrix`.
    breach, share, repaired = sum(violations, Fraction(0)), Fraction(0), start
    if breach:
        share = breach / (breach + 1 - largest)
        repaired = (1 - share) * start + share * objects(delta / breach for delta in violations)
    rationals = as_rationals(near)
    change, rounding = _largest_variation(repaired, rationals), _largest_variation(start, rationals)
    if within is not None and change > exact(within, "within"):
        raise PromiseBroken(
            f"the matrix must be within {within} of a private channel",
            came=float(change),
            where="repair",
            remedy="Pass a larger within=, or a channel closer to the privacy type.",
        )
    return Repair(stochastic(frozen(repaired), *names), change, share + rounding, breach, share)


def private_matrix(ptype: PrivacyType, near: Array) -> Array:
    """Return an exactly private channel of Fractions close to a float matrix that is nearly a private channel."""
    # Entries are rounded to multiples of 2^-60, and the largest entry of each row is changed to make the row sum 1. If
    # column r then violates privacy by delta_r, the constant c_r = delta_r / (1 - alpha) is added to its entries, where
    # alpha is the largest factor of an edge: a constant column of height 1 has the slack 1 - alpha. Finally all entries
    # are divided by 1 + sum_r c_r, which changes no ratio. Cost: O(edges k) float operations, and exact operations
    # where floats do not decide.
    units = _units(near, _GRID)
    violations, largest = _violations(ptype, units, _GRID)
    # Adding c to a column adds at least c (1 - alpha) to the slack of each of its constraints.
    added = objects(ceil(broken / (1 - largest)) if broken else 0 for broken in violations)
    return _fractions_of(units + added, _GRID + int(added.sum()))


def roomy_matrix(ptype: PrivacyType, near: Array) -> Array:
    """Return a private channel close to a nearly private float matrix, with so much slack that floats prove its
    privacy.
    """
    # Add 2^-46 / (1 - alpha) to every used column, where alpha is the largest factor of an edge, and scale rows to sum
    # 1. Then ratios of small entries are so far from their bounds that floats decide privacy, without exact numbers. If
    # alpha is so near 1 that this would change rows by more than 1e-10, nothing is added. Entries are multiples of
    # 2^-60, unless `private_matrix` has to correct them.
    largest = largest_alpha(ptype)
    used = near.max(axis=0) > 0
    up = ceil(Fraction(_GRID, 1 << 46) / (1 - largest))
    if up * int(used.sum()) > _GRID // 10**10:
        return private_matrix(ptype, near)
    total = _GRID - up * int(used.sum())
    raised = _units(near / near.sum(axis=1)[:, None], total) + np.where(used, up, 0).astype(object)
    matrix = _fractions_of(raised, _GRID)
    violations, _ = _violations(ptype, matrix)
    return private_matrix(ptype, near) if any(violations) else matrix


def feasible_dual(
    ptype: PrivacyType, consumer: Consumer, dual: Array, multipliers: Array | Multipliers
) -> tuple[Array, Array | Multipliers]:
    """Return the dual mu, lowered until it is certainly feasible, and the multipliers, with negative entries set to
    0.
    """
    nonnegative = multipliers if isinstance(multipliers, Multipliers) else np.maximum(multipliers, 0.0)
    mu, listed = np.array(dual), as_list(ptype, nonnegative)
    for _ in range(20):
        slack = edge_slacks(ptype, consumer, mu, listed, in_rationals=False).min(axis=1)
        if (slack >= 0).all():
            break
        # Lower mu by twice the violation, because the change itself adds a rounding error to the slack.
        mu = np.where(slack >= 0, mu, mu + 2 * slack - 2.0**-52 * abs(mu))
    return mu, nonnegative


def _violations(ptype: PrivacyType, matrix: Array, scale: int | None = None) -> tuple[list[Fraction], Fraction]:
    """Return the largest violation of a privacy constraint in each column, and the largest alpha^d of an edge."""
    violations = [Fraction(0)] * matrix.shape[1]
    for x, y, r, factor in doubtful_ratios(ptype, matrix, scale):
        if not at_most(factor, matrix[y, r], matrix[x, r]):
            violations[r] = max(violations[r], factor * matrix[y, r] - matrix[x, r])
    return violations, largest_alpha(ptype)


def _largest_variation(first: Array, second: Array) -> Fraction:
    return Fraction(max(abs(first - second).sum(axis=1))) / 2


def _fractions_of(units: Array, total: int) -> Array:
    return objects((Fraction(unit, total) for unit in units.ravel().tolist()), units.shape)


def _units(near: Array, total: int) -> Array:
    """Return each row as integers that sum to ``total``. The rounding remainder is added to the largest entry."""
    rows = [[int(u) for u in row] for row in np.rint(np.maximum(near, 0.0) * total).tolist()]
    for row, largest in zip(rows, near.argmax(axis=1).tolist(), strict=True):
        # The remainder changes the largest entry by the smallest ratio.
        row[largest] += total - sum(row)
    return objects((u for row in rows for u in row), near.shape)
