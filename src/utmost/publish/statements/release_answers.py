"""What is asked of a release that is at hand, whichever kind of answer it gives: the reader's verbs, in one place."""

from collections.abc import Callable, Mapping
from typing import Any

from utmost.core.exact.numbers import Number
from utmost.core.noise.ratio_bars import RatioBar
from utmost.errors import Unsupported
from utmost.publish.releases.workload_answers import Answer
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.statements import comparisons
from utmost.publish.statements.released_table import ReleasedTable

Where = Mapping[str, Any]
Read = WorkloadRelease | ReleasedTable


def read_answer(answer: Any, statement: Callable[[], dict[str, Any]]) -> Read:
    """An answer as whoever reads what was published has it.

    Args:
        answer: at some level.
        statement: says what is said publicly of it; sums of a plan say it themselves.

    Raises:
        Unsupported: for points, columns changed together and named keys, whose numbers are not noised one by one.
    """
    return answer if isinstance(answer, WorkloadRelease) else ReleasedTable.of(answer, statement())


def total(answer: Read, where: Where | None, column: str | None, confidence: Number | None) -> Answer:
    """A sum with its margin, see `comparisons.total`."""
    return comparisons.total(answer, where, column, confidence)


def ratio(
    answer: Read, above: Where, below: Where | None, columns: tuple[str | None, str | None], confidence: Number
) -> RatioBar:
    """An interval that holds the true ratio of two sums, by selections; of a table also of two columns."""
    if isinstance(answer, WorkloadRelease):
        return answer.ratio(above, {} if below is None else below, confidence=confidence)
    return answer.ratio(above, below, *columns, confidence)


def sums(answer: Read, verb: str) -> WorkloadRelease:
    """The answer, where it has axes of which means and quantiles are asked."""
    if isinstance(answer, WorkloadRelease):
        return answer
    remedy = "Count the table over a domain and release it by a strategy; of a table ask total and ratio."
    raise Unsupported(f"{verb} is asked of sums over a declared domain", came="a table of cells", remedy=remedy)
