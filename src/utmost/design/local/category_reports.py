r"""Reports of categories: drawn exactly, counted without bias, and relaxed or tightened at no loss where that can be.

**When a looser report can follow.** A report S_1 (size d_1, level 1) and a later S_2 (size d_2, looser level 2) lose
together what S_2 alone loses exactly where the law of S_1 is that of a randomised S_2: each column of S_2's law is an
extreme point of the private columns, so no other joint law keeps the level. Whatever is drawn from S_2 may be made
symmetric, and then holds the client's category with a chance between the least and

.. math:: p_{\max} = p_2 + (1-p_2)\frac{d_1-d_2}{k-d_2} \; (d_2 \le d_1), \qquad p_2 d_1/d_2 \; (d_1 < d_2),

attained by a random S_1 around S_2, or within it. So it can be exactly where p_1 <= p_max: always for one size
d_1 = d_2. S_1 is then, with probability c = (p_1 - d_1/k)/(p_max - d_1/k), such a set, and else any set of d_1.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.design.local.bits import Bits, draw_bits
from utmost.design.local.categories import Formula, SubsetSelection, value_at
from utmost.errors import OutOfRange
from utmost.laws.exact import Interval, checked, checked_parts, plain_array
from utmost.laws.exact.shown import Shown
from utmost.laws.sampling.integers import uniform_integers
from utmost.laws.sampling.item_words import int64_array
from utmost.laws.sampling.random_bits import Randomness, secure

Sets = NDArray[np.int64]
"""Reports, shape (clients, size): each row the categories of a set, ascending."""

_CELLS = 1 << 22


@checked
def report_categories(values: Any, how: SubsetSelection, *, randomness: Randomness | None = None) -> Sets:
    """A fresh report of each client's category. Drawn again it would cost the level again: keep what was drawn.

    Args:
        values: shape (clients,), integers in 0..k-1.
        how: size and level.
        randomness: the operating system's if left out.

    Raises:
        OutOfRange: for what is no array of categories.

    Cost: about k operations a client.

    >>> from utmost.design.local import best_report
    >>> report_categories([3, 3, 0], best_report(5, alpha="1/2")).shape
    (3, 2)
    """
    return _in_parts(partial(_reported, how=how), how.categories, secure(randomness), _values(values, how))


@checked
def tighten_categories(
    reports: Any, strict: SubsetSelection, loose: SubsetSelection, *, randomness: Randomness | None = None
) -> Sets:
    """Reports at ``strict`` from those at ``loose``, without the categories: they lose nothing more.

    Raises:
        OutOfRange: where the one cannot be made of the other, and for what are no such reports.
    """
    pair = CategoryCoupling(strict, loose)
    return _in_parts(pair.tightened, strict.categories, secure(randomness), _sets(reports, loose))


@checked
def relax_categories(
    values: Any, reports: Any, strict: SubsetSelection, loose: SubsetSelection, *, randomness: Randomness | None = None
) -> Sets:
    """Reports at ``loose``, given those at ``strict``: together they lose what those at ``loose`` lose.

    Relaxed again and again, all reports of a client together lose what the last one loses. Choose levels from what is
    public, never from what clients have.

    Args:
        values: the clients' categories.
        reports: theirs at ``strict``, shape (clients, strict.size).
        strict, loose: size and level before and after; see `CategoryCoupling`.
        randomness: the operating system's if left out.

    Raises:
        OutOfRange: where no relaxation without loss exists, and for what are no such reports.

    >>> strict, loose = (SubsetSelection(5, 2, level) for level in (1, 2))
    >>> first = report_categories([3, 3, 0], strict)
    >>> relax_categories([3, 3, 0], first, strict, loose).shape
    (3, 2)
    """
    pair, true = CategoryCoupling(strict, loose), _values(values, strict)
    read_reports = _sets(reports, strict)
    if len(read_reports) != len(true):
        raise OutOfRange("there must be one report for each client", came=f"{len(read_reports)} and {len(true)}")
    return _in_parts(pair.relaxed, strict.categories, secure(randomness), true, read_reports)


@checked_parts
@dataclass(frozen=True, slots=True)
class CategoryCoupling:
    """The joint law of a strict and a loose report in which the strict one depends on the loose one only.

    Args:
        strict, loose: reports of the same categories.

    Raises:
        OutOfRange: where there is none, so that no lossless relaxation exists from the one to the other.

    >>> CategoryCoupling(SubsetSelection(5, 2, 1), SubsetSelection(5, 2, 2)).stays
    0.566732...
    """

    strict: SubsetSelection
    loose: SubsetSelection

    def __post_init__(self) -> None:
        if self.strict.categories != self.loose.categories:
            came = f"{self.strict.categories} and {self.loose.categories}"
            raise OutOfRange("both reports must be of the same categories", came=came)
        if not is_lossless(self.strict, self.loose):
            raise OutOfRange(
                "the stricter report must be a randomised looser one",
                came=f"{self.strict} and {self.loose}",
                remedy="Keep one size for both levels: then it is, at any two.",
            )

    @property
    def stays(self) -> Fraction | float:
        """c, the chance that the strict report lies around the loose one, or within it."""
        chance = self._chance(lambda a1, a2: self._c(a1, a2), 128)
        return chance if isinstance(chance, Fraction) else float(chance.middle)

    def tightened(self, loose: Sets, randomness: Randomness) -> Sets:
        """A strict report from each loose one."""
        k, d1, d2 = self.strict.categories, self.strict.size, self.loose.size
        stays = self._drawn(np.zeros(len(loose), np.uint8), [self._c], randomness)
        sets = _chosen(_everything(len(loose), k), d1, randomness)
        near, extra = loose[stays], _others(loose[stays], k)
        if d2 <= d1:
            sets[stays] = np.concatenate([near, _chosen(extra, d1 - d2, randomness)], axis=1)
        else:
            sets[stays] = _chosen(near, d1, randomness)
        return np.sort(sets, axis=1)

    def relaxed(self, values: NDArray[np.int64], strict: Sets, randomness: Randomness) -> Sets:
        """A loose report for each client with a strict one: by Bayes' rule, in two steps."""
        k, d1, d2 = self.strict.categories, self.strict.size, self.loose.size
        own = (strict == values[:, None]).any(axis=1)
        near = self._drawn(own.view(np.uint8), [partial(self._nearby, has=has) for has in (False, True)], randomness)
        keeps = self._drawn(own.view(np.uint8), [partial(self._keeps, has=has) for has in (False, True)], randomness)
        loose_reports = _reported(values, randomness, how=self.loose)
        for has in (False, True):
            rows = np.flatnonzero(near & (own == has))
            sets, x, kept_value = strict[rows], values[rows], keeps[rows]
            if d2 <= d1:
                base, pool, wanted = sets[:, :0], _without(sets, x) if has else sets, d2
                may_keep = has
            else:
                rest = _others(sets, k)
                base, pool, wanted = sets, rest if has else _without(rest, x), d2 - d1
                may_keep = not has
            completed = np.empty((len(rows), wanted), np.int64)
            drawn = min(wanted, pool.shape[1])
            completed[:, :drawn] = _chosen(pool, drawn, randomness)
            if may_keep and wanted:
                completed[kept_value, -1] = x[kept_value]
            loose_reports[rows] = np.concatenate([base, completed], axis=1)
        return np.sort(loose_reports, axis=1)

    def _c(self, a1: Any, a2: Any) -> Any:
        if self.strict == self.loose:
            return a1 * 0 + 1
        share = Fraction(self.strict.size, self.strict.categories)
        return (self.strict.inside_of(a1) - share) / (_most_inside(self.strict, self.loose, a2) - share)

    def _nearby(self, a1: Any, a2: Any, has: bool) -> Any:
        """P(S_2 is one of the near sets | S_1), where S_1 holds the own category or not."""
        k, d1, d2 = self.strict.categories, self.strict.size, self.loose.size
        norm = d2 + a2 * (k - d2)
        if d2 <= d1:
            weight = (d2 + a2 * (d1 - d2)) * Fraction(k, d1) / norm if has else a2 * k / norm
        else:
            weight = k / norm if has else ((d2 - d1) + a2 * (k - d2)) * Fraction(k, k - d1) / norm
        c = self._c(a1, a2)
        return c * weight / (c * weight + (1 - c))

    def _keeps(self, a1: Any, a2: Any, has: bool) -> Any:
        """P(S_2 holds the own category | it is near), where that is open: in S_1 as it shrinks, outside as it grows."""
        k, d1, d2 = self.strict.categories, self.strict.size, self.loose.size
        if d2 <= d1:
            return d2 / (d2 + a2 * (d1 - d2)) if has else a2 * 0
        return a2 * 0 if has else (d2 - d1) / ((d2 - d1) + a2 * (k - d2))

    def _drawn(self, states: NDArray[np.uint8], formulas: Any, randomness: Randomness) -> Bits:
        chances = [partial(self._chance, formula) for formula in formulas]
        if self.strict.level.is_rational and self.loose.level.is_rational:
            return draw_bits(states, [chance(0) for chance in chances], randomness)
        return draw_bits(states, [_known(chance) for chance in chances], randomness)

    def _chance(self, formula: Any, bits: int) -> Any:
        """A function of both alphas: a Fraction where both are rational, else an interval of so many bits or more."""
        strict, loose = self.strict.level, self.loose.level
        if strict.is_rational and loose.is_rational:
            return formula(strict.alpha_fraction(), loose.alpha_fraction())
        whole = bits + _GUARD + 4 * int(2 * max(strict.epsilon_float, loose.epsilon_float) + 64)
        return formula(*(_interval(at, whole) for at in (strict, loose)))


