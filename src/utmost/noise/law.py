r"""What every law of additive noise knows: its level, its sensitivity, and that it is symmetric about zero."""

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any, Literal

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, exact
from utmost.noise.costs import Cost, Moment, moment


class Law(ABC):
    """Noise that is epsilon-differentially private when added to a query of the given sensitivity.

    Attributes:
        level: the privacy level.
        sensitivity: how much one individual can change the query; an int on the integers, a Fraction on the reals.
    """

    __slots__ = ()

    level: Level

    @property
    def epsilon(self) -> Fraction | float:
        """The level's epsilon: a Fraction, or a float rounded up."""
        return self.level.epsilon

    @property
    def alpha(self) -> Fraction | float:
        """exp(-epsilon): a Fraction, or the nearest float."""
        return self.level.alpha

    @property
    @abstractmethod
    def domain(self) -> Literal["integers", "reals"]:
        """Where the noise lives."""

    @property
    def support(self) -> Literal["integers", "reals"]:
        """Where the noise has mass: all of its domain."""
        return self.domain

    @property
    @abstractmethod
    def theorem(self) -> str:
        """One line: by which theorem the law is optimal, and for what; or that it is not claimed to be."""

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
    def radius(self, confidence: Number) -> int | float:
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


def read_confidence(confidence: Number) -> Fraction:
    """A confidence, strictly between 0 and 1, read exactly."""
    value = exact(confidence, "confidence")
    if not 0 < value < 1:
        raise OutOfRange("confidence must lie strictly between 0 and 1", came=confidence)
    return value
