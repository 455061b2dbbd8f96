"""Whole numbers, none negative, that come nearest to noisy sums: least squares over x >= 0, then controlled rounding.

All answers are sums of atoms; so atoms that are whole and not negative make every sum agree with every other, and no
constraint between tables is needed.

The first step minimises f(x) = 1/2 sum_S q_S |A_S x - y_S|^2 over x >= 0: accelerated projected gradients, begun
again whenever the momentum points uphill [beck2009, odonoghue2015], guess which atoms are zero; conjugate gradients
solve for the others, and the signs found correct the guess. How near the end is to the least is certified by the
gradient there. The second takes every atom and every measured sum to the whole number below or above it, with the
least change in all: a linear program over the fractional parts. Where the measured families form two chains, each of
families that refine one another, the sums are two laminar families of sets, their incidence matrix is totally
unimodular, and the program's vertices are whole
[edmonds1970]. Elsewhere (three-way tables) that fails; the rest is rounded, and the largest move of a sum is reported.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import SolverFailed
from utmost.laws.exact import Floats
from utmost.laws.programs import LinearProgram, solve, solve_inside
from utmost.publish.workloads.axes import Axis
from utmost.publish.workloads.candidates import finest_common
from utmost.publish.workloads.domain import Domain, Family
from utmost.publish.workloads.measured_families import is_tents, place_of_tents
from utmost.publish.workloads.tree_reconstruction import SumSquares
from utmost.publish.workloads.whole_flows import whole_flow

_NEAR = 1e-7  # an atom that is so near to a whole number is that number
_ROUNDS, _STEPS = 200, 60
_GUESSES, _FACE_STEPS, _EXACT = 30, 200, 1e-26
_MANY = 10_000  # atoms from which an inner optimum is sooner made whole than a vertex is found
_ROWS = 4  # atoms for each sum below which a simplex method is fast
_PROVEN = 1e-9  # an atom's share of what duals may leave open of the least sum of moves


@dataclass(frozen=True, slots=True, eq=False)
class NonNegative:
    """The least squares over x >= 0, as whole numbers and what is left, and how far they may be from the least.

    Attributes:
        whole, rest: the solution is their sum; the first are integers of any size, so that no digit is lost.
        objective: f there, with the weights as they are.
        gap: by how much f may be above the least: certified by the gradient, up to rounding of floats.
        residual: the largest |x - max(x - gradient/curvature, 0)| with the least curvature: 0 at the least f alone.
    """

    whole: NDArray[Any]
    rest: Floats
    objective: float
    gap: float
    residual: float


def nonnegative_least_squares(
    reconstruction: SumSquares,
    measured: Mapping[Family, NDArray[Any]],
    tolerance: float = 1e-6,
) -> NonNegative:
    """The x >= 0 that come nearest to the measured sums, each family at its weight.

    Args:
        reconstruction: the domain and the weights; it must determine the atoms.
        measured: of each measured family its noisy sums.
        tolerance: of the residual, in units of an atom.

    Raises:
        NotDetermined: where the measured sums do not determine the atoms.
        SolverFailed: where the tolerance was not reached.

    Cost: some hundred passes over the atoms and the families.

    >>> from utmost.publish.workloads.reconstruction import Reconstruction
    >>> reconstruction = Reconstruction(Domain(sex=["men", "women"]), {(0,): 1, (1,): 1})
    >>> found = nonnegative_least_squares(reconstruction, {(0,): np.array([7, -2]), (1,): np.array([4])})
    >>> (found.whole + found.rest).round(6).tolist()
    [5.5, 0.0]
    """
    domain = reconstruction.domain
    reconstruction.check_family_determined(domain.finest)
    whole, start = _rounded_estimates(reconstruction, measured)
    left = {family: (sums - domain.sums(whole, family)).astype(np.float64) for family, sums in measured.items()}
    program = _Squares.of(reconstruction, left, -whole.astype(np.float64))
    rest = program.minimised(np.maximum(start, program.lower), tolerance)
    gradient = program.gradient(rest)
    scale = program.largest
    return NonNegative(
        whole,
        rest,
        scale * program.objective(rest),
        scale * program.gap(rest, gradient),
        program.residual(rest, gradient),
    )


def _rounded_estimates(
    reconstruction: SumSquares, measured: Mapping[Family, NDArray[Any]]
) -> tuple[NDArray[Any], Floats]:
    """The estimates of the atoms as whole numbers >= 0, and what is left of each."""
    finest = reconstruction.domain.finest
    estimates = reconstruction.floats(measured, finest)
    whole: NDArray[Any] = np.maximum(np.rint(estimates), 0.0)
    if whole.max(initial=0) * whole.size < 2.0**62:
        return whole.astype(np.int64), estimates - whole
    # The last digit of a float may be a million atoms here, so the exact estimates are rounded.
    sums, divisor = reconstruction.estimates(measured, finest)
    exactly = [Fraction(one) / divisor for one in sums.ravel().tolist()]
    near = [max(0, round(one)) for one in exactly]
    left = [float(one - base) for one, base in zip(exactly, near, strict=True)]
    return np.array(near, dtype=object).reshape(whole.shape), np.array(left).reshape(whole.shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Squares:
    """f over x >= lower, divided by its largest curvature; ``least`` is its least curvature."""

    domain: Domain
    weights: Mapping[Family, float]
    sums: Mapping[Family, Floats]
    pull: Floats
    lower: Floats
    largest: float
    least: float

    @classmethod
    def of(cls, reconstruction: SumSquares, sums: Mapping[Family, Floats], lower: Floats) -> "_Squares":
        least, largest = map(float, reconstruction.curvatures)
        weights = {family: weight / largest for family, weight in reconstruction.weights.items()}
        pull = np.zeros(reconstruction.domain.shape)
        for family, weight in weights.items():
            pull += weight * reconstruction.domain.spread(sums[family], family)
        return cls(reconstruction.domain, weights, sums, pull, lower, largest, least / largest)

    def curved(self, x: Floats) -> Floats:
        """The second derivative times x."""
        found = np.zeros_like(x)
        for family, weight in self.weights.items():
            found += weight * _averaged(self.domain, x, family)
        return found

    def gradient(self, x: Floats) -> Floats:
        return self.curved(x) - self.pull

    def objective(self, x: Floats) -> float:
        found = 0.0
        for family, weight in self.weights.items():
            off = self.domain.sums(x, family) - self.sums[family].reshape(self.domain.group_shape(family))
            found += weight / 2 * float((off * off).sum())
        return found

    def residual(self, x: Floats, gradient: Floats) -> float:
        """The largest |x - max(x - gradient/least, lower)|, 0 at the least f alone."""
        return float(np.abs(x - np.maximum(x - gradient / self.least, self.lower)).max())

    def gap(self, x: Floats, gradient: Floats) -> float:
        """At least f(x) - least f: f is never below its tangent plus ``least``/2 times the squared distance."""
        step = np.maximum(x - gradient / self.least, self.lower) - x
        return max(0.0, -float((gradient * step + self.least / 2 * step * step).sum()))

    def minimised(self, x: Floats, tolerance: float) -> Floats:
        """Rounds of projected gradients, each followed by guesses which atoms are zero, until nothing moves."""
        for _ in range(_ROUNDS):
            x = self._accelerated(x)
            x = self._guessed(x, tolerance)
            if self.residual(x, self.gradient(x)) <= tolerance:
                return x
        raise SolverFailed(
            "the non-negative least squares must be found", came=f"a residual above {tolerance}", where="clean"
        )

    def _accelerated(self, x: Floats) -> Floats:
        ahead, momentum = x, 1.0
        for _ in range(_STEPS):
            step = np.maximum(ahead - self.gradient(ahead), self.lower)
            if float(((ahead - step) * (step - x)).sum()) > 0:
                ahead, momentum = step, 1.0
            else:
                after = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
                ahead, momentum = step + (momentum - 1) / after * (step - x), after
            x = step
        return x

    def _guessed(self, x: Floats, tolerance: float) -> Floats:
        """Guess which atoms are at their bounds, solve for the others, and let signs make the next guess.

        Where a guess repeats itself its solution is the least f. Nothing proves that this ends; so the best of the
        solutions, moved to its bounds, is only the next start unless its residual is small.
        """
        best, least = x, self.objective(x)
        gradient = self.gradient(x)
        free = (x > self.lower) | (gradient < 0)
        for _ in range(_GUESSES):
            x = self._solved(np.where(free, x, self.lower), free)
            gradient = self.gradient(x)
            near = np.maximum(x, self.lower)
            now = self.objective(near)
            if now <= least:
                best, least = near, now
            after = np.where(free, x > self.lower, gradient < 0)
            if (after == free).all() or self.residual(near, self.gradient(near)) <= tolerance:
                return near
            free = after
        return best

    def _solved(self, x: Floats, free: NDArray[np.bool_]) -> Floats:
        """The least f over the free atoms, the others as they are, by conjugate gradients."""
        left = np.where(free, -self.gradient(x), 0.0)
        way, size = left, float((left * left).sum())
        enough = _EXACT * size
        for _ in range(_FACE_STEPS):
            if size <= enough:
                break
            bent = np.where(free, self.curved(way), 0.0)
            length = size / float((way * bent).sum())
            x, left = x + length * way, left - length * bent
            before, size = size, float((left * left).sum())
            way = left + size / before * way
        return x


def _averaged(domain: Domain, x: Floats, family: Family) -> Floats:
    """A_S' A_S x, or an array that is broadcast to it."""
    if is_tents(family):
        return np.asarray(domain.spread(domain.sums(x, family), family))
    found = x
    for place, (axis, level) in enumerate(zip(domain.axes, family, strict=True)):
        if level == len(axis.levels):
            found = found.sum(axis=place, keepdims=True)
        elif level > 0:
            sums = np.add.reduceat(found, axis.group_starts(level), axis=place)
            found = np.take(sums, axis.group_of(level), axis=place)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """Whole atoms.

    Attributes:
        atoms: integers, none negative.
        whole: whether the families form two chains, so that every measured sum went to the whole number below or above.
        largest_move: the farthest that rounding moved a measured sum.
    """

    atoms: NDArray[Any]
    whole: bool
    largest_move: float


