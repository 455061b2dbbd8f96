"""Find the additive noise with the least worst-case cost by a linear program, and bound the cost from below.

By Theorems 10 to 12 of [geng2012] the optimum is a staircase distribution. The variables are noise distributions p_t,
one for each query output t, that repeat after T outputs:

    minimise    c
    subject to  sum_x L(x) p_t(x) <= c                     for every t,
                p_t(x) >= alpha p_u(x + t - u)             for every x and |t - u| <= D (one released value, two
                outputs), p_t(x) >= 0,   sum_x p_t(x) = 1.

Two finite programs enclose the optimum. In the program *with tails*, x runs over a window {-w..w}, and beyond each end
of the window the last D probabilities are repeated, multiplied by alpha at each repetition. The solution is a noise
distribution, so its cost is an upper bound. The *open* program has only the constraints inside the window, and mass
outside the window has the cost L(w+1), so its optimum is a lower bound.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact_integer
from utmost.core.noise.costs import Cost
from utmost.core.programs.exact_optima import solve_exactly
from utmost.core.programs.highs import solve
from utmost.core.programs.linear_program import LinearProgram, LinearSolution
from utmost.design.optima.periodic_noise import PeriodicNoise, discounted
from utmost.errors import OutOfRange

ProgramRow = tuple[dict[int, Any], Any, Any]
"""A row of a linear program: coefficients by variable, lower bound, and upper bound."""


@dataclass(frozen=True, slots=True)
class NoiseProgram:
    """The program with tails, whose value is an upper bound of the least cost of noise, or the open program, whose
    value is a lower bound.
    """

    # The variables are the T (2w+1) numbers p_t(x) / alpha^(|x| // D), row by row, which are of similar size; the T
    # masses outside the window, which are 0 in the program with tails; and c.
    sensitivity: int  # D >= 1
    ratio: Any  # alpha; the program has Fractions if alpha is a Fraction, else floats
    window: int  # w >= D
    outputs: int  # T >= 1
    has_tails: bool
    # (2w+2) costs of a unit of mass: at each x of the window, including its repetitions in the tail, and outside the
    # window.
    costs: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        cost: Cost,
        sensitivity: int,
        ratio: Any,
        *,
        has_tails: bool,
        constant_from: int | None = None,
        window: int | None = None,
        outputs: int = 1,
    ) -> "NoiseProgram":
        """Return the program for a cost L, in Fractions if alpha is a Fraction and all costs, also in the tails, are
        exact.
        """
        D, families = exact_integer(sensitivity, "sensitivity"), exact_integer(outputs, "outputs")
        wide = 3 * D if window is None else exact_integer(window, "window")
        if D < 1 or families < 1 or wide < D:
            required = "sensitivity and outputs must be at least 1, and the window at least the sensitivity"
            raise OutOfRange(required, came=(D, families, wide), where="least_noise")
        beta = ratio if has_tails else 0 * ratio
        costs = [discounted(cost, x, 1, 0 * beta) for x in range(-wide, wide + 2)]
        for k in range(D if has_tails else 0):
            costs[k] += beta * discounted(cost, k - wide - D, -D, beta, constant_from)
            costs[-2 - k] += beta * discounted(cost, wide - k + D, D, beta, constant_from)
        exactly = all(isinstance(c, Fraction) for c in costs)
        number_kind = (lambda x: x) if exactly else float
        return cls(D, number_kind(ratio), wide, families, has_tails, tuple(number_kind(c) for c in costs))

    @property
    def is_exact(self) -> bool:
        return isinstance(self.ratio, Fraction)

    def program(self) -> LinearProgram:
        """Return the program in the form that the solvers accept."""
        w, n = self.window, self.outputs * self._width
        masses: list[ProgramRow] = []
        costs: list[ProgramRow] = []
        tail = self.ratio / (1 - self.ratio) if self.has_tails else 0
        for t in range(self.outputs):
            # The mass of p_t, with its tails and the mass outside, is 1, and the cost of p_t is at most c.
            mass: dict[int, Any] = {}
            cost: dict[int, Any] = {}
            for x, own in zip(range(-w, w + 1), self.costs, strict=False):
                times = 1 + tail * ((x > w - self.sensitivity) + (x < self.sensitivity - w))
                mass[self._column(t, x)] = times * self._size(x)
                cost[self._column(t, x)] = -own * self._size(x)
            masses.append(({**mass, n + t: 1}, 1, 1))
            costs.append(({**cost, n + t: -self.costs[-1], n + self.outputs: 1}, 0, math.inf))
        rows = [*self._privacy_rows(), *masses, *costs]
        number: Callable[[Any], Any] = Fraction if self.is_exact else float
        outside = [0 if self.has_tails else math.inf] * self.outputs
        return LinearProgram.of_triplets(
            cost=[number(0)] * (n + self.outputs) + [number(1)],
            rows=[i for i, (row, _, _) in enumerate(rows) for _ in row],
            columns=[j for row, _, _ in rows for j in row],
            values=[number(value) for row, _, _ in rows for value in row.values()],
            lower=[number(low) for _, low, _ in rows],
            upper=[high for _, _, high in rows],
            column_upper=[math.inf] * n + outside + [math.inf],
        )

    def probabilities(self, primal: Array) -> Array:
        """Return the probabilities p_t(x), (T, 2w+1), from the variables of a solution."""
        sizes = np.array([self._size(x) for x in range(-self.window, self.window + 1)])
        inside: Array = primal[: self.outputs * self._width].reshape(self.outputs, self._width)
        probabilities: Array = np.maximum(inside, 0) * sizes  # zeros of a solver may be slightly negative
        return probabilities

    def _privacy_rows(self) -> Iterator[ProgramRow]:
        """Yield the rows p_t(x) - alpha p_{t-g}(x + g) >= 0, except those that the repetition in the tails implies."""
        w, D = self.window, self.sensitivity
        reach = w + D if self.has_tails else w
        for t in range(self.outputs):
            for gap in (g for g in range(-D, D + 1) if g):
                for x in range(max(-reach, -reach - gap), min(reach, reach - gap) + 1):
                    if min(abs(x), abs(x + gap)) <= w:
                        (mine, here), (theirs, there) = self._entry(t, x), self._entry(t - gap, x + gap)
                        if mine != theirs:  # a probability and its repetition satisfy this row with equality
                            yield {mine: 1, theirs: -self.ratio * there / here}, 0, math.inf

    @property
    def _width(self) -> int:
        return 2 * self.window + 1

    def _column(self, t: int, x: int) -> int:
        return (t % self.outputs) * self._width + x + self.window

    def _size(self, x: int) -> Any:
        return self.ratio ** (abs(x) // self.sensitivity)

    def _entry(self, t: int, x: int) -> tuple[int, Any]:
        """Return the index of a variable and a factor: p_t(x) is the factor times this variable."""
        inner = x - self.sensitivity if x > self.window else x + self.sensitivity if x < -self.window else x
        return self._column(t, inner), self._size(inner) * (1 if inner == x else self.ratio)


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The optimum of the program with tails: the noise and its worst-case cost, in Fractions or floats."""

    noise: PeriodicNoise
    cost: Any


