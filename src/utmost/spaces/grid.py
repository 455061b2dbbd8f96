"""The points of a rectangular lattice, with the Euclidean or the Manhattan metric."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.exact import Surd, checked, natural
from utmost.spaces.metric import Metric
from utmost.spaces.space import Space


@dataclass(frozen=True, slots=True)
class EuclideanGridMetric(Metric):
    """d = sqrt(dr^2 + dc^2) between the points (r, c) of a rows x cols lattice; point (r, c) is number r cols + c.

    Squared distances are integers, so every distance is known exactly, as a `Surd` where it is irrational.
    """

    rows: int
    cols: int

    @property
    def size(self) -> int:  # noqa: D102
        return self.rows * self.cols

    def squares(self, x: Any, y: Any) -> Any:
        """The integers d(x, y)^2, elementwise."""
        dr, dc = _steps(self.cols, x, y)
        return dr * dr + dc * dc

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return np.sqrt(self.squares(x, y))

    def lengths(self, x: Any, y: Any) -> Any:  # noqa: D102
        return _root(self.squares(x, y))

    def edges(self) -> NDArray[np.intp]:
        """Pairs with no lattice point on the segment between them: dr and dc have no common divisor."""
        x, y = np.triu_indices(self.size, k=1)
        essential = np.gcd(*_steps(self.cols, x, y)) == 1
        return np.column_stack([x[essential], y[essential]])

    def labels(self) -> Sequence[Hashable]:  # noqa: D102
        return _points(self.rows, self.cols)


@dataclass(frozen=True, slots=True)
class ManhattanGridMetric(Metric):
    """d = |dr| + |dc| between the points of a rows x cols lattice."""

    rows: int
    cols: int

    @property
    def size(self) -> int:  # noqa: D102
        return self.rows * self.cols

    def distance(self, x: Any, y: Any) -> Any:  # noqa: D102
        return np.add(*_steps(self.cols, x, y))

    def edges(self) -> NDArray[np.intp]:
        """The neighbours in a row or in a column."""
        numbers = np.arange(self.size).reshape(self.rows, self.cols)
        across = np.column_stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()])
        down = np.column_stack([numbers[:-1].ravel(), numbers[1:].ravel()])
        both = np.concatenate([across, down])
        return both[np.lexsort((both[:, 1], both[:, 0]))]

    def labels(self) -> Sequence[Hashable]:  # noqa: D102
        return _points(self.rows, self.cols)


@checked
def grid(rows: int, cols: int, metric: Literal["euclidean", "manhattan"] = "euclidean") -> Space:
    """The rows x cols points of a lattice with step 1, labelled (row, column).

    For another step, scale the level: a step of 100 m at epsilon per metre is step 1 at 100 epsilon.

    Source: [fernandes2022], section VI-C.

    >>> grid(2, 2).distances[0].tolist(), grid(2, 3, metric="manhattan").distances[0].tolist()
    ([0.0, 1.0, 1.0, 1.414...], [0, 1, 2, 1, 2, 3])
    """
    kinds: dict[str, type[EuclideanGridMetric] | type[ManhattanGridMetric]] = {
        "euclidean": EuclideanGridMetric,
        "manhattan": ManhattanGridMetric,
    }
    if metric not in kinds:
        raise OutOfRange('metric must be "euclidean" or "manhattan"', came=metric, where="grid")
    return Space(kinds[metric](natural(rows, "rows", least=1), natural(cols, "cols", least=1)))


_root = np.frompyfunc(lambda square: Surd.sqrt(int(square)).simplified(), 1, 1)


def _steps(cols: int, x: Any, y: Any) -> tuple[Any, Any]:
    (r, c), (s, t) = np.divmod(x, cols), np.divmod(y, cols)
    return np.abs(r - s), np.abs(c - t)


def _points(rows: int, cols: int) -> tuple[tuple[int, int], ...]:
    return tuple((r, c) for r in range(rows) for c in range(cols))
