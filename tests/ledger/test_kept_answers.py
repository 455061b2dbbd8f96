"""An answer is not lost after its level is spent: everything that can fail happens before the draw."""

from functools import partial

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from asking import asked
from utmost.errors import LedgerUnavailable, OutOfRange, Unsupported, WrongKind
from utmost.ledger import Ledger

LARGE = 2**63 - 41
ONE = {"columns": "n", "unit": ut.Unit(1, 1)}


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "releases.db", create=True) as opened:
        yield opened


def frames(rows=40):
    """A frame of each kind whose integers exceed 64 bits after noise."""
    cells = [LARGE] * rows
    yield pa.table({"n": cells})
    yield pa.RecordBatch.from_pydict({"n": cells})
    yield pd.DataFrame({"n": cells})
    yield pd.DataFrame({"n": pd.array(cells, dtype="Int64")})
    yield pd.DataFrame({"n": pd.array(cells, dtype="int64[pyarrow]")})
    yield pl.DataFrame({"n": cells})


def cells_of(table):
    """The released integers of a frame of any kind."""
    if isinstance(table, duckdb.DuckDBPyRelation):
        return [int(cell) for (cell,) in table.project("n").fetchall()]
    table = table.collect() if isinstance(table, pl.LazyFrame) else table
    column = table["n"]
    return [int(cell) for cell in (column.to_pylist() if hasattr(column, "to_pylist") else column)]


@pytest.mark.parametrize("frame", list(frames()), ids=lambda frame: type(frame).__module__)
def test_noise_beyond_64_bits_is_published_relaxed_and_viewed(ledger, frame):
    epsilons = "1/1000", "1/500", "1/400"
    answers = [ledger.publish("n", frame, ut.Promise(**ONE), epsilon=epsilons[0]).table]
    answers += [ledger.relax("n", frame, epsilon=epsilon).table for epsilon in epsilons[1:]]
    answers += [ledger.view("n", epsilon=epsilon).table for epsilon in epsilons]
    answers.append(ut.release(frame, ut.Promise(**ONE), epsilon="1/1000", once=True).table)
    columns = [cells_of(answer) for answer in answers]
    assert columns[:3] == columns[3:6]
    assert max(map(max, columns)) >= 1 << 63


@pytest.mark.parametrize("way", ["publish", "release"])
def test_a_relation_over_a_temporary_table_is_refused_before_its_level_is_spent(ledger, way):
    connection = duckdb.connect()
    connection.sql("CREATE TEMP TABLE wards AS SELECT 'w' || range AS ward, 5::BIGINT AS n FROM range(5)")
    promise = ONE | {"drop": "ward", "id_column": "ward", "epsilon": 1}
    released = partial(ledger.publish, "wards") if way == "publish" else partial(ut.release, once=True)
    with pytest.raises(Unsupported, match="temporary"):
        released(connection.table("wards"), **asked(**promise))
    assert not ledger.releases


def test_a_uuid_says_which_item_a_row_is(ledger):
    connection = duckdb.connect()
    connection.sql("CREATE TABLE wards AS SELECT uuid() AS ward, 5::BIGINT AS n FROM range(5)")
    promise = ONE | {"drop": "ward", "id_column": "ward", "epsilon": 40}
    answer = ledger.publish("wards", connection.table("wards"), **asked(**promise)).table
    assert len(answer.fetchall()) == 5


def test_what_is_missing_is_a_mapping(ledger):
    for missing in ("x", 3, ["a"]):
        with pytest.raises(WrongKind, match="missing"):
            ledger.resume("restored", missing=missing)


def test_a_place_that_the_system_refuses_is_unavailable(tmp_path, monkeypatch):
    with pytest.raises(LedgerUnavailable):
        Ledger.open(tmp_path / ("n" * 300), create=True)
    with pytest.raises(OutOfRange, match="4096 bytes"):
        Ledger.open(tmp_path / ("n" * 5000), create=True)

    def refused(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.is_dir", refused)
    with pytest.raises(LedgerUnavailable, match="Permission denied"):
        Ledger.open(tmp_path / "releases.db", create=True)
