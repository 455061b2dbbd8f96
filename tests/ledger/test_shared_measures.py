"""Several measures in one transaction of a ledger: all or none, each at its share, wherever a call is interrupted."""

import json
import warnings

import pytest

import utmost as ut
from ledger.crash_points import (
    a_draw_fails,
    a_look_before_it_writes,
    nothing_may_be_drawn,
    nothing_may_be_written,
    the_process_is_interrupted_before_it_writes,
)
from running import new_ledger
from utmost.errors import AlreadyPublished, BudgetExceeded, DataChanged, OutOfRange
from utmost.ledger import AnswerRequest, shared_requests
from utmost.releases import NoisySums

ONE_STORE = True

KEY = bytes(range(32))
SALES = {
    "user": [f"u{row % 9}" for row in range(60)],
    "shop": ["AB"[row % 2] for row in range(60)],
    "paid": [*range(60)],
}
DOMAIN = ut.Domain(shop=["A", "B"])
MEASURES = {
    "visits": ut.count(2),
    "spent": ut.sum("paid", per_cell=40),
    "often": ut.count(in_total=3),
}


def counted(events=SALES):
    return ut.count_measures(events, DOMAIN, ut.Counting("user", at_most=2, key=KEY), MEASURES)


def shared_of(tables, epsilon=1):
    wanted = {name: ut.Workload(table.domain, {"shop": 1, "": 1}) for name, table in tables.items()}
    plans = {name: ut.choose_plan(wanted[name], table.unit, epsilon=1) for name, table in tables.items()}
    return ut.workloads.share_level(plans, epsilon=epsilon, weights={"visits": 2})


def publish_shared(ledger, tables, shared, **at):
    return ledger.publish_measures(shared_requests(tables, shared, dataset="sales", **at), tables)


@pytest.fixture(scope="module")
def tables():
    return counted()


@pytest.fixture(scope="module")
def shared(tables):
    return shared_of(tables)


def test_all_are_published_relaxed_viewed_and_checked_at_their_shares(place, tables, shared):
    with ut.Ledger.open(place, create=True) as ledger:
        lower = publish_shared(ledger, tables, shared)
        assert {name: release.level for name, release in lower.items()} == shared.levels(ut.level(1))
        assert ledger.spent(dataset="sales").epsilon == 1
        higher = ledger.relax_shared(tables, shared, epsilon=2)
        assert ledger.spent(dataset="sales").epsilon == 2
        again = publish_shared(ledger, tables, shared)
        for name, release in lower.items():
            assert again[name].statement == release.statement
            NoisySums.of_facts(release.table.facts())
            NoisySums.of_facts(higher[name].table.facts())
            assert ledger.view(name, epsilon=release.level).statement == release.statement
        twice = ledger.relax_shared(tables, shared, epsilon=2)
        assert {name: release.statement for name, release in twice.items()} == {
            name: release.statement for name, release in higher.items()
        }
        kinds = [event.kind for event in ledger.history()]
        assert kinds.count("published") == kinds.count("answered") == 3
        assert ledger.verify().events == len(kinds)
    with ut.Ledger.open(place) as ledger:
        assert ledger.view("spent", epsilon=higher["spent"].level).statement == higher["spent"].statement


def test_one_transaction_writes_them_all(place, tables, shared, monkeypatch):
    """A simultaneous reader sees no release or all three: the store gets all events at once."""
    with ut.Ledger.open(place, create=True) as ledger, ut.Ledger.open(place) as reader:
        seen = []
        a_look_before_it_writes(monkeypatch, lambda events: seen.append((events, len(reader.releases))))
        publish_shared(ledger, tables, shared)
        assert seen == [(3, 0)]
        assert len(reader.releases) == 3


@pytest.mark.parametrize("cut", [1, 2, 3])
def test_whatever_fails_before_the_last_is_drawn_leaves_nothing(place, tables, shared, cut, monkeypatch):
    with ut.Ledger.open(place, create=True) as ledger:
        a_draw_fails(monkeypatch, cut)
        with pytest.raises(MemoryError):
            publish_shared(ledger, tables, shared)
        assert (ledger.releases, ledger.spent(dataset="sales")) == ((), None)
        monkeypatch.undo()
        assert set(publish_shared(ledger, tables, shared)) == set(tables)


