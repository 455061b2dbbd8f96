"""Measure what an adversary learns from a mechanism: vulnerabilities from gains, uncertainties from losses, and
leakage.
"""

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
    """A vulnerability V of the secret (convex in the prior), or an uncertainty U about the secret (concave).

    An observation makes a vulnerability larger and an uncertainty smaller, on average. A measure is extended to
    unnormalised columns J[., y] of a joint distribution by V(c p) = c V(p), so the posterior measure is the sum of the
    measures of the columns.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the measure, for display."""

    @property
    @abstractmethod
    def meaning(self) -> str:
        """The meaning of the measure in a few words; empty if the name suffices."""

    @property
    @abstractmethod
    def rises(self) -> bool:
        """Whether the measure is a vulnerability, and so made larger by observations. False for an uncertainty."""

    @abstractmethod
    def of_columns(self, J: Array) -> Array:
        """Return, for each column of a joint distribution (n, m), the measure of the posterior times the column sum."""

    def prior(self, prior: object) -> Fraction | float:
        """Return the measure of a prior (n,), before any observation."""
        return total(self.of_columns(as_prior(prior)[:, None]))

    def posterior(self, channel: object, prior: object = None) -> Fraction | float:
        """Return the expected measure of the posterior: sum_y w_y V(p(. | y)).

        Args:
            channel: Channel (n, m), or a `Hyper`, which needs no prior.
            prior: Prior of the n secrets.
        """
        return total(self.of_columns(columns_of(channel, prior)))

    def additive_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """Return the amount by which the outcome changes the measure: V[p, C] - V(p), or U(p) - U[p, C]; at least 0."""
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        gained = after - before if self.rises else before - after
        return gained if isinstance(gained, Fraction) else max(gained, 0.0)

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        """Return the factor by which the outcome changes the measure: V[p, C] / V(p), or U(p) / U[p, C]; from 1 to
        infinity.
        """
        J = columns_of(channel, prior)
        before, after = self._before_and_after(J)
        large, small = (after, before) if self.rises else (before, after)
        if small == 0:
            return Fraction(1) if large == 0 else inf
        ratio = large / small
        return ratio if isinstance(ratio, Fraction) else max(ratio, 1.0)

    def strategy(self, channel: object, prior: object = None) -> Remap | NDArray[np.intp]:
        """Return the best action for each outcome; these actions attain the posterior measure.

        Raises:
            Unsupported: if no strategy attains the measure.
        """
        remedy = "Use a vulnerability or an uncertainty of actions, such as g_vulnerability(gain)."
        raise Unsupported("the measure must be attained by a strategy", came=self.name, remedy=remedy)

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """Return the largest leakage of a channel by this measure, over all priors.

        Args:
            channel: Channel (n, m).
            kind: "multiplicative" or "additive".

        Raises:
            Unsupported: if no method for this measure is implemented.

        >>> from utmost.channels import geometric_channel
        >>> found = bayes_vulnerability.capacity(geometric_channel(3, alpha="1/2"), "additive")
        >>> str(found.value), [str(p) for p in found.certificate.prior]
        ('1/4', ['1/2', '0', '1/2'])
        """
        check_kind(kind)
        remedy = "Override `capacity`, or pass the other kind."
        raise Unsupported(f"the {kind} capacity of the measure must be implemented", came=self.name, remedy=remedy)

    def _before_and_after(self, J: Array) -> tuple[Fraction | float, Fraction | float]:
        return total(self.of_columns(J.sum(axis=1)[:, None])), total(self.of_columns(J))


def columns_of(channel: object, prior: object = None) -> Array:
    """Return the joint distribution (n, m) of a channel and a prior, or of a hyper."""
    if isinstance(channel, Hyper):
        if prior is not None:
            remedy = "Leave out prior=, or pass the channel."
            raise Unsupported(
                "prior= must be left out with a hyper, which has its own prior",
                came=f"the prior {prior!r}",
                remedy=remedy,
            )
        return channel.joint
    if isinstance(prior, Consumer):
        prior = prior.prior
    if prior is None:
        raise Unsupported(
            "a leakage needs a channel and a prior, or a hyper",
            came="no prior",
            remedy="Pass prior=, or hyper(C, prior).",
        )
    return joint(as_channel(channel), prior)


