"""Compare the expected loss under Laplace noise with that of the best mechanism, for a number that is divided into fine
steps.

For a response y between two secrets k and k + 1, the cost of an action w has two parts: secrets up to k have weights
proportional to e^(-epsilon y), and the other secrets have weights proportional to e^(epsilon y). With z = e^(epsilon (y
- k)) the expected loss over the responses between k and k + 1 is

    (1/2) integral from 1 to 1/a of min_w (A_w / z^2 + B_w) dz,    A_w, B_w rational in a = e^-epsilon.

As functions of s = z^-2 the costs A_w s + B_w are lines, so the best action changes at the corners of their lower
envelope. If each corner is rounded to a rational z, the sum of the integrals is rational, and at least the exact loss.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array, fractions, is_exact
from utmost.core.exact.display import Display
from utmost.design.optima.optimum import optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces.consumer import Consumer
from utmost.design.spaces.families import LineMetric
from utmost.errors import Unsupported

_BITS = 96


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaplaceLoss(Display):
    """The expected loss of a consumer under Laplace noise, and the least expected loss under any mechanism at the same
    level.
    """

    loss: Fraction  # expected loss with the best action for each response, rounded up by less than one part in 10^20
    least: Fraction  # least expected loss of any mechanism on these secrets

    @property
    def ratio(self) -> float:
        """The loss with Laplace noise divided by the least loss; 1 if both are 0."""
        return float(self.loss / self.least) if self.least else 1.0


def laplace_loss(ptype: PrivacyType, consumer: Consumer) -> LaplaceLoss:
    """Return the expected loss of a consumer under Laplace noise on a count, and the expected loss under the best
    mechanism at the same level.

    To study a number between 0 and 1 in steps of 1/n, pass the secrets 0 to n and the level epsilon/n of one step. As n
    grows, both losses converge to the same limit, because the Laplace mechanism is optimal for every prior on
    continuous secrets.

    Args:
        ptype: Privacy type on `counts`, with rational alpha.
        consumer: Exact prior and loss.

    Raises:
        Unsupported: if the space is not one of counts, if alpha is irrational, or if the prior or the loss has floats.

    Cost: O(n k^2) operations on rationals for k actions, and the cost of `optimal_mechanism`.

    Source: [fernandes2021], Theorem 1 (continuous secrets). The formula of the integral holds for any prior and loss;
    the returned value of the integral is rounded up by less than one part in 10^20.

    >>> from utmost.design.spaces import losses, priors
    >>> from utmost.spaces import counts
    >>> for n in (1, 4, 16):
    ...     consumer = Consumer(priors.uniform(n + 1), losses.binary)
    ...     step = PrivacyType(counts(n), alpha=1 - Fraction(1, 2 * n))
    ...     print(n, round(laplace_loss(step, consumer).ratio, 5))
    1 1.06066
    4 1.00223
    16 1.00013
    """
    instance(ptype, PrivacyType, "ptype")
    instance(consumer, Consumer, "consumer")
    belief, loss = consumer.prior, consumer.loss
    is_line = isinstance(ptype.space.metric, LineMetric) and ptype.level.is_rational
    if not is_line or not is_exact(belief) or not is_exact(loss):
        raise Unsupported(
            "the loss with Laplace noise needs counts, and a rational alpha, prior and loss",
            came=repr(ptype),
            remedy='Pass PrivacyType(counts(n), alpha="1/2"), for example, and a prior and a loss of Fractions.',
        )
    a = ptype.level.alpha_fraction()
    weighed = [fractions(p * row) for p, row in zip(belief, loss, strict=True)]
    above = [np.zeros_like(weighed[0])]
    for row in reversed(weighed[1:]):
        above.append(a * (above[-1] + row))
    above.reverse()  # above[k]: prior times loss of the secrets above k, times alpha^distance from k
    below = weighed[0]
    total: Any = min(above[0] + weighed[0]) / 2
    for k, further in enumerate(above[:-1]):
        total += _between(below, further, 1 / a) / 2
        below = a * below + weighed[k + 1]
    total += min(below) / 2
    return LaplaceLoss(Fraction(total), Fraction(optimal_mechanism(ptype, consumer).loss))


def _between(below: Array, above: Array, end: Fraction) -> Fraction:
    """Return a close upper bound of the integral from 1 to ``end`` of min_w (below_w / z^2 + above_w) dz."""
    start, total = Fraction(1), Fraction(0)
    action = min(range(len(below)), key=lambda w: (below[w] + above[w], above[w]))
    while start < end:
        corners = [
            ((below[w] - below[action]) / (above[action] - above[w]), above[w], w)
            for w in range(len(below))
            if above[w] < above[action]
        ]
        square, _, following = min(corners, default=(end * end, 0, action))
        root = Fraction(isqrt((square.numerator << 2 * _BITS) // square.denominator), 1 << _BITS)
        stop = min(max(root, start), end)
        total += below[action] * (1 / start - 1 / stop) + above[action] * (stop - start)
        if square >= end * end:
            break
        start, action = stop, following
    return total