def controlled_rounding(domain: Domain, families: list[Family], found: NonNegative) -> Rounded:
    """Every atom to the whole number below or above it, and every sum of the families as well where that is possible.

    Raises:
        SolverFailed: where the linear program was not solved.

    Cost: a linear program with a variable for each atom that is not whole. Above 10^4 of them in two chains some
        thirty steps of an interior point method, and one short cycle for each.
    """
    floor = np.floor(found.rest + _NEAR)
    part = np.where(found.rest - floor > _NEAR, found.rest - floor, 0.0)
    up = np.zeros(domain.shape)
    open_atoms = np.flatnonzero(part.ravel())
    if open_atoms.size:
        up.ravel()[open_atoms] = np.rint(_least_moves(domain, families, part, open_atoms))
    moves = [np.abs(domain.sums(up - part, family)).max() for family in families]
    steps = (floor + up).astype(np.int64)
    move, whole = float(max(moves)), is_two_chains(families)
    if whole and move >= 1:
        raise SolverFailed("the program of two laminar families must have whole vertices", came=move, where="clean")
    return Rounded(found.whole + steps, whole, move)


def kept_in_rounding(domain: Domain, measured: Iterable[Family]) -> tuple[Domain, list[Family]]:
    """Which sums rounding should move by less than 1: the measured ones, in the place of tents runs along their axis.

    Tents overlap, and no rounding of atoms keeps all of them. Runs of 4, 16, 64, ... values are nested; where all are
    kept, a range moves by less than twice as many runs as it is made of. An axis that has levels has its own runs.

    Returns:
        The domain, with such runs where the axis of tents had none; the families.
    """
    families = list(measured)
    place = place_of_tents(families)
    if place is None:
        return domain, families
    axis = domain.axes[place]
    if len(axis.levels) == 1:
        axes = [_with_runs(one) if a == place else one for a, one in enumerate(domain.axes)]
        domain = Domain({one.levels[0]: one for one in axes})
    groups = [family for family in families if not is_tents(family)]
    if len(axis.levels) == 1:  # "all" has another number now
        last = len(domain.axes[place].levels)
        groups = [(*group[:place], last if group[place] else 0, *group[place + 1 :]) for group in groups]
    others = finest_common(groups)
    runs = [(*others[:place], level, *others[place + 1 :]) for level in range(len(domain.axes[place].levels) + 1)]
    return domain, list(dict.fromkeys([*groups, *runs]))


