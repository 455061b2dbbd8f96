"""Parquet: what comes back is what went in, and what is no Parquet is refused."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from utmost.errors import BadTable, Unsupported

# Readers of hostile bytes and cells, and their limits, are tried without a release behind them.
from utmost.tables.files import files, parquet


def test_a_table_goes_out_as_it_came_in(tmp_path):
    table = pa.table({"a": pa.array([1, None], pa.int8()), "b": ["x", "y"]})
    pq.write_table(table, tmp_path / "in.parquet")
    with (tmp_path / "out.parquet").open("wb") as file:
        files.write(files.read(tmp_path / "in.parquet"), file, tmp_path / "out.parquet")
    assert parquet.read(tmp_path / "out.parquet").equals(table)


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(BadTable, match="must be well formed"):
        files.read(tmp_path / "x.parquet")


def test_two_columns_of_one_name_are_refused(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"]), tmp_path / "x.parquet")
    with pytest.raises(BadTable, match="got columns 1 and 2"):
        files.read(tmp_path / "x.parquet")


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(Unsupported, match=r"must end in one of \.csv, \.tsv"):
        files.read(tmp_path / "x.ods")


def test_a_file_that_inflates_is_refused_before_the_memory_is_full(tmp_path, monkeypatch):
    """A column of one value repeated shrinks ten thousandfold; here the bound is set low."""
    import pyarrow
    from pyarrow import parquet as arrow_parquet

    from utmost.errors import BadTable
    from utmost.tables.files import parquet

    arrow_parquet.write_table(pyarrow.table({"n": [7] * 1_000_000}), tmp_path / "t.parquet")
    monkeypatch.setattr(parquet, "_INFLATED", 1 << 20)
    assert (tmp_path / "t.parquet").stat().st_size * 200 < 8_000_000
    with pytest.raises(BadTable, match="may hold"):
        parquet.read(tmp_path / "t.parquet")
