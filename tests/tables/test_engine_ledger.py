"""Ledgers of engines' frames: the bytes of one machine's ledger, whatever is evaluated, and a changed frame refused."""

import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from asking import asked, promised
from engine_tables import ENGINES, columns_of, on_duckdb
from utmost.errors import (
    AlreadyPublished,
    BadTable,
    BudgetExceeded,
    DataChanged,
    NeedsTable,
    NotPublished,
    Unsupported,
)
from utmost.exact import level
from utmost.testing import seeded_ledger

duckdb = pytest.importorskip("duckdb")

SAY = {"columns": ["visits", "calls"], "public": "ward", "id_column": "ward", "unit": ut.Unit(1, 2)}
KEY = bytes(range(32))
ROWS = 2000


def wards(rows=ROWS):
    return {
        "ward": [f"w{i}" for i in range(rows)],
        "visits": [i % 97 for i in range(rows)],
        "calls": [i % 7 for i in range(rows)],
    }


def in_categories(columns):
    return pl.LazyFrame(columns).with_columns(pl.col("ward").cast(pl.Categorical))


def opened(place, name="a"):
    """A ledger with the same identity and key each time, as copies have."""
    return seeded_ledger(f"{place}/{name}.db", 0, key=KEY)


def by_ward(columns):
    return dict(zip(columns["ward"], zip(columns["visits"], columns["calls"], strict=True), strict=True))


def test_engines_answer_as_one_machine_does_at_every_level(lazily, tmp_path):
    """Under one key, name and version: published, relaxed, and viewed between and below, row by row the same values."""
    table = wards()
    backwards = {name: cells[::-1] for name, cells in table.items()}
    with opened(tmp_path, "here") as here, opened(tmp_path, "there") as there:
        first = here.publish("visits", table, ut.Promise(**SAY, keyed_by_id=True), epsilon="1/2").table
        made = there.publish("visits", lazily(table), ut.Promise(**SAY), epsilon="1/2").table
        assert type(made) is type(lazily(table))
        assert columns_of(made) == columns_of(made) == columns_of(made) == first
        higher = here.relax("visits", table, epsilon=2).table
        again = there.relax("visits", lazily(backwards), epsilon=2).table
        assert by_ward(columns_of(again)) == by_ward(higher)
        for at in (1, "1/8", "3/2"):
            between = here.view("visits", epsilon=at).table | {"ward": table["ward"]}
            moved = there.view("visits", table=again, table_at=2, epsilon=at).table
            assert by_ward(columns_of(moved)) == by_ward(between)
            assert by_ward(columns_of(there.relax("visits", lazily(table), epsilon=at).table)) == by_ward(between)
        assert there.levels("visits") == here.levels("visits")
        assert there.spent("visits") == here.spent("visits") == level(2)


def test_identifiers_of_every_layout_are_the_same_items(tmp_path):
    """Views of text, text, categories and texts of forty bytes: one noise for each."""
    table = wards(50) | {"ward": [f"w{i}" * (1 + 20 * (i % 2)) for i in range(50)]}
    answers = []
    for number, made in enumerate((pl.LazyFrame, on_duckdb, in_categories)):
        with opened(tmp_path, str(number)) as ledger:
            answers.append(columns_of(ledger.publish("visits", made(table), ut.Promise(**SAY), epsilon=1).table))
    assert answers == [answers[0]] * 3


def test_published_again_it_is_the_same_and_spends_nothing(lazily, tmp_path):
    with opened(tmp_path) as ledger:

        def monday():
            promise = ut.Promise(**SAY)
            return columns_of(ledger.publish("visits", lazily(wards()), promise, epsilon=1, request="monday").table)

        first = monday()
        assert monday() == first
        newer = columns_of(ledger.publish("visits", lazily(wards(1999)), ut.Promise(**SAY), epsilon=1, version=2).table)
        assert newer["visits"] != first["visits"][:1999]
        assert monday() == first
        assert len(ledger.releases) == 2
        with pytest.raises(AlreadyPublished):
            ledger.publish("visits", lazily(wards(1999)), ut.Promise(**SAY), epsilon=2)


CHANGED = {
    "a value": ({"calls": [8, *wards()["calls"][1:]]}, DataChanged),
    "an identifier": ({"ward": ["other", *wards()["ward"][1:]]}, DataChanged),
    "a null in the last row": ({"calls": [*wards()["calls"][:-1], None]}, BadTable),
    "an identifier twice": ({"ward": ["w1", *wards()["ward"][1:]]}, DataChanged),
    "fewer rows": (wards(ROWS - 1), DataChanged),
    "a type": ({"calls": [str(cell) for cell in wards()["calls"]]}, Unsupported),
    "a type of identifiers": ({"ward": list(range(ROWS))}, DataChanged),
}


