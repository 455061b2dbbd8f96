"""What every certificate is: bounds that anyone can compute again from a primal and a dual alone."""

from abc import ABC, abstractmethod
from typing import Any

from utmost.design.checker import Bounds
from utmost.errors import PromiseBroken


class Evidence(ABC):
    """A primal and a dual, and the bounds that they prove of an optimum.

    A subclass is a frozen dataclass with the field ``bounds``, which is what `check` finds when it is left out.
    """

    __slots__ = ()

    bounds: Bounds | None

    @abstractmethod
    def check(self) -> Bounds:
        """Compute the bounds again from primal and dual alone.

        Raises:
            PromiseBroken: where the primal is not private, or the dual not feasible.
        """

    @property
    def lower(self) -> Any:
        """The optimum is at least this: a Fraction, or a float rounded down."""
        assert self.bounds is not None
        return self.bounds.lower

    @property
    def upper(self) -> Any:
        """The optimum is at most this: a Fraction, or a float rounded up."""
        assert self.bounds is not None
        return self.bounds.upper

    @property
    def gap(self) -> Any:
        """``upper - lower``: 0 when all is exact."""
        assert self.bounds is not None
        return self.bounds.gap

    def verify(self) -> bool:
        """Whether primal and dual prove the bounds that the certificate states."""
        try:
            proven = self.check()
        except PromiseBroken:
            return False
        return bool(self.lower <= proven.lower and proven.upper <= self.upper)
