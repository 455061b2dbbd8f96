"""Compute Shannon entropy, mutual information, guessing entropy, and the Shannon capacity of a channel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, real
from utmost.core.exact.arrays import Array, Floats, fractions, frozen, is_exact, to_floats
from utmost.core.exact.display import Display
from utmost.design.channels.channel import Channel
from utmost.design.leakage.channel_capacity import (
    Capacity,
    CapacityKind,
    as_channel,
    best_of_corners,
    check_kind,
    uniform_on_sets,
)
from utmost.design.leakage.measures import Measure, columns_of, columns_or_prior
from utmost.errors import OutOfRange, SolverFailed

_MOST_ROUNDS, _NEWTON_EVERY = 20_000, 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ShannonBounds(Display):
    """A prior, and the bounds on the Shannon capacity that it proves, in bits: lower <= capacity <= upper."""

    # The lower bound is the mutual information at the prior; the upper bound is max_x D(C[x] || q), where q is the
    # distribution of outcomes at the prior. Both bounds include the largest possible rounding error.
    prior: Array
    lower: float
    upper: float


def shannon_capacity(channel: Channel, gap: float = 1e-9) -> Capacity:
    """Return the Shannon capacity: the maximum over priors of the mutual information of secret and outcome, in bits.

    The method is the iteration of Blahut and Arimoto, p_x <- p_x 2^D(C[x] || q) / sum, where q is the distribution of
    outcomes. After every 20 rounds, Newton's method is tried on the optimality conditions D(C[x] || q) = capacity for
    all x with p_x > 0, and its result is used if it narrows the bounds.

    Args:
        channel: Channel (n, m); exact entries are rounded to floats.
        gap: Largest distance between the lower and the upper bound, in bits.

    Returns:
        A `Capacity` whose value is the lower bound, never above the capacity; the certificate is a `ShannonBounds`.

    Raises:
        SolverFailed: if the bounds stay farther apart than ``gap``.

    >>> half = shannon_capacity(Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> round(half.value, 9), half.certificate.upper - half.value < 1e-9
    (0.188721876, True)
    """
    instance(channel, Channel, "channel")
    gap = real(gap, "gap")
    if gap <= 0:
        raise OutOfRange("gap must be positive", came=gap, where="shannon_capacity")
    matrix = to_floats(channel.matrix) if is_exact(channel.matrix) else channel.matrix
    rows = matrix[:, matrix.sum(axis=0) > 0]
    prior = np.full(len(rows), 1 / len(rows))
    best = bounds_at(rows, prior)
    for turn in range(_MOST_ROUNDS):
        if best.upper - best.lower <= gap:
            return Capacity(best.lower, channel, best)
        if turn % _NEWTON_EVERY == _NEWTON_EVERY - 1:
            prior = _newton_steps(rows, prior)
        else:
            weights = prior * np.exp2(_divergences(rows, prior))
            prior = weights / weights.sum()
        bounds = bounds_at(rows, prior)
        if bounds.upper - bounds.lower < best.upper - best.lower:
            best = bounds
    raise SolverFailed(
        f"the bounds of the Shannon capacity must come within {gap}",
        came=best.upper - best.lower,
        remedy="Pass a larger gap.",
    )


def bounds_at(rows: Array, prior: Array) -> ShannonBounds:
    """Return a lower and an upper bound on the Shannon capacity of a channel with rows (n, m), from a prior (n,)."""
    each, information = _divergences(rows, prior), _information(rows, prior)
    # Each term p log p has an error of a few units in the last place; the error of a sum is at most the sum of their
    # errors, and of its own rounding.
    error = 2.0**-50 * (8 + rows.shape[1] + len(rows)) * max(1.0, information)
    return ShannonBounds(frozen(prior.copy()), max(0.0, information - error), float(each.max()) + error)


def _divergences(rows: Floats, prior: Floats) -> Floats:
    """Return D(C[x] || q) in bits for every secret x, where q is the distribution of outcomes at the prior."""
    q = prior @ rows
    shown = rows > 0
    ratios = np.divide(rows, q, out=np.ones_like(rows), where=shown & (q > 0))
    ratios[shown & (q <= 0)] = np.inf
    divergences: Floats = np.where(shown, rows * np.log2(ratios), 0.0).sum(axis=1)
    return divergences


def _information(rows: Floats, prior: Floats) -> float:
    used = prior > 0
    return float(prior[used] @ _divergences(rows[used], prior[used]))


def _newton_steps(rows: Floats, prior: Floats) -> Floats:
    """Return the prior after Newton steps if they narrow the bounds, else the given prior."""
    # A secret whose probability reaches 0 leaves the support. If no step narrows the bounds, the secret with the
    # largest divergence enters it.
    p = np.where(prior > 1e-9 * prior.max(), prior, 0.0)  # tiny probabilities become 0; their secrets may enter again
    p = p / p.sum()
    for _ in range(20 + 5 * len(p)):
        moved = _damped_step(rows, p)
        if moved is not None:
            p = moved
            continue
        each = _divergences(rows, p)
        most = int(np.argmax(each))
        if p[most] > 0:
            break
        p = 0.99 * p
        p[most] += 1 - p.sum()
    here, there = bounds_at(rows, prior), bounds_at(rows, p)
    return p if there.upper - there.lower < here.upper - here.lower else prior


def _damped_step(rows: Floats, p: Floats) -> Floats | None:
    """Return p after the longest part of a Newton step that keeps it in the simplex and adds information, or None."""
    used = np.flatnonzero(p > 0)
    # A Newton step makes all divergences equal to first order, and preserves the sum of p.
    k, q = len(used), p[used] @ rows[used]
    shown = q > 0
    system = np.ones((k + 1, k + 1))
    system[:k, :k] = -(rows[used][:, shown] / q[shown]) @ rows[used][:, shown].T / np.log(2)
    system[:k, k], system[k, k] = -1.0, 0.0
    step = np.zeros(len(p))
    step[used] = np.linalg.lstsq(system, np.append(-_divergences(rows[used], p[used]), 0.0), rcond=None)[0][:k]
    falling = used[step[used] < 0]
    limits = -p[falling] / step[falling]
    part, information = min(1.0, limits.min(initial=1.0)), _information(rows, p)
    for _ in range(12):
        moved: Floats = np.maximum(p + part * step, 0.0)
        if limits.size and part == limits.min():
            # The entry that limits the step becomes exactly 0, in spite of rounding.
            moved[falling[np.argmin(limits)]] = 0.0
        moved /= moved.sum()
        if _information(rows, moved) > information:
            return moved
        part /= 2
    return None


@dataclass(frozen=True, slots=True)
class ShannonEntropy(Measure):
    """Shannon entropy H(p) = sum_x p_x log2(1/p_x) in bits, a float; its additive leakage is the mutual information."""

    @property
    def name(self) -> str:
        return "Shannon entropy"

    @property
    def meaning(self) -> str:
        return "bits of uncertainty; its additive leakage is the mutual information"

    @property
    def rises(self) -> bool:
        return False

    def of_columns(self, J: Array) -> Array:
        """Return sum_x J[x, y] log2(w_y / J[x, y]) for each column y, with w_y the sum of column y."""
        joint = to_floats(J) if is_exact(J) else J
        return np.asarray(_log_ratio_terms(joint, np.broadcast_to(joint.sum(axis=0), joint.shape), sign=-1).sum(axis=0))

    def additive_leakage(self, channel: object, prior: object = None) -> float:
        """Return the mutual information sum J[x, y] log2(J[x, y] / (p_x w_y)) in bits, without cancellation."""
        joint = columns_of(channel, prior)
        J = to_floats(joint) if is_exact(joint) else joint
        independent = J.sum(axis=1)[:, None] * J.sum(axis=0)[None, :]
        return max(0.0, float(_log_ratio_terms(J, independent, sign=1).sum()))

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """Return `shannon_capacity` for the additive kind; raise Unsupported for the multiplicative kind."""
        return shannon_capacity(as_channel(channel)) if kind == "additive" else Measure.capacity(self, channel, kind)


@dataclass(frozen=True, slots=True)
class GuessingEntropy(Measure):
    """Guessing entropy G(p) = sum_i i p_(i), with p_(1) >= p_(2) >= ...: the expected number of guesses if the most
    likely secrets are guessed first.
    """

    @property
    def name(self) -> str:
        return "guessing entropy"

    @property
    def meaning(self) -> str:
        return "the guesses needed, one after another"

    @property
    def rises(self) -> bool:
        return False

    def of_columns(self, J: Array) -> Array:
        guesses = np.arange(len(J), 0, -1)
        weights = fractions(guesses) if is_exact(J) else guesses.astype(np.float64)
        return np.asarray((np.sort(J, axis=0) * weights[:, None]).sum(axis=0))

    def strategy(self, channel: object, prior: object = None) -> NDArray[np.intp]:
        """Return the best order of guesses for each outcome, as a column of an (n, m) array. Equally likely secrets are
        in ascending order.
        """
        J = columns_or_prior(channel, prior)
        return frozen(np.argsort(-J, axis=0, kind="stable"))

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """Return the largest leakage over all priors; a uniform prior on one of 2^n - 1 sets of secrets attains it."""
        check_kind(kind)
        C = as_channel(channel)
        return best_of_corners(C, self, kind, uniform_on_sets(C.shape[0]))


def _log_ratio_terms(J: Any, other: Any, sign: int) -> Any:
    """Return sign * J * log2(J / other) for each entry of J, and 0 for an entry 0."""
    safe = np.where(J > 0, J, 1.0)
    return np.where(J > 0, sign * J * np.log2(safe / np.where(J > 0, other, 1.0)), 0.0)


shannon_entropy = ShannonEntropy()
"""Shannon entropy H(p) = sum_x p_x log2(1/p_x), in bits."""

guessing_entropy = GuessingEntropy()
"""Guessing entropy G(p), the expected number of guesses until the secret is found."""
