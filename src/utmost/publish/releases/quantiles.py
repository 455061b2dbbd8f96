"""Quantiles along an ordered axis, from noisy sums: the cells that can contain a quantile, with a confidence.

Let c_i be the count of a selection in the first i cells of an axis, n its count in all cells, and 0 < q < 1. The lower
q-quantile lies in the first cell with c_i >= q n, the upper q-quantile in the first cell with c_i > q n; for the median
of an even count these may be two cells. D_i = c_i - q n is nondecreasing in i, so the lower quantile is in the first
cell with D_i >= 0, and the upper quantile in the first cell with D_i > 0.

Each D_i is a linear combination of cells, with an unbiased estimate E_i. Let r_i be a margin with P(|E_i - D_i| > r_i)
<= delta; as the noise is symmetric, E_i - D_i > r_i has probability at most delta/2, and so has D_i - E_i > r_i. The
answer consists of the cells from the first one with E_i + r_i >= 0 to the last one with E_(i-1) - r_(i-1) <= 0.

*Claim.* The answer contains both quantiles with probability at least 1 - delta, for any number of cells. *Proof.* Let l
be the cell of the lower quantile and u the cell of the upper one. The answer begins after l only if E_l + r_l < 0 <=
D_l, and ends before u only if E_(u-1) - r_(u-1) > 0 >= D_(u-1): two events with fixed indices, each of probability at
most delta/2. The answer is never empty: if it ends at a cell before the last, E_i - r_i > 0 there, so that it begins
there at the latest. ∎
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction

import numpy as np

from utmost.core.exact.display import Display
from utmost.core.exact.numbers import Number, between_0_and_1
from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.forms import ProductForm
from utmost.tables.axes.axes import Axis, Edge, Label
from utmost.tables.axes.domain import Domain

EstimatesOf = Callable[[Sequence[ProductForm]], list[tuple[Fraction, bool]]]
"""Function from linear combinations of cells to pairs: the estimate, and whether 0 is outside its margin."""


@dataclass(frozen=True, slots=True, repr=False)
class QuantileBar(Display):
    """The groups of an ordered axis that can contain a quantile.

    Attributes:
        level: Name of the level of the groups.
        q: Fraction of the individuals below the quantile, between 0 and 1.
        estimate: Label of the first group up to which the estimated fraction is q or more.
        labels: Labels of the groups that can contain the quantile, in order.
        interval: Lower edge of the first of ``labels`` and upper edge of the last, as times for periods; infinite at an
            open end.
        confidence: Probability, before the noise is drawn, that ``labels`` contain the lower and the upper quantile.
    """

    level: str
    q: Fraction
    estimate: Label
    labels: tuple[Label, ...]
    interval: tuple[Edge | datetime, Edge | datetime]
    confidence: Fraction = field(repr=False)

    def __str__(self) -> str:
        if len(self.labels) == 1:
            return f"in {self.labels[0]}"
        return f"in one of the groups {self.labels[0]} ... {self.labels[-1]}, these two included"


def quantile_bar(
    domain: Domain, selection: ProductForm, level_name: str, q: Number, confidence: Fraction, measured: EstimatesOf
) -> QuantileBar:
    """Find the groups of a level that can contain a quantile of a selection; values of `Axis.extras` do not count."""
    place, level, axis, edges = _ordered_level(domain, level_name)
    share = between_0_and_1(q, "q", "quantile")
    labels, group_of, starts = axis.labels[level], axis.group_of(level), axis.group_starts(level).tolist()
    last = len(labels) - len(axis.extras) - 1
    # D_i = c_i - q n has the coefficients 1 - q for groups up to i, -q for later groups, and 0 for the extras. They are
    # Python integers, because a q with many digits overflows NumPy's types.
    coefficients = np.array([0, -share.numerator, share.denominator - share.numerator], dtype=object)
    forms, is_ordered = [], (group_of <= last).astype(np.int64)
    for at in range(last):
        factors = list(selection.factors)
        factors[place] = factors[place] * coefficients[is_ordered + (group_of <= at)]
        forms.append(ProductForm(selection.domain, tuple(factors), selection.denominator * share.denominator))
    cuts = measured(forms)
    first = next((at for at, (value, is_out) in enumerate(cuts) if value >= 0 or not is_out), last)
    furthest = max((at + 1 for at, (value, is_out) in enumerate(cuts) if value <= 0 or not is_out), default=0)
    # The median or quantile is the first bin up to which the estimated share is q or more: with exactly half, the lower
    # bin.
    estimate = next((at for at, (value, _) in enumerate(cuts) if value >= 0), last)
    ends = [*starts[1 : last + 1], len(edges) - 1]
    interval = axis.edge_shown(edges[starts[first]]), axis.edge_shown(edges[ends[furthest]])
    possible = labels[first : furthest + 1]
    return QuantileBar(level_name, share, labels[estimate], possible, interval, confidence)


def cumulative_forms(domain: Domain, selection: ProductForm, level_name: str) -> list[ProductForm]:
    """For each group of a level, in order, return the sum of a selection up to that group, without `Axis.extras`."""
    place, level, axis, _ = _ordered_level(domain, level_name)
    group_of, forms = axis.group_of(level), []
    for last in range(axis.groups(level) - len(axis.extras)):
        factors = list(selection.factors)
        factors[place] = factors[place] * (group_of <= last).astype(object)
        forms.append(ProductForm(domain, tuple(factors), selection.denominator))
    return forms


def _ordered_level(domain: Domain, level_name: str) -> tuple[int, int, Axis, Sequence[Edge]]:
    """Return the index of an ordered axis, the index of the level on it, the axis, and its edges."""
    place, level = domain.level_named(level_name)
    axis = domain.axes[place]
    if axis.edges is None:
        ordered = [each.levels[0] for each in domain.axes if each.edges is not None]
        remedy = (
            f"In the next release declare bins of {level_name!r} with ut.workloads.edges, or for birth dates with "
            "ut.workloads.ages."
        )
        raise OutOfRange(
            "quantiles and cumulative sums need an axis of bins",
            came="another axis",
            where=repr(level_name),
            remedy=f"Ask for an axis of bins: {', '.join(map(repr, ordered))}. {remedy}" if ordered else remedy,
        )
    return place, level, axis, axis.edges
