"""Ctrl-C in the middle of long work: no file stays, neither of this machine's temporary ones nor beside what came."""

import json
import os
import signal
import tempfile
from importlib import import_module

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import utmost as ut
from asking import asked
from running import python
from small_sizes import set_sizes

# Each place of writing is interrupted where it stands.
from utmost.interfaces.cli import main as cli
from utmost.publish.ledger import block_encryption, store, witness
from utmost.publish.releases import streamed
from utmost.tables.files.spill_file import SpillFile

ROWS = 20_000
SAY = {"columns": "n", "unit": ut.Unit(1, 1), "epsilon": 1}
DOMAIN = ut.Domain(page=list(range(5)))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder for what is made, and the one for temporary files beside it, both empty."""
    (tmp_path / "temporary").mkdir()
    (tmp_path / "made").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path


@pytest.fixture(autouse=True)
def heard():
    """A shell starts what runs in its background with interrupts ignored: here they are heard all the same."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Pressed:
    """Ctrl-C at the so-manieth time that something is done, as the system sends it."""

    def __init__(self, at):
        self.left = at

    def __call__(self, *_arguments, **_words):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGINT)


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def pressed_while(work, monkeypatch, owner, name, at, ends=KeyboardInterrupt):
    """Do the work, with Ctrl-C at the so-manieth call of a function; whether it was that far at all."""
    press, inner = Pressed(at), getattr(owner, name)

    def watched(*arguments, **words):
        press()
        return inner(*arguments, **words)

    monkeypatch.setattr(owner, name, watched)
    with pytest.raises(ends):
        work()
    monkeypatch.setattr(owner, name, inner)
    assert press.left <= 0


@pytest.mark.parametrize("at", [1, 7, 300])
def test_counting_events_that_wait_on_the_disk(here, monkeypatch, at):
    """While they are set aside, and while they are read back."""
    rows = np.arange(ROWS)
    source = here / "events.parquet"
    table = pa.table({"user": pa.array([f"user {k % 3000}" for k in rows]), "page": rows % 5})
    pq.write_table(table, source, row_group_size=2000)
    set_sizes(monkeypatch, buckets=(1000, 2000, 1 << 24))
    count = lambda: ut.count_table(source, DOMAIN, ut.Counting("user", at_most=2))  # noqa: E731
    before = files_in(here)
    pressed_while(count, monkeypatch, SpillFile, "add" if at < 300 else "read", min(at, 200))
    assert files_in(here) == before
    assert int(count().cells.sum()) > 0
    assert files_in(here) == before


STEPS = {
    "drawing its first block": (block_encryption.Seal, "sealed", 1, 1),
    "drawing its last block": (block_encryption.Seal, "sealed", 2, 1),
    "when the witness has it": (store.Rows, "write", 1, 2),
    "when both have it": (witness.Witness, "settle", 1, 2),
}


@pytest.mark.parametrize("noise", [{"keyed_by_id": True}, {}], ids=["items", "cells"])
@pytest.mark.parametrize("step", STEPS)
def test_publishing_in_a_ledger(here, monkeypatch, noise, step):
    """What no witness has heard of is gone; what one has is carried out, once: the same call then gives it."""
    table, (owner, name, at, events) = {"id": list(range(70_000)), "n": np.arange(70_000) % 7}, STEPS[step]
    with ut.Ledger.open(here / "made" / "l.db", create=True) as ledger:
        before = files_in(here)
        publish = lambda: ledger.publish("r", table, **asked(**SAY, id_column="id", drop="id", **noise))  # noqa: E731
        pressed_while(publish, monkeypatch, owner, name, at)
        assert files_in(here) == before
        assert len(ledger.releases) + 1 == (events if name == "settle" else 1)
        publish()
        assert ledger.verify().events == 2
    assert files_in(here) == before


COUNTED = "release e.csv --person who --at-most 1 --domain d.json --epsilon 1 --out o.csv"
EACH = "release e.csv --each-row --domain d.json --epsilon 1"
EARLY = """
import os, runpy, signal, sys

class Importing:
    def find_spec(self, name, path=None, target=None):
        if name == "MODULE":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Importing())
sys.argv = ["utmost", "noise", "--epsilon", "1", *OPTIONS]
runpy.run_module("utmost", run_name="__main__")
"""


