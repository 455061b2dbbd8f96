"""The least additive noise by linear program, with no shape assumed: what Theorems 10 to 12 say is a staircase.

Over all families of noise laws p_t, one for each query output t, that repeat after T outputs,

    minimise    c
    subject to  sum_x L(x) p_t(x) <= c                     for every t,
                p_t(x) >= alpha p_u(x + t - u)             for every x and |t - u| <= D: one release, two outputs,
                p_t(x) >= 0,   sum_x p_t(x) = 1.

Two finite programs enclose it. With *tails*, x runs over a window {-w..w} beyond which each tail repeats the last D
places alpha times as high each time: the optimum is a noise law, so it is not below the truth. *Open*, only the
constraints inside the window remain, and the mass outside costs as little as L(w+1): it is not above the truth.
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
    """One of the two finite programs.

    Its variables are the T (2w+1) numbers p_t(x) / alpha^(|x| // D), row by row, so that all are of one size; the T
    masses outside the window, which are 0 with tails; and c.

    Attributes:
        sensitivity: D >= 1.
        ratio: Alpha, a Fraction or a float: the kind of number of the program.
        window: w >= D.
        outputs: T >= 1.
        has_tails: Whether the noise has geometric tails; else it is open.
        costs: (2w+2) the cost of a unit of mass at each place, what repeats it included, and outside the window.
    """

    sensitivity: int
    ratio: Any
    window: int
    outputs: int
    has_tails: bool
    costs: tuple[Any, ...]

    @classmethod
    def of(
        cls,
        cost: Cost,
        sensitivity: int,
        ratio: Any,
        *,
        has_tails: bool,
        settled: int | None = None,
        window: int | None = None,
        outputs: int = 1,
    ) -> "NoiseProgram":
        """The program of a cost L: exact where alpha is a Fraction and each cost, tails included, is known exactly."""
        D, families = exact_integer(sensitivity, "sensitivity"), exact_integer(outputs, "outputs")
        wide = 3 * D if window is None else exact_integer(window, "window")
        if D < 1 or families < 1 or wide < D:
            required = "sensitivity and outputs must be at least 1, and the window at least the sensitivity"
            raise OutOfRange(required, came=(D, families, wide), where="least_noise")
        beta = ratio if has_tails else 0 * ratio
        costs = [discounted(cost, x, 1, 0 * beta) for x in range(-wide, wide + 2)]
        for k in range(D if has_tails else 0):
            costs[k] += beta * discounted(cost, k - wide - D, -D, beta, settled)
            costs[-2 - k] += beta * discounted(cost, wide - k + D, D, beta, settled)
        exactly = all(isinstance(c, Fraction) for c in costs)
        number_kind = (lambda x: x) if exactly else float
        return cls(D, number_kind(ratio), wide, families, has_tails, tuple(number_kind(c) for c in costs))

    @property
    def is_exact(self) -> bool:
        """Whether its numbers are Fractions."""
        return isinstance(self.ratio, Fraction)

    def program(self) -> LinearProgram:
        """The program as data for a solver."""
        rows = [*self._privacy_rows(), *self._mass_rows(), *self._cost_rows()]
        n = self.outputs * self._width
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
        """(T, 2w+1) the probabilities p_t(x) from a solution's variables."""
        sizes = np.array([self._size(x) for x in range(-self.window, self.window + 1)])
        inside: Array = primal[: self.outputs * self._width].reshape(self.outputs, self._width)
        probabilities: Array = np.maximum(inside, 0) * sizes  # a solver's zero may be a hair below it
        return probabilities

    def _privacy_rows(self) -> Iterator[ProgramRow]:
        """p_t(x) - alpha p_{t-g}(x + g) >= 0, unless both places lie in one tail, where it repeats one nearer by."""
        w, D = self.window, self.sensitivity
        reach = w + D if self.has_tails else w
        for t in range(self.outputs):
            for gap in (g for g in range(-D, D + 1) if g):
                for x in range(max(-reach, -reach - gap), min(reach, reach - gap) + 1):
                    if min(abs(x), abs(x + gap)) <= w:
                        (mine, here), (theirs, there) = self._entry(t, x), self._entry(t - gap, x + gap)
                        if mine != theirs:  # a place and its repetition are alpha apart, as they may be
                            yield {mine: 1, theirs: -self.ratio * there / here}, 0, math.inf

    def _mass_rows(self) -> Iterator[ProgramRow]:
        tail = self.ratio / (1 - self.ratio) if self.has_tails else 0
        w = self.window
        for t in range(self.outputs):
            repeats = {
                x: 1 + tail * ((x > w - self.sensitivity) + (x < self.sensitivity - w)) for x in range(-w, w + 1)
            }
            row = {self._column(t, x): times * self._size(x) for x, times in repeats.items()}
            yield {**row, self._width * self.outputs + t: 1}, 1, 1

    def _cost_rows(self) -> Iterator[ProgramRow]:
        places = range(-self.window, self.window + 1)
        for t in range(self.outputs):
            row = {self._column(t, x): -cost * self._size(x) for x, cost in zip(places, self.costs, strict=False)}
            outside = self._width * self.outputs
            yield {**row, outside + t: -self.costs[-1], outside + self.outputs: 1}, 0, math.inf

    @property
    def _width(self) -> int:
        return 2 * self.window + 1

    def _column(self, t: int, x: int) -> int:
        return (t % self.outputs) * self._width + x + self.window

    def _size(self, x: int) -> Any:
        return self.ratio ** (abs(x) // self.sensitivity)

    def _entry(self, t: int, x: int) -> tuple[int, Any]:
        """The variable of p_t(x), and how many units of it that is."""
        inner = x - self.sensitivity if x > self.window else x + self.sensitivity if x < -self.window else x
        return self._column(t, inner), self._size(inner) * (1 if inner == x else self.ratio)


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The optimum of the program with tails: the noise and its worst-case cost, in one kind of number."""

    noise: PeriodicNoise
    cost: Any


def least_noise(
    cost: Cost,
    sensitivity: int = 1,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    settled: int | None = None,
    window: int | None = None,
    outputs: int = 1,
) -> LeastNoise:
    """The least noise with geometric tails.

    Args:
        cost: L >= 0, of an integer error.
        sensitivity: D >= 1.
        epsilon, alpha: Level, one of them.
        window: w >= D: each value in {-w..w} has a variable of its own; 3 D by default.
        outputs: Number of query outputs after which the law repeats; 1, the default, is noise that does not depend on
            the output.
        settled: Error from which on L is constant, if there is one: then the tails are summed exactly.

    Returns:
        An optimal vertex: exact Fractions where alpha is rational and the cost of a tail is known exactly (an integer
        moment, or ``settled``); else floats, with the errors of a solver at tolerance 1e-10.

    Raises:
        OutOfRange: when the window is narrower than the sensitivity, or ``outputs`` is below 1.
        SolverFailed: when the solver fails.

    Cost: (2 w + 1) T variables and about (2 w + D) 2 D T rows for T outputs.
    Source: [geng2012], Theorems 10 to 12; the tails are those of Lemma 30.

    >>> from utmost.noise import DiscreteStaircase

    >>> from utmost.core.noise import costs
    >>> least_noise(costs.absolute, 3, alpha="1/2").cost == DiscreteStaircase(alpha="1/2", sensitivity=3).moment(1)
    True
    """
    at = level(epsilon, alpha)
    program = NoiseProgram.of(
        cost, sensitivity, at.alpha, has_tails=True, settled=settled, window=window, outputs=outputs
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
    """A cost that no additive noise of this level can beat, whatever its tails, if L is even and nondecreasing in |x|.

    The arguments are those of `least_noise`. The bound approaches the truth as alpha^(w/D) L(w) vanishes, and is exact
    where alpha and the costs are rational.

    >>> from fractions import Fraction
    >>> bound, truth = noise_bound(abs, 1, alpha="1/4", window=8), Fraction(8, 15)
    >>> bound < truth < bound + Fraction(1, 2**12)
    True
    """
    at = level(epsilon, alpha)
    program = NoiseProgram.of(cost, sensitivity, at.alpha, has_tails=False, window=window, outputs=outputs)
    bound: Fraction | float = _solved(program).value
    return bound


def _solved(program: NoiseProgram) -> LinearSolution:
    return (solve_exactly if program.is_exact else solve)(program.program())
