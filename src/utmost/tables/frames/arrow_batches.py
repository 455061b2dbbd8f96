"""Cut the rows of Arrow batches into batches of equal size."""

from collections.abc import Iterator
from typing import Any

from utmost.tables.optional_imports import extra

_ROWS = 1 << 17


def even_batches(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    """Yield the rows of some batches in batches of equal size; the last one may have fewer rows."""
    # Where an engine or a file ends a batch depends on rows that nobody sees, such as those that a filter removed.
    arrow = extra("pyarrow", "tables")
    waiting, rows = list[Any](), 0
    for batch in batches:
        waiting.append(batch.cast(schema))
        rows += batch.num_rows
        while rows >= _ROWS:
            table = arrow.Table.from_batches(waiting, schema)
            yield _one_batch(table.slice(0, _ROWS))
            waiting, rows = table.slice(_ROWS).to_batches(), rows - _ROWS
    if rows:
        yield _one_batch(arrow.Table.from_batches(waiting, schema))


def _one_batch(table: Any) -> Any:
    arrow = extra("pyarrow", "tables")
    columns = [arrow.concat_arrays(column.chunks) for column in table.columns]
    return arrow.record_batch(columns, schema=table.schema)
