"""Work for pages in processes of their own: so many at once, for so long, and a queue that refuses when it is full.

A worker is a program, not a copy of the server: it begins when it is first needed, has neither the key in its memory
nor anything that leads to the ledger in its environment, takes one request after another as lines of JSON, and is ended
when its time is over, so that no request can hold up the server, whatever it asks for.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from math import ceil
from typing import Any

from utmost.doors.service.problems import busy, too_often
from utmost.errors import Unsupported

SECONDS = 20.0
_TO_BEGIN = 120.0
_MOST, _WAITING, _OF_ONE = 2, 8, 3
_KEPT, _LONGEST = 64, 1 << 23
_MEMORY = 4 << 30
# All else in the environment of the server may lead to the ledger, its key, or a password.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_", "TZ", "TMP", "TEMP", "SYSTEMROOT", "PYTHON", "VIRTUAL_ENV", "LD_", "DYLD_",
    "NUMBA_", "OMP_", "MKL_", "OPENBLAS_",
)  # fmt: skip


class Worker:
    """One process that works out what pages show."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "utmost.doors.service.workers"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            cwd=os.path.abspath(os.sep),
        )
        self._line(_TO_BEGIN)

    def answer(self, request: bytes, seconds: float) -> bytes:
        """The answer to a line; empty where there was none in time, and then the process is no more."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(request + b"\n")
            self.process.stdin.flush()
        except (OSError, ValueError):  # it is no more
            self.end()
            return b""
        return self._line(seconds)

    def _line(self, seconds: float) -> bytes:
        assert self.process.stdout is not None
        timer = threading.Timer(seconds, self.process.kill)
        timer.daemon = True
        timer.start()
        try:
            line = self.process.stdout.readline(_LONGEST)
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            self.end()
            return b""
        return line

    @property
    def is_there(self) -> bool:
        """Whether it can be asked."""
        return self.process.poll() is None

    def end(self) -> None:
        """End the process, and wait until it is gone."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not written yet has nobody to read it
                pipe.close()


class Workers:
    """Processes for the work of pages.

    Args:
        most: how many work at once.
        waiting: how many requests may wait for one.
        of_one: how many requests of one caller may be there.
        seconds: for how long one may work, and one may wait.
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
        """What a work gives: see `page_work.answered`. What was asked before is not worked out again.

        Args:
            caller: whose request it is.
            work: its name.
            fields: its texts, which the page has bounded.
            is_kept: whether request and answer are, for whoever asks the same.

        Raises:
            Refused: at once where the queue is full, and where one caller asks for too much of it.
            Unsupported: where it takes too long or too much memory.
        """
        request = json.dumps([work, dict(fields)])
        with self._turn:
            known = self._answers.get(request)
        if known is not None:
            return known
        with self._place(caller), self._worker() as worker:
            began = time.monotonic()
            line = worker.answer(request.encode(), self._seconds)
            is_late = time.monotonic() - began >= self._seconds
        if not line:
            remedy = "Take smaller numbers; the command line has no such limit."
            required = f"a page works for at most {self._seconds:g} s" if is_late else "a page must have room to work"
            raise Unsupported(required, came="more" if is_late else "too little", remedy=remedy)
        told: dict[str, Any] = json.loads(line)
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
"""Those of this process, for all services in it: they begin when a page first needs one, and end with the process."""


def _work() -> None:
    """Be a worker: with no more memory than is allowed, and ended by the system if the server is gone."""
    from utmost.doors.service.page_work import serve

    begun, ended = _no_alarm, _no_alarm
    if hasattr(signal, "alarm"):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY if most < 0 else min(_MEMORY, most), most))
        begun, ended = (lambda: signal.alarm(2 * ceil(SECONDS))), (lambda: signal.alarm(0))
    serve(sys.stdin, sys.stdout, begun, ended)


def _no_alarm() -> int:
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends its workers
    _work()
