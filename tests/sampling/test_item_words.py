"""Words by item are a function of secret, label and identifier, and of nothing else."""

import hmac
from hashlib import sha256
from itertools import pairwise

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given
from hypothesis import strategies as st

# Words are compared with another mode of the cipher; a release shows no word.
from utmost.core.sampling.item_words import (
    ItemWords,
    check_unique,
    compound_tags,
    derived_secret,
    item_tags,
    word_cipher,
)
from utmost.errors import BadTable, OutOfRange, WrongKind
from utmost.sampling import Identifiers

SECRET = bytes(range(32))
texts = st.lists(st.text(max_size=60), max_size=30)
wide = st.lists(st.integers(-(1 << 200), 1 << 200) | st.integers(-(1 << 64), 1 << 64), max_size=30)


def hkdf(secret, *purpose):
    """HKDF-Expand for one block, from HMAC alone."""
    info = b"".join(len(part.encode()).to_bytes(4, "big") + part.encode() for part in purpose)
    return hmac.digest(secret, info + b"\x01", sha256)


def cbc_mac(key, text):
    """The last block of CBC mode from zero."""
    encryptor = Cipher(algorithms.AES256(key), modes.CBC(bytes(16))).encryptor()
    return encryptor.update(text)[-16:]


def written(identifier):
    """An identifier as blocks of 16 bytes, by the rule in proofs/theory/item-noise.md."""
    if isinstance(identifier, int) and -(1 << 63) <= identifier < 1 << 63:
        return b"\x01" + bytes(7) + identifier.to_bytes(8, "little", signed=True)
    if isinstance(identifier, int):
        kind, content = 2, identifier.to_bytes(identifier.bit_length() // 8 + 1, "little", signed=True)
    else:
        kind, content = (3, identifier.encode()) if isinstance(identifier, str) else (4, identifier)
    whole = bytes([kind]) + len(content).to_bytes(4, "big") + content
    return whole + bytes(-len(whole) % 16)


def tag(identifier, secret=SECRET):
    return cbc_mac(hkdf(secret, "tag"), written(identifier))


def rows(tags):
    return [row.tobytes() for row in tags]


@given(texts | st.lists(st.binary(max_size=60), max_size=30) | wide)
def test_a_tag_is_the_cbc_mac_of_the_identifier(identifiers):
    """Computed for all rows at once, it is what one row's text gives through another mode of the cipher."""
    assert rows(item_tags(SECRET, [Identifiers.of(identifiers)])) == [tag(one) for one in identifiers]


@given(texts, wide)
def test_a_compound_tag_is_the_cbc_mac_of_the_tags(some, others):
    n = min(len(some), len(others))
    found = item_tags(SECRET, [Identifiers.of(some[:n]), Identifiers.of(others[:n])])
    key, head = hkdf(SECRET, "compound"), b"\x05" + (2).to_bytes(4, "big") + bytes(11)
    assert rows(found) == [cbc_mac(key, head + tag(a) + tag(b)) for a, b in zip(some[:n], others[:n], strict=True)]


@given(st.lists(st.text(max_size=20) | st.binary(max_size=20) | st.integers(), unique=True, max_size=20))
def test_no_text_of_an_identifier_begins_another(identifiers):
    """What CBC-MAC needs to be a pseudorandom function: the texts are prefix-free, also across types."""
    found = [written(one) for one in identifiers]
    assert not any(a != b and b.startswith(a) for a in found for b in found)
    assert len(set(found)) == len({(type(one), one) for one in identifiers})


@given(texts, st.integers(0, 5))
def test_arrow_buffers_give_the_same_tags(identifiers, skipped):
    """Also where the offsets begin behind the first byte, as those of a slice do."""
    parts = [text.encode() for text in identifiers]
    offsets = np.cumsum([skipped, *map(len, parts)]).astype(np.int32)
    found = Identifiers.of_buffers(offsets, b"x" * skipped + b"".join(parts) + b"beyond")
    assert rows(item_tags(SECRET, [found])) == [tag(one) for one in identifiers]


def test_the_width_of_integers_and_the_container_do_not_matter():
    whole = rows(item_tags(SECRET, [Identifiers.of([3, 0, 7])]))
    for kind in (np.int8, np.uint16, np.int32, np.uint64, object):
        assert rows(item_tags(SECRET, [Identifiers.of(np.array([3, 0, 7], kind))])) == whole
    of_text = rows(item_tags(SECRET, [Identifiers.of(["3", "0", "7"])]))
    assert not set(of_text) & set(whole), "the type is a part of the identifier"
    assert rows(item_tags(SECRET, [Identifiers.of(np.array(["3", "0", "7"]))])) == of_text
    assert rows(item_tags(SECRET, [Identifiers.of(np.array([2**64 - 1], np.uint64))])) == [tag(2**64 - 1)]


@given(texts.filter(len), st.randoms(use_true_random=False))
def test_neither_order_nor_batch_matters(identifiers, random):
    whole = rows(item_tags(SECRET, [Identifiers.of(identifiers)]))
    order = list(range(len(identifiers)))
    random.shuffle(order)
    cut = random.randrange(len(order) + 1)
    parts = [[identifiers[at] for at in part] for part in (order[:cut], order[cut:])]
    found = [row for part in parts for row in rows(item_tags(SECRET, [Identifiers.of(part)]))]
    assert found == [whole[at] for at in order]


def test_many_identifiers_of_many_lengths_in_several_pieces():
    """More rows than are padded at once, some of them long, the same in every piece."""
    identifiers = [f"{'long ' * (at % 97)}{at}" for at in range(70_000)]
    found = rows(item_tags(SECRET, [Identifiers.of(identifiers)]))
    assert all(found[at] == tag(identifiers[at]) for at in (0, 1, 96, 65_535, 65_536, 69_999))


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ([1, None], BadTable),
        (["a", float("nan")], BadTable),
        ([1.0, 2.0], WrongKind),
        ([True, False], WrongKind),
        (np.array([True]), WrongKind),
        (np.array([0.5]), WrongKind),
        (np.array(["2020-01-01"], "datetime64[D]"), WrongKind),
        ([1, "1"], WrongKind),
        (["\ud800"], WrongKind),
        (np.zeros((2, 2), int), WrongKind),
        (5, WrongKind),
    ],
)
def test_what_is_no_identifier_is_refused_and_not_quoted(values, error):
    with pytest.raises(error) as refused:
        Identifiers.of(values)
    assert not any(one in str(refused.value) for one in ("0.5", "2020"))


