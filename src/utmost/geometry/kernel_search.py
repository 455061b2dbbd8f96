"""The kernels of a privacy type: the finitely many mechanisms of which every other is a refinement of a mixture."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray

from utmost.channels import Channel
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import Array, checked, frozen, natural
from utmost.geometry.decomposition import solve_columns
from utmost.geometry.double_description import kernels_by_double_description
from utmost.geometry.kernel_supports import KernelBlock, Position, check_searchable
from utmost.geometry.symmetries import Orbits, column_permutations, support_orbits
from utmost.geometry.vertex_search import Vertices, vertex_blocks
from utmost.privacy import PrivacyType

# Below this the entries of a vertex differ so much that floating point decides few signs.
_SMALLEST_WEIGHT = 2.0**-24
# With fewer steps than this the walk would take less time than its compilation.
_SMALL_SEARCH = 10_000
_MOST_ROWS = 1 << 28


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """All kernels of a type, as sets of its vertices: a sequence of channels.

    Attributes:
        vertices: the vertices of the type.
        supports: (N, n) int32: the vertices of each kernel, ascending, filled up with -1.
    """

    vertices: Vertices
    supports: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.supports)

    def __getitem__(self, k: int) -> Channel:
        return self.channel(k)

    def __iter__(self) -> Iterator[Channel]:
        return (self.channel(k) for k in range(len(self)))

    @checked
    def support(self, k: int) -> tuple[int, ...]:
        """The vertices of kernel k."""
        if not -len(self) <= k < len(self):
            raise OutOfRange(f"there are {len(self)} kernels, numbered from 0", came=k)
        return tuple(int(v) for v in self.supports[k] if v >= 0)

    @checked
    def channel(self, k: int) -> Channel:
        """Kernel k as a channel: column y is the y-th vertex of its support, scaled so that rows sum to 1."""
        return kernel_channel(self.vertices.chosen(self.support(k)))

    @property
    def sizes(self) -> dict[int, int]:
        """How many kernels have each number of outcomes."""
        return dict(sorted(Counter(np.count_nonzero(self.supports >= 0, axis=1).tolist()).items()))

    def orbits(self) -> Orbits:
        """The kernels up to the automorphisms of the space."""
        return support_orbits(self.supports, column_permutations(self.vertices))

    def __repr__(self) -> str:
        return f"Kernels({len(self)} from {len(self.vertices)} vertices)"


@checked
def kernels(ptype: PrivacyType) -> Kernels:
    """All kernels of a privacy type, listed; of at most 5000 vertices.

    A kernel is a set of linearly independent vertices with the uniform distribution strictly inside its hull; as a
    channel, its columns are those vertices, scaled. Equivalently: the vertices of {lambda >= 0: V lambda = uniform}.
    For rational alpha it is decided exactly whether a coefficient is zero, also where kernels degenerate (alpha = 1/2).
    For rational epsilon it is taken for zero wrongly with a chance below 2^-60, by a random residue in place of alpha.

    Source: [fernandes2022], definition 5. Cost: see `walk_kernels` (with the extra ``utmost[geometry]``) and
    `kernels_by_double_description`.

    >>> from utmost.spaces import counts
    >>> listed = kernels(PrivacyType(counts(2), alpha="1/2"))
    >>> listed.sizes, listed[1].shape
    ({2: 1, 3: 1}, (3, 3))
    """
    listed = _searchable(ptype)
    supports = _supports(listed)
    order = np.lexsort([*supports.T[::-1], np.count_nonzero(supports >= 0, axis=1)])
    return Kernels(listed, frozen(supports[order]))


@checked
def kernel_blocks(ptype: PrivacyType, rows: int = 1 << 16, start: Position | None = None) -> Iterator[KernelBlock]:
    """The kernels of a type stretch by stretch, with progress, to be gone on with after an interruption.

    Each `KernelBlock` holds some kernels as rows of vertex numbers (as in `Kernels.supports`), the share of the work
    that is done, and the position from which ``kernel_blocks(ptype, start=position)`` finds the rest. Memory is
    bounded by ``rows``.

    Raises:
        Unsupported: for a ``start`` without the extra ``utmost[geometry]``, where there is only one stretch.

    >>> from utmost.spaces import discrete
    >>> ptype = PrivacyType(discrete(4), alpha="1/2")
    >>> sum(len(block.supports) for block in kernel_blocks(ptype))
    41
    """
    return _blocks(_searchable(ptype), natural(rows, "rows", 1, _MOST_ROWS), start)


@checked
def kernel_sizes(ptype: PrivacyType, watch: Callable[[float], None] = lambda done: None) -> dict[int, int]:
    """How many kernels a type has with each number of outcomes, without listing them where that saves memory.

    Args:
        ptype: the type.
        watch: is called, every second or so, with the share of the search that is done, between 0 and 1.

    >>> from utmost.spaces import hamming
    >>> kernel_sizes(PrivacyType(hamming(2), alpha="1/2"))
    {2: 1, 3: 2, 4: 1}
    """
    listed = _searchable(ptype)
    if _is_small(listed) or not _can_walk(listed):
        return Kernels(listed, _supports(listed)).sizes
    from utmost.geometry.kernel_walk import count_by_walk

    return {size: int(count) for size, count in enumerate(count_by_walk(listed, watch)) if count}


@checked
def count_kernels(ptype: PrivacyType) -> int:
    """How many kernels a type has; unlike the number of vertices, it depends on the level (but not for `discrete`).

    >>> from utmost.spaces import counts
    >>> [count_kernels(PrivacyType(counts(4), epsilon=e)) for e in ("0.1", "0.5", 1)]
    [230, 218, 195]
    >>> count_kernels(PrivacyType(counts(4), alpha="1/2"))
    187
    """
    return sum(kernel_sizes(ptype).values())


def kernel_channel(support: Vertices) -> Channel:
    """The channel whose columns are independent vertices with the uniform distribution inside their hull."""
    weights = support.weights
    if support.is_exact:
        scale = solve_columns(list(weights.T), [Fraction(1)] * len(weights))
        assert scale is not None, "the uniform distribution lies in the span of a kernel"
        return Channel(weights * np.array(scale, dtype=object))
    scales: Array = np.linalg.lstsq(weights, np.ones(len(weights)), rcond=None)[0]
    return Channel(weights * scales)


def _searchable(ptype: PrivacyType) -> Vertices:
    """The vertices, listed only if their sets can be searched."""
    blocks: list[Vertices] = []
    for block in vertex_blocks(ptype, rows=1 << 10):
        blocks.append(block)
        check_searchable(sum(map(len, blocks)))
    exponents = np.concatenate([block.exponents for block in blocks])
    return Vertices(frozen(exponents), blocks[0].distances, blocks[0].powers)


def _blocks(listed: Vertices, rows: int = 1 << 16, start: Position | None = None) -> Iterator[KernelBlock]:
    if _can_walk(listed):
        from utmost.geometry.kernel_walk import walk_kernels

        yield from walk_kernels(listed, rows, start)
        return
    if start is not None:
        raise Unsupported(
            "only the compiled search can go on from a position", remedy='Install the extra "utmost[geometry]".'
        )
    yield KernelBlock(_all_at_once(listed), None, 1.0)


def _supports(listed: Vertices) -> NDArray[np.int32]:
    """All kernels; small types do not wait for numba to compile."""
    if _is_small(listed):
        return _all_at_once(listed)
    return np.concatenate([block.supports for block in _blocks(listed)])


def _all_at_once(listed: Vertices) -> NDArray[np.int32]:
    found = kernels_by_double_description(listed)
    supports = np.full((len(found), listed.distances.size), -1, dtype=np.int32)
    for row, support in zip(supports, found, strict=True):
        row[: len(support)] = support
    return frozen(supports)


def _is_small(listed: Vertices) -> bool:
    return comb(len(listed), max(listed.distances.size - 2, 0)) < _SMALL_SEARCH


def _can_walk(listed: Vertices) -> bool:
    """Whether the compiled search is installed and floating point can distinguish the entries of a vertex."""
    if listed.distances.size < 3 or float(listed.weights.min()) < _SMALLEST_WEIGHT:
        return False
    try:
        import numba  # noqa: F401
    except ImportError:
        return False
    return True