def _with_runs(axis: Axis) -> Axis:
    """The axis with runs of 4, 16, 64, ... values as levels."""
    lengths = [length for length in (4**power for power in range(1, 14)) if length < axis.size]
    starts = tuple(np.arange(0, axis.size, length) for length in lengths)
    labels = tuple(tuple(range(len(start))) for start in starts)
    names = tuple(f"{axis.levels[0]} in runs of {length}" for length in lengths)
    return Axis((axis.levels[0], *names), (axis.labels[0], *labels), (axis.starts[0], *starts))


def _least_moves(domain: Domain, families: list[Family], part: Floats, atoms: NDArray[np.intp]) -> Floats:
    """Of the atoms that are not whole, which go up: the least sum of moves that moves no measured sum by a whole."""
    rows, lower, upper, start = [], [], [], 0
    groups: dict[Family, NDArray[np.int64]] = {}
    for family in families:
        if family == domain.finest:
            continue
        sums = domain.sums(part, family).ravel()
        near = np.rint(sums)
        sums = np.where(np.abs(sums - near) < 1e-6, near, sums)
        groups[family] = domain.spread(np.arange(sums.size), family).ravel()[atoms]
        rows.append(groups[family] + start)
        lower.append(np.floor(sums))
        upper.append(np.ceil(sums))
        start += sums.size
    cost = 1 - 2 * part.ravel()[atoms]
    if not rows:
        return (cost < 0).astype(np.float64)
    at, which = np.concatenate(rows), np.tile(np.arange(atoms.size), len(rows))
    bounds = np.zeros(atoms.size), np.ones(atoms.size)
    limits = np.concatenate(lower), np.concatenate(upper)
    program = LinearProgram.of_triplets(cost, at, which, np.ones(at.size), *limits, *bounds)
    if atoms.size > max(_MANY, _ROWS * start) and is_two_chains(families):
        up = least_whole_flow(program, [[groups[family] for family in chain] for chain in _two_chains(list(groups))])
        if up is not None:
            return up
    return np.asarray(solve(program).primal)


