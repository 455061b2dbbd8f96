"""Encode words as bits of Bloom filters, and count the ones in clients' reports of these bits."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import collection, instance, integer, text
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.display import Display
from utmost.core.exact.memory import fitting_memory
from utmost.core.exact.numbers import natural
from utmost.core.sampling.integers import uniform_integers
from utmost.core.sampling.item_words import int64_array
from utmost.core.sampling.random_bits import Randomness
from utmost.design.local.bits import BitResponse, Bits, as_bits
from utmost.errors import OutOfRange

_LONGEST_KEY = 64
_HASHES_A_DIGEST = 8
_PERSON = b"utmost bloom"


@dataclass(frozen=True, slots=True)
class Bloom:
    """The Bloom filters of all cohorts (groups of clients). A filter has ``bits`` bits, of which a word sets at most
    ``hashes``.

    A position is a 64-bit piece of a keyed BLAKE2b digest (RFC 7693), with the cohort as salt, modulo ``bits``. Two
    hashes of a word may give the same position. Cohorts have different hash functions, so two words that set the same
    bits in one cohort probably set different bits in another cohort. The privacy level does not depend on the key or
    the cohort, both of which the collector knows.

    Args:
        bits: Number of bits of a filter.
        hashes: Number of hash functions in a cohort; each word sets at most this many bits.
        cohorts: Number of cohorts.
        key: Key of up to 64 bytes. Whoever does not have the key cannot precompute the filters.

    Raises:
        OutOfRange: if a number is below 1, if there are more hashes than bits, or if the key has more than 64 bytes.

    Source: [koufogiannis2015], equation (42).

    >>> bloom = Bloom(bits=8, hashes=2, cohorts=2)
    >>> bloom.encode(["mary", "linda", "mary"], [0, 0, 0]).astype(int).tolist()
    [[0, 0, 0, 1, 0, 0, 0, 0], [1, 0, 0, 0, 0, 1, 0, 0], [0, 0, 0, 1, 0, 0, 0, 0]]
    """

    bits: int
    hashes: int = 2
    cohorts: int = 1
    key: bytes = b""

    def __post_init__(self) -> None:
        for name in ("bits", "hashes", "cohorts"):
            object.__setattr__(self, name, natural(getattr(self, name), name, least=1))
        if self.hashes > self.bits:
            came = f"{self.bits} bits and {self.hashes} hashes"
            raise OutOfRange(
                "a filter needs at least as many bits as hashes",
                came=came,
                where="Bloom",
                remedy="Pass more bits or fewer hashes.",
            )
        if not isinstance(self.key, bytes) or len(self.key) > _LONGEST_KEY:
            raise OutOfRange(
                "the key must be at most 64 bytes",
                came=type(self.key).__name__,
                where="Bloom",
                remedy="Pass bytes, such as the digest of a longer key.",
            )

    def __repr__(self) -> str:
        return f"Bloom(bits={self.bits}, hashes={self.hashes}, cohorts={self.cohorts})"

    @fitting_memory("cohort_of")
    def cohort_of(self, clients: int, *, randomness: Randomness | None = None) -> NDArray[np.int64]:
        """Draw a uniform, independent cohort for each of ``clients`` clients."""
        clients = integer(clients, "clients")
        return uniform_integers(self.cohorts, clients, randomness)

    def places(self, word: str, cohort: int) -> list[int]:
        """Return the positions of the bits that a word sets in the filter of a cohort, one for each hash."""
        word = text(word, "word")
        cohort = integer(cohort, "cohort")
        if not 0 <= cohort < self.cohorts:
            raise OutOfRange(f"the cohort must lie in 0..{self.cohorts - 1}", came=cohort, where="Bloom")
        return self._places(word, cohort)

    def _places(self, word: str, cohort: int) -> list[int]:
        data = word.encode("utf-8", "surrogatepass")
        positions: list[int] = []
        for block in range(-(-self.hashes // _HASHES_A_DIGEST)):
            salt = cohort.to_bytes(8, "little") + block.to_bytes(8, "little")
            digest = blake2b(data, key=self.key, salt=salt, person=_PERSON).digest()
            last = 8 * min(self.hashes - len(positions), _HASHES_A_DIGEST)
            positions += [int.from_bytes(digest[at : at + 8], "little") % self.bits for at in range(0, last, 8)]
        return positions

    def encode(self, words: Sequence[str], cohorts: Any) -> Bits:
        """Return the Bloom filter of each client's word in the client's cohort.

        Args:
            words: Word of each of the n clients.
            cohorts: Cohort of each client, an integer in 0..cohorts-1.

        Returns:
            Array (n, bits) of bools: row i is the filter of client i.

        Raises:
            OutOfRange: if a cohort is unknown, if a word is no text, or if there are not as many cohorts as words.

        Cost: one or two microseconds for each different pair of word and cohort.
        """
        collection(words, "words")
        number: dict[str, int] = {}
        if not all(issubclass(kind, str) for kind in set(map(type, words))):
            client, word = next((client, word) for client, word in enumerate(words, 1) if not isinstance(word, str))
            raise OutOfRange(
                "a word must be text",
                came=f"{type(word).__name__} from client {client}",
                remedy="Convert words with str.",
            )
        which = np.array([number.setdefault(word, len(number)) for word in words], dtype=np.int64)
        groups = self.read_cohorts(cohorts, len(which))
        pairs, of_client = np.unique(which * self.cohorts + groups, return_inverse=True)
        vocabulary = list(number)
        filters = np.zeros((len(pairs), self.bits), np.bool_)
        for row, pair in enumerate(pairs.tolist()):
            word, cohort = divmod(pair, self.cohorts)
            filters[row, self._places(vocabulary[word], cohort)] = True
        encoded: Bits = filters[of_client.reshape(-1)]
        return encoded

    def read_cohorts(self, cohorts: Any, count: int) -> NDArray[np.int64]:
        """Return the cohorts of ``count`` clients as an array, after a check.

        Raises:
            OutOfRange: if a cohort is missing or outside 0..cohorts-1.
        """
        count = integer(count, "count")
        groups, count = plain_array(cohorts, "list of cohorts"), natural(count, "count")
        whole = groups.shape == (count,) and (groups.dtype.kind in "iu" or count == 0)
        if not whole or (count and not 0 <= groups.min() <= groups.max() < self.cohorts):
            raise OutOfRange(
                f"cohorts must be {count} integers in 0..{self.cohorts - 1}, one for each client",
                came=f"integers from {groups.min()} to {groups.max()}"
                if whole
                else f"{groups.dtype} of shape {groups.shape}",
                where="Bloom",
                remedy="Draw them with `cohort_of(clients)`.",
            )
        return groups.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BloomCounts(Display):
    """The number of ones at each position of each cohort's filter, and the number of clients in each cohort, counted
    from reports.

    Attributes:
        ones: Shape (cohorts, bits).
        clients: Shape (cohorts,).

    >>> counts = BloomCounts.of([[1, 0], [1, 1], [0, 0]], cohorts=[0, 0, 1], bloom=Bloom(bits=2, hashes=1, cohorts=2))
    >>> counts.ones.tolist(), counts.clients.tolist()
    ([[2, 1], [0, 0]], [2, 1])
    """

    ones: NDArray[np.int64]
    clients: NDArray[np.int64]

    def __post_init__(self) -> None:
        ones, clients = int64_array(self.ones, "ones", (-1, -1)), int64_array(self.clients, "clients", (-1,))
        if clients.shape != ones.shape[:1]:
            raise OutOfRange(
                "counts need an array ones of shape (cohorts, bits) and an array clients of shape (cohorts,)",
                came=f"shapes {ones.shape} and {clients.shape}",
            )
        if (ones < 0).any() or (ones > clients[:, None]).any():
            raise OutOfRange(
                "ones must lie between 0 and the number of clients of the cohort",
                came=f"ones from {ones.min()} to {ones.max()} for up to {clients.max(initial=0)} clients",
                where="BloomCounts",
            )
        for name, array in (("ones", ones), ("clients", clients)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def of(cls, reports: Any, cohorts: Any, bloom: Bloom) -> "BloomCounts":
        """Count the ones in reports (n, bits); ``cohorts`` contains the cohort of each of the n clients.

        Raises:
            OutOfRange: if the reports have another width, or if the cohorts are invalid (see `Bloom.read_cohorts`).
        """
        instance(bloom, Bloom, "bloom")
        bits = as_bits(reports, "reports")
        if bits.ndim != 2 or bits.shape[1] != bloom.bits:
            raise OutOfRange(
                f"reports must have the shape (clients, {bloom.bits})",
                came=bits.shape,
                where="BloomCounts.of",
                remedy="Pass reports of the same Bloom filter.",
            )
        groups = bloom.read_cohorts(cohorts, len(bits))
        clients = np.bincount(groups, minlength=bloom.cohorts)
        ones = np.zeros((bloom.cohorts, bloom.bits), np.int64)
        order = np.argsort(groups, kind="stable")
        for cohort, rows in enumerate(np.split(order, np.cumsum(clients)[:-1])):
            ones[cohort] = np.count_nonzero(bits[rows], axis=0)
        return cls(ones, clients)

    def __add__(self, other: "BloomCounts") -> "BloomCounts":
        """Return the sum of two counts, so that reports can be counted in batches."""
        if self.ones.shape != other.ones.shape:
            raise OutOfRange(
                f"both counts must have ones of shape {self.ones.shape}",
                came=f"shape {other.ones.shape}",
                remedy="Add only counts of the same Bloom filter.",
            )
        return BloomCounts(self.ones + other.ones, self.clients + other.clients)

    def true_ones(self, response: BitResponse) -> NDArray[np.float64]:
        """Return unbiased estimates (ones - zero n)/(one - zero) of the numbers of true ones: (cohorts, bits).

        Args:
            response: Response with which reports are drawn from true bits. If reports are drawn from permanent
                responses, pass ``permanent.then(report)``.
        """
        instance(response, BitResponse, "response")
        zero_chance, one_chance = float(response.zero), float(response.one)
        estimates: NDArray[np.float64] = (self.ones - zero_chance * self.clients[:, None]) / (one_chance - zero_chance)
        return estimates

    def variances(self, response: BitResponse) -> NDArray[np.float64]:
        """Return the variances of `true_ones` due to the random responses, at the estimated numbers of ones."""
        instance(response, BitResponse, "response")
        zero_chance, one_chance = float(response.zero), float(response.one)
        clients = self.clients[:, None].astype(np.float64)
        true = np.clip(self.true_ones(response), 0, clients)
        drawn: NDArray[np.float64] = true * one_chance * (1 - one_chance) + (clients - true) * zero_chance * (
            1 - zero_chance
        )
        return drawn / (one_chance - zero_chance) ** 2
