"""Parquet: what comes back is what went in, and what is no Parquet is refused."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from small_sizes import set_sizes
from utmost.errors import BadTable, Unsupported

PROMISE = ut.Promise("n", public=["a", "b"], unit=ut.Unit(1, 1))


def released(path, promise=PROMISE):
    return ut.release(path, promise, epsilon=90, once=True)


def test_a_table_goes_out_as_it_came_in(tmp_path):
    table = pa.table({"a": pa.array([1, None], pa.int8()), "b": ["x", "y"], "n": [3, 5]})
    pq.write_table(table, tmp_path / "in.parquet")
    released(tmp_path / "in.parquet").save(tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").drop(["n_margin"]).equals(table)


def test_what_is_no_parquet_is_refused(tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(BadTable, match="Parquet"):
        released(tmp_path / "x.parquet")


def test_two_columns_of_one_name_are_refused(tmp_path):
    pq.write_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["n", "n"]), tmp_path / "x.parquet")
    with pytest.raises(BadTable, match="columns 1 and 2"):
        released(tmp_path / "x.parquet")


def test_an_unknown_ending_is_refused(tmp_path):
    with pytest.raises(Unsupported, match=r"\.csv, \.tsv"):
        released(tmp_path / "x.ods")


def test_a_file_that_inflates_is_refused_before_the_memory_is_full(tmp_path, monkeypatch):
    """A column of one value repeated shrinks ten thousandfold; here the bound is set low."""
    pq.write_table(pa.table({"n": [7] * 1_000_000}), tmp_path / "t.parquet")
    set_sizes(monkeypatch, parquet_in_memory=1 << 20)
    assert (tmp_path / "t.parquet").stat().st_size * 200 < 8_000_000
    with pytest.raises(BadTable, match="at most"):
        released(tmp_path / "t.parquet", ut.Promise("n", unit=ut.Unit(1, 1)))