_GUARD = 64


def _known(chance: Any) -> Any:
    return lambda bits: _within(chance(bits)).at(bits)


def _within(interval: Interval) -> Interval:
    """The interval cut to 0..1, where a chance lies."""
    unit = 1 << interval.bits
    return Interval(min(max(interval.low, 0), unit), min(max(interval.high, 0), unit), interval.bits)


def _interval(at: Any, bits: int) -> Interval:
    return Interval.of(at.alpha_fraction(), bits) if at.is_rational else at.alpha_interval(bits)


@checked
def is_lossless(strict: SubsetSelection, loose: SubsetSelection) -> bool:
    """Whether reports at ``strict`` can be relaxed to ``loose`` so that both together lose the looser level alone.

    It is necessary and sufficient, over all joint laws with these two margins; by the inequality above.

    >>> is_lossless(SubsetSelection(4, 2, "1/10"), SubsetSelection(4, 1, "1/2"))
    True
    >>> is_lossless(SubsetSelection(4, 2, 1), SubsetSelection(4, 1, "1.01"))
    False
    """
    if strict.categories != loose.categories or loose.level < strict.level:
        return False
    if strict.size == loose.size:
        return True
    pair = (strict.level, loose.level)
    if all(at.is_rational for at in pair):
        most = _most_inside(strict, loose, loose.level.alpha_fraction())
        return bool(strict.inside_of(strict.level.alpha_fraction()) <= most)
    bits = 256
    while True:
        alphas = [_interval(at, bits) for at in pair]
        mine, most = strict.inside_of(alphas[0]), _most_inside(strict, loose, alphas[1])
        if mine.is_below(most) or most.is_below(mine):
            return bool(mine.is_below(most))
        if bits > 1 << 14:
            return False
        bits *= 2


