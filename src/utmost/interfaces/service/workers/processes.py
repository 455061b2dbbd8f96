"""Work for pages in processes of their own: so many at once, for so long, and a queue that refuses when it is full.

A worker is a program, not a copy of the server: it begins when it is first needed, has neither the key in its memory
nor anything that leads to the ledger in its environment, takes one request after another, and is ended when its time is
over, so that no request can hold up the server, whatever it asks for.

It is spoken to over a channel of its own, on which no library prints: its standard output leads nowhere. Each request
has a number, and so has each answer: a worker that says anything else is ended, and nothing of it is believed.
"""

import json
import logging
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from multiprocessing import connection
from typing import Any

from utmost.errors import Unsupported
from utmost.interfaces.service.api.problems import BROKEN, Refused, busy, too_often

_LOG = logging.getLogger(__name__)
SECONDS = 20.0
_TO_BEGIN = 120.0
_MOST, _WAITING, _OF_ONE = 2, 8, 3
_KEPT, _LONGEST = 64, 1 << 23
_MEMORY = 4 << 30
_FACTS = {"found", "status", "problem"}
# All else in the environment of the server may lead to the ledger, its key, or a password.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_", "TZ", "TMP", "TEMP", "SYSTEMROOT", "PYTHON", "VIRTUAL_ENV", "LD_", "DYLD_",
    "NUMBA_", "OMP_", "MKL_", "OPENBLAS_",
)  # fmt: skip