@pytest.mark.parametrize(
    ("module", "options"),
    [("utmost.interfaces", ["--json"]), ("click", []), ("utmost.interfaces.cli.commands.noise_command", ["--json"])],
)
def test_ctrl_c_while_a_command_is_imported_is_one_line(module, options):
    """In the first 0.2 s it showed a traceback of the import."""
    code = EARLY.replace("MODULE", module).replace("OPTIONS", repr(options))
    ended = python("-c", code, check=False)
    assert (ended.returncode, ended.stdout) == (130, ""), ended.stderr
    (line,) = filter(None, ended.stderr.splitlines())
    assert (json.loads(line)["exit_code"] == 130) if options else line == "utmost: interrupted"


LONG = {
    "reading events": (COUNTED, "counting.counting_rule.CountingRule.placed"),
    "bounding persons": (COUNTED, "counting.counting_rule.CountingRule.chosen"),
    "in a ledger": (f"{EACH} --ledger l.db --name a --out o.csv", "ledger.event_log.Transaction.append"),
    "planning": (f"{EACH} --want page --want total --out o.json", "workloads.planning.plan.Plan.__init__"),
    "count": ("count e.csv --each-row --domain d.json --out o.json", "counting.counting_rule.CountingRule.placed"),
    "plan": ("plan d.json --at-most 1 --want page --epsilon 1 --out o.json", "workloads.planning.plan.Plan.__init__"),
    "total": ("total r.json --where page=1", "releases.noisy_sums.NoisySums.total"),
    "clean": ("clean r.json --out o.csv", "releases.noisy_sums.NoisySums.clean"),
}
"""A command, and a step of `utmost.publish` in which it is interrupted."""


@pytest.mark.parametrize(("way", "as_json"), [*((way, False) for way in LONG), ("plan", True)])
def test_an_interrupted_command_ends_with_130_and_writes_nothing(here, run, monkeypatch, way, as_json):
    """Ctrl-C in a step of the work itself: one line on standard error, also as JSON."""
    monkeypatch.chdir(here)
    (here / "e.csv").write_text("who,page\n" + "".join(f"{k % 50},{k % 5}\n" for k in range(500)), encoding="utf-8")
    (here / "d.json").write_text(json.dumps({"page": list(range(5))}), encoding="utf-8")
    asked = ["release", "e.csv", "--each-row", "--domain", "d.json", "--want", "page", "--epsilon", 1]
    assert run(*asked, "--out", "r.json")[0] == 0
    ut.Ledger.open("l.db", create=True).close()
    line, step = LONG[way]
    module, kind, name = f"utmost.publish.{step}".rsplit(".", 2)
    owner = getattr(import_module(module), kind)
    press, inner = Pressed(1), getattr(owner, name)

    def watched(*arguments, **words):
        press()
        return inner(*arguments, **words)

    before = files_in(here)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, watched)
        code, shown, err = run(*line.split(), *(["--json"] if as_json else []))
    assert press.left <= 0, "the step was not reached"
    assert (code, shown) == (130, ""), err
    last = err.strip().splitlines()[-1]
    assert (json.loads(last)["exit_code"] == 130) if as_json else last == "utmost: interrupted"
    assert files_in(here) == before
    assert run(*line.split())[0] == 0  # the same command again


@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_releasing_a_file_in_pieces(here, monkeypatch, ending, at):
    """By the command line, while what is released is written piece by piece."""
    source, out = here / f"counts.{ending}", here / "made" / f"released.{ending}"
    if ending == "csv":
        source.write_text("id,n\n" + "".join(f"cell {k},{k % 7}\n" for k in range(ROWS)), encoding="utf-8")
    else:
        table = pa.table({"id": [f"cell {k}" for k in range(ROWS)], "n": np.arange(ROWS) % 7})
        pq.write_table(table, source, row_group_size=ROWS // 4)
    set_sizes(monkeypatch, large_file=1, csv_block=1 << 16)
    line = ["release", str(source), "--columns", "n", "--public", "id", "--sensitivity", "1"]
    line += ["--cells", "1", "--epsilon", "1", "--out", str(out)]
    before = files_in(here)
    release = lambda: cli.main(line)  # noqa: E731
    pressed_while(release, monkeypatch, streamed.CellNoiseAtLevel, "noised_column", at, (KeyboardInterrupt, SystemExit))
    assert files_in(here) == before
