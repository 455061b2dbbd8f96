"""The table of numbers >= 0 that comes nearest to noisy sums and keeps to public facts: least squares.

Minimise f(x) = 1/2 sum_S q_S |A_S x - y_S|^2 over x >= 0. Accelerated projected gradients, begun again whenever the
momentum points uphill [beck2009, odonoghue2015], guess which cells are zero; conjugate gradients solve for the others,
and the signs found correct the guess. Bounds of single cells are bounds of the variables. Sums that are held between
bounds B x in [l, u] are paid for by an augmented Lagrangian [hestenes1969], whose multipliers are moved until
they hold. How near the end is to the least is certified by the gradient and the multipliers there.

Measured sums that leave the cells open, such as overlapping marginals, have many least tables. One of them is the limit
of proximal steps [rockafellar1976]: each is the least f that stays near to the table before.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.core.sampling.integers import minus, narrowed
from utmost.errors import OutOfRange, SolverFailed
from utmost.publish.workloads.measuring.measured_families import is_hats
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree
from utmost.publish.workloads.reconstruction.clashing_facts import check_feasible
from utmost.publish.workloads.reconstruction.estimates import SumSquares
from utmost.publish.workloads.reconstruction.nonnegative_trees import nearest_of_tree
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.tables.axes.domain import Domain, Family

_ROUNDS, _STEPS = 200, 60
_GUESSES, _FACE_STEPS, _EXACT = 30, 200, 1e-26
_FEW = 10_000  # cells up to which facts are sooner checked than tried
_HOLDS, _SOON = 30, 6  # times that the multipliers of facts are moved, and how many are few
_FAR = 1e8  # from where on the sums that are public may be too far off for the tolerance
_DIGITS = 1 << 53  # below it every integer is a float
_STIFF, _STIFFER = 10.0, 10.0  # what a held sum costs beside the largest curvature, and how that grows
_NEAR, _PROXIMAL, _STILL = 1e-2, 300, 1e-3  # the curvature of nearness, the number of steps, tolerances that are none


@dataclass(frozen=True, slots=True, eq=False)
class NonNegative:
    """The least squares over x >= 0, as whole numbers and what is left, and how far they may be from the least.

    Attributes:
        whole, rest: the solution is their sum; the first are integers of any size, so that no digit is lost.
        objective: f there, with the weights as they are.
        gap: Distance of f above the least at most: certified by the gradient, up to rounding of floats.
        residual: the largest |x - max(x - gradient/curvature, 0)| with the least curvature: 0 at the least f alone.
        multipliers: Pull of each sum at its cells, for each public family of sums of several cells.
    """

    whole: NDArray[Any]
    rest: Floats
    objective: float
    gap: float
    residual: float
    multipliers: Mapping[Family, Floats] = field(default_factory=dict)


def nonnegative_least_squares(
    reconstruction: SumSquares,
    measured: Mapping[Family, NDArray[Any]],
    tolerance: float = 1e-6,
    facts: PublicFacts | None = None,
) -> NonNegative:
    """The x >= 0 that come nearest to the measured sums, each family at its weight, and of which public facts hold.

    Args:
        reconstruction: the domain and the weights.
        measured: Noisy sums of each measured family.
        tolerance: Tolerance of the residual, and of the sums that are public, in units of a cell.
        facts: Public facts on some sums.

    Raises:
        Infeasible: for facts that hold of no table.
        OutOfRange: for facts farther from the released sums than floats have digits.
        SolverFailed: where the tolerance was not reached. Never for one tree of sums without facts: where floats have
            not the digits for it, its least is found in rationals.

    Cost: some hundred passes over the cells and the families; some times that with facts.

    >>> from utmost.publish.workloads.reconstruction.least_squares import Reconstruction
    >>> reconstruction = Reconstruction(Domain(sex=["men", "women"]), {(0,): 1, (1,): 1})
    >>> nearest = nonnegative_least_squares(reconstruction, {(0,): np.array([7, -2]), (1,): np.array([4])})
    >>> (nearest.whole + nearest.rest).round(6).tolist()
    [5.5, 0.0]
    """
    domain = reconstruction.domain
    if not reconstruction.curvatures[0]:
        return _one_of_many(reconstruction, measured, tolerance, facts)
    whole, start = _rounded_estimates(reconstruction, measured)
    # Sums and differences of two columns come rotated back into sums of cells, in floats.
    are_whole = all(sums.dtype.kind != "f" for sums in measured.values())
    apart = minus if are_whole else np.subtract
    far = {family: apart(sums, domain.sums(whole, family)) for family, sums in measured.items()}
    is_tree = facts is None and len(domain.axes) == 1 and are_whole and not any(map(is_hats, measured))
    if is_tree and any(max(int(sums.max()), -int(sums.min())) >= _DIGITS for sums in far.values()):
        return _of_a_tree(reconstruction, measured)
    left = {family: sums.astype(np.float64) for family, sums in far.items()}
    lower, upper = (-whole.astype(np.float64), np.array(inf)) if facts is None else facts.box(whole)
    if facts is not None and (domain.size <= _FEW or (lower > upper).any()):
        check_feasible(facts)
    program = _Squares.of(reconstruction, left, lower, upper, {} if facts is None else facts.less(whole))
    farthest = max((hold.off(start) for hold in program.holds), default=0.0)
    try:
        rest = program.held(program.within(start), tolerance, lambda: None if facts is None else check_feasible(facts))
    except SolverFailed:
        if is_tree:
            return _of_a_tree(reconstruction, measured)
        if farthest <= _FAR:
            raise
        raise OutOfRange(
            f"public facts must lie within {_FAR:.0e} of the released sums, in steps of an amount",
            came="one farther off, beyond the digits of floats",
            where="given",
            remedy="Compare it with the released sum; where amounts are that large, count them in larger steps.",
        ) from None
    gradient = program.gradient(rest)
    scale = program.largest
    return NonNegative(
        *(_at_their_ends(whole, program, rest, facts) if whole.max(initial=0) >= _DIGITS else (whole, rest)),
        scale * program.objective(rest),
        scale * program.gap(rest, gradient),
        program.residual(rest, gradient),
        {hold.family: scale * hold.stiffness * hold.outside(rest) for hold in program.holds},
    )


def _one_of_many(
    reconstruction: SumSquares, measured: Mapping[Family, NDArray[Any]], tolerance: float, facts: PublicFacts | None
) -> NonNegative:
    """One of the tables that come nearest, where the measured sums leave the cells open."""
    domain = reconstruction.domain
    if facts is not None:
        check_feasible(facts)
    whole, rest = np.zeros(domain.shape, dtype=np.int64), np.zeros(domain.shape)
    for _ in range(2):  # once more from whole numbers: what is left is small, and floats have all their digits for it
        floor = np.floor(rest)
        whole, rest = whole + floor.astype(np.int64), rest - floor
        left = {family: minus(sums, domain.sums(whole, family)) for family, sums in measured.items()}
        sums = {family: of.astype(np.float64) for family, of in left.items()}
        lower, upper = (-whole.astype(np.float64), np.array(inf)) if facts is None else facts.box(whole)
        program = _Squares.of(reconstruction, sums, lower, upper, {} if facts is None else facts.less(whole))
        rest = program.proximal(program.within(rest), tolerance)
    gradient, scale = program.gradient(rest), program.largest
    room = np.where(gradient > 0, rest - lower, 0.0)
    return NonNegative(
        whole,
        rest,
        scale * program.objective(rest),
        scale * (float((gradient * room).sum()) - min(0.0, float(gradient.min())) * float(whole.sum() + rest.sum())),
        float(np.abs(rest - program.within(rest - gradient)).max()),
        {hold.family: scale * hold.stiffness * hold.outside(rest) for hold in program.holds},
    )


def _of_a_tree(reconstruction: SumSquares, measured: Mapping[Family, NDArray[Any]]) -> NonNegative:
    """The least itself, where floats have too few digits for the tolerance."""
    domain, weights = reconstruction.domain, reconstruction.weights
    cells = nearest_of_tree(UnequalTree.of(domain), weights, measured)
    squares = Fraction(0)
    for family, sums in measured.items():
        off = domain.sums(np.array(cells, dtype=object), family).ravel() - sums.ravel().astype(object)
        squares += weights[family] * Fraction((off * off).sum()) / 2
    whole = [math.floor(cell) for cell in cells]
    rest = [float(cell - base) for cell, base in zip(cells, whole, strict=True)]
    return NonNegative(narrowed(np.array(whole, dtype=object)), np.array(rest), float(squares), 0.0, 0.0)


def _at_their_ends(
    whole: NDArray[Any], program: "_Squares", rest: Floats, facts: PublicFacts | None
) -> tuple[NDArray[Any], Floats]:
    """The cells, of which those that ended at a bound are it: the float of a bound less a large number is beside it."""
    low, high = (0, inf) if facts is None else facts.ends
    lowest, highest = rest <= program.lower, rest >= program.upper
    whole = np.where(lowest, low, np.where(highest, high, whole.astype(object)))
    return whole, np.where(lowest | highest, 0.0, rest)


def _rounded_estimates(
    reconstruction: SumSquares, measured: Mapping[Family, NDArray[Any]]
) -> tuple[NDArray[Any], Floats]:
    """The estimates of the cells as whole numbers >= 0, and what is left of each."""
    finest = reconstruction.domain.finest
    estimates = reconstruction.floats(measured, finest)
    whole: NDArray[Any] = np.maximum(np.rint(estimates), 0.0)
    # Whole numbers first: what is left is small, and floats have all their digits for it.
    if whole.max(initial=0) * whole.size < 2.0**62:
        return whole.astype(np.int64), estimates - whole
    # The last digit of a float may be a million cells here, so the exact estimates are rounded.
    sums, divisor = reconstruction.estimates(measured, finest)
    exactly = [Fraction(number) / divisor for number in sums.ravel().tolist()]
    near = [max(0, round(number)) for number in exactly]
    left = [float(number - base) for number, base in zip(exactly, near, strict=True)]
    return np.array(near, dtype=object).reshape(whole.shape), np.array(left).reshape(whole.shape)


@dataclass(slots=True, eq=False)
class _Held:
    """One family of sums that are held in [lower, upper]: half of ``stiffness`` times the squared distance of B x + m.

    Attributes:
        stiffness: Cost of a unit off.
        multipliers: m, of each sum; stiffness times m is the multiplier of the constraint.
    """

    domain: Domain
    family: Family
    lower: Floats
    upper: Floats
    stiffness: float
    multipliers: Floats
    worst: float = inf

    def outside(self, x: Floats) -> Floats:
        """How far each sum, with its multiplier, lies outside."""
        moved = self.domain.sums(x, self.family) + self.multipliers
        return np.asarray(moved - np.clip(moved, self.lower, self.upper))

    def off(self, x: Floats) -> float:
        """How far a sum lies outside at most."""
        sums = self.domain.sums(x, self.family)
        return float(np.abs(sums - np.clip(sums, self.lower, self.upper)).max())

    def slope(self, x: Floats) -> Floats:
        """The gradient of the cost."""
        return np.asarray(self.domain.spread(self.stiffness * self.outside(x), self.family))

    def move(self, x: Floats, tolerance: float) -> None:
        """Take what is outside as the multipliers; where that brought little, make it cost more."""
        # The next turn begins where this one pays exactly: multipliers are what a sum would have to be moved by.
        self.multipliers, now = self.outside(x), self.off(x)
        if now > max(tolerance, self.worst / 4):
            self.stiffness *= _STIFFER
            # What a sum costs is stiffness times multiplier, which stays.
            self.multipliers /= _STIFFER
        self.worst = min(now, self.worst)

    def gap(self, x: Floats) -> float:
        """The gap that the multipliers leave: each of them times the distance of its sum from the bound."""
        outside, sums = self.outside(x), self.domain.sums(x, self.family)
        bound = np.where(outside > 0, self.upper, self.lower)
        return float((self.stiffness * outside * np.where(outside == 0, 0, bound - sums)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Squares:
    """f over lower <= x <= upper, divided by its largest curvature; ``least`` is its least curvature.

    What is followed is f and the cost of the sums that are held, to which belong `gradient` and `merit`.
    """

    domain: Domain
    weights: Mapping[Family, float]
    sums: Mapping[Family, Floats]
    pull: Floats
    lower: Floats
    upper: Floats
    largest: float
    least: float
    holds: list[_Held]

    @classmethod
    def of(
        cls,
        reconstruction: SumSquares,
        sums: Mapping[Family, Floats],
        lower: Floats,
        upper: Floats,
        holds: Mapping[Family, tuple[Floats, Floats]],
    ) -> "_Squares":
        least, largest = map(float, reconstruction.curvatures)
        weights = {family: weight / largest for family, weight in reconstruction.weights.items()}
        pull = np.zeros(reconstruction.domain.shape)
        for family, weight in weights.items():
            pull += weight * reconstruction.domain.spread(sums[family], family)
        domain = reconstruction.domain
        held = [
            _Held(domain, family, *ends, _STIFF * ends[0].size / domain.size, np.zeros(ends[0].shape))
            for family, ends in holds.items()
        ]
        return cls(domain, weights, sums, pull, lower, upper, largest, least / largest, held)

    def proximal(self, x: Floats, tolerance: float) -> Floats:
        """One of the least: each step is the least f and nearness to the step before, until nothing moves.

        Held sums cost many times the largest curvature, so that fewer digits are left.
        """
        finest, tolerance = self.domain.finest, tolerance if self.holds else tolerance * _NEAR
        for _ in range(_PROXIMAL):
            near = replace(
                self,
                weights={**self.weights, finest: _NEAR},
                sums={**self.sums, finest: x},
                pull=self.pull + _NEAR * x,
                least=_NEAR,
            )
            after = near.held(x, tolerance, lambda: None)
            moved, x = float(np.abs(after - x).max()), after
            if moved <= _STILL * tolerance / _NEAR:
                return x
        return x

    def curved(self, x: Floats) -> Floats:
        """The second derivative times x."""
        bent = np.zeros_like(x)
        for family, weight in self.weights.items():
            bent += weight * _averaged(self.domain, x, family)
        return bent

    def gradient(self, x: Floats) -> Floats:
        slope = self.curved(x) - self.pull
        for hold in self.holds:
            slope += hold.slope(x)
        return slope

    def merit(self, x: Floats) -> float:
        """f, and what the held sums cost."""
        return self.objective(x) + sum(hold.stiffness / 2 * float((hold.outside(x) ** 2).sum()) for hold in self.holds)

    def within(self, x: Floats) -> Floats:
        return np.asarray(np.clip(x, self.lower, self.upper))

    def objective(self, x: Floats) -> float:
        squares = 0.0
        for family, weight in self.weights.items():
            off = self.domain.sums(x, family) - self.sums[family].reshape(self.domain.group_shape(family))
            squares += weight / 2 * float((off * off).sum())
        return squares

    def residual(self, x: Floats, gradient: Floats) -> float:
        """The largest |x - (x - gradient/least, moved into its bounds)|, 0 at the least alone."""
        return float(np.abs(x - self.within(x - gradient / self.least)).max())

    def gap(self, x: Floats, gradient: Floats) -> float:
        """A bound on f(x) - least f: f is never below its tangent plus ``least``/2 times the squared distance.

        The gradient has the multipliers of the held sums in it: what they leave open is added.
        """
        step = self.within(x - gradient / self.least) - x
        left_open = sum(hold.gap(x) for hold in self.holds)
        # Strong convexity: f lies above a parabola of the least curvature, whose least is worked out here.
        return max(0.0, left_open - float((gradient * step + self.least / 2 * step * step).sum()))

    def held(self, x: Floats, tolerance: float, check: Callable[[], None]) -> Floats:
        """The least f where the held sums are within their bounds: minimise, and move the multipliers, in turns.

        Where that takes long, it is checked that there is such an x at all.
        """
        for turn in range(_HOLDS):
            # Facts that contradict each other are never reached: ask, before the turns are spent.
            if turn == _SOON:
                check()
            try:
                x = self.minimised(x, tolerance)
            except SolverFailed:
                check()
                raise
            if all(hold.off(x) <= tolerance for hold in self.holds):
                return x
            for hold in self.holds:
                hold.move(x, tolerance)
        raise SolverFailed("public facts must be reached", came=f"sums off by more than {tolerance}", where="clean")

    def minimised(self, x: Floats, tolerance: float) -> Floats:
        """Rounds of projected gradients, each followed by guesses which cells are zero, until nothing moves."""
        for _ in range(_ROUNDS):
            x = self._accelerated(x)
            x = self._guessed(x, tolerance)
            if self.residual(x, self.gradient(x)) <= tolerance:
                return x
        raise SolverFailed(
            "the non-negative least squares must be found", came=f"a residual above {tolerance}", where="clean"
        )

    def _accelerated(self, x: Floats) -> Floats:
        size = self.domain.size
        steep = 1 + sum(hold.stiffness * size / hold.lower.size for hold in self.holds)
        ahead, momentum = x, 1.0
        for _ in range(_STEPS):
            step = self.within(ahead - self.gradient(ahead) / steep)
            # The momentum points uphill: begun again from here, without it.
            if float(((ahead - step) * (step - x)).sum()) > 0:
                ahead, momentum = step, 1.0
            else:
                after = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
                ahead, momentum = step + (momentum - 1) / after * (step - x), after
            x = step
        return x

    def _guessed(self, x: Floats, tolerance: float) -> Floats:
        """Guess which cells are at their bounds, solve for the others, and let signs make the next guess.

        Where a guess repeats itself its solution is the least f. Nothing proves that this ends; so the best of the
        solutions, moved to its bounds, is only the next start unless its residual is small.
        """
        best, least = x, self.merit(x)
        side, known = self._side(x, self.gradient(x)), set[bytes]()
        for _ in range(_GUESSES):
            x = np.where(side < 0, self.lower, np.where(side > 0, self.upper, x))
            free, broken = side == 0, self._broken(x)
            guess = b"".join(signs.tobytes() for signs in (side, *broken))
            # A guess that comes back would come back for ever.
            if guess in known:  # round in circles
                break
            known.add(guess)
            x = self._solved(x, free)
            gradient = self.gradient(x)
            near = self.within(x)
            now = self.merit(near)
            if now <= least:
                best, least = near, now
            after = np.where(free, self._side(x, np.zeros(())), self._side(x, gradient))
            is_steady = (after == side).all() and all(map(np.array_equal, broken, self._broken(x)))
            if is_steady or self.residual(near, self.gradient(near)) <= tolerance:
                return near
            side = after
        return best

    def _broken(self, x: Floats) -> list[NDArray[np.bool_]]:
        """Which held sums cost something."""
        return [hold.outside(x) != 0 for hold in self.holds]

    def _side(self, x: Floats, gradient: Floats) -> NDArray[np.int8]:
        """Say of each cell whether it stays at its lower bound (-1), at its upper one (1), or is free (0)."""
        at_lower, at_upper = (x <= self.lower) & (gradient >= 0), (x >= self.upper) & (gradient <= 0)
        return np.where(at_lower, -1, np.where(at_upper, 1, 0)).astype(np.int8)

    def _solved(self, x: Floats, free: NDArray[np.bool_]) -> Floats:
        """The least f over the free cells, the others as they are, by conjugate gradients.

        Which held sums are outside is taken to stay as it is.
        """
        strict = [
            (hold.family, np.where(broken, hold.stiffness, 0))
            for hold, broken in zip(self.holds, self._broken(x), strict=True)
        ]
        left = np.where(free, -self.gradient(x), 0.0)
        way, size = left, float((left * left).sum())
        enough = _EXACT * size
        # Conjugate gradients end in as many steps as there are curvatures; rounding may want as many again.
        for _ in range(min(_FACE_STEPS, 2 * x.size)):
            if size <= enough:
                break
            bent = self.curved(way)
            for family, stiffness in strict:
                bent += self.domain.spread(stiffness * self.domain.sums(way, family), family)
            bent = np.where(free, bent, 0.0)
            length = size / float((way * bent).sum())
            x, left = x + length * way, left - length * bent
            before, size = size, float((left * left).sum())
            way = left + size / before * way
        return x


def _averaged(domain: Domain, x: Floats, family: Family) -> Floats:
    """A_S' A_S x, or an array that is broadcast to it."""
    if is_hats(family):
        return np.asarray(domain.spread(domain.sums(x, family), family))
    averages = x
    for place, (axis, level) in enumerate(zip(domain.axes, family, strict=True)):
        if level == len(axis.levels):
            averages = averages.sum(axis=place, keepdims=True)
        elif level > 0:
            sums = np.add.reduceat(averages, axis.group_starts(level), axis=place)
            averages = np.take(sums, axis.group_of(level), axis=place)
    return averages
