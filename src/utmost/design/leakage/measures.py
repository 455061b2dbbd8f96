"""Measures of information: vulnerabilities by gains, uncertainties by losses."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Array, as_array, check_array, is_exact, same_numbers, to_floats
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import matrix_product
from utmost.core.exact.numbers import refused_as
from utmost.design.channels.channel import Remap
from utmost.design.leakage.channel_capacity import (
    Attained,
    Capacity,
    CapacityKind,
    as_channel,
    best_guess,
    best_of_corners,
    check_kind,
    corner_priors,
    total,
    uniform_on,
)
from utmost.design.leakage.hypers import Hyper, as_prior, joint
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.losses import Loss, from_function, loss_matrix
from utmost.errors import NotALoss, OutOfRange, Unsupported


class Measure(Display, ABC):
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
    def meaning(self) -> str:
        """The measure in a few words; empty where its name says so."""

    @property
    @abstractmethod
    def rises(self) -> bool:
        """Whether it is a vulnerability, which observing raises; an uncertainty otherwise."""

    @abstractmethod
    def of_columns(self, J: Array) -> Array:
        """The measure of each column of an (n, m) joint distribution, times the column's sum: (m,)."""

    def prior(self, prior: object) -> Fraction | float:
        """The measure of a prior (n,), before anything is seen."""
        return total(self.of_columns(as_prior(prior)[:, None]))

    def posterior(self, channel: object, prior: object = None) -> Fraction | float:
        """The expected measure of the posterior: sum_y w_y V(p(. | y)).

        Args:
            channel: (n, m), or a `Hyper`, which needs no prior.
            prior: (n,).
        """
        return total(self.of_columns(columns_of(channel, prior)))

    def additive_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """The gain from seeing the outcome: V[p, C] - V(p), or U(p) - U[p, C]; never negative."""
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        gained = after - before if self.rises else before - after
        return gained if isinstance(gained, Fraction) else max(gained, 0.0)

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """The gain as a factor: V[p, C] / V(p), or U(p) / U[p, C]; never below 1, infinity where U becomes 0."""
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        large, small = (after, before) if self.rises else (before, after)
        if small == 0:
            return Fraction(1) if large == 0 else inf
        ratio = large / small
        return ratio if isinstance(ratio, Fraction) else max(ratio, 1.0)

    def strategy(self, channel: object, prior: object = None) -> Remap | NDArray[np.intp]:
        """The best action for each outcome, which attains the posterior measure.

        Raises:
            Unsupported: for a measure that no strategy attains.
        """
        raise Unsupported("the measure must be attained by a strategy", came=self.name)

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """The largest leakage of a channel by this measure, over all priors.

        Args:
            channel: (n, m).
            kind: "multiplicative" or "additive".

        Raises:
            Unsupported: where no method for it is known here.
        """
        check_kind(kind)
        raise Unsupported(f"no program for the {kind} capacity of this measure is known", came=self.name)

    def _before_and_after(self, J: Array) -> tuple[Fraction | float, Fraction | float]:
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
            "a leakage is of a channel and a prior, or of a hyper",
            came="no prior",
            remedy="Write hyper(C, prior), say.",
        )
    return joint(as_channel(channel), prior)


def columns_or_prior(channel: object, prior: object = None) -> Array:
    """`columns_of` a channel and a prior; a prior alone becomes the single column (n, 1) of a blind guess."""
    if prior is None and not hasattr(channel, "posteriors"):
        return as_prior(channel)[:, None]
    return columns_of(channel, prior)


TIE = 2.0**-44
"""Relative distance at which two float64 scores count as equal."""


def scores(payments: Array, joint: Array) -> Array:
    """sum_x J[x, y] payments[x, w], shape (k, m): what action w brings at outcome y, times the outcome's probability.

    Args:
        payments: (n, k), gains or losses.
        joint: (n, m).

    Cost: O(n m k).
    """
    check_array(payments, "payments", 2)
    check_array(joint, "joint distribution", 2)
    pay, J = same_numbers(payments, joint)
    return matrix_product(pay.T, J)


def least_actions(scored: Array, tie: float = TIE) -> Remap:
    """The action with the least score for each outcome; of several the smallest, with the outcome among the ties.

    Args:
        scored: (k, m).
        tie: Largest relative distance in float64 at which a score still counts as equal to the least: sums of
            positive terms are good to some units of 2^-53. Exact scores tie when they are equal.
    """
    check_array(scored, "scores", 2)
    if not scored.size:
        raise OutOfRange("there must be a score to choose from", came=scored.shape)
    least = scored.min(axis=0)
    equal = scored <= (least if is_exact(scored) else least + tie * abs(least))
    return Remap(equal.argmax(axis=0), len(scored), np.flatnonzero(equal.sum(axis=0) > 1))


