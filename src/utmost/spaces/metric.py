"""What a metric on the secrets 0, 1, ..., n-1 must tell."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Array, Surd, frozen


class Metric(ABC):
    """Distances between the secrets 0, 1, ..., n-1, by formula or by table."""

    __slots__ = ()

    @property
    @abstractmethod
    def size(self) -> int:
        """The number n of secrets."""

    @abstractmethod
    def distance(self, x: Any, y: Any) -> Any:
        """d(x, y), elementwise over arrays of secrets: integers or Fractions where d is rational, else float64."""

    @abstractmethod
    def edges(self) -> NDArray[np.intp]:
        """The essential edges, as an (m, 2) array of pairs x < y in lexicographic order."""

    def lengths(self, x: Any, y: Any) -> Any:
        """d(x, y), elementwise, with `Surd` in the place of irrational distances that are known exactly."""
        return self.distance(x, y)

    def length(self, x: int, y: int) -> Fraction | Surd:
        """d(x, y) as an exact number; a float64 distance is the rational that the float is."""
        value = self.lengths(x, y)
        if isinstance(value, Surd):
            return value.simplified()
        return Fraction(int(value)) if isinstance(value, int | np.integer) else Fraction(value)

    def labels(self) -> Sequence[Hashable]:
        """The names that the secrets have by themselves."""
        return range(self.size)

    def table(self) -> Array:
        """d as an (n, n) read-only array."""
        secrets = np.arange(self.size)
        return frozen(np.asarray(self.distance(secrets[:, None], secrets[None, :])))
