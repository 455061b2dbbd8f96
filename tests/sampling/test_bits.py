"""No two streams are equal: not over instances, threads, forks, spawned workers, copies or keys."""

import copy
import ctypes
import importlib
import itertools
import multiprocessing
import os
import pickle
import pkgutil
import re
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import utmost
import utmost as ut
from streams import drawn_elsewhere, some_words

# The streams themselves are compared, and not what is drawn of them; and the operating system's source is broken.
from utmost.core.sampling import random_bits
from utmost.core.sampling.random_bits import SYSTEM, KeyedRandomness, Keystream, SystemRandomness, source
from utmost.errors import EntropyFailed, PromiseBroken, Unsupported
from utmost.local import PermanentResponses
from utmost.noise import Geometric
from utmost.releases import GradualRelease, add_noise, bridge, path, relax, tighten
from utmost.sampling import sample
from utmost.testing import SeededRandomness

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
    monkeypatch.setattr(random_bits, "getpid", lambda: 1)
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
    with pytest.raises(Unsupported, match=r"copied.*each worker"):
        copied(randomness)


def test_the_key_changes_after_a_bounded_output(monkeypatch):
    keys = []
    monkeypatch.setattr(random_bits, "_BYTES_PER_KEY", 10_000)
    monkeypatch.setattr(random_bits, "Keystream", lambda key, nonce: keys.append((key, nonce)) or Keystream(key, nonce))
    randomness = SystemRandomness()
    for _ in range(10):
        randomness.words(5_000, 8)
    for _ in range(3_000):
        randomness.word()
    assert len(keys) == len(set(keys)) >= 5
    assert {(len(key), len(nonce)) for key, nonce in keys} == {(32, 16)}


def test_draws_made_ahead_end_with_their_stream(monkeypatch):
    """They are kept with the key: a fork, a thread or a change of key leaves none behind."""
    bits = SystemRandomness()
    sample(Geometric(epsilon=1), randomness=bits)
    assert bits.ahead
    monkeypatch.setattr(random_bits, "_BYTES_PER_KEY", 0)
    assert not bits.ahead


def test_only_the_system_source_is_the_default_and_secure():
    assert source(None) is SYSTEM
    assert SYSTEM.is_secure is True
    assert source(mine := SystemRandomness()) is mine


@pytest.mark.parametrize("wrong", [0, 7, "seed", np.random.default_rng(1), object()])
def test_a_seed_or_a_generator_is_refused(wrong):
    with pytest.raises(Unsupported, match=r"source of random words.*SeededRandomness"):
        source(wrong)


def stuck(cycle):
    """A source that gives a few blocks in turn."""
    turns = itertools.cycle(range(cycle))
    return lambda count: bytes([next(turns)]) * count


@pytest.fixture
def fresh(monkeypatch):
    """A process that has drawn nothing yet."""
    monkeypatch.setattr(random_bits, "_seen", ())
    return monkeypatch


@pytest.mark.parametrize("cycle", [1, 2, 7])
def test_a_stuck_source_is_noticed_before_its_second_block_is_used(fresh, cycle):
    """All zeros, or a few blocks in turn: no two keys are alike, and no stream begins with what was seen."""
    fresh.setattr(random_bits.os, "urandom", stuck(cycle))
    drawn = [random_bits.entropy(48) for _ in range(cycle - 1)]
    assert len(drawn) == len(set(drawn))
    with pytest.raises(EntropyFailed, match="the same block twice"):
        random_bits.entropy(48)
    with pytest.raises(EntropyFailed, match="repeat"):
        SystemRandomness().word()


@pytest.mark.parametrize(
    "broken", [OSError(5, "Input/output error"), NotImplementedError("no source"), BlockingIOError()], ids=repr
)
def test_a_source_that_fails_is_a_typed_error(fresh, broken):
    def fails(count):
        raise broken

    fresh.setattr(random_bits.os, "urandom", fails)
    for draw in (
        lambda: SystemRandomness().words(3, 8),
        lambda: add_noise([1], Geometric(1), randomness=SystemRandomness()),
    ):
        with pytest.raises(EntropyFailed, match="random bytes") as found:
            draw()
        assert found.value.__cause__ is None


