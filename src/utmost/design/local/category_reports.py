r"""Draw reports of categories in the local model, count them without bias, and relax or tighten them to another level.

**When a report can be relaxed.** Let S_1 be a report at the lower epsilon, with d_1 categories, and S_2 a report at the
higher epsilon, with d_2 categories. S_1 and S_2 together satisfy the level of S_2 if and only if S_1 is distributed as
a post-processing of S_2: each column of the channel of S_2 is an extreme point of the private columns, so no other
joint distribution satisfies the level. A post-processing of S_2 may be made symmetric, and then contains the client's
category with a probability of at most

.. math:: p_{\max} = p_2 + (1-p_2)\frac{d_1-d_2}{k-d_2} \; (d_2 \le d_1), \qquad p_2 d_1/d_2 \; (d_1 < d_2),

with equality if S_1 is a random superset or subset of S_2. So S_1 can be relaxed to S_2 if and only if p_1 <= p_max,
which always holds for d_1 = d_2. If S_1 can be relaxed, S_1 is a random superset or subset of S_2 with probability c =
(p_1 - d_1/k)/(p_max - d_1/k), and otherwise a random set of d_1 categories.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, is_lower
from utmost.core.sampling.item_words import int64_array
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.design.geometry.refining import refines
from utmost.design.local.bits import Bits, draw_bits
from utmost.design.local.block_selection import BlockSelection
from utmost.design.local.categories import Alpha, CategoryReport, Reports, alpha_around, chances_of
from utmost.design.local.common_members import CommonMembers
from utmost.errors import OutOfRange, Unsupported

_CELLS = 1 << 22
_MOST_PAIRS = 16


def report_categories(values: Any, how: CategoryReport, *, randomness: Randomness | None = None) -> Reports:
    """Draw a report of each client's category. Each further draw spends the level again, so store the reports.

    Args:
        values: Category of each client, (clients,), integers in 0..k-1.
        how: Kind of report, with the number of categories in a report and the level.
        randomness: Source of random bits, by default the operating system.

    Raises:
        OutOfRange: if ``values`` is no array of categories.

    Cost: about k operations per client.

    >>> from utmost.local import best_report
    >>> report_categories([3, 3, 0], best_report(5, alpha="1/2")).shape
    (3, 2)
    """
    instance(how, CategoryReport, "how")
    return in_parts(how.drawn, how.categories, secure(randomness), read_values(values, how))


def tighten_categories(
    reports: Any, from_report: CategoryReport, to_report: CategoryReport, *, randomness: Randomness | None = None
) -> Reports:
    """Draw reports at a lower epsilon from reports at a higher one; this needs no categories and costs no privacy.

    Raises:
        OutOfRange: if ``to_report`` is no post-processing of ``from_report``, or if the reports are invalid.
    """
    instance(from_report, CategoryReport, "from_report")
    instance(to_report, CategoryReport, "to_report")
    pair = coupling_of(to_report, from_report)
    return in_parts(pair.tightened, to_report.categories, secure(randomness), from_report.read(reports))


def relax_categories(
    values: Any,
    reports: Any,
    from_report: CategoryReport,
    to_report: CategoryReport,
    *,
    randomness: Randomness | None = None,
) -> Reports:
    """Draw reports at a higher epsilon, given reports at a lower one; both together satisfy the higher epsilon.

    After several relaxations, all reports of a client together satisfy the level of the last relaxation. Choose levels
    from public information, never from the categories.

    Args:
        values: Category of each client, (clients,).
        reports: Reports of the clients, shape (clients, from_report.size).
        from_report: Kind of the given reports.
        to_report: Kind of the new reports; `is_lossless` must hold.
        randomness: Source of random bits, by default the operating system.

    Raises:
        OutOfRange: if no relaxation without loss is known, or if the reports are invalid.

    >>> from utmost.local import SubsetSelection
    >>> lower, higher = (SubsetSelection(5, 2, level) for level in (1, 2))
    >>> first = report_categories([3, 3, 0], lower)
    >>> relax_categories([3, 3, 0], first, from_report=lower, to_report=higher).shape
    (3, 2)
    """
    instance(from_report, CategoryReport, "from_report")
    instance(to_report, CategoryReport, "to_report")
    pair, true = coupling_of(from_report, to_report), read_values(values, from_report)
    read_reports = from_report.read(reports)
    if len(read_reports) != len(true):
        raise OutOfRange(
            "there must be one report for each client",
            came=f"{len(read_reports)} and {len(true)}",
            remedy="Pass values and reports of the same clients, in one order.",
        )
    return in_parts(pair.relaxed, from_report.categories, secure(randomness), true, read_reports)


@dataclass(frozen=True, slots=True)
class CategoryCoupling:
    """The joint distribution of a client's reports at two epsilons; given the report at the higher epsilon, the report
    at the lower epsilon does not depend on the category.

    Args:
        lower: Kind of the reports at the lower epsilon.
        higher: Kind of the reports of the same categories at the higher epsilon.

    Raises:
        OutOfRange: if ``lower`` cannot be relaxed to ``higher`` without loss, or if the reports are blocks of two
            different families.

    >>> from utmost.local import SubsetSelection
    >>> CategoryCoupling(SubsetSelection(5, 2, 1), SubsetSelection(5, 2, 2)).stays
    0.566732...
    """

    lower: CategoryReport
    higher: CategoryReport

    def __post_init__(self) -> None:
        instance(self.lower, CategoryReport, "lower")
        instance(self.higher, CategoryReport, "higher")
        if self.lower.categories != self.higher.categories:
            came = f"{self.lower.categories} and {self.higher.categories}"
            raise OutOfRange("both reports must have the same number of categories", came=came)
        is_one_kind = type(self.lower) is type(self.higher)
        is_one_family = self.lower.at(self.higher.level) == self.higher
        if not is_one_kind or not (is_one_family or self.lower.is_complete) or not is_lossless(self.lower, self.higher):
            raise OutOfRange(
                "reports at the lower epsilon must be a post-processing of the reports at the higher epsilon",
                came=f"{self.lower} and {self.higher}",
                remedy="Use the sets or blocks of one report for both: report.at(level).",
            )

    @property
    def stays(self) -> Fraction | float:
        """The probability c that S_1, at the lower epsilon, is chosen as a superset or subset of S_2."""
        (chance,) = chances_of([self._chance_of_staying], (self.lower.level, self.higher.level))
        return chance if isinstance(chance, Fraction) else float(chance(128).middle)

    def tightened(self, reports: Reports, randomness: Randomness) -> Reports:
        """Draw a report at the lower epsilon from each report at the higher epsilon."""
        stays = self._bits(np.zeros(len(reports), np.uint8), [self._chance_of_staying], randomness)
        return self.lower.tightened(reports, self.higher, stays, randomness)

    def relaxed(self, values: NDArray[np.int64], reports: Reports, randomness: Randomness) -> Reports:
        """Draw a report at the higher epsilon for each client with a report at the lower one, by Bayes' rule."""
        own = self.lower.holds(reports, values)
        # Draw whether S_2 is near S_1 (a superset or subset), and then whether S_2 contains the client's category.
        near, keeps = (
            self._bits(own.view(np.uint8), [partial(chance, has=has) for has in (False, True)], randomness)
            for chance in (self._chance_of_near, self._chance_of_keeping)
        )
        return self.higher.relaxed(self.higher.drawn(values, randomness), reports, values, near, keeps, randomness)

    def _chance_of_staying(self, a1: Alpha, a2: Alpha) -> Alpha:
        if self.lower == self.higher:
            return a1 * 0 + 1
        share = Fraction(self.lower.size, self.lower.categories)
        return (self.lower.inside_of(a1) - share) / (_most_inside(self.lower, self.higher, a2) - share)

    def _chance_of_near(self, a1: Alpha, a2: Alpha, has: bool) -> Alpha:
        """Return P(S_2 is a superset or subset of S_1 | S_1); ``has``: whether S_1 contains the client's category."""
        k, d1, d2 = self.lower.categories, self.lower.size, self.higher.size
        norm = d2 + a2 * (k - d2)
        if d2 <= d1:
            weight = (d2 + a2 * (d1 - d2)) * Fraction(k, d1) / norm if has else a2 * k / norm
        else:
            weight = k / norm if has else ((d2 - d1) + a2 * (k - d2)) * Fraction(k, k - d1) / norm
        c = self._chance_of_staying(a1, a2)
        return c * weight / (c * weight + (1 - c))

    def _chance_of_keeping(self, a1: Alpha, a2: Alpha, has: bool) -> Alpha:
        """Return P(S_2 contains the client's category | S_2 is a superset or subset of S_1) if S_1 does not decide it,
        else 0.
        """
        k, d1, d2 = self.lower.categories, self.lower.size, self.higher.size
        if d2 <= d1:
            return d2 / (d2 + a2 * (d1 - d2)) if has else a2 * 0
        return a2 * 0 if has else (d2 - d1) / ((d2 - d1) + a2 * (k - d2))

    def _bits(self, states: NDArray[np.uint8], formulas: Any, randomness: Randomness) -> Bits:
        return draw_bits(states, chances_of(formulas, (self.lower.level, self.higher.level)), randomness)


