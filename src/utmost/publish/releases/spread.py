"""The variance of a number over the individuals of a selection, from noisy sums, with an interval that holds it.

Let c_i be the count of a selection in the groups of a level, x_i the number that a group stands for, N = sum c_i,
mu = sum c_i x_i / N and V = sum c_i (x_i - mu)^2 / N. About any t

    R(t) = sum c_i (x_i - t)^2 / N = V + (mu - t)^2,

and mu and R(t) are ratios of sums, for which Fieller's set holds the true one whatever the sums are. Let t* be the
point of a fixed grid that is nearest to mu. The interval is all that is left of V where mu lies in its set, t is the
grid point nearest to it and R(t) lies in its own.

*Claim.* It holds V with the chance 1 - delta or more, each set having 1 - delta/2. *Proof.* Both sets hold the truth
but for delta: mu and R(t*) are two numbers that the data fix, as the grid is public. Then mu is among those tried, and
with it t*, and V = R(t*) - (mu - t*)^2. ∎ Only *one* grid point is the nearest, so how many are tried costs nothing.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from utmost.laws.exact import round_down, round_up
from utmost.laws.noise.ratio_bars import RatioBar

MeanAbout = Callable[[Sequence[Fraction], Fraction], RatioBar]
"""Of numbers for the groups their mean over the selection, at a confidence."""

_GRID = 64
_MOST = 16  # the mean is known to a quarter of the whole width, or little is known of the variance


def variance_bar(points: Sequence[Fraction], confidence: Fraction, mean_of: MeanAbout) -> RatioBar:
    """Between which values the variance lies.

    Args:
        points: the number that each group of the selection stands for.
        confidence: of the interval.
        mean_of: the mean of numbers for the groups.

    Returns:
        The interval, within [0, w^2/4] for points of width w, which any variance is; not determined where the count is
        lost in noise.

    Cost: two ratios, or up to 17 where little is known of the mean.
    """
    low, high = min(points, default=Fraction(0)), max(points, default=Fraction(0))
    step, largest, each = (high - low) / _GRID, (high - low) ** 2 / 4, (1 + confidence) / 2
    mean = mean_of(points, each)
    if not mean.determined or mean.estimate is None:
        return RatioBar(None, -math.inf, math.inf, confidence)
    if not step:
        return RatioBar(0.0, 0.0, 0.0, confidence)
    least, most = (min(max(Fraction(end), low), high) for end in (mean.lower, mean.upper))
    first, last = (math.floor((end - low) / step + Fraction(1, 2)) for end in (least, most))
    lower, upper, estimate = largest, Fraction(0), 0.0
    for at in range(first, last + 1) if last - first < _MOST else ():
        about = low + at * step
        square = mean_of([(point - about) ** 2 for point in points], each)
        if not square.determined or square.estimate is None:
            return RatioBar(None, -math.inf, math.inf, confidence)
        near, far = _distances(about, max(least, about - step / 2), min(most, about + step / 2))
        lower, upper = min(lower, Fraction(square.lower) - far**2), max(upper, Fraction(square.upper) - near**2)
        estimate = square.estimate - (mean.estimate - float(about)) ** 2
    if last - first >= _MOST:
        square = mean_of([(point - low) ** 2 for point in points], each)
        estimate = (square.estimate or 0.0) - (mean.estimate - float(low)) ** 2
        lower, upper = Fraction(0), largest
    lower, upper = max(lower, Fraction(0)), min(max(upper, Fraction(0)), largest)
    return RatioBar(max(0.0, estimate), max(0.0, round_down(min(lower, upper))), round_up(upper), confidence)


def deviation_bar(variance: RatioBar) -> RatioBar:
    """The standard deviation, the root of a variance; ends are rounded outward.

    >>> print(deviation_bar(RatioBar(4.0, 1.0, 9.0, Fraction(19, 20))))
    1 to 3
    """
    if not variance.determined or variance.estimate is None:
        return variance
    lower, upper = math.sqrt(variance.lower), math.sqrt(variance.upper)
    lower = math.nextafter(lower, 0) if Fraction(lower) ** 2 > Fraction(variance.lower) else lower
    upper = math.nextafter(upper, math.inf) if Fraction(upper) ** 2 < Fraction(variance.upper) else upper
    return RatioBar(math.sqrt(variance.estimate), lower, upper, variance.confidence)


def _distances(about: Fraction, least: Fraction, most: Fraction) -> tuple[Fraction, Fraction]:
    """The least and the largest distance of a point from those between two ends."""
    below, above = about - least, most - about
    return max(-below, -above, Fraction(0)), max(below, above)
