"""Events of people as every reader and every engine on one machine takes them."""

import json
from decimal import Decimal

import numpy as np
import pytest


def doors(events, tmp_path):
    """The events by the name of what takes them; a float that stands for a decimal rounds as it prints off halves."""
    pa, pandas, polars = (pytest.importorskip(name) for name in ("pyarrow", "pandas", "polars"))
    duckdb, parquet = pytest.importorskip("duckdb"), pytest.importorskip("pyarrow.parquet")
    arrow, rows = pa.table(events), list(zip(*events.values(), strict=True))
    yield "lists", events
    yield "objects", {name: np.array(cells, dtype=object) for name, cells in events.items()}
    yield "arrow", arrow
    for at, (name, kind) in enumerate(zip(arrow.column_names, arrow.schema.types, strict=True)):
        if pa.types.is_string(kind):
            yield f"categories of {name}", arrow.set_column(at, name, arrow[name].dictionary_encode())
        elif pa.types.is_decimal(kind):
            yield f"narrow {name}", arrow.set_column(at, name, pa.array(events[name], pa.decimal128(9, 4)))
    yield "pandas", pandas.DataFrame(events)
    yield "polars", polars.DataFrame(arrow)
    yield "polars, lazy", polars.DataFrame(arrow).lazy()
    yield "duckdb", duckdb.from_arrow(arrow)
    parquet.write_table(arrow, tmp_path / "events.parquet", row_group_size=7)
    yield "parquet", tmp_path / "events.parquet"
    lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
    (tmp_path / "events.csv").write_text("\n".join([",".join(events), *lines, ""]), encoding="utf-8")
    yield "csv", tmp_path / "events.csv"
    if not any(isinstance(cell, Decimal) for row in rows for cell in row):
        lines = [json.dumps(dict(zip(events, row, strict=True))) for row in rows]
        (tmp_path / "events.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
        yield "json lines", tmp_path / "events.jsonl"