def least_noise(
    cost: Cost,
    sensitivity: int = 1,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    constant_from: int | None = None,
    window: int | None = None,
    outputs: int = 1,
) -> LeastNoise:
    """Return the noise with geometric tails that has the least worst-case cost."""
    # ``cost`` is L >= 0, a function of an integer error. ``window`` is w >= D, by default 3 D. ``outputs`` is T; for T
    # = 1 the noise does not depend on the output of the query. ``constant_from`` is an error from which on L is
    # constant, so that sums over tails are exact. The optimal vertex is exact if alpha is rational and the costs of
    # tails are exact; otherwise a float solver finds it, with tolerance 1e-10. Cost: (2 w + 1) T variables and about (2
    # w + D) 2 D T rows. Source: [geng2012], theorems 10 to 12; tails: lemma 30.
    at = level(epsilon, alpha)
    program = NoiseProgram.of(
        cost, sensitivity, at.alpha, has_tails=True, constant_from=constant_from, window=window, outputs=outputs
    )
    solution = _solved(program)
    noise = PeriodicNoise(program.probabilities(solution.primal), period=program.sensitivity, ratio=program.ratio)
    return LeastNoise(noise, solution.value)


def noise_bound(
    cost: Cost,
    sensitivity: int = 1,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    window: int | None = None,
    outputs: int = 1,
) -> Fraction | float:
    """Return a lower bound of the worst-case cost of noise at a level; the cost L must be even and nondecreasing in
    |x|.
    """
    # The bound converges to the optimum as alpha^(w/D) L(w) vanishes; it is exact if alpha and the costs are rational.
    at = level(epsilon, alpha)
    program = NoiseProgram.of(cost, sensitivity, at.alpha, has_tails=False, window=window, outputs=outputs)
    bound: Fraction | float = _solved(program).value
    return bound


def _solved(program: NoiseProgram) -> LinearSolution:
    return (solve_exactly if program.is_exact else solve)(program.program())
