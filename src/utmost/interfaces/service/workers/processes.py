"""Run the computations of pages in worker processes, limited in number and time, with a queue of limited length.

A worker is a program, not a copy of the server. A worker starts on first use, has neither the key in its memory nor
anything in its environment that leads to the ledger, and serves one request after another. After a time limit a worker
is ended, so that no request can block the server.

A worker communicates over its own channel, on which no library prints; its standard output is discarded. Requests and
answers have numbers: a worker that sends anything else is ended, and its output ignored.
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
SECONDS = 20.0  # a page that computes is ended after 20 seconds
_TO_BEGIN = 120.0  # seconds for such a process to start
# Pages that compute run in up to two processes beside each worker; 8 requests may wait, 3 of one person.
_MOST, _WAITING, _OF_ONE = 2, 8, 3
_KEPT, _LONGEST = 64, 1 << 23
_MEMORY = 4 << 30  # bytes of memory of such a process
_FACTS = {"found", "status", "problem"}
# All other variables of the server's environment may lead to the ledger, its key, or a password.
_PASSED = (
    "PATH", "HOME", "LANG", "LC_", "TZ", "TMP", "TEMP", "SYSTEMROOT", "PYTHON", "VIRTUAL_ENV", "LD_", "DYLD_",
    "NUMBA_", "OMP_", "MKL_", "OPENBLAS_",
)  # fmt: skip


class Worker:
    """A process that computes for pages."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name.upper().startswith(_PASSED)}
        self._channel, its_end = connection.Pipe()
        number, inherited = its_end.fileno(), dict[str, Any]()  # the process inherits only its end of the channel
        if sys.platform != "win32":
            inherited["pass_fds"] = (number,)
        else:
            os.set_handle_inheritable(number, True)
            inherited["startupinfo"] = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [number]})
        with its_end:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-m", "utmost.interfaces.service.workers.processes", str(number)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
                cwd=os.path.abspath(os.sep),
                **inherited,
            )
        self._answer(_TO_BEGIN, 0)  # the worker reports that it is ready

    def answer(self, work: str, fields: Mapping[str, str], seconds: float) -> dict[str, Any] | None:
        """Return the result of a computation; if the process ends or takes too long, end it and return None."""
        number = secrets.randbits(53)  # no earlier output can have this number
        return self._answer(seconds, number, json.dumps([number, work, dict(fields)]).encode())

    def _answer(self, seconds: float, number: int, request: bytes | None = None) -> dict[str, Any] | None:
        timer = threading.Timer(seconds, self.process.kill)
        timer.daemon = True
        timer.start()
        answer = None
        try:
            if request is not None:
                self._channel.send_bytes(request)
            answered, found = json.loads(self._channel.recv_bytes(_LONGEST))
            if type(answered) is int and answered == number and isinstance(found, dict) and found.keys() == _FACTS:
                answer = found
        except (EOFError, OSError):  # it has ended, or its answer is too long
            return None
        except (RecursionError, TypeError, ValueError):  # output that is no answer
            pass
        finally:
            timer.cancel()
            if answer is None:
                self.end()
        if answer is None:
            _LOG.error("A worker for pages sent an answer without a request. It was ended, and its output ignored.")
            raise Refused(503, "ServiceBroken", BROKEN, 1.0)
        return answer

    @property
    def is_alive(self) -> bool:
        """Whether the process lives, and has sent nothing without a request."""
        return self.process.poll() is None and not self._channel.poll()

    def end(self) -> None:
        """End the process, and wait until it is gone."""
        self.process.kill()
        self.process.wait()


