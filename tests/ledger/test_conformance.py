"""Every noise in every memory, at three levels in every order: one interface, one joint distribution, the same errors.
A new kind of noise is one row of `NOISES`, a new memory one row of `MEMORIES`."""

import json
import pickle
import shutil
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import utmost as ut
from goodness import LEVEL, joint_chi_square
from ledger.doubled_noise import DOUBLED, HALF, know
from running import main
from service.test_client import Inside
from utmost import CellNoise, SumNoise
from utmost.counting import CountedTable
from utmost.errors import (
    BadTable,
    DataChanged,
    NeedsTable,
    NotALevel,
    OutOfRange,
    ServiceError,
    Unsupported,
    UtmostError,
)
from utmost.exact import level
from utmost.ledger import Answer, Ledger, Release
from utmost.promises import DistributionNoise, Promise, key_noise, selected_cell_noise, together_noise
from utmost.releases import Texts
from utmost.service import Grant, Service, Settings, application, connect
from utmost.statements import read_release, registry_entry, stated_release, statement_page
from utmost.workloads import AxisRows, Domain, Plan, ProductRows, bins

KEY = bytes(range(32))
LEVELS = tuple(level(epsilon) for epsilon in ("1/2", 1, 2))
ONE = ut.Unit(1, 1)


@dataclass
class Kind:
    """One kind of noise: its promise, a table with a given number of rows, and the steps of geometric noise in an
    answer. ``lattice`` has the level of these steps; None if the noise is not on a lattice."""

    promise: Any
    table: Any
    steps: Any
    lattice: Any
    needs_table: bool = False
    is_once: bool = False


def counts(n):
    return {"n": np.arange(n) % 100}


def of_counts(answer, table):
    return np.asarray(answer["n"]) - table["n"]


def plan(n):
    return Plan(Domain(x=bins(n)), ONE, {"x": 1})


def listed_rows(n):
    """A plan with the single values at half the level, and the sum of all values at the other half."""
    domain = Domain(x=bins(n))
    rows = ProductRows(domain, (AxisRows(0, np.ones((1, n), dtype=int), 2),))
    return Plan(domain, ONE, rows.shares, rows=rows)


def pairs(n):
    return {**counts(n), "m": np.arange(n) % 7}


def of_sums(answer, table):
    """The noise of the sum of two columns."""
    total = np.asarray(answer["n"]) + np.asarray(answer["m"])
    return (total - table["n"] - table["m"]).astype(int)


SIGNED = together_noise(["n", "m", "k"], unit=ut.Unit(1, 3, nonnegative=True))


def of_signed_sums(answer, table):
    """The noise of the first signed sum."""
    (distribution,) = SIGNED.way.distributions
    errors = [np.asarray(answer[name]) - table[name] for name in SIGNED.columns]
    return np.rint(sum(part * error for part, error in zip(distribution.rows[0], errors, strict=True))).astype(int)


def words(n):
    return {"word": [f"w{k}" for k in range(n)], "n": 30 * np.arange(n)}


