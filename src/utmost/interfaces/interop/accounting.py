"""Laws of noise for dp-accounting: their privacy loss distributions, and events for its accountants."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, real
from utmost.core.exact.arrays import Floats
from utmost.core.exact.numbers import natural
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.integer_law import IntegerLaw
from utmost.core.noise.law import Law
from utmost.core.sampling.draw import on_grid
from utmost.design.privacy_types.trade_off import total_variation
from utmost.interfaces.interop.packages import package

_MOST_OUTCOMES, _MOST_APART, _LEAST_MASS = 4096, 1 << 16, 1e-25
_MOST_CELLS, _MOST_EVENTS = 10**9, 10**5

Masses = dict[Any, float]
"""Outcomes and the logarithms of their probabilities."""


def privacy_loss_distribution(law: Law, cells: int = 1, *, discretization: float = 1e-4) -> Any:
    """The privacy loss of noise on ``cells`` cells, each changed by at most the sensitivity, as dp-accounting holds it.

    It is made from the pair of laws that is worst, the law and its copy shifted by the sensitivity: from the
    probabilities of the classes of outcomes that say the same. Of laws on the reals it is that of the integers that are
    drawn on the grid. Of geometric laws with more than 4096 classes, and of other laws with more than 65536 outcomes,
    several are joined, at their largest loss. What comes out errs upwards, up to the rounding of float64.

    Args:
        law: Distribution of the noise of one cell, at its share of the level.
        cells: Number of cells that one individual changes; their losses are composed.
        discretization: losses are rounded up to multiples of it.

    Returns:
        A ``dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution``: ``get_delta_for_epsilon``,
        ``get_epsilon_for_delta``, ``compose``.

    Raises:
        Unsupported: where dp-accounting is not installed.

    Source: [geng2012], equations (3) to (11), for the classes; proofs/theory/trade-off.md for the worst shift.
    """
    drawn, _ = on_grid(instance(law, Law, "law"), None)
    times, step = natural(cells, "cells", least=1, most=_MOST_CELLS), real(discretization, "discretization")
    pld = package("dp_accounting.pld.privacy_loss_distribution")
    lower, upper = worst_pair(drawn)
    distribution = pld.from_two_probability_mass_functions(lower, upper, value_discretization_interval=step)
    return distribution if times == 1 else distribution.self_compose(times)


def worst_pair(law: IntegerLaw) -> tuple[Masses, Masses]:
    """The log-probabilities of classes of outcomes under the law shifted by its sensitivity, and under the law.

    >>> lower, upper = worst_pair(Geometric(alpha="1/2"))
    >>> [round(math.exp(lower[k]), 4) for k in sorted(lower)], [round(math.exp(upper[k]), 4) for k in sorted(upper)]
    ([0.6667, 0.3333], [0.3333, 0.6667])
    """
    return _PAIRS.get(type(law), _lattice_pair)(law)


def _lattice_pair(law: IntegerLaw) -> tuple[Masses, Masses]:
    """Every outcome by itself; of more than 65536, those of nearly one loss are joined at the largest.

    What is joined keeps its mass under the law, and under the shifted law as much as its loss leaves. Outcomes beyond
    those with a probability of 1e-25 go to one that the shifted law does not have.
    """
    masses, width = law.window(_LEAST_MASS), law.sensitivity
    outcomes = np.arange(1 - masses.size, masses.size + width)
    upper: Floats = np.asarray(law.pmf(outcomes), np.float64)
    losses = np.asarray(law.logpmf(outcomes)) - np.asarray(law.logpmf(outcomes - width))
    if outcomes.size > _MOST_APART:
        cell = (losses.max() - losses.min()) / _MOST_APART
        groups: NDArray[np.int64] = np.floor((losses - losses.min()) / cell).astype(np.int64)
        largest = np.full(int(groups.max()) + 1, -np.inf)
        np.maximum.at(largest, groups, losses)
        upper, losses = np.asarray(np.bincount(groups, upper), np.float64), largest
    return _pair(upper, losses, beyond=2 * float(law.ccdf(float(masses.size - 1))))


def _pair(masses: Floats, losses: Floats, beyond: float = 0.0) -> tuple[Masses, Masses]:
    """Log-probabilities under the shifted law and the law, from masses under the law and their losses."""
    upper: Masses = {k: math.log(mass) for k, mass in enumerate(masses.tolist()) if mass > 0}
    lower: Masses = {k: mass - float(losses[k]) for k, mass in upper.items()}
    if beyond > 0:
        upper["beyond"] = math.log(beyond)
    rest = 1 - math.fsum(map(math.exp, lower.values()))
    if rest > 1e-12:
        lower["rest"] = math.log(rest)
    return lower, upper


def _staircase_pair(law: IntegerLaw) -> tuple[Masses, Masses]:
    """Three classes, of loss -epsilon, 0 and epsilon: their masses follow from the total variation."""
    epsilon = law.level.epsilon_float
    near = float(total_variation(law)) / -math.expm1(-epsilon)
    log_near, same = math.log(near), 1 - near * (1 + math.exp(-epsilon))
    upper: Masses = {1: log_near, -1: log_near - epsilon}
    if same > 0:
        upper[0] = math.log(same)
    return {-k: mass for k, mass in upper.items()}, upper


def _geometric_pair(law: IntegerLaw) -> tuple[Masses, Masses]:
    """Outcomes up to 0, each one between, and from D: loss epsilon (D - 2x)/D at x; joined, the first of a run counts.

    A run's own mass under the law stays; under the shifted law it gets no more than its loss leaves, and the rest goes
    to an outcome that the law itself does not have. That only helps the adversary.
    """
    width, epsilon = law.sensitivity, law.level.epsilon_float
    if width == 1:
        return _staircase_pair(law)
    step = -(-width // _MOST_OUTCOMES)
    starts = np.array([0, *range(1, width, step), width], dtype=np.float64)
    above = np.concatenate(([1.0], law.ccdf(starts[1:] - 1.0), [0.0]))
    masses = above[:-1] - above[1:]
    losses = epsilon * (width - 2 * starts) / width
    return _pair(masses, losses)


_PAIRS: dict[type[IntegerLaw], Callable[[IntegerLaw], tuple[Masses, Masses]]] = {
    Geometric: _geometric_pair,
    DiscreteStaircase: _staircase_pair,
}
"""Laws with fewer classes of outcomes than outcomes; all others are taken outcome by outcome."""


def dp_event(law: Law, cells: int = 1) -> Any:
    """The level of noise on ``cells`` cells as an event for dp-accounting's accountants.

    Of all mechanisms of a level, randomised response on two answers loses the most at every epsilon: the event is that,
    exactly so for the geometric law at sensitivity 1, and more than is lost for every other. The whole of what a law
    loses is in `privacy_loss_distribution`.

    Accountants take the event under ``NeighboringRelation.REPLACE_ONE``: one response instead of another. Cells are
    listed one by one: an event that repeats itself, ``SelfComposedDpEvent``, dp-accounting 0.6 counts once here.

    Args:
        law: Distribution of the noise of one cell, at its share of the level.
        cells: Number of cells that one individual changes, up to 10^5.

    Raises:
        Unsupported: where dp-accounting is not installed.
        OutOfRange: for more cells.
    """
    least = math.exp(-instance(law, Law, "law").level.epsilon_float)
    times = natural(cells, "cells", least=1, most=_MOST_EVENTS)
    accounting = package("dp_accounting")
    response = accounting.RandomizedResponseDpEvent(2 * least / (1 + least), 2)
    return response if times == 1 else accounting.ComposedDpEvent([response] * times)
