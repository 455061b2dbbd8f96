"""Many clients at once, as threads, processes and forks: each row and level has one response, whoever asks first."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

import utmost as ut
from running import python
from utmost.errors import LedgerUnavailable, Unsupported
from utmost.exact import level
from utmost.ledger import Ledger

KEY = bytes(range(32))
PROMISE = {"columns": "n", "unit": ut.Unit(1, 1)}
TABLE = {"n": [10, 20, 30]}


def test_threads_get_one_answer(ledger, reopened):
    """Sixteen threads with two ledger objects ask for the same levels in different orders: no level has two answers."""
    other = reopened()
    ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon="1/8")
    start = threading.Barrier(16)

    def client(number):
        mine = (ledger, other)[number % 2]
        start.wait()
        levels = ["1/2", 1, 2, "3/2"][number % 4 :] + ["1/2", 1, 2, "3/2"][: number % 4]
        answers = {str(one): mine.relax("r", TABLE, epsilon=one).table["n"] for one in levels}
        return answers

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(client, range(16)))
    assert all(answer == answers[0] for answer in answers)
    assert len(ledger.history("r")) == 5
    assert ledger.verify()


CLIENT = """
import sys
from utmost import Ledger, Promise, Unit
place, witness, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
with Ledger.open(place, create=True, key=bytes(range(32)), witness=witness) as ledger:
    for name in sorted("abcdef", key=lambda name: hash((name, number))):
        table = {"n": [1, 2, 3]}
        ledger.publish(name, table, Promise(columns="n", unit=Unit(1, 1)), epsilon=1, dataset="d")
        print(name, ledger.view(name, epsilon=1).table["n"], ledger.view(name, epsilon="1/2").table["n"])
"""


@pytest.mark.parametrize("place", ["postgres"], indirect=True)
def test_processes_get_one_answer(place, tmp_path):
    """Processes open, publish and view the same six releases at once, beginning with the creation of the ledger."""
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(python, "-c", CLIENT, place, tmp_path / "witness", number) for number in range(2)]
        lines = [sorted(run.result().stdout.splitlines()) for run in runs]
    assert len(lines[0]) == 6
    assert all(one == lines[0] for one in lines)
    with Ledger.open(place, create=True, key=KEY, witness=tmp_path / "witness") as ledger:
        assert ledger.spent(dataset="d") == level(6)
        assert ledger.status().quarantine is None
        assert ledger.verify().responses == 12


FORKED = """
import os, sys
from utmost import Ledger, Promise, Unit
place, witness = sys.argv[1], sys.argv[2]
say = lambda noise: os.write(1, f"{noise}\\n".encode())
ledger = Ledger.open(place, key=bytes(range(32)), witness=witness, create=True)
table = {"n": [0] * 40}
ledger.publish("r", table, Promise(columns="n", unit=Unit(1, 1)), epsilon="1/10")
children = []
for number in range(3):
    child = os.fork()
    if child == 0:
        ledger.publish(f"child{number}", table, Promise(columns="n", unit=Unit(1, 1)), epsilon="1/10")
        say(ledger.relax("r", table, epsilon=1).table["n"])
        os._exit(0)
    children.append(child)
say(ledger.relax("r", table, epsilon=1).table["n"])
assert all(os.waitpid(child, 0)[1] == 0 for child in children)
noises = [tuple(ledger.view(f"child{number}", epsilon="1/10").table["n"]) for number in range(3)]
assert len(set(noises)) == 3
assert ledger.verify().responses == 5
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_children_use_the_ledger_of_their_parent(place, tmp_path):
    """Each child opens a separate connection and has separate random bits; the parent's session stays open."""
    lines = python("-W", "ignore::DeprecationWarning", "-c", FORKED, place, tmp_path / "witness").stdout.splitlines()
    assert len(lines) == 4
    assert len(set(lines)) == 1


def test_a_locked_ledger_says_so(tmp_path):
    """A caller waits for a writer up to the timeout, and the error names the lock; the call succeeds once the writer is
    gone."""
    import sqlite3

    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, timeout=0.05) as ledger:
        holder = sqlite3.connect(tmp_path / "l.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerUnavailable, match="locked"):
            ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1)
        holder.execute("ROLLBACK")
        holder.close()
        assert ledger.spent(dataset="r") is None
        assert ledger.publish("r", TABLE, ut.Promise(**PROMISE), epsilon=1).table


def test_a_server_out_of_reach_says_so(tmp_path):
    """The message names no password."""
    with pytest.raises(LedgerUnavailable) as caught:
        Ledger.open("postgresql://me:hushhush@localhost:1/none", create=True, key=KEY, timeout=0.1)
    assert "hushhush" not in str(caught.value)
    assert "hushhush" not in repr(caught.value.__cause__)


def test_a_ledger_is_not_copied(tmp_path):
    import copy
    import pickle

    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        for call in (lambda: pickle.dumps(ledger), lambda: copy.copy(ledger), lambda: copy.deepcopy(ledger)):
            with pytest.raises(Unsupported, match="copied"):
                call()
