"""List or count kernels by a depth-first search (the walk) over sets of independent vertices, orbit by orbit, in blocks
of bounded size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import comb, isqrt, lcm

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.arrays import Array, Indices, frozen
from utmost.core.exact.balls import ROUNDING
from utmost.core.exact.progress_bar import report_progress
from utmost.design.geometry.compiled_walk import Walk, complete, largest_row, pivot, resume_walk
from utmost.design.geometry.kernel_supports import (
    KernelBlock,
    WalkPosition,
    check_searchable,
    is_kernel_support,
    scaled_differences,
)
from utmost.design.geometry.log_domain import Field
from utmost.design.geometry.symmetries import column_permutations, moved_supports, orbits_under
from utmost.design.geometry.vertex_search import Vertices
from utmost.errors import OutOfRange

_PRIMES_ABOVE = 3 << 29


@dataclass(frozen=True, slots=True, eq=False)
class WalkTables:
    """The equations sum_j lambda_j v_j = 1, with row 0 subtracted from all other rows: rows v(0) and v(x) - v(0)."""

    # Differences are divided by 1 - alpha, so that levels near alpha = 1 lose no digits; the right-hand side becomes
    # (1, 0, ..., 0). For rational alpha, enough primes are used to decide exactly whether a number is zero: every
    # number tested is a minor of the vertices scaled to integers, so by Hadamard's bound its magnitude is below the
    # product of all primes, and it is zero if it vanishes modulo all of them. For irrational alpha, two primes are
    # used, and a nonzero number is taken for zero with probability below 2^-60, and only if it is also below the
    # rounding error.
    floats: NDArray[np.float64]  # (n, N), with an error of at most 4 units of 2^-52
    residues: NDArray[np.uint64]  # (F, n, N)
    primes: NDArray[np.uint64]  # (F,)

    @classmethod
    def of(cls, vertices: Vertices) -> "WalkTables":
        count = 2
        if vertices.is_exact:
            squares = []
            for column in vertices.weights.T:
                scale = lcm(*(x.denominator for x in column))
                squares.append(sum(int(x * scale) ** 2 for x in column))
            largest = 1
            for square in sorted(squares)[-vertices.distances.size :]:
                largest *= isqrt(square) + 1
            # Subtracting row 0 changes at most the sign of a minor. The factor 2 is needed because a minor may be
            # negative.
            count = -(-(2 * largest).bit_length() // 30)
        fields, residues, above = list[Field](), [], _PRIMES_ABOVE
        for _ in range(count):
            field = vertices.powers.field(above)
            columns = vertices.powers.residues(vertices.exponents, field).T % field.prime
            residues.append(np.vstack([columns[:1], columns[1:] - columns[:1]]) % field.prime)
            fields.append(field)
            above = field.prime
        primes = np.array([field.prime for field in fields], dtype=np.uint64)
        return cls(scaled_differences(vertices), np.array(residues, dtype=np.uint64), primes)

    def walk(self, columns: Indices, lead: int, rows: int) -> Walk:
        """Return the start of a walk over the vertices ``columns``, in this order. If ``rows`` is 0, the walk only
        counts kernels.
        """
        n, m, count = len(self.floats), len(columns), len(self.primes)
        tableau = np.zeros((n - 1, n, m + 1))
        tableau[0, :, :m] = self.floats[:, columns]
        tableau[0, 0, m] = 1
        residues = np.zeros((n - 1, count, n, m + 1), dtype=np.uint64)
        residues[0, :, :, :m] = self.residues[:, :, columns]
        residues[0, :, 0, m] = 1
        size = np.abs(tableau).max(axis=1)
        pairs = m * (m + 1) // 2 + 1  # an upper bound on the number of kernels that complete one set of n - 2 vertices
        inverses = [-pow(int(p), -1, 1 << 32) % (1 << 32) for p in self.primes]
        return Walk(
            tableau=tableau,
            error=np.full((n - 1, m + 1), 4 * ROUNDING) * np.maximum(size[0], 1),
            size=size,
            residues=residues,
            primes=self.primes,
            inverses=np.array(inverses, dtype=np.uint64),
            chosen=np.zeros(n, dtype=np.int64),
            rows=np.zeros(n + 1, dtype=np.int64),
            used=np.zeros(n, dtype=np.bool_),
            coming=np.zeros(n, dtype=np.int64),
            depth=np.zeros(1, dtype=np.int64),
            rays=np.zeros((m, n)),
            ray_error=np.zeros((m, 2)),
            sizes=np.zeros((n + 1, n + 1), dtype=np.int64),
            certain=np.zeros((rows + pairs if rows else 0, n), dtype=np.int16),
            doubt=np.zeros((rows + pairs, n), dtype=np.int16),
            filled=np.zeros(2, dtype=np.int64),
            lead=lead,
            keep=rows > 0,
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairCompletions:
    """Count the pairs of vertices that complete n - 2 given vertices to a kernel of n vertices."""

    vertices: Vertices
    start: tuple[NDArray[np.float64], NDArray[np.uint64], NDArray[np.float64], NDArray[np.float64]]
    walk: Walk  # `count` overwrites this tableau; the columns of the given vertices come first

    @classmethod
    def of(cls, vertices: Vertices) -> "PairCompletions":
        """Prepare the tableau for all vertices of a type."""
        walk = WalkTables.of(vertices).walk(np.arange(len(vertices)), 0, 0)
        return cls(
            vertices, (walk.tableau[0].copy(), walk.residues[0].copy(), *np.array([walk.error, walk.size])[:, 0]), walk
        )

    def count(self, chosen: ArrayLike) -> int:
        """Return the number of pairs that form a kernel of n vertices together with the n - 2 distinct vertices
        ``chosen``, in O(N^2 n).
        """
        walk, n, m = self.walk, self.vertices.distances.size, len(self.vertices)
        first = np.asarray(chosen, dtype=np.int64)
        columns = np.concatenate([first, np.setdiff1d(np.arange(m + 1), first)])  # the target remains the last column
        for layers, table in zip((walk.tableau, walk.residues, walk.error, walk.size), self.start, strict=True):
            layers[0] = table[..., columns]
        walk.used[:], walk.sizes[:], walk.filled[:] = False, 0, 0
        for k in range(n - 2):
            row = largest_row(walk.tableau[k, :, k], walk.used)
            if walk.tableau[k, row, k] == 0.0:
                return 0  # the given vertices are dependent
            walk.chosen[k], walk.rows[k + 2], walk.used[row] = k, row, True
            pivot(walk, k, k, row)
        if not complete(walk):
            return 0
        pairs = (support for support in walk.doubt[: walk.filled[1]] if support[-1] >= 0)
        return int(walk.sizes[n].sum()) + sum(is_kernel_support(self.vertices, columns[pair]) for pair in pairs)


# Compiled code cannot be interrupted, so it returns after about this many pairs. Then progress is shown and Ctrl-C
# takes effect.
_PAIRS_BEFORE_A_PAUSE = 1 << 28


def walk_kernels(vertices: Vertices, rows: int = 1 << 16, start: WalkPosition | None = None) -> Iterator[KernelBlock]:
    """Yield all kernels of a type of n >= 3 secrets, in blocks of about ``rows`` kernels and their images under
    automorphisms of the space.
    """
    # A kernel belongs to the first orbit of vertices (under the automorphisms of the space) that contains one of its
    # vertices. For each orbit, the walk searches only sets that contain the representative (the first vertex of the
    # orbit) and no vertex of an earlier orbit. For each vertex of the orbit, one automorphism maps the representative
    # to it. Applying these automorphisms to the sets that the walk finds gives all kernels of the orbit. A kernel with
    # several vertices of the orbit is found once for each of them; `images` retains the copy in which the image of the
    # representative is the lowest of these vertices. Memory: O((rows + N^2) n), because N^2 / 2 pairs may complete one
    # set of n - 2 vertices. Cost: at most C(N, n-2) tableau steps. A block also ends after about a second.
    check_searchable(len(vertices))
    tables, tasks = WalkTables.of(vertices), _orbit_tasks(vertices)
    start = start or WalkPosition()
    columns = len(tasks[start.orbit].columns) if 0 <= start.orbit < len(tasks) else -1
    first, later = start.coming[:1], start.coming[1:]
    if (
        columns < 0
        or first not in ((0,), (1,))
        or len(later) > vertices.distances.size - 2
        or not all(0 < j <= columns for j in later)
    ):
        raise OutOfRange(
            "start must be a position of a walk on this type",
            came=start,
            where="kernel_blocks",
            remedy="Pass the position of the last block of a search on the same type.",
        )
    for task in tasks[start.orbit :]:
        walk = _walk_of_orbit(tables, task, start.coming if task.number == start.orbit else (0,), rows)
        unfinished = True
        while unfinished:
            unfinished = bool(resume_walk(walk, _patience(task)))
            local = np.concatenate([walk.certain[: walk.filled[0]], _kernels_among_open(vertices, task, walk)])
            walk.filled[:] = 0
            position = _position(walk, task, tasks, unfinished=unfinished)
            share = _share_done(tasks, vertices.distances.size, position)
            report_progress(share, 1)
            yield KernelBlock(frozen(task.images(local)), position, share)


def count_by_walk(vertices: Vertices, watch: Callable[[float], object] = lambda done: None) -> NDArray[np.int64]:
    """Return the numbers of kernels with 0, 1, ..., n vertices, (n+1,); ``watch`` is called with the finished fraction
    of the search.
    """
    # A kernel with t of the s vertices of an orbit occurs t times among the s images of each set, so a set counts as
    # s/t.
    tables, tasks = WalkTables.of(vertices), _orbit_tasks(vertices)
    sizes = np.zeros(vertices.distances.size + 1, dtype=np.int64)
    for task in tasks:
        walk = _walk_of_orbit(tables, task, (0,), 0)
        unfinished = True
        while unfinished:
            unfinished = bool(resume_walk(walk, _patience(task)))
            share = _share_done(tasks, vertices.distances.size, _position(walk, task, tasks, unfinished=unfinished))
            report_progress(share, 1)
            watch(share)
            for support in _kernels_among_open(vertices, task, walk):
                members = support[support >= 0]
                walk.sizes[len(members), np.count_nonzero(members < task.lead)] += 1
            walk.filled[:] = 0
        for size, row in enumerate(walk.sizes):
            weighted = sum(Fraction(int(times) * task.lead, t) for t, times in enumerate(row) if t)
            sizes[size] += int(weighted)
    return sizes


@dataclass(frozen=True, slots=True, eq=False)
class _OrbitTask:
    """The search for the kernels of one orbit of vertices."""

    number: int  # index of the orbit, from 0, in the order of the search
    columns: Indices  # vertices in the order of the walk: those of this orbit, then those of later orbits
    lead: int  # number of vertices of this orbit
    moves: list[Indices]  # for each vertex of this orbit, an automorphism that maps the first one to it

    def images(self, local: Array) -> NDArray[np.int32]:
        """Return all kernels of the orbit, each once. A row of ``local`` is a kernel that contains the first vertex of
        the orbit, given by the indices of its vertices in `columns`.
        """
        supports = np.where(local >= 0, self.columns[local], -1)
        parts = []
        for member, move in zip(self.columns[: self.lead], self.moves, strict=True):
            images = moved_supports(supports, move)
            lowest = np.where(np.isin(images, self.columns[: self.lead]), images, np.iinfo(images.dtype).max).min(
                axis=1
            )
            parts.append(images[lowest == member].astype(np.int32))
        return np.concatenate(parts)


def _patience(task: _OrbitTask) -> int:
    """Return the number of sets of n - 2 vertices that the walk completes before a pause, about one second of work."""
    return _PAIRS_BEFORE_A_PAUSE // len(task.columns) ** 2 + 1


def _position(walk: Walk, task: _OrbitTask, tasks: list[_OrbitTask], *, unfinished: bool) -> WalkPosition | None:
    if unfinished:
        return WalkPosition(task.number, tuple(int(j) for j in walk.coming[: walk.depth[0] + 1]))
    return WalkPosition(task.number + 1) if task.number + 1 < len(tasks) else None


def _orbit_tasks(vertices: Vertices) -> list[_OrbitTask]:
    """Return one task for each orbit, the largest orbit first, so that few sets of vertices are left for the others."""
    moves = column_permutations(vertices)
    orbits = orbits_under(moves, len(vertices))
    members = [np.flatnonzero(orbits.labels == k) for k in range(len(orbits))]
    members.sort(key=lambda orbit: (-len(orbit), int(orbit[0])))
    tasks = []
    for number, orbit in enumerate(members):
        # Find, for each member of the orbit, a product of automorphisms that maps the first member to it.
        paths = {int(orbit[0]): np.arange(len(vertices))}
        for reached in (queue := [int(orbit[0])]):
            for move in moves:
                image = int(move[reached])
                if image not in paths:
                    paths[image] = move[paths[reached]]
                    queue.append(image)
        columns = np.concatenate(members[number:])
        tasks.append(_OrbitTask(number, columns, len(orbit), [paths[int(member)] for member in orbit]))
    return tasks


def _walk_of_orbit(tables: WalkTables, task: _OrbitTask, coming: tuple[int, ...], rows: int) -> Walk:
    """Return the walk of one orbit, advanced to the position ``coming`` (the next column at each depth)."""
    walk = tables.walk(task.columns, task.lead, rows)
    walk.coming[: len(coming)] = coming
    walk.depth[0] = len(coming) - 1
    for k, after in enumerate(coming[:-1]):
        j = after - 1
        row = largest_row(walk.tableau[k, :, j], walk.used)
        walk.chosen[k], walk.rows[k + 2], walk.used[row] = j, row, True
        pivot(walk, k, j, row)
    return walk


def _kernels_among_open(vertices: Vertices, task: _OrbitTask, walk: Walk) -> NDArray[np.int16]:
    """Return those undecided sets of a walk that exact arithmetic shows to be kernels."""
    open_sets = walk.doubt[: walk.filled[1]]
    settled = [is_kernel_support(vertices, task.columns[support[support >= 0]]) for support in open_sets]
    return open_sets[settled] if settled else open_sets


def _share_done(tasks: list[_OrbitTask], n: int, position: WalkPosition | None) -> float:
    """Return the fraction of the search before a position, measured by numbers of sets of n vertices."""
    todo = [comb(len(task.columns) - 1, n - 1) for task in tasks]
    if position is None or not sum(todo):
        return 1.0
    left = sum(todo[position.orbit + 1 :])
    second = position.coming[1] if len(position.coming) > 1 else 1
    return 1 - (left + comb(len(tasks[position.orbit].columns) - second, n - 1)) / sum(todo)
