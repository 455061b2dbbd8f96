"""Histories of a ledger, its clients and its service keep every promise; and each planted fault is found.

The store is reset between histories.
"""

import os
import sqlite3
from collections import Counter

import pytest

from disk import library
from goodness import LEVEL
from simulation.distribution import Noise
from simulation.history import History, Violation
from simulation.places import InMemory, OnDisk
from simulation.protocol_faults import FAULTS
from utmost.core.sampling import draw, level_draws
from utmost.errors import UtmostError
from utmost.publish.ledger import sqlite_store

pytestmark = [
    pytest.mark.skipif(library() is None, reason="SQLite is built into Python here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
HISTORIES = 40
ON_A_DISK, IN_MEMORY = (*range(20), 34), range(64)
"""Every planted fault is found in these, and every kind of event happens; in 34 a disk that lied does damage."""
ON_DISK = {"nothing_forced_to_the_disk", "the_folder_not_forced_to_the_disk", "fresh_noise_on_relax"}
"""Faults that a disk alone shows, or larger tables sooner."""


@pytest.fixture(autouse=True)
def _no_sampler_survives():
    """Samplers are kept by kernel: one made under a fault must not serve another test."""
    kept = (draw._many, level_draws._tightening, level_draws._bridge)
    for cache in kept:
        cache.cache_clear()
    yield
    for cache in kept:
        cache.cache_clear()


def lived(folder, seeds, distribution, where=OnDisk):
    """What happened in histories, all of them sound."""
    happened = Counter()
    for seed in seeds:
        try:
            history = History(folder, seed, where).run()
        except BaseException:
            print(f"python tests/simulation --first {seed} --count 1{' --memory' * (where is InMemory)}")
            raise
        distribution.take(history)
        happened += history.happened
    return happened


@pytest.mark.parametrize(("where", "seeds"), [(OnDisk, ON_A_DISK), (InMemory, IN_MEMORY)], ids=["disk", "memory"])
def test_histories_keep_every_promise(tmp_path, monkeypatch, where, seeds):
    monkeypatch.setattr("simulation.history.begun", {})  # whichever histories were lived before
    distribution = Noise()
    happened = lived(tmp_path, seeds, distribution, where)
    assert distribution.p_value() > LEVEL
    kinds = (
        "kill", "power cut", "failing disk", "broken disk", "sync that was none", "store put back", "resumed",
        "end cut off", "fork", "clock jump",
    )  # fmt: skip
    assert [kind for kind in kinds if not happened[kind]] == []
    assert where is InMemory or happened["damaged by a disk that lied"]


@pytest.mark.parametrize("where", [OnDisk, InMemory])
def test_a_history_is_lived_again(tmp_path, where):
    """The same number, the same history: every answer, and every event, whichever others were lived before."""
    first = History(tmp_path, 7, where).run()
    History(tmp_path, 8, where).run()
    again = History(tmp_path, 7, where).run()
    assert first.answers == again.answers
    assert first.happened == again.happened


def test_readers_see_what_is_committed_while_somebody_writes(tmp_path):
    """As of a file of SQLite: one writes, others read what was there, and a commit waits for them."""
    waited = []
    place = InMemory(tmp_path, lambda step: 0, waited.append)
    path = tmp_path / "store" / "l.db"
    path.parent.mkdir()
    place.become({"store/l.db": b""})
    with place.simulated():
        writer, reader, late = (sqlite_store._connected(path, 1, write=wanted) for wanted in (True, False, False))
        reader.execute("BEGIN")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("CREATE TABLE written (row)")
        late.execute("BEGIN")
        for session in (reader, late):
            assert session.execute("SELECT name FROM sqlite_master").fetchall() == []
        with pytest.raises(sqlite3.OperationalError):
            writer.execute("COMMIT")
        assert sum(waited) >= 1e6
        for session in (reader, late):
            session.close()
        writer.execute("COMMIT")
        writer.close()
        reader = sqlite_store._connected(path, 1, write=False)
        reader.execute("BEGIN")
        assert reader.execute("SELECT name FROM sqlite_master").fetchall() == [("written",)]


@pytest.mark.slow
@pytest.mark.parametrize(("where", "part"), [(OnDisk, 10), (InMemory, 1)], ids=["disk", "memory"])
def test_ten_thousand_histories(tmp_path, where, part):
    """UTMOST_HISTORIES in the environment sets another dose."""
    count, distribution = int(os.environ.get("UTMOST_HISTORIES", "10000")) // part, Noise()
    print(lived(tmp_path, range(1000, 1000 + count), distribution, where))
    assert distribution.p_value() > LEVEL


@pytest.mark.parametrize(("fault", "first"), FAULTS.items(), ids=[fault.__name__ for fault in FAULTS])
def test_a_fault_is_found(tmp_path, monkeypatch, fault, first):
    """By a violation, an error that nothing explains, or the distribution of the noise."""
    where = OnDisk if fault.__name__ in ON_DISK else InMemory
    fault(monkeypatch)
    monkeypatch.setattr("simulation.history.begun", {})
    distribution = Noise()
    for seed in range(first, first + HISTORIES):
        try:
            distribution.take(History(tmp_path, seed, where).run())
        except (Violation, UtmostError) as error:
            print(f"found in history {seed}: {error!r}")
            return
        if seed % 10 == 9 and distribution.p_value() < LEVEL:
            print(f"found by the distribution of the noise, up to history {seed}")
            return
    pytest.fail(f"{fault.__name__} passed {HISTORIES} histories")
