"""Find the best mechanism for a policy: a separate design for each part of a symmetric policy, else one linear program.

A policy is a table of distances that may be 0, infinite or asymmetric. Secrets at distance 0 have the same row of a
channel, so they form a class. The probability of a class is the sum of the probabilities of its secrets, and the loss
of a class is the weighted mean of the losses of its secrets. Secrets at infinite distance do not constrain each other,
so each part of the policy is solved separately. For an asymmetric policy the program is that of `user_program`, with
one factor for each direction. An irrational alpha^d is rounded up in the program that gives the mechanism, and down in
the program that gives the lower bound of the loss.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, as_rationals, objects
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_down, round_up
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.linear_program import LinearProgram, LinearSolution
from utmost.design.channels.channel import Channel
from utmost.design.optima.checker import matrix_loss
from utmost.design.optima.optimum import Optimum, optimal_mechanism
from utmost.design.privacy_types.policy_types import PolicyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.policies import PolicyPart
from utmost.errors import OutOfRange

_DENOMINATOR = 1 << 60

Bound = tuple[int, int, Fraction]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicyOptimum(Display):
    """The mechanism with the least expected loss for a policy and a consumer, with bounds."""

    _shown = ("loss", "lower", "parts")

    ptype: PolicyType
    consumer: Consumer
    channel: Channel  # (n, actions) Fractions, exactly private
    loss: Fraction | float  # exact, or rounded up
    lower: Fraction | float  # lower bound of the loss of any private mechanism: exact, or rounded down
    parts: tuple[Optimum, ...]  # the optimum of each part of a symmetric policy; empty for an asymmetric policy

    def verify(self) -> bool:
        """Check that the mechanism is private, that its loss is at most `loss`, and that `lower` is a lower bound."""
        # The certificates of the parts prove the lower bound; for an asymmetric policy the program is solved again.
        matrix = as_rationals(self.channel.matrix)
        if self.channel.shape != (self.consumer.secrets, self.consumer.actions) or not self.ptype.contains(
            self.channel
        ):
            return False
        if not matrix_loss(self.consumer, matrix, exactly=True) <= self.loss:
            return False
        if not self.parts:
            return bool(self.lower <= _solved(self.consumer, _rounded_factors(self.ptype)[0]).value)
        # The certificate of each part must verify, and must be for its type and consumer.
        for best, kind, part in zip(self.parts, self.ptype.parts, self.ptype.policy.parts, strict=True):
            proof, (_, own) = best.certificate, _consumer_of_part(part, self.consumer)
            if proof.ptype.level != kind.level or not proof.ptype.space.same_as(kind.space):
                return False
            same_prior = np.array_equal(proof.consumer.prior, own.prior)
            if not same_prior or not np.array_equal(proof.consumer.loss, own.loss) or not proof.verify():
                return False
        return bool(self.lower <= _bounds_from_parts(self.ptype, self.consumer, self.parts)[0])


def policy_mechanism(ptype: PolicyType, consumer: Consumer) -> PolicyOptimum:
    """Return the channel with the least expected loss in the privacy type of a policy.

    Args:
        ptype: Privacy type of a policy: policy and level.
        consumer: Prior and loss over the secrets of the policy.

    Raises:
        OutOfRange: if consumer and policy have different numbers of secrets.
        SolverFailed: if a solver finds no optimum.

    Cost: one `optimal_mechanism` for each part; for an asymmetric policy, an exact program with n m variables.

    >>> from utmost.spaces import Policy

    >>> from utmost.design.spaces import losses, priors
    >>> pairs = PolicyType(Policy.of_edges([("a", "b"), ("c", "d")], "abcd"), alpha="1/2")
    >>> found = policy_mechanism(pairs, Consumer(priors.uniform(4), losses.binary))
    >>> found.loss, found.verify()
    (Fraction(1, 3), True)
    """
    instance(ptype, PolicyType, "ptype")
    instance(consumer, Consumer, "consumer")
    if consumer.secrets != ptype.policy.size:
        raise OutOfRange(
            f"the consumer must have {ptype.policy.size} secrets, like the policy",
            came=consumer.secrets,
            remedy="Pass a prior and a loss on the secrets of the policy.",
        )
    if not ptype.policy.is_symmetric:
        below, above = _rounded_factors(ptype)
        taken = _solved(consumer, above)
        lower = taken.value if above == below else _solved(consumer, below).value
        channel = Channel(taken.primal.reshape(-1, consumer.actions))
        return PolicyOptimum(ptype, consumer, channel, taken.value, lower, ())
    rows: list[Any] = [None] * consumer.secrets
    optimums = []
    for part, kind in zip(ptype.policy.parts, ptype.parts, strict=True):
        best = optimal_mechanism(kind, _consumer_of_part(part, consumer)[1])
        optimums.append(best)
        # the matrix is exactly private; for a float consumer, the part's channel is rounded
        proved = best.certificate.matrix
        matrix = best.channel.matrix if proved is None else proved
        for row, members in zip(matrix, part.classes, strict=True):
            for x in members:
                rows[x] = row
    lower, loss = _bounds_from_parts(ptype, consumer, tuple(optimums))
    return PolicyOptimum(ptype, consumer, Channel(np.stack(rows)), loss, lower, tuple(optimums))


def _bounds_from_parts(ptype: PolicyType, consumer: Consumer, parts: tuple[Optimum, ...]) -> tuple[Any, Any]:
    """Return bounds for the whole policy from the optima of the parts; floats are rounded outward."""
    # In floats, the prior and loss of a part are rounded, so they differ slightly from those of the whole consumer.
    # Rows of a channel sum to 1, so the rounded loss differs from the loss by at most the sum over rows of the largest
    # difference in a row.
    low, high = Fraction(0), Fraction(0)
    for part, best in zip(ptype.policy.parts, parts, strict=True):
        mass, own = _consumer_of_part(part, consumer)
        off = Fraction(0)
        for c, members in enumerate(part.classes):
            truly = sum(as_rationals(consumer.prior[[x]]) * as_rationals(consumer.loss[x]) for x in members)
            taken = Fraction(mass) * Fraction(own.prior[c]) * as_rationals(own.loss[c])
            # The average of differences over a row of probabilities is at most the largest difference.
            off += max(abs(truly - taken))
        low, high = low + Fraction(mass) * Fraction(best.lower) - off, high + Fraction(mass) * Fraction(best.loss) + off
    exactly = consumer.is_exact and all(isinstance(end, Fraction) for best in parts for end in (best.lower, best.loss))
    return (low, high) if exactly else (round_down(max(low, Fraction(0))), round_up(high))


def _consumer_of_part(part: PolicyPart, consumer: Consumer) -> tuple[Any, Consumer]:
    """Return the probability of a part of the policy, and the consumer whose secrets are the classes of this part."""
    masses, losses = [], []
    for members in part.classes:
        weights, table = consumer.prior[list(members)], consumer.loss[list(members)]
        mass = weights.sum()
        masses.append(mass)
        losses.append((weights[:, None] * table).sum(axis=0) / mass if mass else table.sum(axis=0) / len(members))
    whole = sum(masses)
    count = len(masses)
    even = Fraction(1, count) if consumer.is_exact else 1 / count
    prior = [mass / whole if whole else even for mass in masses]
    return whole, Consumer(prior, np.stack(losses))


def _rounded_factors(ptype: PolicyType) -> tuple[list[Bound], list[Bound]]:
    """Return two lists of (x, z, alpha^d(x, z)) for pairs at finite distance: one rounded down, one rounded up."""
    bounds = [(x, z, ptype.factors(length)) for x, z, length in ptype.bounds()]
    above = [
        (x, z, Fraction(-(-high * _DENOMINATOR // 1), _DENOMINATOR) if low < high else high)
        for x, z, (low, high) in bounds
    ]
    below = [
        (x, z, Fraction(low * _DENOMINATOR // 1, _DENOMINATOR) if low < high else low) for x, z, (low, high) in bounds
    ]
    return below, above


def _solved(consumer: Consumer, bounds: list[Bound]) -> LinearSolution:
    """Minimise sum_i p_i sum_r x_ir l(i, r) over channels x with x_zr >= factor x_xr for each (x, z, factor)."""
    n, k = consumer.secrets, consumer.actions
    actions, count = np.arange(k), len(bounds)
    xs, zs = (np.array([bound[side] for bound in bounds], dtype=np.int64) for side in (0, 1))
    factors = objects([-factor for _, _, factor in bounds]).repeat(k)
    rows = np.arange(count * k)
    columns = [(side[:, None] * k + actions).ravel() for side in (zs, xs)]
    unit, nothing = Fraction(1), Fraction(0)
    cost: Array = as_rationals(consumer.prior)[:, None].repeat(k, axis=1) * as_rationals(consumer.loss)
    return solve_exactly(
        LinearProgram.of_triplets(
            cost.ravel(),
            np.concatenate([rows, rows, count * k + np.repeat(np.arange(n), k)]),
            np.concatenate([*columns, np.arange(n * k)]),
            np.concatenate([objects([unit] * (count * k)), factors, objects([unit] * (n * k))]),
            objects([*[nothing] * (count * k), *[unit] * n]),
            objects([*[np.inf] * (count * k), *[unit] * n]),
        )
    )
