"""What a measure of information is: one number for each belief, which observing moves in one direction only."""

from abc import ABC, abstractmethod
from fractions import Fraction
from math import inf
from typing import Any

from utmost.errors import Unsupported
from utmost.exact import Array
from utmost.leakage.capacity import Capacity, as_channel, total
from utmost.leakage.hyper import Hyper, as_prior, joint
from utmost.spaces import Consumer


class Measure(ABC):
    """A vulnerability V (convex; observing raises it) or an uncertainty U (concave; observing lowers it).

    A measure of beliefs extends to the columns J[., y] of a joint distribution by V(c J[., y]) = c V(J[., y]), so that
    the posterior measure is the sum over the columns.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """How the measure is shown."""

    @property
    @abstractmethod
    def rises(self) -> bool:
        """Whether it is a vulnerability, which observing raises; an uncertainty otherwise."""

    @abstractmethod
    def of_columns(self, J: Array) -> Array:
        """The measure of each column of an (n, m) joint distribution, times the column's sum: (m,)."""

    def prior(self, prior: object) -> Any:
        """The measure of a prior (n,), before anything is seen."""
        return total(self.of_columns(as_prior(prior)[:, None]))

    def posterior(self, channel: object, prior: object = None) -> Any:
        """The expected measure of the posterior: sum_y w_y V(p(. | y)).

        Args:
            channel: (n, m), or a `Hyper`, which needs no prior.
            prior: (n,).
        """
        return total(self.of_columns(columns_of(channel, prior)))

    def additive_leakage(self, channel: object, prior: object = None) -> Any:
        """How much is gained by seeing the outcome: V[p, C] - V(p), or U(p) - U[p, C]; never negative."""
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        gained = after - before if self.rises else before - after
        return gained if isinstance(gained, Fraction) else max(gained, 0.0)

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Any:
        """By what factor it is gained: V[p, C] / V(p), or U(p) / U[p, C]; never below 1, infinity where U becomes 0."""
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        large, small = (after, before) if self.rises else (before, after)
        if small == 0:
            return Fraction(1) if large == 0 else inf
        ratio = large / small
        return ratio if isinstance(ratio, Fraction) else max(ratio, 1.0)

    def strategy(self, channel: object, prior: object = None) -> Any:
        """What to do for each outcome, to attain the posterior measure.

        Raises:
            Unsupported: for a measure that no strategy attains.
        """
        raise Unsupported("the measure must be attained by a strategy", came=self.name)

    def multiplicative_capacity(self, channel: object) -> Capacity:
        """The largest multiplicative leakage of a channel by this measure, over all priors.

        Raises:
            Unsupported: where no method for it is known here.
        """
        raise Unsupported("no program for the multiplicative capacity of this measure is known", came=self.name)

    def additive_capacity(self, channel: object) -> Capacity:
        """The largest additive leakage of a channel by this measure, over all priors.

        Raises:
            Unsupported: where no method for it is known here.
        """
        raise Unsupported("no program for the additive capacity of this measure is known", came=self.name)

    def _before_and_after(self, J: Array) -> tuple[Any, Any]:
        return total(self.of_columns(J.sum(axis=1)[:, None])), total(self.of_columns(J))


def columns_of(channel: object, prior: object = None) -> Array:
    """The joint distribution (n, m) of a channel and a prior, or of a hyper."""
    if isinstance(channel, Hyper):
        if prior is not None:
            raise Unsupported("a hyper has its own prior, so no other can be given", came=repr(prior))
        return channel.joint
    if isinstance(prior, Consumer):
        prior = prior.prior
    if prior is None:
        raise Unsupported(
            "a leakage is of a channel and a prior, or of a hyper", came="no prior", mend="Write hyper(C, prior), say."
        )
    return joint(as_channel(channel), prior)
