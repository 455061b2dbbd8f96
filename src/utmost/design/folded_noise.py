"""Counts released with unbounded noise on the integers, as finite channels: the tails are folded exactly.

A staircase law has P(k + D) = b P(k) for k >= 0. So all responses z, z + D, z + 2D, ... with z >= n have proportional
likelihoods, and no consumer can distinguish them: they become one outcome, as do z, z - D, ... with z <= 0. Geometric
noise has period 1, and its folded channel is the clamped mechanism G.
"""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.channels import Channel
from utmost.errors import Unsupported
from utmost.exact import Array, checked, natural
from utmost.noise import IntegerLaw, Law, costs
from utmost.spaces import Consumer, losses

_NAMED = {losses.absolute: costs.absolute, losses.squared: costs.squared}


@checked
def folded_channel(law: Law, size: int) -> Channel:
    """The channel from n + 1 counts {0, ..., n} to the classes of equivalent responses to count + noise.

    Outcome y stands for the response ``folded_responses(law, size)[y]`` and those beyond it by whole periods.

    Args:
        law: a law on the integers.
        size: how many counts there are, n + 1.

    Raises:
        Unsupported: for a law on the reals.

    >>> from utmost.channels import geometric_channel
    >>> from utmost.noise import Geometric
    >>> folded_channel(Geometric(alpha="1/2"), 4).same_as(geometric_channel(4, alpha="1/2"))
    True
    """
    period, b = _staircase(law)
    n = natural(size, "size", least=1) - 1
    z = folded_responses(law, size)
    masses = _masses(law, n + period)[abs(z[None, :] - np.arange(n + 1)[:, None])]
    total = 1 / (1 - b)
    folds = np.array([total if response <= 0 or response >= n else total / total for response in z.tolist()])
    if n == 0:  # the class of 0 is one class to the right and to the left: twice a tail less the point itself
        folds = np.array([2 * total - 1 if response == 0 else total for response in z.tolist()])
    return Channel(masses * folds)


def folded_responses(law: Law, size: int) -> Array:
    """The response nearest to the ``size`` counts 0, ..., n of each class, increasing: 1 - D, ..., n + D - 1.

    >>> from utmost.noise import DiscreteStaircase
    >>> folded_responses(DiscreteStaircase(alpha="1/2", sensitivity=2, step=1), 2).tolist()
    [-1, 0, 1, 2]
    """
    period, _ = _staircase(law)
    return np.arange(1 - period, natural(size, "size", least=1) - 1 + period)


@checked
def face_value_of_noise(law: Law, consumer: Consumer) -> Any:
    """E l(i, i + Z), the loss of taking count + noise at face value, outside 0..n too.

    Raises:
        Unsupported: when the loss is not a named function of r - i: it then says nothing about answers outside 0..n.

    >>> from utmost.noise import Geometric
    >>> from utmost.spaces import priors
    >>> face_value_of_noise(Geometric(alpha="1/3"), Consumer(priors.uniform(4), losses.binary))
    Fraction(1, 2)
    """
    rule = consumer.rule
    if rule is None or not rule.of_difference:
        remedy = "Use face_value_loss with the clamped channel."
        raise Unsupported(
            "answers outside the counts need a loss that depends on r - i alone", came=rule, remedy=remedy
        )
    if rule == losses.binary and isinstance(law, IntegerLaw):
        return 1 - law.pmf(0)
    loss = rule.rule
    return law.expected_cost(_NAMED.get(rule, lambda x: (_at(loss, x) + _at(loss, -x)) / 2))


def _at(loss: Any, gap: Any) -> Any:
    return np.asarray(loss(0, np.asarray(gap)), dtype=np.float64)


def _staircase(law: Law) -> tuple[int, Any]:
    """The period, and the factor from one period to the next."""
    if not isinstance(law, IntegerLaw):
        raise Unsupported("only noise on the integers folds into finitely many outcomes", came=law)
    return law.profile.period, law.profile.level.alpha


def _masses(law: Law, most: int) -> Array:
    """P(Z = k) for k = 0, ..., most: Fractions where alpha is rational."""
    assert isinstance(law, IntegerLaw), "folding is for laws on the integers"
    values = [law.pmf(k) for k in range(most + 1)]
    held = np.empty(len(values), dtype=object if all(isinstance(v, Fraction) for v in values) else np.float64)
    held[:] = values
    return held
