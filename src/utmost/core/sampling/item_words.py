"""Random integers of items: functions of a key, a label and an identifier, whatever the order, batch or partition of
the rows.

**Tags.** An identifier is encoded in blocks of 16 bytes. The first block has the type and, unless the length is fixed,
the length in bytes, so that no encoded identifier is a prefix of another. CBC-MAC of these blocks under AES-256 is the
identifier's tag, 16 bytes. On prefix-free inputs CBC-MAC is a pseudorandom function [bellare2005]. The tag of an
identifier of several columns is the CBC-MAC, under a separate key, of the number of columns and of the tags of the
columns.

**Words.** Block j of an item's random integers ("words") for a label is AES-256 of (tag xor j), under a key that HKDF
derives from the secret and the label. Distinct pairs (item, j) give distinct inputs of AES unless two tags agree in all
but their lowest bits. So for N items and J blocks, the advantage of anybody who distinguishes the words from
independent uniform words is at most the advantage against AES and HKDF, plus (N J)^2 / 2^128. The proof is in
proofs/theory/item-noise.md.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer, wrong_kind
from utmost.core.exact.arrays import objects, plain_array
from utmost.core.sampling.integers import narrowed
from utmost.errors import BadTable, OutOfRange, WrongKind

SECRET_BYTES = 32
_BLOCK = 16
_INTEGER, _LARGE, _TEXT, _BYTES, _COMPOUND = 1, 2, 3, 4, 5
_LENGTH = 5  # bytes of the header: the type in one byte, and the length of the data in four
_TYPES = {"text": _TEXT, "bytes": _BYTES, "large": _LARGE}
_AT_ONCE = 1 << 14  # number of rows at a time; their blocks stay in the cache

Tags = NDArray[np.uint64]
"""Tags of items, shape (n, 2): 16 bytes each, little-endian."""


def derived_secret(secret: bytes, *purpose: str) -> bytes:
    """Derive 32 bytes for one purpose from a secret of 32 bytes, by HKDF. The derived bytes reveal nothing about the
    secrets of other purposes.
    """
    return HKDFExpand(hashes.SHA256(), SECRET_BYTES, length_prefixed(purpose)).derive(secret)


def length_prefixed(texts: Iterable[str]) -> bytes:
    """Encode texts, each after its length, so that no two lists give the same bytes."""
    return b"".join(len(text.encode()).to_bytes(4, "big") + text.encode() for text in texts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Identifiers:
    """Identifiers of items, all of one type, none missing. Create identifiers by `of`, `of_bytes` or `of_buffers`.

    The type is a part of an identifier: the integer 1 and the text "1" are two items. Integers of 32 and of 64 bits are
    one type.

    Attributes:
        kind: "integers", "text" or "bytes".
        data: For integers, the identifiers, shape (n,), int64 or Python ints; for text and bytes, the bytes of all
            identifiers, one after another, uint8.
        offsets: Positions in ``data`` at which each identifier begins and the last one ends, int64 of shape (n + 1,),
            or None for integers.
    """

    kind: str
    data: NDArray[Any]
    offsets: NDArray[np.int64] | None

    @classmethod
    def of(cls, values: Any) -> "Identifiers":
        """Read identifiers from a list or array of integers, texts or bytes.

        Raises:
            BadTable: if an identifier is missing. The message names the row.
            WrongKind: if identifiers have any other type, or different types.

        >>> len(Identifiers.of(["a", "b"])), Identifiers.of([1, 2]).kind
        (2, 'integers')
        """
        row = values
        if not isinstance(values, np.ndarray):
            try:
                items = list(values)
            except Exception:  # a user's own class may raise anything
                raise _no_identifier(type(values).__name__) from None
            row = np.empty(len(items), object)
            row[:] = items
        if row.ndim != 1:
            raise WrongKind("identifiers must be one column", came=f"an array of {row.ndim} dimensions")
        if row.dtype.kind == "i" or (row.dtype.kind == "u" and int(row.max(initial=0)) < 1 << 63):
            return cls("integers", _read_only(row.astype(np.int64, copy=False)), None)
        if row.dtype.kind == "U":
            return _of_texts(row.tolist())
        if row.dtype.kind not in "OSuT":
            raise _no_identifier(row.dtype.name)
        identifiers = row.tolist()
        if set(map(type, identifiers)) == {str}:
            return _of_texts(identifiers)
        for number, identifier in enumerate(identifiers):
            if (
                identifier is None
                or (isinstance(identifier, float) and identifier != identifier)
                or type(identifier).__name__ in ("NAType", "NaTType")
            ):
                raise BadTable("every item needs an identifier", came="a missing identifier", where=f"row {number + 1}")
        kinds = {_kind(identifier) for identifier in identifiers}
        if len(kinds) > 1 or None in kinds:
            came = next(
                (type(identifier).__name__ for identifier in identifiers if _kind(identifier) is None),
                "a mixture of types",
            )
            raise _no_identifier(came)
        kind = kinds.pop() if kinds else "integers"
        if kind == "text":
            return _of_texts(identifiers)
        if kind == "bytes":
            return cls.of_bytes([bytes(identifier) for identifier in identifiers])
        return Identifiers("integers", _read_only(narrowed(objects(map(int, identifiers)))), None)

    @classmethod
    def of_bytes(cls, parts: Sequence[bytes], kind: str = "bytes") -> "Identifiers":
        """Make identifiers from a list of bytes.

        >>> len(Identifiers.of_bytes([b"a", b"bc"]))
        2
        """
        try:
            joined = b"".join(parts)
        except TypeError:
            raise wrong_kind("parts", "a list of bytes", parts) from None
        return _of_lengths(kind, map(len, parts), len(parts), joined)

    @classmethod
    def of_buffers(cls, offsets: Any, data: Any, kind: str = "text") -> "Identifiers":
        """Make identifiers from Arrow's layout: offsets and data.

        Args:
            offsets: Positions in ``data`` at which each identifier begins and the last one ends, shape (n + 1,),
                ascending.
            data: Bytes, or uint8 of shape (m,); text is UTF-8.
            kind: "text" or "bytes".

        Raises:
            OutOfRange: if the offsets do not ascend within the data, or if ``kind`` is neither "text" nor "bytes".

        >>> len(Identifiers.of_buffers([0, 1, 3], b"abc"))
        2
        """
        ends = _read_only(int64_array(offsets, "offsets", (-1,)))
        try:
            whole = np.frombuffer(data, np.uint8)
        except (TypeError, ValueError, BufferError, AttributeError):
            raise WrongKind("the data must be bytes", came=type(data).__name__, where="data") from None
        if not isinstance(kind, str) or kind not in ("text", "bytes") or not ends.size:
            raise OutOfRange(
                'identifiers in buffers need at least one offset, and the kind must be "text" or "bytes"', came=kind
            )
        if int(ends[0]) < 0 or int(ends[-1]) > whole.size or (np.diff(ends) < 0).any():
            raise OutOfRange("offsets must ascend within the data", where="offsets")
        return cls(kind, whole, ends)

    def part(self, start: int, stop: int) -> "Identifiers":
        """The identifiers from ``start`` to ``stop`` - 1, without a copy.

        >>> len(Identifiers.of(["a", "b", "c"]).part(1, 3))
        2
        """
        if self.offsets is None:
            return Identifiers(self.kind, self.data[start:stop], None)
        return Identifiers(self.kind, self.data, self.offsets[start : stop + 1])

    def __len__(self) -> int:
        return self.data.size if self.offsets is None else self.offsets.size - 1

    def __repr__(self) -> str:
        return f"Identifiers({len(self)} {self.kind})"


def int64_array(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Read integers of 64 bits in an array of this shape, where -1 stands for any length."""
    array = plain_array(values, name)
    is_right = array.dtype.kind in "iu" or array.size == 0
    if (
        not is_right
        or array.ndim != len(shape)
        or any(m not in (-1, n) for m, n in zip(shape, array.shape, strict=True))
    ):
        raise OutOfRange(
            f"the {name} must be integers of 64 bits in an array of {len(shape)} dimensions", came=str(array.shape)
        )
    if array.dtype == np.uint64 and int(array.max(initial=0)) >= 1 << 63:
        raise OutOfRange(f"the {name} must be integers of 64 bits", came="larger integers")
    return array.astype(np.int64)