def columns_or_prior(channel: object, prior: object) -> Array:
    """Return ``channel`` as an (n, 1) array if it is a prior or a consumer and ``prior`` is None; else return
    `columns_of`.
    """
    if prior is None and not hasattr(channel, "posteriors"):
        return as_prior(channel)[:, None]
    return columns_of(channel, prior)


TIE = 2.0**-44
"""Relative difference up to which two float64 scores count as equal."""


def scores(payments: Array, joint: Array) -> Array:
    """Return the (k, m) array of sum_x joint[x, y] payments[x, w], the expected payment of action w at outcome y, times
    P(y).
    """
    check_array(payments, "payments", 2)
    check_array(joint, "joint distribution", 2)
    pay, J = same_numbers(payments, joint)
    return matrix_product(pay.T, J)


def least_actions(scored: Array, tie: float = TIE) -> Remap:
    """Return the action with the least score in each column of ``scored`` (k, m). If several actions have the least
    score, the first of them is returned, and the remap lists the column as a tie.
    """
    # Float64 scores tie at a relative distance of ``tie``: sums of positive terms have errors of some units of 2^-53.
    check_array(scored, "scores", 2)
    if not scored.size:
        raise OutOfRange("the scores must have at least one action", came=f"shape {scored.shape}")
    least = scored.min(axis=0)
    equal = scored <= (least if is_exact(scored) else least + tie * abs(least))
    # Tie: if several answers are equally good, the best answer is the smallest one.
    return Remap(equal.argmax(axis=0), len(scored), np.flatnonzero(equal.sum(axis=0) > 1))


class Rule(Protocol):
    """A rule that gives a matrix of payments for any number of secrets."""

    def matrix(self, secrets: int, /) -> Array:
        """Return the payments of k actions for n secrets, (n, k)."""


