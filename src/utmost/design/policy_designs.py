"""The best mechanism along a policy: part by part where it is symmetric, else as one program.

Secrets at distance 0 have one row, so a consumer of them is a consumer of their classes: probabilities add up and
losses are averaged with them. Between components nothing binds, so each is solved by itself. Where the policy differs
both ways the program is that of `user_program` with a factor for each direction; an irrational alpha^d is rounded up in
the program whose solution is taken, and down in the one that bounds what any mechanism loses.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.design.nearly_private import private_matrix
from utmost.design.optimum import Optimum, optimal_mechanism
from utmost.errors import OutOfRange
from utmost.exact import Array, as_rationals, checked, is_exact, objects, round_down, round_up
from utmost.exact.shown import Shown
from utmost.privacy import PolicyType, PrivacyType
from utmost.programs.exact_optima import solve_exactly
from utmost.programs.linear_program import LinearProgram, LinearSolution
from utmost.spaces import Consumer, PolicyPart

_SHORT = 1 << 60


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicyOptimum(Shown):
    """The best mechanism along a policy for a consumer.

    Attributes:
        ptype: policy and level.
        channel: (n, actions) Fractions, exactly private.
        loss: its expected loss: exact, or a float that is not below it.
        lower: no private mechanism loses less: equal to ``loss`` when exact, else a float rounded down.
        parts: of a symmetric policy the optimum of each part, with its certificate; else empty.
    """

    _shown = ("loss", "lower", "parts")

    ptype: PolicyType
    channel: Channel
    loss: Any
    lower: Any
    parts: tuple[Optimum, ...]

    def verify(self) -> bool:
        """Whether the mechanism is private, and every part's certificate holds."""
        return self.ptype.contains(self.channel) and all(part.certificate.verify() for part in self.parts)


@checked
def policy_mechanism(ptype: PolicyType, consumer: Consumer) -> PolicyOptimum:
    """The private channel along a policy with the least expected loss.

    Args:
        ptype: policy and level.
        consumer: prior and loss over the policy's secrets.

    Raises:
        OutOfRange: for another number of secrets.
        SolverFailed: when a program is not solved.

    Cost: that of `optimal_mechanism` for each part; of an asymmetric policy an exact program with n m variables.

    >>> from utmost.spaces import Policy, losses, priors
    >>> pairs = PolicyType(Policy.of_edges([("a", "b"), ("c", "d")], "abcd"), alpha="1/2")
    >>> found = policy_mechanism(pairs, Consumer(priors.uniform(4), losses.binary))
    >>> found.loss, found.verify()
    (Fraction(1, 3), True)
    """
    if consumer.secrets != ptype.policy.size:
        raise OutOfRange(f"the consumer must have {ptype.policy.size} secrets, as the policy", came=consumer.secrets)
    return _by_parts(ptype, consumer) if ptype.policy.is_symmetric else _by_program(ptype, consumer)


def _by_parts(ptype: PolicyType, consumer: Consumer) -> PolicyOptimum:
    rows: list[Any] = [None] * consumer.secrets
    lower = Fraction(0)
    found = []
    for part, kind in zip(ptype.policy.parts, ptype.parts, strict=True):
        mass, own = _of_part(part, consumer)
        best = optimal_mechanism(kind, own)
        found.append(best)
        lower += Fraction(mass) * Fraction(best.lower)
        for row, members in zip(_private(kind, best), part.classes, strict=True):
            for x in members:
                rows[x] = row
    matrix = np.stack(rows)
    loss = Fraction((as_rationals(consumer.prior)[:, None] * matrix * as_rationals(consumer.loss)).sum())
    if consumer.is_exact and loss == lower:
        return PolicyOptimum(ptype, Channel(matrix), loss, lower, tuple(found))
    # What the sums and quotients of the parts' floats have lost, each a share of 2^-53 at most.
    rounded = lower if consumer.is_exact else lower * (1 - Fraction(4 * consumer.secrets + 16, 1 << 53))
    return PolicyOptimum(ptype, Channel(matrix), round_up(loss), round_down(rounded), tuple(found))


def _private(kind: PrivacyType, best: Optimum) -> Array:
    """The mechanism of a part in Fractions, exactly private."""
    matrix = best.channel.matrix if best.certificate.matrix is None else best.certificate.matrix
    return matrix if is_exact(matrix) else private_matrix(kind, matrix)


def _of_part(part: PolicyPart, consumer: Consumer) -> tuple[Any, Consumer]:
    """The chance of a part, and the consumer of its classes."""
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


def _by_program(ptype: PolicyType, consumer: Consumer) -> PolicyOptimum:
    bounds = [(x, z, ptype.factors(length)) for x, z, length in ptype.bounds()]
    above = [(x, z, Fraction(-(-high * _SHORT // 1), _SHORT) if low < high else high) for x, z, (low, high) in bounds]
    below = [(x, z, Fraction(low * _SHORT // 1, _SHORT) if low < high else low) for x, z, (low, high) in bounds]
    taken = _solved(consumer, above)
    k = consumer.actions
    lower = taken.value if above == below else _solved(consumer, below).value
    return PolicyOptimum(ptype, Channel(taken.primal.reshape(-1, k)), taken.value, lower, ())


def _solved(consumer: Consumer, bounds: list[tuple[int, int, Fraction]]) -> LinearSolution:
    """min sum_i p_i sum_r x_ir l(i, r) subject to x_zr - factor x_xr >= 0 for each bound, and rows that sum to 1."""
    n, k = consumer.secrets, consumer.actions
    actions, count = np.arange(k), len(bounds)
    xs, zs = (np.array([bound[side] for bound in bounds], dtype=np.int64) for side in (0, 1))
    factors = objects([-factor for _, _, factor in bounds]).repeat(k)
    rows = np.arange(count * k)
    columns = [(side[:, None] * k + actions).ravel() for side in (zs, xs)]
    one, zero = Fraction(1), Fraction(0)
    cost: Array = as_rationals(consumer.prior)[:, None].repeat(k, axis=1) * as_rationals(consumer.loss)
    return solve_exactly(
        LinearProgram.of_triplets(
            cost.ravel(),
            np.concatenate([rows, rows, count * k + np.repeat(np.arange(n), k)]),
            np.concatenate([*columns, np.arange(n * k)]),
            np.concatenate([objects([one] * (count * k)), factors, objects([one] * (n * k))]),
            objects([*[zero] * (count * k), *[one] * n]),
            objects([*[np.inf] * (count * k), *[one] * n]),
        )
    )
