"""No two streams are equal: not over instances, threads, forks, spawned workers, copies or keys."""

import copy
import ctypes
import multiprocessing
import os
import pickle
import sys
import threading

import numpy as np
import pytest

from streams import drawn_elsewhere, some_words
from utmost.errors import Unsupported
from utmost.sampling import SystemRandomness, bits
from utmost.sampling.bits import SYSTEM, source
from utmost.sampling.keystream import Keystream

posix = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")


def in_a_child(fork, randomness):
    """What a child of a fork draws first."""
    receive, send = os.pipe()
    if fork() == 0:
        try:
            os.write(send, np.array(some_words(randomness), np.uint64).tobytes())
        finally:
            os._exit(0)
    words = np.frombuffer(os.read(receive, 4096), np.uint64).tolist()
    os.wait()
    os.close(receive)
    os.close(send)
    return words


def repeats_after(fork, randomness):
    """Whether a child draws anything that its parent or its sibling draws: what the planted faults do."""
    some_words(randomness)
    first, second = in_a_child(fork, randomness), in_a_child(fork, randomness)
    parent = some_words(randomness)
    assert len(first) == len(second) == len(parent) == 32
    return len({*first, *second, *parent}) < 96


class Forgetful(SystemRandomness):
    """Planted: a stream that nobody renews."""

    def __init__(self):
        self._kept = Keystream(os.urandom(32), os.urandom(16))

    def _stream(self):
        return self._kept


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_repeats_nothing():
    assert not repeats_after(os.fork, SystemRandomness())
    assert not repeats_after(os.fork, SYSTEM)
    assert repeats_after(os.fork, Forgetful())


@posix
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs the C library's fork")
def test_a_fork_behind_the_back_of_python_repeats_nothing():
    """No hook runs in such a child: the process number alone tells."""
    fork = ctypes.PyDLL(None).fork
    assert not repeats_after(fork, SystemRandomness())
    assert repeats_after(fork, Forgetful())


@posix
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_the_hook_alone_keeps_a_fork_from_repeating(monkeypatch):
    """A grandchild may get the process number of a dead grandparent: then the count of forks tells."""
    monkeypatch.setattr(bits, "getpid", lambda: 1)
    assert not repeats_after(os.fork, SystemRandomness())


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_repeat_nothing(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")
    mine = some_words(SYSTEM)
    with multiprocessing.get_context(method).Pool(2) as pool:
        theirs = pool.map(drawn_elsewhere, range(4), chunksize=1)
    words = [*mine, *(word for words in theirs for word in words), *some_words(SYSTEM)]
    assert len(set(words)) == len(words)


def test_threads_repeat_nothing():
    randomness, found, ready = SystemRandomness(), [], threading.Barrier(8)

    def draw():
        ready.wait()
        for _ in range(50):
            found.extend(some_words(randomness))

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 * 50 * 32 == len(set(found))


def test_instances_repeat_nothing():
    words = [*some_words(SystemRandomness()), *some_words(SystemRandomness()), *some_words(SYSTEM)]
    assert len(set(words)) == 96


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_state_is_not_copied(copied):
    randomness = SystemRandomness()
    randomness.word()
    with pytest.raises(Unsupported, match=r"must not be copied.*Let each worker make its own"):
        copied(randomness)


def test_the_key_changes_after_a_bounded_output(monkeypatch):
    keys = []
    monkeypatch.setattr(bits, "_BYTES_PER_KEY", 10_000)
    monkeypatch.setattr(bits, "Keystream", lambda key, nonce: keys.append((key, nonce)) or Keystream(key, nonce))
    randomness = SystemRandomness()
    for _ in range(10):
        randomness.words(5_000, 8)
    for _ in range(3_000):
        randomness.word()
    assert len(keys) == len(set(keys)) >= 5
    assert {(len(key), len(nonce)) for key, nonce in keys} == {(32, 16)}


def test_only_the_system_source_is_the_default_and_secure():
    assert source(None) is SYSTEM
    assert SYSTEM.is_secure is True
    assert source(mine := SystemRandomness()) is mine


@pytest.mark.parametrize("wrong", [0, 7, "seed", np.random.default_rng(1), object()])
def test_a_seed_or_a_generator_is_refused(wrong):
    with pytest.raises(Unsupported, match=r"source of random words.*SeededRandomness"):
        source(wrong)
