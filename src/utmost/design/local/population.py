r"""Estimate the distribution of secrets among people who answered through a channel, by maximum likelihood.

Let f_y be the fraction of N answers that are y. In a population with distribution p, an answer is y with probability
q_y = sum_x p_x C[x, y], and the log-likelihood N sum_y f_y log q_y is concave in p. The update p_x g_x, where

.. math:: g_x = \sum_y f_y\, C[x, y] / q_y,

is Bayes' rule averaged over the answers, and increases the likelihood. By concavity, no other population has a
log-likelihood per answer that exceeds that of p by more than max_x g_x - 1 nats. The bound max_x g_x - 1 holds for
any p.

**Standard errors.** The curvature of the negative log-likelihood at p is F = N sum_y f_y C_y C_y^T / q_y^2. For large N
and positive p, the errors of p have the covariance B (B^T F B)^-1 B^T, where B is a basis of the changes of p that sum
to 0. For reports of categories, the standard errors are those of the unbiased estimate, which are not smaller.

Source: [agrawal2001] (the update), [elsalamouny2020] (private channels).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Floats, plain_array
from utmost.core.exact.display import Display
from utmost.core.exact.linear_algebra import independent
from utmost.core.exact.numbers import Number, exact, natural
from utmost.core.exact.progress_bar import progress_bar
from utmost.design.channels.channel import Channel
from utmost.design.local.categories import CategoryReport
from utmost.design.local.category_reports import CategoryCounts
from utmost.errors import OutOfRange, Unsupported

# Relative error of a float operation. Sums of k products and a few quotients have at most k + 4 such errors.
_ROUNDING = 2.0**-51
_MOST_MEMBERS = 1 << 27


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Population(Display):
    """The distribution of secrets that maximises the likelihood of the answers, up to a gap."""

    shares: NDArray[np.float64]  # (n,) the fraction of people with each secret, summing to 1
    # (n,) standard errors due to the random answers, for many answers and positive shares; infinite if the answers do
    # not determine the shares.
    errors: NDArray[np.float64]
    gap: float  # in nats: no shares have a log-likelihood per answer larger by more than this
    steps: int  # number of updates
    # Whether different shares have different distributions of answers (for floats, up to rounding).
    is_determined: bool


@progress_bar("Finding the population")
def iterative_bayesian_update(
    channel: Channel | CategoryReport, answers: object, *, within: Number = "1e-6", steps: int = 10_000
) -> Population:
    """Return the maximum-likelihood population for answers of a channel, by iterating Bayes' rule.

    The estimate uses only the answers, so it costs no privacy. The estimated shares of the secrets are never negative,
    so small shares are biased.

    Args:
        channel: Channel (n, m) with which each person drew one answer; or a kind of report of categories.
        answers: Number of answers with each of the m outcomes, in the order of the channel's outcomes. If ``channel``
            is a kind of report, pass the reports as ``answers``.
        within: Gap in nats per answer at which the iteration ends.
        steps: Largest number of updates; the gap may then be larger than ``within``.

    Raises:
        OutOfRange: if a count is no integer >= 0, if all counts are 0, if an impossible outcome is counted, if reports
            are invalid, or if there is no report.
        Unsupported: if the sets of all reports have more than 2^27 members in total.

    Cost: O(n m) per step, and O(n^2 m) for the standard errors; for reports, one operation per member and step.

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
        factors = evidence.update_factors(shares)
        gap = max(float(factors.max()) - 1, 0.0) + evidence.rounding
        if gap <= enough or step == most:
            break
        shares = shares * factors
        shares /= shares.sum()
    shares.setflags(write=False)
    errors = evidence.errors(shares)
    errors.setflags(write=False)
    return Population(shares, errors, gap, step, evidence.is_determined)


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The likelihood of the shares, given the answers: functions for the factors g of the update and for the standard
    errors.
    """

    size: int  # number of secrets
    update_factors: Callable[[Floats], Floats]  # returns g for the given shares
    errors: Callable[[Floats], Floats]  # returns the standard errors of an estimate with these shares
    rounding: float  # bound on the relative rounding error of g
    is_determined: bool


def _evidence_of_counts(channel: Channel, counts: object) -> _Evidence:
    """Return the evidence from counts of outcomes; raise OutOfRange for a positive count of an impossible outcome."""
    n, m = channel.shape
    seen = plain_array(counts, "list of counts")
    if seen.shape != (m,) or seen.dtype.kind not in "iu" or seen.min() < 0 or not seen.any():
        came = f"{seen.dtype} of shape {seen.shape}"
        if seen.shape == (m,) and seen.dtype.kind in "iu":
            came = f"a smallest count of {seen.min()}, and a sum of {seen.sum()}"
        remedy = "Count the answers with each outcome, such as numpy.bincount(answers, minlength=m)."
        raise OutOfRange(f"counts must be {m} integers >= 0, not all 0", came=came, where="counts", remedy=remedy)
    never = np.flatnonzero((seen > 0) & ~(channel.matrix != 0).any(axis=0))
    if never.size:
        came = f"{seen[never[0]]} answers with outcome {never[0]}"
        remedy = "Check that the answers come from this channel."
        raise OutOfRange("impossible outcomes must have count 0", came=came, where="counts", remedy=remedy)
    seen = seen.astype(np.int64)
    matrix, frequencies = channel.to_floats().matrix[:, seen > 0], seen[seen > 0] / seen.sum()
    # Different populations have different distributions of answers if the rows are linearly independent.
    rank = len(independent(channel.matrix)[0]) if channel.is_exact else np.linalg.matrix_rank(channel.matrix)
    is_determined = bool(rank == n)

    def update_factors(shares: Floats) -> Floats:
        return np.asarray(matrix @ (frequencies / (shares @ matrix)))

    def errors(shares: Floats) -> Floats:
        if not is_determined:
            return np.full(n, np.inf)
        # The basis changes each of the first n - 1 shares, with the opposite change of the last share.
        basis = np.vstack([np.eye(n - 1), -np.ones(n - 1)])
        slopes = (basis.T @ matrix) * (np.sqrt(frequencies) / (shares @ matrix))
        covariance = basis @ np.linalg.pinv(slopes @ slopes.T, hermitian=True) @ basis.T
        return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0) / seen.sum()))

    return _Evidence(n, update_factors, errors, (sum(channel.shape) + 4) * _ROUNDING, is_determined)


def _evidence_of_reports(how: CategoryReport, reports: object) -> _Evidence:
    """Return the evidence from reports of categories, computed without the matrix of their channel."""
    sent = how.read(reports)
    different, times = np.unique(sent, axis=0, return_counts=True)
    if not len(sent):
        raise OutOfRange("there must be at least one report", came="none", where="answers")
    if len(different) * how.size > _MOST_MEMBERS:
        raise Unsupported(
            "all reports must have at most 2^27 members in total",
            came=f"{len(different) * how.size}",
            remedy="Use CategoryCounts.",
        )
    members = how.members(different).astype(np.int32)
    own, other = (float(how.likelihood(is_own)) for is_own in (True, False))

    def update_factors(shares: Floats) -> Floats:
        weights = times / len(sent) / (other + (own - other) * shares[members].sum(axis=1))
        inside = np.bincount(members.ravel(), np.repeat(weights, how.size), how.categories)
        return np.asarray(other * weights.sum() + (own - other) * inside)

    def errors(_: Floats) -> Floats:
        return np.asarray(CategoryCounts(how.holders(sent), len(sent)).errors(how) / len(sent))

    return _Evidence(how.categories, update_factors, errors, (how.size + len(different) + 4) * _ROUNDING, True)