class Rule(Protocol):
    """Protocol of rules that give payments for any number of secrets."""

    def matrix(self, secrets: int, /) -> Array:
        """The (n, k) payments for n secrets."""


@dataclass(frozen=True, slots=True, eq=False)
class PaidMeasure(Measure):
    """The best that an action can bring: max_w sum_x p_x g(x, w) of a gain, or min_w sum_x p_x l(x, w) of a loss.

    Attributes:
        paid: (n, k) payments, or a rule that gives them for any number of secrets.
        is_gain: Whether payments are gains; losses otherwise.
        title: Name of the measure in displays.
        meaning: The measure in a few words; empty where the title says so.
        actions: Names of the actions, or None for numbers.
    """

    paid: Array | Rule
    is_gain: bool
    title: str
    meaning: str = ""
    actions: tuple[Hashable, ...] | None = None

    @property
    def name(self) -> str:
        return self.title

    @property
    def rises(self) -> bool:
        return self.is_gain

    def payments(self, n: int) -> Array:
        """The (n, k) matrix for n secrets.

        Raises:
            NotALoss: for a matrix on another number of secrets.
        """
        matrix = self.paid if isinstance(self.paid, np.ndarray) else self.paid.matrix(n)
        if len(matrix) != n:
            kind = "gain" if self.is_gain else "loss"
            raise NotALoss(f"the {kind} must have {n} rows, one for each secret", came=len(matrix))
        return matrix

    def of_columns(self, J: Array) -> Array:
        if self.paid is losses.nib and self.is_gain:  # one guess: no product is needed
            return np.asarray(J.max(axis=0))
        if self.paid is losses.binary and not self.is_gain:
            return np.asarray(J.sum(axis=0) - J.max(axis=0))
        scored = scores(self.payments(len(J)), J)
        return np.asarray(scored.max(axis=0) if self.is_gain else scored.min(axis=0))

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        J = columns_of(channel, prior)
        if self.is_gain and (self.payments(len(J)) < 0).any():
            raise NotALoss("a multiplicative leakage needs a gain that is nowhere negative", came=self.name)
        return Measure.multiplicative_leakage(self, channel, prior)

    def strategy(self, channel: object, prior: object = None) -> Remap:
        """The best action for each outcome; of several the smallest, with the outcome in ``.ties``.

        Args:
            channel: (n, m), or a `Hyper`; or a prior alone, whose best action is taken without seeing anything.
            prior: (n,), with a channel.
        """
        J = columns_or_prior(channel, prior)
        scored = scores(self.payments(len(J)), J)
        return least_actions(-scored if self.is_gain else scored)

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """The largest leakage of a channel by this gain or loss, over all priors, with a prior that attains it.

        Args:
            channel: (n, m).
            kind: "multiplicative" or "additive".

        Cost: for one guess of the secret see `best_subset`; otherwise O(n m k) for each corner of `corner_priors`, of
        which there can be exponentially many.

        >>> from utmost.channels import geometric_channel
        >>> found = bayes_vulnerability.capacity(geometric_channel(3, alpha="1/2"), "additive")
        >>> str(found.value), [str(p) for p in found.certificate.prior]
        ('1/4', ['1/2', '0', '1/2'])
        """
        check_kind(kind)
        C = as_channel(channel)
        n = C.shape[0]
        payments = self.payments(n)
        if self.paid is not (losses.nib if self.is_gain else losses.binary):
            return best_of_corners(C, self, kind, corner_priors(payments, self.is_gain), payments)
        if self.is_gain and kind == "multiplicative":
            value, prior = total(C.matrix.max(axis=0)), uniform_on(range(n), n)
            return Capacity(
                value, C, Attained(C, prior if C.is_exact else to_floats(prior), payments, value, kind, self)
            )
        return best_of_corners(C, self, kind, [best_guess(C, kind)], payments)

    def __repr__(self) -> str:
        return self.title


_MOST_GAINED = "the most that one action can be expected to gain"
_LEAST_LOST = "the least that one action can be expected to lose"
_PROPERTY_GUESSED = "the chance to guess the property in one try"


def g_vulnerability(gain: object) -> PaidMeasure:
    """V_g(p) = max_w sum_x p_x g(x, w): the most that one action can be expected to gain.

    Args:
        gain: an (n, k) matrix, negative entries allowed; a function g(x, w); or a named loss, read as a gain.

    Source: [fernandes2022], (3).

    >>> V = g_vulnerability([[3, 0], [0, 1]])
    >>> V.prior(["1/2", "1/2"]), V.posterior([[1, 0], [0, 1]], ["1/2", "1/2"])
    (Fraction(3, 2), Fraction(2, 1))
    """
    if isinstance(gain, PaidMeasure) and gain.is_gain:
        return gain
    if isinstance(gain, Loss):
        return bayes_vulnerability if gain is losses.nib else PaidMeasure(gain, True, f"gain {gain.name}")
    return PaidMeasure(_GainRule(gain) if callable(gain) else _gain_matrix(gain), True, "g-vulnerability", _MOST_GAINED)


