"""Compute trade-off curves, delta for an epsilon, privacy profiles and total variation, of noise or of two rows of a
channel.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import iterable
from utmost.core.exact.arrays import as_array, frozen, is_exact, objects, to_floats
from utmost.core.exact.intervals import Interval, round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.core.noise.distribution import Distribution
from utmost.core.noise.shift_curves import Curve, StaircaseCurve
from utmost.design.privacy_types.curves import curve_of
from utmost.errors import OutOfRange


def tradeoff(distribution: Distribution | Any, false_alarm: object, shift: Number | None = None) -> Any:
    r"""Return the smallest missed-detection probability of any test between X and X + shift.

    A test observes one release, and rejects the hypothesis "no shift" if the release is in a set S, which may be
    randomised. The false-alarm probability of the test is P(X in S), its missed-detection probability is P(X + shift
    not in S), and

        tradeoff(distribution, p) = min { P(X + shift not in S) : P(X in S) <= p }.

    For the staircase, the geometric and the discrete staircase distribution the curve is piecewise linear at every
    shift, with slopes -b^-j for integers j, where b is the ratio of each probability to the next larger one. For the
    Laplace distribution the curve is linear, then hyperbolic, then linear.

    Args:
        distribution: Noise distribution, or two rows of a channel.
        false_alarm: False-alarm probability p: a number or an array in [0, 1].
        shift: Shift between the two hypotheses, an integer for integer noise; by default the sensitivity of the noise.
            Leave out ``shift`` for rows.

    Returns:
        A number or a read-only array like ``false_alarm``: Fractions if p and the distribution are rational, else
        floats. A float is the exact result for some number that differs from the given p by a few units in the last
        place.

    Raises:
        OutOfRange: if p lies outside [0, 1], or a shift is given with rows.
        NotANumber: if p or the shift is no number, or the shift of integer noise is no integer.

    Cost: a closed form for each p; an exact value needs a bisection.
    Source: [geng2012], equations (3) to (11) and (15); the other curves are derived in proofs/theory/trade-off.md.

    >>> from utmost.noise import DiscreteStaircase, Laplace
    >>> tradeoff(DiscreteStaircase(alpha="1/2", sensitivity=3, step=2), "1/6")
    Fraction(2, 3)
    >>> tradeoff(Laplace(epsilon=1), [0, 0.25, 1]).round(4).tolist()
    [1.0, 0.3679, 0.0]
    >>> tradeoff([["3/4", "1/4"], ["1/4", "3/4"]], "1/4")
    Fraction(1, 4)
    """
    return on_curve(curve_of(distribution, shift), false_alarm)


def frontier(false_alarm: object, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Any:
    """Return the smallest missed-detection probability that a level allows: max(1 - e^epsilon p, e^-epsilon (1 - p)).

    No epsilon-private mechanism has a trade-off curve below this bound. The geometric distribution at its sensitivity
    and the staircase distribution with gamma = 1/2 attain this bound; other staircases and Laplace distributions do
    not.

    Args:
        false_alarm: False-alarm probability p: a number or an array in [0, 1].
        epsilon, alpha: Level, as epsilon or as alpha.

    Source: [geng2012], equations (10) and (11).

    >>> frontier(["0", "1/3", "1"], alpha="1/2").tolist()
    [Fraction(1, 1), Fraction(1, 3), Fraction(0, 1)]
    """
    return on_curve(StaircaseCurve(level(epsilon, alpha), Fraction(1, 2), Fraction(1)), false_alarm)


def on_curve(curve: Curve, false_alarm: object) -> Any:
    """Return the missed-detection probability of a curve at each false-alarm probability, exact if rational."""
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


# With this many bits, an interval is narrower than half of the smallest float.
_MOST_BITS = 2200


def delta(
    distribution: Distribution | Any,
    epsilon: Number | Level | None = None,
    shift: Number | None = None,
    *,
    alpha: Number | None = None,
) -> Fraction | float:
    """Return the smallest delta for which a release is (epsilon, delta)-private for answers that differ by ``shift``.

    delta = max over events S of P(X + shift in S) - e^epsilon P(X in S), the hockey-stick divergence. For shifts up to
    the sensitivity, delta does not decrease with |shift|, so the default, the sensitivity, is the worst shift that one
    person can cause. At the default shift, delta is 0 if and only if epsilon is at least the epsilon of the noise.

    Args:
        distribution: Noise distribution, or two rows of a channel; the first row is the distribution of X.
        epsilon, alpha: Level, as epsilon or as alpha. Here epsilon may be 0, and alpha may be 1.
        shift: Difference of the answers; by default the sensitivity of the noise. Leave out ``shift`` for rows.

    Returns:
        A Fraction if noise, level and delta are rational, else a float, rounded up.

    Raises:
        NotALevel: if epsilon is negative, or if the level is invalid.

    >>> from utmost.noise import Geometric, Laplace
    >>> delta(Geometric(alpha="1/2"), 0), delta(Geometric(alpha="1/2"), alpha="3/4"), delta(Geometric(alpha="1/2"), 1)
    (Fraction(1, 3), Fraction(2, 9), 0.0)
    >>> round(delta(Laplace(epsilon=1), 0.5), 6)
    0.221199
    """
    curve = curve_of(distribution, shift)
    is_zero = alpha is None and epsilon is not None and not isinstance(epsilon, Level) and _equals(epsilon, 0)
    is_one = epsilon is None and alpha is not None and _equals(alpha, 1)
    at = None if is_zero or is_one else level(epsilon, alpha)
    if curve.is_rational and (at is None or at.is_rational):
        excess = curve.excess_exactly(at)
        if excess is not None:
            return excess
    # Round up the upper end of an interval so narrow that it contains at most two floats.
    bits = 160
    while True:
        try:
            interval = curve.excess_enclosed(at, bits)
        except OutOfRange:  # an interval around a divisor contains 0 at this number of bits
            interval = Interval(0, 1 << bits, bits)
        if interval.high - interval.low <= interval.low >> 60 or bits >= _MOST_BITS:
            return max(0.0, round_up(interval))
        bits *= 2


def profile(
    distribution: Distribution | Any, epsilons: Iterable[Number | Level], shift: Number | None = None
) -> NDArray[np.float64]:
    """Return `delta` at each of several epsilons, as floats rounded up.

    >>> from utmost.noise import Laplace
    >>> profile(Laplace(epsilon=1), [0, 0.5, 1]).round(4).tolist()
    [0.3935, 0.2212, 0.0]
    """
    iterable(epsilons, "epsilons")
    deltas = [delta(distribution, epsilon, shift) for epsilon in epsilons]
    return frozen(np.array([x if isinstance(x, float) else round_up(x) for x in deltas], dtype=np.float64))


def total_variation(distribution: Distribution | Any, shift: Number | None = None) -> Fraction | float:
    """Return the total variation distance of X and X + shift, the maximum over p of 1 - p - tradeoff(p).

    The total variation distance equals `delta` at epsilon 0. For a staircase distribution at its sensitivity the
    distance is (1 - mu) tanh(epsilon/2), where mu is the probability of the outcomes with likelihood ratio 1; for the
    Laplace distribution of sensitivity D at shift s the distance is 1 - exp(-epsilon s / (2 D)).

    >>> from utmost.noise import Geometric
    >>> total_variation(Geometric(alpha="1/2")), total_variation(Geometric(alpha="1/2"), shift=0)
    (Fraction(1, 3), Fraction(0, 1))
    """
    return delta(distribution, 0, shift)


def _equals(value: Number, number: int) -> bool:
    try:
        return exact(value) == number
    except ValueError:
        return False
