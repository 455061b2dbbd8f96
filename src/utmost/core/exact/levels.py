"""Privacy levels: epsilon and alpha = exp(-epsilon), stored exactly whether the user passes epsilon or alpha."""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, total_ordering

from utmost.core.exact.intervals import (
    Interval,
    exp_interval,
    is_lower,
    log_interval,
    narrow_interval,
    nearest,
    round_up,
)
from utmost.core.exact.numbers import Number, exact, precision
from utmost.errors import NotALevel, NotANumber

# Python prints integers of up to 4300 digits, and statements must print the level.
_DIGITS = 4000
_TOO_LONG = 10**_DIGITS
_BY_NAME = "Call level(epsilon), or level(alpha=...)."


@total_ordering
@dataclass(frozen=True, slots=True)
class Level:
    """The level ``alpha = base ** power``. The base is a rational in (0, 1), or 1/e if ``base`` is None.

    `level`, `Level.of_epsilon` and `Level.of_alpha` make a canonical level: ``base`` is no perfect power. Therefore two
    levels are equal exactly when their fields are equal, and alpha is rational exactly when ``base`` is not None and
    ``power`` is an integer (a rational power of e is transcendental).

    Attributes:
        base: Rational base of alpha, or None for 1/e.
        power: Exponent of the base. If ``base`` is None, the exponent is epsilon.
    """

    base: Fraction | None
    power: Fraction

    def __post_init__(self) -> None:
        base, power = self.base, self.power
        if not isinstance(power, Fraction) or power <= 0:
            raise NotALevel("the power of a level must be a positive Fraction", came=power, remedy=_BY_NAME)
        if base is not None and not (isinstance(base, Fraction) and 0 < base < 1):
            raise NotALevel(
                "the base of a level must be a Fraction between 0 and 1, or None", came=base, remedy=_BY_NAME
            )

    @classmethod
    def of_epsilon(cls, epsilon: Number) -> "Level":
        """The level with this epsilon, a positive finite number."""
        value = _number(epsilon, "epsilon")
        if value <= 0:
            raise NotALevel("epsilon must be positive", came=epsilon, remedy="Pass, for example, epsilon=1.")
        return cls(None, value)

    @classmethod
    def of_alpha(cls, alpha: Number) -> "Level":
        """The level with this alpha, a number strictly between 0 and 1."""
        value = _number(alpha, "alpha")
        if not 0 < value < 1:
            raise NotALevel(
                "alpha must lie strictly between 0 and 1",
                came=alpha,
                remedy="Pass, for example, epsilon=1: alpha is e^-epsilon.",
            )
        # 1/4 becomes (1/2)^2: levels with the same base are added, scaled and compared by their rational powers.
        base, power = primitive_root(value)
        return cls(base, Fraction(power))

    @property
    def is_rational(self) -> bool:
        """Whether alpha is a rational number."""
        return self.base is not None and self.power.denominator == 1

    @property
    def epsilon(self) -> Fraction | float:
        """epsilon as a Fraction if it is rational, else as a float rounded up."""
        return self.power if self.base is None else round_up(self.epsilon_interval(self._bits()))

    @property
    def alpha(self) -> Fraction | float:
        """alpha as a Fraction if it is rational, else the nearest float."""
        return self.alpha_fraction() if self.is_rational else nearest(narrow_interval(self.alpha_interval))

    def alpha_fraction(self) -> Fraction:
        """alpha as a Fraction.

        Raises:
            NotALevel: if alpha is irrational.
        """
        if self.base is None or self.power.denominator != 1:
            remedy = 'Give the level by a rational alpha, such as alpha="1/2".'
            raise NotALevel("alpha must be rational", came=self, remedy=remedy)
        return self.base**self.power.numerator

    def alpha_interval(self, bits: int = 128) -> Interval:
        """An interval around alpha, a few units of ``2**-bits`` wide."""
        return _alpha_interval(self, precision(bits))

    def epsilon_interval(self, bits: int = 128) -> Interval:
        """An interval around epsilon, a few units of ``2**-bits`` wide."""
        bits = precision(bits)
        if self.base is None:
            return Interval.of(self.power, bits)
        guard = 4 + max(0, math.ceil(self.power)).bit_length()
        return (-log_interval(self.base, bits + guard) * self.power).at(bits)

    @property
    def epsilon_float(self) -> float:
        """epsilon as the nearest float, for formulas. A promise reports `epsilon`, which is never rounded down."""
        return nearest(self.power) if self.base is None else nearest(self.epsilon_interval(self._bits()))

    def scaled(self, factor: Number) -> "Level":
        """The level whose epsilon is ``factor`` times the epsilon of this level."""
        multiple = exact(factor, "factor")
        if multiple <= 0:
            raise NotALevel("a level must be scaled by a positive factor", came=factor)
        return Level(self.base, self.power * multiple)

    def __lt__(self, other: "Level") -> bool:
        """Whether this epsilon is smaller than the other, decided exactly."""
        if self == other:
            return False
        if self.base == other.base:
            return self.power < other.power
        # Two short fractions are compared in nanoseconds, where logarithms take microseconds.
        if self._is_short and other._is_short:
            return self.alpha_fraction() > other.alpha_fraction()
        # The loop ends: unequal canonical levels are unequal numbers.
        return bool(is_lower(self.epsilon_interval, other.epsilon_interval))

    def __str__(self) -> str:
        try:
            if self.base is None:
                return f"epsilon={self.power}"
            power = str(self.power) if self.power.denominator == 1 else f"({self.power})"
            return f"alpha={self.base}" if self.power == 1 else f"alpha={self.base}^{power}"
        except ValueError:  # Python prints no integer of more than 4300 digits
            return "of too many digits to print"

    def __repr__(self) -> str:
        try:
            argument = level_argument(self)
        except ValueError:  # Python cannot print the number, as in __str__
            return f"level({self})"
        return argument.removeprefix("epsilon=") if "level" in argument else f"level({argument})"

    @property
    def _is_short(self) -> bool:
        """Whether alpha is a fraction so short that comparing it costs less than a logarithm."""
        return self.base is not None and self.is_rational and self.power * self.base.denominator.bit_length() < 1024

    def _bits(self) -> int:
        """The precision at which epsilon has 53 significant bits or more, however small it is."""
        base_bits = 0 if self.base is None else self.base.denominator.bit_length()
        return 128 + self.power.denominator.bit_length() + base_bits


