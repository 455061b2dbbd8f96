"""Repair of nearly private solutions: an exactly private channel, and for programs a feasible dual."""

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
    """An exactly private channel next to a matrix that was nearly one, and what the repair changed.

    Attributes:
        channel: Fractions; the privacy type contains it.
        change: Largest total variation distance between a row of the channel and that of the matrix, exactly: no
            event became likelier or less likely by more (for rows that sum to 1).
        bound: Bound of the change that follows from the breach and the rounding alone.
        breach: D = sum over outcomes of the most by which a constraint was broken; 0 for a private matrix.
        share: Theta, how much of the constant channel was mixed in.
    """

    channel: Channel
    change: Fraction
    bound: Fraction
    breach: Fraction
    share: Fraction


def repair(
    ptype: PrivacyType, channel: Channel | object, *, within: Number | None = None, tolerance: float = 1e-6
) -> Repair:
    """An exactly private channel next to a nearly private matrix: what a solver or a printed table gives, made safe.

    Exact entries are kept as they are; float entries are rounded to multiples of 2^-60, with each row's sum made 1 in
    its largest entry. What then violations the promise is corrected by mixing in a channel that says nothing.

    Args:
        ptype: Promise.
        channel: (n, m), a row for each secret of the type's space.
        within: Refuse a change beyond this.
        tolerance: Largest distance below 0 of a float entry, and from 1 of the sum of a float row.

    Raises:
        NotAChannel: for what is not even nearly a channel.
        PromiseBroken: where the change passes ``within``.

    >>> from utmost.spaces import discrete
    >>> local = PrivacyType(discrete(2), alpha="1/2")
    >>> found = repair(local, [[0.666667, 0.333333], [0.333333, 0.666667]])
    >>> local.contains(found.channel), float(found.change) < 1e-6
    (True, True)
    """
    instance(ptype, PrivacyType, "ptype")
    tolerance = real(tolerance, "tolerance")
    near, names = _near_channel(channel, ptype.space.size, tolerance)
    start = near if is_exact(near) else _fractions_of(_units(near, _GRID), _GRID)
    # In rationals: how far the matrix that would be handed out breaks privacy, and not the float beside it.
    violations, largest = _violations(ptype, start)
    repaired, share = _mixed_with_constant(start, violations, largest)
    rationals = as_rationals(near)
    change, rounding = _largest_variation(repaired, rationals), _largest_variation(start, rationals)
    if within is not None and change > exact(within, "within"):
        raise PromiseBroken(
            f"the matrix must be within {within} of a private channel", came=float(change), where="repair"
        )
    return Repair(stochastic(frozen(repaired), *names), change, share + rounding, sum(violations, Fraction(0)), share)


def private_matrix(ptype: PrivacyType, near: Array) -> Array:
    r"""An exactly private channel of Fractions next to a float matrix that is nearly one.

    Entries are rounded to multiples of 2^-60, and each row's largest entry makes its sum 1. If column r then violations
    privacy by delta_r, the constant c_r = delta_r / (1 - alpha) is added to all its entries, where alpha is the largest
    factor of an edge: a constant column of height 1 has the slack 1 - alpha. Last, everything is divided by
    1 + sum_r c_r, which changes no ratio.

    Cost: O(edges k) float operations, and exact ones where floats leave doubt.
    """
    units = _units(near, _GRID)
    violations, largest = _violations(ptype, units, _GRID)
    # A constant c added to a whole column adds c (1 - alpha) to each of its gaps: so much mends the worst of them.
    raised = objects(ceil(broken / (1 - largest)) if broken else 0 for broken in violations)
    return _fractions_of(units + raised, _GRID + int(raised.sum()))