def test_a_source_that_gives_too_little_is_refused(fresh):
    fresh.setattr(random_bits.os, "urandom", lambda count: bytes(count - 1))
    with pytest.raises(EntropyFailed, match="got 15 of 16"):
        random_bits.entropy(16)


def test_what_is_remembered_tells_no_key_and_stays_small(fresh):
    blocks = [random_bits.entropy(12 + n) for n in range(100)]
    assert len(random_bits._seen) == random_bits._REMEMBERED
    assert not any(block[:8] in kept or kept[:8] in block for block in blocks for kept in random_bits._seen)
    assert [len(block) for block in blocks] == list(range(12, 112))


def test_no_other_file_asks_the_operating_system_for_bits():
    """One place, so that every key, nonce and name comes from a source that is watched."""
    root = Path(random_bits.__file__).parents[1]
    asking = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"\burandom\b|^import secrets|\buuid\b|getrandom\(", path.read_text(), re.M)
    }
    assert asking == {"sampling/random_bits.py"}


def test_no_source_with_a_fixed_key_counts_as_secure():
    """Of all classes of the package that give words, the operating system's alone; a release refuses the others."""
    for module in pkgutil.walk_packages(utmost.__path__, "utmost."):
        if module.name.split(".")[1] in ("release", "sampling", "testing"):
            importlib.import_module(module.name)
    found = {
        one
        for name, module in list(sys.modules.items())
        if name.startswith("utmost.")
        for one in vars(module).values()
        if isinstance(one, type)
        and {"word", "words", "ahead", "is_secure"} <= set(dir(one))
        and one is not random_bits.Randomness
    }
    assert {one.__name__ for one in found} >= {"SystemRandomness", "SeededRandomness", "KeyedRandomness"}
    assert {one for one in found if one.is_secure is True} == {SystemRandomness}
    for keyed in (KeyedRandomness(bytes(32)), SeededRandomness(1)):
        for refused in (
            lambda bits: add_noise([1], Geometric(1), randomness=bits),
            lambda bits: GradualRelease([1], 1, randomness=bits),
            lambda bits: relax(1, 1, 2, randomness=bits),
            lambda bits: tighten(1, 2, 1, randomness=bits),
            lambda bits: bridge(1, 1, 1, 2, 3, randomness=bits),
            lambda bits: path(1, randomness=bits),
            lambda bits: PermanentResponses([1], randomness=bits),
            lambda bits: ut.release(
                {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, randomness=bits, once=True
            ),
        ):
            with pytest.raises(PromiseBroken, match="predict"):
                refused(keyed)


# NIST SP 800-38A, F.5.5 CTR-AES256.Encrypt: the key, the first counter block, the first two output blocks.
KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
COUNTER = bytes.fromhex("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
OUTPUT = bytes.fromhex("0bdf7df1591716335e9a8b15c860c5025a6e699d536119065433863c8f657b94")


def test_the_stream_is_that_of_the_published_vectors():
    assert Keystream(KEY, COUNTER).words(32, 8).tobytes() == OUTPUT


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_words_of_any_width_are_the_same_bytes_in_order(bits):
    stream = Keystream(KEY, COUNTER)
    parts = [stream.words(n, bits) for n in (1, 0, 7, (1 << 18) + 5, 3)]
    whole = Keystream(KEY, COUNTER).words(sum(part.nbytes for part in parts), 8)
    assert b"".join(part.tobytes() for part in parts) == whole.tobytes()
    assert stream.taken == whole.size
    assert {part.dtype for part in parts} == {np.dtype(f"u{bits // 8}")}


def test_single_words_never_repeat_and_never_meet_the_arrays():
    stream = Keystream(KEY, COUNTER)
    single = [stream.word() for _ in range(700)]
    array = stream.words(700, 64).tolist()
    single += [stream.word() for _ in range(700)]
    assert len(set(single) | set(array)) == 2100


def test_an_array_of_words_is_its_own():
    stream = Keystream(KEY, COUNTER)
    first = stream.words(10, 64)
    kept = first.copy()
    stream.words(10, 64)
    assert (first == kept).all()
    assert first.flags.writeable
