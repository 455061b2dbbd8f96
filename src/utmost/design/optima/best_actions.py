"""Compute what a consumer concludes from a channel or a noisy count: the posterior, the Bayes remap, the expected loss
and the best answer.

Periodic noise on all integers is equivalent to a finite channel. A staircase distribution has P(k + D) = b P(k) for
k >= 0, so all responses z, z + D, z + 2D, ... with z >= n have proportional likelihoods, and no consumer can
distinguish them. The folded channel has one outcome for the responses z, z + D, z + 2D, ... for each z with n <= z < n
+ D, and one outcome for the responses z, z - D, z - 2D, ... for each z with -D < z <= 0. Geometric noise has period 1,
and its folded channel is the clamped mechanism G.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, integer, real
from utmost.core.exact.arrays import Array, as_array, frozen, is_exact, objects, same_numbers, to_floats
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import Number, exact_integer, natural, read_confidence
from utmost.core.noise import costs
from utmost.core.noise.distribution import Distribution, Periodicity
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.design.channels.channel import Channel, Remap
from utmost.design.channels.on_counts import GeometricMatrix
from utmost.design.leakage.hypers import joint
from utmost.design.leakage.measures import TIE, l_uncertainty, least_actions, scores
from utmost.design.spaces import losses
from utmost.design.spaces.consumer import Consumer
from utmost.errors import NotAPrior, OutOfRange, Unsupported


def posterior(channel: Channel, prior: Array, outcome: int) -> Array | None:
    """Return the posterior p(x | y) = p_x C[x, y] / sum_z p_z C[z, y], (n,); None for an outcome y of probability zero.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.design.spaces import priors
    >>> posterior(geometric_channel(2, alpha="1/3"), priors.uniform(2), 1).tolist()
    [Fraction(1, 4), Fraction(3, 4)]
    """
    instance(channel, Channel, "channel")
    y = exact_integer(outcome, "outcome")
    if not 0 <= y < channel.shape[1]:
        raise OutOfRange(f"the outcome must lie in 0..{channel.shape[1] - 1}", came=outcome)
    prior = as_array(prior, "prior", ndim=1)
    _check_sizes(channel, len(prior))
    weights, column = same_numbers(prior, channel.matrix[:, y])
    joint = weights * column
    total = joint.sum()
    return None if total == 0 else frozen(np.asarray(joint / total))


def bayes_remap(channel: Channel, consumer: Consumer, tie: float = TIE) -> Remap:
    """Return, for each outcome y, the action r with the least posterior loss sum_x p_x C[x, y] l(x, r).

    If several actions are best, the action with the smallest index is used, and the outcome is listed in ``.ties``. For
    an outcome of probability zero all actions are equal: action 0 is used, and the outcome is listed in ``.ties`` if
    there are several actions.

    Args:
        channel: Channel (n, m).
        consumer: Consumer with n secrets and k actions.
        tie: Largest relative difference at which a float64 loss counts as equal to the least loss; rounding errors of
            losses are some units of 2^-53. Exact losses tie if they are equal.

    Source: [ghosh2009], section 2.3. Cost: O(n m k).

    >>> from utmost.design.spaces import losses, priors
    >>> guess = Consumer(priors.from_counts([1, 3]), losses.binary)
    >>> bayes_remap(Channel([["1/2", "1/2"], ["1/2", "1/2"]]), guess).actions
    array([1, 1])
    """
    instance(channel, Channel, "channel")
    instance(consumer, Consumer, "consumer")
    tie = real(tie, "tie")
    return least_actions(scores(consumer.loss, joint(channel, consumer)), tie)


def expected_loss(channel: Channel, consumer: Consumer) -> Fraction | float:
    """Return the expected loss sum_y min_r sum_x p_x C[x, y] l(x, r) of a consumer who remaps each outcome optimally.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.design.spaces import losses, priors
    >>> expected_loss(geometric_channel(4, alpha="1/2"), Consumer(priors.uniform(4), losses.binary))
    Fraction(1, 2)
    """
    instance(channel, Channel, "channel")
    instance(consumer, Consumer, "consumer")
    return l_uncertainty(consumer).posterior(channel, consumer)


def face_value_loss(channel: Channel, consumer: Consumer) -> Fraction | float:
    """Return the expected loss sum_x p_x sum_y C[x, y] l(x, y) of a consumer who uses each outcome as the action.

    Raises:
        OutOfRange: if there are more outcomes than actions.
    """
    instance(channel, Channel, "channel")
    instance(consumer, Consumer, "consumer")
    _check_sizes(channel, consumer.secrets)
    if channel.shape[1] > consumer.actions:
        raise OutOfRange(
            f"the consumer must have an action for each of the {channel.shape[1]} outcomes",
            came=f"{consumer.actions} actions",
            remedy="Use expected_loss, which remaps the outcomes.",
        )
    prior, loss, matrix = same_numbers(consumer.prior, consumer.loss, channel.matrix)
    total = (prior * (matrix * loss[:, : channel.shape[1]]).sum(axis=1)).sum()
    return total if isinstance(total, Fraction) else float(total)


def _check_sizes(channel: Channel, secrets: int) -> None:
    if channel.shape[0] != secrets:
        raise OutOfRange(
            f"the channel must have {secrets} rows, one for each secret of the prior", came=channel.shape[0]
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reading(Display):
    """The best answer of a consumer who sees a noisy response."""

    action: int  # the action with the least posterior loss, the smallest of several
    ties: tuple[int, ...]  # all actions with this loss, if there are several
    posterior: Array  # (n+1,) the probability of each count, given the response
    # (first, last) of the shortest run of counts with the requested mass; if tied, the first
    interval: tuple[int, int]
    mass: Fraction | float  # posterior mass of the interval
    loss: Fraction | float  # expected loss of the action, given the response


def read(
    noise: Level | IntegerDistribution, consumer: Consumer, response: int, confidence: Number = DEFAULT_CONFIDENCE
) -> Reading:
    """Return the best answer of a consumer to a noisy count, with the posterior of the true count in 0..n.

    For geometric noise, clamped or not, the posterior of count i after the response z is proportional to
    p_i alpha^|i - z|; a response outside 0..n is equivalent to the nearest end. For other integer noise X, such as the
    discrete staircase, the response must not be clamped. With noise X, the posterior of count i is proportional to p_i
    P(X = z - i); for periodic noise, this posterior is periodic in z outside 0..n.

    Args:
        noise: Level of one unit of the count, for geometric noise; or the distribution of the noise.
        consumer: Prior over n + 1 counts, and a loss.
        response: Any integer.
        confidence: Least posterior mass of the interval, strictly between 0 and 1.

    Raises:
        NotAPrior: if the response is impossible under the prior (only in float64, by underflow).
        OutOfRange: if the confidence is outside (0, 1).

    Source: [ghosh2009], section 2.3. Cost: O(n k).

    >>> from utmost.exact import level
    >>> from utmost.design.spaces import losses, priors
    >>> reading = read(level(alpha="1/2"), Consumer(priors.from_counts([8, 4, 2, 1]), losses.binary), 2)
    >>> reading.action, reading.ties, reading.posterior.tolist()[0], reading.loss
    (0, (0, 1, 2), Fraction(4, 13), Fraction(9, 13))
    """
    instance(noise, (Level, IntegerDistribution), "noise")
    instance(consumer, Consumer, "consumer")
    response = integer(response, "response")
    share = read_confidence(confidence)
    size = consumer.secrets
    near = equivalent_response(noise, response, size)
    weights, likelihood = same_numbers(consumer.prior, _likelihood(noise, near, size))
    joint = weights * likelihood
    total = joint.sum()
    if total == 0:
        remedy = "Give the prior exactly, as Fractions or text, and alpha as a rational."
        raise NotAPrior("the response must be possible under the prior in float64", came=response, remedy=remedy)
    belief = frozen(np.asarray(joint / total))
    b, l = same_numbers(belief, consumer.loss)
    scores = np.asarray(b @ l)
    least = scores.min()
    # Actions whose losses differ only by rounding are ties.
    equal = np.flatnonzero(scores <= (least if is_exact(scores) else least * (1 + 2.0**-44)))
    first, last, mass = _shortest_interval(belief, share)
    ties = tuple(int(r) for r in equal) if len(equal) > 1 else ()
    return Reading(int(equal[0]), ties, belief, (first, last), _plain(mass), _plain(scores[equal[0]]))


_REACHED = 1 - Fraction(1, 10**12)


def check_reachable(noise: Level | IntegerDistribution, response: int, size: int) -> None:
    """Raise OutOfRange if ``response`` is so far from all counts that noise this large has a chance below 1e-12."""
    beyond = max(-response, response - (size - 1))
    if beyond <= 0 or beyond <= (Geometric(noise) if isinstance(noise, Level) else noise).margin(_REACHED):
        return
    required = (
        f"the response must lie near the counts 0..{size - 1}: noise is this large with a probability below 1e-12"
    )
    remedy = "Give a larger n, or the level at which the response was drawn."
    raise OutOfRange(required, came=response, remedy=remedy)


def equivalent_response(noise: Level | IntegerDistribution, response: int, size: int) -> int:
    """Return, for a response outside 0..size-1, the response nearest to the counts that has the same posterior.

    A response between the ends 0 and size-1 is returned unchanged. For geometric noise, the result for a response
    beyond an end is the end; for other periodic noise, the result lies within one period of the end. The reason is that
    all counts lie on one side of a response beyond an end, so a response one period farther out has all likelihoods
    multiplied by alpha. For noise without a period, the response is always returned unchanged.

    Args:
        noise, response: Arguments of `read`.
        size: Number of counts 0, 1, ...

    >>> from utmost.noise import DiscreteStaircase
    >>> equivalent_response(Level.of_epsilon(1), -7, 4), equivalent_response(DiscreteStaircase(1, 5), -7, 4)
    (0, -2)
    """
    instance(noise, (Level, IntegerDistribution), "noise")
    response, size = integer(response, "response"), integer(size, "size")
    periodicity = Periodicity(1, noise, 0) if isinstance(noise, Level) else noise.periodicity
    if periodicity is None:
        return response
    period = periodicity.period
    if response < 0:
        return -(-response % period)
    beyond = response - (size - 1)
    return response if beyond <= 0 else size - 1 + beyond % period


def _likelihood(noise: Level | IntegerDistribution, response: int, size: int) -> Array:
    """Return P(response | count i), times a constant, for i = 0, ..., size - 1; exact if alpha is rational."""
    if isinstance(noise, Level):
        return GeometricMatrix(size, noise).powers()[abs(np.arange(size) - response)]
    noise_values = response - np.arange(size)
    if noise.is_rational:
        return np.asarray(noise.pmf(noise_values.astype(object)))
    if noise.periodicity is not None:
        return np.asarray(noise.pmf(noise_values))
    # in logarithms, because probabilities of a far response may underflow
    logs = np.asarray(noise.logpmf(noise_values))
    return np.asarray(np.exp(logs - logs.max()))


def _plain(number: Any) -> Fraction | float:
    return number if isinstance(number, Fraction) else float(number)


def _shortest_interval(belief: Array, share: Fraction) -> tuple[int, int, Any]:
    """Return the first and last index of the shortest run of counts with mass at least ``share``, and its mass."""
    # Two pointers move over the cumulative sums.
    sums = np.concatenate([np.zeros(1, dtype=belief.dtype), np.cumsum(belief)])
    least: Any = share if is_exact(belief) else min(float(share), float(to_floats(sums)[-1]))
    best, last = (0, len(belief) - 1), 0
    for first in range(len(belief)):
        last = max(last, first)
        while last < len(belief) and sums[last + 1] - sums[first] < least:
            last += 1
        if last == len(belief):
            break
        if last - first < best[1] - best[0]:
            best = (first, last)
    return best[0], best[1], sums[best[1] + 1] - sums[best[0]]


_COST_OF_LOSS = {losses.absolute: costs.absolute, losses.squared: costs.squared}


# A channel with this many entries takes 1.6 GB in float64, and more in Fractions.
_MOST_ENTRIES = 10**8


@fitting_memory("folded_channel")
def folded_channel(distribution: Distribution, size: int) -> Channel:
    """Return the channel from the counts 0, ..., n to count + noise, with equivalent responses merged into one outcome.

    Outcome y stands for the response z = ``folded_responses(distribution, size)[y]``. If z <= 0 or z >= n, outcome y
    also stands for all responses that are farther from the counts by a multiple of the period.

    Args:
        distribution: Noise distribution on the integers.
        size: Number of counts, n + 1.

    Raises:
        Unsupported: if the noise is on the reals.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.noise import Geometric
    >>> folded_channel(Geometric(alpha="1/2"), 4).same_as(geometric_channel(4, alpha="1/2"))
    True
    """
    instance(distribution, Distribution, "distribution")
    size = integer(size, "size")
    noise, period, b = _period_of(distribution)
    n = natural(size, "size", least=1) - 1
    z = folded_responses(distribution, size)
    if len(z) * (n + 1) > _MOST_ENTRIES:
        came = len(z) * (n + 1)
        raise Unsupported(
            f"a channel must have at most {_MOST_ENTRIES} entries",
            came=came,
            where="folded_channel",
            remedy="Use fewer counts.",
        )
    values = [noise.pmf(k) for k in range(n + period + 1)]
    by_size = objects(values) if all(isinstance(v, Fraction) for v in values) else np.array(values, dtype=np.float64)
    masses = by_size[abs(z[None, :] - np.arange(n + 1)[:, None])]
    total = 1 / (1 - b)
    folds = np.array([total if response <= 0 or response >= n else total / total for response in z.tolist()])
    if n == 0:  # all responses are one class: the point 0 is in both tails, so it is subtracted once
        folds = np.array([2 * total - 1 if response == 0 else total for response in z.tolist()])
    return Channel(masses * folds)


def folded_responses(distribution: Distribution, size: int) -> Array:
    """Return the responses that the outcomes of `folded_channel` stand for: 1 - D, ..., size + D - 2 for period D.

    >>> from utmost.noise import DiscreteStaircase
    >>> folded_responses(DiscreteStaircase(alpha="1/2", sensitivity=2, step=1), 2).tolist()
    [-1, 0, 1, 2]
    """
    _, period, _ = _period_of(distribution)
    return np.arange(1 - period, natural(size, "size", least=1) - 1 + period)


def face_value_of_noise(distribution: Distribution, consumer: Consumer) -> Fraction | float:
    """Return the expected loss E l(i, i + Z) of a consumer who uses count + noise as the answer, also outside 0..n.

    Raises:
        Unsupported: if the loss is not a named function of r - i, because the loss is then undefined for answers
            outside 0..n.

    >>> from utmost.noise import Geometric
    >>> from utmost.design.spaces import priors
    >>> face_value_of_noise(Geometric(alpha="1/3"), Consumer(priors.uniform(4), losses.binary))
    Fraction(1, 2)
    """
    instance(distribution, Distribution, "distribution")
    instance(consumer, Consumer, "consumer")
    rule = consumer.rule
    if rule is None or not rule.of_difference:
        remedy = "Use face_value_loss with the clamped channel."
        raise Unsupported("answers outside the counts need a loss that depends only on r - i", came=rule, remedy=remedy)
    if rule == losses.binary and isinstance(distribution, IntegerDistribution):
        wrong: Fraction | float = 1 - distribution.pmf(0)
        return wrong
    loss = rule.rule
    return distribution.expected_cost(
        _COST_OF_LOSS.get(rule, lambda x: (_loss_of_gap(loss, x) + _loss_of_gap(loss, -x)) / 2)
    )


def _loss_of_gap(loss: Any, gap: Any) -> Any:
    return np.asarray(loss(0, np.asarray(gap)), dtype=np.float64)


def _period_of(distribution: Distribution) -> tuple[IntegerDistribution, int, Any]:
    """Return the distribution, its period, and the factor per period; raise Unsupported if it has no period."""
    if not isinstance(distribution, IntegerDistribution) or distribution.periodicity is None:
        required = "the noise must have probabilities that fall by one factor from each period of integers to the next"
        raise Unsupported(required, came=distribution, remedy="Use Geometric or DiscreteStaircase noise.")
    return distribution, distribution.periodicity.period, distribution.periodicity.level.alpha
