"""The variance of a number over the individuals of a selection, from noisy sums, with a confidence interval.

Let c_i be the count of a selection in the i-th group of a level, x_i the number that this group stands for, N = sum
c_i, mu = sum c_i x_i / N and V = sum c_i (x_i - mu)^2 / N. For any t

    R(t) = sum c_i (x_i - t)^2 / N = V + (mu - t)^2,

and mu and R(t) are ratios of sums, for which Fieller's set has its confidence whatever the true sums are. Let t* be
that point of a fixed grid which is nearest to mu. The interval contains V = R(t) - (mu - t)^2 for every mu in the set
of the mean, the grid point t nearest to mu, and every R(t) in its own set.

*Claim.* It contains V with probability at least 1 - delta, if each set has the confidence 1 - delta/2. *Proof.* With
probability at least 1 - delta both sets contain the true mu and R(t*), which are fixed by the data, as the grid is
public. Then the true mu is in the set of the mean, its nearest grid point is t*, and V = R(t*) - (mu - t*)^2 is in the
interval. ∎ Only *one* grid point is the nearest, so that trying many points costs no confidence.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from utmost.core.exact.intervals import round_down, round_up
from utmost.core.noise.ratio_bars import FiellerSet, RatioBar

MeanAbout = Callable[[Sequence[Fraction], Fraction], FiellerSet]
"""Function from a number for each group and a confidence to Fieller's set of means over the selection."""

_GRID = 64
# most grid points tried: with more, the mean is known only to a quarter of the range of the numbers
_MOST = 16


def variance_bar(points: Sequence[Fraction], confidence: Fraction, mean_of: MeanAbout) -> RatioBar:
    """Return an interval for the variance, within [0, w^2/4] for numbers in a range of width w, or not determined."""
    low, high = min(points, default=Fraction(0)), max(points, default=Fraction(0))
    step, largest, each = (high - low) / _GRID, (high - low) ** 2 / 4, (1 + confidence) / 2
    means = mean_of(points, each)
    mean, middle = means.bar(), means.estimate
    if not mean.determined or middle is None:
        return RatioBar(None, -math.inf, math.inf, confidence)
    if not step:
        return RatioBar(0.0, 0.0, 0.0, confidence)
    least, most = (min(max(Fraction(end), low), high) for end in (mean.lower, mean.upper))
    first, last = (math.floor((end - low) / step + Fraction(1, 2)) for end in (least, most))
    near = sorted((low + at * step for at in range(first, last + 1)), key=lambda about: abs(about - middle))
    squares = mean_of([(point - near[0]) ** 2 for point in points], each)
    assert squares.estimate is not None, "the mean is determined, so that the count is not 0"
    estimate = max(0.0, float(squares.estimate - (middle - near[0]) ** 2))
    if last - first >= _MOST:
        return RatioBar(estimate, 0.0, round_up(largest), confidence)
    grid = list[tuple[FiellerSet, Fraction, Fraction, Fraction]]()
    for about in near:
        squares = mean_of([(point - about) ** 2 for point in points], each)
        # The least and the largest distance of this grid point from the means that have no nearer grid point
        begin, end = max(least, about - step / 2), min(most, about + step / 2)
        close, far = max(begin - about, about - end, Fraction(0)), max(about - begin, end - about)
        assert squares.estimate is not None, "a mean that is determined has a count"
        grid.append((squares, squares.estimate, close**2, far**2))
    # The interval of most grid points lies within that of another point: one test of the current end shows this.
    lower, upper = largest, Fraction(0)
    for squares, centre, _, far in grid:
        if lower > 0 and not (lower + far < centre and squares.is_beyond(lower + far)):
            start = squares.end(-1)
            lower = Fraction(0) if start is None else min(lower, start - far)
    for squares, centre, close, _ in reversed(grid):
        if upper < largest and not (upper + close > centre and squares.is_beyond(upper + close)):
            stop = squares.end(1)
            upper = largest if stop is None else max(upper, stop - close)
    lower, upper = max(lower, Fraction(0)), min(upper, largest)
    return RatioBar(estimate, round_down(min(lower, upper)), round_up(upper), confidence)


def deviation_bar(variance: RatioBar) -> RatioBar:
    """Return the standard deviation: the root of a variance, with the ends of its interval rounded outward."""
    if not variance.determined or variance.estimate is None:
        return variance
    lower, upper = math.sqrt(variance.lower), math.sqrt(variance.upper)
    # math.sqrt rounds to the nearest float: move an end outward if it was rounded inward.
    lower = math.nextafter(lower, 0) if Fraction(lower) ** 2 > Fraction(variance.lower) else lower
    upper = math.nextafter(upper, math.inf) if Fraction(upper) ** 2 < Fraction(variance.upper) else upper
    return RatioBar(math.sqrt(variance.estimate), lower, upper, variance.confidence)
