"""Mechanisms that are larger than what describes them: matrices written as a kernel and some weights.

Each has ``shape``, ``matrix`` (formed when asked for), and can be given wherever a channel is read.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.channels import Channel
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.profiles import profile, profile_sum
from utmost.design.capacity.row_sums import row_sums
from utmost.exact import Array, frozen, is_exact, nearest, one_world, to_floats
from utmost.privacy import PrivacyType


class ImplicitMechanism(ABC):
    """A channel that is written down as a matrix only when someone asks for it."""

    __slots__ = ()

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """(secrets, outcomes)."""

    @property
    @abstractmethod
    def matrix(self) -> Array:
        """The whole matrix, read-only: Fractions where every entry is rational, else float64. Cost: O(n m)."""

    def channel(self) -> Channel:
        """The mechanism as a channel. Cost: O(n m)."""
        return Channel(self.matrix)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.matrix, dtype=dtype)


@dataclass(frozen=True, slots=True, eq=False)
class KernelMechanism(ImplicitMechanism):
    """M[x, j] = alpha^(sign d(x, j)) weights[j], and, where it has a rest, one more column that makes rows sum to 1.

    Attributes:
        ptype: n secrets.
        weights: (n,) nonnegative Fractions.
        sign: 1 or -1.
        has_rest: whether there is the column 1 - sum_j M[., j].
    """

    ptype: PrivacyType
    weights: Array
    sign: int = 1
    has_rest: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights.copy()))

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return self.ptype.space.size, len(self.weights) + self.has_rest

    @property
    def matrix(self) -> Array:  # noqa: D102
        kernel = Kernel.of(self.ptype).matrix(self.sign)
        columns = kernel * (self.weights if is_exact(kernel) else to_floats(self.weights))
        if not self.has_rest:
            return frozen(columns)
        low, high = row_sums(self.ptype, self.weights, self.sign)
        # A rest far below the last place of the row sums is still a column of its own: it is not read off floats.
        rest = np.array([1 - (below + above) / 2 for below, above in zip(low, high, strict=True)], dtype=object)
        rest = rest if is_exact(columns) else np.maximum(rest.astype(np.float64), 0.0)
        return frozen(np.concatenate([columns, rest[:, None]], axis=1))

    def __reduce__(self) -> tuple[Any, ...]:
        return KernelMechanism, (self.ptype, self.weights, self.sign, self.has_rest)


@dataclass(frozen=True, slots=True, eq=False)
class UniformMechanism(ImplicitMechanism):
    """M[x, j] = alpha^(sign d(x, j)) / s where every secret sees the same distances, so that all rows have one sum s.

    Sign 1 is randomised response on equally distant secrets, sign -1 its dual.

    Attributes:
        ptype: n secrets that are alike.
        sign: 1 or -1.
    """

    ptype: PrivacyType
    sign: int = 1

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        return self.ptype.space.size, self.ptype.space.size

    @property
    def matrix(self) -> Array:  # noqa: D102
        found = profile(self.ptype.space)
        assert found is not None, "the secrets of a uniform mechanism are alike"
        total = profile_sum(self.ptype.level, found, self.sign)
        kernel = Kernel.of(self.ptype).matrix(self.sign)
        if is_exact(kernel) and isinstance(total, Fraction):
            return frozen(kernel / total)
        return frozen(to_floats(kernel) / nearest(total))

    def __reduce__(self) -> tuple[Any, ...]:
        return UniformMechanism, (self.ptype, self.sign)


@dataclass(frozen=True, slots=True, eq=False)
class ProductMechanism(ImplicitMechanism):
    """M = A kron B kron ...: each part of the secret is answered by its own mechanism, independently.

    Attributes:
        parts: the mechanisms; the last part of the secret moves fastest.
    """

    parts: "tuple[Mechanism, ...]"

    @property
    def shape(self) -> tuple[int, int]:  # noqa: D102
        rows, cols = (int(np.prod(sizes)) for sizes in zip(*(part.shape for part in self.parts), strict=True))
        return rows, cols

    @property
    def matrix(self) -> Array:  # noqa: D102
        return frozen(reduce(np.kron, one_world(*(part.matrix for part in self.parts))))

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductMechanism, (self.parts,)


Mechanism = Channel | ImplicitMechanism
