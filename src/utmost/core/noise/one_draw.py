"""One random vector as noise of many cells: P(X = x) is proportional to q^d(x).

Here d(x) is the least number of individuals that can turn the centre (the points with d = 0) into x. If one individual
changes d(x) by at most 1, the draw is epsilon-DP for q = e^-epsilon, and for no smaller epsilon. The draw is a mixture:
draw a group of cells, then a number of individuals (a shell), then a uniform point. Subclasses define d.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, Literal

from utmost.core.exact.arguments import sequence
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer, first_integer, natural, read_confidence
from utmost.core.exact.scalars import Q
from utmost.core.noise.shell_series import ShellSeries, is_at_most, number_at
from utmost.errors import OutOfRange

NOT_BETTER_KNOWN = (
    "no noise with less variance is known for a single release of all these cells, but optimality is not claimed. "
    "Linear programs over all noise on the integers, for small tables, found no smaller variance for cells and total "
    "together, and at most 2.2 % less for two cells without a total"
)
"""The text about optimality in statements with noise from one draw."""


@dataclass(frozen=True, slots=True)
class DrawGroup:
    """One part of the mixture that makes a draw: the points with the same numbers of cells above and below the
    centre.
    """

    weight: int  # number of points x for one choice of a point in each shell
    shells: tuple[ShellSeries, ...]  # one shell number is drawn from each series
    raised: int = 0  # number of cells above the centre
    lowered: int = 0  # number of cells below the centre


class DrawDistribution(Display, ABC):
    """Noise of many cells that is drawn as one vector. ``level`` protects all cells together."""

    __slots__ = ()

    numbers: ClassVar[Literal["integers"]] = "integers"
    level: Level

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of cells."""

    @property
    @abstractmethod
    def reach(self) -> int:
        """The largest change of the total by one individual."""

    @property
    @abstractmethod
    def ratio(self) -> Level:
        """The level whose alpha is q."""

    @abstractmethod
    def distance(self, x: Sequence[Any]) -> int | None:
        """The number of individuals d(x), or None if the noise cannot be x."""

    @property
    @abstractmethod
    def groups(self) -> tuple[DrawGroup, ...]:
        """The parts of the mixture, each with the points that have equally many cells above and below the centre."""

    @abstractmethod
    def mixture_factor(self, q: Q) -> Q:
        """The sum of q^d(x) over all x, divided by the sum of the masses of the groups."""

    @abstractmethod
    def variance_at(self, q: Q, coefficients: Sequence[Fraction]) -> Q:
        """The variance of the sum of coefficients times cells, at a rational (fmpq) or a ball (arb) q."""

    @abstractmethod
    def tail_at(self, q: Q, cell: int, t: int) -> Q:
        """P(|X_cell| > t), at a rational (fmpq) or a ball (arb) q."""

    @property
    def normaliser(self) -> Fraction | float:
        """The sum of q^d(x) over all x."""
        return number_at(self.ratio, self._normaliser)

    def _normaliser(self, q: Q) -> Q:
        return sum(self.masses_at(q), 0 * q) * self.mixture_factor(q)

    def masses_at(self, q: Q) -> list[Q]:
        """The probability of each group, up to a common factor."""
        shells = {id(series): series for group in self.groups for series in group.shells}
        values = {place: series.at(q) for place, series in shells.items()}
        return [
            prod((values[id(series)] for series in group.shells), start=0 * q + group.weight) for group in self.groups
        ]

    def pmf(self, x: Sequence[Any]) -> Fraction | float:
        """P(X = x): a Fraction if q is rational, else a float."""
        natural(len(x), "the number of cells of x", least=self.size, most=self.size)
        distance = self.distance([exact_integer(number, "x") for number in x])
        if distance is None:
            return Fraction(0)
        return number_at(self.ratio, lambda q: q**distance / self._normaliser(q))

    def variance_of(self, coefficients: Sequence[Any]) -> Fraction | float:
        """The variance of the sum of coefficients times cells, in closed form. Each cell has one coefficient."""
        numbers = [exact(number, "coefficient") for number in sequence(coefficients, "coefficients")]
        if len(numbers) != self.size:
            remedy = f"Pass {self.size} numbers, with 0 for cells that are left out."
            raise OutOfRange(
                f"there must be {self.size} coefficients, one for each cell", came=len(numbers), remedy=remedy
            )
        return number_at(self.ratio, lambda q: self.variance_at(q, numbers))

    @property
    def variance(self) -> Fraction | float:
        """The variance of a cell's noise, averaged over all cells."""
        units = [[Fraction(int(i == place)) for i in range(self.size)] for place in self.kinds]
        times = list(self.kinds.values())

        def mean(q: Q) -> Q:
            total = sum((n * self.variance_at(q, unit) for n, unit in zip(times, units, strict=True)), 0 * q)
            return total / self.size

        return number_at(self.ratio, mean)

    @property
    @abstractmethod
    def kinds(self) -> dict[int, int]:
        """Map the position of one cell to the number of cells whose noise has the same distribution, for each
        distribution.
        """

    def tail(self, t: int, cell: int = 0) -> Fraction | float:
        """P(|X_cell| > t), for t >= 0."""
        place, beyond = self._cell(cell), natural(t, "t")
        return number_at(self.ratio, lambda q: self.tail_at(q, place, beyond))

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE, cell: int = 0) -> int:
        """The least t with a certificate that P(|X_cell| <= t) >= confidence."""
        return _margin(self, self._cell(cell), 1 - read_confidence(confidence))

    def _cell(self, cell: int) -> int:
        return natural(cell, "cell", most=self.size - 1)


@lru_cache(maxsize=1024)
def _margin(distribution: DrawDistribution, cell: int, miss: Fraction) -> int:
    def covers(t: int) -> bool:
        return is_at_most(distribution.ratio, lambda q: distribution.tail_at(q, cell, t), miss)

    above = 1
    while not covers(above):
        above *= 2
    return first_integer(-1, above, covers)