def is_lossless(lower: CategoryReport, higher: CategoryReport) -> bool:
    """Return whether reports of kind ``lower`` can be relaxed to ``higher`` at no more than the level of ``higher``.

    The result is exact: every joint distribution of the two reports is taken into account. Reports with the same sets
    or blocks can always be relaxed. If any set of a given size may be a report, p_1 <= p_max decides, where p_1 is the
    probability that a report of kind ``lower`` contains the client's category, and p_max the largest such probability
    after any post-processing of a report of kind ``higher``. For blocks of two families, p_1 <= p_max is necessary, and
    a coupling by common categories is sufficient. If neither condition decides, a linear program in rationals does.

    Raises:
        Unsupported: if the linear program is needed, and a level has an irrational alpha, or there are more than 2^16
            pairs of blocks.

    >>> from utmost.local import SubsetSelection
    >>> is_lossless(SubsetSelection(4, 2, "1/10"), SubsetSelection(4, 1, "1/2"))
    True
    >>> is_lossless(SubsetSelection(4, 2, 1), SubsetSelection(4, 1, "1.01"))
    False
    """
    instance(lower, CategoryReport, "lower")
    instance(higher, CategoryReport, "higher")
    if lower.categories != higher.categories or higher.level < lower.level:
        return False
    if lower.at(higher.level) == higher:
        return True
    if not _is_at_most(lower, higher, lambda a1, a2: (lower.inside_of(a1), _most_inside(lower, higher, a2))):
        return False
    if (lower.is_complete and higher.is_complete) or _is_at_most(lower, higher, _common_members_sides(lower, higher)):
        return True
    if lower.bits + higher.bits > _MOST_PAIRS or not (lower.level.is_rational and higher.level.is_rational):
        raise Unsupported(
            "this decision needs rational alphas and at most 2^16 pairs of blocks",
            came=f"{lower} and {higher}",
            remedy="Use the blocks of the first report for both: they can be relaxed to every level.",
        )
    return bool(refines(better=higher.channel, worse=lower.channel))