def check_secret(secret: object, where: str) -> None:
    """Check that a secret is 32 bytes. Messages do not contain the secret."""
    if type(secret) is not bytes or len(secret) != SECRET_BYTES:
        raise WrongKind(f"a secret must be {SECRET_BYTES} bytes", came="another value", where=where)


def item_tags(secret: bytes, columns: Sequence[Identifiers]) -> Tags:
    """A tag of 128 bits for each item, shape (n, 2), from one or more columns; equal identifiers have equal tags."""
    check_secret(secret, "item_tags")
    check_columns(columns)
    tag_key = derived_secret(secret, "tag")
    tags = [_tags(tag_key, column) for column in columns]
    return tags[0] if len(tags) == 1 else compound_tags(secret, tags)


def check_columns(columns: Sequence[Identifiers]) -> int:
    """Check that columns of identifiers have one length, and return it."""
    if not isinstance(columns, list | tuple) or not all(isinstance(column, Identifiers) for column in columns):
        raise WrongKind("the columns of identifiers must be a list of Identifiers", came=type(columns).__name__)
    if len({len(column) for column in columns}) != 1:
        raise OutOfRange(
            "identifiers must have at least one column, and all columns must have the same length",
            came=f"{len(columns)} columns",
        )
    return len(columns[0])


