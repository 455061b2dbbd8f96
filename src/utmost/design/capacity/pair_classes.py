"""Pairs of secrets that are alike: the coherent configuration of a metric."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.classes import numbered, words
from utmost.design.capacity.kernel import Kernel
from utmost.exact import frozen


@dataclass(frozen=True, slots=True, eq=False)
class PairClasses:
    """A partition of pairs: how often (x, z) is of class R and (z, y) of class S depends on the class of (x, y) only.

    The orbits of pairs under the automorphisms are such a partition, and the coarsest one is no finer. A mechanism
    averaged over classes of pairs stays private and keeps its trace: for classes R of (x, j), S of (y, j) that occur
    together at one distance of x and y, the inequalities of all such triples add up to one between the averages.

    Attributes:
        labels: (n, n) the class of each pair, classes numbered by their first member.
        sizes: how many pairs each has.
    """

    labels: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, kernel: Kernel) -> "PairClasses":
        """The coarsest such partition that tells distances apart. Cost: O(n^3) in each of a few rounds.

        >>> from utmost.privacy import PrivacyType
        >>> from utmost.spaces import counts, hamming
        >>> [len(PairClasses.of(Kernel.of(PrivacyType(space, 1)))) for space in (hamming(4), counts(3))]
        [5, 8]
        """
        n = kernel.size
        labels = numbered(kernel.kinds.reshape(-1, 1).astype(np.uint64)).reshape(n, n)
        while True:
            seen = _triangles(labels)
            rows = np.column_stack([part.astype(np.uint64).ravel() for part in (labels, labels.T, seen)])
            finer = numbered(rows).reshape(n, n)
            if finer.max() == labels.max():
                return cls(frozen(finer), frozen(np.bincount(finer.ravel())))
            labels = finer

    def __len__(self) -> int:
        return len(self.sizes)


def _triangles(labels: NDArray[np.intp]) -> NDArray[np.uint64]:
    """For each pair (x, y) the sum over z of a word for the classes of (x, z) and (z, y)."""
    here, there = labels.astype(np.uint64), labels.astype(np.uint64) << np.uint64(32)
    seen = np.zeros(labels.shape, dtype=np.uint64)
    for z in range(len(labels)):
        seen += words(here[:, z, None] + there[z, None, :])
    return seen