def coupling_of(lower: CategoryReport, higher: CategoryReport) -> CategoryCoupling | CommonMembers:
    """Return the joint distribution of reports of two kinds, as a `CommonMembers` or as a `CategoryCoupling`."""
    # If only the linear program of `is_lossless` finds a distribution, this function raises OutOfRange.
    is_one_family = lower.categories == higher.categories and lower.at(higher.level) == higher
    if is_one_family or (lower.is_complete and higher.is_complete) or lower.categories != higher.categories:
        return CategoryCoupling(lower, higher)
    if not higher.level < lower.level and _is_at_most(lower, higher, _common_members_sides(lower, higher)):
        return CommonMembers(lower, higher)
    return CategoryCoupling(lower, higher)


def _common_members_sides(lower: CategoryReport, higher: CategoryReport) -> Any:
    """Return a function from both alphas to two numbers; `CommonMembers` exists if the first is at most the second."""
    k, d1, d2 = lower.categories, lower.size, higher.size
    # The least number of common categories of two sets of these sizes; blocks may have more.
    fewest = max(d1 + d2 - k, 0)
    if isinstance(lower, BlockSelection) and isinstance(higher, BlockSelection):
        fewest = lower.family.least_common(higher.family)

    def sides(a1: Alpha, a2: Alpha) -> tuple[Alpha, Alpha]:
        own, most = lower.inside_of(a1) * k - d1, higher.inside_of(a2) * k - d2
        return own * (k * (k - 1) * (Fraction(d1 * d2, k) - fewest)), most * (d1 * (k - d1))

    return sides