HALVES = ut.CellNoise(ut.Unit(3, 1), half_step=True).lattice
GRID = ut.CellNoise(ut.Unit(1, 1), numbers="reals", grid="1/4").lattice
NOISES = {
    "counts": Kind(lambda n: Promise("n", unit=ONE), counts, of_counts, CellNoise(ONE).lattice),
    "change-one": Kind(
        lambda n: Promise("n", unit=ut.Unit(2, 3, "change-one")), counts, of_counts,
        CellNoise(ut.Unit(2, 3, "change-one")).lattice,
    ),
    "half step": Kind(
        lambda n: Promise("n", noise=ut.CellNoise(ut.Unit(3, 1), half_step=True)), counts,
        lambda answer, table: HALVES.split(of_counts(answer, table))[1], HALVES,
    ),
    "reals": Kind(
        lambda n: Promise("n", noise=ut.CellNoise(ONE, numbers="reals", grid="1/4")), counts,
        lambda answer, table: (4 * of_counts(answer, table)).astype(int), GRID,
    ),
    "by item": Kind(
        lambda n: Promise("n", unit=ONE, keyed_by_id=True, id_column="who", public="who"),
        lambda n: {"who": 7 * np.arange(n) + 1000, **counts(n)}, of_counts, CellNoise(ONE).lattice,
    ),
    "sums": Kind(
        lambda n: Promise(noise=plan(n)), lambda n: CountedTable(Domain(x=bins(n)), counts(n)["n"], ONE),
        lambda answer, table: answer.measured[plan(len(table.cells)).domain.finest] - table.cells,
        SumNoise(plan(4)).runs[0][1],
    ),
    "listed rows": Kind(
        lambda n: Promise(noise=listed_rows(n)), lambda n: CountedTable(Domain(x=bins(n)), counts(n)["n"], ONE),
        lambda answer, table: answer.measured[list(answer.plan.shares)[-1]] - table.cells,
        SumNoise(listed_rows(4)).runs[-1][1],
    ),
    "points": Kind(
        lambda n: Promise(["x", "y"], noise=ut.PointNoise(1)),
        lambda n: {"x": counts(n)["n"], "y": np.zeros(n)}, None, None, True,
    ),
    "together": Kind(
        lambda n: Promise(noise=together_noise(["n", "m"], unit=ut.Unit(1, 2))), pairs, of_sums,
        together_noise(["n", "m"], unit=ut.Unit(1, 2)).lattices["n"],
    ),
    "signed sums": Kind(
        lambda n: Promise(noise=SIGNED), lambda n: {**pairs(n), "k": np.ones(n, int)}, of_signed_sums,
        SIGNED.lattices["n"],
    ),
    "keys": Kind(
        lambda n: Promise(noise=key_noise(["word", "n"], delta="1/10")), words, None, None, is_once=True
    ),
    "selected cells": Kind(
        lambda n: Promise(noise=selected_cell_noise(["word", "n"], Texts("kw0123456789", most=3))), words, None, None,
        is_once=True,
    ),
    "a named distribution": Kind(
        lambda n: Promise("n", noise=DistributionNoise(ut.Unit(3, 1), "DiscreteStaircase(step=1)")), counts, None, None,
        is_once=True,
    ),
    "doubled": Kind(lambda n: Promise("n", noise=DOUBLED), counts, of_counts, HALF),
}  # fmt: skip


def in_process(folder, promise, table, first):
    """A memory in this process."""
    return ut.release(table, promise, epsilon=first)


def in_book(folder, promise, table, first, **options):
    """A ledger in a file, opened again for each call."""
    with Ledger.open(folder / "kept.db", create=True, key=KEY, **options) as ledger:
        check_published(ledger.publish("r", table, promise, epsilon=first), ledger, first)
    return Ledger.open(folder / "kept.db", key=KEY).publish("r", table, promise, epsilon=first)


def check_published(answer, memory, first):
    """Publishing gives the answer that the memory has under the name, and the answer's history is that of the
    memory."""
    known, release = memory["r"], answer.release
    assert (type(answer), type(release), type(known)) == (Answer, Release, Release)
    assert (release.name, release.version, release.levels) == (known.name, known.version, known.levels)
    assert plain(answer) == plain(known.at()) == plain(known.at(first))
    assert answer.statement == known.at().statement


def derived(folder, promise, table, first):
    """A ledger in a file with noise derived from the key."""
    return in_book(folder, promise, table, first, derived=True)


def remote(folder, promise, table, first):
    """A ledger of a service."""
    service = Service(Ledger.open(folder / "served.db", create=True, key=KEY), approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6))
    presented = service.bearers.make(None, "c", "curator", "curator", (Grant("*"),))[1]
    memory = connect("http://localhost", presented, transport=Inside(app))
    answer = memory.publish("r", table, promise, epsilon=first)
    check_published(answer, memory, first)
    return answer


REFUSED = {("points", "service")}
"""What a memory does not keep: the path of a point takes minutes at a level of 1e30, which no role may spend."""

MEMORIES = {"process": in_process, "book": in_book, "derived": derived, "service": remote}


@pytest.fixture(autouse=True)
def _known(monkeypatch):
    know(monkeypatch)


def plain(answer):
    """An answer as values that can be compared."""
    table = answer.table if isinstance(answer, Answer) else answer
    shown = table.measured if isinstance(table, ut.releases.NoisySums) else table
    return {str(name): np.asarray(cells).tolist() for name, cells in shown.items()}


