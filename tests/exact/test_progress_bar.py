"""Long work: one line, after a second, with a name, a share and what is left; nothing afterwards, nothing in pipes."""

import io
import sys
import time
from threading import Thread, active_count

import pytest

import utmost as ut

# The line of progress is drawn by a clock; the test moves the clock.
# The line of progress is drawn by a clock of the test; no command would wait for it.
from utmost.core.exact import progress_bar as module
from utmost.core.exact.progress_bar import ProgressLine, progress_bar, progress_on, report_progress, shows_progress
from utmost.core.sampling import draw
from utmost.design.optima import evidence
from utmost.testing import SeededRandomness


class Terminal(io.StringIO):
    """Standard error of somebody who looks on."""

    def isatty(self):
        return True


class Lines(list):
    """A screen that remembers."""

    width = 60
    show = list.append


class Clock:
    """Time that passes when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def seen():
    """A screen, a clock and the line of both."""
    lines, clock = Lines(), Clock()
    line = ProgressLine(lines, clock, ticks=False)
    with progress_on(line):
        yield lines, clock, line


def at(seen, now):
    """What is shown at a moment."""
    lines, clock, line = seen
    clock.now, before = now, len(lines)
    line.draw()
    return lines[before:]


def test_a_line_comes_after_a_second_and_says_how_long_the_rest_takes(seen):
    with progress_bar("Counting [a]") as report:
        assert at(seen, 0.9) == []
        assert at(seen, 1.0) == ["Counting [a], 1 s"]
        report(1, 4)
        assert at(seen, 30) == ["Counting [a]  [######------------------]  25 %, 90 s left"]
        report(3, 4, "flights")
        assert at(seen, 900) == ["Counting [a]  [##################------]  75 %, flights, 5 m"]  # 60 characters
        report(5, 4)
        assert "100 %, 1 s left" in at(seen, 901)[0]
        report(0, 0)
        assert at(seen, 20_000) == ["Counting [a], 6 h"]
    assert seen[0][-1] == ""


def test_work_within_work_takes_its_place_and_gives_it_back(seen):
    with progress_bar("Designing"):
        at(seen, 5)
        with progress_bar("Compiling"):
            assert at(seen, 7) == ["Compiling, 2 s"]
        assert at(seen, 8) == ["Designing, 8 s"]
        assert "" not in seen[0]
    assert seen[0][-1] == ""
    assert at(seen, 9) == []


def test_no_name_acts_as_a_control_sequence(seen):
    with progress_bar("Counting \x1b[2Jx\r"):
        assert at(seen, 2) == ["Counting ?[2Jx?, 2 s"]


@progress_bar("Cleaning")
def interrupted(terminal):
    """Work that somebody ends as soon as it is seen."""
    while "Cleaning" not in terminal.getvalue():
        time.sleep(0.001)
    raise KeyboardInterrupt


def test_an_interruption_leaves_no_trace(monkeypatch):
    """Ctrl-C in shown work: the line is gone, the thread has ended, the next work is seen again."""
    terminal, threads = Terminal(), active_count()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(module, "_PATIENCE", 0)
    monkeypatch.setattr(module, "_EVERY", 0.001)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            interrupted(terminal)
        assert terminal.getvalue().endswith("\r")
        assert set(terminal.getvalue().split("\r")[-2]) == {" "}
        assert active_count() == threads
        terminal.seek(terminal.truncate(0))


@pytest.mark.parametrize("stream", [io.StringIO(), None], ids=["a pipe", "none"])
def test_nobody_looks_on_at_a_pipe(monkeypatch, stream):
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(module, "Thread", None)
    assert not shows_progress()
    with progress_bar("Cleaning") as report:
        report(1, 2)
    assert stream is None or stream.getvalue() == ""


def test_where_no_thread_can_be_started_work_is_done_without_a_line(monkeypatch):
    """As in a browser."""

    def start(thread):
        raise RuntimeError("can't start new thread")

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(module.Thread, "start", start)
    for _ in range(2):
        with progress_bar("Cleaning") as report:
            report(1, 2)
    assert terminal.getvalue() == ""


def test_a_notebook_looks_on(monkeypatch):
    monkeypatch.setattr(sys, "stderr", type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})())
    assert shows_progress()


def test_of_two_threads_one_has_the_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(module, "_drawing", [object()])
    with progress_bar("Cleaning") as report:
        assert report is module._ignore


def test_many_draws_and_certificates_tell_what_they_do(seen, monkeypatch):
    lines, clock, line = seen
    shown = []
    monkeypatch.setattr(draw, "_SHOWN", draw.CHUNK)

    class Slow(SeededRandomness):
        """A source that looks at the screen at each array that it is asked for."""

        def words(self, count, bits):
            clock.now += 2
            line.draw()
            return super().words(count, bits)

    ut.sample(ut.noise.Geometric(epsilon=1), 4 * draw.CHUNK, randomness=Slow(1))
    assert [line for line in lines if line.startswith("Drawing  [#")]
    monkeypatch.setattr(evidence, "certified_bounds", lambda *a, **kw: shown.extend(task.name for task in line.tasks))
    space = ut.spaces.counts(2)
    consumer = ut.Consumer(ut.priors.uniform(3), ut.losses.distance(space))
    ut.optimal_mechanism(ut.PrivacyType(space, epsilon=1), consumer).certificate.check()
    assert shown[-1] == "Checking a certificate"


@pytest.mark.parametrize("line", ["a line", "no line"])
def test_a_caller_hears_the_reports_of_its_own_task_alone(seen, line):
    """With and without a terminal; not of a task within, of another thread, or after the task, also if it failed."""
    heard, within = [], []

    def fails():
        with progress_bar("Publishing", lambda *numbers: heard.append(numbers)):
            report_progress(1, 4)
            with progress_bar("Compiling"):
                report_progress(2, 9)
            with progress_bar("Viewing", lambda *numbers: within.append(numbers)):
                report_progress(3, 3)
            thread = Thread(target=report_progress, args=(5, 9))
            thread.start()
            thread.join()
            report_progress(4, 4)
            raise ZeroDivisionError

    with progress_on(seen[2] if line == "a line" else None):
        with pytest.raises(ZeroDivisionError):
            fails()
        report_progress(6, 9)
    assert heard == [(1, 4), (4, 4)]
    assert within == [(3, 3)]


def test_a_caller_hears_of_every_cell_and_may_ask_meanwhile(tmp_path):
    """A caller that views the release at each report does not hear of its own views."""
    table, heard = {"n": [3, 4, 5]}, []
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        promise = ut.Promise("n", unit=ut.Unit(1, 1))

        def hear(*numbers):
            heard.append((numbers, len(ledger.view("first", epsilon=1).table["n"])))

        ledger.publish("first", table, promise, epsilon=1, dataset="one")
        ledger.relax("first", table, epsilon=2, progress=lambda *numbers: heard.append(numbers))
        ledger.view("first", epsilon=1, progress=hear)
    assert heard == [(3, 3), ((3, 3), 3)]


@pytest.mark.parametrize(
    ("work", "shown"),
    [
        (
            lambda: ut.optimal_noise("1/1000", 10**9, lambda x: abs(x) if abs(x) < 10**12 else 10**12),
            "step of least cost",
        ),
        (lambda: ut.OneDraw(ut.Unit(1, 30), 60).at(ut.exact.level("1/100")), "one draw"),
        (
            lambda: ut.universal_mechanism(ut.PrivacyType(ut.spaces.counts(5), alpha="1/2"), ut.losses.absolute),
            "one mechanism for every prior",
        ),
    ],
    ids=["cost", "one draw", "universal"],
)
def test_searches_of_a_minute_say_how_long_the_rest_takes(work, shown):
    lines, start = Lines(), time.monotonic()
    lines.width = 100
    # A clock that runs ten times as fast: a short search shows what a long one does.
    with progress_on(ProgressLine(lines, lambda: 10 * (time.monotonic() - start))):
        work()
    assert any(shown in line and " %" in line and line.endswith(" left") for line in lines)
