"""Compare the same sum in several releases: its changes, with margins that hold for each or for all together.

The noises of two releases are independent, even if both count the same people, so the error of a change is a sum of
independent noises. Two answers of *one* release at two levels are not independent, and need no comparison: the answer
at the larger epsilon contains all information of the other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

from utmost.core.exact.arguments import instance, mapping, optional, sequence, text
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_down, round_up
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.combination import Combination, missed_by_each
from utmost.core.noise.ratio_bars import RatioBar
from utmost.errors import OutOfRange
from utmost.publish.promises.ledger_facts import PROCESS_NAME
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.estimates import Estimate, estimate_of
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.released_cells import Combined, IndependentCells, ReleasedCells, plain_number, sum_of
from utmost.tables.axes.domain import Where


@dataclass(frozen=True, slots=True, repr=False)
class Trend(Display):
    """The same sum in several releases, and its change from each release to the next.

    Attributes:
        values: Sum of each release; with the probability ``confidence`` all true sums lie within their margins.
        changes: Change from each release to the next; with the probability ``confidence`` all true changes lie within
            their margins.
        confidence: Probability that the margins of all values hold, and also that the margins of all changes hold.
    """

    values: tuple[Estimate, ...]
    changes: tuple[Estimate, ...]
    confidence: Fraction


def change(
    later: Answer[Any],
    earlier: Answer[Any],
    where: Where | None = None,
    *,
    earlier_where: Where | None = None,
    column: str | None = None,
    confidence: Number | None = None,
) -> Estimate:
    """Return a sum in one release minus the same sum in another, with a margin for the noise of both.

    Args:
        later, earlier: Two answers with independent noise: two tables, two answers by plans, or one of each kind.
        where: Selection of cells: a mapping from names of levels or of public columns to one label or a list of labels.
        earlier_where: Selection of the same cells in the earlier release, if that release has other labels.
        column: Name of the released column, if a table has several.
        confidence: Confidence of the margin; that of the later release if left out.

    Raises:
        OutOfRange: if both answers come from one release.
        OutOfRange, BadTable: if a release does not have a level, column or label of the selection.
        NotDetermined: if the measured marginals do not determine the sum.

    Cost: two calls of `Answer.total`.

    >>> import numpy as np
    >>> from utmost.workloads import Domain
    >>> from utmost.privacy import Unit
    >>> from utmost import release
    >>> from utmost.workloads import Plan
    >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 1), {"sex": 1})
    >>> years = [release(np.array(people), plan, epsilon=1) for people in ([512, 89], [530, 97])]
    >>> change(years[1], years[0], {"sex": "men"}).margin
    4
    """
    _check_different_releases([later, earlier])
    first = _Sum.of(later, where, column)
    second = _Sum.of(earlier, where if earlier_where is None else earlier_where, column)
    sure = _confidence(confidence, later)
    return replace(first.minus(second).answer(_at_one_level(sure, [later, earlier])), confidence=sure)


def change_of_bars(
    later: Answer[Any], earlier: Answer[Any], ask: Callable[[Answer[Any], Fraction], RatioBar], confidence: Number
) -> RatioBar:
    """Return an interval for the change of a ratio or mean between two releases; ``ask`` computes it in one of them."""
    _check_different_releases([later, earlier])
    sure = read_confidence(confidence)
    each = (1 + sure) / 2  # both intervals hold with the confidence, by a union bound
    one, other = ask(later, each), ask(earlier, each)
    if one.estimate is None or other.estimate is None or not (one.determined and other.determined):
        return RatioBar.undetermined(sure)
    low, high = Fraction(one.lower) - Fraction(other.upper), Fraction(one.upper) - Fraction(other.lower)
    return RatioBar(float(Fraction(one.estimate) - Fraction(other.estimate)), round_down(low), round_up(high), sure)


def trend(
    answers: Sequence[Answer[Any]],
    where: Where | None = None,
    *,
    each_where: Sequence[Where] | None = None,
    column: str | None = None,
    confidence: Number | None = None,
) -> Trend:
    """Return one sum in several releases, and its change from each release to the next; all margins hold together.

    Args:
        answers: At least two answers with independent noise.
        where, column: Arguments of `change`.
        each_where: List of selections, one for each answer, if the labels of the releases differ.
        confidence: Probability that the margins of all values hold, and also that the margins of all changes hold. If
            left out, the confidence of the first answer.

    Raises:
        OutOfRange, NotDetermined: as for `change`.

    Cost: two calls of `Answer.total` for each answer.
    """
    sequence(answers, "answers")
    if len(answers) < 2:
        raise OutOfRange(
            "a trend needs at least two answers",
            came=len(answers),
            remedy="Pass the answers in a list, the oldest first: [first, second].",
        )
    _check_different_releases(answers)
    sure = _confidence(confidence, answers[0])
    chosen = [where] * len(answers) if each_where is None else sequence(each_where, "each_where")
    if len(chosen) != len(answers):
        raise OutOfRange(
            f"each_where= must have {len(answers)} selections, one for each answer",
            came=len(chosen),
            remedy="Pass one selection for each answer; or pass where=, one selection for all answers.",
        )
    sums = [_Sum.of(answer, selection, column) for answer, selection in zip(answers, chosen, strict=True)]
    changes, fixed = [after.minus(before) for before, after in pairwise(sums)], _at_one_level(sure, answers)
    each = 1 - missed_by_each(
        1 - fixed, len(sums)
    )  # values are independent; two consecutive changes share a release, so they are not
    return Trend(
        tuple(total.answer(each) for total in sums),
        tuple(moved.answer(1 - (1 - fixed) / len(changes)) for moved in changes),
        sure,
    )


def _confidence(confidence: Number | None, answer: Answer[Any]) -> Fraction:
    if confidence is not None:
        return read_confidence(confidence)
    return answer.confidence


def _at_one_level(sure: Fraction, answers: Sequence[Answer[Any]]) -> Fraction:
    """Return the confidence at a fixed level that gives the confidence ``sure`` if stopping rules choose levels."""
    # This is a union bound over all combinations of levels at which the rules could have stopped.
    for answer in answers:
        if answer.stop is not None:
            sure = answer.stop.at_one_level(sure)
    return sure


def _check_different_releases(answers: Sequence[Answer[Any]]) -> None:
    """Refuse to compare two answers of one release (--since), because their noise is dependent."""
    for answer in answers:
        instance(answer, Answer, "an answer")
    if any(_may_share_noise(one, other) for one, other in combinations(answers, 2)):
        remedy = (
            "Compare releases of different data; for two sums of one release use answer.difference(first, second), or "
            "utmost read RELEASE --where LABELS --minus LABELS."
        )
        raise OutOfRange(
            "answers that are compared must come from different releases",
            came="two answers of one release",
            remedy=remedy,
        )


def _may_share_noise(one: Answer[Any], other: Answer[Any]) -> bool:
    known, also = one.ledger_facts, other.ledger_facts
    if known is not None and also is not None:
        if (known.name, known.data_version) != (also.name, also.data_version):
            return False
        memories = one.memory_identity, other.memory_identity
        if None not in memories:
            return memories[0] == memories[1]
        if known.name != PROCESS_NAME:  # a file does not name its ledger, so the noise may be shared
            return True
        # Releases of all processes have the same name; of two answers of one release, the later one lists the earlier
        # level.
        if one.level != other.level:
            return one.level in also.levels or other.level in known.levels
        return _digest(one) == _digest(other)
    return known is also and _digest(one) == _digest(other)


def _digest(answer: Answer[Any]) -> str:
    sums = answer.table
    return sums.digest if isinstance(sums, NoisySums) else cells_digest(sums)["sha256"]


@dataclass(frozen=True, slots=True)
class _Sum:
    """A sum with its error: as a distribution, or if none is known, by the independent sums ``parts``."""

    value: Fraction
    distribution: Combination | None
    parts: tuple[tuple[ReleasedCells, str, Combined], ...] = ()

    @classmethod
    def of(cls, answer: Answer[Any], where: Where | None, column: str | None) -> "_Sum":
        chosen = {} if where is None else mapping(where, "where")
        optional(column, text, "column")
        if isinstance(sums := answer.table, NoisySums):
            return cls(sums.total(chosen, column=column).exact, sums.total_noise(chosen, column=column))
        cells, distribution = answer.cells, None
        (rows,), name = cells.added(chosen), cells.column(column)
        if isinstance(cells, IndependentCells) and cells.noise.drawn.ratio is not None and cells.noise.grid is None:
            distribution = Combination([cells.noise.width or 1], cells.noise.drawn.ratio, counts=[len(rows)])
        combined = sum_of(rows)
        return cls(cells.value(name, combined), distribution, ((cells, name, combined),))

    def minus(self, other: "_Sum") -> "_Sum":
        distribution = None
        if self.distribution is not None and other.distribution is not None:
            distributions = (self.distribution, other.distribution)
            coefficients = [size for one in distributions for size in one.coefficients]
            levels = [level for one in distributions for level in one.levels]
            distribution = Combination(coefficients, levels, [count for one in distributions for count in one.counts])
        elif not (self.parts and other.parts):
            remedy = "Compare releases by a plan with each other, or with tables of geometric noise."
            raise OutOfRange(
                "two answers can be compared only if the joint error of their noise is known",
                came="noise of two kinds",
                remedy=remedy,
            )
        return _Sum(self.value - other.value, distribution, (*self.parts, *other.parts))

    def answer(self, sure: Fraction) -> Estimate:
        if self.distribution is not None:
            return estimate_of(self.value, self.distribution, sure)
        each = 1 - (1 - sure) / len(self.parts)
        margin = round_up(sum(exact(cells.margin(name, combined, each)) for cells, name, combined in self.parts))
        variance = sum(cells.variance(name, combined) for cells, name, combined in self.parts)
        return Estimate(plain_number(self.value), margin, variance, sure, self.value)
