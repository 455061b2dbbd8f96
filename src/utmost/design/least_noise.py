"""The least additive noise by linear program, with no shape assumed: what Theorems 10 to 12 say is a staircase."""

from dataclasses import dataclass
from typing import Any

from utmost.design.noise_program import NoiseProgram
from utmost.design.periodic_noise import PeriodicNoise
from utmost.errors import OutOfRange
from utmost.exact import Level, Number, exact_integer, level
from utmost.noise.costs import Cost
from utmost.programs.linear import LinearSolution
from utmost.programs.program import solve
from utmost.programs.vertex import solve_exactly


@dataclass(frozen=True, slots=True)
class LeastNoise:
    """The optimum of the program with tails: the noise and its worst-case cost, in one number world."""

    noise: PeriodicNoise
    cost: Any


def least_noise(
    cost: Cost,
    sensitivity: int = 1,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    window: int | None = None,
    outputs: int = 1,
    settled: int | None = None,
) -> LeastNoise:
    """The least noise with geometric tails.

    Args:
        cost: L >= 0, of an integer error.
        sensitivity: D >= 1.
        epsilon, alpha: the level, one of them.
        window: w >= D: each value in {-w..w} has a variable of its own; 3 D by default.
        outputs: after how many query outputs the law may repeat; 1 is noise that does not depend on the output.
        settled: an error from which on L is constant, if there is one: then the tails are summed exactly.

    Returns:
        An optimal vertex: exact Fractions where alpha is rational and the cost of a tail is known exactly (an integer
        moment, or ``settled``); else floats, with the errors of a solver at tolerance 1e-10.

    Raises:
        OutOfRange: when the window is narrower than the sensitivity, or ``outputs`` is below 1.
        SolverFailed: when the solver fails.

    Cost: (2 w + 1) T variables and about (2 w + D) 2 D T rows for T outputs.
    Source: [geng2012], Theorems 10 to 12; the tails are those of Lemma 30.

    >>> from utmost.noise import DiscreteStaircase, costs
    >>> least_noise(costs.absolute, 3, alpha="1/2").cost == DiscreteStaircase(alpha="1/2", sensitivity=3).moment(1)
    True
    """
    program = _program(cost, sensitivity, level(epsilon, alpha), window, outputs, settled, has_tails=True)
    found = _solved(program)
    noise = PeriodicNoise(program.probabilities(found.primal), period=program.sensitivity, ratio=program.ratio)
    return LeastNoise(noise, found.value)


def noise_bound(
    cost: Cost,
    sensitivity: int = 1,
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    window: int | None = None,
    outputs: int = 1,
) -> Any:
    """A cost that no additive noise of this level can beat, whatever its tails, if L is even and nondecreasing in |x|.

    The arguments are those of `least_noise`. The bound approaches the truth as alpha^(w/D) L(w) vanishes, and is exact
    where alpha and the costs are rational.

    >>> from fractions import Fraction
    >>> bound, truth = noise_bound(abs, 1, alpha="1/4", window=8), Fraction(8, 15)
    >>> bound < truth < bound + Fraction(1, 2**12)
    True
    """
    return _solved(_program(cost, sensitivity, level(epsilon, alpha), window, outputs, None, has_tails=False)).value


def _program(
    cost: Cost, sensitivity: int, at: Level, window: int | None, outputs: int, settled: int | None, has_tails: bool
) -> NoiseProgram:
    D, T = exact_integer(sensitivity, "sensitivity"), exact_integer(outputs, "outputs")
    w = 3 * D if window is None else exact_integer(window, "window")
    if D < 1 or T < 1 or w < D:
        required = "sensitivity and outputs must be at least 1, and the window at least the sensitivity"
        raise OutOfRange(required, came=(D, T, w), where="least_noise")
    return NoiseProgram.of(cost, D, at.alpha, w, T, has_tails, settled)


def _solved(program: NoiseProgram) -> LinearSolution:
    return (solve_exactly if program.is_exact else solve)(program.program())