def compound_tags(secret: bytes, tags: Sequence[Tags], runs: NDArray[np.int64] | None = None) -> Tags:
    """The tags of identifiers that consist of several columns: CBC-MAC of the number of columns and of the tag in each
    column.
    """
    # ``runs`` gives, for each tag of the first column, the number of consecutive rows with it. None means one row for
    # each tag.
    header = np.zeros(_BLOCK, np.uint8)
    header[0], header[1:5] = _COMPOUND, np.frombuffer(len(tags).to_bytes(4, "big"), np.uint8)
    cipher = BlockCipher(derived_secret(secret, "compound"))
    state = np.broadcast_to(cipher.encrypted(header.view("<u8").reshape(1, 2)), tags[0].shape)
    for at, part in enumerate(tags):
        state = cipher.encrypted(state ^ part)
        if at == 0 and runs is not None:
            state = np.repeat(state, runs, axis=0)
    return state


def check_unique(tags: Tags) -> None:
    """Check that no two items have the same tag. Among n distinct identifiers, two share a tag with a probability below
    n^2 / 2^128.
    """
    if not isinstance(tags, np.ndarray) or tags.dtype != np.uint64 or tags.ndim != 2 or tags.shape[1] != 2:
        raise WrongKind("tags must be a result of item_tags", came=type(tags).__name__, where="identifiers")
    # One half of each tag is sorted, which is faster. Two different tags agree in this half with a probability below
    # n^2 / 2^65.
    firsts = np.sort(tags[:, 0])
    if not (firsts[1:] == firsts[:-1]).any():
        return
    order = np.lexsort((tags[:, 1], tags[:, 0]))
    same = np.flatnonzero((tags[order[1:]] == tags[order[:-1]]).all(axis=1))
    if same.size:
        first, second = sorted((int(order[same[0]]) + 1, int(order[same[0] + 1]) + 1))
        came = f"the same identifier in rows {first} and {second}"
        raise BadTable("identifiers must be unique", came=came, where="identifiers")


