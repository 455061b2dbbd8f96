"""The kernels of a privacy type: the finitely many mechanisms of which every other is a refinement of a mixture.

They are listed by a walk in compiled code, or all at once by the double description method, which is exact and needs no
compiled code.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from importlib.util import find_spec
from math import comb, gcd, inf

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer
from utmost.core.exact.arrays import frozen, objects, to_floats
from utmost.core.exact.compilation import is_compiled_already
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import matrix_product, solve_lifted
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Channel
from utmost.design.geometry.decomposition import solve_columns
from utmost.design.geometry.kernel_supports import (
    KernelBlock,
    KernelNumber,
    WalkPosition,
    as_masks,
    certain_sign,
    check_searchable,
    exact_columns,
    with_enough_bits,
)
from utmost.design.geometry.log_domain import LogPowers
from utmost.design.geometry.symmetries import Orbits, column_permutations, support_orbits
from utmost.design.geometry.vertex_search import Vertices, vertex_blocks
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange, SolverFailed, Unsupported

# Below this the entries of a vertex differ so much that floating point decides few signs.
_SMALLEST_WEIGHT = 2.0**-24
# Below so many sets, of rational vertices or of others, what needs no compilation is tried first; with hardly any, the
# walk takes longer to load than to walk.
_SMALL_EXACT, _SMALL_SEARCH, _TINY_SEARCH = 3_000_000, 50_000, 10_000
# Work of the other method, some 20 us a unit: from where on machine code is taken if it is there, a process compiles,
# and one search is left to the walk.
_SOME_WORK, _MUCH_WORK, _MOST_WORK = 25_000, 400_000, 150_000
_COMPARISONS, _SLOWER = 1 << 12, 5  # supports that are compared in a unit; how much longer irrational numbers take
_MOST_ROWS = 1 << 28
_worked = 0
# Of irrational vertices: bits that are tried, and how far from 1 the sum of a row may be.
_FIRST_BITS, _MOST_BITS, _SURELY_ONE = 256, 1 << 16, Fraction(1, 1 << 60)


@dataclass(frozen=True, slots=True, eq=False)
class Kernels(Display):
    """All kernels of a type, as sets of its vertices: a sequence of channels.

    Attributes:
        vertices: Vertices of the type.
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

    def support(self, k: int) -> tuple[int, ...]:
        """The vertices of kernel k."""
        k = integer(k, "k")
        if not -len(self) <= k < len(self):
            raise OutOfRange(f"there are {len(self)} kernels, numbered from 0", came=k)
        return tuple(int(v) for v in self.supports[k] if v >= 0)

    def channel(self, k: int) -> Channel:
        """Kernel k as a channel: column y is the y-th vertex of its support, scaled so that rows sum to 1."""
        k = integer(k, "k")
        return kernel_channel(self.vertices.chosen(self.support(k)))

    @property
    def sizes(self) -> dict[int, int]:
        """The number of kernels with each number of outcomes."""
        return dict(sorted(Counter(np.count_nonzero(self.supports >= 0, axis=1).tolist()).items()))

    def orbits(self) -> Orbits:
        """The kernels up to the automorphisms of the space."""
        return support_orbits(self.supports, column_permutations(self.vertices))

    def __repr__(self) -> str:
        return f"Kernels({len(self)} from {len(self.vertices)} vertices)"


@progress_bar("Listing kernels")
@fitting_memory("kernels")
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
    instance(ptype, PrivacyType, "ptype")
    listed = _searchable_vertices(ptype)
    supports = _all_supports(listed)
    order = np.lexsort([*supports.T[::-1], np.count_nonzero(supports >= 0, axis=1)])
    return Kernels(listed, frozen(supports[order]))


