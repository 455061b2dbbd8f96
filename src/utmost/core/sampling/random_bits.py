"""Sources of random bits: keystreams with keys from the operating system. No two threads or processes get the same
stream.
"""

import os
import threading
from collections.abc import Callable
from hashlib import sha256
from os import getpid
from typing import Any, NoReturn, Protocol

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.errors import EntropyFailed, PromiseBroken, Unsupported

KEY_BYTES, NONCE_BYTES = 32, 16

_ZEROS = bytes(1 << 18)
# `update_into` of older versions of cryptography needs space for one more block.
_SLACK = 16
_WORDS_AT_ONCE = 512
_WORD_TYPES = {bits: np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)}


class Keystream:
    """The AES-256-CTR keystream of one key and nonce, read once, as little-endian integers of 8, 16, 32 or 64 bits."""

    __slots__ = ("_encryptor", "_spare", "ahead", "taken")

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor = Cipher(algorithms.AES256(key), modes.CTR(nonce)).encryptor()
        self._spare: list[int] = []
        self.taken = 0  # number of bytes read from the stream
        self.ahead: dict[Any, Any] = {}  # draws made from the stream in advance; they are discarded with the stream

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """The next ``count`` random integers of ``bits`` bits, in a new array."""
        size = count * bits // 8
        buffer = np.empty(size + _SLACK, np.uint8)
        for start in range(0, size, len(_ZEROS)):
            part = min(len(_ZEROS), size - start)
            self._encryptor.update_into(memoryview(_ZEROS)[:part], buffer[start:].data)
        self.taken += size
        return buffer[:size].view(_WORD_TYPES[bits])

    def word(self) -> int:
        """One random integer of 64 bits, from a buffer of several hundred integers."""
        try:
            return self._spare.pop()
        except IndexError:
            fresh: list[int] = self.words(_WORDS_AT_ONCE, 64).tolist()
            last = fresh.pop()
            self._spare = fresh
            return last


# A gibibyte is 2^26 cipher blocks, far below the 2^64 from which counter mode can be distinguished from random bits.
_BYTES_PER_KEY = 1 << 30

# A working source repeats 16 bytes among 64 blocks with a probability below 2^-116.
_LEAST_BLOCK = 16
_REMEMBERED = 64

_MEND = "Nothing was released. Stop releases on this machine until its random source (getrandom, /dev/urandom) works."

_seen: tuple[bytes, ...] = ()


def entropy(count: int) -> bytes:
    """Read ``count`` bytes from the operating system, and check that the source does not repeat a block."""
    # A digest of the beginning of every block is compared with the digests of earlier blocks in this process; the first
    # block is compared with one more block. So a source that repeats one block, or a few, is detected before its second
    # block is used. No test proves that a source is unpredictable.
    global _seen
    # The tuple is replaced and never changed, so that threads need no lock. A fork might leave a lock locked.
    before = _seen or (_digest(_block(_LEAST_BLOCK)),)
    block = _block(max(count, _LEAST_BLOCK))
    digest = _digest(block)
    if digest in before:
        raise EntropyFailed(
            "the operating system's random source must not repeat itself", came="the same block twice", remedy=_MEND
        )
    _seen = (*before[1 - _REMEMBERED :], digest)
    return block[:count]


def _block(count: int) -> bytes:
    try:
        block = os.urandom(count)
    except (OSError, NotImplementedError) as error:
        came = error.strerror if isinstance(error, OSError) else None
        raise EntropyFailed("the operating system must give random bytes", came=came, remedy=_MEND) from None
    if len(block) != count:
        raise EntropyFailed(
            "the operating system must give random bytes", came=f"{len(block)} of {count}", remedy=_MEND
        )
    return block


def _digest(block: bytes) -> bytes:
    # Only a digest is stored, since the stored blocks must not reveal a key.
    return sha256(block[:_LEAST_BLOCK]).digest()


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


WordSource = Callable[[], int]
"""A function that returns a fresh random 64-bit integer at each call. It is used for one draw, and is not stored."""


class Randomness(Protocol):
    @property
    def is_secure(self) -> bool:
        """Whether nobody can predict the random integers. Releases refuse other sources."""

    @property
    def word(self) -> WordSource:
        """A function that returns a random 64-bit integer at each call; use the function for one draw only."""

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made in advance. A fork and a copy of this object discard these draws and the stream of bits."""

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return ``count`` random integers of ``bits`` = 8, 16, 32 or 64 bits, in a new array."""


class _ThreadState(threading.local):
    """The state of one thread: the number of its process, the number of forks so far, and its keystream."""

    state: tuple[int, int, Keystream] | None = None