def test_buffers_and_columns_that_do_not_fit_are_refused():
    for offsets, data, kind in (([0, 4], b"abc", "text"), ([2, 1], b"abc", "text"), ([-1, 1], b"a", "text"),
                                ([], b"", "text"), ([0, 1], b"a", "words")):  # fmt: skip
        with pytest.raises(OutOfRange):
            Identifiers.of_buffers(offsets, data, kind)
    for columns in ([], [Identifiers.of([1]), Identifiers.of([1, 2])]):
        with pytest.raises(OutOfRange):
            item_tags(SECRET, columns)


def test_an_identifier_that_comes_twice_is_refused_by_its_rows():
    tags = item_tags(SECRET, [Identifiers.of(["ann", "bob", "ann"])])
    with pytest.raises(BadTable, match="rows 1 and 3") as refused:
        check_unique(tags)
    assert "ann" not in str(refused.value)
    check_unique(tags[:2])
    half = np.array([[7, 1], [9, 2], [7, 3]], np.uint64)
    check_unique(half)
    with pytest.raises(BadTable, match="rows 1 and 4"):
        check_unique(np.vstack([half, half[:1]]))


@given(st.lists(st.text(alphabet="aé\U0001f600", max_size=5), min_size=1, max_size=9))
def test_texts_are_the_same_bytes_alone_and_together(texts):
    """Letters of one byte and of several, and none: where each begins, and what it is."""
    identifiers = Identifiers.of(texts)
    ends = identifiers.offsets.tolist()
    encoded = [identifiers.data[a:b].tobytes() for a, b in pairwise(ends)]
    assert encoded == [text.encode() for text in texts]


def test_a_word_is_a_block_of_the_cipher():
    """First words, and the bits behind them, by the rule in the docs; for some items as for all."""
    tags = item_tags(SECRET, [Identifiers.of(["a", "b", "c"])])
    words = ItemWords(word_cipher(SECRET, ("noise", "n")), tags)
    key = hkdf(SECRET, "words", "noise", "n")
    ecb = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()

    def block(item, counter):
        low, high = tags[item].tolist()
        return ecb.update((low ^ counter).to_bytes(8, "little") + high.to_bytes(8, "little"))

    for slot in (5, 0, 3, 6, 1):
        expected = [int.from_bytes(block(i, slot // 4)[4 * (slot % 4) :][:4], "little") for i in range(3)]
        assert words.first(slot, np.array([2, 0])).tolist() == [expected[2], expected[0]]
        assert words.first(slot).tolist() == expected
        assert words.first(slot, np.array([1])).tolist() == [expected[1]]
        assert words.more(1, slot, 2) == (int.from_bytes(block(1, (slot + 1) * 2**32 + 2), "big"), 128)


def test_words_look_independent_between_items_labels_secrets_and_slots():
    """A smoke test of what the proof says: correlations of 2^16 words within five deviations of none."""
    n = 1 << 16
    tags = item_tags(SECRET, [Identifiers.of(np.arange(n))])

    def drawn(secret, label, slot):
        return ItemWords(word_cipher(secret, label), tags).first(slot) / 2.0**32 - 0.5

    base = drawn(SECRET, ("a",), 0)
    others = [drawn(SECRET, ("a",), 1), drawn(SECRET, ("a",), 4), drawn(SECRET, ("b",), 0),
              drawn(bytes(32), ("a",), 0), np.roll(base, 1)]  # fmt: skip
    for other in others:
        assert abs(np.corrcoef(base, other)[0, 1]) < 5 / n**0.5
    assert abs(base.mean()) < 5 * (1 / 12 / n) ** 0.5


def test_labels_do_not_run_into_each_other():
    assert derived_secret(SECRET, "ab", "c") != derived_secret(SECRET, "a", "bc")
    assert derived_secret(SECRET, "a") != derived_secret(SECRET, "a", "")


def test_frozen_words():
    """These bytes are in users' releases: no later version may give others."""
    tags = item_tags(SECRET, [Identifiers.of(["", "a", "é" * 40])])
    assert sha256(tags.tobytes()).hexdigest() == FROZEN_TAGS
    both = compound_tags(SECRET, [tags, item_tags(SECRET, [Identifiers.of([1, -1, 2**70])])])
    assert sha256(both.tobytes()).hexdigest() == FROZEN_BOTH
    words = ItemWords(word_cipher(SECRET, ("noise", "x")), tags)
    assert words.first(1).tolist() == FROZEN_FIRST


FROZEN_TAGS = "fb0a8e80c485218802393c6abcb01c5ca480418823ac325c6a432039c5f7aae4"
FROZEN_BOTH = "c2d75328c0ec3db3f87246c535f01ace16fa1b2ab27ef8bdc400c164a769b860"
FROZEN_FIRST = [3748506926, 3403838575, 4284246738]


def test_no_repr_shows_an_identifier():
    assert repr(Identifiers.of(["ann", "bob"])) == "Identifiers(2 text)"
