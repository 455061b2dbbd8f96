"""Define the privacy type of a policy: all channels that satisfy a level for distances that may be zero, infinite or
asymmetric.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import PickledByFields, as_rationals
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.design.channels.channel import Channel
from utmost.design.privacy_types.privacy_type import Allowance, PrivacyType
from utmost.design.spaces.policies import Policy
from utmost.errors import NotAChannel, OutOfRange


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class PolicyType(Display, PickledByFields):
    """The channels C with C[x, y] <= exp(epsilon d(x, z)) C[z, y] for the distances d of a policy.

    Args:
        policy: Secrets and distances.
        epsilon, alpha: Level of one unit of distance, as epsilon or as alpha.

    Raises:
        OutOfRange: if all distances of the policy are infinite, because such a policy restricts no channel.

    >>> from utmost.channels import randomized_response
    >>> pairs = PolicyType(Policy.of_edges([("a", "b")], ["a", "b", "c"]), alpha="1/2")
    >>> pairs.contains(randomized_response(3, alpha="1/2")), pairs.contains([[1, 0], [1, 0], [0, 1]])
    (True, True)
    """

    policy: Policy
    level: Level

    def __init__(self, policy: Policy, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> None:
        instance(policy, Policy, "policy")
        if policy.is_public:
            remedy = "Join two secrets by an edge: Policy.of_edges([(x, y)], secrets)."
            came = f"{policy.size} secrets, all infinitely far apart"
            raise OutOfRange(
                "a policy must have a finite distance between two secrets", came=came, where="policy", remedy=remedy
            )
        object.__setattr__(self, "policy", policy)
        object.__setattr__(self, "level", level(epsilon, alpha))

    @property
    def parts(self) -> tuple[PrivacyType, ...]:
        """The privacy types of the metric spaces in `Policy.parts`.

        Raises:
            Unsupported: if the policy is not symmetric.
        """
        return tuple(PrivacyType(part.space, self.level) for part in self.policy.parts)

    def breach(self, channel: Channel | object) -> tuple[int, int, int] | None:
        """Return secrets x, z and an outcome y with C[x, y] > exp(epsilon d(x, z)) C[z, y]; None if none exist.

        The comparison is exact; float64 entries are converted to rationals exactly.

        Raises:
            NotAChannel: if ``channel`` is no channel, or has a wrong number of secrets.

        Cost: O(m) for each ordered pair of secrets at a finite distance.
        """
        read = channel if isinstance(channel, Channel) else Channel(channel)
        if read.shape[0] != self.policy.size:
            raise NotAChannel(
                f"the channel must have {self.policy.size} rows, one for each secret",
                came=read.shape[0],
                remedy="Pass a channel on the secrets of the policy.",
            )
        rows = as_rationals(read.matrix).tolist()
        for x, z, length in self.bounds():
            allowance = None if length == 0 else allowance_of(self.level, length)
            for y, (larger, smaller) in enumerate(zip(rows[x], rows[z], strict=True)):
                if larger > smaller and (allowance is None or not allowance.covers(larger, smaller)):
                    return x, z, y
        return None

    def contains(self, channel: Channel | object) -> bool:
        """Return whether the channel belongs to this type, that is, `breach` returns None."""
        return self.breach(channel) is None

    def bounds(self) -> list[tuple[int, int, Fraction]]:
        """Return (x, z, d(x, z)) for all ordered pairs of different secrets at a finite distance."""
        n, table = self.policy.size, self.policy.distances
        return [(x, z, table[x, z]) for x in range(n) for z in range(n) if x != z and table[x, z] != math.inf]

    def factors(self, length: Any) -> tuple[Fraction, Fraction]:
        """Return a lower and an upper rational bound of alpha^length, equal if the power is rational.

        Raises:
            OutOfRange: if the length is infinite.
        """
        if length == math.inf:
            raise OutOfRange(
                "a factor needs a finite distance", came="infinity", remedy="Pass a distance from `bounds`."
            )
        return (Fraction(1), Fraction(1)) if length == 0 else allowance_of(self.level, length).factors


@lru_cache(maxsize=4096)
def allowance_of(at: Level, length: Fraction) -> Allowance:
    return Allowance(at, length)
