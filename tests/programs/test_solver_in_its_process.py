"""The solver beside all else that is in a process: signals are heard while it solves, and it prints nothing."""

import ctypes
import os
import subprocess
import sys
import threading

import highspy
import numpy as np
import pytest

from noisy import NOISE
from running import python

# Signals and failures of the solver's own process.
# Signals come while the solver itself runs; a design would be over before.
from utmost.core.programs import highs
from utmost.programs import LinearProgram, solve

EASY = LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], lower=[1], upper=[np.inf])


def long_program(rows, columns):
    draw = np.random.default_rng(1)
    matrix = draw.random((rows, columns))
    at, which = np.indices(matrix.shape)
    ends = np.ones(rows), np.full(rows, np.inf)
    return LinearProgram.of_triplets(draw.random(columns) + 1, at.ravel(), which.ravel(), matrix.ravel(), *ends)


HEARD = """
import os, signal, sys, threading, time
import highspy
import numpy as np
from utmost.core.programs import highs
from utmost.programs import LinearProgram

class Late(Exception):
    pass

def late(number, frame):
    raise Late

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
draw = np.random.default_rng(1)
if sys.argv[1] == "solve_whole":
    weights = draw.integers(1, 100, (4, 50))
    rows, columns = np.indices(weights.shape)
    halves = weights.sum(axis=1) // 2
    ends = {"lower": halves, "upper": halves, "column_lower": np.zeros(50), "column_upper": np.ones(50)}
    program = LinearProgram.of_triplets(np.zeros(50), rows.ravel(), columns.ravel(), weights.ravel(), **ends)
else:
    matrix = draw.random((2500, 600))
    rows, columns = np.indices(matrix.shape)
    ends = np.ones(2500), np.full(2500, np.inf)
    program = LinearProgram.of_triplets(draw.random(600) + 1, rows.ravel(), columns.ravel(), matrix.ravel(), *ends)

number = signal.Signals[sys.argv[2]]
if number != signal.SIGINT:
    signal.signal(number, late)
begin, ended = highspy.Highs.run, []

def run(self):
    threading.Timer(0.3, os.kill, [os.getpid(), number]).start()
    status = begin(self)
    ended.append(self.getModelStatus().name)
    return status

highspy.Highs.run = run
try:
    getattr(highs, sys.argv[1])(program)
except (KeyboardInterrupt, Late) as error:
    assert ended == ["kInterrupt"], ended
    print(type(error).__name__)
highspy.Highs.run = begin
print(highs.solve(LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], [1], [np.inf])).value)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no signals to one process")
@pytest.mark.parametrize(
    ("call", "sent", "error"),
    [
        ("solve", "SIGINT", "KeyboardInterrupt"),
        ("solve", "SIGALRM", "Late"),
        ("solve_inside", "SIGINT", "KeyboardInterrupt"),
        ("solve_whole", "SIGINT", "KeyboardInterrupt"),
    ],
)
def test_a_signal_in_the_middle_of_a_long_solution_ends_it(call, sent, error):
    """Ctrl-C, and what a handler raises: the solver, which would need seconds, is left, and solves again afterwards."""
    told = python("-c", HEARD, call, sent, timeout=100)
    assert told.stdout.split() == [error, "1.0"]


def test_a_long_solution_needs_neither_the_main_thread_nor_another_one(monkeypatch):
    """In a server it is solved by any thread; in a browser there is only one."""
    program, found = long_program(2100, 5), []
    value = solve(program).value
    thread = threading.Thread(target=lambda: found.append(solve(program).value))
    thread.start()
    thread.join()
    monkeypatch.setattr(threading.Thread, "start", lambda self: (_ for _ in ()).throw(RuntimeError("no new thread")))
    assert [*found, solve(program).value] == [value, value]


def test_what_goes_wrong_in_a_long_solution_is_said(monkeypatch):
    def fails(self):
        raise MemoryError

    monkeypatch.setattr(highspy.Highs, "run", fails)
    with pytest.raises(MemoryError):
        solve(long_program(2100, 5))
    with pytest.raises(MemoryError):
        highs.solve_whole(EASY)


def c_prints(text):
    ctypes.CDLL(None).printf(text)


@pytest.fixture
def noisy(monkeypatch):
    """A solver that prints when it is made, as HiGHS 1.16 does, and through C's buffer, too."""

    class Noisy(highspy.Highs):
        def __init__(self):
            os.write(1, NOISE)
            if sys.platform != "win32":
                c_prints(NOISE)
            super().__init__()

    monkeypatch.setattr(highspy, "Highs", Noisy)


def test_a_solver_is_made_in_silence(noisy, capfd):
    """What others print before and after comes through, also what C held back until then."""
    if sys.platform != "win32":
        c_prints(b"before\n")
    assert solve(EASY).value == 1
    os.write(1, b"after\n")
    out = capfd.readouterr().out
    assert out.split() == (["before"] if sys.platform != "win32" else []) + ["after"]


def test_threads_that_make_solvers_at_once_leave_standard_output_as_it_was(noisy, capfd):
    threads = [threading.Thread(target=lambda: [solve(EASY) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os.write(1, b"after\n")
    assert capfd.readouterr().out == "after\n"


CLOSED = """
import os, sys
os.close(1)
from utmost.programs import LinearProgram, solve
program = LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], [1], [float("inf")])
assert solve(program).value == 1
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
assert file == 1, "the file is what a library would print to"
import highspy
class Noisy(highspy.Highs):
    def __init__(self):
        os.write(1, b"noise")
        super().__init__()
highspy.Highs = Noisy
assert solve(program).value == 1
os.write(1, b"own")
"""


def test_a_file_that_took_the_place_of_a_closed_standard_output_stays_clean(tmp_path):
    python("-c", CLOSED, tmp_path / "file", stdout=subprocess.DEVNULL, capture_output=False)
    assert (tmp_path / "file").read_bytes() == b"own"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are forked here")
def test_a_process_that_is_forked_meanwhile_has_its_output(capfd):
    """No other thread can be in the middle of making a solver when a process is forked."""
    begun, free = threading.Event(), threading.Event()

    def make():
        with highs._silent_stdout():
            begun.set()
            free.wait(0.3)

    thread = threading.Thread(target=make)
    thread.start()
    begun.wait()
    child = os.fork()
    if child == 0:
        os.write(1, b"child\n")
        os._exit(0)
    free.set()
    os.waitpid(child, 0)
    thread.join()
    assert capfd.readouterr().out == "child\n"


SOLVED = """
from utmost.programs import LinearProgram, solve
print(solve(LinearProgram.of_triplets([1, 2], [0, 0], [0, 1], [1, 1], [1], [float("inf")])).value)
"""


def test_solving_says_nothing_with_the_release_that_is_installed():
    """Byte by byte, from the import on, in a process of its own."""
    said = python("-c", SOLVED)
    assert (said.stdout, said.stderr) == ("1.0\n", "")
