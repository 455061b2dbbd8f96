"""Find the table of numbers >= 0 that is nearest to noisy sums, and satisfies public facts: least squares.

Minimise f(x) = 1/2 sum_S q_S |A_S x - y_S|^2 over x >= 0. Accelerated projected gradients, restarted when the momentum
points uphill [beck2009, odonoghue2015], guess which cells are zero. Conjugate gradients solve for the other cells, and
the signs of the solution correct the guess. Bounds of single cells are bounds of the variables. For bounds of other
sums, B x in [l, u], there is an augmented Lagrangian [hestenes1969]; its multipliers are updated until the bounds hold.
The final gradient and multipliers certify the distance to the minimum.

If the measured sums do not determine the cells, as with overlapping marginals, many tables minimise f. The module
returns the limit of proximal steps [rockafellar1976]: each step minimises f plus the squared distance to the last
table.
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
from utmost.publish.workloads.measuring.measured_marginals import is_hats
from utmost.publish.workloads.measuring.unequal_trees import UnequalTree
from utmost.publish.workloads.reconstruction.clashing_facts import check_feasible
from utmost.publish.workloads.reconstruction.estimates import SumSquares
from utmost.publish.workloads.reconstruction.nonnegative_trees import nearest_of_tree
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.tables.axes.domain import Domain, Marginal

_ROUNDS, _STEPS = 200, 60
_GUESSES, _FACE_STEPS, _EXACT = 30, 200, 1e-26
_FEW = 10_000  # for fewer cells, facts are checked before the search
_HOLDS, _SOON = 30, 6  # the most updates of multipliers; the updates after which the facts are checked
_FAR = 1e8  # for public sums farther from the estimates, floats may have too few digits
_DIGITS = 1 << 53  # floats represent all smaller integers exactly
_STIFF, _STIFFER = 10.0, 10.0  # penalty of a sum with bounds, divided by the largest curvature; factor of growth
_NEAR, _PROXIMAL, _STILL = 1e-2, 300, 1e-3  # proximal steps: curvature, number, and tolerance


@dataclass(frozen=True, slots=True, eq=False)
class NonNegative:
    """A solution of least squares over x >= 0, as integers and remainders, and its distance to the minimum."""

    whole: NDArray[Any]  # integers of any size, so that no digit is lost; the solution is whole + rest
    rest: Floats
    objective: float  # f of the solution
    gap: float  # upper bound on f minus its minimum, from the gradient, up to rounding errors
    residual: float  # the largest |x - max(x - gradient / least curvature, 0)|, which is 0 only at the minimum
    # for each public marginal of sums of several cells, the multiplier of each sum
    multipliers: Mapping[Marginal, Floats] = field(default_factory=dict)


def nonnegative_least_squares(
    reconstruction: SumSquares,
    measured: Mapping[Marginal, NDArray[Any]],
    tolerance: float = 1e-6,
    facts: PublicFacts | None = None,
) -> NonNegative:
    """Return the x >= 0 nearest to the measured sums for which the facts hold, within ``tolerance`` in each cell."""
    # This takes some hundred passes over the cells and the marginals, and several times that many with facts.
    domain = reconstruction.domain
    if not reconstruction.curvatures[0]:
        return _one_of_many(reconstruction, measured, tolerance, facts)
    whole, start = _rounded_estimates(reconstruction, measured)
    # If sums and differences of two columns were measured, `measured` has sums of cells in floats.
    are_whole = all(sums.dtype.kind != "f" for sums in measured.values())
    apart = minus if are_whole else np.subtract
    far = {marginal: apart(sums, domain.sums(whole, marginal)) for marginal, sums in measured.items()}
    is_tree = facts is None and len(domain.axes) == 1 and are_whole and not any(map(is_hats, measured))
    if is_tree and any(max(int(sums.max()), -int(sums.min())) >= _DIGITS for sums in far.values()):
        return _of_a_tree(reconstruction, measured)
    left = {marginal: sums.astype(np.float64) for marginal, sums in far.items()}
    lower, upper = (-whole.astype(np.float64), np.array(inf)) if facts is None else facts.box(whole)
    if facts is not None and (domain.size <= _FEW or (lower > upper).any()):
        check_feasible(facts)
    program = _Squares.of(reconstruction, left, lower, upper, {} if facts is None else facts.minus(whole))
    farthest = max((constraint.largest_distance(start) for constraint in program.constraints), default=0.0)
    try:
        rest = program.constrained(
            program.clipped(start), tolerance, lambda: None if facts is None else check_feasible(facts)
        )
    except SolverFailed:
        if is_tree:
            return _of_a_tree(reconstruction, measured)
        if farthest <= _FAR:
            raise
        raise OutOfRange(
            f"public facts must lie within {_FAR:.0e} of the released sums, in steps of an amount",
            came="a fact farther away, where floats have too few digits",
            where="given",
            remedy="Compare the fact with the released sum; if the amounts are really so large, count the "
            "amounts in larger steps.",
        ) from None
    shown = whole, rest
    if whole.max(initial=0) >= _DIGITS:
        # Set a cell that ended at a bound to exactly this bound, without rounding errors.
        low, high = (0, inf) if facts is None else facts.ends
        lowest, highest = rest <= program.lower, rest >= program.upper
        exactly = np.where(lowest, low, np.where(highest, high, whole.astype(object)))
        shown = exactly, np.where(lowest | highest, 0.0, rest)
    gradient = program.gradient(rest)
    scale = program.largest
    return NonNegative(
        *shown,
        scale * program.objective(rest),
        scale * program.gap(rest, gradient),
        program.residual(rest, gradient),
        {
            constraint.marginal: scale * constraint.stiffness * constraint.outside(rest)
            for constraint in program.constraints
        },
    )


def _one_of_many(
    reconstruction: SumSquares, measured: Mapping[Marginal, NDArray[Any]], tolerance: float, facts: PublicFacts | None
) -> NonNegative:
    """Return one of the tables nearest to the measured sums, if these do not determine the cells."""
    domain = reconstruction.domain
    if facts is not None:
        check_feasible(facts)
    whole, rest = np.zeros(domain.shape, dtype=np.int64), np.zeros(domain.shape)
    # the second round starts from integers, so the remainders are small, and floats have enough digits
    for _ in range(2):
        floor = np.floor(rest)
        whole, rest = whole + floor.astype(np.int64), rest - floor
        left = {marginal: minus(sums, domain.sums(whole, marginal)) for marginal, sums in measured.items()}
        sums = {marginal: of.astype(np.float64) for marginal, of in left.items()}
        lower, upper = (-whole.astype(np.float64), np.array(inf)) if facts is None else facts.box(whole)
        program = _Squares.of(reconstruction, sums, lower, upper, {} if facts is None else facts.minus(whole))
        rest = program.proximal(program.clipped(rest), tolerance)
    gradient, scale = program.gradient(rest), program.largest
    condition = np.where(gradient > 0, rest - lower, 0.0)
    return NonNegative(
        whole,
        rest,
        scale * program.objective(rest),
        scale
        * (float((gradient * condition).sum()) - min(0.0, float(gradient.min())) * float(whole.sum() + rest.sum())),
        float(np.abs(rest - program.clipped(rest - gradient)).max()),
        {
            constraint.marginal: scale * constraint.stiffness * constraint.outside(rest)
            for constraint in program.constraints
        },
    )


def _of_a_tree(reconstruction: SumSquares, measured: Mapping[Marginal, NDArray[Any]]) -> NonNegative:
    """Return the exact minimum for sums along one axis, if floats have too few digits for the tolerance."""
    domain, weights = reconstruction.domain, reconstruction.weights
    cells = nearest_of_tree(UnequalTree.of(domain), weights, measured)
    squares = Fraction(0)
    for marginal, sums in measured.items():
        off = domain.sums(np.array(cells, dtype=object), marginal).ravel() - sums.ravel().astype(object)
        squares += weights[marginal] * Fraction((off * off).sum()) / 2
    whole = [math.floor(cell) for cell in cells]
    rest = [float(cell - base) for cell, base in zip(cells, whole, strict=True)]
    return NonNegative(narrowed(np.array(whole, dtype=object)), np.array(rest), float(squares), 0.0, 0.0)


def _rounded_estimates(
    reconstruction: SumSquares, measured: Mapping[Marginal, NDArray[Any]]
) -> tuple[NDArray[Any], Floats]:
    """Return the estimates of the cells as integers >= 0, and their remainders in floats."""
    finest = reconstruction.domain.finest
    estimates = reconstruction.floats(measured, finest)
    whole: NDArray[Any] = np.maximum(np.rint(estimates), 0.0)
    # Split off integers first: then the remainders are small, and floats have enough digits.
    if whole.max(initial=0) * whole.size < 2.0**62:
        return whole.astype(np.int64), estimates - whole
    # The last binary digit of a float may be a million here, so round the exact estimates.
    sums, divisor = reconstruction.estimates(measured, finest)
    exactly = [Fraction(number) / divisor for number in sums.ravel().tolist()]
    near = [max(0, round(number)) for number in exactly]
    left = [float(number - base) for number, base in zip(exactly, near, strict=True)]
    return np.array(near, dtype=object).reshape(whole.shape), np.array(left).reshape(whole.shape)


@dataclass(slots=True, eq=False)
class _SumConstraints:
    """Bounds of one marginal's sums, with the penalty stiffness/2 * (distance of B x + multipliers to the bounds)^2."""

    domain: Domain
    marginal: Marginal
    lower: Floats
    upper: Floats
    stiffness: float
    multipliers: Floats  # Lagrange multipliers divided by the stiffness
    worst: float = inf

    def outside(self, x: Floats) -> Floats:
        """Return how far each sum plus its multiplier is outside its bounds, with a sign."""
        moved = self.domain.sums(x, self.marginal) + self.multipliers
        return np.asarray(moved - np.clip(moved, self.lower, self.upper))

    def largest_distance(self, x: Floats) -> float:
        sums = self.domain.sums(x, self.marginal)
        return float(np.abs(sums - np.clip(sums, self.lower, self.upper)).max())

    def slope(self, x: Floats) -> Floats:
        """Return the gradient of the penalty."""
        return np.asarray(self.domain.spread(self.stiffness * self.outside(x), self.marginal))

    def update(self, x: Floats, tolerance: float) -> None:
        """Update the multipliers; increase the stiffness if the distances decreased little."""
        # With the new multipliers, the gradient at x does not change.
        self.multipliers, now = self.outside(x), self.largest_distance(x)
        if now > max(tolerance, self.worst / 4):
            self.stiffness *= _STIFFER
            # The gradient, stiffness * multiplier, must not change.
            self.multipliers /= _STIFFER
        self.worst = min(now, self.worst)

    def gap(self, x: Floats) -> float:
        """Return the duality gap of the multipliers: the sum of multiplier * distance of the sum to its bound."""
        outside, sums = self.outside(x), self.domain.sums(x, self.marginal)
        bound = np.where(outside > 0, self.upper, self.lower)
        return float((self.stiffness * outside * np.where(outside == 0, 0, bound - sums)).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Squares:
    """f over lower <= x <= upper, scaled to the largest curvature 1; ``least`` is the least curvature after scaling."""

    # `objective` is f; `merit` and `gradient` include the penalties of sums with bounds.
    domain: Domain
    weights: Mapping[Marginal, float]
    sums: Mapping[Marginal, Floats]
    pull: Floats
    lower: Floats
    upper: Floats
    largest: float
    least: float
    constraints: list[_SumConstraints]

    @classmethod
    def of(
        cls,
        reconstruction: SumSquares,
        sums: Mapping[Marginal, Floats],
        lower: Floats,
        upper: Floats,
        bounds: Mapping[Marginal, tuple[Floats, Floats]],
    ) -> "_Squares":
        least, largest = map(float, reconstruction.curvatures)
        weights = {marginal: weight / largest for marginal, weight in reconstruction.weights.items()}
        pull = np.zeros(reconstruction.domain.shape)
        for marginal, weight in weights.items():
            pull += weight * reconstruction.domain.spread(sums[marginal], marginal)
        domain = reconstruction.domain
        constraints = [
            _SumConstraints(domain, marginal, *ends, _STIFF * ends[0].size / domain.size, np.zeros(ends[0].shape))
            for marginal, ends in bounds.items()
        ]
        return cls(domain, weights, sums, pull, lower, upper, largest, least / largest, constraints)

    def proximal(self, x: Floats, tolerance: float) -> Floats:
        """Return one of the tables of least f, by proximal steps until no cell changes."""
        # Penalties of sums with bounds are many times the largest curvature, so floats cannot reach a smaller
        # tolerance.
        finest, tolerance = self.domain.finest, tolerance if self.constraints else tolerance * _NEAR
        for _ in range(_PROXIMAL):
            near = replace(
                self,
                weights={**self.weights, finest: _NEAR},
                sums={**self.sums, finest: x},
                pull=self.pull + _NEAR * x,
                least=_NEAR,
            )
            after = near.constrained(x, tolerance, lambda: None)
            moved, x = float(np.abs(after - x).max()), after
            if moved <= _STILL * tolerance / _NEAR:
                return x
        return x

    def hessian_times(self, x: Floats) -> Floats:
        """Multiply x by the Hessian of f."""
        bent = np.zeros_like(x)
        for marginal, weight in self.weights.items():
            bent += weight * _averaged(self.domain, x, marginal)
        return bent

    def gradient(self, x: Floats) -> Floats:
        slope = self.hessian_times(x) - self.pull
        for constraint in self.constraints:
            slope += constraint.slope(x)
        return slope

    def merit(self, x: Floats) -> float:
        """Return f plus the penalties of sums with bounds."""
        return self.objective(x) + sum(
            constraint.stiffness / 2 * float((constraint.outside(x) ** 2).sum()) for constraint in self.constraints
        )

    def clipped(self, x: Floats) -> Floats:
        return np.asarray(np.clip(x, self.lower, self.upper))

    def objective(self, x: Floats) -> float:
        squares = 0.0
        for marginal, weight in self.weights.items():
            off = self.domain.sums(x, marginal) - self.sums[marginal].reshape(self.domain.group_shape(marginal))
            squares += weight / 2 * float((off * off).sum())
        return squares

    def residual(self, x: Floats, gradient: Floats) -> float:
        """Return the largest |x - (x - gradient/least, clipped to its bounds)|, which is 0 only at the minimum."""
        return float(np.abs(x - self.clipped(x - gradient / self.least)).max())

    def gap(self, x: Floats, gradient: Floats) -> float:
        """Return an upper bound on f(x) minus the minimum, from strong convexity and the multipliers."""
        step = self.clipped(x - gradient / self.least) - x
        left_open = sum(constraint.gap(x) for constraint in self.constraints)
        # By strong convexity f lies above a parabola with the least curvature; compute the minimum of this parabola.
        return max(0.0, left_open - float((gradient * step + self.least / 2 * step * step).sum()))

    def constrained(self, x: Floats, tolerance: float, check: Callable[[], None]) -> Floats:
        """Return the minimum of f with all sums within bounds: minimise, then update the multipliers, repeatedly."""
        for turn in range(_HOLDS):
            # Contradictory facts never hold, so check the facts before more turns.
            if turn == _SOON:
                check()
            try:
                x = self.minimised(x, tolerance)
            except SolverFailed:
                check()
                raise
            if all(constraint.largest_distance(x) <= tolerance for constraint in self.constraints):
                return x
            for constraint in self.constraints:
                constraint.update(x, tolerance)
        raise SolverFailed("public facts must hold", came=f"sums off by more than {tolerance}", where="clean")

    def minimised(self, x: Floats, tolerance: float) -> Floats:
        """Alternate projected gradients and guesses about which cells are zero, until the residual is small."""
        for _ in range(_ROUNDS):
            x = self._accelerated(x)
            x = self._guessed(x, tolerance)
            if self.residual(x, self.gradient(x)) <= tolerance:
                return x
        raise SolverFailed(
            "the solution of the non-negative least-squares problem must be found",
            came=f"a residual above {tolerance}",
            where="clean",
        )

    def _accelerated(self, x: Floats) -> Floats:
        size = self.domain.size
        steep = 1 + sum(constraint.stiffness * size / constraint.lower.size for constraint in self.constraints)
        ahead, momentum = x, 1.0
        for _ in range(_STEPS):
            step = self.clipped(ahead - self.gradient(ahead) / steep)
            # If the momentum points uphill, restart without it.
            if float(((ahead - step) * (step - x)).sum()) > 0:
                ahead, momentum = step, 1.0
            else:
                after = (1 + math.sqrt(1 + 4 * momentum * momentum)) / 2
                ahead, momentum = step + (momentum - 1) / after * (step - x), after
            x = step
        return x

    def _guessed(self, x: Floats, tolerance: float) -> Floats:
        """Guess which cells are at their bounds, solve for the others, and correct the guess by the signs."""
        # If the next guess equals the last one, the solution is the minimum. Nothing proves that this will happen: if
        # no residual gets small, the best solution, clipped to its bounds, is only the start of the next round.
        best, least = x, self.merit(x)
        side, known = self._side(x, self.gradient(x)), set[bytes]()
        for _ in range(_GUESSES):
            x = np.where(side < 0, self.lower, np.where(side > 0, self.upper, x))
            free, broken = side == 0, self._violated(x)
            guess = b"".join(signs.tobytes() for signs in (side, *broken))
            # Stop at a guess that was tried before: it would repeat for ever.
            if guess in known:
                break
            known.add(guess)
            x = self._solved(x, free)
            gradient = self.gradient(x)
            near = self.clipped(x)
            now = self.merit(near)
            if now <= least:
                best, least = near, now
            after = np.where(free, self._side(x, np.zeros(())), self._side(x, gradient))
            is_steady = (after == side).all() and all(map(np.array_equal, broken, self._violated(x)))
            if is_steady or self.residual(near, self.gradient(near)) <= tolerance:
                return near
            side = after
        return best

    def _violated(self, x: Floats) -> list[NDArray[np.bool_]]:
        """For each constraint, return which sums have a penalty."""
        return [constraint.outside(x) != 0 for constraint in self.constraints]

    def _side(self, x: Floats, gradient: Floats) -> NDArray[np.int8]:
        """For each cell, return -1 if it stays at its lower bound, 1 if at its upper bound, 0 if it is free."""
        at_lower, at_upper = (x <= self.lower) & (gradient >= 0), (x >= self.upper) & (gradient <= 0)
        return np.where(at_lower, -1, np.where(at_upper, 1, 0)).astype(np.int8)

    def _solved(self, x: Floats, free: NDArray[np.bool_]) -> Floats:
        """Minimise over the free cells by conjugate gradients; sums with a penalty at ``x`` keep the penalty."""
        strict = [
            (constraint.marginal, np.where(broken, constraint.stiffness, 0))
            for constraint, broken in zip(self.constraints, self._violated(x), strict=True)
        ]
        left = np.where(free, -self.gradient(x), 0.0)
        way, size = left, float((left * left).sum())
        enough = _EXACT * size
        # Conjugate gradients need as many steps as there are different curvatures; with rounding errors twice as many.
        for _ in range(min(_FACE_STEPS, 2 * x.size)):
            if size <= enough:
                break
            bent = self.hessian_times(way)
            for marginal, stiffness in strict:
                bent += self.domain.spread(stiffness * self.domain.sums(way, marginal), marginal)
            bent = np.where(free, bent, 0.0)
            length = size / float((way * bent).sum())
            x, left = x + length * way, left - length * bent
            before, size = size, float((left * left).sum())
            way = left + size / before * way
        return x


def _averaged(domain: Domain, x: Floats, marginal: Marginal) -> Floats:
    """Return A_S' A_S x, or an array that broadcasts to it."""
    if is_hats(marginal):
        return np.asarray(domain.spread(domain.sums(x, marginal), marginal))
    averages = x
    for place, (axis, level) in enumerate(zip(domain.axes, marginal, strict=True)):
        if level == len(axis.levels):
            averages = averages.sum(axis=place, keepdims=True)
        elif level > 0:
            sums = np.add.reduceat(averages, axis.group_starts(level), axis=place)
            averages = np.take(sums, axis.group_of(level), axis=place)
    return averages
