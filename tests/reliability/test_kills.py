"""R1: durable before released. Processes die at random moments and at every write; no answer is lost or changed."""

import contextlib
import os
import random
import signal

import pytest

from disk import Disk, library
from reliability.clients import Children, Record, ask, first_level, killed_at_random, random_request, work
from utmost.ledger import Ledger

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
MANY = 500
"""So many items that there is always something new to write."""
watched = pytest.mark.skipif(library() is None, reason="SQLite is built into Python here")


def survive_random_kills(place, options, kills, seed, enough, longest=0.15):
    """Kill so many processes, one to eight at a time, then ask for everything again.

    A busy machine answers less before each kill; then more are killed, until enough has been answered.
    """
    rng, record, done = random.Random(seed), Record(), 0
    Ledger.open(place, create=True, **options).close()
    while done < kills or len(record.answers) < enough:
        assert done < 10 * kills, "next to nothing is answered"
        writers = rng.randint(1, 8)
        record.take(killed_at_random(place, options, rng, writers, longest, items=max(12, kills // 2)))
        done += writers
    with Ledger.open(place, **options) as ledger:
        record.check(ledger)
    return record


def test_random_kills(store):
    record = survive_random_kills(*store, kills=6, seed=1, enough=3)
    assert record.answers


@pytest.mark.slow
def test_two_thousand_random_kills(store):
    record = survive_random_kills(*store, kills=2000, seed=2, enough=100)
    print(f"{record.count} answers to {len(record.answers)} questions survived 2000 kills")


def die_at(point):
    """Kill this process when the disk is about to do its point-th operation."""
    left = [point]

    def before(_):
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return 0

    return before


def survive_exact_kills(place, options, points, dying):
    """A process for each point: it dies at that operation, wherever this is in a transaction."""
    record, children = Record(), Children()
    Ledger.open(place, create=True, **options).close()
    for seed, point in enumerate(points):

        def job(say, point=point, seed=seed):
            with dying(point):
                work(place, options, seed, say, items=MANY)

        lines, status = children.heard(children.start(job))
        assert os.WIFSIGNALED(status)
        record.take(lines)
    with Ledger.open(place, **options) as ledger:
        record.check(ledger)
    return record


@watched
@pytest.mark.slow
def test_two_hundred_exact_kills(tmp_path):
    survive_exact_kills(str(tmp_path / "l.db"), {}, range(201), lambda point: Disk(die_at(point)))


@contextlib.contextmanager
def die_at_statement(point):
    """Make a psycopg connection kill this process before or after its point-th statement or commit."""
    import psycopg

    left = [point]

    def dying(method):
        def call(self, *arguments, **options):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            result = method(self, *arguments, **options)
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return call

    for kind, names in ((psycopg.Connection, ("commit", "rollback")), (psycopg.Cursor, ("execute", "executemany"))):
        for name in names:
            setattr(kind, name, dying(getattr(kind, name)))
    yield


def test_kills_around_every_statement(postgresql):
    record = survive_exact_kills(*postgresql, range(0, 200, 10), die_at_statement)
    assert record.answers


@pytest.mark.slow
def test_two_hundred_kills_around_statements(postgresql):
    survive_exact_kills(*postgresql, [k % 197 for k in range(201)], die_at_statement)


def test_an_answer_that_was_never_received_is_the_one_that_is_given(tmp_path):
    """The commit happened, the answer did not arrive: asked again, the ledger repeats what it has."""
    place = str(tmp_path / "l.db")
    children = Children()

    def job(say):
        with Ledger.open(place, create=True) as ledger:
            ask(ledger, 0, first_level(0), "publish")
            os.kill(os.getpid(), signal.SIGKILL)

    children.heard(children.start(job))
    with Ledger.open(place) as ledger:
        events = len(ledger.history())
        first = ask(ledger, 0, first_level(0), "publish")
        assert ask(ledger, 0, first_level(0), "view") == first
        assert len(ledger.history()) == events


def test_the_requests_reach_every_kind_of_call():
    """The random requests publish, relax and view, at all levels."""
    rng = random.Random(3)
    asked = [random_request(rng) for _ in range(300)]
    assert {how for _, _, how in asked} == {"publish", "relax", "view"}
    assert len({level for _, level, _ in asked}) == 5
