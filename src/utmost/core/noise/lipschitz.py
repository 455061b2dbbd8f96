"""Lipschitz privacy of noise: whether values at every distance d are hidden from each other at d times one level.

Ordinary privacy bounds what a change by the whole sensitivity shows, and a small change may show as much. A law is
Lipschitz private at epsilon where log f is Lipschitz with constant epsilon: then a change by d shows d epsilon, for all
d. That is metric privacy on the line of values.
"""

from collections.abc import Mapping
from typing import Any

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.noise.law import Law
from utmost.errors import OutOfRange


def lipschitz_level(law: Any) -> Level | None:
    """The smallest level of one unit at which a law is Lipschitz private; None where there is none.

    On the integers a staircase falls by its whole level from one integer to the next, once a period; the geometric law
    by the level over the sensitivity at each. On the reals log f has the slope of the rate for Laplace noise; a
    staircase jumps, and has none. A table {integer: probability} has a first and a last value, and none.

    Args:
        law: a law of noise on the integers or the reals, or a table.

    Raises:
        OutOfRange: for what is no such law.

    Source: [koufogiannis2015], definition 2 and section 5.

    >>> from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
    >>> lipschitz_level(Geometric(1, 5)), lipschitz_level(DiscreteStaircase(1, 5)), lipschitz_level(Laplace(1, 5))
    (level(epsilon='1/5'), level(epsilon=1), level(epsilon='1/5'))
    >>> lipschitz_level(Staircase(1, 5)) is None
    True
    """
    if isinstance(law, Law):
        return law.lipschitz_level
    if isinstance(law, Mapping):
        return None
    raise OutOfRange("a law of noise, or a table {integer: probability}, is needed", came=type(law).__name__)


def is_lipschitz_private(law: Any, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> bool:
    """Whether values at distance d are hidden from each other at d times the level, for every d.

    Args:
        law: as for `lipschitz_level`.
        epsilon, alpha: the level of one unit, one of them.

    Raises:
        NotALevel, OutOfRange: for what is no level or no law.

    >>> from utmost.noise import Geometric
    >>> is_lipschitz_private(Geometric(1, 5), "1/5"), is_lipschitz_private(Geometric(1, 5), "1/6")
    (True, False)
    """
    least, claimed = lipschitz_level(law), level(epsilon, alpha)
    return least is not None and not claimed < least
