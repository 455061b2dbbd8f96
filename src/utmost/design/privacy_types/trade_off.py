"""The power of an adversary's best test, and distances between two hypotheses."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import iterable
from utmost.core.exact.arrays import as_array, frozen, is_exact, objects, to_floats
from utmost.core.exact.intervals import Interval, round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.core.noise.law import Law
from utmost.core.noise.shift_curves import Curve, StaircaseCurve
from utmost.design.privacy_types.curves import curve_of
from utmost.errors import OutOfRange


def tradeoff(law: Law | Any, false_alarm: object, shift: Number | None = None) -> Any:
    r"""The smallest missed-detection probability of any test between X and X + shift.

    A test looks at one release and rejects "no shift" on a set S, or with a probability that depends on the release.
    Its false-alarm probability is P(X in S), its missed-detection probability P(X + shift not in S), and

        tradeoff(law, p) = min { P(X + shift not in S) : P(X in S) <= p },    S randomised.

    For the staircase, the geometric and the discrete staircase law it is piecewise linear with slopes -b^-j, and for
    the Laplace law linear, hyperbolic, linear; both hold at every shift, inside the sensitivity and beyond.

    Args:
        law: Law of noise; or a pair of rows of a channel, distinguished outcome by outcome.
        false_alarm: p, a number or an array in [0, 1].
        shift: Distance of the hypotheses; the law's sensitivity by default. An integer for integer laws.

    Returns:
        A number or a read-only array like ``false_alarm``: Fractions where p and the law are rational, else floats.
        A float is the value at a p within a few units in the last place of the one given.

    Raises:
        OutOfRange: when p lies outside [0, 1], or a shift is given with rows.
        NotANumber: when p or the shift is no number, or the shift no integer where the noise is.

    Cost: a closed form for each p, whatever the sensitivity and the shift; exact ones take a bisection.
    Source: [geng2012], equations (3) to (11) and (15); the other curves are derived in proofs/theory/trade-off.md.

    >>> from utmost.noise import DiscreteStaircase, Laplace
    >>> tradeoff(DiscreteStaircase(alpha="1/2", sensitivity=3, step=2), "1/6")
    Fraction(2, 3)
    >>> tradeoff(Laplace(epsilon=1), [0, 0.25, 1]).round(4).tolist()
    [1.0, 0.3679, 0.0]
    >>> tradeoff([["3/4", "1/4"], ["1/4", "3/4"]], "1/4")
    Fraction(1, 4)
    """
    return on_curve(curve_of(law, shift), false_alarm)


def frontier(false_alarm: object, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Any:
    """The smallest missed-detection probability that a level allows: max(1 - e^epsilon p, e^-epsilon (1 - p)).

    No epsilon-private mechanism of any kind has a curve below it. The geometric law at its sensitivity attains it, and
    so does the staircase of gamma = 1/2, but no other staircase and no Laplace law.

    Args:
        false_alarm: p, a number or an array in [0, 1].
        epsilon, alpha: Level, one of them.

    Source: [geng2012], equations (10) and (11).

    >>> frontier(["0", "1/3", "1"], alpha="1/2").tolist()
    [Fraction(1, 1), Fraction(1, 3), Fraction(0, 1)]
    """
    return on_curve(StaircaseCurve(level(epsilon, alpha), Fraction(1, 2), Fraction(1)), false_alarm)


def on_curve(curve: Curve, false_alarm: object) -> Any:
    """The curve's height at a number or an array of probabilities, in the kind of number they and the curve share."""
    p = as_array(false_alarm, "false_alarm")
    outside = (p < 0) | (p > 1)
    if np.any(outside):
        first = p[outside].flat[0] if p.ndim else p.item()
        raise OutOfRange("a probability must lie between 0 and 1", came=first, where="false_alarm")
    if is_exact(p) and curve.is_rational:
        heights = [curve.missed_exactly(x) for x in p.flat]
        return frozen(objects(heights, p.shape)) if p.ndim else heights[0]
    near = curve.missed(to_floats(p).ravel())
    return frozen(near.reshape(p.shape)) if p.ndim else float(near[0])


# Below half of the smallest float there is nothing left to decide: it rounds up to that float.
_MOST_BITS = 2200


def delta(
    law: Law | Any, epsilon: Number | Level | None = None, shift: Number | None = None, *, alpha: Number | None = None
) -> Fraction | float:
    """The least delta for which the release is (epsilon, delta)-private against the shift.

    delta = max over events S of P(X + shift in S) - e^epsilon P(X in S), the hockey-stick divergence. It never grows
    when the shift shrinks inside the sensitivity, so that the default, the sensitivity itself, is the worst of all
    shifts that one individual can cause; there it is 0 exactly from the law's own epsilon on.

    Args:
        law: Law of noise, or a pair of rows of a channel (in this order: X has the first).
        epsilon, alpha: Level, one of them; here epsilon may be 0 and alpha may be 1.
        shift: Any shift that `tradeoff` takes.

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


def profile(law: Law | Any, epsilons: Iterable[Number | Level], shift: Number | None = None) -> NDArray[np.float64]:
    """`delta` at each of several epsilons, as floats rounded up.

    >>> from utmost.noise import Laplace
    >>> profile(Laplace(epsilon=1), [0, 0.5, 1]).round(4).tolist()
    [0.3935, 0.2212, 0.0]
    """
    iterable(epsilons, "epsilons")
    deltas = [delta(law, epsilon, shift) for epsilon in epsilons]
    return frozen(np.array([x if isinstance(x, float) else round_up(x) for x in deltas], dtype=np.float64))


def total_variation(law: Law | Any, shift: Number | None = None) -> Fraction | float:
    """The total variation between X and X + shift: the best test's lead over guessing, max of 1 - p - tradeoff(p).

    It is `delta` at epsilon 0. For a staircase law at its sensitivity it is (1 - mu) tanh(epsilon/2), where mu is the
    mass of the outcomes that reveal nothing; for the Laplace law at the shift s it is 1 - exp(-epsilon s / (2 D)).

    >>> from utmost.noise import Geometric
    >>> total_variation(Geometric(alpha="1/2")), total_variation(Geometric(alpha="1/2"), shift=0)
    (Fraction(1, 3), Fraction(0, 1))
    """
    return delta(law, 0, shift)


def _level_or_zero(epsilon: Number | Level | None, alpha: Number | None) -> Level | None:
    """The level, or None for epsilon 0."""
    if alpha is None and epsilon is not None and not isinstance(epsilon, Level) and _equals(epsilon, 0):
        return None
    if epsilon is None and alpha is not None and _equals(alpha, 1):
        return None
    return level(epsilon, alpha)


def _equals(value: Number, number: int) -> bool:
    try:
        return exact(value) == number
    except ValueError:
        return False


def _rounded_up(enclosed: Callable[[int], Interval]) -> float:
    """The float just above a number in [0, 1], from intervals fine enough to leave one or two candidates."""
    bits = 160
    while (interval := _within_unit(enclosed, bits)).high - interval.low > interval.low >> 60 and bits < _MOST_BITS:
        bits *= 2
    return max(0.0, round_up(interval))


def _within_unit(enclosed: Callable[[int], Interval], bits: int) -> Interval:
    """The interval; all of [0, 1] where a divisor is too small for so many bits."""
    try:
        return enclosed(bits)
    except OutOfRange:
        return Interval(0, 1 << bits, bits)
