"""Writing together: all files or none, whatever fails and whenever."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from running import PLAIN
from utmost.errors import Unsupported

# Which calls of the disk fail, and when, is tried on the function that makes them.
# Writers fail between any two files; no release has a writer that fails on demand.
from utmost.tables.files import atomic
from utmost.tables.files.atomic import write_together
from utmost.tables.files.sidecars import publish_again


def text(content):
    return lambda file: file.write(content.encode())


def test_all_files_appear_with_the_usual_rights(tmp_path):
    write_together({tmp_path / "a": text("one"), tmp_path / "b": text("two")})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "one", "b": "two"}
    (tmp_path / "c").touch()
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == stat.S_IMODE((tmp_path / "c").stat().st_mode)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
@pytest.mark.parametrize("call", [0, 1])
def test_a_failure_of_the_disk_leaves_nothing(tmp_path, monkeypatch, broken, call):
    """The first or the second fsync or rename fails: a file that was already named is taken back."""
    real, calls = getattr(os, broken), []

    def sometimes(*arguments):
        calls.append(arguments)
        if len(calls) == call + 1:
            raise OSError(5, "Input/output error")
        return real(*arguments)

    monkeypatch.setattr(os, broken, sometimes)
    with pytest.raises(OSError, match="Input/output"):
        write_together({tmp_path / "a": text("one"), tmp_path / "b": text("two")})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("taken", ["a", "b"])
def test_nothing_is_written_over(tmp_path, taken):
    (tmp_path / taken).write_text("old")
    with pytest.raises(Unsupported, match="existing file"):
        write_together({tmp_path / "a": text("one"), tmp_path / "b": text("two")})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {taken: "old"}


def test_the_last_file_is_named_first_and_may_tell_of_those_before_it(tmp_path, monkeypatch):
    """A power cut between two names leaves the statement, which was written last, and never a table without one."""
    named, replace, seen = [], os.replace, []

    def named_in_order(source, target):
        named.append(target.name)
        replace(source, target)

    def table(file):
        file.write(b"table")
        file.seek(0)
        seen.append(file.read())

    monkeypatch.setattr(os, "replace", named_in_order)
    write_together({tmp_path / "table": table, tmp_path / "statement": lambda file: file.write(b"of " + seen[0])})
    assert named == ["statement", "table"]
    assert (tmp_path / "statement").read_bytes() == b"of table"


def test_a_broken_link_is_a_name_that_is_taken(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "nowhere")
    with pytest.raises(Unsupported, match="existing file"):
        write_together({tmp_path / "a": text("one")})


@pytest.mark.parametrize("failure", [KeyboardInterrupt, SystemExit, MemoryError, OSError])
@pytest.mark.parametrize("failing", ["a", "b"])
def test_nothing_stays_where_a_file_fails(tmp_path, failing, failure):
    """Ctrl-C while a file is being written leaves neither it, nor the one before, nor what was written aside."""

    def fails(file):
        file.write(b"half")
        raise failure

    with pytest.raises(failure):
        write_together({tmp_path / name: fails if name == failing else text("whole") for name in "ab"})
    assert list(tmp_path.iterdir()) == []


def test_a_request_to_end_removes_what_is_half_written(tmp_path):
    """SIGTERM to the command line is an orderly end."""
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "import click\n"
        "from utmost.interfaces.cli import main as cli\n"
        "from utmost.tables.files.atomic import write_together\n"
        "def wait(file):\n    file.write(b'half'); os.kill(os.getpid(), signal.SIGTERM); signal.pause()\n"
        "cli.main([], click.Command('a', callback=lambda: write_together({Path(sys.argv[1]) / 'a': wait})))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=os.environ | {"PYTHONPATH": "src"})
    assert done.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_may_not_be_written_into_is_told_beforehand(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(Unsupported, match="without that permission"):
        atomic.check_absent(tmp_path / "a")


def test_no_copy_stays_of_a_file_that_could_not_be_kept(tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, "no space")

    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(atomic.shutil, "copy2", full)
    with pytest.raises(OSError, match="no space"):
        atomic.write_together({tmp_path / "a": lambda file: file.write(b"new")}, overwrite=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


WRITES_FOR_EVER = """
import sys, time
from pathlib import Path
from utmost.tables.files.atomic import write_together
from utmost.tables.files.sidecars import publish_again

def write(file):
    file.write(b"half")
    file.flush()
    print("writing", flush=True)
    time.sleep(60)

write_together({Path(sys.argv[1]): write})
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks, and files stay")
def test_what_a_killed_process_left_is_removed_by_the_next_and_what_is_being_written_is_not(tmp_path):
    out, other = tmp_path / "o[1].csv", tmp_path / ".o[1].csv.json.abcdefgh.part"
    other.write_text("of another file")
    command = [sys.executable, "-c", WRITES_FOR_EVER, str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | PLAIN) as writing:
        assert writing.stdout.readline() == b"writing\n"
        (left,) = tmp_path.glob(".o?1?.csv.????????.part")
        write_together({out: lambda file: file.write(b"whole")})
        assert left.read_bytes() == b"half"
        writing.kill()
    write_together({out: lambda file: file.write(b"again")}, overwrite=True)
    assert sorted(tmp_path.iterdir()) == sorted([out, other])
    assert out.read_bytes() == b"again"


@pytest.mark.parametrize("same", [True, False])
def test_the_same_answer_written_by_two_runs_at_once_is_written_once(tmp_path, same):
    """The second run was refused, as if another file had the name, and a scheduler took it for a wrong recipe."""
    out, runs = tmp_path / "o.csv", []

    def report(digest):
        runs.append(digest)
        if len(runs) == 1:  # the other run begins and ends while this one writes
            publish_again({"n": [1, 2 if same else 3]}, lambda digest: {"utmost": "1", "table": digest}, out)
        return {"utmost": "1", "table": digest}

    if not same:
        with pytest.raises(Unsupported):
            publish_again({"n": [1, 2]}, report, out)
        return
    statement = publish_again({"n": [1, 2]}, report, out)
    assert statement == json.loads((tmp_path / "o.csv.json").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["o.csv", "o.csv.json"]
    (tmp_path / "usual").touch()
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1  # others may read what is published
