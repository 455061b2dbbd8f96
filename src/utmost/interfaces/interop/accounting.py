"""Convert noise for dp-accounting: to privacy loss distributions, and to events for its accountants."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, real
from utmost.core.exact.arrays import Floats
from utmost.core.exact.numbers import natural
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.sampling.draw import on_grid
from utmost.design.privacy_types.trade_off import total_variation
from utmost.interfaces.interop.packages import package

_MOST_OUTCOMES, _MOST_APART, _LEAST_MASS = 4096, 1 << 16, 1e-25
_MOST_CELLS, _MOST_EVENTS = 10**9, 10**5

Masses = dict[Any, float]
"""Outcomes and the logarithms of their probabilities."""


def privacy_loss_distribution(distribution: Distribution, cells: int = 1, *, discretization: float = 1e-4) -> Any:
    """Return the privacy loss distribution of noise on ``cells`` cells, each changed by at most the sensitivity.

    Losses are computed for the worst pair: the distribution, and its copy shifted by the sensitivity. Outcomes with the
    same loss form one class. For a distribution on the reals, the function uses the distribution of the integers that
    are drawn on its grid. Beyond 4096 classes of a geometric distribution, or 65536 outcomes of another one, outcomes
    are joined, with their largest loss. The result errs upwards, up to the rounding of float64.

    Args:
        distribution: Distribution of the noise of one cell, at its share of the level.
        cells: Number of cells that one individual changes; their losses are composed.
        discretization: Losses are rounded up to multiples of this number.

    Returns:
        A ``dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution``: ``get_delta_for_epsilon``,
        ``get_epsilon_for_delta``, ``compose``.

    Raises:
        Unsupported: if dp-accounting is not installed.

    Source: [geng2012], equations (3) to (11), for the classes; proofs/theory/trade-off.md for the worst shift.
    """
    drawn, _ = on_grid(instance(distribution, Distribution, "distribution"), None)
    times, step = natural(cells, "cells", least=1, most=_MOST_CELLS), real(discretization, "discretization")
    pld = package("dp_accounting.pld.privacy_loss_distribution")
    lower, upper = worst_pair(drawn)
    losses = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=step)
    return losses if times == 1 else losses.self_compose(times)


def worst_pair(distribution: IntegerDistribution) -> tuple[Masses, Masses]:
    """Return log-probabilities of classes of outcomes: under the shifted distribution, and under the unshifted one."""
    epsilon, width = distribution.level.epsilon_float, distribution.sensitivity
    if isinstance(distribution, DiscreteStaircase) or (isinstance(distribution, Geometric) and width == 1):
        # Three classes, with losses -epsilon, 0 and epsilon; their masses follow from the total variation.
        near = float(total_variation(distribution)) / -math.expm1(-epsilon)
        log_near, same = math.log(near), 1 - near * (1 + math.exp(-epsilon))
        upper: Masses = {1: log_near, -1: log_near - epsilon}
        if same > 0:
            upper[0] = math.log(same)
        return {-k: mass for k, mass in upper.items()}, upper
    if isinstance(distribution, Geometric):
        # A class of outcomes with one loss is {x <= 0}, {x} for 0 < x < D = `width`, with loss epsilon (D - 2x)/D, or
        # {x >= D}. A run of joined classes has the loss of its first class. It keeps its mass under the distribution;
        # under the shifted distribution it gets no more than that loss allows. The rest goes to an outcome that the
        # distribution does not have, which only helps the adversary.
        starts = np.array([0, *range(1, width, -(-width // _MOST_OUTCOMES)), width], dtype=np.float64)
        above = np.concatenate(([1.0], distribution.ccdf(starts[1:] - 1.0), [0.0]))
        return _pair(above[:-1] - above[1:], epsilon * (width - 2 * starts) / width)
    # Each outcome is a class; beyond 65536, outcomes with similar losses are joined, at their largest loss. They keep
    # their mass under the distribution; the mass under the shifted distribution follows from the loss. Outcomes less
    # likely than 1e-25 become one outcome that the shifted distribution does not have.
    masses = distribution.window(_LEAST_MASS)
    outcomes = np.arange(1 - masses.size, masses.size + width)
    weights: Floats = np.asarray(distribution.pmf(outcomes), np.float64)
    losses = np.asarray(distribution.logpmf(outcomes)) - np.asarray(distribution.logpmf(outcomes - width))
    if outcomes.size > _MOST_APART:
        cell = (losses.max() - losses.min()) / _MOST_APART
        groups: NDArray[np.int64] = np.floor((losses - losses.min()) / cell).astype(np.int64)
        largest = np.full(int(groups.max()) + 1, -np.inf)
        np.maximum.at(largest, groups, losses)
        weights, losses = np.asarray(np.bincount(groups, weights), np.float64), largest
    return _pair(weights, losses, beyond=2 * float(distribution.ccdf(float(masses.size - 1))))


def _pair(masses: Floats, losses: Floats, beyond: float = 0.0) -> tuple[Masses, Masses]:
    """Return log-probabilities of the shifted and of the unshifted distribution, from unshifted masses and losses."""
    upper: Masses = {k: math.log(mass) for k, mass in enumerate(masses.tolist()) if mass > 0}
    lower: Masses = {k: mass - float(losses[k]) for k, mass in upper.items()}
    if beyond > 0:
        upper["beyond"] = math.log(beyond)
    rest = 1 - math.fsum(map(math.exp, lower.values()))
    if rest > 1e-12:
        lower["rest"] = math.log(rest)
    return lower, upper


def dp_event(distribution: Distribution, cells: int = 1) -> Any:
    """Return the privacy level of noise on ``cells`` cells, as an event for dp-accounting's accountants.

    Among all mechanisms at one level, randomised response on two answers loses the most at every epsilon. The event is
    this response: exact for the geometric distribution at sensitivity 1, an upper bound for every other distribution.
    The exact loss is in `privacy_loss_distribution`.

    Accountants take the event under ``NeighboringRelation.REPLACE_ONE``. The event lists every cell, because
    dp-accounting 0.6 counts a ``SelfComposedDpEvent`` only once here.

    Args:
        distribution: Distribution of the noise of one cell, at its share of the level.
        cells: Number of cells that one individual changes, up to 10^5.

    Raises:
        Unsupported: if dp-accounting is not installed.
        OutOfRange: if there are more than 10^5 cells.
    """
    least = math.exp(-instance(distribution, Distribution, "distribution").level.epsilon_float)
    times = natural(cells, "cells", least=1, most=_MOST_EVENTS)
    accounting = package("dp_accounting")
    response = accounting.RandomizedResponseDpEvent(2 * least / (1 + least), 2)
    return response if times == 1 else accounting.ComposedDpEvent([response] * times)