def l_uncertainty(loss: object) -> PaidMeasure:
    """U_l(p) = min_w sum_x p_x l(x, w): the least that one action can be expected to lose.

    Args:
        loss: Named loss, a function l(x, w), a nonnegative (n, k) matrix, or a consumer, whose loss is taken.

    Source: [fernandes2022], (4) and (5).

    >>> l_uncertainty(losses.absolute).prior(["1/4", "1/4", "1/2"])
    Fraction(3, 4)
    """
    if isinstance(loss, PaidMeasure) and not loss.is_gain:
        return loss
    if isinstance(loss, Consumer):
        if loss.rule is losses.binary and loss.actions == loss.secrets:
            return bayes_risk
        return PaidMeasure(
            loss.loss, False, *(("l-uncertainty", _LEAST_LOST) if loss.rule is None else (f"loss {loss.rule.name}",))
        )
    if isinstance(loss, Loss):
        return bayes_risk if loss is losses.binary else PaidMeasure(loss, False, f"loss {loss.name}")
    if callable(loss):
        return PaidMeasure(from_function(loss), False, "l-uncertainty", _LEAST_LOST)
    return PaidMeasure(loss_matrix(loss), False, "l-uncertainty", _LEAST_LOST)


def property_vulnerability(of: Callable[[int], Hashable] | Sequence[Any]) -> PaidMeasure:
    """The chance to guess a property f(x) of the secret in one try: the gain is 1 where f(x) = w.

    Args:
        of: Function of the secret's number; or one value for each secret; or the blocks of a partition, each a set,
            list or range of secrets.

    Raises:
        OutOfRange: for blocks that miss a secret or share one.

    >>> parity = property_vulnerability([{0, 2}, {1, 3}])
    >>> parity.prior(["1/8", "1/8", "1/8", "5/8"])
    Fraction(3, 4)
    """
    if callable(of):
        return PaidMeasure(_PropertyRule(of), True, "property guess", _PROPERTY_GUESSED)
    if not isinstance(of, Iterable):
        raise OutOfRange("a property must be a function of the secret, or a list", came=type(of).__name__)
    parts = list(of)
    if parts and all(isinstance(part, set | frozenset | list | range) for part in parts):
        blocks = [list(part) for part in parts]
        named = sorted(x for block in blocks for x in block)
        if named != list(range(len(named))) or not named:
            raise OutOfRange("the blocks of a partition must hold every secret once", came=blocks)
        block_of = {x: k for k, block in enumerate(blocks) for x in block}
        parts = [block_of[x] for x in range(len(named))]
    if not parts:
        raise OutOfRange("a property needs a value for each secret", came="none")
    return PaidMeasure(_same_value(parts), True, "property guess", _PROPERTY_GUESSED, tuple(dict.fromkeys(parts)))


@dataclass(frozen=True, slots=True)
class _GainRule:
    """A gain as a function g(x, w), with as many actions as secrets."""

    function: Callable[[int, int], Any]

    def matrix(self, n: int) -> Array:
        return _gain_matrix([[self.function(x, w) for w in range(n)] for x in range(n)])


@dataclass(frozen=True, slots=True)
class _PropertyRule:
    """The gain of guessing the value of a function of the secret."""

    of: Callable[[int], Hashable]

    def matrix(self, n: int) -> Array:
        return _same_value([self.of(x) for x in range(n)])


def _gain_matrix(gain: object) -> Array:
    with refused_as(NotALoss):
        matrix = as_array(gain, "gain", ndim=2)
    if matrix.size == 0:
        raise NotALoss("a gain needs at least one secret and one action", came=f"shape {matrix.shape}")
    return matrix


def _same_value(values: list[Hashable]) -> Array:
    try:
        kinds = list(dict.fromkeys(values))
    except TypeError:
        required = "a property must have a value that can be distinguished from others: a number or text, say"
        raise NotALoss(required) from None
    return as_array(np.array([[int(value == kind) for kind in kinds] for value in values], dtype=np.int64))


bayes_vulnerability = PaidMeasure(losses.nib, True, "Bayes vulnerability", "the chance to guess the secret in one try")
"""V(p) = max_x p_x: the chance to guess the secret in one try."""

bayes_risk = PaidMeasure(losses.binary, False, "Bayes risk", "the chance to fail to guess the secret in one try")
"""U(p) = 1 - max_x p_x: the chance to fail to guess the secret in one try."""
