"""Lipschitz privacy of noise: outputs for two values at distance d have a privacy loss of at most d epsilon.

Ordinary privacy bounds the loss for a change by the whole sensitivity, and a small change may lose as much. Noise with
density f is Lipschitz private at epsilon if log f is Lipschitz with constant epsilon: then the privacy loss for a
change by d is at most d epsilon, for all d. Lipschitz privacy is metric privacy on the real line.
"""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.noise.distribution import Distribution
from utmost.errors import OutOfRange


def lipschitz_level(distribution: Any) -> Level | None:
    """The smallest level per unit at which noise is Lipschitz private, or None if there is none.

    A staircase on the integers needs its whole level for one unit, since its log-probability decreases by epsilon
    between two neighbouring integers once a period. Geometric noise needs the level divided by the sensitivity, and
    Laplace noise on the reals its `rate`, the slope of log f. A staircase on the reals jumps, and a table {integer:
    probability} has finitely many values: both are Lipschitz private at no level.

    Args:
        distribution: Distribution of noise on the integers or the reals, or a table {integer: probability}.

    Raises:
        OutOfRange: if the argument is anything else.

    Source: [koufogiannis2015], definition 2 and section 5.

    >>> from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
    >>> lipschitz_level(Geometric(1, 5)), lipschitz_level(DiscreteStaircase(1, 5)), lipschitz_level(Laplace(1, 5))
    (level(epsilon='1/5'), level(epsilon=1), level(epsilon='1/5'))
    >>> lipschitz_level(Staircase(1, 5)) is None
    True
    """
    if isinstance(distribution, Distribution):
        return distribution.lipschitz_level
    if isinstance(distribution, Mapping):
        return None
    raise OutOfRange(
        "distribution must be a distribution of noise, or a table {integer: probability}",
        came=type(distribution).__name__,
    )


def is_lipschitz_private(
    distribution: Any, epsilon: Number | Level | None = None, *, alpha: Number | None = None
) -> bool:
    """Whether the privacy loss between any two values at distance d is at most d times the epsilon of the level.

    Args:
        distribution: Distribution of noise, or a table {integer: probability}.
        epsilon, alpha: Level per unit, as epsilon or as alpha.

    Raises:
        NotALevel, OutOfRange: if the level is invalid, or if ``distribution`` is anything else.

    >>> from utmost.noise import Geometric
    >>> is_lipschitz_private(Geometric(1, 5), "1/5"), is_lipschitz_private(Geometric(1, 5), "1/6")
    (True, False)
    """
    least, claimed = lipschitz_level(distribution), level(epsilon, alpha)
    return least is not None and not claimed < least
