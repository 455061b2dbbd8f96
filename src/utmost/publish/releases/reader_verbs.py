"""What whoever reads a release may ask of it: a sum, a ratio, a mean, a quantile, a clean table; written once."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from utmost.core.exact.numbers import Number
from utmost.provided import provided

if TYPE_CHECKING:
    from utmost.core.noise.ratio_bars import RatioBar
    from utmost.publish.releases.clean_release import CleanTable
    from utmost.publish.releases.quantiles import QuantileBar
    from utmost.publish.releases.workload_answers import Answer
    from utmost.publish.releases.workload_release import WorkloadRelease

Where = Mapping[str, Any]


class AnswersReaders:
    """A release that answers its readers' questions, whichever noise it has and wherever it is remembered."""

    __slots__ = ()

    @abstractmethod
    def read(self) -> Any:
        """What was released as its readers have it: a `WorkloadRelease` of sums, else as `read_release` of its file.

        Raises:
            Unsupported: for points, columns changed together and named keys, whose numbers are not noised one by one.
        """

    def total(
        self, where: Where | None = None, *, column: str | None = None, confidence: Number | None = None
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
        answer: Answer = provided("release_answers").total(self.read(), where, column, confidence)
        return answer

    def ratio(
        self,
        where: Where,
        over: Where | None = None,
        *,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number = "0.95",
    ) -> "RatioBar":
        """An interval that holds the true ratio of two sums, the second over everything if left out; as `total`."""
        answers, columns = provided("release_answers"), (column, over_column)
        bar: RatioBar = answers.ratio(self.read(), where, over, columns, confidence)
        return bar

    def mean(self, name: str, *, where: Where | None = None, confidence: Number | None = None) -> "RatioBar":
        """The mean of a level whose labels stand for numbers, of sums over a domain: `WorkloadRelease.mean`."""
        return self._sums("a mean").mean(name, where=where, confidence=confidence)

    def quantile(
        self, name: str, q: Number, *, where: Where | None = None, confidence: Number | None = None
    ) -> "QuantileBar":
        """Which cells of an ordered axis can hold a quantile: `WorkloadRelease.quantile`."""
        return self._sums("a quantile").quantile(name, q, where=where, confidence=confidence)

    def median(self, name: str, *, where: Where | None = None, confidence: Number | None = None) -> "QuantileBar":
        """`quantile` at 1/2."""
        return self.quantile(name, "1/2", where=where, confidence=confidence)

    def clean(self, **public: Any) -> "CleanTable":
        """Whole numbers, none negative, whose sums all agree: `WorkloadRelease.clean`, with its arguments.

        Args:
            public: facts that hold, and a table that is held, as that call names them.
        """
        return self._sums("a clean table").clean(**public)

    def _sums(self, verb: str) -> "WorkloadRelease":
        sums: WorkloadRelease = provided("release_answers").sums(self.read(), verb)
        return sums
