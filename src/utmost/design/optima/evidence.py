"""Store and check proofs that a channel is optimal. A proof consists of the channel, a dual that bounds the loss, and
perhaps a theorem.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Array, PickledByFields, frozen
from utmost.core.exact.display import Display
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Remap
from utmost.design.optima.checker import Bounds, Multipliers, certified_bounds
from utmost.design.optima.closed_form import theorem_for
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.errors import PromiseBroken


class Evidence(Display, PickledByFields, ABC):
    """A channel (primal) and a dual, with the bounds on the least expected loss that they prove."""

    _shown = ("bounds",)

    __slots__ = ()

    bounds: Bounds | None  # computed by `check` if None

    @abstractmethod
    def check(self) -> Bounds:
        """Compute the bounds from channel and dual only; raise PromiseBroken if one of them is invalid."""

    @property
    def lower(self) -> Fraction | float:
        """The lower bound of the least expected loss: a Fraction, or a float rounded down."""
        assert self.bounds is not None
        return self.bounds.lower

    @property
    def upper(self) -> Fraction | float:
        """The upper bound of the least expected loss: a Fraction, or a float rounded up."""
        assert self.bounds is not None
        return self.bounds.upper

    @property
    def gap(self) -> Fraction | float:
        """``upper - lower``; 0 for an exact optimum."""
        assert self.bounds is not None
        return self.bounds.gap

    def verify(self) -> bool:
        """Check that channel and dual prove bounds that are at least as narrow as the stored ones."""
        try:
            proven = self.check()
        except PromiseBroken:
            return False
        return bool(self.lower <= proven.lower and proven.upper <= self.upper)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Certificate(Evidence):
    """A proof that no private channel has a smaller loss for a consumer than this channel, up to the gap between two
    bounds.

    Attributes:
        ptype: Privacy type.
        consumer: Prior and loss.
        remap: Remap of the geometric mechanism that gives the optimal channel; None if ``matrix`` is given.
        matrix: Optimal channel, as (secrets, actions) Fractions that are exactly private; None if ``remap`` is given.
        dual: Multipliers mu of the row sums, one for each secret: Fractions, or floats that were lowered by their
            rounding errors.
        multipliers: Multipliers of the privacy constraints, shape (edges, 2, actions), or a list of the nonzero ones;
            None on counts, where mu is enough.
        theorem: Theorem that proves the remap optimal, if there is one.
        hypotheses: Checked hypotheses of the theorem.
        bounds: Lower and upper bound that channel and dual prove. For an exact optimum both bounds are equal.
    """

    ptype: PrivacyType
    consumer: Consumer
    dual: Array
    remap: Remap | None = None
    matrix: Array | None = None
    multipliers: Array | Multipliers | None = None
    theorem: str | None = None
    hypotheses: tuple[str, ...] = ()
    bounds: Bounds | None = None

    def __post_init__(self) -> None:
        for name in ("dual", "matrix", "multipliers"):
            array = getattr(self, name)
            if isinstance(array, np.ndarray):
                object.__setattr__(self, name, frozen(array.copy()))
        if self.bounds is None:
            object.__setattr__(self, "bounds", self.check())

    @progress_bar("Checking a certificate")
    def check(self) -> Bounds:
        """Compute the bounds from channel and dual only.

        Raises:
            PromiseBroken: if the channel is not private, or the dual is not feasible.
        """
        return certified_bounds(
            self.ptype,
            self.consumer,
            actions=None if self.remap is None else self.remap.actions,
            matrix=self.matrix,
            dual=self.dual,
            multipliers=self.multipliers,
        )

    def verify(self) -> bool:
        """Return whether channel and dual prove the stored bounds, and the stored theorem, if there is one, applies."""
        explained = (None, ()) if self.theorem is None or self.remap is None else theorem_for(self.consumer)
        return (self.theorem, self.hypotheses) == explained and Evidence.verify(self)

    def with_theorem(self, theorem: str, hypotheses: tuple[str, ...]) -> "Certificate":
        """Return the same certificate with the theorem that proves the remap optimal."""
        return replace(self, theorem=theorem, hypotheses=hypotheses)