class ItemWords:
    """Random integers of items for one label. For each ``slot`` 0, 1, ..., an item has a number that is uniform on [0,
    1).
    """

    # A number has a first word of 32 bits, and then 128 more bits at a time. The first words of slots 4j to 4j + 3 are
    # block j, little-endian. Extension e = 1, 2, ... of a slot is the block of the counter (slot + 1) 2^32 + e, most
    # significant byte first.
    __slots__ = ("_blocks", "_cipher", "_tags")

    word_bits = 32

    def __init__(self, cipher: "BlockCipher", tags: Tags) -> None:
        self._cipher, self._tags = cipher, tags
        self._blocks: dict[int, NDArray[Any]] = {}

    def __len__(self) -> int:
        return len(self._tags)

    def first(self, slot: int, some: NDArray[np.intp] | None = None) -> NDArray[Any]:
        """The first word (32 bits) of a slot, for all items or for the items ``some``, shape (n,)."""
        j, lane = divmod(slot, 4)
        # A block of AES contains the words of four slots, so it is encrypted once, and stored.
        if j in self._blocks:
            lanes = self._blocks[j][:, lane]
            return lanes if some is None else lanes[some]
        if some is not None:
            return self._block(j, self._tags[some])[:, lane]
        self._blocks[j] = self._block(j, self._tags)
        return self._blocks[j][:, lane]

    def more(self, item: int, slot: int, extension: int) -> tuple[int, int]:
        """Further bits of an item's uniform number, and how many bits these are."""
        # The counters of first words are below 2^32, and those of further bits are not, so no bit is read twice.
        block = self._block((slot + 1 << 32) + extension, self._tags[item : item + 1])
        return int.from_bytes(block.tobytes(), "big"), 8 * _BLOCK

    def _block(self, counter: int, tags: Tags) -> NDArray[Any]:
        return self._cipher.encrypted(tags ^ np.array([counter, 0], np.uint64)).view("<u4")


def word_cipher(secret: bytes, label: Sequence[str]) -> "BlockCipher":
    """The cipher of the random words for a label. Words of two labels, and of two secrets, are independent."""
    return BlockCipher(derived_secret(secret, "words", *label))