def kernel_blocks(ptype: PrivacyType, rows: int = 1 << 16, start: WalkPosition | None = None) -> Iterator[KernelBlock]:
    """The kernels of a type stretch by stretch, with progress, to be gone on with after an interruption.

    Each `KernelBlock` holds some kernels as rows of vertex numbers (as in `Kernels.supports`), the share of the work
    that is done, and the position from which ``kernel_blocks(ptype, start=position)`` finds the rest, None at the end.
    Memory is bounded by ``rows``.

    Raises:
        Unsupported: for a ``start`` without the extra ``utmost[geometry]``, where there is only one stretch.

    >>> from utmost.spaces import discrete
    >>> ptype = PrivacyType(discrete(4), alpha="1/2")
    >>> sum(len(block.supports) for block in kernel_blocks(ptype))
    41
    """
    return _blocks(_searchable_vertices(ptype), natural(rows, "rows", 1, _MOST_ROWS), start)


@progress_bar("Searching kernels")
def kernel_sizes(ptype: PrivacyType, watch: Callable[[float], object] = lambda done: None) -> dict[int, int]:
    """The number of kernels of a type with each number of outcomes, without listing them where that saves memory.

    Args:
        ptype: Type.
        watch: Function that is called about every second with the share of the search that is done, between 0 and 1.

    >>> from utmost.spaces import hamming
    >>> kernel_sizes(PrivacyType(hamming(2), alpha="1/2"))
    {2: 1, 3: 2, 4: 1}
    """
    instance(ptype, PrivacyType, "ptype")
    listed = _searchable_vertices(ptype)
    supports = _supports_without_compilation(listed)
    if supports is not None:
        return Kernels(listed, supports).sizes
    from utmost.design.geometry.kernel_walk import count_by_walk

    return {size: int(count) for size, count in enumerate(count_by_walk(listed, watch)) if count}


def count_kernels(ptype: PrivacyType) -> int:
    """The number of kernels of a type; unlike the number of vertices, it depends on the level (but not for `discrete`).

    >>> from utmost.spaces import counts
    >>> [count_kernels(PrivacyType(counts(4), epsilon=e)) for e in ("0.1", "0.5", 1)]
    [230, 218, 195]
    >>> count_kernels(PrivacyType(counts(4), alpha="1/2"))
    187
    """
    instance(ptype, PrivacyType, "ptype")
    return sum(kernel_sizes(ptype).values())


def kernel_channel(support: Vertices) -> Channel:
    """The channel whose columns are independent vertices with the uniform distribution inside their hull."""
    if support.is_exact:
        weights = support.weights
        scale = solve_columns(list(weights.T), [Fraction(1)] * len(weights))
        assert scale is not None, "the uniform distribution lies in the span of a kernel"
        return Channel(weights * np.array(scale, dtype=object))
    return _kernel_of_irrational_vertices(support)


def _kernel_of_irrational_vertices(support: Vertices) -> Channel:
    """The channel by rationals ever nearer to irrational vertices; at extreme levels floats make entries negative."""
    shape, bits = support.exponents.shape[:2], _FIRST_BITS
    # Entries of a vertex may be e^-1000 apart: the mixture is solved for in rationals as fine as it takes.
    while bits <= _MOST_BITS:
        powers = (_near_power(support.powers, tuple(c), bits) for vertex in support.exponents.tolist() for c in vertex)
        columns = objects(powers, shape).T
        sums = columns.sum(axis=0)  # by least squares: which rows are independent, rationals nearby do not say
        matrix = columns * solve_lifted(matrix_product(columns.T, columns), sums[:, None])[:, 0]
        if (matrix >= 0).all() and (abs(matrix.sum(axis=1) - 1) < objects([_SURELY_ONE])).all():
            return Channel(to_floats(matrix))
        bits *= 2
    raise SolverFailed("the vertices of a kernel must have a mixture that is uniform", came=f"{len(support)} of them")


