"""The trade-off between false alarms and missed detections: what an adversary's best test achieves."""

from fractions import Fraction
from typing import Any

import numpy as np

from utmost.errors import OutOfRange
from utmost.exact import Array, Level, Number, as_array, frozen, is_exact, level, objects, to_floats
from utmost.privacy.curve import Curve, Law, curve_of
from utmost.privacy.staircase import StaircaseCurve


def tradeoff(law: Law | Any, false_alarm: object, shift: Number | None = None) -> Any:
    r"""The smallest missed-detection probability of any test between X and X + shift.

    A test looks at one release and rejects "no shift" on a set S, or with a probability that depends on the release.
    Its false-alarm probability is P(X in S), its missed-detection probability P(X + shift not in S), and

        tradeoff(law, p) = min { P(X + shift not in S) : P(X in S) <= p },    S randomised.

    For the staircase, the geometric and the discrete staircase law it is piecewise linear with slopes -b^-j, and for
    the Laplace law linear, hyperbolic, linear; both hold at every shift, inside the sensitivity and beyond.

    Args:
        law: a law of noise; or a pair of rows of a channel, told apart outcome by outcome.
        false_alarm: p, a number or an array in [0, 1].
        shift: the distance of the hypotheses; the law's sensitivity by default. An integer for integer laws.

    Returns:
        A number or a read-only array like ``false_alarm``: Fractions where p and the law are rational, else floats.
        A float is the value at a p within a few units in the last place of the one given.

    Raises:
        OutOfRange: when p lies outside [0, 1], or a shift is given with rows.
        NotANumber: when p or the shift is no number, or the shift no integer where the noise is.

    Cost: a closed form for each p, whatever the sensitivity and the shift; exact ones take a bisection.
    Source: [geng2012], equations (3) to (11) and (15); the other curves are derived in docs/theory/trade-off.md.

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
        epsilon, alpha: the level, one of them.

    Source: [geng2012], equations (10) and (11).

    >>> frontier(["0", "1/3", "1"], alpha="1/2").tolist()
    [Fraction(1, 1), Fraction(1, 3), Fraction(0, 1)]
    """
    return on_curve(StaircaseCurve(level(epsilon, alpha), Fraction(1, 2), Fraction(1)), false_alarm)


def on_curve(curve: Curve, false_alarm: object) -> Any:
    """The curve's height at a number or an array of probabilities, in the number world they and the curve share."""
    p = _probabilities(false_alarm)
    if is_exact(p) and curve.is_rational:
        heights = [curve.missed_exactly(x) for x in p.flat]
        return frozen(objects(heights, p.shape)) if p.ndim else heights[0]
    near = curve.missed(to_floats(p).ravel())
    return frozen(near.reshape(p.shape)) if p.ndim else float(near[0])


def _probabilities(values: object) -> Array:
    p = as_array(values, "false_alarm")
    outside = (p < 0) | (p > 1)
    if np.any(outside):
        first = p[outside].flat[0] if p.ndim else p.item()
        raise OutOfRange("a probability must lie between 0 and 1", came=first, where="false_alarm")
    return p