@pytest.fixture(scope="module", params=ENGINES)
def published(request, tmp_path_factory):
    """A ledger with a release at two levels that is asked for what it refuses; its frames, and both answers."""
    lazily = ENGINES[request.param]
    with opened(tmp_path_factory.mktemp("published")) as ledger:
        lower = columns_of(ledger.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon=1).table)
        yield ledger, lazily, lower, columns_of(ledger.relax("visits", lazily(wards()), epsilon=2).table)


@pytest.mark.parametrize("case", CHANGED)
def test_a_frame_that_changed_is_refused_and_nothing_is_spent(published, case):
    (change, error), (ledger, lazily, *_) = CHANGED[case], published
    with pytest.raises(error):
        ledger.relax("visits", lazily(wards() | change), epsilon=3)
    assert ledger.levels("visits") == (level(1), level(2))


def test_a_schema_that_changed_is_refused_where_it_matters(lazily, tmp_path):
    """A released column that is gone is an error; one more, or a public one less, is left out."""
    with opened(tmp_path) as ledger:
        ledger.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon=1)
        with pytest.raises(BadTable, match="no column"):
            ledger.relax("visits", lazily({"ward": wards()["ward"], "visits": wards()["visits"]}), epsilon=2)
        more = ledger.relax("visits", lazily(wards() | {"more": [1] * ROWS}), epsilon=2).table
        assert list(columns_of(more)) == ["ward", "visits", "visits_margin", "calls", "calls_margin"]


def test_a_budget_holds(lazily, tmp_path):
    with opened(tmp_path) as ledger:
        ledger.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon=1)
        ledger.budget("visits", limit=2)
        with pytest.raises(BudgetExceeded):
            ledger.relax("visits", lazily(wards()), epsilon=3)


def test_what_a_ledger_does_not_answer_is_refused(lazily, tmp_path):
    with opened(tmp_path) as ledger:
        with pytest.raises(NotPublished):
            ledger.relax("visits", lazily(wards()), epsilon=2)
        with pytest.raises(Unsupported, match="largest"):
            ledger.publish("visits", lazily(wards()), promised(**SAY, largest=1000), epsilon=1)
        say = {"columns": ["visits", "calls"], "public": "ward", "id_column": "ward"}
        with pytest.raises(Unsupported, match="points"):
            ledger.publish("points", lazily(wards()), ut.Promise(**say, noise=ut.PointNoise(100)), epsilon=1)
        ledger.publish("rows", wards(), ut.Promise(**SAY), epsilon=1)
        with pytest.raises(Unsupported, match="keyed by identifier"):
            ledger.relax("rows", lazily(wards()), epsilon=2)
        made = ledger.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon=1, independent=True).table
        with pytest.raises(NeedsTable):
            ledger.view("visits", table=made, table_at=1, epsilon=2)
        with pytest.raises(Unsupported, match="answered"):
            ledger.view("visits", table=made, table_at="1/2", epsilon="1/4")
        with pytest.raises(Unsupported, match="table_at"):
            ledger.view("visits", epsilon="1/2")


def forged(columns):
    """What is not what was answered: true values, one cell that moved, two rows that changed places, a row less."""
    moved = {name: list(cells) for name, cells in columns.items()}
    moved["calls"][7] += 1
    swapped = {name: list(cells) for name, cells in columns.items()}
    swapped["ward"][:2] = swapped["ward"][1::-1]
    return {"true values": wards(), "moved": moved, "swapped": swapped, "less": {n: c[1:] for n, c in columns.items()}}


@pytest.mark.parametrize("case", ["true values", "moved", "swapped", "less", "another level"])
def test_responses_that_are_none_are_refused_and_nothing_is_spent(published, case):
    """What commits to the values commits to the responses at every level: a frame of others is refused, by block."""
    ledger, lazily, lower, higher = published
    frame = lazily(lower if case == "another level" else forged(higher)[case])
    with pytest.raises(DataChanged, match="rows" if case == "less" else "got other identifiers or values"):
        ledger.view("visits", table=frame, table_at=2, epsilon="3/2")
    with pytest.raises(DataChanged):
        ledger.relax("visits", frame, table_at=2, epsilon=3)
    assert ledger.levels("visits") == (level(1), level(2))