@lru_cache(maxsize=1 << 12)
def _near_power(powers: LogPowers, exponent: tuple[int, ...], bits: int) -> Fraction:
    """A power to so many bits of its own; 0 below 2^-65536."""
    places = bits
    while (power := powers.interval(exponent, places)).low >> bits - 1 == 0:
        places *= 2
        if places > _MOST_BITS:
            return Fraction(0)
    return power.middle


def _searchable_vertices(ptype: PrivacyType) -> Vertices:
    """The vertices, listed only if their sets can be searched."""
    blocks: list[Vertices] = []
    for block in vertex_blocks(ptype, rows=1 << 10):
        blocks.append(block)
        check_searchable(sum(map(len, blocks)))
    exponents = np.concatenate([block.exponents for block in blocks])
    return Vertices(frozen(exponents), blocks[0].distances, blocks[0].powers)


def _blocks(listed: Vertices, rows: int = 1 << 16, start: WalkPosition | None = None) -> Iterator[KernelBlock]:
    if _can_walk(listed):
        from utmost.design.geometry.kernel_walk import walk_kernels

        yield from walk_kernels(listed, rows, start)
        return
    if start is not None:
        raise Unsupported(
            "only the compiled search can go on from a position", remedy='Install the extra "utmost[geometry]".'
        )
    yield KernelBlock(_all_at_once(listed), None, 1.0)


class _TooLong(Exception):
    """A search without compilation takes longer than one with it."""


def _all_supports(listed: Vertices) -> NDArray[np.int32]:
    """All kernels, in any order."""
    supports = _supports_without_compilation(listed)
    return supports if supports is not None else np.concatenate([block.supports for block in _blocks(listed)])


def _supports_without_compilation(listed: Vertices) -> NDArray[np.int32] | None:
    """All kernels by the method that needs none; None where machine code pays."""
    if not _can_walk(listed):
        return _all_at_once(listed)
    steps = comb(len(listed), max(listed.distances.size - 2, 0))
    if steps >= (_SMALL_EXACT if listed.is_exact else _SMALL_SEARCH) or (steps >= _TINY_SEARCH and _walk_pays()):
        return None
    try:
        return _all_at_once(listed, _MOST_WORK)
    except _TooLong:
        return None


def _walk_pays() -> bool:
    """Whether this process has searched so much that machine code pays for small types, too."""
    if _worked <= _SOME_WORK:
        return False
    from utmost.design.geometry.compiled_walk import resume_walk

    return _worked > _MUCH_WORK or is_compiled_already(resume_walk)


def _all_at_once(listed: Vertices, most_work: float = inf) -> NDArray[np.int32]:
    kernels = kernels_by_double_description(listed, most_work)
    supports = np.full((len(kernels), listed.distances.size), -1, dtype=np.int32)
    for row, support in zip(supports, kernels, strict=True):
        row[: len(support)] = support
    return frozen(supports)


def _can_walk(listed: Vertices) -> bool:
    """Whether the compiled search is installed and floating point can distinguish the entries of a vertex."""
    if listed.distances.size < 3 or float(listed.weights.min()) < _SMALLEST_WEIGHT:
        return False
    return find_spec("numba") is not None


Masks = NDArray[np.uint64]
_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class _Ray:
    """An extreme ray of {lambda >= 0: the rows so far of V lambda are equal}: its support and its entries there."""

    support: tuple[int, ...]
    entries: tuple[KernelNumber, ...]