def _is_at_most(lower: CategoryReport, higher: CategoryReport, sides: Any) -> bool:
    """Return whether the first number that ``sides`` gives is at most the second; False if they agree to 2^14 bits."""
    pair = (lower.level, higher.level)
    if all(at.is_rational for at in pair):
        first, second = sides(*(at.alpha_fraction() for at in pair))
        return bool(first <= second)

    def side(index: int, bits: int) -> Interval:
        around: Interval = sides(*(alpha_around(at, bits) for at in pair))[index]
        return around

    return bool(is_lower(partial(side, 0), partial(side, 1), 1 << 14))


def _most_inside(lower: CategoryReport, higher: CategoryReport, a2: Alpha) -> Alpha:
    k, d1, d2 = lower.categories, lower.size, higher.size
    p2 = higher.inside_of(a2)
    return p2 + (1 - p2) * Fraction(d1 - d2, k - d2) if d2 <= d1 else p2 * Fraction(d1, d2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoryCounts(Display):
    """The number of reports that contain each category, and the number of all reports.

    Attributes:
        seen: For each category, the number of reports that contain it, (k,).
        clients: Number of reports.

    >>> from utmost.local import SubsetSelection
    >>> CategoryCounts.of([[0, 1], [1, 2]], SubsetSelection(4, 2, 1)).seen.tolist()
    [1, 2, 1, 0]
    """

    seen: NDArray[np.int64]
    clients: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "clients", integer(self.clients, "clients"))
        seen = int64_array(self.seen, "counts of categories", (-1,))
        if (seen < 0).any() or (seen > self.clients).any():
            came = f"counts from {seen.min()} to {seen.max()}"
            raise OutOfRange(f"counts must lie in 0..{self.clients}, the number of reports", came=came)
        seen.setflags(write=False)
        object.__setattr__(self, "seen", seen)

    @classmethod
    def of(cls, reports: Any, how: CategoryReport) -> "CategoryCounts":
        """Count the reports that contain each category.

        Raises:
            OutOfRange: if the reports are invalid.
        """
        instance(how, CategoryReport, "how")
        read_reports = how.read(reports)
        return cls(how.holders(read_reports), len(read_reports))

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        """Return the sum of two counts, so that reports can be counted in batches."""
        if self.seen.shape != other.seen.shape:
            raise OutOfRange(
                f"both counts must have {len(self.seen)} categories",
                came=len(other.seen),
                remedy="Add only counts of the same kind of reports.",
            )
        return CategoryCounts(self.seen + other.seen, self.clients + other.clients)

    def estimates(self, how: CategoryReport) -> NDArray[np.float64]:
        """Return unbiased estimates of the number of clients in each category, (seen - q n)/(p - q); the estimates sum
        to n.
        """
        instance(how, CategoryReport, "how")
        p, q = float(how.inside), float(how.outside)
        return np.asarray((self.seen - q * self.clients) / (p - q), dtype=np.float64)

    def errors(self, how: CategoryReport) -> NDArray[np.float64]:
        """Return standard errors of `estimates` due to the random reports, at the estimated numbers of clients."""
        instance(how, CategoryReport, "how")
        own, other = how.variances
        true = np.clip(self.estimates(how), 0, self.clients)
        return np.asarray(np.sqrt(true * own + (self.clients - true) * other), dtype=np.float64)


def read_values(values: Any, how: CategoryReport) -> NDArray[np.int64]:
    """Return the categories of clients as an array; raise OutOfRange unless they are integers in 0..k-1."""
    categories = plain_array(values, "list of categories")
    whole = categories.ndim == 1 and (categories.dtype.kind in "iu" or categories.size == 0)
    if not whole or (categories.size and not 0 <= categories.min() <= categories.max() < how.categories):
        came = f"{categories.dtype} of shape {categories.shape}"
        if whole:
            wrong = int(np.argmax((categories < 0) | (categories >= how.categories)))
            came = f"another value at position {wrong}"
        remedy = "Number the categories from 0."
        required = f"categories must be a list of integers in 0..{how.categories - 1}"
        raise OutOfRange(required, came=came, where="values", remedy=remedy)
    return categories.astype(np.int64)


def in_parts(draw: Any, categories: int, randomness: Randomness, *columns: Any) -> Reports:
    """Return ``draw(*columns, randomness)``, computed for batches of clients so that memory stays bounded."""
    step, count = max(1, _CELLS // categories), len(columns[0])
    starts = range(0, max(count, 1), step)
    return np.concatenate([draw(*(column[at : at + step] for column in columns), randomness) for at in starts])