@pytest.mark.parametrize("memory", MEMORIES)
@pytest.mark.parametrize("noise", NOISES)
def test_one_interface_and_the_same_answers_whatever_is_asked_first(tmp_path, noise, memory):
    """Answers are repeated, all answers together cost the largest level, and other values are refused."""
    kind = NOISES[noise]
    promise, table = kind.promise(4), kind.table(4)
    if (noise, memory) in REFUSED:
        with pytest.raises(OutOfRange, match="got per"):
            MEMORIES[memory](tmp_path, promise, table, 1)
        return
    assert Promise.of_facts(promise.facts()) == promise
    if kind.is_once:
        check_needs_no_ledger(MEMORIES[memory](tmp_path, promise, table, 1), table)
        return
    for at, order in enumerate([(LEVELS[1], LEVELS[2], LEVELS[0]), LEVELS[::-1]][: 2 if memory == "process" else 1]):
        folder = tmp_path / str(at)
        folder.mkdir()
        answer = MEMORIES[memory](folder, promise, table, order[0])
        release = answer.release
        first = {one: plain(release.at(one, table=table)) for one in order}
        assert release.levels == LEVELS
        assert release.spent == LEVELS[-1]
        assert {one: plain(release.at(one)) for one in order[::-1]} == first, "asked again"
        assert plain(answer) == first[order[0]], "an answer keeps the level of the call that made it"
        assert release.at(2).margin() <= release.at("1/2").margin()
        assert answer.margin() == release.at(order[0]).margin() == promise.margin(order[0], "0.95")
        assert answer.margin("0.99") == promise.margin(order[0], "0.99")
        assert level(answer.statement["epsilon"]) == answer.level == order[0]
        unpickled = pickle.loads(pickle.dumps(answer))
        assert (plain(unpickled), unpickled.statement) == (plain(answer), answer.statement)
        with pytest.raises(Unsupported, match=r"ledger\[name\]"):
            print(unpickled.release)
    with pytest.raises(NotALevel):
        release.at(0)
    other = (
        CountedTable(table.domain, table.cells + 1, ONE)
        if isinstance(table, CountedTable)
        else {**table, "n": [0] * 4, "x": [9] * 4}
    )
    if noise == "points":
        del other["n"]
    with pytest.raises(DataChanged):
        release.at(3, table=other)
    assert release.spent == LEVELS[-1], "nothing is spent by a call that fails"


def check_needs_no_ledger(made, table):
    """Such noise is drawn at one level: the answer is repeated, and another level is refused with a typed error."""
    release, answer = made.release, plain(made)
    assert {*table} <= {*answer}
    assert {"w2", "w3"} <= set(answer.get("word", ("w2", "w3")))
    assert plain(release.at(1, table=table)) == plain(release.at(1)) == answer
    for other in (2, "1/2"):
        with pytest.raises((Unsupported, ServiceError)):
            release.at(other, table=table)
    with pytest.raises((DataChanged, ServiceError)):
        release.at(3, table={**table, "n": table["n"] + 1})
    assert (release.levels, made.statement["epsilon"]) == ((level(1),), "1")
    assert made.margin() > 0


@pytest.mark.parametrize("noise", ["counts", "sums", "signed sums", "keys"])
def test_an_answer_that_a_service_gave_verifies(tmp_path, noise):
    """The client saves an answer that it got by HTTP, and `utmost verify` accepts the table and the statement."""
    answer = remote(tmp_path, NOISES[noise].promise(4), NOISES[noise].table(4), 1)
    path = tmp_path / ("r.json" if answer.is_by_plan else "r.csv")
    answer.save(path)
    with pytest.raises(SystemExit) as ended:
        main(["verify", str(path)])
    assert ended.value.code in (0, None)


ALIKE = [name for name, kind in NOISES.items() if (promise := kind.promise(4)).once() == promise]
"""Noises of which a promise leaves no choice, so that ``once=True`` draws them, too."""


