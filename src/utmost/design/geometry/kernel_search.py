"""List and count the kernels of a privacy type. Every mechanism of the type is a post-processed mixture of its kernels.

Two methods list kernels: a walk in compiled code, and the double description method, which needs no compilation.
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

# Types with a vertex entry below this number need exact arithmetic, because floating point would decide few signs.
_SMALLEST_WEIGHT = 2.0**-24
# With fewer sets of n - 2 vertices than `_SMALL_EXACT` (rational vertices) or `_SMALL_SEARCH` (irrational), the method
# without compilation is tried first, because loading compiled code takes longer than a small search. With fewer than
# `_TINY_SEARCH` sets it is always tried first.
_SMALL_EXACT, _SMALL_SEARCH, _TINY_SEARCH = 3_000_000, 50_000, 10_000
# Work of the double description method, in units of about 20 us. A process that has done `_SOME_WORK` uses the compiled
# walk if it is already compiled; after `_MUCH_WORK` it compiles. A single search that has done `_MOST_WORK` changes to
# the walk.
_SOME_WORK, _MUCH_WORK, _MOST_WORK = 25_000, 400_000, 150_000
# Number of comparisons of supports per unit of work, and the factor by which irrational numbers are slower.
_COMPARISONS, _SLOWER = 1 << 12, 5
_MOST_ROWS = 1 << 28
_worked = 0
# For irrational vertices: fewest and most bits of a rational approximation, and the largest error of a row sum.
_FIRST_BITS, _MOST_BITS, _SURELY_ONE = 256, 1 << 16, Fraction(1, 1 << 60)


@dataclass(frozen=True, slots=True, eq=False)
class Kernels(Display):
    """All kernels of a privacy type, stored as sets of vertices; a sequence of channels."""

    vertices: Vertices
    supports: NDArray[np.int32]  # (N, n) the indices of the vertices of each kernel, ascending, filled up with -1

    def __len__(self) -> int:
        return len(self.supports)

    def __getitem__(self, k: int) -> Channel:
        return self.channel(k)

    def __iter__(self) -> Iterator[Channel]:
        return (self.channel(k) for k in range(len(self)))

    def support(self, k: int) -> tuple[int, ...]:
        """Return the indices of the vertices of kernel k, ascending."""
        k = integer(k, "k")
        if not -len(self) <= k < len(self):
            raise OutOfRange(f"the index of a kernel must lie in 0..{len(self) - 1}", came=k)
        return tuple(int(v) for v in self.supports[k] if v >= 0)

    def channel(self, k: int) -> Channel:
        """Return kernel k as a channel: column y is the y-th vertex of its support, scaled so that rows sum to 1."""
        k = integer(k, "k")
        return kernel_channel(self.vertices.chosen(self.support(k)))

    @property
    def sizes(self) -> dict[int, int]:
        """The number of kernels with each number of outcomes."""
        return dict(sorted(Counter(np.count_nonzero(self.supports >= 0, axis=1).tolist()).items()))

    def orbits(self) -> Orbits:
        """Return the orbits of the kernels under the automorphisms of the space."""
        return support_orbits(self.supports, column_permutations(self.vertices))

    def __repr__(self) -> str:
        return f"Kernels({len(self)} from {len(self.vertices)} vertices)"


@progress_bar("Listing kernels")
@fitting_memory("kernels")
def kernels(ptype: PrivacyType) -> Kernels:
    """List all kernels of a privacy type that has at most 5000 vertices.

    A kernel is a set of linearly independent vertices with the uniform distribution strictly inside its convex hull. As
    a channel, a kernel has its vertices, scaled, as columns. Equivalently, kernels are the vertices of {lambda >= 0: V
    lambda = uniform}. For rational alpha, the search decides exactly which coefficients are zero, even if kernels are
    degenerate (alpha = 1/2). For rational epsilon, the search computes with a random residue in place of alpha, and
    mistakes a nonzero coefficient for zero with a probability below 2^-60.

    Source: [fernandes2022], definition 5. Cost: that of `walk_kernels` if the extra ``utmost[geometry]`` is installed,
    else that of `kernels_by_double_description`.

    >>> from utmost.spaces import counts
    >>> listed = kernels(PrivacyType(counts(2), alpha="1/2"))
    >>> listed.sizes, listed[1].shape
    ({2: 1, 3: 1}, (3, 3))
    """
    instance(ptype, PrivacyType, "ptype")
    listed = _searchable_vertices(ptype)
    searched = _supports_without_compilation(listed)
    supports = np.concatenate([block.supports for block in _blocks(listed)]) if searched is None else searched
    order = np.lexsort([*supports.T[::-1], np.count_nonzero(supports >= 0, axis=1)])
    return Kernels(listed, frozen(supports[order]))


def kernel_blocks(ptype: PrivacyType, rows: int = 1 << 16, start: WalkPosition | None = None) -> Iterator[KernelBlock]:
    """Yield the kernels of a type in blocks of about ``rows`` kernels; a later search can continue from a block's
    position.
    """
    return _blocks(_searchable_vertices(ptype), natural(rows, "rows", 1, _MOST_ROWS), start)


@progress_bar("Searching kernels")
def kernel_sizes(ptype: PrivacyType, watch: Callable[[float], object] = lambda done: None) -> dict[int, int]:
    """Return, for each number of outcomes, how many kernels of a type have this number of outcomes. The kernels of
    large types are counted without listing them.

    Args:
        ptype: Privacy type.
        watch: Function that is called about every second with the finished fraction of the search, between 0 and 1.

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
    """Return the number of kernels of a type; the number depends on the level, except on the space `discrete`.

    >>> from utmost.spaces import counts
    >>> [count_kernels(PrivacyType(counts(4), epsilon=e)) for e in ("0.1", "0.5", 1)]
    [230, 218, 195]
    >>> count_kernels(PrivacyType(counts(4), alpha="1/2"))
    187
    """
    instance(ptype, PrivacyType, "ptype")
    return sum(kernel_sizes(ptype).values())