def _most_inside(strict: SubsetSelection, loose: SubsetSelection, a2: Any) -> Any:
    k, d1, d2 = strict.categories, strict.size, loose.size
    p2 = loose.inside_of(a2)
    return p2 + (1 - p2) * Fraction(d1 - d2, k - d2) if d2 <= d1 else p2 * Fraction(d1, d2)


@checked_parts
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CategoryCounts(Shown):
    """In how many reports each category stands, and of how many clients.

    Attributes:
        seen: shape (k,).
        clients: how many reports there are.

    >>> CategoryCounts.of([[0, 1], [1, 2]], SubsetSelection(4, 2, 1)).seen.tolist()
    [1, 2, 1, 0]
    """

    seen: NDArray[np.int64]
    clients: int

    def __post_init__(self) -> None:
        seen = int64_array(self.seen, "counts of categories", (-1,))
        if (seen < 0).any() or (seen > self.clients).any():
            raise OutOfRange("no category can stand in more reports than there are, or fewer than 0", came=seen.shape)
        seen.setflags(write=False)
        object.__setattr__(self, "seen", seen)

    @classmethod
    @checked
    def of(cls, reports: Any, how: SubsetSelection) -> "CategoryCounts":
        """The counts of reports, shape (clients, size).

        Raises:
            OutOfRange: for what are no such reports.
        """
        sets = _sets(reports, how)
        return cls(np.bincount(sets.ravel(), minlength=how.categories), len(sets))

    def __add__(self, other: "CategoryCounts") -> "CategoryCounts":
        """The counts of both: reports can be counted batch by batch."""
        if self.seen.shape != other.seen.shape:
            raise OutOfRange("counts must be of the same categories to be added", came=other.seen.shape)
        return CategoryCounts(self.seen + other.seen, self.clients + other.clients)

    @checked
    def estimates(self, how: SubsetSelection) -> NDArray[np.float64]:
        """Unbiased estimates of the number of clients in each category, (seen - q n)/(p - q); they sum to n."""
        p, q = float(how.inside), float(how.outside)
        return np.asarray((self.seen - q * self.clients) / (p - q), dtype=np.float64)

    @checked
    def errors(self, how: SubsetSelection) -> NDArray[np.float64]:
        """The standard errors of the estimates, by the reports alone, at the estimated numbers of clients."""
        own, other = how.variances
        true = np.clip(self.estimates(how), 0, self.clients)
        return np.asarray(np.sqrt(true * own + (self.clients - true) * other), dtype=np.float64)