class Workers:
    """Shares a few worker processes among the requests of all callers."""

    # At most `most` processes work, `waiting` more requests may wait, and `of_one` requests may be of one caller.
    # `seconds` limits the time of waiting, and that of working.

    def __init__(
        self, most: int = _MOST, waiting: int = _WAITING, of_one: int = _OF_ONE, seconds: float = SECONDS
    ) -> None:
        self._most, self._waiting, self._of_one, self._seconds = most, waiting, of_one, seconds
        self._condition, self._callers, self._at_work = threading.Condition(), Counter[str](), 0
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._answers: OrderedDict[str, dict[str, Any]] = OrderedDict()
        weakref.finalize(self, _end, self._all)

    def ask(self, caller: str, work: str, fields: Mapping[str, str], *, is_kept: bool = True) -> dict[str, Any]:
        """Return the result of `page_work.answered`, from the cache if it is there; refuse if the queue is full."""
        # With `is_kept` the request and its answer stay in the cache.
        request = json.dumps([work, dict(fields)])
        with self._condition:
            known = self._answers.get(request)
        if known is not None:
            return known
        with self._queued(caller), self._worker() as worker:
            began = time.monotonic()
            result = worker.answer(work, fields, self._seconds)
            is_late = time.monotonic() - began >= self._seconds
        if result is None:
            remedy = "Write smaller numbers, or use the command line, which has no such limit."
            required = (
                f"the work of a page must take at most {self._seconds:g} s"
                if is_late
                else "a page must have enough memory for the work"
            )
            raise Unsupported(required, came="more" if is_late else "too little", remedy=remedy)
        if not is_kept:
            return result
        with self._condition:
            self._answers[request] = result
            while len(self._answers) > _KEPT:
                self._answers.popitem(last=False)
        return result

    def close(self) -> None:
        """End all processes; the next request starts new ones."""
        with self._condition:
            self._idle.clear()
            ended = list(self._all)
            self._all.clear()
        _end(ended)

    @contextmanager
    def _queued(self, caller: str) -> Iterator[None]:
        """Count a request of a caller while it is answered; refuse if the caller or the queue has too many."""
        with self._condition:
            if self._callers[caller] >= self._of_one:
                raise too_often(1.0)
            if self._callers.total() >= self._most + self._waiting:
                raise busy(ceil(self._seconds / 4))
            self._callers[caller] += 1
        try:
            yield
        finally:
            with self._condition:
                self._callers -= Counter([caller])  # removes callers without requests

    @contextmanager
    def _worker(self) -> Iterator[Worker]:
        """Reserve a process for one request."""
        with self._condition:
            if not self._condition.wait_for(lambda: self._at_work < self._most, self._seconds):
                raise busy(ceil(self._seconds / 4))
            self._at_work += 1
            worker = self._idle.pop() if self._idle else None
        try:
            if worker is None or not worker.is_alive:
                self._forget(worker)
                worker = Worker()
                with self._condition:
                    self._all.add(worker)
            yield worker
        finally:
            with self._condition:
                self._at_work -= 1
                if worker is not None and worker in self._all and worker.is_alive:
                    self._idle.append(worker)
                    worker = None
                self._condition.notify()
            self._forget(worker)

    def _forget(self, worker: Worker | None) -> None:
        if worker is not None:
            with self._condition:
                self._all.discard(worker)
            worker.end()


def _end(workers: "set[Worker] | list[Worker]") -> None:
    for worker in list(workers):
        worker.end()


WORKERS = Workers()
"""Worker processes for all services in this process: they start on first use, and end with this process."""


def _work() -> None:
    """Run as a worker: with limited memory, and ended by the operating system if the server is gone."""
    from utmost.interfaces.service.workers.page_work import serve

    begun, ended = _no_alarm, _no_alarm
    if hasattr(signal, "alarm"):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY if most < 0 else min(_MEMORY, most), most))
        begun, ended = (lambda: signal.alarm(2 * ceil(SECONDS))), (lambda: signal.alarm(0))
    number = int(sys.argv[1])  # of this process's end of the channel, which its children do not inherit
    if sys.platform == "win32":
        serve(connection.PipeConnection(number), begun, ended)
    else:
        os.set_inheritable(number, False)
        serve(connection.Connection(number), begun, ended)


def _no_alarm() -> int:
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal: the server ends its workers
    _work()
