"""A commitment to a table whose rows have no order: a keyed sum over the rows, which an engine can aggregate.

Each row has a digest of 128 bits, the CBC-MAC of its identifier's tag and of its values, under a key of the release.
Ten bits of the identifier's tag assign the row to one of 1024 blocks. The commitment has, for each block, the number of
its rows and the sum of their digests modulo 2^128: the multiset hash MSet-Add-Hash of [clarke2003]. The commitment to a
table is the sum of the commitments to its parts. Whoever lacks the key finds another table with the same sums with
probability at most 2^-128, see proofs/theory/item-noise.md.

For each column there is also a sum of digests of its cells, without identifiers, under one key for the whole ledger.
Equal sums show that the same values were released before, under another name, in another order or from another source.
The ledger compares these sums, and stores them encrypted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.arrays import objects
from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers, narrowed
from utmost.core.sampling.item_words import (
    Identifiers,
    Tags,
    check_columns,
    check_secret,
    compound_tags,
    derived_secret,
    int64_array,
    item_tags,
)
from utmost.errors import OutOfRange, WrongKind
from utmost.publish.promises.lattice import Lattice
from utmost.publish.releases.item_release import ItemResponder, is_texts, read_columns

BLOCKS = 1024
_LIMBS, _LIMB_BITS = 8, 16
_MOST_COLUMNS = 1 << 16
_AT_ONCE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ItemCommitment:
    """The number of rows in each block and the sum of their digests; for each column, the same numbers for its cells.

    Attributes:
        sums: int64, shape (1024 + columns, 9), each below 2^62. Each row of this array has a count, and a sum modulo
            2^128 in eight limbs of 16 bits, the least first. The first 1024 rows of the array are for blocks; its rows
            for columns may be left out.

    >>> none = ItemCommitment.none()
    >>> (none + none).rows
    0
    """

    sums: NDArray[np.int64]

    def __post_init__(self) -> None:
        read = int64_array(self.sums, "sums", (-1, 1 + _LIMBS))
        if len(read) < BLOCKS or (read < 0).any() or (read >= 1 << 62).any():
            wanted = f"a commitment must have sums for {BLOCKS} or more blocks, each at least 0 and below 2^62"
            raise OutOfRange(wanted, came="other sums", where="sums")
        _carry(read)
        read.setflags(write=False)
        object.__setattr__(self, "sums", read)

    @classmethod
    def none(cls) -> "ItemCommitment":
        """Return the commitment to a table without rows."""
        return cls(np.zeros((BLOCKS, 1 + _LIMBS), np.int64))

    @classmethod
    def of_sums(cls, blocks: ArrayLike, sums: ArrayLike) -> "ItemCommitment":
        """Make the commitment from sums that an engine computed for blocks and columns.

        Args:
            blocks: Row of each sum in ``ItemCommitment.sums``, shape (k,): 0..1023 for a block, 1024 and above for a
                column; sums with the same row are added up.
            sums: Sums, shape (k, 9), each below 2^62.

        Raises:
            OutOfRange: if a number in ``blocks`` is invalid.
        """
        at, parts = int64_array(blocks, "blocks", (-1,)), int64_array(sums, "sums", (-1, 1 + _LIMBS))
        if len(parts) != at.size or ((at < 0) | (at >= BLOCKS + _MOST_COLUMNS)).any() or (parts < 0).any():
            raise OutOfRange(f"blocks must be indices of blocks, from 0 to {BLOCKS - 1}, or of columns, from {BLOCKS}")
        whole = np.zeros((max(BLOCKS, 1 + int(at.max(initial=0))), 1 + _LIMBS), np.int64)
        np.add.at(whole, at, parts)
        return cls(whole)

    @property
    def rows(self) -> int:
        """The number of rows of the table."""
        return int(self.sums[:BLOCKS, 0].sum())

    @property
    def blocks(self) -> int:
        """The number of blocks that the ledger stores: the least power of two >= ``rows``, at most 1024."""
        return min(BLOCKS, 1 << max(self.rows - 1, 0).bit_length())

    @property
    def content(self) -> bytes:
        """The bytes that the ledger stores: for each stored block, 8 bytes of count and 16 of sum, little-endian."""
        folded_sums = ItemCommitment.of_sums(np.arange(BLOCKS) % self.blocks, self.sums[:BLOCKS]).sums[: self.blocks]
        counts = folded_sums[:, :1].astype("<i8").view(np.uint8)
        return np.hstack([counts, folded_sums[:, 1:].astype("<u2").view(np.uint8)]).tobytes()

    def __add__(self, other: "ItemCommitment") -> "ItemCommitment":
        if not isinstance(other, ItemCommitment):
            return NotImplemented
        few, many = sorted((self.sums, other.sums), key=len)
        whole = many.copy()
        whole[: len(few)] += few
        return ItemCommitment(whole)

    @property
    def columns(self) -> tuple[bytes | None, ...]:
        """For each column, its number of cells and the sum of their digests, packed; None without cells."""
        return tuple(packed_sum(row) if row[0] else None for row in self.sums[BLOCKS:])

    def without(self, columns: Iterable[int]) -> "ItemCommitment":
        """Return the commitment without the sums of these columns, given by their indices."""
        left = self.sums.copy()
        left[[BLOCKS + at for at in columns]] = 0
        return ItemCommitment(left)

    def __reduce__(self) -> tuple[Any, ...]:
        return ItemCommitment, (np.array(self.sums),)

    def __repr__(self) -> str:
        return f"ItemCommitment({self.rows} rows)"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CommitmentKey:
    """The key, the columns and the lattice with which a worker commits to its rows.

    The driver sends this object to every worker, so it can be pickled. It computes no noise. Whoever has the object can
    test a guess of a row against the commitment in a ledger: protect the object like the data.

    Attributes:
        secret: 32 bytes, never shown in a repr or a message.
        columns: Released columns.
        lattice: Lattice of the released values.
        likeness: Key of the sums by column, 32 bytes; None if no such sums are computed.
    """

    secret: bytes
    columns: tuple[str, ...]
    lattice: Lattice
    likeness: bytes | None = None

    def __post_init__(self) -> None:
        check_secret(self.secret, "CommitmentKey")
        if not isinstance(self.lattice, Lattice) or not is_texts(self.columns):
            raise WrongKind("a key for commitments must have columns and a lattice", where="CommitmentKey")

    def committed(self, identifiers: Sequence[Identifiers], values: Mapping[str, Any]) -> ItemCommitment:
        """Return the commitment to some rows.

        Args:
            identifiers: Columns that together identify a row, each of shape (n,).
            values: True values of each released column, shape (n,).

        Raises:
            BadTable: if a column is missing, or has another length.
            NotANumber: if a value cannot be released; the message gives its position.
        """
        count = check_columns(identifiers)
        return self._of(identifiers, read_columns(self.lattice, self.columns, values, count))

    def committed_responses(
        self, release: ItemResponder, identifiers: Sequence[Identifiers], responses: Mapping[str, Any], at: Level
    ) -> ItemCommitment:
        """Return the commitment to the true rows, computed from noisy rows; other noisy rows give another commitment.

        At one level, the responses are the true values plus a function of the identifiers. So a commitment to the
        values also commits to the responses at every level, and changed responses pass the comparison with no larger
        probability than changed values.

        Args:
            release: Release that computed the responses.
            identifiers: Columns that together identify a row, each of shape (n,).
            responses: Responses of each released column, shape (n,).
            at: Level of the responses, in the path of ``release``.

        Raises:
            BadTable, NotANumber, OutOfRange: as for `ItemResponder.moved`.
        """
        return self._of(identifiers, release.without_noise(identifiers, responses, at))

    def _of(self, identifiers: Sequence[Identifiers], values: Mapping[str, Integers]) -> ItemCommitment:
        steps = list(values.values())
        rows = committed_rows(self.secret, identifiers, steps)
        if self.likeness is None:
            return rows
        cells = [value_sums(self.likeness, column, self.lattice.exponent) for column in steps]
        return ItemCommitment(np.vstack([rows.sums, *cells]))

    def __repr__(self) -> str:
        return f"CommitmentKey(columns={self.columns})"


def committed_rows(secret: bytes, identifiers: Sequence[Identifiers], columns: Sequence[Integers]) -> ItemCommitment:
    """Return the commitment to rows whose values are numbers of lattice steps, without sums by column."""
    of_rows, sums = derived_secret(secret, "row"), np.zeros((BLOCKS, 1 + _LIMBS), np.int64)
    for start in range(0, check_columns(identifiers), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        tags = item_tags(secret, [column.part(some.start, some.stop) for column in identifiers])
        cells = (item_tags(of_rows, [Identifiers.of(column[some])]) for column in columns)
        blocks, digests = (tags[:, 0] % BLOCKS).astype(np.int64), compound_tags(of_rows, [tags, *cells])
        sums[:, 0] += np.bincount(blocks, minlength=BLOCKS)
        # Add two limbs in one pass: a sum of at most 2^16 numbers of 32 bits is at most 2^48, where float64 is exact.
        assert len(digests) <= _AT_ONCE
        halves = digests.astype("<u8", copy=False).view("<u4").reshape(-1, _LIMBS // 2)
        for half in range(_LIMBS // 2):
            added = np.bincount(blocks, halves[:, half], BLOCKS).astype(np.int64)
            sums[:, 1 + 2 * half] += added & ((1 << _LIMB_BITS) - 1)
            sums[:, 2 + 2 * half] += added >> _LIMB_BITS
    return ItemCommitment(sums)


def value_sums(secret: bytes, column: Integers, exponent: int | None) -> NDArray[np.int64]:
    """Return the number of a column's cells and the limbs of the sum of their digests, shape (9,)."""
    sums = np.array([column.size, *[0] * _LIMBS], np.int64)
    for start in range(0, column.size, _AT_ONCE):
        some = column[start : start + _AT_ONCE]
        if some.dtype.kind == "f" or isinstance(some[0], Fraction):
            # A float has a power of two as its denominator; a number with another denominator is tagged by its text.
            numbers = [Fraction(cell) for cell in some.tolist()]
            shift = np.array([number.denominator.bit_length() - 1 for number in numbers], np.int64)
            tags = _tags_in_terms(secret, narrowed(objects(number.numerator for number in numbers)), shift)
            others = [at for at, number in enumerate(numbers) if number.denominator & (number.denominator - 1)]
            if others:
                tags[others] = item_tags(secret, [Identifiers.of([str(numbers[at]) for at in others])])
        else:
            tags = _tags_in_terms(secret, *_lowest_terms(some, exponent or 0))
        sums[1:] += tags.astype("<u8", copy=False).view("<u2").reshape(-1, _LIMBS).sum(axis=0, dtype=np.int64)
    return sums