def kernel_channel(support: Vertices) -> Channel:
    """Return the channel with the given vertices as columns, scaled so that rows sum to 1.

    The vertices must be linearly independent, with the uniform distribution in their convex hull.
    """
    if support.is_exact:
        weights = support.weights
        scale = solve_columns(list(weights.T), [Fraction(1)] * len(weights))
        assert scale is not None, "the uniform distribution lies in the span of a kernel"
        return Channel(weights * np.array(scale, dtype=object))
    # Irrational entries of a vertex may differ by a factor e^1000, and floats may give negative entries, so the mixture
    # is solved in rational approximations of sufficient precision.
    shape, bits = support.exponents.shape[:2], _FIRST_BITS
    while bits <= _MOST_BITS:
        powers = (_near_power(support.powers, tuple(c), bits) for vertex in support.exponents.tolist() for c in vertex)
        columns = objects(powers, shape).T
        # Least squares are used, because approximations do not show which rows are independent.
        sums = columns.sum(axis=0)
        matrix = columns * solve_lifted(matrix_product(columns.T, columns), sums[:, None])[:, 0]
        if (matrix >= 0).all() and (abs(matrix.sum(axis=1) - 1) < objects([_SURELY_ONE])).all():
            return Channel(to_floats(matrix))
        bits *= 2
    came = f"{len(support)} vertices without a uniform mixture"
    raise SolverFailed("the vertices of a kernel must have a uniform mixture", came=came)


@lru_cache(maxsize=1 << 12)
def _near_power(powers: LogPowers, exponent: tuple[int, ...], bits: int) -> Fraction:
    """Return a power of alpha, rounded to a number of significant bits; 0 if the power is below 2^-65536."""
    precision = bits
    while (power := powers.interval(exponent, precision)).low >> bits - 1 == 0:
        precision *= 2
        if precision > _MOST_BITS:
            return Fraction(0)
    return power.middle


def _searchable_vertices(ptype: PrivacyType) -> Vertices:
    """Return the vertices of a type, after the check that they are few enough for a kernel search."""
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
            "only the compiled search can continue from a position",
            came="a start without the compiled search",
            remedy='Install the extra "utmost[geometry]".',
        )
    yield KernelBlock(_all_at_once(listed), None, 1.0)


class _TooLong(Exception):
    """The double description method needs so much work that the compiled walk would be faster."""


def _supports_without_compilation(listed: Vertices) -> NDArray[np.int32] | None:
    """Return the supports of all kernels by the double description method; None if the compiled walk is faster."""
    if not _can_walk(listed):
        return _all_at_once(listed)
    steps = comb(len(listed), max(listed.distances.size - 2, 0))
    if steps >= (_SMALL_EXACT if listed.is_exact else _SMALL_SEARCH):
        return None
    if steps >= _TINY_SEARCH and _worked > _SOME_WORK:
        # This process has searched so much that compilation saves time for small types too.
        from utmost.design.geometry.compiled_walk import resume_walk

        if _worked > _MUCH_WORK or is_compiled_already(resume_walk):
            return None
    try:
        return _all_at_once(listed, _MOST_WORK)
    except _TooLong:
        return None