@pytest.mark.parametrize("noise", ALIKE)
def test_released_once_it_is_the_first_answer_that_a_memory_gives(tmp_path, noise):
    """With ``once`` every promise works: kind of table, margin and file are those of the first answer of a memory."""
    kind = NOISES[noise]
    promise, table = kind.promise(4), kind.table(4)
    made = ut.release(table, promise, epsilon=1, once=True)
    kept = ut.release(table, promise, epsilon=1)
    assert type(made.table) is type(kept.table)
    assert list(plain(made.table)) == list(plain(kept.table))
    assert (made.margin(), made.level, made.unit.cells) == (kept.margin(), level(1), promise.unit.cells)
    drawn = {"name", "data_version", "levels", "together", "table", "measured", *({"rows"} if kind.is_once else ())}
    said = {name: fact for name, fact in kept.statement.items() if name not in drawn}
    assert {name: fact for name, fact in made.statement.items() if name not in drawn} == said
    if kind.is_once:
        assert (made.rows, made.statement["rows"]) == (len(made.table[made.columns[0]]),) * 2
    assert "epsilon" in made._repr_html_()
    assert pickle.loads(pickle.dumps(made)).statement == made.statement
    path = tmp_path / ("r.json" if noise in ("sums", "listed rows") else "r.csv")
    assert made.save(path)["epsilon"] == "1"
    if made.is_by_plan:
        assert ut.read_release(path).total() == made.total() == made.table.total()
    elif kind.lattice or kind.is_once:
        assert stated_release(json.loads((tmp_path / "r.csv.json").read_text())).statement["epsilon"] == "1"


@pytest.mark.parametrize("noise", ALIKE)
def test_what_is_released_once_is_read_as_what_is_remembered_and_as_its_file(tmp_path, noise):
    """All methods for readers agree between a remembered answer, one made once, and a file: same results or same
    errors."""
    kind = NOISES[noise]
    promise, table = kind.promise(4), kind.table(4)
    made, kept = ut.release(table, promise, epsilon=1, once=True), ut.release(table, promise, epsilon=1)
    column = {} if made.is_by_plan else {"column": made.columns[0]}
    try:
        kept.total(**column)
    except UtmostError as refusal:
        with pytest.raises(type(refusal)):
            made.total(**column)
        return
    path = tmp_path / ("r.json" if made.is_by_plan else "r.csv")
    made.save(path)
    own, remembered, in_file = (each.total(**column) for each in (made, kept, ut.read_release(path)))
    assert (own.value, own.margin) == (in_file.value, in_file.margin)
    assert own.margin == remembered.margin


@pytest.mark.parametrize("noise", [name for name in ALIKE if NOISES[name].lattice])
def test_what_is_released_once_has_its_distribution(noise):
    """Chi-square test against the geometric noise of one level, on 3 000 cells."""
    kind = NOISES[noise]
    table = kind.table(3_000)
    answer = ut.release(table, kind.promise(3_000), epsilon=1, once=True).table
    assert joint_chi_square(np.array([kind.steps(answer, table)]), [kind.lattice.of(level(1))]) > LEVEL


@pytest.mark.parametrize("noise", [name for name, kind in NOISES.items() if not kind.is_once])
def test_beyond_the_highest_level_the_table_is_needed(tmp_path, noise):
    kind = NOISES[noise]
    in_book(tmp_path, kind.promise(4), kind.table(4), 1)
    release = Ledger.open(tmp_path / "kept.db", key=KEY)["r"]
    with pytest.raises(NeedsTable):
        release.at(2)
    if kind.needs_table:
        with pytest.raises(NeedsTable):
            release.at("1/2")
    else:
        release.at("1/2")
    assert release.spent == level(1)


LOW, MIDDLE, HIGH = LEVELS
ORDERS = [(LOW, MIDDLE, HIGH), (HIGH, MIDDLE, LOW), (LOW, HIGH, MIDDLE), (HIGH, LOW, MIDDLE)]
"""Each step after the first is above, below or between the levels that were answered."""


