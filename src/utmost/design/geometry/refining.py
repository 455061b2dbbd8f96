"""Decide whether one channel is at least as good as another for every consumer: refinement, and two weaker orders.

A refining earth move shows how posteriors of the better channel are averaged into posteriors of the worse channel.
"""

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np

from utmost.core.exact.arguments import one_of, real, text
from utmost.core.exact.arrays import Array, frozen, same_numbers
from utmost.core.exact.display import Display
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Channel, stochastic
from utmost.design.geometry.nearest_remaps import MergedPair
from utmost.design.geometry.orders import MaxCaseVerdict, PrivacyOrderVerdict, max_case_verdict, privacy_order_verdict
from utmost.design.geometry.refinement_proofs import FLOAT_TOLERANCE, Verdict, is_remap_between, prefers, same_secrets
from utmost.design.geometry.remaps import exact_remap, near_remap, preferring_consumer
from utmost.design.leakage.hypers import Hyper, hyper
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.priors import prior as check_prior
from utmost.errors import OutOfRange

ChannelOrder = Literal["refinement", "max-case", "privacy"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RefinementVerdict(Verdict):
    """Whether the worse channel is a refinement of the better one, with a proof: a remap if it is, or a consumer if it
    is not.
    """

    remap: Channel | None  # P with better @ P == worse
    consumer: Consumer | None  # a consumer who loses less with the worse channel than with the better one

    def __bool__(self) -> bool:
        return self.remap is not None

    def verify(self) -> bool:
        """Check the proof, by one matrix product or two expected losses."""
        if self.remap is not None:
            return is_remap_between(self.better, self.remap, self.worse, self.tolerance)
        return self.consumer is not None and prefers(self.consumer, self.worse, self.better, self.tolerance)


@overload
def refines(
    *, better: Channel | object, worse: Channel | object, order: Literal["refinement"] = ..., tolerance: float = ...
) -> RefinementVerdict: ...
@overload
def refines(
    *, better: Channel | object, worse: Channel | object, order: Literal["max-case"], tolerance: float = ...
) -> MaxCaseVerdict: ...
@overload
def refines(
    *, better: Channel | object, worse: Channel | object, order: Literal["privacy"], tolerance: float = ...
) -> PrivacyOrderVerdict: ...
@overload
def refines(*, better: Channel | object, worse: Channel | object, order: str, tolerance: float = ...) -> Verdict: ...
@progress_bar("Deciding refinement")
def refines(
    *, better: Channel | object, worse: Channel | object, order: str = "refinement", tolerance: float = FLOAT_TOLERANCE
) -> Verdict:
    """Decide whether ``worse`` is below ``better`` in an order of channels. The verdict contains a proof, and is true
    in a condition if the order holds.

    - "refinement": is there a remap P with better @ P == worse? The verdict contains P as ``remap``, or a ``consumer``
      who loses strictly less with the worse channel, with a uniform prior and short integer losses.
    - "max-case": is every posterior of the worse channel a mixture of posteriors of the better one? The verdict
      contains ``weights``, or an ``outcome`` and a ``separator`` (see `MaxCaseVerdict`). Refinement implies the
      max-case order.
    - "privacy": does the worse channel satisfy every metric privacy level that the better one satisfies? If the worse
      channel violates a level, the verdict contains a ``pair`` of secrets that it distinguishes more (see
      `PrivacyOrderVerdict`). The max-case order implies the privacy order.

    For rational channels the verdict is exact, and P is rational. If one channel has float64 entries, the entries of
    both channels are treated as rounded numbers: P is any remap such that better @ P is within the tolerance of
    ``worse`` in every entry, and a consumer's preference exceeds the effect of changing all entries by the tolerance.
    The remap and the consumer's preference account for rounding errors. (If float entries were converted to rationals
    exactly, refinement would hardly ever hold.)

    Args:
        better: Channel (n, m) that is post-processed.
        worse: Channel (n, k). The remap has the shape (m, k). The rows of the remap for impossible outcomes of
            ``better`` equal the first row of the remap.
        order: "refinement", "max-case" or "privacy".
        tolerance: Tolerance of float64 channels, between 1e-13 and 1. (The sum of a float64 row may differ from 1 by up
            to 1e-9.)

    Raises:
        NotAChannel: if the channels have different numbers of secrets.
        OutOfRange: if ``order`` is none of the three names, or if ``tolerance`` is not between 1e-13 and 1.

    Source: [fernandes2022], section II-B, after the theorem "Coriaceous" of quantitative information flow;
    [chatzikokolakis2021] for the other orders. Cost: one linear system if the columns of ``better`` are independent;
    otherwise floats find a remap or a loss, and one exact system corrects it.

    >>> from utmost.channels import geometric_channel, randomized_response
    >>> higher, lower = geometric_channel(3, alpha="1/4"), geometric_channel(3, alpha="1/2")
    >>> verdict = refines(better=higher, worse=lower)
    >>> bool(verdict), [str(p) for p in verdict.remap.matrix[1]], verdict.verify()
    (True, ['7/27', '13/27', '7/27'], True)
    >>> refuted = refines(better=lower, worse=higher)
    >>> bool(refuted), refuted.consumer.loss.shape, refuted.verify()
    (False, (3, 2), True)
    >>> line, equal = geometric_channel(3, alpha="1/2"), randomized_response(3, alpha="1/2")
    >>> [bool(refines(better=line, worse=equal, order=order)) for order in ("refinement", "max-case", "privacy")]
    [False, False, True]
    """
    order = text(order, "order")
    tolerance = real(tolerance, "tolerance")
    first, second = same_secrets(better, worse)
    if not 1e-13 <= tolerance <= 1:
        raise OutOfRange("the tolerance must lie between 1e-13 and 1", came=tolerance, where="refines")
    return _DECIDED[one_of(order, ChannelOrder, "the order", "refines")](first, second, tolerance)


def _refinement_verdict(first: Channel, second: Channel, tolerance: float) -> RefinementVerdict:
    if not (first.is_exact and second.is_exact):
        first, second = first.to_floats(), second.to_floats()
    pair = MergedPair.of(first.matrix, second.matrix)
    consumers: list[Consumer] = []

    def refutes(loss: Array) -> bool:
        consumer = preferring_consumer(loss, pair.near, second, first, tolerance)
        consumers.extend([] if consumer is None else [consumer])
        return consumer is not None

    def is_near(remap: Array) -> bool:
        return is_remap_between(first, Channel(pair.unmerged(remap)), second, tolerance)

    decided = exact_remap(pair, refutes) if first.is_exact else near_remap(pair, is_near, refutes)
    if decided is None:
        return RefinementVerdict(first, second, tolerance, None, consumers[0])
    remap = stochastic(frozen(pair.unmerged(decided)), first.outcomes, second.outcomes)
    return RefinementVerdict(first, second, tolerance, remap, None)


_DECIDED = {"refinement": _refinement_verdict, "max-case": max_case_verdict, "privacy": privacy_order_verdict}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EarthMove(Display):
    """The probability that moves from each posterior of ``before`` to each posterior of ``after``."""

    before: Hyper  # hyper of the better channel
    after: Hyper  # hyper of the worse channel, for the same prior
    # (m, k): rows sum to the weights of `before`, columns to the weights of `after`, and each posterior of `after` is
    # the mean of the posteriors from which probability moves to it: sum_y amounts[y, w] before.posteriors[:, y] =
    # after.weights[w] after.posteriors[:, w].
    amounts: Array

    def __post_init__(self) -> None:
        frozen(self.amounts)

    def verify(self, tolerance: float = FLOAT_TOLERANCE) -> bool:
        """Check the sums of `amounts` and the posteriors that they give. Floats may differ by ``tolerance``."""
        tolerance = real(tolerance, "tolerance")
        posteriors, amounts, joint = same_numbers(self.before.posteriors, self.amounts, self.after.joint)
        residuals = (
            amounts.sum(axis=1) - self.before.weights,
            amounts.sum(axis=0) - self.after.weights,
            (posteriors @ amounts - joint).ravel(),
        )
        allowed = 0 if self.before.is_exact and self.after.is_exact else tolerance
        return bool((amounts >= 0).all() and all((abs(residual) <= allowed).all() for residual in residuals))


def earth_move(
    prior: object, *, better: Channel | object, worse: Channel | object, tolerance: float = FLOAT_TOLERANCE
) -> EarthMove | None:
    """Return the refining earth move from the hyper [prior, better] to the hyper [prior, worse]; None if no earth move
    exists.

    An earth move exists if and only if the worse channel is a refinement of the better one on the secrets of positive
    prior probability. Let P be a remap from the outcomes of the first hyper to those of the second. The earth move
    moves weights[y] P[y, w] from posterior y to posterior w. So for any prior without zeros, an earth move exists if
    and only if the worse channel is a refinement of the better one.

    Args:
        prior: Probabilities of the n secrets.
        better, worse: Channels, (n, m) and (n, k).
        tolerance: Tolerance of float64 channels, as in `refines`.

    Raises:
        NotAChannel, NotAPrior, OutOfRange: if a channel or the prior is invalid, or if they have different numbers of
            secrets.

    Source: [fernandes2022], equation (7) and observation a) after it.

    >>> from utmost.design.spaces import priors
    >>> move = earth_move(priors.uniform(2), better=[[1, 0], [0, 1]], worse=[["3/4", "1/4"], ["1/4", "3/4"]])
    >>> [[str(v) for v in row] for row in move.amounts], move.verify()
    ([['3/8', '1/8'], ['1/8', '3/8']], True)
    """
    tolerance = real(tolerance, "tolerance")
    belief = check_prior(prior)
    before, after = hyper(better, belief), hyper(worse, belief)
    possible = np.flatnonzero(belief != 0)
    first, second = _rows_of(before, possible), _rows_of(after, possible)
    remap = refines(better=first, worse=second, tolerance=tolerance).remap
    if remap is None:
        return None
    weights, shares = same_numbers(before.weights, remap.matrix)
    return EarthMove(before, after, np.asarray(weights[:, None] * shares))


def _rows_of(of: Hyper, possible: Array) -> Channel:
    """Return the channel from the secrets ``possible`` to the outcomes of a hyper."""
    joint = of.joint[possible]
    return Channel(joint / joint.sum(axis=1, keepdims=True))
