"""A privacy type: all channels on a space that keep a level along its metric."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from utmost.channels.channel import Channel
from utmost.errors import NotAChannel
from utmost.exact import Level, Number, level
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True, eq=False, init=False)
class PrivacyType:
    """The channels C on a space with alpha^d(x, x') C[x, y] <= C[x', y] for all secrets x, x' and outcomes y.

    Args:
        space: the secrets and their metric.
        epsilon, alpha: the level, one of them.

    Source: [fernandes2022], section III; for counts, [ghosh2009], section 2.1.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> PrivacyType(counts(3), alpha="1/2").contains(geometric_channel(3, alpha="1/2"))
    True
    """

    space: Space
    level: Level

    def __init__(self, space: Space, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> None:
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "level", level(epsilon, alpha))

    def contains(self, channel: Channel, tolerance: float = 1e-12) -> bool:
        """Whether the channel keeps the promise: exactly for an exact channel, else up to ``tolerance`` relative."""
        if channel.shape[0] != self.space.size:
            raise NotAChannel(f"the channel must have {self.space.size} rows", came=channel.shape[0])
        matrix = channel.matrix
        for x, y in self.space.edges:
            factor = self._factor(self.space.metric.distance(x, y), channel.is_exact)
            slack = 0 if channel.is_exact else tolerance
            one, two = matrix[x], matrix[y]
            if (factor * one > two * (1 + slack)).any() or (factor * two > one * (1 + slack)).any():
                return False
        return True

    def _factor(self, distance: Any, exactly: bool) -> Any:
        at = self.level.scaled(int(distance) if isinstance(distance, np.integer) else distance)
        return at.alpha_fraction() if exactly and at.is_rational else at.alpha

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivacyType, (self.space, self.level)
