"""The tables of answers before any noise is drawn, with -1 in place of each released value.

The writer of a file is tried on such a table before anything is spent: labels and names that the writer refuses are
then refused in time. The value is -1 because released values can be negative, and writers of text look only at the sign
of a number.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from utmost.publish.promises.promise import Promise
from utmost.tables.engines.engines import is_engine_frame
from utmost.tables.frames.any_table import adapter_of

if TYPE_CHECKING:  # imported only where it is needed: most tables have no plan
    from utmost.publish.workloads.planning.plan import Plan


def table_before_draw(table: Any, promise: Promise) -> Any:
    """Return the table of an answer before any draw; None if the answer is a document, an engine's frame or keys."""
    noise = promise.noise
    if noise.is_by_plan:
        from utmost.publish.promises.sum_noise import SumNoise

        assert isinstance(noise, SumNoise), "noise by a plan is SumNoise"
        is_of_cells = set(noise.plan.shares) == {noise.plan.domain.finest}
        return cells_before_draw(noise.plan) if is_of_cells else None
    rows = None if noise.names_rows or is_engine_frame(table) else promise.rows_of(table)
    if rows is None or is_engine_frame(rows):
        return None
    measured, _ = noise.measured(rows)
    adapter = adapter_of(measured)
    names = adapter.names(measured)
    columns, public = frozenset(promise.columns), frozenset(promise.public)
    released = [name for name in names if name in columns]
    if not released:  # the release will refuse this table
        return None
    margins = {f"{name}_margin": name for name in released}
    left_out = [name for name in names if name not in columns and name not in public]
    values = _values([*released, *margins], len(adapter.column(measured, released[0])))
    return adapter.with_columns(adapter.without(measured, left_out), values, margins)


def cells_before_draw(plan: "Plan") -> dict[str, NDArray[Any]]:
    """Return the table of all cells of a plan's domain, with columns of means if sums and counts share noise."""
    from utmost.publish.workloads.amount_pair import value_column

    domain, amounts = plan.domain, plan.amount_pair
    if amounts is None:
        marginal, value = domain.finest, value_column(plan.unit)
        names = [value, f"{value}_margin"]
    else:
        marginal = amounts.seen(domain.finest)
        names = [name for column in amounts.columns for name in (column.name, column.margin)]
        names += [f"{amounts.amount.name}_mean{end}" for end in ("", "_lower", "_upper")]
    columns = {name: np.array(column) for name, column in domain.group_labels(marginal).items()}
    rows = len(next(iter(columns.values()), ("total",)))
    return {**columns, **_values(names, rows)}


def measures_before_draw(plans: Iterable["Plan"]) -> dict[str, NDArray[Any]]:
    """Return the table of several amounts from the plan of each amount, see `MeasuresTable`."""
    columns: dict[str, NDArray[Any]] = {}
    for plan in plans:
        columns |= cells_before_draw(plan)
    return columns


def _values(names: Iterable[str], rows: int) -> Mapping[str, NDArray[np.int64]]:
    return dict.fromkeys(names, np.full(rows, -1, np.int64))
