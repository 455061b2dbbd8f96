"""A privacy type: all channels on a space that keep a level along its metric."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import log
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.errors import NotAChannel, OutOfRange
from utmost.exact import Array, Level, Number, checked, is_exact, level
from utmost.privacy.ratios import Allowance, log_gaps, log_probabilities, suspects
from utmost.spaces import Space, counts, discrete

# A float64 zero stands for every probability below the smallest normal float.
_LOG_OF_NOTHING = log(np.finfo(np.float64).smallest_normal)


@dataclass(frozen=True, slots=True, eq=False, init=False, weakref_slot=True)
class PrivacyType:
    """The channels C on a space with C[x, y] <= exp(epsilon d(x, z)) C[z, y] for all secrets x, z and outcomes y.

    On `counts(n)` these are the private count mechanisms (the central model); on `discrete(k)` the mechanisms of the
    local model: see `central` and `local`.

    Args:
        space: the secrets and their metric.
        epsilon, alpha: the level of one unit of distance, one of them.

    Source: [fernandes2022], section III; for counts, [ghosh2009], section 2.1.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.spaces import counts
    >>> PrivacyType(counts(3), alpha="1/2").contains(geometric_channel(3, alpha="1/2"))
    True
    """

    space: Space
    level: Level

    def __init__(self, space: Space, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> None:
        if not isinstance(space, Space):
            raise OutOfRange("a privacy type needs a space", came=repr(space), mend="Write counts(n), say.")
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "level", level(epsilon, alpha))

    @classmethod
    @checked
    def central(cls, n: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> "PrivacyType":
        """The central model: mechanisms for a count over n rows, at the level of one row.

        >>> PrivacyType.central(10, alpha="1/2").space
        Space(LineMetric(n=10))
        """
        return cls(counts(n), epsilon, alpha=alpha)

    @classmethod
    @checked
    def local(cls, k: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> "PrivacyType":
        """The local model: mechanisms by which each individual noises one of k values at home.

        >>> PrivacyType.local(4, epsilon=1).space
        Space(DiscreteMetric(k=4))
        """
        return cls(discrete(k), epsilon, alpha=alpha)

    @property
    def epsilon(self) -> Fraction | float:
        """epsilon of one unit of distance: exact where rational, else rounded up."""
        return self.level.epsilon

    @property
    def alpha(self) -> Fraction | float:
        """alpha = exp(-epsilon): exact where rational, else the nearest float."""
        return self.level.alpha

    @checked
    def contains(self, channel: Channel | object, tolerance: float = 1e-12) -> bool:
        """Whether the channel keeps the promise of the type.

        Args:
            channel: n rows. An exact channel is decided exactly, whatever the level and the distances.
            tolerance: for float64 channels: the promise is asked up to a factor of exp(tolerance), which is what
                rounding leaves of an exact one, and a float 0 stands for any probability below the smallest normal
                float. With tolerance 0 the floats are taken as the rationals that they are, and decided exactly.

        Raises:
            NotAChannel: for what is no channel, and for another number of secrets.

        Cost: O(m) for each essential edge of the space.
        """
        matrix = rows_of(channel, self.space)
        if is_exact(matrix):
            return self._keeps_exactly(matrix)
        if tolerance == 0:
            return self._keeps_exactly(np.vectorize(Fraction, otypes=[object])(matrix))
        if tolerance < 0:
            raise OutOfRange("the tolerance must not be negative", came=tolerance, where="contains")
        logs, epsilon = log_probabilities(matrix), self.level.epsilon_float
        for edges, lengths, gaps in log_gaps(logs, self.space):
            larger = np.maximum(logs[edges[:, 0]], logs[edges[:, 1]])
            allowed = epsilon * lengths
            if ((abs(gaps) > allowed + tolerance) & (larger - allowed > _LOG_OF_NOTHING)).any():
                return False
        return True

    def _keeps_exactly(self, matrix: Array) -> bool:
        allowance = cache(lambda x, z: Allowance(self.level, self.space.length(x, z)))
        return all(
            allowance(x, z).covers(matrix[x, y], matrix[z, y])
            for x, z, y in suspects(matrix, self.space, self.level.epsilon_float)
        )

    @checked
    def restrict(self, secrets: Sequence[int]) -> "PrivacyType":
        """The type of the same level on some of the secrets only.

        Source: [fernandes2022], section IV-C.
        """
        return PrivacyType(self.space.restrict(secrets), self.level)

    @checked
    def same_as(self, other: "PrivacyType") -> bool:
        """Whether both have the same space and level."""
        return self.level == other.level and self.space.same_as(other.space)

    def __reduce__(self) -> tuple[Any, ...]:
        return PrivacyType, (self.space, self.level)

    def __repr__(self) -> str:
        return f"PrivacyType({self.space!r}, {self.level})"


def rows_of(channel: Channel | object, space: Space) -> Array:
    """The matrix of a channel, or of what can be read as one, that has a row for each secret of a space."""
    read = channel if isinstance(channel, Channel) else Channel(channel)
    if read.shape[0] != space.size:
        raise NotAChannel(f"the channel must have {space.size} rows, one for each secret", came=read.shape[0])
    return read.matrix