def least_whole_flow(program: LinearProgram, chains: list[list[NDArray[np.int64]]]) -> Floats | None:
    """A whole optimum of the program of two chains, from an inner one; None where duals do not prove it.

    Equal fractions tie whole faces of such a program, on which a simplex method takes cubic time. An inner optimum
    comes in some thirty steps, and every cycle of its arcs costs nothing. The duals prove what comes, to 10^-9 an atom.

    >>> program = LinearProgram.of_triplets([0.4, 0.6], [0, 0], [0, 1], [1, 1], [1], [1], [0, 0], [1, 1])
    >>> least_whole_flow(program, [[np.array([0, 0])], []]).tolist()
    [1.0, 0.0]
    """
    try:
        inner, duals = solve_inside(program)
        up = whole_flow(inner, program.cost, chains)
    except SolverFailed:
        return None
    sums = program.product(up)
    is_whole = bool(((program.lower <= sums) & (sums <= program.upper)).all()) and set(np.unique(up)) <= {0, 1}
    excess = float(program.cost @ up - program.least_by(duals))
    return up if is_whole and excess <= _PROVEN * up.size else None


def _two_chains(families: list[Family]) -> list[list[Family]]:
    """The families as two chains, from fine to coarse: families of which neither refines the other go apart."""
    side: dict[Family, int] = {}
    for start in families:
        side.setdefault(start, 0)
        reached = [start]
        while reached:
            family = reached.pop()
            for other in families:
                if _apart(family, other) and other not in side:
                    side[other] = 1 - side[family]
                    reached.append(other)
    return [sorted((family for family in families if side[family] == k), key=sum) for k in (0, 1)]


def is_two_chains(families: list[Family]) -> bool:
    """Whether the families are two chains, in each of which of any two families one refines the other.

    By Dilworth's theorem they are unless three of them are pairwise incomparable.

    >>> is_two_chains([(0, 0), (0, 1), (1, 0), (1, 1)]), is_two_chains([(0, 1, 1), (1, 0, 1), (1, 1, 0)])
    (True, False)
    """
    return not any(all(_apart(*pair) for pair in combinations(three, 2)) for three in combinations(families, 3))


def _apart(one: Family, other: Family) -> bool:
    levels = list(zip(one, other, strict=True))
    return any(a < b for a, b in levels) and any(a > b for a, b in levels)
