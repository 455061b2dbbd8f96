"""Expected costs at large epsilon as series in b = e^-epsilon, one term for each period, compared by logarithms.

At large epsilon few terms of the series matter, and b may underflow. A term consists of a power of b and the
logarithms of a positive and of a negative coefficient. Sums are computed relative to the first power of b that has a
term.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import first_integer
from utmost.core.noise.costs import Cost, ReadCost, check_cost, read_cost
from utmost.core.noise.powers import FloatPowers
from utmost.errors import Unsupported

FEW_FROM = 10.0
"""The epsilon from which on sums over few periods suffice. Below it `folded.py` sums all periods."""
LEAST_EPSILON = 0.1
"""The least epsilon for which a cost that underflows is summed period by period. Below it, too many periods are
needed.
"""
NEGLIGIBLE = -40.0
"""The log of a negligible remainder, relative to the sum."""
LOST = 800.0
"""e^-800 and less are 0 in floats."""

_FARTHEST = 2.0**60  # a number of periods that no search exceeds
_WIDEST = 1700.0  # more than the log of the largest float over the least positive float
_UNITS = 2.0**-54, 5e-16  # relative errors: a quarter of a unit in the last place, and about two units
_ROUGH = 1e-290  # smaller costs have lost digits to underflow

Term = tuple[int, float, float, float]
"""The number k, the logarithms of the positive and of the negative coefficient of b^k, and the logarithm of a bound on
the later terms divided by b^k.
"""


def log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def log_ratio(terms: Iterable[Term], epsilon: float) -> float:
    """The log of (positive part) / (negative part) of a series; 0 if both parts are equal or empty."""
    first: int | None = None
    counted = against = -math.inf
    for k, for_it, against_it, rest in terms:
        if first is None and max(for_it, against_it) > -math.inf:
            first = k
        fallen = (k - first) * epsilon if first is not None else 0.0
        counted = float(np.logaddexp(counted, for_it - fallen))
        against = float(np.logaddexp(against, against_it - fallen))
        if rest - fallen <= max(counted, against) + NEGLIGIBLE:
            break
    return 0.0 if counted == against else counted - against


def counted_periods(epsilon: float) -> range:
    """The indices of the periods that are evaluated, counted from the first one: many more than affect the result."""
    return range(300 + math.ceil(60 / epsilon))


def first_rise(cost_of: Callable[[int], float], k: int, base: float) -> int | None:
    """The first period from k on whose cost exceeds ``base``, or None if there is none within 2^60 periods."""
    stride = 1
    while cost_of(k + stride - 1) <= base:
        stride *= 2
        if stride > _FARTHEST:
            return None
    return first_integer(k + stride // 2 - 1, k + stride - 1, lambda period: cost_of(period) > base)


def read_epsilon_and_cost(level: Level, period: float, cost: Cost, *, integers: bool) -> tuple[float, ReadCost]:
    """Read epsilon and a cost; refuse a cost with an infinite expectation, and one that is too large for a float within
    four periods.
    """
    epsilon, read = float(FloatPowers(level).epsilon.high), read_cost(cost, period, integers=integers)
    sizes = np.arange(max(8, math.ceil(2 * _WIDEST / epsilon)) + 2, dtype=np.float64) * np.float64(period)
    values = read(sizes)
    check_cost(sizes, values)
    known = int(np.argmin(np.isfinite(values))) or values.size  # up to the first cost that is too large for a float
    half = known // 2
    grows = log(values[known - 1]) >= log(values[half]) + 0.9 * epsilon * (known - 1 - half) > -math.inf
    if known < max(6, 700 / epsilon) or grows:
        raise Unsupported(
            "the expected cost must be finite, and its sum must converge before exp(-epsilon k) is 0 in floats",
            came="a cost that grows about as fast as the probabilities fall",
            remedy="Use a cost that grows more slowly.",
        )
    return epsilon, read


@dataclass(frozen=True, slots=True, eq=False)
class LaterPeriods:
    """Bounds the sum of a cost over all periods after a given one, from the largest cost of each period. Results are
    cached.
    """

    epsilon: float
    period: float
    cost: ReadCost
    known: dict[tuple[int, float], float]  # logarithms computed so far

    def after(self, k: int, base: float) -> float:
        """The log of an upper bound of the sum over j > k of b^(j-k-1) (1 + b) (L((j + 1) D) - base)."""
        # The bound covers a cost with one more jump far out. Where the cost is too large for a float, the terms are
        # assumed to decrease further.
        if (k, base) not in self.known:
            n = np.arange(math.ceil(_WIDEST / self.epsilon) + 2, dtype=np.float64)
            sizes = (k + 2 + n) * self.period
            # The cost is evaluated at the float after each point, so that a jump at the point counts.
            rises = self.cost(sizes if self.cost.integers else np.nextafter(sizes, math.inf)) - base
            rises = rises[np.isfinite(rises)]
            with np.errstate(divide="ignore"):
                logs = np.log(np.maximum(rises, 0.0)) - n[: rises.size] * self.epsilon
            self.known[k, base] = float(np.logaddexp.reduce(logs, initial=-math.inf)) + math.log(4)
        return self.known[k, base]


def is_unit(rise: float, most: float) -> bool:
    """Whether a rise may be only rounding, if the cost is smooth and was computed as a difference of numbers of size
    ``most``.
    """
    return rise > 0 and _UNITS[0] * most <= rise <= _UNITS[1] * most


def check_digits(size: float, least: float, before: float, after: float, *, is_noise: bool) -> None:
    """Refuse a cost whose rise at the end of the first step may be only rounding."""
    if 0 < after - least < _ROUGH or is_noise:
        raise Unsupported(
            f"the costs of two errors near {size} must differ by more than rounding",
            came=f"{before} and {after}",
            where="a cost that is a function",
            remedy="Write the function so that nothing cancels or underflows near 0 (expm1, log1p), or lower epsilon.",
        )