@lru_cache(maxsize=512)  # one release computes the same interval a dozen times
def _alpha_interval(level: Level, bits: int) -> Interval:
    if level.base is None:
        return exp_interval(-level.power, bits)
    if level.power == 1:
        return Interval.of(level.base, bits)
    # The logarithm's error is multiplied by the power.
    guard = bits + 8 + max(0, math.ceil(level.power)).bit_length()
    return exp_interval(log_interval(level.base, guard) * level.power, bits)


def level(epsilon: Number | Level | None = None, alpha: Number | None = None) -> Level:
    """The level with this epsilon, or with this alpha; give exactly one of the two.

    Args:
        epsilon: Positive number, or a `Level`, which is returned unchanged.
        alpha: Number strictly between 0 and 1; alpha = exp(-epsilon).

    Raises:
        NotALevel: if neither or both of epsilon and alpha are passed, if the value is not a positive finite number (a
            boolean is no number), or if alpha is 1 or more.

    >>> level(epsilon="1/2"), level(alpha=0.25).alpha
    (level(epsilon='1/2'), Fraction(1, 4))
    >>> level(alpha="1/2") < level(epsilon="0.7")
    True
    """
    if (epsilon is None) == (alpha is None):
        came = "neither" if epsilon is None else "both"
        raise NotALevel(
            "exactly one of epsilon and alpha must be given", came=came, remedy="Pass, for example, epsilon=1."
        )
    if epsilon is not None:
        return epsilon if isinstance(epsilon, Level) else Level.of_epsilon(epsilon)
    assert alpha is not None
    return Level.of_alpha(alpha)


def _number(value: Number, name: str) -> Fraction:
    try:
        number = exact(value, name)
    except NotANumber as error:
        raise NotALevel(error.required, came=error.came, remedy=error.remedy) from None
    if max(abs(number.numerator), number.denominator) >= _TOO_LONG:
        raise NotALevel(
            f"{name} must be written in at most {_DIGITS} digits",
            came="more",
            remedy='Pass fewer digits, or a fraction: "1/3".',
        )
    return number


def level_argument(level: Level) -> str:
    """Write a level as an argument of a call: epsilon=1, alpha='1/2'."""
    if level.base is None:
        return f"epsilon={fraction_text(level.power)}"
    if level.power == 1 or level._is_short:
        return f"alpha={fraction_text(level.alpha_fraction())}"
    return f"epsilon=level(alpha={fraction_text(level.base)}).scaled({fraction_text(level.power)})"


def fraction_text(value: Fraction) -> str:
    """Write a fraction as an argument in Python: 3, or '1/3' in quotes."""
    return str(value) if value.denominator == 1 else f"'{value}'"


def integer_root(n: int, k: int) -> int:
    """The largest integer r with ``r**k <= n``, for n >= 0 and k >= 1."""
    if n < 2 or k == 1:
        return n
    # Integers only: a float of n^(1/k) is wrong in the last digit, and overflows for long n.
    root = 1 << -(-n.bit_length() // k)  # the start is not below the answer, so that Newton's steps only descend
    while True:
        step = ((k - 1) * root + n // root ** (k - 1)) // k
        if step >= root:
            return root
        root = step


def primitive_root(x: Fraction) -> tuple[Fraction, int]:
    """The base r and the largest k with ``x == r**k``, for a rational x > 0 other than 1.

    >>> primitive_root(Fraction(1, 16)), primitive_root(Fraction(8, 27)), primitive_root(Fraction(2, 3))
    ((Fraction(1, 2), 4), (Fraction(2, 3), 3), (Fraction(2, 3), 1))
    """
    power, prime = 1, 2
    # A k-th power other than 1 has a numerator or denominator of 2^k or more, and so of more than k bits.
    while prime <= max(x.numerator.bit_length(), x.denominator.bit_length()):
        above, below = integer_root(x.numerator, prime), integer_root(x.denominator, prime)
        if above**prime == x.numerator and below**prime == x.denominator:
            x, power = Fraction(above, below), power * prime
        else:
            prime = next(n for n in itertools.count(prime + 1) if all(n % d for d in range(2, math.isqrt(n) + 1)))
    return x, power
