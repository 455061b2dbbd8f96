"""Whether one private channel can be optimal for several consumers at once, and what it costs when it cannot.

A channel that every consumer u remaps to its own action a_u gives a private channel on tuples of actions (u's remaps
are drawn independently of each other), and every such channel can be remapped back. So the least total loss of one
shared channel is the optimum of a single consumer whose actions are tuples, with the losses added up. One channel is
optimal for all exactly when that total is the sum of their optima.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from utmost.core.exact.arrays import Array, as_array
from utmost.core.exact.display import Display
from utmost.core.programs.exact_optima import farkas_gap, farkas_ray
from utmost.core.programs.linear_program import LinearProgram
from utmost.design.optima.consumer_program import user_program
from utmost.design.optima.optimum import Optimum, optimal_mechanism
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.design.spaces import priors
from utmost.design.spaces.consumer import Consumer
from utmost.errors import OutOfRange


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharedOptimum(Display):
    """The best single channel for several consumers together.

    Attributes:
        alone: Optimum of each consumer by itself.
        together: Optimum of the consumer whose actions are tuples; its loss is the least total loss.
        actions: Tuples, in the order of the columns of ``together.channel``.
    """

    alone: tuple[Optimum, ...]
    together: Optimum
    actions: tuple[tuple[int, ...], ...]

    @property
    def regret(self) -> Fraction | float:
        """The least total loss of one channel, less the sum of the optima: never negative."""
        return self.together.loss - sum(optimum.loss for optimum in self.alone)

    @property
    def exists(self) -> bool:
        """Whether one channel is optimal for all: decided by the proven bounds, so exact consumers get a proof."""
        return bool(self.together.lower <= sum(optimum.loss for optimum in self.alone))


def shared_mechanism(ptype: PrivacyType, consumers: Sequence[Consumer]) -> SharedOptimum:
    """The private channel with the least total loss for several consumers, each remapping it as it likes.

    Args:
        ptype: Space and level.
        consumers: Consumers over the space's secrets; the product of their numbers of actions should be some hundreds.

    Raises:
        OutOfRange: for no consumer.

    >>> from utmost.spaces import counts

    >>> from utmost.design.spaces import losses
    >>> both = [Consumer(priors.uniform(3), loss) for loss in (losses.binary, losses.absolute)]
    >>> shared_mechanism(PrivacyType(counts(2), alpha="1/2"), both).regret
    Fraction(0, 1)
    """
    if len(consumers) == 0:
        raise OutOfRange("a shared channel needs at least one consumer", came=consumers)
    actions = tuple(product(*(range(consumer.actions) for consumer in consumers)))
    size = ptype.space.size
    loss = np.sum([_spread(consumer, [a[u] for a in actions]) for u, consumer in enumerate(consumers)], axis=0)
    together = optimal_mechanism(ptype, Consumer(priors.uniform(size), size * loss))
    return SharedOptimum(tuple(optimal_mechanism(ptype, consumer) for consumer in consumers), together, actions)


def sharing_program(ptype: PrivacyType, consumers: Sequence[Consumer], targets: Sequence[Any]) -> LinearProgram:
    """The program that has a feasible point exactly when one channel gives each consumer u a loss of ``targets[u]``.

    Its rows are those of `user_program` for channels on tuples of actions, then one row per consumer.
    """
    actions = tuple(product(*(range(consumer.actions) for consumer in consumers)))
    size = ptype.space.size
    silent = Consumer(priors.uniform(size), np.full((size, len(actions)), Fraction(0), dtype=object))
    base = user_program(ptype, silent)
    m, n = base.shape
    rows, columns, values = [np.repeat(np.arange(m), np.diff(base.starts))], [base.columns], [base.values]
    for u, consumer in enumerate(consumers):
        rows.append(np.full(n, m + u))
        columns.append(np.arange(n))
        values.append(_spread(consumer, [a[u] for a in actions]).ravel())
    return LinearProgram.of_triplets(
        base.cost,
        np.concatenate(rows),
        np.concatenate(columns),
        np.concatenate(values),
        np.append(base.lower, [-math.inf] * len(consumers)),
        np.append(base.upper, as_array(targets, "targets", ndim=1)),
    )


def sharing_refutation(ptype: PrivacyType, consumers: Sequence[Consumer]) -> Array | None:
    """Exact Farkas multipliers that no single channel is optimal for all these consumers, or None when one is.

    They belong to the rows of ``sharing_program(ptype, consumers, optima)``; `farkas_gap` checks them.
    """
    optima = [optimal_mechanism(ptype, consumer).loss for consumer in consumers]
    program = sharing_program(ptype, consumers, optima)
    ray = farkas_ray(program)
    assert ray is None or farkas_gap(program, ray) > 0, "the duals of the elastic program refute the program"
    return ray


def _spread(consumer: Consumer, choice: list[int]) -> Array:
    """p_x l(x, a_u) for every secret and every tuple."""
    return np.asarray((consumer.prior[:, None] * consumer.loss)[:, choice])
