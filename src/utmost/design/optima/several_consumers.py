"""Decide whether one private channel can be optimal for several consumers, and compute the additional loss if it
cannot.

If every consumer u remaps the outcomes of one channel to an action a_u, independently of the others, the channel and
the remaps form a private channel whose outcomes are tuples of actions. So the least total loss with one shared channel
is the least loss of a single consumer whose actions are tuples, and whose loss is the sum of the losses. One channel is
optimal for all consumers if and only if this least total loss equals the sum of the consumers' least losses.
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
    """The single channel with the least total loss for several consumers."""

    alone: tuple[Optimum, ...]  # for each consumer, the best channel for this consumer only
    together: Optimum  # the best shared channel; its outcomes are tuples of actions, and its loss is the total loss
    actions: tuple[tuple[int, ...], ...]  # the tuple of actions for each column of together.channel

    @property
    def regret(self) -> Fraction | float:
        """The least total loss with one shared channel, minus the sum of the least losses of the consumers. The
        difference is at least 0.
        """
        return self.together.loss - sum(optimum.loss for optimum in self.alone)

    @property
    def exists(self) -> bool:
        """Whether one channel is optimal for all consumers, as far as the bounds show. For exact consumers the answer
        is proved.
        """
        return bool(self.together.lower <= sum(optimum.loss for optimum in self.alone))


def shared_mechanism(ptype: PrivacyType, consumers: Sequence[Consumer]) -> SharedOptimum:
    """Return the private channel with the least total loss for several consumers, each of whom uses their own remap."""
    # The product of the numbers of actions of the consumers should be at most some hundreds.
    if len(consumers) == 0:
        raise OutOfRange("there must be at least one consumer", came="an empty list")
    actions = tuple(product(*(range(consumer.actions) for consumer in consumers)))
    size = ptype.space.size
    loss = np.sum([_spread(consumer, [a[u] for a in actions]) for u, consumer in enumerate(consumers)], axis=0)
    together = optimal_mechanism(ptype, Consumer(priors.uniform(size), size * loss))
    return SharedOptimum(tuple(optimal_mechanism(ptype, consumer) for consumer in consumers), together, actions)


def sharing_program(ptype: PrivacyType, consumers: Sequence[Consumer], targets: Sequence[Any]) -> LinearProgram:
    """Return the program that is feasible if and only if one channel gives each consumer u a loss <= ``targets[u]``."""
    # The rows are those of `user_program` for channels on tuples of actions, followed by one row for each consumer.
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
    """Return exact Farkas multipliers that prove that no channel is optimal for all consumers; None if one channel is
    optimal for all consumers.
    """
    # The multipliers belong to the rows of ``sharing_program(ptype, consumers, optima)``; `farkas_gap` checks them.
    optima = [optimal_mechanism(ptype, consumer).loss for consumer in consumers]
    program = sharing_program(ptype, consumers, optima)
    ray = farkas_ray(program)
    assert ray is None or farkas_gap(program, ray) > 0, "the duals of the elastic program refute the program"
    return ray


def _spread(consumer: Consumer, choice: list[int]) -> Array:
    """Return p_x l(x, choice[t]) for each secret x and tuple t, of which choice[t] is the consumer's action."""
    return np.asarray((consumer.prior[:, None] * consumer.loss)[:, choice])