class Worker:
    """One process that works out what pages show."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED)}
        self._channel, its_end = connection.Pipe()
        with its_end:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "utmost.interfaces.service.workers.processes", str(its_end.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                cwd=os.path.abspath(os.sep),
                **_inherited(its_end.fileno()),
            )
        self._answer(_TO_BEGIN, 0)  # to nothing: it is there

    def answer(self, work: str, fields: Mapping[str, str], seconds: float) -> dict[str, Any] | None:
        """The result of a work; None where it is not worked out in time, and then the process is no more.

        Raises:
            Refused: where it said something else, and then the process is no more.
        """
        number = secrets.randbits(53)  # which nothing said before can have
        return self._answer(seconds, number, json.dumps([number, work, dict(fields)]).encode())

    def _answer(self, seconds: float, number: int, request: bytes | None = None) -> dict[str, Any] | None:
        timer = threading.Timer(seconds, self.process.kill)
        timer.daemon = True
        timer.start()
        told = None
        try:
            if request is not None:
                self._channel.send_bytes(request)
            told = _facts(self._channel.recv_bytes(_LONGEST), number)
        except (EOFError, OSError):  # it is no more, or would say too much
            return None
        finally:
            timer.cancel()
            if told is None:
                self.end()
        if told is None:
            _LOG.error("A worker for pages answered what it was not asked. It is ended, and nothing of it is kept.")
            raise Refused(503, "ServiceBroken", BROKEN, 1.0)
        return told

    @property
    def is_there(self) -> bool:
        """Whether it can be asked: it lives, and says nothing unasked."""
        return self.process.poll() is None and not self._channel.poll()

    def end(self) -> None:
        """End the process, and wait until it is gone; the channel goes with the last who listens on it."""
        self.process.kill()
        self.process.wait()


def _facts(said: bytes, number: int) -> dict[str, Any] | None:
    """The facts of the answer that has this number; None where it is another, or none."""
    try:
        answered, told = json.loads(said)
    except (RecursionError, TypeError, ValueError):
        return None
    is_answer = type(answered) is int and answered == number and isinstance(told, dict) and told.keys() == _FACTS
    return told if is_answer else None


def _inherited(number: int) -> dict[str, Any]:
    """Options by which a process begins with this one end of a channel."""
    if sys.platform != "win32":
        return {"pass_fds": (number,)}
    os.set_handle_inheritable(number, True)
    return {"startupinfo": subprocess.STARTUPINFO(lpAttributeList={"handle_list": [number]})}


class Workers:
    """Processes for the work of pages.

    Args:
        most: Number of processes that work at once.
        waiting: Number of requests that may wait for one.
        of_one: Number of requests of one caller.
        seconds: Seconds that one may work, and that a request may wait.
    """

    def __init__(
        self, most: int = _MOST, waiting: int = _WAITING, of_one: int = _OF_ONE, seconds: float = SECONDS
    ) -> None:
        self._most, self._waiting, self._of_one, self._seconds = most, waiting, of_one, seconds
        self._turn, self._callers, self._at_work = threading.Condition(), Counter[str](), 0
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        weakref.finalize(self, _end, self._all)

    def ask(self, caller: str, work: str, fields: Mapping[str, str], *, is_kept: bool = True) -> dict[str, Any]:
        """The result of a work: see `page_work.answered`. A result that is known is not worked out again.

        Args:
            caller: Caller who makes the request.
            work: its name.
            fields: its texts, which the page has bounded.
            is_kept: whether request and answer are, for whoever asks the same.

        Raises:
            Refused: at once where the queue is full, and where one caller asks for too much of it; and where a worker
                answered something else.
            Unsupported: where it takes too long or too much memory.
        """
        request = json.dumps([work, dict(fields)])
        with self._turn:
            known = self._answers.get(request)
        if known is not None:
            return known
        with self._place(caller), self._worker() as worker:
            began = time.monotonic()
            told = worker.answer(work, fields, self._seconds)
            is_late = time.monotonic() - began >= self._seconds
        if told is None:
            remedy = "Take smaller numbers; the command line has no such limit."
            required = f"a page works for at most {self._seconds:g} s" if is_late else "a page must have room to work"
            raise Unsupported(required, came="more" if is_late else "too little", remedy=remedy)
        if not is_kept:
            return told
        with self._turn:
            self._answers[request] = told
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return told

    def close(self) -> None:
        """End all processes; the next request begins new ones."""
        with self._turn:
            self._idle.clear()
            there = list(self._all)
            self._all.clear()
        _end(there)

    @contextmanager
    def _place(self, caller: str) -> Iterator[None]:
        """A place in the queue, until the request is answered."""
        with self._turn:
            if self._callers[caller] >= self._of_one:
                raise too_often(1.0)
            if self._callers.total() >= self._most + self._waiting:
                raise busy(ceil(self._seconds / 4))
            self._callers[caller] += 1
        try:
            yield
        finally:
            with self._turn:
                self._callers -= Counter([caller])  # callers of none are forgotten

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        """A process that nobody else asks."""
        with self._turn:
            if not self._turn.wait_for(lambda: self._at_work < self._most, self._seconds):
                raise busy(ceil(self._seconds / 4))
            self._at_work += 1
            worker = self._idle.pop() if self._idle else None
        try:
            if worker is None or not worker.is_there:
                self._forget(worker)
                worker = Worker()
                with self._turn:
                    self._all.add(worker)
            yield worker
        finally:
            with self._turn:
                self._at_work -= 1
                if worker is not None and worker in self._all and worker.is_there:
                    self._idle.append(worker)
                    worker = None
                self._turn.notify()
            self._forget(worker)

    def _forget(self, worker: Worker | None) -> None:
        if worker is not None:
            with self._turn:
                self._all.discard(worker)
            worker.end()


def _end(workers: "set[Worker] | list[Worker]") -> None:
    for worker in list(workers):
        worker.end()


WORKERS = Workers()
"""The processes for all services here: they begin when a page first needs one, and end with this process."""


def _work() -> None:
    """Be a worker: with no more memory than is allowed, and ended by the system if the server is gone."""
    from utmost.interfaces.service.workers.page_work import serve

    begun, ended = _no_alarm, _no_alarm
    if hasattr(signal, "alarm"):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY if most < 0 else min(_MEMORY, most), most))
        begun, ended = (lambda: signal.alarm(2 * ceil(SECONDS))), (lambda: signal.alarm(0))
    serve(_own_end(int(sys.argv[1])), begun, ended)


def _own_end(number: int) -> connection.Connection:
    """The channel of this process, which no other process is given."""
    if sys.platform == "win32":
        return connection.PipeConnection(number)
    os.set_inheritable(number, False)
    return connection.Connection(number)


def _no_alarm() -> int:
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends its workers
    _work()
