"""Spark's dataframes, in a session on this machine: the answers of one machine, whatever Spark does with its tasks."""

import math
import os
import signal
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pytest
from scipy.stats import chi2

import utmost as ut
from counting_words import counted_with
from spark import OF_SPARK, Losses, on, session
from utmost import Counting
from utmost.core.sampling.item_words import item_tags
from utmost.counting import count_keys, count_table
from utmost.errors import BadTable, DataChanged, Unsupported
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.ledger import Ledger, ResponseFolder
from utmost.noise import Geometric
from utmost.privacy_types import delta
from utmost.publish.ledger import engine_ledger

# Two tags are made to agree, which by chance they do once in 2^64 pairs; workers compute them.
from utmost.publish.releases.engine_release import ReleasableFrame
from utmost.publish.releases.item_columns import BatchCommitter
from utmost.sampling import Identifiers
from utmost.testing import seeded_ledger
from utmost.workloads import Domain, bins, periods, plain

pytestmark = OF_SPARK

KEY = bytes(range(32))
DOMAIN = Domain(age=bins(0, 40, width=10), page=plain([f"p{i}" for i in range(5)], other="elsewhere"))


def random_events(seed=9, persons=40, events=1500):
    rng = np.random.default_rng(seed)
    return {
        "user": [f"u{user}" for user in rng.integers(-5, persons, events)],
        "page": [None if page == 8 else f"p{page}" for page in rng.integers(0, 9, events)],
        "age": rng.integers(-5, 50, events).tolist(),
        "amount": rng.integers(-4, 9, events).tolist(),
    }


def on_spark(columns, parts=4):
    return on(session(), columns, parts)