class SystemRandomness:
    """AES-256-CTR keystreams, one for each thread, each keyed by 48 bytes from the operating system."""

    # Every thread of every process has its own key, and a new one after each gibibyte. A forked child detects its
    # parent's state, by a hook that Python runs in the child and by the process number, and reads a new key before the
    # first bit. Buffered words are discarded with the old key. The state cannot be pickled or copied. No program can
    # detect that its virtual machine was copied while it ran.
    is_secure = True

    def __init__(self) -> None:
        self._thread = _ThreadState()

    @property
    def word(self) -> WordSource:
        return self._stream().word

    @property
    def ahead(self) -> dict[Any, Any]:
        return self._stream().ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        return self._stream().words(count, bits)

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a source of randomness must not be copied",
            where="SystemRandomness",
            remedy="Create a source in each worker: leave out randomness=, or call SystemRandomness() there.",
        )

    def _stream(self) -> Keystream:
        state = self._thread.state
        if state is not None:
            pid, forks, stream = state
            if pid == getpid() and forks == _forks and stream.taken < _BYTES_PER_KEY:
                return stream
        seed = entropy(KEY_BYTES + NONCE_BYTES)
        stream = Keystream(seed[:KEY_BYTES], seed[KEY_BYTES:])
        self._thread.state = getpid(), _forks, stream
        return stream


SYSTEM = SystemRandomness()
"""The default source of random bits: the operating system."""


def source(randomness: Randomness | None) -> Randomness:
    """The source for an argument ``randomness=``: the operating system if the argument is None. A seed or a generator
    is refused.
    """
    return _checked(_declared_source(randomness))


def _declared_source(randomness: Randomness | None) -> Randomness:
    if randomness is None:
        return SYSTEM
    if all(hasattr(randomness, name) for name in ("is_secure", "word", "words", "ahead")):
        return randomness
    raise Unsupported(
        "randomness must be a source of random words",
        came=randomness,
        remedy="Leave out randomness=. For repeatable tests use utmost.testing.SeededRandomness(seed).",
    )


def unpredictable(randomness: Randomness | None, *, where: str, instead: str) -> Randomness:
    """The source for an argument ``randomness=`` of a function that publishes. A source that is not secure is
    refused.
    """
    # The message contains ``where``, the kind of publication, and ``instead``, the function for tests.
    bits = _declared_source(randomness)
    if bits.is_secure is not True:
        raise PromiseBroken(
            f"a {where} needs randomness that nobody can predict",
            came=type(bits).__name__,
            where=where,
            remedy=f"Leave out randomness=; in tests call {instead}.",
        )
    return _checked(bits)


def _checked(bits: Randomness) -> Randomness:
    return bits if type(bits).__module__.startswith("utmost.") else _CheckedSource(bits)


class _CheckedSource:
    """A user's source, whose words are checked: with floats or signed words most draws would be noise of 0."""

    __slots__ = ("_bits",)

    def __init__(self, bits: Randomness) -> None:
        self._bits = bits

    @property
    def is_secure(self) -> bool:
        return self._bits.is_secure

    @property
    def word(self) -> WordSource:
        draw = self._bits.word

        def checked() -> int:
            word = draw()
            if not is_integer(word) or not 0 <= word < 1 << 64:
                self._refuse("word must give integers from 0 to 2^64 - 1", type(word).__name__)
            return int(word)

        return checked

    @property
    def ahead(self) -> dict[Any, Any]:
        return self._bits.ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        words: Any = self._bits.words(count, bits)
        dtype, shape = getattr(words, "dtype", type(words).__name__), getattr(words, "shape", None)
        if not isinstance(words, np.ndarray) or dtype != np.dtype(f"u{bits // 8}") or shape != (count,):
            self._refuse(f"words must give an array of {count} numbers of type uint{bits}", f"{dtype}, shape {shape}")
        return words

    def _refuse(self, required: str, came: str) -> NoReturn:
        remedy = "Correct the class of the source, or leave out randomness=."
        raise PromiseBroken(required, came=came, where=type(self._bits).__name__, remedy=remedy)


class KeyedRandomness:
    """A keystream under a given key, for noise that ledgers derive from their key, and for tests that must be
    repeatable.
    """

    # The same key gives the same bits, and only the owner of the key knows whether others can predict them. So releases
    # refuse this source, as they refuse a seed. Derived noise passes it to the draws directly, with a new key for each
    # draw.
    is_secure = False

    __slots__ = ("_stream",)

    def __init__(self, secret: bytes) -> None:
        # Each key serves one stream only, so the nonce may be constant.
        self._stream = Keystream(secret, bytes(NONCE_BYTES))

    @property
    def word(self) -> WordSource:
        """A function that returns a random 64-bit integer at each call."""
        return self._stream.word

    @property
    def ahead(self) -> dict[Any, Any]:
        """Draws made in advance."""
        return self._stream.ahead

    def words(self, count: int, bits: int) -> NDArray[np.unsignedinteger[Any]]:
        """Return ``count`` random integers of ``bits`` = 8, 16, 32 or 64 bits, in a new array."""
        return self._stream.words(count, bits)

    def __reduce__(self) -> NoReturn:
        raise Unsupported("a source of randomness must not be copied", where=type(self).__name__)


def secure(randomness: Randomness | None, instead: str = "a function of utmost.testing") -> Randomness:
    """The source for an argument ``randomness=`` of a release. A source that others may predict is refused."""
    return unpredictable(randomness, where="release", instead=instead)
