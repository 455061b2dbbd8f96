"""Secrets that see the same: the coarsest partition in which alike secrets have alike distances to every class."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.kernel import Kernel
from utmost.exact import frozen


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """An equitable partition: how many members of class B are at which distance from x depends on the class of x only.

    The orbits under the automorphisms of the space are such a partition, and every one is at least as fine as the
    coarsest. Averaging over classes commutes with the kernel E, so a linear program that knows only E and sums (for the
    weighting, the packing, the covering) has a solution that is constant on classes.

    Attributes:
        labels: (n,) the class of each secret, classes numbered by their first member.
        representatives: the first member of each class.
        sizes: how many members each has.
    """

    labels: NDArray[np.intp]
    representatives: NDArray[np.intp]
    sizes: NDArray[np.intp]

    @classmethod
    def of(cls, kernel: Kernel) -> "Classes":
        """The coarsest equitable partition, by colour refinement. Cost: O(n^2) in each of a few rounds.

        What a secret sees is added up in a 64-bit word. Two views with one word by chance would make a program miss
        its certificate, not its truth.

        >>> from utmost.privacy import PrivacyType
        >>> from utmost.spaces import grid
        >>> Classes.of(Kernel.of(PrivacyType(grid(3, 3), 1))).labels.tolist()
        [0, 1, 0, 1, 2, 1, 0, 1, 0]
        """
        kinds = words(np.arange(len(kernel.lengths), dtype=np.uint64))
        labels = np.zeros(kernel.size, dtype=np.intp)
        while True:
            views = _views(kernel, labels, kinds)
            finer = numbered(np.column_stack([labels.astype(np.uint64), views]))
            if finer.max(initial=0) == labels.max(initial=0):
                break
            labels = finer
        _, representatives, sizes = np.unique(labels, return_index=True, return_counts=True)
        return cls(frozen(labels), frozen(representatives), frozen(sizes))

    def __len__(self) -> int:
        return len(self.sizes)


def _views(kernel: Kernel, labels: NDArray[np.intp], kinds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A word for what each secret sees: the sum over y of a word for (distance of y, class of y), modulo 2^64."""
    step = max(1, (1 << 21) // kernel.size)
    classes = words(labels.astype(np.uint64) + np.uint64(1 << 32))
    seen = np.empty(kernel.size, dtype=np.uint64)
    for start in range(0, kernel.size, step):
        pairs = kinds[kernel.kinds[start : start + step]] ^ classes
        seen[start : start + step] = words(pairs).sum(axis=1, dtype=np.uint64)
    return seen


def words(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Numbers mixed into 64-bit words that look random (the finaliser of splitmix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def numbered(rows: NDArray[np.uint64]) -> NDArray[np.intp]:
    """The number of each row among the different ones, in order of first appearance."""
    _, first, which = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.empty(len(first), dtype=np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    named: NDArray[np.intp] = order[which.reshape(-1)]
    return named
