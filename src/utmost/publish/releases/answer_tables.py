"""An answer as it is published: a table of the kind that came in, or the sums from which every other sum is made."""

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import CONFIDENCE
from utmost.tables.frames.any_table import table_of


def answer_table(
    promise: Promise,
    level: Level,
    columns: Mapping[str, NDArray[Any]],
    kind: str,
    table: Callable[[Mapping[str, NDArray[Any]]], Any],
    remembered: LedgerFacts | None,
) -> Any:
    """An answer at a level as it is published.

    Args:
        promise: The promise of the answer.
        level: The level of the answer.
        columns: The released columns, see `Noise.written`.
        kind: The kind of the table that was published.
        table: Makes the table of the released columns and their error bars.
        remembered: Facts that a ledger adds to the statement; None for a release that nothing remembers.
    """
    noise = promise.noise
    if noise.is_by_plan:
        from utmost.publish.promises.sum_noise import MEASURED, SumNoise
        from utmost.publish.releases.noisy_sums import NoisySums

        assert isinstance(noise, SumNoise), "no other noise is of a counted table alone"
        measured = noise.by_family(columns[MEASURED])
        return NoisySums(promise, level, CONFIDENCE, measured, kind, ledger_facts=remembered)
    return table_of(kind, columns) if noise.names_rows else table(columns)