def _all_at_once(listed: Vertices, most_work: float = inf) -> NDArray[np.int32]:
    kernels = kernels_by_double_description(listed, most_work)
    supports = np.full((len(kernels), listed.distances.size), -1, dtype=np.int32)
    for row, support in zip(supports, kernels, strict=True):
        row[: len(support)] = support
    return frozen(supports)


def _can_walk(listed: Vertices) -> bool:
    """Return whether the compiled search is installed, and floats are precise enough for the entries of the
    vertices.
    """
    if listed.distances.size < 3 or float(listed.weights.min()) < _SMALLEST_WEIGHT:
        return False
    return find_spec("numba") is not None


Masks = NDArray[np.uint64]
_PAIRS_AT_ONCE = 1 << 22


@dataclass(frozen=True, slots=True)
class _Ray:
    """An extreme ray of {lambda >= 0: the first rows of V lambda are equal}: its support and its nonzero entries."""

    support: tuple[int, ...]
    entries: tuple[KernelNumber, ...]


def kernels_by_double_description(vertices: Vertices, most_work: float = inf) -> list[tuple[int, ...]]:
    """Return the supports of the extreme rays of {lambda >= 0: all rows of V lambda are equal}, the smallest first."""

    # Each step adds the equation that one more row of V lambda equals row 0. A ray that satisfies the equation remains,
    # and every pair of adjacent rays with differences of opposite signs gives a new ray. Two rays are adjacent if and
    # only if the union of their supports contains the support of no third ray. Cost of a step with R rays: at most R^2
    # pairs, and memory for R rays.
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
    """Return the extreme rays of the cone with the additional equation sum_j lambda_j gaps[j] = 0."""
    global _worked
    sums = []
    for ray in rays:
        total = ray.entries[0] * gaps[ray.support[0]]
        for j, x in zip(ray.support[1:], ray.entries[1:], strict=True):
            total = total + x * gaps[j]
        sums.append(total)
    signs = np.array([certain_sign(x) for x in sums])
    masks = as_masks([ray.support for ray in rays], len(gaps))
    extreme = [rays[k] for k in np.flatnonzero(signs == 0)]
    ups, downs = np.flatnonzero(signs > 0), np.flatnonzero(signs < 0)
    _worked += len(ups) * len(rays) // _COMPARISONS
    for p, q in _adjacent(masks, ups, downs, row + 1):
        # Combine a ray with a positive sum and a ray with a negative sum into a ray with sum 0.
        entries: dict[int, KernelNumber] = {}
        for ray, factor in ((rays[p], -sums[q]), (rays[q], sums[p])):
            for j, x in zip(ray.support, ray.entries, strict=True):
                entries[j] = entries[j] + factor * x if j in entries else factor * x
        support = tuple(sorted(entries))
        values = tuple(entries[j] for j in support)
        if all(isinstance(x, int) for x in values):
            # Entries grow with each row; dividing by a common divisor does not change the ray.
            common = gcd(*values)
            values = tuple(x // common for x in values)
        extreme.append(_Ray(support, values))
        _worked += joining
        if _worked > until:
            raise _TooLong
    return extreme


def _adjacent(masks: Masks, ups: NDArray[np.intp], downs: NDArray[np.intp], most: int) -> Iterator[tuple[int, int]]:
    """Yield pairs (up, down) of rays whose joint support has at most ``most`` columns and contains no third support."""
    is_down = np.zeros(len(masks), dtype=bool)
    is_down[downs] = True
    for up in ups.tolist():
        # `beyond` has, for each ray, the columns of its support outside the support of ray `up`. Only rays with at most
        # `room` such columns fit into a union with ray `up`. They are few, so the search for a third ray is short.
        beyond = masks & ~masks[up]
        room = most - int(np.bitwise_count(masks[up]).sum())
        near = np.flatnonzero(np.bitwise_count(beyond).sum(axis=1) <= room)
        some, places = beyond[near], np.flatnonzero(is_down[near])
        for start in range(0, len(places), step := max(1, _PAIRS_AT_ONCE // max(1, some.size))):
            others = places[start : start + step]
            inside = ((some & ~some[others][:, None]) == 0).all(axis=2)
            # Exactly two rays, `up` and `down`, lie within the union: the pair is adjacent.
            for down in near[others[np.count_nonzero(inside, axis=1) == 2]].tolist():
                yield up, down