def _values(values: Any, how: SubsetSelection) -> NDArray[np.int64]:
    categories = plain_array(values, "list of categories")
    whole = categories.ndim == 1 and (categories.dtype.kind in "iu" or categories.size == 0)
    if not whole or (categories.size and not 0 <= categories.min() <= categories.max() < how.categories):
        raise OutOfRange(
            f"categories must be a list of integers in 0..{how.categories - 1}", came="another", where="values"
        )
    return categories.astype(np.int64)


def _sets(reports: Any, how: SubsetSelection) -> Sets:
    sent = plain_array(reports, "list of reports")
    if sent.ndim != 2 or sent.shape[1] != how.size or sent.dtype.kind not in "iu":
        raise OutOfRange(
            f"reports must be integers of the shape (clients, {how.size})", came=sent.shape, where="reports"
        )
    sets = np.sort(sent.astype(np.int64), axis=1)
    if sets.size and (sets.min() < 0 or sets.max() >= how.categories or (sets[:, 1:] == sets[:, :-1]).any()):
        required = f"a report must hold {how.size} different categories in 0..{how.categories - 1}"
        raise OutOfRange(required, came="another", where="reports")
    return sets


def _in_parts(draw: Any, categories: int, randomness: Randomness, *columns: Any) -> Sets:
    """What is drawn for some clients at a time, so that memory stays bounded."""
    step, count = max(1, _CELLS // categories), len(columns[0])
    starts = range(0, max(count, 1), step)
    return np.concatenate([draw(*(column[at : at + step] for column in columns), randomness) for at in starts])


def _reported(values: NDArray[np.int64], randomness: Randomness, how: SubsetSelection) -> Sets:
    """d of the k - 1 others in random order, the last of which gives way to the own category where that is in."""
    k = how.categories
    others = _chosen(_everything(len(values), k - 1), how.size, randomness)
    others += others >= values[:, None]
    inside = _inside(how)
    own = draw_bits(np.zeros(len(values), np.uint8), [inside], randomness)
    others[own, -1] = values[own]
    return np.sort(others, axis=1)


def _inside(how: SubsetSelection) -> Any:
    if how.level.is_rational:
        return how.inside_of(how.level.alpha_fraction())
    formula: Formula = how.inside_of
    return lambda bits: _within(value_at(how.level, formula, bits + _GUARD)).at(bits)  # type: ignore[arg-type]


def _everything(count: int, size: int) -> Sets:
    return np.tile(np.arange(size, dtype=np.int64), (count, 1))


def _others(sets: Sets, categories: int) -> Sets:
    """The categories that are not in each set, ascending."""
    inside = np.zeros((len(sets), categories), np.bool_)
    np.put_along_axis(inside, sets, True, axis=1)
    return np.nonzero(~inside)[1].reshape(len(sets), categories - sets.shape[1]).astype(np.int64)


def _without(sets: Sets, values: NDArray[np.int64]) -> Sets:
    """Each set without one of its members."""
    return np.asarray(sets[sets != values[:, None]]).reshape(len(sets), max(sets.shape[1] - 1, 0))


def _chosen(pool: Sets, size: int, randomness: Randomness) -> Sets:
    """Of each row so many members in uniformly random order: the first steps of a shuffle."""
    rows, shuffled = np.arange(len(pool)), pool.copy()
    for at in range(size):
        other = at + uniform_integers(pool.shape[1] - at, len(pool), randomness)
        shuffled[rows, at], shuffled[rows, other] = shuffled[rows, other], shuffled[rows, at].copy()
    return shuffled[:, :size]
