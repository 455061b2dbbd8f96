"""Rational functions of alphas: exact where the alphas are rational, enclosed to any precision where they are not."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.errors import OutOfRange
from utmost.exact import Interval, Level, nearest

# A formula of three alphas loses a factor (1 - alpha)^-4 or so; doubling the guard finds what is needed.
_GUARD = 32
# Below 2^-1074 a float is zero, whatever more bits would say.
_FLOAT_BITS = 192
_MOST_FLOAT_BITS = 2048


@dataclass(frozen=True, slots=True)
class Quantity:
    """The number f(alpha_1, ..., alpha_k), for a formula f made of + - * / and integer powers.

    Attributes:
        formula: f, a function of k numbers that works for Fractions and for Intervals alike.
        levels: the k levels; None stands for epsilon = infinity, where alpha = 0.

    >>> from utmost.exact import level
    >>> Quantity(lambda a: (1 - a) / (1 + a), (level(alpha="1/2"),)).number
    Fraction(1, 3)
    >>> Quantity(lambda a: (1 - a) / (1 + a), (level(epsilon=1),)).number
    0.4621171572600097...
    """

    formula: Callable[..., Any]
    levels: tuple[Level | None, ...]

    @property
    def is_rational(self) -> bool:
        """Whether every alpha is rational, and so the number too."""
        return all(one is None or one.is_rational for one in self.levels)

    def fraction(self) -> Fraction:
        """The number itself; every alpha must be rational."""
        alphas = [Fraction(0) if one is None else one.alpha_fraction() for one in self.levels]
        return Fraction(self.formula(*alphas))

    def __call__(self, bits: int) -> Interval:
        """An interval around the number, at most four units of ``2**-bits`` wide."""
        return Interval.of(self.fraction(), bits) if self.is_rational else self.enclosure(bits)

    def enclosure(self, bits: int) -> Interval:
        """The same as a call, by intervals throughout: for powers so high that the exact fraction would be huge."""
        guard = _GUARD
        while True:
            enclosure = self._enclosed(bits + guard)
            if enclosure is not None and (tight := enclosure.at(bits)).high - tight.low <= 4:
                return tight
            guard *= 2

    @property
    def number(self) -> Fraction | float:
        """The number as a Fraction where every alpha is rational, else as a float."""
        return self.fraction() if self.is_rational else self.float

    @property
    def float(self) -> float:
        """The number as a float good to its last digits."""
        if self.is_rational:
            return nearest(self.fraction())
        bits = _FLOAT_BITS
        while True:
            enclosure = self.enclosure(bits)
            if enclosure.width * 2**56 <= min(abs(enclosure.lower), abs(enclosure.upper)) or bits >= _MOST_FLOAT_BITS:
                return nearest(enclosure)
            bits *= 2

    def _enclosed(self, bits: int) -> Interval | None:
        """The formula on intervals, or None where a divisor is not yet told from zero."""
        alphas = [Interval.of(0, bits) if one is None else one.alpha_interval(bits) for one in self.levels]
        try:
            enclosure: Interval = Interval.of(0, bits) + self.formula(*alphas)
            return enclosure
        except OutOfRange:
            return None
