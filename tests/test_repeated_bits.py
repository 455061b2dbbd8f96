"""Tests draw the same bits in every run, and a child, or anything but the package, the system's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import repeated_bits
import utmost as ut

TESTS = Path(__file__).parent
DRAWN = """
import utmost as ut
from utmost.noise import Geometric
def test_one():
    print("drawn", ut.sampling.sample(Geometric(epsilon="1e-12"), 3).tolist())
"""


def some(count=4):
    return ut.sampling.sample(ut.noise.Geometric(epsilon="1e-12"), count).tolist()


def test_equal_names_give_equal_draws_and_others_do_not():
    with repeated_bits.repeated_bits("1", "a test"):
        first, more = some(), some()
    assert first != more
    for seed, name, is_same in (("1", "a test", True), ("2", "a test", False), ("1", "another", False)):
        with repeated_bits.repeated_bits(seed, name):
            assert (some() == first) == is_same
    with repeated_bits.repeated_bits(repeated_bits.SYSTEM, "a test"):
        assert some() != first


def test_only_the_package_is_served():
    with repeated_bits.repeated_bits("1", "a test"):
        mine, theirs = some(), os.urandom(32)
    with repeated_bits.repeated_bits("1", "a test"):
        assert some() == mine
        assert os.urandom(32) != theirs


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_draws_bits_of_its_own():
    with repeated_bits.repeated_bits("1", "a test"):
        some()
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(write, repr(some()).encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(read, 10_000).decode() != repr(some())
        os.close(read)
        os.close(write)


def test_a_run_is_repeated_by_its_seed(tmp_path):
    """A process draws for one test what this one draws under its name, and one that is asked for the system's bits
    does not."""
    (tmp_path / "test_drawn.py").write_text(DRAWN)
    (tmp_path / "conftest.py").write_text((TESTS / "conftest.py").read_text())
    command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-n", "0", "-c", os.devnull]
    paths = {"PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    ran = [
        subprocess.run(
            [*command, *options, "--rootdir", str(tmp_path), str(tmp_path / "test_drawn.py")],
            env=os.environ | paths,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for options in (("--bits", "3"), ("--bits", "system"))
    ]
    drawn = [[line for line in out.splitlines() if "drawn" in line] for out in ran]
    assert all(drawn), ran
    with repeated_bits.repeated_bits("3", "test_drawn.py::test_one"):
        assert drawn[0] == [f"drawn {some(3)}"] != drawn[1]
