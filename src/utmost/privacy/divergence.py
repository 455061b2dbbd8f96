"""How far two hypotheses are apart: the (epsilon, delta) profile and the total variation."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.exact import Interval, Level, Number, checked, exact, frozen, level, round_up
from utmost.privacy.curve import Law, curve_of

# Below half of the smallest float there is nothing left to decide: it rounds up to that float.
_FINEST = 2200


def delta(
    law: Law | Any, epsilon: Number | Level | None = None, shift: Number | None = None, *, alpha: Number | None = None
) -> Fraction | float:
    """The least delta for which the release is (epsilon, delta)-private against the shift.

    delta = max over events S of P(X + shift in S) - e^epsilon P(X in S), the hockey-stick divergence. It never grows
    when the shift shrinks inside the sensitivity, so that the default, the sensitivity itself, is the worst of all
    shifts that one individual can cause; there it is 0 exactly from the law's own epsilon on.

    Args:
        law: a law of noise, or a pair of rows of a channel (in this order: X has the first).
        epsilon, alpha: the level, one of them; here epsilon may be 0 and alpha may be 1.
        shift: any shift that `tradeoff` takes.

    Returns:
        A Fraction where law, level and answer are rational, else the float just above: a reported delta is rounded up.

    Raises:
        NotALevel: for a negative epsilon and for what is no level.

    >>> from utmost.noise import Geometric, Laplace
    >>> delta(Geometric(alpha="1/2"), 0), delta(Geometric(alpha="1/2"), alpha="3/4"), delta(Geometric(alpha="1/2"), 1)
    (Fraction(1, 3), Fraction(2, 9), 0.0)
    >>> round(delta(Laplace(epsilon=1), 0.5), 6)
    0.221199
    """
    curve, at = curve_of(law, shift), _level_or_zero(epsilon, alpha)
    if curve.is_rational and (at is None or at.is_rational):
        excess = curve.excess_exactly(at)
        if excess is not None:
            return excess
    return _rounded_up(lambda bits: curve.excess_enclosed(at, bits))


@checked
def profile(law: Law | Any, epsilons: Iterable[Number | Level], shift: Number | None = None) -> NDArray[np.float64]:
    """`delta` at each of several epsilons, as floats rounded up.

    >>> from utmost.noise import Laplace
    >>> profile(Laplace(epsilon=1), [0, 0.5, 1]).round(4).tolist()
    [0.3935, 0.2212, 0.0]
    """
    deltas = [delta(law, epsilon, shift) for epsilon in epsilons]
    return frozen(np.array([x if isinstance(x, float) else round_up(x) for x in deltas], dtype=np.float64))


def total_variation(law: Law | Any, shift: Number | None = None) -> Fraction | float:
    """The total variation between X and X + shift: the best test's lead over guessing, max of 1 - p - tradeoff(p).

    It is `delta` at epsilon 0. For a staircase law at its sensitivity it is (1 - mu) tanh(epsilon/2), where mu is the
    mass of the outcomes that tell nothing; for the Laplace law at the shift s it is 1 - exp(-epsilon s / (2 D)).

    >>> from utmost.noise import Geometric
    >>> total_variation(Geometric(alpha="1/2")), total_variation(Geometric(alpha="1/2"), shift=0)
    (Fraction(1, 3), Fraction(0, 1))
    """
    return delta(law, 0, shift)


def _level_or_zero(epsilon: Number | Level | None, alpha: Number | None) -> Level | None:
    """The level, or None for epsilon 0."""
    if alpha is None and epsilon is not None and not isinstance(epsilon, Level) and _is(epsilon, 0):
        return None
    if epsilon is None and alpha is not None and _is(alpha, 1):
        return None
    return level(epsilon, alpha)


def _is(value: Number, number: int) -> bool:
    try:
        return exact(value) == number
    except ValueError:
        return False


def _rounded_up(enclosed: Callable[[int], Interval]) -> float:
    """The float just above a number in [0, 1], from intervals fine enough to leave one or two candidates."""
    bits = 160
    while (interval := enclosed(bits)).high - interval.low > interval.low >> 60 and bits < _FINEST:
        bits *= 2
    return max(0.0, round_up(interval))