def test_the_budget_has_room_for_all_or_nothing_is_drawn(place, tables, shared, monkeypatch):
    with ut.Ledger.open(place, create=True) as ledger, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ledger.budget("sales", "9/10")
        nothing_may_be_drawn(monkeypatch)
        with pytest.raises(BudgetExceeded):
            publish_shared(ledger, tables, shared)
        monkeypatch.undo()
        ledger.budget("sales", 1)
        publish_shared(ledger, tables, shared)
        with pytest.raises(BudgetExceeded):
            ledger.relax_shared(tables, shared, epsilon="11/10")
        assert ledger.spent(dataset="sales").epsilon == 1
        ledger.budget("sales", 2)
        ledger.relax_shared(tables, shared, epsilon=2)  # in place of what was spent, and not beside it
        assert ledger.spent(dataset="sales").epsilon == 2
        first, second, _ = tables
        higher, lower = ledger.release(first).spent.scaled("101/100"), ledger.release(second).spent.scaled("1/3")
        requests = [AnswerRequest(first, higher, None), AnswerRequest(second, lower, None)]
        nothing_may_be_drawn(monkeypatch)  # a lower level beside costs no less than it did
        with pytest.raises(BudgetExceeded):
            ledger.relax_measures(requests, tables)


def test_what_is_stored_of_all_is_given_without_the_lock_of_writers(place, tables, shared, monkeypatch):
    with ut.Ledger.open(place, create=True) as ledger:
        lower = publish_shared(ledger, tables, shared)
        higher = ledger.relax_shared(tables, shared, epsilon=2)
        nothing_may_be_written(monkeypatch)
        again = publish_shared(ledger, tables, shared)
        higher = ledger.relax_shared(tables, shared, epsilon=2)
        for name in tables:
            assert again[name].statement == lower[name].statement
            assert higher[name].statement == higher[name].statement


def test_what_was_published_alone_keeps_its_answer(place, tables, shared):
    with ut.Ledger.open(place, create=True) as ledger:
        own = shared.levels(ut.level(1))["visits"]
        alone = ledger.publish("visits", tables["visits"], shared.plans["visits"], epsilon=own, dataset="sales").table
        together = publish_shared(ledger, tables, shared)
        assert together["visits"].statement == alone.statement
        assert ledger.spent(dataset="sales").epsilon == 1


def test_what_is_refused_spends_nothing(place, tables, shared):
    with ut.Ledger.open(place, create=True) as ledger:
        with pytest.raises(OutOfRange, match="visits, spent, often"):
            publish_shared(ledger, {"visits": tables["visits"]}, shared)
        publish_shared(ledger, tables, shared)
        others = counted({**SALES, "paid": [5] * 60})
        with pytest.raises(DataChanged):
            ledger.relax_shared(others, shared, epsilon=2)
        with pytest.raises(DataChanged):
            publish_shared(ledger, others, shared)
        with pytest.raises(AlreadyPublished):
            publish_shared(ledger, tables, shared, epsilon=2)
        assert ledger.spent(dataset="sales").epsilon == 1
        assert len(list(ledger.history())) == 4


def test_shares_by_which_a_measure_has_spent_more_are_refused(place, tables, shared):
    with ut.Ledger.open(place, create=True) as ledger:
        publish_shared(ledger, tables, shared)
        others = ut.workloads.SharedLevel(
            shared.plans, {"visits": "1/10", "spent": "1/10", "often": "4/5"}, shared.level
        )
        with pytest.raises(OutOfRange, match=r"'visits'.*'1/5'"):
            ledger.relax_shared(tables, others, epsilon=2)


