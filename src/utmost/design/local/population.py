r"""How common each secret is among those who answered by a channel: the likeliest population, and how near it is.

Of N answers a share f_y is y. A population p makes y with probability q_y = sum_x p_x C[x, y], and the likelihood of
the answers is the exponential of N sum_y f_y log q_y, which is concave in p. The update p_x g_x, where

.. math:: g_x = \sum_y f_y\, C[x, y] / q_y,

is Bayes' rule averaged over the answers; it raises the likelihood. By concavity no population is likelier by more than
max_x g_x - 1 for each answer, in nats: that gap is computed from p alone, however p was found.

**Bars.** The curvature of the likelihood at p is F = N sum_y f_y C_y C_y^T / q_y^2. The errors of the shares have the
covariance B (B^T F B)^-1 B^T, B a basis of the changes that sum to 0: so it is as N grows, for shares that are not 0.
Of reports of categories the bars are those of the unbiased estimate, which is no better.

Source: [agrawal2001] (the update), [elsalamouny2020] (for channels of privacy).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Floats, is_exact, plain_array
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import independent
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Channel
from utmost.design.local.categories import CategoryReport
from utmost.design.local.category_reports import CategoryCounts
from utmost.errors import OutOfRange, Unsupported

# Sums of so many products of floats are off by less than this part, and a few for the quotients.
_ROUNDING = 2.0**-51
_MOST_MEMBERS = 1 << 27


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Population(Display):
    """The shares of the secrets that make the answers likeliest, to a gap.

    Attributes:
        shares: (n,) float64, summing to 1.
        errors: (n,) standard errors of the shares by the answers alone, for many answers and shares that are not 0;
            infinite where the population is not determined.
        gap: No shares make the answers likelier by more than this for each answer, in nats; rounded up.
        steps: Number of updates.
        is_determined: Whether no other population has the same law of answers; where one has, the answers cannot tell
            the two apart, however many there are. Of a channel of floats, up to their rounding.
    """

    shares: NDArray[np.float64]
    errors: NDArray[np.float64]
    gap: float
    steps: int
    is_determined: bool


@progress_bar("Finding the population")
def iterative_bayesian_update(
    channel: Channel | CategoryReport, answers: object, *, within: Number = "1e-6", steps: int = 10_000
) -> Population:
    """The population that makes answers likeliest, by Bayes' rule again and again: of places, categories, any channel.

    It looks at answers alone, and costs no privacy. Its shares are never negative, and so biased where one is near 0.

    Args:
        channel: (n, m), by which each person's answer was drawn once; or a report of categories.
        answers: (m,) how many answers were each outcome, in the order of the channel's outcomes; of a report of
            categories the reports themselves.
        within: Ends when the gap is at most this.
        steps: Ends after so many updates, whatever the gap is then.

    Raises:
        OutOfRange: for counts that are no integers from 0 on, are all 0, or are of an outcome that never comes; for
            reports of another kind, or none.
        Unsupported: for reports whose sets have more than 2^27 members together.

    Cost: O(n m) each step, and O(n^2 m) for the bars; of reports as many operations as they have members.

    Source: [agrawal2001], [elsalamouny2020].

    >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> found = iterative_bayesian_update(coin, [500, 400])     # (2/3) p + (1/3)(1 - p) = 5/9: p = 2/3
    >>> found.shares.round(3).tolist(), found.errors.round(3).tolist(), found.gap < 1e-5, found.is_determined
    ([0.667, 0.333], [0.05, 0.05], True, True)
    """
    instance(channel, (Channel, CategoryReport), "channel")
    evidence = (
        _evidence_of_reports(channel, answers)
        if isinstance(channel, CategoryReport)
        else _evidence_of_counts(channel, answers)
    )
    enough, most = float(exact(within, "within")), natural(steps, "steps")
    shares = np.full(evidence.size, 1 / evidence.size)
    for step in range(most + 1):
        raised = evidence.raised(shares)
        gap = max(float(raised.max()) - 1, 0.0) + evidence.rounding
        if gap <= enough or step == most:
            break
        shares = shares * raised
        shares /= shares.sum()
    shares.setflags(write=False)
    errors = evidence.errors(shares)
    errors.setflags(write=False)
    return Population(shares, errors, gap, step, evidence.is_determined)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The evidence of answers about a population: g of shares, and the bars of the likeliest ones."""

    size: int
    raised: Callable[[Floats], Floats]
    errors: Callable[[Floats], Floats]
    rounding: float
    is_determined: bool


def _evidence_of_counts(channel: Channel, counts: object) -> _Evidence:
    seen = _read_counts(counts, channel)
    n, matrix = channel.shape[0], channel.to_floats().matrix[:, seen > 0]
    frequencies, is_determined = seen[seen > 0] / seen.sum(), _rank(channel) == channel.shape[0]

    def raised(shares: Floats) -> Floats:
        return np.asarray(matrix @ (frequencies / (shares @ matrix)))

    def errors(shares: Floats) -> Floats:
        if not is_determined:
            return np.full(n, np.inf)
        # Changes of the first n - 1 shares, which the last one takes back.
        basis = np.vstack([np.eye(n - 1), -np.ones(n - 1)])
        slopes = (basis.T @ matrix) * (np.sqrt(frequencies) / (shares @ matrix))
        covariance = basis @ np.linalg.pinv(slopes @ slopes.T, hermitian=True) @ basis.T
        return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0) / seen.sum()))

    return _Evidence(n, raised, errors, (sum(channel.shape) + 4) * _ROUNDING, is_determined)


def _evidence_of_reports(how: CategoryReport, reports: object) -> _Evidence:
    """The evidence from the categories of each report: one with the own category is as likely as all others with it."""
    sent = how.read(reports)
    different, times = np.unique(sent, axis=0, return_counts=True)
    if not len(sent) or len(different) * how.size > _MOST_MEMBERS:
        if not len(sent):
            raise OutOfRange("there must be a report", came="none", where="answers")
        raise Unsupported("reports must have at most 2^27 members together", came="more", remedy="Use CategoryCounts.")
    members = how.members(different).astype(np.int32)
    own, other = (float(how.likelihood(is_own)) for is_own in (True, False))

    def raised(shares: Floats) -> Floats:
        weights = times / len(sent) / (other + (own - other) * shares[members].sum(axis=1))
        inside = np.bincount(members.ravel(), np.repeat(weights, how.size), how.categories)
        return np.asarray(other * weights.sum() + (own - other) * inside)

    def errors(_: Floats) -> Floats:
        return np.asarray(CategoryCounts(how.holders(sent), len(sent)).errors(how) / len(sent))

    return _Evidence(how.categories, raised, errors, (how.size + len(different) + 4) * _ROUNDING, True)


def _read_counts(counts: object, channel: Channel) -> NDArray[np.int64]:
    seen = plain_array(counts, "list of counts")
    m = channel.shape[1]
    if seen.shape != (m,) or seen.dtype.kind not in "iu" or seen.min() < 0 or not seen.any():
        raise OutOfRange(f"counts must be {m} integers from 0 on, not all 0", came="others", where="counts")
    never = np.flatnonzero((seen > 0) & ~(channel.matrix != 0).any(axis=0))
    if never.size:
        raise OutOfRange("only outcomes that can come can be counted", came=f"outcome {never[0]}", where="counts")
    return seen.astype(np.int64)


def _rank(channel: Channel) -> int:
    """The number of independent rows; exact for Fractions."""
    if is_exact(channel.matrix):
        return len(independent(channel.matrix)[0])
    return int(np.linalg.matrix_rank(channel.matrix))
