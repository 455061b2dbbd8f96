"""The base class of all distributions of additive noise, and readers of their parameters."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, fraction_text, level, level_argument
from utmost.core.exact.numbers import Number, exact_integer, read_confidence, written_number
from utmost.core.noise.costs import Cost, Moment, Tabled, absolute, moment, squared
from utmost.core.noise.shift_curves import ShiftCurve
from utmost.errors import OutOfRange

NO_CLAIM = "it is not claimed to be the least noise"
"""The text about optimality for noise without such a theorem."""

RELAXABLE = "kept in a ledger, it can be made more accurate later, and the total cost is then the larger epsilon alone"
"""The claim of a distribution that can be relaxed without loss."""

THEOREM_11 = (
    "no other noise that is added to integers has a smaller expected cost, for every cost that never decreases as "
    f"errors grow [geng2012, Theorem 11]; {RELAXABLE}"
)
"""The claim of the two-sided geometric distribution at sensitivity 1."""


def costs_to_name(cost: Cost) -> list[Cost]:
    """The costs that a claim of optimality examines: ``cost``, the absolute error and the squared error."""
    return [cost, *(named for named in (absolute, squared) if named != cost)]


def least_cost(best: list[Cost], numbers: str, checked: Callable[[Cost], int | None] | None = None) -> str:
    """The claim that the noise has the least expected cost, with the names of the costs."""
    # A moment or a table never decreases as errors grow. For a function, the claim has this condition, and how far it
    # was checked.
    names, separator = list[str](), ", "
    for cost in best:
        if isinstance(cost, Moment | Tabled):
            names.append(repr(cost))
            continue
        upto = "" if checked is None else f", checked up to {checked(cost)}"
        names.append(f"{getattr(cost, '__name__', cost)}, if it never decreases as errors grow{upto}")
        separator = "; "
    return f"no other noise that is added to {numbers} has a smaller expected cost ({separator.join(names)})"


# Outside these bounds probabilities underflow in floats, and exact searches do not end.
_LEAST_EPSILON, _LARGEST_EPSILON = 1e-50, 1e100
_LARGEST_RATIO = 10**100


def distribution_level(epsilon: Number | Level | None, alpha: Number | None, where: str) -> Level:
    """Read the level of a distribution; epsilon must lie between 1e-50 and 1e100."""
    read = level(epsilon, alpha)
    if read.epsilon_float < _LEAST_EPSILON:
        raise OutOfRange(f"epsilon must be at least {_LEAST_EPSILON}", came=str(read), where=where)
    if read.epsilon_float > _LARGEST_EPSILON:
        raise OutOfRange(f"epsilon must be at most {_LARGEST_EPSILON}", came="more", where=where)
    return read


def positive_integer(value: Number, name: str, where: str) -> int:
    number = exact_integer(value, name)
    if not 1 <= number <= _LARGEST_RATIO:
        raise OutOfRange(f"{name} must lie between 1 and 1e100", came=value, where=where)
    return number


def positive_number(value: Number, name: str, where: str) -> Fraction:
    number = written_number(value, name)
    if number <= 0:
        raise OutOfRange(f"{name} must be positive", came=value, where=where)
    if not 1 <= number * _LARGEST_RATIO <= _LARGEST_RATIO**2:
        raise OutOfRange(f"{name} must lie between 1e-100 and 1e100", came=value, where=where)
    return number


def distribution_text(distribution: Any, **parameters: Any) -> str:
    """A distribution as an expression that evaluates to an equal one."""
    shown = {"sensitivity": _number_text(distribution.sensitivity)} | {
        k: _number_text(v) for k, v in parameters.items()
    }
    arguments = ", ".join(f"{k}={v}" for k, v in shown.items())
    return f"{type(distribution).__name__}({level_argument(distribution.level)}, {arguments})"


def _number_text(value: Any) -> str:
    return fraction_text(value) if isinstance(value, Fraction) else repr(value)


class Periodicity(NamedTuple):
    """Probabilities that repeat: P(X = i + period) = alpha P(X = i) for all i >= start."""

    period: int  # number of integers in a period
    level: Level  # its alpha is the factor
    start: int  # first integer for which the equation is true


class Distribution(Display, ABC):
    """Noise that is epsilon-differentially private when added to a query of the given sensitivity.

    Attributes:
        level: Privacy level.
        sensitivity: Largest change of the query by one individual; an int on the integers, a Fraction on the reals.
    """

    __slots__ = ()

    sensitivity: Any

    if TYPE_CHECKING:  # at run time this property would become the default of a dataclass field of the same name

        @property
        @abstractmethod
        def level(self) -> Level: ...

    @property
    def parameters(self) -> dict[str, int | float | Fraction]:
        """The parameters of the distribution except the level, by their names in statements."""
        return {"sensitivity": self.sensitivity}

    @property
    def epsilon(self) -> Fraction | float:
        """The epsilon of the level: a Fraction, or a float rounded up."""
        return self.level.epsilon

    @property
    def alpha(self) -> Fraction | float:
        """exp(-epsilon): a Fraction, or the nearest float."""
        return self.level.alpha

    @property
    @abstractmethod
    def numbers(self) -> Literal["integers", "reals"]:
        """The kind of numbers that the noise takes: "integers" or "reals"."""

    @property
    def support(self) -> Literal["integers", "reals"]:
        """The numbers of positive probability: all integers, or all reals."""
        return self.numbers

    @property
    def theorem(self) -> str:
        """One line of text: for which costs this noise is optimal and by which theorem, or that no optimality is
        claimed.
        """
        return NO_CLAIM

    @abstractmethod
    def curve(self, distance: Fraction) -> ShiftCurve:
        """The trade-off curve of the best tests between X and X + distance, for a distance of at least 0."""

    def worst_level(self, distance: Fraction) -> Level | None:
        """The largest privacy loss between X and X + d, over all d up to ``distance``, or None for the distance 0."""
        return self.curve(distance).worst_level

    @property
    def periodicity(self) -> Periodicity | None:
        """The period of the probabilities on the integers, or None if they do not repeat."""
        return None

    @property
    @abstractmethod
    def lipschitz_level(self) -> Level | None:
        """The smallest level per unit at which the noise is Lipschitz private, or None if there is none."""

    @abstractmethod
    def cdf(self, x: Any) -> Any:
        """P(X <= x)."""

    @abstractmethod
    def ccdf(self, x: Any) -> Any:
        """P(X > x)."""

    @abstractmethod
    def icdf(self, p: Any) -> Any:
        """The least x with cdf(x) >= p."""

    @abstractmethod
    def margin(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """A t with P(|X| <= t) >= confidence."""

    @abstractmethod
    def expected_cost(self, cost: Cost) -> Fraction | float:
        """E L(X)."""

    def moment(self, m: Number) -> Fraction | float:
        """E|X|^m for any m > 0."""
        return self.expected_cost(moment(m))

    def mean(self) -> int:
        """E X = 0, by symmetry."""
        return 0

    def variance(self) -> Fraction | float:
        """E X^2."""
        return self.expected_cost(Moment(Fraction(2)))

    def std(self) -> float:
        """The standard deviation of the noise."""
        return math.sqrt(self.variance())

    def median(self) -> int:
        """0, by symmetry."""
        return 0

    @abstractmethod
    def entropy(self) -> float:
        """The entropy in nats: -E log P(X) on the integers, -E log density on the reals."""

    def interval(self, confidence: Number) -> tuple[int | float, int | float]:
        """The ends of the central interval: the quantiles of (1 - confidence) / 2 and (1 + confidence) / 2.

        Args:
            confidence: Number strictly between 0 and 1. A float is read as the decimal that Python prints for it.
        """
        missed = (1 - read_confidence(confidence)) / 2
        return self.icdf(missed), self.icdf(1 - missed)

    def sf(self, x: Any) -> Any:
        """P(X > x), under SciPy's name for `ccdf`."""
        return self.ccdf(x)

    def ppf(self, p: Any) -> Any:
        """The quantile of p, under SciPy's name for `icdf`."""
        return self.icdf(p)

    @abstractmethod
    def iccdf(self, q: Any) -> Any:
        """The least x with ccdf(x) <= q."""

    def isf(self, q: Any) -> Any:
        """The least x with ccdf(x) <= q, under SciPy's name for `iccdf`."""
        return self.iccdf(q)