@pytest.mark.parametrize("noise", NOISES)
def test_a_ledger_that_was_put_back_gives_the_answers_that_it_gave(tmp_path, noise):
    """Where noise follows from the key: a copy from before the first answer, without a witness, draws the same."""
    kind, always = NOISES[noise], ("by item", "points")  # which follow from the key in any ledger
    promise, table, said = kind.promise(40), kind.table(40), []
    options = {"key": KEY, "witness": False}
    Ledger.open(tmp_path / "l.db", create=True, derived=noise not in always, **options).close()
    shutil.copy(tmp_path / "l.db", tmp_path / "before.db")
    for file, levels in (("l.db", [3]), ("before.db", [3] if noise == "by item" else [2, 3])):
        with Ledger.open(tmp_path / file, **options) as ledger:
            answers = [ledger.publish("r", table, promise, epsilon=1)]
            answers += [] if kind.is_once else [[ledger.relax("r", table, epsilon=one) for one in levels][-1]]
        said.append([plain(answer) for answer in answers])
    assert said[0] == said[1]


@pytest.mark.parametrize("memory", ["process", "book", "derived"])
@pytest.mark.parametrize("noise", [name for name, kind in NOISES.items() if kind.lattice])
def test_the_answers_have_the_joint_distribution_in_every_order(tmp_path, noise, memory):
    """Chi-square test of triples of steps against the joint distribution of geometric noise at the levels of one
    step."""
    kind, n = NOISES[noise], 700 if noise in ("sums", "listed rows") else 1_500
    levels = [kind.lattice.of(one) for one in LEVELS]
    table = kind.table(n)
    for at, order in enumerate(ORDERS if memory == "process" else ORDERS[-1:]):
        folder = tmp_path / str(at)
        folder.mkdir()
        release = MEMORIES[memory](folder, kind.promise(n), table, order[0]).release
        answers = {one: release.at(one, table=table).table for one in order}
        assert joint_chi_square(np.array([kind.steps(answers[one], table) for one in LEVELS]), levels) > LEVEL, order


def test_a_noise_of_ones_own_is_kept_stated_and_audited(tmp_path):
    """One file and one row in the table of kinds: the promise is read back, the ledger is verified, the statement is
    right."""
    with Ledger.open(tmp_path / "kept.db", create=True, key=KEY) as ledger:
        made = ledger.publish(
            "r", {"n": [5, 7], "d": ["a", "b"]}, Promise("n", noise=DOUBLED, public="d"), epsilon=1
        ).table
        assert list(made) == ["n", "d", "n_margin"] or list(made) == ["n", "n_margin", "d"]
        said = ledger.view("r", epsilon=1).save(tmp_path / "r.csv")
        margin = DOUBLED.margin(level(1), "0.95")
        assert (said["kind"], said["margins"], said["name"]) == ("utmost statement", {"n_margin": margin}, "r")
    read = read_release(tmp_path / "r.csv")
    words = stated_release(read.statement)
    assert dict(words.noises[0].bars)[Fraction(19, 20)] == margin
    assert "doubled cells" in statement_page(words)
    assert registry_entry(words)["deployment"]["privacy_loss"]["privacy_parameters"] == {"epsilon": 1.0}
    with pytest.raises(BadTable, match="margins"):
        stated_release(said | {"margins": {"n_margin": margin - 1}})
    with Ledger.open(tmp_path / "kept.db", key=KEY) as ledger:
        assert ledger.verify().responses == 1
        assert ledger.releases[0].noise == DOUBLED


def test_what_a_noise_says_itself_is_not_said_beside_it():
    with pytest.raises(OutOfRange, match="unit= and noise="):
        Promise("n", noise=DOUBLED, unit=ONE)


@pytest.mark.parametrize("frame", ["polars", "duckdb"])
def test_a_release_answers_for_the_frame_of_an_engine(frame):
    """The ledger stores no answers of an engine's frame: each is made again from the frame, also at levels answered
    before."""
    rows = pytest.importorskip("polars").LazyFrame({"id": [1, 2], "n": [600, 370]})
    if frame == "duckdb":
        con = pytest.importorskip("duckdb").connect()
        rows = con.sql("SELECT * FROM (VALUES (1, 600), (2, 370)) rows(id, n)")
    promise = Promise("n", public="id", unit=ONE, keyed_by_id=True, id_column="id")
    answer = ut.release(rows, promise, epsilon=1)
    release = answer.release

    def values(answer):
        return (
            (answer.collect()["n"].to_list())
            if frame == "polars"
            else [row[0] for row in answer.select("n").fetchall()]
        )

    first = values(answer.table)
    assert values(release.at(40).table) == [600, 370]
    assert values(release.at(1).table) == first
    assert release.spent == level(40)