def roomy_matrix(ptype: PrivacyType, near: Array) -> Array:
    r"""`private_matrix` of a float matrix whose rows keep the level with a little room, or nearly: floats can check it.

    To every column that is used the constant 2^-46 / (1 - alpha) is added, where alpha is the largest factor of an
    edge, and everything is scaled to sums of 1: then no ratio of small entries is too near its bound for a float to
    decide, as 2^-60 would be, and the exact numbers that `private_matrix` needs for each doubt are not needed. Where
    alpha is so near to 1 that the constants would cost more than 1e-10, nothing is added.

    Returns: multiples of 2^-60 (of other fractions where `private_matrix` has to correct).
    """
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
    """The dual with negative multipliers raised to 0, and mu lowered until it is certainly feasible."""
    nonnegative = multipliers if isinstance(multipliers, Multipliers) else np.maximum(multipliers, 0.0)
    mu, listed = np.array(dual), as_list(ptype, nonnegative)
    for _ in range(20):
        slack = edge_slacks(ptype, consumer, mu, listed, exactly=False).min(axis=1)
        if (slack >= 0).all():
            break
        # Twice what is missing, for the sum that is compared is rounded once more with each change.
        mu = np.where(slack >= 0, mu, mu + 2 * slack - 2.0**-52 * abs(mu))
    return mu, nonnegative


def _violations(ptype: PrivacyType, matrix: Array, scale: int | None = None) -> tuple[list[Fraction], Fraction]:
    """The largest violation of privacy in each column, and the largest factor of an edge."""
    violations = [Fraction(0)] * matrix.shape[1]
    for x, y, r, factor in doubtful_ratios(ptype, matrix, scale):
        if not at_most(factor, matrix[y, r], matrix[x, r]):
            violations[r] = max(violations[r], factor * matrix[y, r] - matrix[x, r])
    return violations, largest_alpha(ptype)


def _mixed_with_constant(matrix: Array, violations: list[Fraction], largest: Fraction) -> tuple[Array, Fraction]:
    """(1 - theta) X + theta times the constant channel, and theta: see `private_matrix`."""
    total = sum(violations, Fraction(0))
    if total == 0:
        return matrix, Fraction(0)
    theta = total / (total + 1 - largest)
    share = objects(delta / total for delta in violations)
    return np.asarray((1 - theta) * matrix + theta * share), theta


def _largest_variation(first: Array, second: Array) -> Fraction:
    """The largest total variation distance of two rows."""
    return Fraction(max(abs(first - second).sum(axis=1))) / 2


def _near_channel(
    matrix: Channel | object, rows: int, tolerance: float
) -> tuple[Array, tuple[ChannelLabels, ChannelLabels]]:
    """The entries, float or Fraction, and the names of secrets and outcomes."""
    if isinstance(matrix, Channel):
        near, names = matrix.matrix, (matrix.secrets, matrix.outcomes)
    else:
        with refused_as(NotAChannel):
            near, names = as_array(matrix, "channel", ndim=2), (None, None)
    if len(near) != rows or 0 in near.shape:
        raise NotAChannel(f"the channel must have {rows} rows, one for each secret", came=f"shape {near.shape}")
    allowed = 0 if is_exact(near) else tolerance
    for x, y in np.argwhere(near < -allowed)[:1]:
        raise NotAChannel(f"entry [{x}, {y}] of the channel must not be negative", came=str(near[x, y]))
    for x in np.flatnonzero(abs(near.sum(axis=1) - 1) > allowed)[:1]:
        raise NotAChannel(f"row {x} of the channel must sum to 1", came=str(near[x].sum()))
    return near, names


def _fractions_of(units: Array, total: int) -> Array:
    return objects((Fraction(unit, total) for unit in units.ravel().tolist()), units.shape)


def _units(near: Array, total: int) -> Array:
    """Each row in whole units that sum to ``total``: the largest entry takes what rounding leaves."""
    rows = [[int(u) for u in row] for row in np.rint(np.maximum(near, 0.0) * total).tolist()]
    for row, largest in zip(rows, near.argmax(axis=1).tolist(), strict=True):
        # On the largest entry the same few units are the least part of it.
        row[largest] += total - sum(row)
    return objects((u for row in rows for u in row), near.shape)