def kernels_by_double_description(vertices: Vertices, most_work: float = inf) -> list[tuple[int, ...]]:
    """The supports of the extreme rays of {lambda >= 0: all rows of V lambda are equal}, sorted by size, then by order.

    Row after row is made equal to the first: rays with equal sums stay, and every adjacent pair with sums on opposite
    sides joins to a new one. Two rays are adjacent when no third support lies in the union of theirs.

    Args:
        vertices: V, as columns, N of them on n secrets.
        most_work: Largest number of steps of about 20 us each, after which the search ends.

    Cost: up to R^2 pairs for R rays of one step; lists all kernels of every type that [fernandes2022] tabulates in
    seconds. Memory: all rays of one step.

    >>> from utmost.geometry import vertices
    >>> from utmost.privacy_types import PrivacyType
    >>> from utmost.spaces import counts
    >>> kernels_by_double_description(vertices(PrivacyType(counts(2), alpha="1/2")))
    [(1, 2), (0, 1, 3)]
    """

    until, joining = _worked + most_work, 1 if vertices.is_exact else _SLOWER

    def compute(bits: int) -> list[_Ray]:
        columns, unit = exact_columns(vertices, bits)
        rays = [_Ray((j,), (unit,)) for j in range(len(columns))]
        for row in range(1, len(columns[0])):
            gaps = [column[row] - column[0] for column in columns]
            rays = _cut(rays, gaps, row, joining, until)
        return rays

    return sorted((ray.support for ray in with_enough_bits(compute)), key=lambda support: (len(support), support))


def _cut(rays: list[_Ray], gaps: list[KernelNumber], row: int, joining: int, until: float) -> list[_Ray]:
    """The extreme rays once sum_j lambda_j gaps[j] = 0 holds too."""
    global _worked
    sums = [_total(ray, gaps) for ray in rays]
    signs = np.array([certain_sign(x) for x in sums])
    masks = as_masks([ray.support for ray in rays], len(gaps))
    extreme = [rays[k] for k in np.flatnonzero(signs == 0)]
    ups, downs = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    _worked += len(ups) * len(rays) // _COMPARISONS
    for p, q in _adjacent(masks, ups, downs, row + 1):
        extreme.append(_joined(rays[p], sums[p], rays[q], sums[q]))
        _worked += joining
        if _worked > until:
            raise _TooLong
    return extreme


def _total(ray: _Ray, gaps: list[KernelNumber]) -> KernelNumber:
    total = ray.entries[0] * gaps[ray.support[0]]
    for j, x in zip(ray.support[1:], ray.entries[1:], strict=True):
        total = total + x * gaps[j]
    return total


def _adjacent(masks: Masks, ups: NDArray[np.intp], downs: NDArray[np.intp], most: int) -> Iterator[tuple[int, int]]:
    """Pairs of rays whose joint support holds at most ``most`` columns and no third ray."""
    is_down = np.zeros(len(masks), dtype=bool)
    is_down[downs] = True
    for up in ups.tolist():
        # What others have beyond this support: a ray that is in a joint one has no more than the other has, and few
        # rays have little, so that the third is looked for among few.
        beyond = masks & ~masks[up]
        room = most - int(np.bitwise_count(masks[up]).sum())
        near = np.flatnonzero(np.bitwise_count(beyond).sum(axis=1) <= room)
        some, places = beyond[near], np.flatnonzero(is_down[near])
        for start in range(0, len(places), step := max(1, _PAIRS_AT_ONCE // max(1, some.size))):
            others = places[start : start + step]
            inside = ((some & ~some[others][:, None]) == 0).all(axis=2)
            # Two rays are adjacent exactly when their joint support holds no third: combining others would give rays
            # that are none.
            for down in near[others[np.count_nonzero(inside, axis=1) == 2]].tolist():
                yield up, down


def _joined(positive: _Ray, up: KernelNumber, negative: _Ray, down: KernelNumber) -> _Ray:
    """The combination of a ray with a positive sum and one with a negative sum whose sum vanishes."""
    entries: dict[int, KernelNumber] = {}
    for ray, factor in ((positive, -down), (negative, up)):
        for j, x in zip(ray.support, ray.entries, strict=True):
            entries[j] = entries[j] + factor * x if j in entries else factor * x
    support = tuple(sorted(entries))
    values = tuple(entries[j] for j in support)
    if all(isinstance(x, int) for x in values):
        # Entries grow with each row that is cut; their common divisor does not matter to a ray.
        common = gcd(*values)
        values = tuple(x // common for x in values)
    return _Ray(support, values)
