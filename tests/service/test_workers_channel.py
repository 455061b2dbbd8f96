"""What a worker for pages says is heard over a channel of its own, and believed where it answers what was asked."""

import json
import os
from contextlib import contextmanager

import pytest

from noisy import NOISE, noisy_libraries
from utmost.errors import Unsupported

# Processes are tried alone, with what comes back on their pipes.
from utmost.interfaces.service.api.problems import Refused
from utmost.interfaces.service.workers import processes as module
from utmost.interfaces.service.workers.processes import Workers


def place(size):
    return {"shape": "line", "size": str(size), "epsilon": "1/2", "loss": "binary"}


@contextmanager
def closing(workers):
    try:
        yield workers
    finally:
        workers.close()


def test_answers_stay_with_their_requests_whatever_libraries_print(tmp_path, monkeypatch):
    """At import, when a solver is made, while it solves, and at the end: each caller is shown what was asked, again."""
    monkeypatch.setattr(os, "environ", os.environ | noisy_libraries(tmp_path / "noisy"))
    with closing(Workers(most=1)) as workers:
        for caller, size in [("Ann", 3), ("Bo", 4), ("Cy", 5), ("Ann", 4), ("Bo", 3), ("Bo", 5)]:
            for is_kept in (False, True):
                told = workers.ask(caller, "map", place(size), is_kept=is_kept)
                assert told["found"]["map"]["names"] == [str(k) for k in range(size)]
        refused = workers.ask("Bo", "map", place(99))
        assert (refused["status"], refused["found"]) == (422, {})
        assert len(workers._all) == 1


LIAR = """
import sys, json
from multiprocessing.connection import Connection
channel, said = Connection(int(sys.argv[1])), json.load(open({place!r}))
channel.send_bytes(json.dumps([0, {{"found": {{}}, "status": 200, "problem": ""}}]).encode())
while True:
    number, work, fields = json.loads(channel.recv_bytes())
    facts = json.dumps({{"found": {{"of": fields["of"]}}, "status": 200, "problem": ""}})
    for one in said:
        one = one.replace("NUMBER", str(number)).replace("FACTS", facts)
        channel.send_bytes(one.encode())
"""


@pytest.fixture
def lying(tmp_path, monkeypatch):
    """Workers whose processes say this to each request, once they are there."""

    def make(said):
        (tmp_path / "said.json").write_text(json.dumps(said))
        begin = module.subprocess.Popen

        def begun(command, **options):
            program = LIAR.format(place=str(tmp_path / "said.json"))
            return begin([command[0], "-c", program, command[-1]], **options)

        monkeypatch.setattr(module.subprocess, "Popen", begun)
        return closing(Workers(most=1))

    return make


@pytest.mark.parametrize(
    "said",
    [
        "[0, FACTS]", "[1, FACTS]", '["NUMBER", FACTS]', "[NUMBER.0, FACTS]", "[NUMBER, FACTS, 1]",
        '[NUMBER, {"found": {}}]', "[NUMBER, []]", "FACTS", "NUMBER", "", NOISE.decode(), "[" * 100_000,
    ],
)  # fmt: skip
def test_a_worker_that_answers_something_else_is_ended_and_not_believed(lying, said, caplog):
    with lying([said]) as workers:
        for _ in range(2):  # nothing was kept: the next one is asked anew, of a new process
            with pytest.raises(Refused) as refused:
                workers.ask("Ann", "map", {"of": "Ann"})
            assert (refused.value.status_code, refused.value.title) == (503, "ServiceBroken")
            assert not workers._all
        assert not workers._answers
    assert "without a request" in caplog.text
    assert "Ann" not in caplog.text


def test_a_worker_that_says_more_than_its_answer_is_not_asked_again(lying):
    with lying(["[NUMBER, FACTS]", "[1, FACTS]"]) as workers:
        for caller in ("Ann", "Bo", "Cy"):
            assert workers.ask(caller, "map", {"of": caller})["found"] == {"of": caller}
            for worker in workers._idle:
                assert worker._channel.poll(60)  # what it says beside


def test_a_worker_that_says_too_much_is_ended(lying, monkeypatch):
    monkeypatch.setattr(module, "_LONGEST", 10_000)
    with lying([" " * 20_000]) as workers, pytest.raises(Unsupported):
        workers.ask("Ann", "map", {"of": "Ann"})
    assert not workers._all


def test_what_takes_too_long_is_ended(lying, tmp_path):
    """The process with it; the next one has another process; what is known begins none; and none is left."""
    with lying([]) as workers:
        workers._seconds = 0.05
        with pytest.raises(Unsupported, match=r"0\.05 s"):
            workers.ask("Ann", "map", {"of": "Ann"})
        assert not workers._all
        (tmp_path / "said.json").write_text('["[NUMBER, FACTS]"]')
        workers._seconds = 60.0
        assert workers.ask("Ann", "map", {"of": "Ann"})["found"] == {"of": "Ann"}
        (worker,) = workers._all
        workers.close()
        assert worker.process.returncode is not None
        assert workers.ask("Ann", "map", {"of": "Ann"})["found"] == {"of": "Ann"}, "known"
        assert not workers._all


def test_a_worker_that_ends_is_replaced(lying):
    with lying(["[NUMBER, FACTS]"]) as workers:
        assert workers.ask("Ann", "map", {"of": "Ann"})["status"] == 200
        (worker,) = workers._all
        worker.process.kill()
        worker.process.wait()
        assert workers.ask("Bo", "map", {"of": "Bo"})["found"] == {"of": "Bo"}
