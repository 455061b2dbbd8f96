"""Margins of sums, means and ratios that readers compute from released cells.

The noise of the cells of a release is independent, with one symmetric distribution. The error of a sum or difference of
n different cells is the sum of n independent noises; on a grid each cell was also rounded by at most half a step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, exact, natural, read_confidence
from utmost.core.noise.combination import Combination, missed_by_each
from utmost.core.noise.ratio_bars import RatioBar, fieller, ratio_of_margins
from utmost.core.noise.repeated_sums import repeated
from utmost.core.sampling.grid import FARTHEST
from utmost.errors import OutOfRange
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel


@dataclass(frozen=True, slots=True)
class CellBars:
    """Margins of results that are computed from the cells of a release with the noise ``noise``, see `cell_noise_at`.

    Every margin is proved: the probability that it holds, before the noise is drawn, is at least the confidence. Under
    a uniform prior the margin also holds with this probability after the draw, and the released value, or the sum of
    released values, is the best estimate for every symmetric loss that increases with the error.

    >>> from utmost import Unit
    >>> from utmost.releases import cell_noise_at
    >>> bars = CellBars(cell_noise_at(epsilon=1, unit=Unit(5, 1)))
    >>> bars.alone("0.95"), bars.together(12, "0.95"), bars.total(12, "0.95")
    (15, 27, 48)
    """

    noise: CellNoiseAtLevel

    def alone(self, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return the least margin of one cell."""
        return self._in_units(self.noise.drawn.margin(read_confidence(confidence)), 1)

    def together(self, count: int, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return the least margin that holds, with the probability ``confidence``, for *all* of ``count`` cells.

        Cost: that of one margin.
        """
        miss = 1 - read_confidence(confidence)
        each = missed_by_each(miss, natural(count, "count", least=1))
        return self._in_units(self.noise.drawn.margin(1 - each), 1)

    def total(self, count: int, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return a margin of a sum of ``count`` different cells, each added or subtracted; 0 for no cells.

        Cost: 10 ms for 10 cells, at most seconds for 10 000.
        """
        return self.combined([(1, natural(count, "count", least=0))], confidence)

    def means(self, count: int, other: int, confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return a margin of the mean of ``count`` cells minus the mean of ``other`` different cells."""
        n, m = natural(count, "count", least=1), natural(other, "other", least=1)
        self.noise.unit.check_adds(is_one_cell=n == m == 1, came="means of several")
        return self.combined([(Fraction(1, n), n), (Fraction(1, m), m)], confidence)

    def combined(self, counts: Sequence[tuple[Number, int]], confidence: Number = DEFAULT_CONFIDENCE) -> int | float:
        """Return a margin of a linear combination of different cells; the signs of the coefficients do not matter.

        If the noise is geometric on the integers, or all coefficients have one size, the margin follows from the
        distribution of the combination. For other noise and coefficients of several sizes, the cells are grouped by the
        size of their coefficient, each group's sum gets a margin, and these margins, which hold together with the
        probability ``confidence``, are added up.

        Args:
            counts: Pairs of the size of a coefficient and the number of cells that have this coefficient.
            confidence: Confidence of the margin.
        """
        sure, distribution, of_size = read_confidence(confidence), self.noise.drawn, dict[Fraction, int]()
        for size, count in counts:
            if count:
                of_size[exact(size)] = of_size.get(exact(size), 0) + count
        if len(of_size) > 1 and distribution.ratio is not None and self.noise.grid is None:
            steps = Combination([*of_size], distribution.ratio, counts=[*of_size.values()]).margin(sure)
            return self.noise.unit.margin(steps)
        each = 1 - (1 - sure) / max(1, len(of_size))
        margins = {
            size: self._in_units(repeated(distribution, count).margin(each), count) for size, count in of_size.items()
        }
        if of_size.keys() <= {1}:
            return sum(margins.values())
        return round_up(sum(size * exact(margin) for size, margin in margins.items()))

    def ratio(
        self,
        numerator: Number,
        denominator: Number,
        *,
        above: int,
        below: int,
        shared: int = 0,
        confidence: Number = DEFAULT_CONFIDENCE,
    ) -> RatioBar:
        """Return an interval that contains the true ratio of two sums of cells, or "not determined".

        For geometric noise on the integers the interval is Fieller's set, see `fieller`. For other noise the interval
        is wider: it follows from one margin for each sum, such that both margins hold together with the probability
        ``confidence``.

        Args:
            numerator, denominator: The two sums of released cells.
            above, below: Numbers of cells in the numerator and in the denominator.
            shared: Number of cells that are in both sums.
            confidence: Confidence of the interval, strictly between 0 and 1.

        Raises:
            OutOfRange: if there are more shared cells than a sum has cells.
            NotDetermined: if numbers of distinct values would be summed.
        """
        top, bottom = exact(numerator, "numerator"), exact(denominator, "denominator")
        sure = read_confidence(confidence)
        for count, name in ((above, "above"), (below, "below"), (shared, "shared")):
            natural(count, name, least=0)
        self.noise.unit.check_adds(is_one_cell=max(above, below) <= 1, came="a ratio of sums")
        if shared > min(above, below):
            raise OutOfRange("shared= must be at most the number of cells of each sum", came=shared, where="shared")
        distribution = self.noise.drawn
        if distribution.ratio is not None and self.noise.grid is None:
            u, v, counts = [1, 0, 1], [0, 1, 1], [above - shared, below - shared, shared]
            step = self.noise.unit.step
            return fieller(top / step, bottom / step, u, v, distribution.ratio, counts=counts, confidence=sure)
        half = 1 - (1 - sure) / 2
        up, down = exact(self.total(above, half)), exact(self.total(below, half))
        return ratio_of_margins(top, up, bottom, down, sure)

    def _in_units(self, steps: int | float, count: int) -> int | float:
        """Convert a margin from noise steps to units of values; on a grid, add the rounding of ``count`` cells."""
        if self.noise.grid is None:
            return self.noise.unit.margin(steps)
        return round_up((Fraction(steps) + count * FARTHEST) * self.noise.grid)