def test_relaxed_from_responses_as_from_the_values(lazily, tmp_path):
    """A higher level needs no values where the responses at another are at hand, in any order of the rows."""
    with opened(tmp_path, "here") as here, opened(tmp_path, "there") as there:
        first = columns_of(here.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon="1/2").table)
        there.publish("visits", lazily(wards()), ut.Promise(**SAY), epsilon="1/2")
        wanted = columns_of(here.relax("visits", lazily(wards()), epsilon=2).table)
        backwards = {name: cells[::-1] for name, cells in first.items()}
        made = there.relax("visits", lazily(backwards), table_at="1/2", epsilon=2).table
        assert by_ward(columns_of(made)) == by_ward(wanted)
        assert there.spent("visits") == level(2)
        with pytest.raises(Unsupported, match="engine"):
            there.relax("visits", wards(), table_at="1/2", epsilon=2)


def test_half_steps_and_reals_are_published_and_relaxed(lazily, tmp_path):
    table = {"ward": wards(50)["ward"], "visits": [i / 7 for i in range(50)]}
    say = SAY | {"columns": "visits", "unit": ut.Unit(3, 1)}
    with opened(tmp_path, "here") as here, opened(tmp_path, "there") as there:
        for name, more in (("reals", {"numbers": "reals"}), ("half", {"half_step": True})):
            values = table if name == "reals" else table | {"visits": list(range(50))}
            first = here.publish(name, values, **asked(**say, keyed_by_id=True, epsilon=1, **more)).table
            assert columns_of(there.publish(name, lazily(values), **asked(**say, epsilon=1, **more)).table) == first
            lower = lazily(first)
            higher = here.relax(name, values, epsilon=2).table
            assert columns_of(there.relax(name, lazily(values), epsilon=2).table) == higher
            assert columns_of(there.view(name, table=lower, table_at=1, epsilon=2).table) == higher
            with pytest.raises(DataChanged):
                there.view(name, table=lazily(values), table_at=1, epsilon=2)


@pytest.mark.parametrize("made", ["sum", "file", "bigint", "decimal"])
def test_the_released_type_is_a_function_of_what_is_declared(tmp_path, made):
    """DuckDB makes a sum wide, and integers of a file that holds a large one: both are released as 64 bits are, where
    they fit; a declared decimal stays one."""
    con = duckdb.connect()
    path = tmp_path / "t.csv"
    path.write_text("id,n\n1,5\n2,18446744073709551616\n")
    rows = {
        "sum": "SELECT id, sum(n) AS n FROM (VALUES (1, 5), (2, 6)) t(id, n) GROUP BY id",
        "file": f"SELECT * FROM read_csv('{path}')",
        "bigint": "SELECT id, n::BIGINT AS n FROM (VALUES (1, 5), (2, 6)) t(id, n)",
        "decimal": "SELECT id, n::DECIMAL(38, 0) AS n FROM (VALUES (1, 5), (2, 6)) t(id, n)",
    }[made]
    promise = {"columns": "n", "public": "id", "id_column": "id", "unit": ut.Unit(1, 1), "epsilon": 1}
    with opened(tmp_path) as ledger:
        if made == "file":
            with pytest.raises(BadTable, match="below 2\\^62"):
                ledger.publish("t", con.sql(rows), **asked(**promise))
            assert ledger.releases == ()
            return
        released = ledger.publish("t", con.sql(rows), **asked(**promise)).table.to_arrow_table()
    kind = released.schema.field("n").type
    assert kind == (pa.decimal128(38, 0) if made == "decimal" else pa.int64())
    assert released.schema.field("n_margin").type == pa.int64()


@pytest.mark.parametrize("sure", ["0.5", "0.999"])
def test_margins_of_another_confidence_stand_beside_the_same_values(tmp_path, lazily, sure):
    """The answer is stored once; its margins are asked for afterwards, in the frame, the file and the statement."""
    with opened(tmp_path) as ledger:
        answer = ledger.publish("r", lazily(wards(50)), **asked(**SAY, epsilon=1))
        other = answer.with_confidence(sure)
        first, second = columns_of(answer.table), columns_of(other.table)
        said = other.save(tmp_path / "r.parquet")
        assert ledger.levels("r") == (level(1),)
    assert list(first) == list(second)
    for name, column in second.items():
        wanted = [answer.margin(sure)] * 50 if name.endswith("_margin") else first[name]
        assert column == wanted, name
    assert set(said["margins"].values()) == {answer.margin(sure)} != {answer.margin()}
    assert ut.read_release(tmp_path / "r.parquet").noise.margin == answer.margin(sure)
