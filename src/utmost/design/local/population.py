r"""How common each secret is among those who answered by a channel: the likeliest population, and how near it is.

Of N answers a share f_y is y. A population p makes y with probability q_y = sum_x p_x C[x, y], and the likelihood of
the answers is the exponential of N sum_y f_y log q_y, which is concave in p. The update p_x g_x, where

.. math:: g_x = \sum_y f_y\, C[x, y] / q_y,

is Bayes' rule averaged over the answers; it raises the likelihood. By concavity no population is likelier by more than
max_x g_x - 1 for each answer, in nats: that gap is computed from p alone, however p was found.

Source: [agrawal2001] (the update), [elsalamouny2020] (for channels of privacy).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from utmost.design.channels import Channel
from utmost.errors import OutOfRange
from utmost.laws.exact import Number, checked, exact, is_exact, natural, plain_array
from utmost.laws.exact.linear_algebra import independent
from utmost.laws.exact.long_work import long_work
from utmost.laws.exact.shown import Shown

# Sums of so many products of floats are off by less than this part, and a few for the quotients.
_ROUNDING = 2.0**-51


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Population(Shown):
    """The shares of the secrets that make the answers likeliest, to a gap.

    Attributes:
        shares: (n,) float64, summing to 1.
        gap: no shares make the answers likelier by more than this for each answer, in nats; rounded up.
        steps: how many updates were made.
        is_determined: whether no other population has the same law of answers; where one has, the answers cannot tell
            the two apart, however many there are. Of a channel of floats, up to their rounding.
    """

    shares: NDArray[np.float64]
    gap: float
    steps: int
    is_determined: bool


@checked
@long_work("Finding the population")
def iterative_bayesian_update(
    channel: Channel, counts: object, *, within: Number = "1e-6", steps: int = 10_000
) -> Population:
    """The population that makes the answers of a channel likeliest, by Bayes' rule again and again.

    It looks at answers alone, and costs no privacy. Beside `CategoryCounts` it takes any channel, and its shares are
    never negative; so it is biased where a share is near 0, and has no error bars.

    Args:
        channel: (n, m), by which each person's answer was drawn once.
        counts: (m,) how many answers were each outcome, in the order of the channel's outcomes.
        within: ends when the gap is at most this.
        steps: ends after so many updates, whatever the gap is then.

    Raises:
        OutOfRange: for counts that are no integers from 0 on, are all 0, or are of an outcome that never comes.

    Cost: O(n m) each step.

    Source: [agrawal2001], [elsalamouny2020].

    >>> coin = Channel([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> found = iterative_bayesian_update(coin, [500, 400])     # (2/3) p + (1/3)(1 - p) = 5/9: p = 2/3
    >>> found.shares.round(3).tolist(), found.gap < 1e-5, found.is_determined
    ([0.667, 0.333], True, True)
    """
    seen = _read_counts(counts, channel)
    matrix, shares = channel.to_floats().matrix[:, seen > 0], np.full(channel.shape[0], 1 / channel.shape[0])
    frequencies = seen[seen > 0] / seen.sum()
    enough, most = float(exact(within, "within")), natural(steps, "steps")
    rounding = (sum(channel.shape) + 4) * _ROUNDING
    for step in range(most + 1):
        raised = matrix @ (frequencies / (shares @ matrix))
        gap = max(float(raised.max()) - 1, 0.0) + rounding
        if gap <= enough or step == most:
            break
        shares = shares * raised
        shares /= shares.sum()
    shares.setflags(write=False)
    return Population(shares, gap, step, _rank(channel) == channel.shape[0])


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
    """How many rows are independent: exactly, where they are Fractions."""
    if is_exact(channel.matrix):
        return len(independent(channel.matrix)[0])
    return int(np.linalg.matrix_rank(channel.matrix))
