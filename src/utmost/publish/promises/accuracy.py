"""Find the epsilon for a required accuracy: the least epsilon whose margin of error is small enough.

Let X be noise that is e-private for shifts by D. Shift the window |x| <= t by j m D for every integer j, where m is the
least integer for which the shifted windows do not overlap. If the window has the probability p, its shift by j m D has
at least p exp(-m e |j|), and these probabilities add up to at most 1. Hence

    P(|X| <= t) <= tanh(m e / 2),

and no e below 2 artanh(confidence) / m suffices. The search starts at this bound.
"""

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from utmost.core.exact.arguments import integer
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.levels import level
from utmost.core.exact.numbers import Number, exact, first_integer, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.costs import Cost
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.errors import Infeasible, OutOfRange
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel, cell_noise_at

# For staircases with a larger sensitivity one bisection is enough: their step changes so often that, to three digits,
# the margin decreases smoothly.
_FEW_STEPS = 1000
_LARGEST = 1_000  # no epsilon above this is searched for a cell
_LITTLE = Fraction(1, 1 << 20)
_MOST_DIGITS = 12  # significant digits of the epsilon that is found
_MOST_OVERLAPS = 10**100


@progress_bar("Searching for a level")
def epsilon_for(
    margin: Number,
    confidence: Number = DEFAULT_CONFIDENCE,
    *,
    unit: Unit,
    digits: int = 3,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    grid: Number | None = None,
) -> Fraction:
    """Find the least epsilon, to ``digits`` significant digits, at which the margin of error is at most ``margin``.

    The noise is that of `release` with ``once=True``, so that a release at the returned epsilon never has a larger
    margin than ``margin``. The search bisects: it returns the least epsilon if the margin never increases with epsilon,
    which is proved for geometric and Laplace noise. The margin of a staircase jumps up at each epsilon where the step
    of the staircase changes: up to a sensitivity of 1000 steps, each interval of epsilons with a constant step is
    bisected separately. That the step never increases with epsilon is proved for the cost |x|, and assumed for other
    costs. For staircases on the reals, or for a larger sensitivity, the result may not be the least epsilon.

    Args:
        margin: Largest allowed distance between a released cell and the true one: positive, or zero on the integers.
        confidence: Probability with which the margin holds.
        unit: Unit of privacy: the largest change of the table by one individual.
        digits: Number of significant digits, 1 to 12.
        cost, numbers, relaxable, grid: Arguments of `cell_noise_at`; they choose the noise.

    Raises:
        OutOfRange: if the margin is negative, or if `cell_noise_at` refuses an argument.
        Infeasible: if epsilon = 1000 for each cell does not suffice.

    >>> epsilon_for(10, 0.95, unit=Unit(1, 1))
    Fraction(57, 200)
    >>> [cell_noise_at(epsilon, unit=Unit(1, 1)).margin for epsilon in ("0.285", "0.284")]
    [10, 11]
    """
    wanted = exact(margin, "margin")
    if wanted < 0 or (wanted == 0 and numbers == "reals"):
        raise OutOfRange(
            'margin must be positive, or zero with numbers="integers"', came=margin, remedy="Pass, for example, 10."
        )
    check_digits(digits)

    def planned(epsilon: Fraction) -> CellNoiseAtLevel:
        return cell_noise_at(
            epsilon, unit=unit, cost=cost, numbers=numbers, relaxable=relaxable, confidence=confidence, grid=grid
        )

    @cache
    def noise(index: int) -> CellNoiseAtLevel:
        return planned(_decimal(index, digits))

    def is_met(index: int) -> bool:
        return Fraction(noise(index).margin) <= wanted

    sample = planned(Fraction(1))
    first = _index(_lower_bound(sample, wanted), digits)
    last = _index(_LARGEST * int(sample.unit.epsilon_parts), digits)
    if sample.distribution.numbers != "integers" or not 1 < sample.unit.sensitivity <= _FEW_STEPS:
        return _decimal(_bisected(first, last, is_met), digits)

    def step(index: int) -> int:
        periodicity = noise(index).distribution.periodicity
        return 1 if periodicity is None else periodicity.start

    return _decimal(_by_steps(first, last, is_met, step), digits)


def epsilon_for_in_total(
    margin: Number,
    confidence: Number = DEFAULT_CONFIDENCE,
    *,
    in_total: Number,
    neighbours: str = "add-remove",
    digits: int = 3,
) -> Fraction:
    """Find the least epsilon for a required margin of a cell, if ``in_total`` bounds a person's events in all cells."""
    wanted, unit, sure = exact(margin, "margin"), Unit(in_total, 1, neighbours), read_confidence(confidence)
    if wanted < 0:
        raise OutOfRange("margin must not be negative", came=margin, remedy="Pass, for example, 10.")

    def is_met(epsilon: Fraction) -> bool:
        return Fraction(in_total_noise(epsilon, unit).margin(sure)) <= wanted

    odds = (1 + sure) / (1 - sure)
    overlapping = math.ceil((2 * math.floor(wanted) + 1) / unit.sensitivity)
    least = max(2 * float(sure), math.log(odds.numerator) - math.log(odds.denominator))
    return least_decimal(is_met, 0.999 * unit.epsilon_parts * least / overlapping, digits)


