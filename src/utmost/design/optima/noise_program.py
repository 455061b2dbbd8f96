"""The least additive noise by a linear program, of any shape; by Theorems 10 to 12 it is a staircase.

Over all families of noise distributions p_t, one for each query output t, that repeat after T outputs,

    minimise    c
    subject to  sum_x L(x) p_t(x) <= c                     for every t,
                p_t(x) >= alpha p_u(x + t - u)             for every x and |t - u| <= D: one release, two outputs,
                p_t(x) >= 0,   sum_x p_t(x) = 1.

Two finite programs enclose the optimum. With *tails*, x runs over a window {-w..w}, and beyond it each tail repeats the
last D values, multiplied by alpha each time. The solution is a noise distribution, so its cost is an upper bound. In
the *open* program, only constraints inside the window remain, and mass outside has the cost L(w+1): a lower bound.
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
"""Coefficients by variable, lower bound, upper bound."""


@dataclass(frozen=True, slots=True)
class NoiseProgram:
    """One of the two finite programs."""

    # The variables are the T (2w+1) numbers p_t(x) / alpha^(|x| // D), row by row, which makes them of similar size;
    # the T masses outside the window, which are 0 with tails; and c.
    sensitivity: int  # D >= 1
    ratio: Any  # alpha, a Fraction or a float, which is the kind of number of the program
    window: int  # w >= D
    outputs: int  # T >= 1
    has_tails: bool
    costs: tuple[
        Any, ...
    ]  # (2w+2) costs of a unit of mass: at each value with its repetitions in the tail, then outside

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
        """Return the program of a cost L: exact if alpha is a Fraction and each cost, with tails, is known exactly."""
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
        """Return the program as data for a solver."""
        w, n = self.window, self.outputs * self._width
        masses: list[ProgramRow] = []
        costs: list[ProgramRow] = []
        tail = self.ratio / (1 - self.ratio) if self.has_tails else 0
        for t in range(self.outputs):
            # The mass of p_t with its tails and outside is 1, and its cost is at most c.
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
        """Return (T, 2w+1) the probabilities p_t(x) from the variables of a solution."""
        sizes = np.array([self._size(x) for x in range(-self.window, self.window + 1)])
        inside: Array = primal[: self.outputs * self._width].reshape(self.outputs, self._width)
        probabilities: Array = np.maximum(inside, 0) * sizes  # zeros of a solver may be slightly negative
        return probabilities

    def _privacy_rows(self) -> Iterator[ProgramRow]:
        """Yield p_t(x) - alpha p_{t-g}(x + g) >= 0, unless both values are in one tail, which repeats nearer values."""
        w, D = self.window, self.sensitivity
        reach = w + D if self.has_tails else w
        for t in range(self.outputs):
            for gap in (g for g in range(-D, D + 1) if g):
                for x in range(max(-reach, -reach - gap), min(reach, reach - gap) + 1):
                    if min(abs(x), abs(x + gap)) <= w:
                        (mine, here), (theirs, there) = self._entry(t, x), self._entry(t - gap, x + gap)
                        if mine != theirs:  # a value and its repetition satisfy this with equality
                            yield {mine: 1, theirs: -self.ratio * there / here}, 0, math.inf

    @property
    def _width(self) -> int:
        return 2 * self.window + 1

    def _column(self, t: int, x: int) -> int:
        return (t % self.outputs) * self._width + x + self.window

    def _size(self, x: int) -> Any:
        return self.ratio ** (abs(x) // self.sensitivity)

    def _entry(self, t: int, x: int) -> tuple[int, Any]:
        """Return the variable of p_t(x), and the factor of this variable."""
        inner = x - self.sensitivity if x > self.window else x + self.sensitivity if x < -self.window else x
        return self._column(t, inner), self._size(inner) * (1 if inner == x else self.ratio)


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The optimum of the program with tails: the noise, and its worst-case cost in the same kind of number."""

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
    """Return the least noise with geometric tails."""
    # cost: L >= 0 of an integer error. window: w >= D, 3 D by default. outputs: T; 1 is noise that does not depend on
    # the output. constant_from: error from which on L is constant, so that sums of tails are exact. The optimal
    # vertex is exact if alpha is rational and the cost of a tail is known exactly, else it has the errors of a solver
    # at tolerance 1e-10. Cost: (2 w + 1) T variables and about (2 w + D) 2 D T rows. Source: [geng2012], theorems 10 to
    # 12; tails: lemma 30.
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
    """Return a lower bound of the cost of any additive noise at this level, if L is even and nondecreasing in |x|."""
    # The bound converges to the optimum as alpha^(w/D) L(w) vanishes; it is exact if alpha and the costs are rational.
    at = level(epsilon, alpha)
    program = NoiseProgram.of(cost, sensitivity, at.alpha, has_tails=False, window=window, outputs=outputs)
    bound: Fraction | float = _solved(program).value
    return bound


def _solved(program: NoiseProgram) -> LinearSolution:
    return (solve_exactly if program.is_exact else solve)(program.program())
