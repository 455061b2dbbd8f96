"""Compute the capacity of the privacy type of a symmetric policy, from the capacities of its parts.

A part contains the secrets at finite distances from each other; secrets at distance 0 have the same row. Repeated rows
change neither sum_y max_x C[x, y] nor sum_y min_x C[x, y]. Mechanisms of different parts may use different outcomes,
and sum_y max_x C[x, y] over all secrets x is at most the sum of these numbers for the parts, so the multiplicative
capacity is the sum of the multiplicative capacities of the parts. With two or more parts, some mechanism has no outcome
that is possible for all secrets, so the additive capacity is 1. (The magnitude of a disjoint union is the sum of the
magnitudes too.)
"""

from dataclasses import dataclass
from fractions import Fraction

from utmost.core.exact.arguments import instance
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_down, round_up
from utmost.design.capacities.capacity import capacity
from utmost.design.capacities.capacity_evidence import TypeCapacity
from utmost.design.leakage.channel_capacity import CapacityKind, check_kind
from utmost.design.privacy_types.policy_types import PolicyType


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PolicyCapacity(Display):
    """The largest leakage of any mechanism of the privacy type of a policy."""

    _shown = ("value", "kind", "parts")

    kind: CapacityKind
    value: Fraction | float  # upper bound of the capacity; exact if the capacities of the parts are exact
    lower: Fraction | float  # lower bound of the capacity: the leakage of some mechanism
    parts: tuple[TypeCapacity, ...]  # capacity of each part, with its certificate; empty if an additive capacity is 1

    def verify(self) -> bool:
        """Check the certificate of every part, and that the certificates prove `value` and `lower`."""
        if not self.parts:
            return self.kind == "additive" and self.value == self.lower == 1
        low, high = _summed_bounds(self.parts)
        is_bounded = self.lower <= low and high <= self.value
        return (
            is_bounded
            and all(part.certificate.kind == self.kind for part in self.parts)
            and all(part.certificate.verify() for part in self.parts)
        )


def policy_capacity(ptype: PolicyType, kind: CapacityKind = "multiplicative") -> PolicyCapacity:
    """Return the largest leakage, over all gains and priors, of any mechanism of the privacy type of a symmetric
    policy.

    Raises:
        Unsupported: if the policy is not symmetric, or if a part is too large for every method.
        OutOfRange: if ``kind`` is neither "multiplicative" nor "additive".

    >>> from utmost.spaces import Policy, counts
    >>> two = PolicyType(Policy.product(Policy.public(2), counts(5)), alpha="1/2")
    >>> policy_capacity(two).value, policy_capacity(two, "additive").value
    (Fraction(16, 3), Fraction(1, 1))
    """
    instance(ptype, PolicyType, "ptype")
    check_kind(kind)
    kinds = ptype.parts
    if kind == "additive" and len(kinds) > 1:
        return PolicyCapacity(kind, Fraction(1), Fraction(1), ())
    capacities = tuple(capacity(part, kind=kind) for part in kinds)
    low, high = _summed_bounds(capacities)
    return PolicyCapacity(kind, high, low, capacities)


def _summed_bounds(parts: tuple[TypeCapacity, ...]) -> tuple[Fraction | float, Fraction | float]:
    """Return the sum of the lower bounds and the sum of the upper bounds of parts; floats are rounded outward."""
    low, high = (sum((Fraction(end) for end in ends), Fraction(0)) for ends in zip(*map(_ends, parts), strict=True))
    exactly = all(isinstance(end, Fraction) for part in parts for end in _ends(part))
    return (low, high) if exactly else (round_down(low), round_up(high))


def _ends(part: TypeCapacity) -> tuple[Fraction | float, Fraction | float]:
    return part.lower, part.upper