def test_spark_cuts_in_total_as_one_machine_does():
    """A bound in all looks at the whole of a person, who comes in one piece."""
    events = random_events()
    say = {"person": "user", "domain": DOMAIN, "in_total": 4, "key": KEY}
    here, there = counted_with(events, **say), counted_with(on_spark(events), **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.report.clipped_sums == here.report.clipped_sums > 0


def test_workers_on_this_machine_run_the_python_that_runs_here(monkeypatch):
    """Spark takes whatever is called python3, which may have neither this package nor this version of Python."""
    frame = on_spark({"user": ["a", "b"], "page": ["p1", "p1"]})
    say = {"person": "user", "domain": Domain(page=plain(["p1"])), "at_most": 1, "key": KEY}
    context = session().sparkContext
    monkeypatch.setattr(context, "pythonExec", "python3")
    monkeypatch.delenv("PYSPARK_PYTHON")
    assert counted_with(frame, **say).cells.tolist() == [2]
    assert context.pythonExec == sys.executable
    monkeypatch.setattr(context, "pythonExec", "/nowhere/python")
    with pytest.raises(Unsupported, match="PYSPARK_PYTHON") as refused:
        counted_with(frame, **say)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("values", [None, pytest.param("amount", marks=pytest.mark.slow)])
def test_spark_counts_as_one_machine_does(values):
    """The table of one machine under the same key, by counts and by values."""
    events = random_events()
    frame = on_spark(events)
    say = {"person": "user", "domain": DOMAIN, "at_most": 3, "per_cell": (-2, 3), "values": values, "key": KEY}
    here, there = counted_with(events, **say), counted_with(frame, **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.cells.any()


def test_spark_reads_dates_times_and_listed_keys():
    """Timestamps, dates, truth values and keys of two columns, on the workers as on one machine."""
    events = random_events()
    first = datetime(2013, 3, 30, 22, 15, tzinfo=UTC)
    events["at"] = [None if row % 9 == 0 else first + timedelta(hours=7 * (row % 300)) for row in range(1500)]
    events["day"] = [None if at is None else at.date() for at in events["at"]]
    events["adult"] = [age >= 18 for age in events["age"]]
    keys = [(f"p{page}", age) for page in range(4) for age in range(5, 45)]
    domains = (
        Domain(at=periods("2013-03", "2013-07", every="month", zone="Europe/Paris", missing="?"), adult=[False, True]),
        Domain(day=periods("2013-04-01", "2013-07-01", every="week", below="before")),
        Domain.listed(keys, names=["page", "age"], other="else"),
    )
    frame = on_spark(events)
    for domain in domains:
        say = {"person": "user", "domain": domain, "at_most": 3, "key": KEY}
        here, there = counted_with(events, **say), counted_with(frame, **say)
        assert there.cells.tolist() == here.cells.tolist()
        assert there.cells.any()


def test_spark_sums_amounts_in_steps():
    """Decimals are rounded and clamped on the workers as on one machine, and no equal rows are grouped."""
    events = random_events()
    events["amount"] = [Decimal(amount) + Decimal("0.125") for amount in events["amount"]]
    say = {"person": "user", "domain": DOMAIN, "at_most": 3, "values": "amount", "key": KEY}
    say |= {"step": "0.05", "each": (-1, 4), "per_cell": (-2, 12)}
    here, there = counted_with(events, **say), counted_with(on_spark(events), **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.unit == here.unit
    assert str(there.report) == str(here.report)


@pytest.mark.slow
def test_spark_counts_several_measures_in_one_pass():
    """Each event comes once for each measure, and for sums and counts together twice."""
    values = ut.distinct("kind", of=list(range(6)), at_most=2)
    both = {
        "kinds": values,
        "n": ut.count(2),
        "sum": ut.sum("amount", per_cell=(-2, 3)),
        "mean": ut.sum("amount", each=(-4, 9), most_events=2),
    }
    events = random_events() | {"kind": [row * row % 7 for row in range(1500)]}
    for measures in (both, {"kinds": values}):
        say = {"person": "user", "domain": DOMAIN, "at_most": 3, "key": KEY, "measures": measures}
        here, there = counted_with(events, **say), counted_with(on_spark(events), **say)
        assert {name: table.cells.tolist() for name, table in there.items()} == {
            name: table.cells.tolist() for name, table in here.items()
        }
        assert str(there["kinds"].report) == str(here["kinds"].report)


def test_spark_counts_rows_that_are_persons():
    """Rows pass by in whatever partition: no order of persons, no key."""
    events = random_events()
    say = {"each_row": True, "domain": DOMAIN, "per_cell": (-2, 3), "values": "amount"}
    here, there = counted_with(events, **say), counted_with(on_spark(events), **say)
    assert there.cells.tolist() == here.cells.tolist()
    assert there.cells.any()
    assert str(there.report) == str(here.report)


@pytest.mark.slow
def test_spark_finds_the_keys_and_refuses_nobody_as_one_machine_does():
    events = random_events()
    frame = on_spark(events)
    say = {"person": "user", "column": "page", "at_most": 2, "key": KEY}
    assert count_keys(frame, **say) == count_keys(events, **say)
    nobody = on_spark({"user": ["a", None], "page": ["p1", "p1"], "age": [1, 1]}, 2)
    with pytest.raises(BadTable, match="its person"):
        count_table(nobody, DOMAIN, Counting("user", at_most=1))


PROMISE = {"columns": "visits", "public": "ward", "id_column": "ward", "unit": ut.Unit(1, 1)}


def wards(rows=1000):
    return {"ward": [f"w{i}" for i in range(rows)], "visits": [i % 97 for i in range(rows)]}


def by_ward(frame):
    return {row["ward"]: row["visits"] for row in frame.collect()}


@pytest.fixture
def ledgers(tmp_path):
    """Two ledgers of one identity and key: what one says on one machine, the other says on Spark."""
    places = (f"{tmp_path}/{name}.db" for name in ("here", "there"))
    with seeded_ledger(next(places), 0, key=KEY) as here, seeded_ledger(next(places), 0, key=KEY) as there:
        yield here, there


def test_three_evaluations_on_spark_are_the_values_of_one_machine(ledgers):
    """On other partitions each, and in part: row by row the ledger's values on one machine."""
    here, there = ledgers
    first = here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2").table
    wanted = dict(zip(first["ward"], first["visits"], strict=True))
    made = there.publish("visits", on_spark(wards(), 2), ut.Promise(**PROMISE), epsilon="1/2").table
    assert type(made) is type(on_spark(wards(5)))
    assert by_ward(made) == by_ward(made.repartition(3)) == by_ward(made.filter("ward <> ''")) == wanted


def with_a_half_tag_twice(alike):
    """`BatchCommitter` in which two wards have one half of their tags; local, so that Spark hands it on whole."""

    class Planted(BatchCommitter):
        def _split_tags(self, halves):
            first, second = item_tags(self.key.secret, [Identifiers.of(list(alike))])[:, 0]
            return super()._split_tags(np.where(halves == second, first, halves))

    return Planted


def test_where_two_halves_of_tags_are_equal_spark_counts_the_identifiers(ledgers, monkeypatch):
    """Wards that are told apart only so are released as on one machine; one that comes twice spends nothing."""
    here, there = ledgers
    counted, count = [], ReleasableFrame.check_distinct
    monkeypatch.setattr(ReleasableFrame, "check_distinct", lambda self, rows: (counted.append(rows), count(self, rows)))
    monkeypatch.setattr(engine_ledger, "BatchCommitter", with_a_half_tag_twice(("w0", "w999")))
    first = here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2").table
    made = there.publish("visits", on_spark(wards(), 2), ut.Promise(**PROMISE), epsilon="1/2").table
    assert counted == [1000]
    assert by_ward(made) == dict(zip(first["ward"], first["visits"], strict=True))
    twice = wards() | {"ward": [*wards()["ward"][:-1], "w0"]}
    with pytest.raises(BadTable, match="1 of 1000 rows"):
        there.publish("again", on_spark(twice, 2), ut.Promise(**PROMISE), epsilon="1/2")
    assert counted == [1000, 1000]
    assert {release.name for release in there.releases} == {"visits"}


@pytest.mark.slow
def test_relaxed_and_viewed_on_spark_are_the_values_of_one_machine(ledgers):
    here, there = ledgers
    here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2")
    there.publish("visits", on_spark(wards()), ut.Promise(**PROMISE), epsilon="1/2")
    higher = here.relax("visits", wards(), epsilon=2).table
    again = there.relax("visits", on_spark(wards(), 3), epsilon=2).table
    assert by_ward(again) == dict(zip(higher["ward"], higher["visits"], strict=True))
    between = here.view("visits", epsilon=1).table
    moved = there.view("visits", table=again, table_at=2, epsilon=1).table
    assert by_ward(moved) == dict(zip(wards()["ward"], between["visits"], strict=True))
    with pytest.raises(DataChanged, match="were published"):
        there.relax("visits", on_spark(wards() | {"visits": [1, *wards()["visits"][1:]]}), epsilon=3)


WRONG = {
    "a null in the last partition": ({"visits": [*wards()["visits"][:-1], None]}, "missing"),
    "one identifier in two partitions": ({"ward": [*wards()["ward"][:-1], "w0"]}, "distinct"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", WRONG)
def test_what_one_partition_cannot_see_is_refused_before_any_draw(case):
    change, said = WRONG[case]
    frame = on_spark(wards(), 1).union(on_spark(wards(1), 1)).limit(0).union(on_spark(wards() | change, 4))
    with pytest.raises(BadTable, match=said):
        ut.release(frame, ut.Promise(**PROMISE), epsilon=1, once=True)


CHANGED = {
    "a type": ({"visits": [str(cell) for cell in wards()["visits"]]}, Unsupported, "integers"),
    "a type of identifiers": ({"ward": list(range(1000))}, DataChanged, "must be those that were published"),
    "a column that is gone": ({"visits": None}, BadTable, "no column"),
    "a null in the last partition": (WRONG["a null in the last partition"][0], BadTable, "missing"),
    "one identifier in two partitions": (WRONG["one identifier in two partitions"][0], DataChanged, "published"),
}


@pytest.mark.slow
def test_a_frame_that_changed_before_it_is_relaxed_is_refused_and_nothing_is_spent(ledgers):
    """Its schema, a cell or an identifier; one column more is left out."""
    here, there = ledgers
    here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2")
    there.publish("visits", on_spark(wards()), ut.Promise(**PROMISE), epsilon="1/2")
    for change, error, said in CHANGED.values():
        columns = {name: cells for name, cells in (wards() | change).items() if cells is not None}
        with pytest.raises(error, match=said):
            there.relax("visits", on_spark(columns), epsilon=2)
        assert there.levels("visits") == (level("1/2"),)
    more = there.relax("visits", on_spark(wards() | {"more": [1] * 1000}), epsilon=2).table
    higher = here.relax("visits", wards(), epsilon=2).table
    assert more.columns == ["ward", "visits", "visits_margin"]
    assert by_ward(more) == dict(zip(higher["ward"], higher["visits"], strict=True))


@pytest.mark.slow
def test_texts_that_a_collation_calls_equal_are_refused():
    frame = on_spark(random_events())
    if not hasattr(frame, "toArrow"):
        pytest.skip("collations came with Spark 4")
    frame = frame.selectExpr("user COLLATE UTF8_LCASE AS user", "page", "age")
    with pytest.raises(Unsupported, match="only identical texts"):
        count_table(frame, DOMAIN, Counting("user", at_most=1))


@pytest.mark.slow
def test_a_worker_that_is_lost_changes_nothing(tmp_path):
    """It is killed in the middle of a stage; its task is evaluated again by another."""
    losses, frame = Losses(tmp_path), on_spark(random_events())
    made = losses.once(losses.frame(frame).collect)
    assert sorted(map(str, made)) == sorted(map(str, frame.collect()))


@pytest.mark.slow
def test_workers_lost_while_a_ledger_publishes_and_relaxes_change_no_value(ledgers, tmp_path):
    """One is lost while the ledger reads the table, another while the answer is evaluated: one machine's values."""
    here, there = ledgers
    losses = Losses(tmp_path)
    frame = losses.frame(on_spark(wards()))
    first = here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2").table
    made = losses.once(lambda: there.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2").table)
    assert losses.once(lambda: by_ward(made)) == dict(zip(first["ward"], first["visits"], strict=True))
    higher = here.relax("visits", wards(), epsilon=2).table
    again = losses.once(lambda: there.relax("visits", frame, epsilon=2).table)
    assert losses.once(lambda: by_ward(again)) == dict(zip(higher["ward"], higher["visits"], strict=True))
    assert len(there.releases) == 1
    assert there.releases[0].levels == here.releases[0].levels


@pytest.mark.slow
def test_ctrl_c_while_spark_commits_leaves_neither_a_file_nor_an_event(ledgers, tmp_path, monkeypatch):
    """The jobs are cancelled, the ledger is as it was, and the session goes on."""
    here, there = ledgers
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))

    def slowed(batches):
        for each in batches:
            time.sleep(0.5)
            yield each

    frame = on_spark(wards())
    slow, before = frame.mapInArrow(slowed, frame.schema), sorted(tmp_path.rglob("*"))
    press = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    press.start()
    with pytest.raises(KeyboardInterrupt):
        there.publish("visits", slow, ut.Promise(**PROMISE), epsilon="1/2")
    press.join()
    assert sorted(tmp_path.rglob("*")) == before
    assert there.verify().events == 1
    first = here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2").table
    made = there.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2").table
    assert by_ward(made) == dict(zip(first["ward"], first["visits"], strict=True))


def test_ctrl_c_is_not_hidden_by_the_error_of_the_cancelled_job(ledgers, monkeypatch):
    """Spark joins its serving thread in a `finally`, which then raises the error of the job that Ctrl-C cancelled."""
    _, there = ledgers
    frame = on_spark(wards())

    def cancelled(_):
        try:
            raise KeyboardInterrupt
        finally:
            raise RuntimeError("Job 7 cancelled")

    monkeypatch.setattr(type(frame), "collect", cancelled)
    with pytest.raises(KeyboardInterrupt):
        there.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2")
    assert there.verify().events == 1


@pytest.mark.slow
def test_responses_of_spark_are_kept_whole_and_relaxed_from(ledgers, tmp_path):
    """Also where a worker is lost as they are written; another frame is refused, and nothing of it stays."""
    here, there = ledgers
    losses, kept = Losses(tmp_path), ResponseFolder(there, tmp_path / "responses")
    first = here.publish("visits", wards(), ut.Promise(**PROMISE, keyed_by_id=True), epsilon="1/2").table
    made = there.publish("visits", losses.frame(on_spark(wards())), ut.Promise(**PROMISE), epsilon="1/2").table
    with pytest.raises(DataChanged):
        kept.keep("visits", on_spark(wards()), epsilon="1/2")
    assert not list(kept.path.rglob("*.parquet"))
    assert [at for _, _, at in kept.missing()] == [level("1/2")]
    place = losses.once(lambda: kept.keep("visits", made, epsilon="1/2"))
    assert kept.keep("visits", made, epsilon="1/2") == place
    assert [one.name for one in place.parent.iterdir()] == [place.name]
    lower = session().read.parquet(*kept.files("visits", epsilon="1/2"))
    assert by_ward(lower) == dict(zip(first["ward"], first["visits"], strict=True))
    higher = here.relax("visits", wards(), epsilon=2).table
    again = there.relax("visits", lower, table_at="1/2", epsilon=2).table
    assert by_ward(again) == dict(zip(higher["ward"], higher["visits"], strict=True))
    kept.keep("visits", again, epsilon=2)
    assert kept.missing() == ()
    assert kept.verify() == 2 * len(wards()["ward"])


@pytest.fixture
def noise_on_spark(tmp_path):
    """How often the noise at 1/2 and at 2 was (x, y), counted by Spark: shape (13, 13) for -6..6, and the rows."""
    rows, reach = 20_000, 6
    frame = session().range(0, rows, 1, 2).selectExpr("id AS ward", "id % 97 AS visits")
    with Ledger.open(f"{tmp_path}/there.db", create=True, key=KEY, witness=False) as there:
        lower = there.publish("visits", frame, ut.Promise(**PROMISE), epsilon="1/2").table
        higher = there.relax("visits", frame, epsilon=2).table.selectExpr("ward", "visits AS y")
    pairs = lower.join(higher, "ward").selectExpr("visits - ward % 97 AS x", "y - ward % 97 AS y")
    seen = np.zeros((2 * reach + 1, 2 * reach + 1))
    for x, y, count in pairs.groupBy("x", "y").count().collect():
        if max(abs(x), abs(y)) <= reach:
            seen[x + reach, y + reach] = count
    return seen, rows, [level("1/2"), level(2)]


def p_value(seen, wanted, rows):
    """By chi-square; cells of which fewer than ten are expected are one."""
    large = wanted >= 10
    seen, wanted = (np.append(each[large], rows - each[large].sum()) for each in (seen, wanted))
    return chi2.sf(((seen - wanted) ** 2 / wanted).sum(), wanted.size - 1)


@pytest.mark.slow
def test_the_noise_that_spark_evaluates_has_the_joint_distribution_of_both_levels(noise_on_spark):
    """P(x, y) of the noise process, and of the higher level alone; not the product of the two distributions."""
    seen, rows, (lower, higher) = noise_on_spark
    axis = np.arange(-6, 7)
    both = joint_pmf(np.meshgrid(axis, axis, indexing="ij"), [lower, higher])
    assert p_value(seen.ravel(), rows * both.ravel(), rows) > 1e-9
    ones = np.outer(Geometric(lower).pmf(axis), Geometric(higher).pmf(axis))
    assert p_value(seen.ravel(), rows * ones.ravel(), rows) < 1e-9
    assert p_value(seen.sum(axis=0), rows * both.sum(axis=0), rows) > 1e-9


@pytest.mark.slow
def test_two_levels_that_spark_evaluates_are_as_private_as_the_higher_level_alone(noise_on_spark):
    """The profile that dp-reporting makes of the pairs as they were seen is that of the higher level."""
    reporting = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    seen, rows, (_, higher) = noise_on_spark
    here, there = seen[1:, 1:].ravel(), seen[:-1, :-1].ravel()  # the answers of a neighbour are one more
    some = (here > 0) & (there > 0)
    one, two = (dict(enumerate(np.log(each[some] / rows).tolist())) for each in (here, there))
    found = reporting.from_two_probability_mass_functions(one, two, value_discretization_interval=1e-4)
    for epsilon in (0.5, 1.0, 1.5):
        assert math.isclose(found.get_delta_for_epsilon(epsilon), delta(Geometric(higher), epsilon), abs_tol=0.03)