class BlockCipher:
    """AES-256 of many separate blocks of 16 bytes."""

    __slots__ = ("_encryptor",)

    def __init__(self, key: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()

    def encrypted(self, blocks: NDArray[Any]) -> Tags:
        """Encrypt each row of 16 bytes; the result has shape (n, 2)."""
        plain = np.ascontiguousarray(blocks).view(np.uint8).reshape(-1)
        # `update_into` of older versions of cryptography needs space for one more block.
        secret = np.empty(plain.size + _BLOCK, np.uint8)
        self._encryptor.update_into(plain.data, secret.data)
        return secret[: plain.size].view("<u8").reshape(-1, 2)


def _tags(key: bytes, column: Identifiers) -> Tags:
    cipher = BlockCipher(key)
    tags = np.empty((len(column), 2), np.uint64)
    for start in range(0, len(column), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        if column.offsets is None:
            tags[some] = _integer_tags(cipher, column.data[some])
        else:
            tags[some] = _padded_tags(cipher, column, column.offsets[start : start + _AT_ONCE + 1])
    return tags


def _integer_tags(cipher: BlockCipher, integers: NDArray[Any]) -> Tags:
    """The tags of integers, from one block for each integer of 64 bits."""
    if integers.dtype != object:
        blocks = np.empty((integers.size, 2), "<u8")
        blocks[:, 0] = _INTEGER
        blocks[:, 1] = integers.astype("<i8").view("<u8")
        return cipher.encrypted(blocks)
    sizes = np.array([(integer if integer >= 0 else ~integer).bit_length() for integer in integers.tolist()])
    tags = np.empty((integers.size, 2), np.uint64)
    # An integer has the same encoding in every batch; otherwise its noise would depend on the other items.
    small = sizes < 64
    tags[small] = _integer_tags(cipher, integers[small].astype(np.int64))
    large = [
        integer.to_bytes(integer.bit_length() // 8 + 1, "little", signed=True) for integer in integers[~small].tolist()
    ]
    column = Identifiers.of_bytes(large, "large")
    assert column.offsets is not None
    tags[~small] = _padded_tags(cipher, column, column.offsets)
    return tags


def _padded_tags(cipher: BlockCipher, column: Identifiers, offsets: NDArray[np.int64]) -> Tags:
    """The tags of texts or bytes of any length: CBC-MAC of their padded blocks."""
    sizes = np.diff(offsets)
    blocks = (sizes + (_LENGTH + _BLOCK - 1)) // _BLOCK
    tags = np.empty((sizes.size, 2), np.uint64)
    # Identifiers with the same number of blocks are processed together, so that none is padded to the longest.
    for count in np.flatnonzero(np.bincount(blocks)).tolist():
        rows = np.flatnonzero(blocks == count)
        width = count * _BLOCK
        # The mask of the bytes that belong to the text, and the header, for each length that needs this number of
        # blocks.
        lengths = np.arange(max(0, width - _BLOCK - _LENGTH + 1), width - _LENGTH + 1)
        texts, heads = np.zeros((lengths.size, width), np.uint8), np.zeros((lengths.size, width), np.uint8)
        texts[:, _LENGTH:] = np.where(np.arange(width - _LENGTH) < lengths[:, None], 0xFF, 0)
        heads[:, 0] = _TYPES[column.kind]
        heads[:, 1:_LENGTH] = lengths.astype(">u4").view(np.uint8).reshape(-1, 4)
        data = np.concatenate(
            [np.zeros(_LENGTH, np.uint8), column.data[offsets[0] : offsets[-1]], np.zeros(width, np.uint8)]
        )
        # Each position is one element of a void type, since gathering these takes a third of the time of gathering
        # rows.
        windows: NDArray[Any] = np.ndarray((data.size - width + 1,), f"V{width}", data, strides=(1,))
        for some in np.array_split(rows, -(-rows.size * count // _AT_ONCE)):
            words = windows[offsets[some] - offsets[0]].view("<u8").reshape(-1, 2 * count)
            words &= texts.view("<u8").take(sizes[some] - lengths[0], axis=0)
            words |= heads.view("<u8").take(sizes[some] - lengths[0], axis=0)
            state = cipher.encrypted(words[:, :2])
            for at in range(2, words.shape[1], 2):
                state = cipher.encrypted(state ^ words[:, at : at + 2])
            tags[some] = state
    return tags


def _kind(identifier: Any) -> str | None:
    if isinstance(identifier, str):
        return "text"
    if isinstance(identifier, bytes):
        return "bytes"
    return "integers" if is_integer(identifier) else None


def _of_texts(texts: list[str]) -> Identifiers:
    whole = "".join(texts)
    if whole.isascii():
        return _of_lengths("text", map(len, texts), len(texts), whole.encode())
    try:
        return Identifiers.of_bytes([text.encode() for text in texts], "text")
    except UnicodeEncodeError:
        raise WrongKind("an identifier that is text must be Unicode", came="half a surrogate pair") from None


def _of_lengths(kind: str, lengths: Iterable[int], count: int, data: bytes) -> Identifiers:
    ends = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=ends[1:])
    return Identifiers(kind, np.frombuffer(data, np.uint8), _read_only(ends))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """An array that nobody can write to: a copy, unless ``array`` is read-only memory of another library."""
    if not array.flags.writeable and array.base is not None and not isinstance(array.base, np.ndarray):
        return array
    array = array.copy()
    array.setflags(write=False)
    return array


def _no_identifier(came: str) -> WrongKind:
    remedy = "Convert other identifiers to text, in the same way at every release."
    return WrongKind("identifiers must be integers, texts or bytes, all of one type", came=came, remedy=remedy)
