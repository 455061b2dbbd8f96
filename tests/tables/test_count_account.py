"""The account of a counting: right on every road, shown to the curator, and in nothing that is written."""

import copy
import datetime as dt
import json
import pickle
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from parts import COUNTED_FORM
from spark import on, session
from utmost.doors.cli.people_options import show_account
from utmost.errors import BadTable, NothingCounted, Unsupported
from utmost.publish.counting import count_table
from utmost.publish.ledger import Ledger
from utmost.publish.releases import release_table
from utmost.publish.tables.count_account import CountAccount
from utmost.publish.workloads import Domain, bins, plain

YEARS = Domain(year=bins(1970, 1983))
DATES = [dt.date(1970, 1, 1), dt.date(1975, 6, 1)]
TIMES = [dt.datetime(1970, 1, 1), dt.datetime(1975, 6, 1)]


def doors(cells, tmp_path):
    """One column of years with its persons, through every door that has a type for it."""
    events = {"user": ["a", "b"], "year": cells}
    arrow = pa.table(events)
    pq.write_table(arrow, tmp_path / "events.parquet")
    pd.DataFrame(events).to_csv(tmp_path / "events.csv", index=False)
    yield "dict", events
    yield "pandas", pd.DataFrame(events)
    yield "a dict of pandas", dict(pd.DataFrame(events).items())
    yield "pandas categories", pd.DataFrame(events).astype({"year": "category"})
    yield "numpy", {"user": np.array(["a", "b"]), "year": pd.Series(cells).to_numpy()}
    yield "polars", pl.DataFrame(events)
    yield "lazy polars", pl.LazyFrame(events)
    yield "arrow", arrow
    yield "parquet", tmp_path / "events.parquet"
    yield "csv", tmp_path / "events.csv"
    if find_spec("duckdb"):
        import duckdb

        yield "duckdb", duckdb.from_arrow(arrow)


REFUSED = {
    "dates": DATES,
    "datetimes": TIMES,
    "durations": [dt.timedelta(days=1970), dt.timedelta(days=1975)],
    "truth values": [True, False],
    "ISO text": ["1970-01-01", "1975-06-01"],
    "text that is no number": ["1970", "unknown"],
}


