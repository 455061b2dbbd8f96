"""Weights of the same sums that anybody would try, to choose between strategies; and how such choices are printed."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from utmost.core.exact.numbers import Number, exact
from utmost.publish.workloads.workload import Workload

_MANY_PARTS = 8


def weighted(workload: Workload, weights: Mapping[str, Number]) -> Workload:
    """The workload with these weights, and a trace of weight on what they leave out."""
    read = {name: exact(weight, "weight") for name, weight in weights.items()}
    trace = min(read.values(), default=Fraction(1)) / 10**9
    return workload.reweighted({**{part.name: trace for part in workload.parts}, **read})


def usual_weightings(workload: Workload) -> dict[str, dict[str, Number]]:
    """By a name, the weights of the parts that anybody would try."""
    parts = workload.parts
    if len(parts) == 1:
        return {}
    weightings: dict[str, dict[str, Number]] = {
        "every part alike": {part.name: 1 for part in parts},
        "every answer alike": {part.name: part.answers for part in parts},
    }
    for first in parts if len(parts) <= _MANY_PARTS else ():
        weightings[f"{first.name or 'total'} above all"] = {
            part.name: 1 if part is first else Fraction(1, 100) for part in parts
        }
    return weightings


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of one width each."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def shown(number: float) -> str:
    """A number to four digits."""
    return f"{number:.4g}"