def packed_sum(sums: NDArray[np.int64]) -> bytes:
    """Pack a count and the limbs of a sum into bytes, after carrying: 8 bytes for each number, little-endian."""
    whole = sums.copy()
    _carry(whole)
    return whole.astype("<i8").tobytes()


def _carry(sums: NDArray[np.int64]) -> None:
    """Carry from each limb to the next, in place; column 0 is the count, and the last limb wraps modulo 2^128."""
    for limb in range(1, _LIMBS):
        sums[..., limb + 1] += sums[..., limb] >> _LIMB_BITS
    sums[..., 1:] &= (1 << _LIMB_BITS) - 1


def _tags_in_terms(secret: bytes, odd: Integers, shift: NDArray[np.int64]) -> Tags:
    """Return the tag of each number odd * 2^-shift; where the shift is 0, this is the tag of the integer odd."""
    tags = item_tags(secret, [Identifiers.of(odd)])
    broken = np.flatnonzero(shift)
    if broken.size:
        tags[broken] = compound_tags(secret, [tags[broken], item_tags(secret, [Identifiers.of(shift[broken])])])
    return tags


def _lowest_terms(column: Integers, exponent: int) -> tuple[Integers, NDArray[np.int64]]:
    """Write each cell times 2^-exponent as an integer times 2^-shift, with the least shift >= 0."""
    if exponent <= 0:
        return (column.astype(object) << -exponent if exponent else column), np.zeros(column.size, np.int64)
    if column.dtype == object:
        twos = np.array([(cell & -cell).bit_length() - 1 if cell else exponent for cell in column.tolist()], np.int64)
    else:
        column = column.astype(np.int64, copy=False)
        lowest = (column & -column).view(np.uint64).astype(np.float64)  # a power of two, or 0
        twos = np.where(lowest > 0, np.log2(np.maximum(lowest, 1)), exponent).astype(np.int64)
    taken = np.minimum(twos, exponent)
    return column >> taken, exponent - taken


def first_difference(content: bytes, other: bytes) -> int:
    """Return the first block, from 1, in which two contents of `ItemCommitment` differ; 0 if they are equal."""
    size = 8 + 2 * _LIMBS
    for at in range(0, max(len(content), len(other)), size):
        if content[at : at + size] != other[at : at + size]:
            return at // size + 1
    return 0
