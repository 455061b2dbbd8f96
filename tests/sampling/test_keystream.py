"""The keystream is AES-256 in counter mode, read once and in order."""

import numpy as np
import pytest

# Draws are proved word by word: which bits become which value shows in no public answer.
from utmost.core.sampling.random_bits import Keystream

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