def in_total_noise(epsilon: Fraction, unit: Unit) -> Geometric:
    """Return the noise of a cell, if one bound covers a person's events in all cells together."""
    return Geometric(unit.per_cell(level(epsilon)), unit.sensitivity)


def _lower_bound(noise: CellNoiseAtLevel, wanted: Fraction) -> float:
    """Return an epsilon of the whole release below which no noise has the required margin."""
    window = 2 * math.floor(wanted) + 1 if noise.distribution.numbers == "integers" else 2 * wanted
    overlapping = math.ceil(window / noise.unit.sensitivity)
    if overlapping > _MOST_OVERLAPS:
        raise OutOfRange(
            "margin must be at most 1e100 times the sensitivity",
            came="a larger margin",
            remedy="Pass a smaller margin.",
        )
    odds = (1 + noise.confidence) / (1 - noise.confidence)
    # 2 artanh(c) = log((1 + c) / (1 - c)); reduced by a thousandth, for rounding.
    least = math.log(odds.numerator) - math.log(odds.denominator)
    if noise.confidence < _LITTLE:
        least = 2 * float(noise.confidence)  # below 2 artanh(c), where the logarithms cancel
    bound = 0.999 * noise.unit.epsilon_parts * least / overlapping
    if bound < sys.float_info.min:
        raise OutOfRange(
            "the epsilon that margin and confidence need must be at least 1e-307",
            came="a smaller epsilon",
            remedy="Pass a smaller margin, or a larger confidence.",
        )
    return bound


def least_decimal(is_met: Callable[[Fraction], bool], bound: float, digits: int) -> Fraction:
    """Find the least number with ``digits`` significant digits in [bound, 10^6 bound] for which ``is_met`` holds.

    So epsilon is never rounded down: a smaller epsilon with as many digits would miss the margin.
    """
    check_digits(digits)
    index = _bisected(_index(bound, digits), _index(bound * 1e6, digits), lambda index: is_met(_decimal(index, digits)))
    return _decimal(index, digits)


def check_digits(digits: int) -> None:
    if not 1 <= integer(digits, "digits") <= _MOST_DIGITS:
        raise OutOfRange(f"digits must be from 1 to {_MOST_DIGITS}", came=digits, remedy="Pass, for example, digits=3.")


def _by_steps(first: int, last: int, is_met: Callable[[int], bool], step: Callable[[int], int]) -> int:
    """Return the first index that satisfies ``is_met``; among indices of equal ``step``, ``is_met`` is monotone."""
    index = first
    while index <= last:
        if is_met(index):
            return index
        end = _last_alike(index, last, step)
        if is_met(end):
            return first_integer(index, end, is_met)
        index = end + 1
    raise _infeasible()


def _last_alike(index: int, last: int, step: Callable[[int], int]) -> int:
    """Return the last index up to ``last`` with the same step as ``index``; indices of equal step are adjacent."""
    here, end, stride = step(index), index, 1
    while end < last:
        far = min(end + stride, last)
        if step(far) != here:
            return first_integer(end, far, lambda at: step(at) != here) - 1
        end, stride = far, 2 * stride
    return end


def _bisected(first: int, last: int, is_met: Callable[[int], bool]) -> int:
    low, high, stride = first - 1, first, 1
    while not is_met(high):
        if high == last:
            raise _infeasible()
        low, high, stride = high, min(high + stride, last), 2 * stride
    return first_integer(low, high, is_met)


def _infeasible() -> Infeasible:
    return Infeasible(
        f"margin must be large enough for an epsilon of at most {_LARGEST} in each cell", remedy="Pass a larger margin."
    )


def _decimal(index: int, digits: int) -> Fraction:
    """Return an entry of the ascending list of all decimals with ``digits`` significant digits; the entry at 0 is 1."""
    smallest: int = 10 ** (digits - 1)
    power, above = divmod(index, 9 * smallest)
    return Fraction(smallest + above, smallest) * _power(power)


def _index(value: float, digits: int) -> int:
    """Return the index, in the list of `_decimal`, of the largest decimal that is at most ``value``."""
    smallest: int = 10 ** (digits - 1)
    power = math.floor(math.log10(value))
    return 9 * smallest * power + math.floor(Fraction(value) / _power(power) * smallest) - smallest


def _power(n: int) -> Fraction:
    return Fraction(10**n) if n >= 0 else Fraction(1, 10**-n)
