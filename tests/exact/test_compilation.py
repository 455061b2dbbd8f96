"""Compiled code: said once while it is compiled, kept where it can be, and done without a place to keep it."""

import os

import pytest

from running import PLAIN, python

# What is compiled, and when that is said, shows in no answer.
from utmost.core.exact.compilation import in_machine_code, is_compiled_already, on_compilation

numba = pytest.importorskip("numba")


def test_a_compilation_is_said_once_and_before_it_ends():
    """Two functions are compiled in one call: one word, in the context that waits, and none once they are there."""

    def doubled(x):
        return 2 * x

    inner = numba.njit(doubled)
    outer = numba.njit(lambda x: inner(x) + 1)
    in_machine_code(doubled)  # listens from now on
    said = []
    with on_compilation(lambda: said.append("a")):
        assert outer(3) == 7
    assert said == ["a"]
    with on_compilation(lambda: said.append("b")):
        assert outer(4) == 9
    assert said == ["a"]
    numba.njit(lambda x: x)(1)  # nobody waits: nothing is said
    assert said == ["a"]


def test_without_a_folder_that_can_be_written_it_is_compiled_each_time(monkeypatch):
    """An installation that is read only, for a user without a home: numba refuses to cache, and the call works."""
    from numba.core.caching import CompileResultCacheImpl

    monkeypatch.setattr(CompileResultCacheImpl, "_locator_classes", [])
    with pytest.raises(RuntimeError, match="cannot cache"):
        numba.njit(cache=True)(lambda x: x)
    assert in_machine_code(lambda x: x + 1)(1) == 2


def halved(x):
    return x / 2


def test_what_was_compiled_is_known_by_what_it_left(monkeypatch, tmp_path):
    function = in_machine_code(halved)
    assert function(3) == 1.5
    assert is_compiled_already(function)
    assert not is_compiled_already(halved)
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path))
    assert not is_compiled_already(in_machine_code(halved))


@pytest.mark.slow
def test_the_first_search_says_that_it_compiles_and_the_second_does_not(tmp_path):
    """The command line in a new process with an empty cache, and again with what that has left."""
    command = ("-m", "utmost", "kernels", "--hamming", "3", "--epsilon", "alpha=1/2", "--count")
    environment = {**os.environ, **PLAIN, "NUMBA_CACHE_DIR": str(tmp_path)}
    for said in (True, False):
        done = python(*command, env=environment)
        assert done.stdout.split() == ["29213"]
        assert ("Compiling" in done.stderr) == said
