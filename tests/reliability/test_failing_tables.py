"""Readers, writers and engines that fail at any step: nothing is spent, or the answer is there when asked again."""

from functools import partial

import pandas as pd
import polars as pl
import pytest

import utmost as ut
from engine_tables import of_arrow
from utmost.errors import UtmostError
from utmost.exact import level
from utmost.ledger import Release

# Tables that fail stand in the place of adapters and engines.
from utmost.tables.engines.engine_frames import EngineFrame, evaluated
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.files.files import read
from utmost.tables.frames.adapters import TableAdapter
from utmost.tables.frames.any_table import adapter_of
from utmost.testing import seeded_ledger

COLUMNS = {"ward": ["a", "b", "c"], "visits": [30, 10, 20]}
SAY = {"columns": "visits", "public": "ward", "unit": ut.Unit(1, 1)}


class Broken(Exception):
    """What a library or a disk may raise."""


def on_disk(folder):
    path = folder / "t.csv"
    pl.DataFrame(COLUMNS).write_csv(path)
    return read(path)


# What a ledger does about a failure hangs on the protocol: two adapters of tables here, two engines.
KINDS = {
    "pandas": lambda folder: pd.DataFrame(COLUMNS),
    "csv": on_disk,
    "lazy polars": lambda folder: pl.LazyFrame(COLUMNS),
    "duckdb": lambda folder: of_arrow(COLUMNS),
}


def steps_of(table):
    """Every function by which a table of this kind is read, made or evaluated."""
    kind, protocol = (
        (type(engine_frame(table)), EngineFrame) if is_engine_frame(table) else (type(adapter_of(table)), TableAdapter)
    )
    return [(kind, name) for name in vars(protocol) if not name.startswith("_") and callable(getattr(kind, name, None))]


def counted(monkeypatch, kind, name, first):
    """Let a function fail from its first-th call on, once; how often it was called."""
    before, calls = getattr(kind, name), [0]

    def failing(self, *given, **named):
        calls[0] += 1
        if calls[0] == first:
            raise Broken
        return before(self, *given, **named)

    monkeypatch.setattr(kind, name, failing)
    return calls


def cells(answer):
    if isinstance(answer, Release):
        answer = answer.table
    if isinstance(answer, pl.LazyFrame):
        answer = answer.collect()
    elif hasattr(answer, "to_arrow_table"):
        answer = pl.from_arrow(answer.to_arrow_table())
    return list(map(int, adapter_of(answer).column(answer, "visits")))


def spent_by(ledger):
    return ledger.spent(dataset="t") if ledger.releases else None


NEEDED = {"names", "column", "with_columns", "without", "schema", "select", "mapped", "added_up"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_that_fails_spends_nothing_or_loses_nothing(kind, tmp_path, monkeypatch):
    """Published, then relaxed: calls of each function fail, one at a time; asked again, there is one event, one
    level, and the values that a ledger without a failure gives under the same key."""
    table = KINDS[kind](tmp_path)
    say = SAY | ({"id_column": "ward"} if is_engine_frame(table) else {})
    secret = bytes(range(32))
    expected = None
    for owner, name in steps_of(table):
        first, is_reached = 1, True
        while is_reached:
            is_reached = False
            with seeded_ledger(tmp_path / f"{name}{first}.db", 0, key=secret) as ledger:
                for at, call in ((1, ledger.publish), (2, ledger.relax)):
                    ask = partial(call, "t", table, *([ut.Promise(**say)] if at == 1 else []), epsilon=at)
                    before = spent_by(ledger)
                    with monkeypatch.context() as patched:
                        calls = counted(patched, owner, name, first)
                        try:
                            ask()
                        except (Broken, UtmostError):
                            is_reached = True
                        else:
                            assert calls[0] < first, f"{name} swallowed a failure"
                    assert spent_by(ledger) in (before, level(at))
                    made = cells(ask().table)
                    assert spent_by(ledger) == level(at)
                assert [event.kind for event in ledger.history()] == ["opened", "published", "answered"]
                assert ledger.verify()
                if is_engine_frame(table):  # drawn from key and identifier: the same in ledgers of one identity
                    expected = expected or made
                    assert made == expected
            first += 1 if first < 3 else 4  # of many calls every fourth
        assert first > 2 or name not in NEEDED, f"{name} was never called"


def test_ctrl_c_is_not_hidden_by_the_error_of_the_cancelled_query():
    @evaluated()
    def query():
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("Job 7 cancelled")

    with pytest.raises(KeyboardInterrupt):
        query()