@dataclass(frozen=True, slots=True, eq=False)
class PaidMeasure(Measure):
    """The best expected payment of an action: for gains g, max_w sum_x p_x g(x, w); for losses l, min_w sum_x p_x l(x,
    w).
    """

    paid: Array | Rule  # gains or losses (n, k), or a rule that gives them for any number of secrets
    is_gain: bool  # whether payments are gains, not losses
    title: str
    meaning: str = ""
    actions: tuple[Hashable, ...] | None = None  # names of the actions

    @property
    def name(self) -> str:
        return self.title

    @property
    def rises(self) -> bool:
        return self.is_gain

    def payments(self, n: int) -> Array:
        """Return the gains or losses of k actions for n secrets, (n, k)."""
        matrix = self.paid if isinstance(self.paid, np.ndarray) else self.paid.matrix(n)
        if len(matrix) != n:
            kind = "gain" if self.is_gain else "loss"
            raise NotALoss(
                f"the {kind} must have {n} rows, one for each secret",
                came=len(matrix),
                remedy="Pass a matrix with one row for each secret of the channel.",
            )
        return matrix

    def of_columns(self, J: Array) -> Array:
        # The expected gain of the guess x is J[x, .], so no product is needed.
        if self.paid is losses.nib and self.is_gain:
            return np.asarray(J.max(axis=0))
        if self.paid is losses.binary and not self.is_gain:
            # In floats, the column sum minus the largest entry would lose small entries, so add all other entries.
            return np.asarray(J.sum(axis=0) - J.max(axis=0) if is_exact(J) else np.sort(J, axis=0)[:-1].sum(axis=0))
        scored = scores(self.payments(len(J)), J)
        return np.asarray(scored.max(axis=0) if self.is_gain else scored.min(axis=0))

    def multiplicative_leakage(self, channel: object, prior: object = None) -> Fraction | float:
        J = columns_of(channel, prior)
        if self.is_gain and (self.payments(len(J)) < 0).any():
            remedy = "Compute the additive leakage, or add a constant to the gain."
            raise NotALoss("a multiplicative leakage needs a nonnegative gain", came=self.name, remedy=remedy)
        return Measure.multiplicative_leakage(self, channel, prior)

    def strategy(self, channel: object, prior: object = None) -> Remap:
        """Return the best action for each outcome, or for a prior. If several actions are best, the first of them is
        returned, and ``.ties`` lists the outcome.
        """
        J = columns_or_prior(channel, prior)
        scored = scores(self.payments(len(J)), J)
        return least_actions(-scored if self.is_gain else scored)

    def capacity(self, channel: object, kind: CapacityKind = "multiplicative") -> Capacity:
        """Return the largest leakage over all priors, with a prior that attains it; this can take exponential time."""
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
    """Return the vulnerability V_g(p) = max_w sum_x p_x g(x, w), the expected gain of the best action.

    Args:
        gain: Gain as a matrix (n, k), whose entries may be negative; as a function g(x, w); or as a named loss whose
            values are used as gains.

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
    """Return the uncertainty U_l(p) = min_w sum_x p_x l(x, w), the expected loss of the best action.

    Args:
        loss: Named loss, function l(x, w), nonnegative (n, k) matrix, or consumer, whose loss is used.

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
    """Return the vulnerability of a property f(x) of the secret: the probability to guess f(x) correctly in one try.

    Args:
        of: Function of the index of the secret; or a list of one value for each secret; or the blocks of a partition,
            each a set, list or range of secrets.

    Raises:
        OutOfRange: if a secret is in no block, or in two.

    >>> parity = property_vulnerability([{0, 2}, {1, 3}])
    >>> parity.prior(["1/8", "1/8", "1/8", "5/8"])
    Fraction(3, 4)
    """
    if callable(of):
        return PaidMeasure(_PropertyRule(of), True, "property guess", _PROPERTY_GUESSED)
    if not isinstance(of, Iterable):
        remedy = "Pass lambda x: x % 2, or [0, 1, 0, 1]."
        raise OutOfRange(
            "a property must be a function of the secret, or a list", came=type(of).__name__, remedy=remedy
        )
    parts = list(of)
    if parts and all(isinstance(part, set | frozenset | list | range) for part in parts):
        blocks = [list(part) for part in parts]
        named = sorted(x for block in blocks for x in block)
        if named != list(range(len(named))) or not named:
            raise OutOfRange(
                "the blocks of a partition must contain every secret exactly once",
                came=blocks,
                remedy="Write the secrets as 0, 1, ..., and put each secret into one block.",
            )
        block_of = {x: k for k, block in enumerate(blocks) for x in block}
        parts = [block_of[x] for x in range(len(named))]
    if not parts:
        raise OutOfRange("a property needs a value for each secret", came="an empty list")
    return PaidMeasure(_same_value(parts), True, "property guess", _PROPERTY_GUESSED, tuple(dict.fromkeys(parts)))


@dataclass(frozen=True, slots=True)
class _GainRule:
    """A gain given by a function g(x, w), with as many actions as secrets."""

    function: Callable[[int, int], Any]

    def matrix(self, n: int) -> Array:
        return _gain_matrix([[self.function(x, w) for w in range(n)] for x in range(n)])


@dataclass(frozen=True, slots=True)
class _PropertyRule:
    """The gain 1 for a correct guess of the value of a function of the secret, else 0."""

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
        unhashable = (value for value in values if not isinstance(value, Hashable))
        came = type(next(unhashable, values[0])).__name__
        remedy = "Use numbers or text as values."
        raise NotALoss("the values of a property must be hashable", came=came, remedy=remedy) from None
    return as_array(np.array([[int(value == kind) for kind in kinds] for value in values], dtype=np.int64))


bayes_vulnerability = PaidMeasure(losses.nib, True, "Bayes vulnerability", "the chance to guess the secret in one try")
"""Bayes vulnerability V(p) = max_x p_x, the probability to guess the secret in one try."""

bayes_risk = PaidMeasure(losses.binary, False, "Bayes risk", "the chance to fail to guess the secret in one try")
"""Bayes risk U(p) = 1 - max_x p_x, the probability to fail to guess the secret in one try."""