def test_the_commands_publish_and_relax_them(run, tmp_path, tables, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, table in tables.items():
        table.save(tmp_path / f"counted-{name}.json")
        assert run("plan", f"counted-{name}.json", "--want", "shop", "--epsilon", 1, "--out", f"{name}.json")[0] == 0
    plans = [f"{name}.json" for name in tables]
    kept = ["--up-to", 2, "--ledger", new_ledger("releases.db")]
    words = ["--epsilon", 1, "--publish", "counted.json", *kept, "--dataset", "sales"]
    assert "published; utmost view --ledger releases.db --name spent" in " ".join(
        run("share", *plans, *words)[1].split()
    )
    assert run("share", *plans, "--epsilon", 2, "--relax", "counted.json", *kept)[0] == 0
    with ut.Ledger.open("releases.db") as ledger:
        assert (ledger.spent(dataset="sales").epsilon, len(ledger.releases)) == (2, 3)
    assert "larger --epsilon" in run("share", *plans, "--epsilon", "3/2", "--relax", "counted.json", *kept)[2]
    assert "needs --publish or --relax" in run("share", *plans, "--epsilon", 1, "--ledger", "releases.db")[2]
    assert "--relax needs --ledger" in run("share", *plans, "--epsilon", 1, "--relax", "counted.json")[2]


def test_utmost_share_releases_them_once_or_in_a_ledger(run, tmp_path, monkeypatch):
    """All or none, each at its share, with a document that verifies."""
    monkeypatch.chdir(tmp_path)
    lines = ["user,shop,paid", *(",".join(map(str, row)) for row in zip(*SALES.values(), strict=True))]
    (tmp_path / "sales.csv").write_text("\n".join(lines))
    (tmp_path / "domain.json").write_text('{"shop": ["A", "B"]}')
    (tmp_path / "measures.json").write_text('{"visits": {"per_cell": 2}, "spent": {"values": "paid", "per_cell": 40}}')
    (tmp_path / "key").write_bytes(KEY)
    people = ["--person", "user", "--at-most", 2, "--domain", "domain.json", "--measures", "measures.json"]
    people += ["--count-key", "key"]
    assert run("count", "sales.csv", *people, "--out", "counted.json")[0] == 0
    for name in ("visits", "spent"):
        assert run("plan", f"counted-{name}.json", "--want", "shop", "--epsilon", 1, "--out", f"{name}.json")[0] == 0
    both = ["share", "visits.json", "spent.json", "--epsilon", 1, "--publish", "counted.json"]
    out = ["--out", "released.json"]
    assert "Nothing was drawn" in run(*both, *out, "--dry-run")[1]
    assert not list(tmp_path.glob("released*"))
    (tmp_path / "released-spent.json").write_text("")
    assert "no existing file is overwritten" in run(*both, *out)[2]
    assert not (tmp_path / "released-visits.json").exists()
    (tmp_path / "released-spent.json").unlink()
    assert "released-visits.json" in run(*both, *out)[1]
    spent = {name: ut.read_release(f"released-{name}.json").epsilon for name in ("visits", "spent")}
    assert sum(spent.values()) == 1
    for name in spent:
        assert run("verify", f"released-{name}.json")[0] == 0
    assert set(json.loads(run(*both)[1])["releases"]) == set(spent)
    kept = ["--ledger", new_ledger("releases.db"), "--dataset", "sales", "--out", "kept.json"]
    assert run(*both, *kept)[0] == 0
    with ut.Ledger.open("releases.db") as ledger:
        assert (ledger.spent(dataset="sales").epsilon, len(ledger.releases)) == (1, 2)
        kept_sums = ledger.view("spent", epsilon=spent["spent"]).table
        assert ut.read_release("kept-spent.json").table.facts() == kept_sums.facts()
    refusals = (
        ([*both, "--dataset", "x"], "--dataset needs --ledger"),
        ([*both, "--relax", "counted.json"], "only one of --publish and --relax"),
        ([*both[:5], "--dry-run"], "--dry-run needs --publish"),
        ([*both[:-1], "other.json"], "does not exist"),
    )
    for words, message in refusals:
        code, _, error = run(*words)
        assert code != 0
        assert message in " ".join(error.split()), (words, error)


def test_what_the_witness_holds_when_it_is_cut_off_comes_whole(place, tables, shared, monkeypatch):
    """Interrupted between draw and store: the next call returns everything that was drawn, and draws nothing."""
    with ut.Ledger.open(place, create=True) as ledger, monkeypatch.context() as patch:
        the_process_is_interrupted_before_it_writes(patch)
        with pytest.raises(KeyboardInterrupt):
            publish_shared(ledger, tables, shared)
    with ut.Ledger.open(place) as ledger:
        assert ledger.releases == ()
        with monkeypatch.context() as patch:
            nothing_may_be_drawn(patch)
            releases = publish_shared(ledger, tables, shared)
        assert len(ledger.releases) == 3
        assert ledger.verify().events == 4
        assert {name: ledger.view(name, epsilon=release.level).statement for name, release in releases.items()} == {
            name: release.statement for name, release in releases.items()
        }
