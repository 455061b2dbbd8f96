"""The seeded source repeats, says that it is insecure, and is refused by releases."""

import copy
import pickle
import secrets

import numpy as np
import pytest

import utmost.testing
from utmost import GradualRelease, Ledger, PlanarRelease, Promise, Unit, release
from utmost.channels import geometric_channel
from utmost.core.sampling.random_bits import source
from utmost.errors import NotANumber, PromiseBroken, Unsupported
from utmost.local import PermanentResponses
from utmost.noise import Geometric, Laplace
from utmost.releases import add_noise
from utmost.sampling import sample
from utmost.testing import SeededRandomness, seeded_release

PINNED_WORDS = [51771, 11588, 7006, 25851]
PINNED_NOISE = [-1, -1, -1, -1, 0, 0, 1, 0, -2, 1, 0, 0]


def test_equal_seeds_give_equal_words_for_ever():
    """The numbers are written down: a seed in somebody's tests means the same in every version."""
    bits = SeededRandomness(1)
    assert bits.words(4, 16).tolist() == PINNED_WORDS
    assert sample(Geometric(epsilon=1), 12, randomness=SeededRandomness("a")).tolist() == PINNED_NOISE


@pytest.mark.parametrize("seed", [0, -1, 2**200, "", "1", b"", b"1", np.int64(5)])
def test_seeds_of_each_kind_are_read(seed):
    assert SeededRandomness(seed).word() == SeededRandomness(seed).word()


def test_different_seeds_give_different_words():
    seeds = [0, 1, -1, "0", "1", b"0", b"1", "'1'", "b'1'", 10, 2**64]
    assert len({SeededRandomness(seed).word() for seed in seeds}) == len(seeds)
    assert SeededRandomness(np.int32(7)).word() == SeededRandomness(7).word()


@pytest.mark.parametrize("seed", [None, True, 1.5, (1,), np.array([1])])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(NotANumber, match=r"seed.*int, text or bytes"):
        SeededRandomness(seed)


@pytest.mark.parametrize("copied", [pickle.dumps, copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"])
def test_state_is_not_copied(copied):
    with pytest.raises(Unsupported, match="copied"):
        copied(SeededRandomness(1))


def test_a_release_refuses_a_seed():
    assert not SeededRandomness.is_secure
    for values in (1, [1, 2], []):
        with pytest.raises(PromiseBroken, match=r"SeededRandomness.*seeded_release"):
            add_noise(values, Geometric(epsilon=1), randomness=SeededRandomness(1))


def test_a_refusal_names_a_function_for_tests_that_is_public(tmp_path):
    bits = SeededRandomness(1)
    for refused, name in (
        (lambda: GradualRelease([1, 2], sensitivity=1, randomness=bits), "seeded_gradual_release"),
        (lambda: PlanarRelease([[1, 2]], randomness=bits), "seeded_planar_release"),
        (lambda: add_noise(1, Geometric(epsilon=1), randomness=bits), "seeded_release"),
        (lambda: PermanentResponses([0, 1], randomness=bits), "seeded_responses"),
        (lambda: geometric_channel(3, alpha="1/2").draw(1, randomness=bits), "seeded_draw"),
        (lambda: Ledger.open(tmp_path / "l.sqlite", create=True, randomness=bits), "seeded_ledger"),
    ):
        with pytest.raises(PromiseBroken, match=rf"utmost\.testing\.{name}\.$"):
            refused()
        assert name in utmost.testing.__all__


def test_a_release_refuses_a_source_that_only_seems_secure():
    class Truthy(SeededRandomness):
        is_secure = 1

    with pytest.raises(PromiseBroken):
        add_noise(1, Geometric(epsilon=1), randomness=Truthy(1))


class OwnBits:
    """A source of a user, whose words are changed on their way."""

    is_secure = True

    def __init__(self, words=lambda array: array, word=lambda number: number):
        self._words, self._word, self.ahead = words, word, {}

    @property
    def word(self):
        return lambda: self._word(secrets.randbits(64))

    def words(self, count, bits):
        return self._words(np.frombuffer(secrets.token_bytes(count * bits // 8), f"u{bits // 8}"))


@pytest.mark.parametrize(
    "bits",
    [
        OwnBits(lambda words: words.view(f"i{words.itemsize}")),
        OwnBits(lambda words: words / 2.0 ** (8 * words.itemsize)),
        OwnBits(lambda words: words.astype("u8" if words.itemsize < 8 else "u4")),
        OwnBits(lambda words: words[:1]),
        OwnBits(lambda words: words.tolist()),
    ],
    ids=["signed", "floats", "width", "count", "list"],
)
def test_words_of_another_type_are_not_taken_for_noise(bits):
    """Signed words and fractions are below nearly every threshold: the values would be released without noise."""
    promise, table = Promise("n", unit=Unit(1, 1)), {"n": [5] * 200}
    for call in (
        lambda: add_noise([5] * 200, Geometric(epsilon=1), randomness=bits),
        lambda: sample(Geometric(epsilon=1), 200, randomness=bits),
        lambda: release(table, promise, epsilon=1, randomness=bits),
        lambda: release(table, promise, epsilon=1, once=True, randomness=bits),
        lambda: GradualRelease([5] * 200, 1, randomness=bits).at(1),
    ):
        with pytest.raises(PromiseBroken, match="words must give an array"):
            call()


@pytest.mark.parametrize("word", [float, lambda number: -number, lambda number: number << 64, str])
def test_a_single_word_is_an_integer_of_64_bits(word):
    with pytest.raises(PromiseBroken, match="word must give integers"):
        source(OwnBits(word=word)).word()


def test_a_source_of_a_user_is_taken():
    assert len(add_noise([5] * 200, Geometric(epsilon=1), randomness=OwnBits())) == 200
    assert source(OwnBits(word=np.uint64)).word() < 1 << 64


def test_a_seeded_release_is_the_values_plus_the_seeded_noise():
    distribution, values = Geometric(epsilon=1), np.arange(30).reshape(5, 6)
    noise = sample(distribution, (5, 6), randomness=SeededRandomness(7))
    assert (seeded_release(values, distribution, 7) == values + noise).all()
    assert (seeded_release(values, distribution, 7, method="table") != values + noise).any()
    assert seeded_release(2.5, Laplace(epsilon=1), "x", grid=0.25) % 0.25 == 0
