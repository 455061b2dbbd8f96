"""The questions that a reader may ask of a release: a sum, a ratio, a mean, a quantile, a clean table; written once."""

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from utmost.core.exact.numbers import Number
from utmost.errors import Unsupported

if TYPE_CHECKING:  # a release of one table loads none of them before it is asked
    from utmost.core.noise.ratio_bars import RatioBar
    from utmost.publish.releases.clean_release import CleanTable
    from utmost.publish.releases.given_facts import Given
    from utmost.publish.releases.quantiles import QuantileBar
    from utmost.publish.releases.released_table import ReleasedTable
    from utmost.publish.releases.workload_answers import Answer
    from utmost.publish.releases.workload_release import Families, WorkloadRelease
    from utmost.tables.axes.domain import Where

Read: TypeAlias = "WorkloadRelease | ReleasedTable"
"""A release as its readers have it: sums over a domain, or a table of cells with its statement."""


def read_answer(answer: object, statement: Callable[[], dict[str, Any]]) -> Read:
    """An answer as whoever reads what was published has it.

    Args:
        answer: The released table or the released sums.
        statement: Gives the public statement of a table; sums of a plan have their own.

    Raises:
        Unsupported: for points, columns changed together and named keys, whose numbers are not noised one by one.
    """
    from utmost.publish.releases.released_table import ReleasedTable
    from utmost.publish.releases.workload_release import WorkloadRelease

    return answer if isinstance(answer, WorkloadRelease) else ReleasedTable.of(answer, statement())


class AnswersReaders:
    """A release that answers its readers' questions, whichever noise it has and wherever it is remembered."""

    __slots__ = ()

    @abstractmethod
    def read(self) -> Read:
        """The release as its readers have it: a `WorkloadRelease` of sums, else as `read_release` of its file.

        Raises:
            Unsupported: for points, columns changed together and named keys, whose numbers are not noised one by one.
        """

    def total(
        self, where: "Where | None" = None, *, column: str | None = None, confidence: Number | None = None
    ) -> "Answer":
        """A sum of what was released, with its margin of error.

        Args:
            where: by the name of a level, or of a public column, a label or a list of labels; everything if left out.
            column: of a table with several released columns, which.
            confidence: of the margin, 95 % if nothing else was said.

        Raises:
            OutOfRange, NotDetermined: for a selection that the release does not have. Unsupported: as `read`.

        >>> from utmost.promises import Promise

        >>> from utmost import Unit
        >>> from utmost.ledger import release
        >>> promise = Promise("admitted", public="department", unit=Unit(1, 1))
        >>> made = release({"department": ["A", "B"], "admitted": [601, 370]}, promise, epsilon=1)
        >>> made.total({"department": "A"}).margin, made.total().margin
        (3, 4)
        """
        from utmost.publish.releases import comparisons

        return comparisons.total(self.read(), where, column, confidence)

    def ratio(
        self,
        where: "Where",
        over: "Where | None" = None,
        *,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number = "0.95",
    ) -> "RatioBar":
        """An interval that holds the true ratio of two sums, the second over everything if left out; as `total`."""
        from utmost.publish.releases.workload_release import WorkloadRelease

        answer = self.read()
        if isinstance(answer, WorkloadRelease):
            return answer.ratio(where, {} if over is None else over, confidence=confidence)
        return answer.ratio(where, over, column, over_column, confidence)

    def mean(self, name: str, *, where: "Where | None" = None, confidence: Number | None = None) -> "RatioBar":
        """The mean of a level whose labels stand for numbers, of sums over a domain: `WorkloadRelease.mean`."""
        return self._sums("a mean").mean(name, where=where, confidence=confidence)

    def quantile(
        self, name: str, q: Number, *, where: "Where | None" = None, confidence: Number | None = None
    ) -> "QuantileBar":
        """Which cells of an ordered axis can hold a quantile: `WorkloadRelease.quantile`."""
        return self._sums("a quantile").quantile(name, q, where=where, confidence=confidence)

    def median(self, name: str, *, where: "Where | None" = None, confidence: Number | None = None) -> "QuantileBar":
        """`quantile` at 1/2."""
        return self.quantile(name, "1/2", where=where, confidence=confidence)

    def clean(self, given: "Given | None" = None, *, hold: "Families | None" = None) -> "CleanTable":
        """Whole numbers, none negative, whose sums all agree: `WorkloadRelease.clean`, with its arguments."""
        return self._sums("a clean table").clean(given, hold=hold)

    def _sums(self, verb: str) -> "WorkloadRelease":
        from utmost.publish.releases.workload_release import WorkloadRelease

        answer = self.read()
        if isinstance(answer, WorkloadRelease):
            return answer
        remedy = "Count the table over a domain and release it by a strategy; of a table ask total and ratio."
        raise Unsupported(f"{verb} is asked of sums over a declared domain", came="a table of cells", remedy=remedy)