@pytest.mark.parametrize("cells", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("listed", [False, True])
def test_every_door_refuses_by_type_what_is_no_number(cells, listed, tmp_path):
    """A date that fell outside the bins was a silent 0; lists refuse what is neither text nor an integer."""
    if listed and isinstance(cells[0], str):
        return
    domain = Domain(year=plain(["1970", "1975"], other="else")) if listed else YEARS
    for door, events in doors(cells, tmp_path):
        if listed and door == "csv":  # all its cells are text
            continue
        with pytest.raises(BadTable, match="column 'year'") as caught:
            count_table(events, person="user", domain=domain, at_most=1)
        assert "unknown" not in str(caught.value), door


@pytest.mark.parametrize("column", [pa.array([], pa.timestamp("ns")), np.array([], "M8[ns]"), pa.nulls(1, pa.date32())])
def test_a_type_is_refused_whatever_stands_in_the_column(column):
    users = pa.array(["a"] * len(column), pa.string())
    frames = [{"user": users, "year": column}]
    if isinstance(column, pa.Array):
        frames += [pa.table(frames[0]), pl.from_arrow(pa.table(frames[0])).lazy()]
    for events in frames:
        with pytest.raises(BadTable, match="dates or times"):
            count_table(events, person="user", domain=YEARS, at_most=1)


@pytest.mark.parametrize("cell", [34, "34", 34.0, Decimal(34), np.float32(34), "34.0", None, "nan", float("inf")])
def test_numbers_of_every_type_and_their_text_are_read(cell):
    found = count_table({"user": ["a", "b"], "age": [34, cell]}, person="user", domain=Domain(age=bins(99)), at_most=1)
    assert found.cells[34] == (1 if cell in (None, "nan", float("inf")) else 2)


def test_an_other_takes_in_text_and_no_dates():
    domain = Domain(age=bins(99, other="else"))
    assert count_table({"user": ["a"], "age": ["unknown"]}, person="user", domain=domain, at_most=1).cells[99] == 1
    with pytest.raises(BadTable):
        count_table({"user": ["a"], "age": DATES[:1]}, person="user", domain=domain, at_most=1)


def test_a_category_that_no_event_has_is_not_refused():
    ages = pd.Categorical(["34", "34"], categories=["unknown", "34"])
    frame = pd.DataFrame({"user": ["a", "b"], "age": ages})
    assert count_table(frame, person="user", domain=Domain(age=bins(99)), at_most=1).cells[34] == 2


EVENTS = {
    "user": ["a", "a", "a", "a", "b", "b", "c", "d", "e"],
    "page": ["x", "x", "y", "z", "x", "UA", None, "y", "UA"],
    "age": [1, 1, 2, 3, 1, 2, 3, None, 99],
}
DOMAIN = Domain(page=["x", "y", "z"], age=bins(0, 10))
SAY = {"person": "user", "domain": DOMAIN, "at_most": 2}
ACCOUNT = CountAccount(
    events=9,
    left_out=4,
    outside={"page": 2, "age": 1},
    missing={"page": 1, "age": 1},
    persons=2,
    moved=1,
    dropped=1,
)


def frames(tmp_path):
    arrow = pa.table(EVENTS)
    pq.write_table(arrow, tmp_path / "events.parquet", row_group_size=2)
    pd.DataFrame(EVENTS).to_csv(tmp_path / "events.csv", index=False)
    yield from (EVENTS, pd.DataFrame(EVENTS), pl.DataFrame(EVENTS), pl.LazyFrame(EVENTS), arrow)
    yield from (tmp_path / "events.parquet", tmp_path / "events.csv")
    if find_spec("duckdb"):
        import duckdb

        yield duckdb.from_arrow(arrow)


def test_the_account_is_one_on_every_road(tmp_path):
    for events in frames(tmp_path):
        assert count_table(events, **SAY).account == ACCOUNT, type(events)


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of Spark, about pandas
def test_the_account_of_spark_is_the_same():
    """Equal events are grouped there, and each group counts for as many as it holds."""
    events = {**EVENTS, "age": [str(age) if age else None for age in EVENTS["age"]]}
    assert count_table(on(session(), events), **SAY).account == count_table(events, **SAY).account == ACCOUNT


def test_parts_have_the_account_of_all():
    events = {**EVENTS, "age": list("112313999")}
    say = {"person": "user", "domain": Domain(page=["x", "y"]), "at_most": 1}
    parts = count_table(events, part={"age": ["1", "2"]}, **say)
    accounts = [table.account for table in parts.values()]
    assert accounts[0] == accounts[1]
    assert (accounts[0].events, list(accounts[0].outside)) == (9, ["age", "page"])


def test_a_table_all_of_whose_events_lie_outside_is_warned_of():
    with pytest.warns(NothingCounted, match="'page'"):
        counted = count_table({"user": ["a"], "page": ["UA"]}, person="user", domain=Domain(page=["ua"]), at_most=1)
    assert counted.account.left_out == 1


TELLING = ("730412599135721", "689710440213377", "events read", "Confidential, for")


@pytest.fixture
def counted():
    """A table whose account has numbers that come up nowhere by chance."""
    counted = count_table(EVENTS, **SAY)
    numbers = {"events": int(TELLING[0]), "left_out": int(TELLING[0]), "outside": {"page": int(TELLING[1])}}
    return replace(counted, account=replace(ACCOUNT, **numbers))


def test_the_account_is_shown_and_marked(counted, capsys, monkeypatch):
    for shown in (repr(counted), counted._repr_html_()):
        assert all(telling in shown for telling in TELLING)
    show_account(counted)
    assert capsys.readouterr() == ("", "")  # no terminal: it would end in a log
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    show_account(counted)
    out, err = capsys.readouterr()
    assert out == ""
    assert all(telling in err for telling in TELLING)


def test_nothing_that_is_written_has_the_account(counted, tmp_path, capsys):
    """Files, statements, the ledger with its answers, pickles and copies: none has a number of it, or its words."""
    counted.save(tmp_path / "counted.json")
    counted.save(tmp_path / "counted.csv")
    release = release_table(counted, epsilon=1)
    release.save(tmp_path / "release.csv")
    with Ledger.open(tmp_path / "l.db", create=True, key=bytes(32)) as ledger:
        ledger.publish("pages", counted, epsilon=1, dataset="people")
    texts = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    texts += [pickle.dumps(counted), pickle.dumps(release), repr(release).encode(), release._repr_html_().encode()]
    texts += [json.dumps(COUNTED_FORM.document(counted)).encode(), *map(str.encode, capsys.readouterr())]
    assert len(texts) > 8
    for text in texts:
        assert not any(telling.encode() in text for telling in TELLING)
    for again in (pickle.loads(pickle.dumps(counted)), copy.copy(counted), copy.deepcopy(counted)):
        assert again.account is None
        assert again.cells.tolist() == counted.cells.tolist()
        assert not again.cells.flags.writeable
    with pytest.raises(Unsupported, match="never written"):
        pickle.dumps(counted.account)


def test_integers_beside_a_missing_cell_name_the_cause_and_the_cast():
    frame = pd.DataFrame({"user": ["a", "b"], "page": [7, None]})
    with pytest.raises(BadTable, match="floats of integers beside a missing cell: cast it to a nullable integer"):
        count_table(frame, person="user", domain=Domain(page=[7]), at_most=1)


def test_a_counting_names_no_argument_that_it_has_not():
    events = {"user": ["a"], "page": ["x"], "amount": [1.5]}
    with pytest.raises(BadTable, match="smaller unit") as caught:
        count_table(events, person="user", domain=Domain(page=["x"]), at_most=1, values="amount")
    assert "numbers=" not in str(caught.value)
