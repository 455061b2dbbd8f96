"""A consumer reads one geometric release: its best answer, what it then believes, and what it still risks."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import GeometricMatrix
from utmost.errors import NotAPrior, OutOfRange
from utmost.exact import Array, Level, Number, exact, exact_integer, frozen, is_exact, one_world, to_floats
from utmost.spaces import Consumer


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What a response tells a consumer.

    Attributes:
        action: the action with the least posterior loss; the smallest of several.
        ties: all actions with that loss, where there are several.
        posterior: (n+1,) the belief after the response.
        interval: the shortest run of counts (first, last) that holds the posterior mass asked for; the leftmost of
            several.
        mass: the posterior mass of the interval.
        loss: the expected loss of the action under the posterior.
    """

    action: int
    ties: tuple[int, ...]
    posterior: Array
    interval: tuple[int, int]
    mass: Any
    loss: Any


def read_response(level: Level, consumer: Consumer, response: int, confidence: Number = "0.95") -> Reading:
    """The best answer to a geometric response, clamped or not, for a consumer of counts 0..n.

    The posterior of count i is proportional to p_i alpha^|i - z|, where a response z outside 0..n tells what the
    nearest end tells.

    Args:
        level: the level of the release (sensitivity 1).
        consumer: a prior over n + 1 counts, and a loss.
        response: any integer.
        confidence: the posterior mass that the interval is to hold, strictly between 0 and 1.

    Raises:
        NotAPrior: when the response is impossible under the prior (only in float64, by underflow).
        OutOfRange: for a confidence outside (0, 1).

    Source: [ghosh2009], section 2.3. Cost: O(n k).

    >>> from utmost.exact import level
    >>> from utmost.spaces import losses, priors
    >>> reading = read_response(level(alpha="1/2"), Consumer(priors.from_counts([8, 4, 2, 1]), losses.binary), 2)
    >>> reading.action, reading.ties, reading.posterior.tolist()[0], reading.loss
    (0, (0, 1, 2), Fraction(4, 13), Fraction(9, 13))
    """
    share = exact(confidence, "confidence")
    if not 0 < share < 1:
        raise OutOfRange("confidence must lie strictly between 0 and 1", came=confidence)
    belief = _posterior(level, consumer.prior, exact_integer(response, "response"))
    scores = _product(belief, consumer.loss)
    least = scores.min()
    equal = np.flatnonzero(scores <= (least if is_exact(scores) else least * (1 + 2.0**-44)))
    first, last, mass = _shortest(belief, share)
    ties = tuple(int(r) for r in equal) if len(equal) > 1 else ()
    return Reading(int(equal[0]), ties, belief, (first, last), _plain(mass), _plain(scores[equal[0]]))


def _posterior(level: Level, prior: Array, response: int) -> Array:
    n = len(prior) - 1
    powers = GeometricMatrix(n, level).powers()
    weights, likelihood = one_world(prior, powers[abs(np.arange(n + 1) - min(max(response, 0), n))])
    joint = weights * likelihood
    total = joint.sum()
    if total == 0:
        mend = "Give the prior exactly, as Fractions or text, and alpha as a rational."
        raise NotAPrior("the response must be possible under the prior in float64", came=response, mend=mend)
    return frozen(np.asarray(joint / total))


def _plain(number: Any) -> Any:
    """A number in its world, without NumPy's dress."""
    return number if isinstance(number, Fraction) else float(number)


def _product(belief: Array, loss: Array) -> Array:
    b, l = one_world(belief, loss)
    return np.asarray(b @ l)


def _shortest(belief: Array, share: Fraction) -> tuple[int, int, Any]:
    """The shortest run with at least this mass, by two pointers over the sums."""
    sums = np.concatenate([np.zeros(1, dtype=belief.dtype), np.cumsum(belief)])
    wanted: Any = share if is_exact(belief) else min(float(share), float(to_floats(sums)[-1]))
    best, last = (0, len(belief) - 1), 0
    for first in range(len(belief)):
        last = max(last, first)
        while last < len(belief) and sums[last + 1] - sums[first] < wanted:
            last += 1
        if last == len(belief):
            break
        if last - first < best[1] - best[0]:
            best = (first, last)
    return best[0], best[1], sums[best[1] + 1] - sums[best[0]]
