"""Draw an outcome for each secret, with exactly the probabilities in the row of a channel of Fractions.

A row of Fractions p_0, ..., p_(m-1) divides [0, 1) at the cuts T_k = p_0 + ... + p_(k-1), and the outcome is the number
of cuts at or below a uniform number U. A draw first uses 64 bits of U. If those bits do not decide on which side of a
cut U lies, which happens in at most one of 2^40 draws, `Thresholds` reads further bits until they decide.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate
from math import lcm, prod
from numbers import Number as AnyNumber
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.arrays import Array, frozen, objects, plain_array
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.categorical import Thresholds
from utmost.core.sampling.draw import CHUNK, DrawMethod, Shape, draws, plan_for
from utmost.core.sampling.integers import joined
from utmost.core.sampling.random_bits import Randomness, unpredictable
from utmost.errors import OutOfRange, Unsupported, WrongKind

SecretNames = Sequence[Hashable] | None

_LARGEST_WORD = (1 << 64) - 1
# A draw is in constant time by default, up to this many comparisons (about 0.1 seconds); larger mechanisms use a table.
_CONSTANT_UP_TO = 50_000_000
# One array operation makes this many comparisons, whose operands fit into the second-level cache.
_AT_ONCE = 1 << 17
# Rows are compared in blocks so small that one array operation compares at least this many draws.
_DRAWS_SIDE_BY_SIDE = 256
_MOST_OUTCOMES = 10**9
_KEPT_SAMPLERS = 8


class OutcomeSampler(Protocol):
    """A mechanism that draws outcomes for indices of secrets: a channel of Fractions, or the geometric mechanism."""

    @property
    def _secret_count(self) -> int: ...

    def _numbers(self, rows: NDArray[np.intp], bits: Randomness, method: DrawMethod | None) -> NDArray[np.intp]: ...


class OutcomeRemap(Protocol):
    """A remap from outcomes to actions."""

    @property
    def actions(self) -> NDArray[np.intp]: ...


class ChannelRows(Hashable, Protocol):
    """A channel as a table of rows."""

    @property
    def matrix(self) -> Array: ...

    @property
    def is_exact(self) -> bool: ...


@dataclass(frozen=True, slots=True, eq=False)
class NamedMechanism:
    """A mechanism whose secrets and outcomes may have names, and which draws outcomes."""

    mechanism: OutcomeSampler
    # names of the secrets; if some names are numbers, a number is read as a name, otherwise as an index
    names: SecretNames = None
    answers: SecretNames = None  # names of the outcomes, used if the secrets are given by name
    remap: OutcomeRemap | None = None  # remap that is applied to each outcome

    def draw(self, secrets: Any, shape: Shape, randomness: Randomness | None, method: DrawMethod | None) -> Any:
        """Draw outcomes as the method `outcomes` does, but for publication: predictable randomness raises
        PromiseBroken.
        """
        bits = unpredictable(randomness, where="draw", instead="utmost.testing.seeded_draw")
        return self.outcomes(secrets, shape, bits, method)

    def outcomes(self, secrets: Any, shape: Shape, randomness: Randomness, method: DrawMethod | None) -> Any:
        """Draw independent outcomes; return an array of shape ``shape`` followed by the shape of ``secrets``."""
        read = self._secret_rows(secrets)
        size = () if shape is None else shape if isinstance(shape, tuple) else (shape,)
        if not all(is_integer(n) and n >= 0 for n in size):
            raise OutOfRange("a shape must consist of integers >= 0", came=shape, where="draw")
        size = tuple(map(int, size))
        if prod(size) * read.rows.size > _MOST_OUTCOMES:
            raise OutOfRange(
                f"at most {_MOST_OUTCOMES} outcomes can be drawn at once",
                came="more",
                where="draw",
                remedy="Draw in parts.",
            )
        rows = np.broadcast_to(read.rows, (*size, *read.rows.shape)).reshape(-1)
        drawn = self.numbers(rows, randomness, method)
        answers = self.answers if read.is_named else None
        if not size and read.is_one:
            return int(drawn[0]) if answers is None else answers[int(drawn[0])]
        outcomes = drawn.reshape(*size, *(() if read.is_one else read.rows.shape))
        if answers is None:
            return outcomes
        names = np.array(answers) if all(isinstance(name, str) for name in answers) else objects(answers)
        return names[outcomes]

    def rows(self, secrets: Any) -> NDArray[np.intp]:
        """Return the row index of each secret in a list of indices or names."""
        return self._secret_rows(secrets).rows

    def numbers(self, rows: NDArray[np.intp], randomness: Randomness, method: DrawMethod | None) -> NDArray[np.intp]:
        if method is not None:
            plan_for(method, 1)
        drawn = self.mechanism._numbers(rows, randomness, method)
        return drawn if self.remap is None else np.asarray(self.remap.actions[drawn], np.intp)

    def _secret_rows(self, secrets: Any) -> "_SecretRows":
        return _SecretRows.read(secrets, self.names, self.mechanism._secret_count)


def named_mechanism(mechanism: Any) -> NamedMechanism:
    """Return a channel or a design as a `NamedMechanism`, with the names of its secrets and outcomes."""
    drawing: NamedMechanism = mechanism._drawing()
    return drawing


@dataclass(frozen=True, slots=True, eq=False)
class _SecretRows:
    """The row indices of secrets that a caller passed."""

    rows: NDArray[np.intp]
    is_named: bool  # whether the secrets were passed by name
    is_one: bool  # whether a single secret was passed, not a list

    @classmethod
    def read(cls, secrets: Any, names: SecretNames, size: int) -> "_SecretRows":
        is_one = isinstance(secrets, str | bytes | tuple) or not hasattr(secrets, "__len__")
        if isinstance(secrets, np.ndarray) and secrets.ndim == 0:
            secrets, is_one = secrets.item(), True
        if isinstance(secrets, range) and (secrets.start < 0 or secrets.stop > size):
            raise OutOfRange(f"secrets must lie in 0..{size - 1}", came="a range with indices outside", where="draw")
        # Make an integer array of integers, and an array of objects of anything else.
        listed = [secrets] if is_one else secrets
        if not isinstance(listed, list | range):
            array = plain_array(listed, "array of secrets")
            values = array if array.dtype.kind in "iu" else array.astype(object)
        elif all(is_integer(x) for x in listed):
            too_large = any(abs(x) >> 62 for x in listed)
            values = objects(map(int, listed)) if too_large else np.array(listed, np.int64)
        else:
            values = objects(listed)
        are_integers = values.dtype.kind in "iu"
        remedy = "Correct the secret at this position; its value is never shown."
        has_numbers = not isinstance(names, range) and any(isinstance(name, AnyNumber) for name in names or ())
        if names is not None and (has_numbers or not are_integers):
            index_of = {name: at for at, name in enumerate(names)}
            found = []
            for at, value in enumerate(values.ravel().tolist()):
                try:
                    found.append(index_of[value])
                except Exception:  # an unknown name, or a value whose hash raises any error
                    came = f"another value at position {at} of the list"
                    raise OutOfRange("a secret must be one of the names of secrets", came=came, remedy=remedy) from None
            rows = np.array(found, np.intp).reshape(values.shape)
            return cls(rows.reshape(()) if is_one else rows, not isinstance(names, range), is_one)
        if not are_integers:
            kinds = sorted({type(value).__name__ for value in values.ravel().tolist()})
            raise WrongKind(f"a secret must be an integer in 0..{size - 1}", came=", ".join(kinds), where="draw")
        wrong = np.flatnonzero((values < 0) | (values >= size))
        if wrong.size:
            wanted = "a number" if names is None else "a name, or an index"
            came = f"another number at position {wrong[0]} of the list"
            raise OutOfRange(f"a secret must be {wanted} in 0..{size - 1}", came=came, remedy=remedy)
        rows = values.astype(np.intp)
        return cls(rows.reshape(()) if is_one else rows, False, is_one)


def drawn_by_noise(
    at: Level, size: int, rows: NDArray[np.intp], bits: Randomness, method: DrawMethod | None
) -> NDArray[np.intp]:
    """Return the true counts ``rows`` plus geometric noise of a level, clamped to 0, ..., size - 1."""
    noise = joined(draws(Geometric(at), rows.size, randomness=bits, method=method), rows.size)
    # Clamp the noise before it is added, so that the sum stays within int64.
    clamped = np.minimum(np.maximum(noise, -size), size).astype(np.int64)
    return np.asarray(np.clip(rows + clamped, 0, size - 1), np.intp)


def drawn_by_rows(
    channel: ChannelRows, rows: NDArray[np.intp], bits: Randomness, method: DrawMethod | None
) -> NDArray[np.intp]:
    """Draw an outcome for each row index of an exact channel; raise Unsupported for a channel of floats."""
    if not channel.is_exact:
        raise Unsupported(
            "a draw needs probabilities that are Fractions, because floats satisfy no level exactly",
            came="a channel of floats",
            where="draw",
            remedy="Draw from utmost.optima.repair(ptype, channel).channel, which satisfies the level.",
        )
    return _sampler(channel).draw(rows, bits, method)


@lru_cache(maxsize=_KEPT_SAMPLERS)
def _sampler(channel: ChannelRows) -> "RowSampler":
    return RowSampler(channel.matrix)


class RowSampler:
    """A sampler that draws outcomes with the probabilities in the rows of an (n, m) matrix of Fractions."""

    # Cost: O(n m) once; then each draw takes 0.1 to 0.3 us by table, or 1 to 2 n m nanoseconds in constant time.
    __slots__ = ("_count_type", "_cut_numerators", "_cut_words", "_denominators", "_keys", "_shape", "_shift")

    def __init__(self, matrix: Array) -> None:
        n, m = matrix.shape
        self._shape = int(n), int(m)
        self._count_type = np.min_scalar_type(self._shape[1])
        # The cuts of a row are integers over the common denominator of the row.
        self._cut_numerators: list[list[int]] = []
        self._denominators: list[int] = []
        first = []
        for row in matrix.tolist():
            total = lcm(*{p.denominator for p in row})
            *ends, last = accumulate(p.numerator * (total // p.denominator) for p in row)
            assert last == total, "the row of a channel has the sum 1"
            self._cut_numerators.append(ends)
            self._denominators.append(total)
            first.append([min((end << 64) // total, _LARGEST_WORD) for end in ends])
        self._cut_words = frozen(np.array(first, np.uint64).reshape(n, m - 1))
        # A key is the index of a row, followed by the leading bits of a 64-bit random integer.
        self._shift = np.uint64(max(1, (n - 1).bit_length()))
        self._keys = frozen(self._key(np.arange(n, dtype=np.uint64)[:, None], self._cut_words).ravel())

    def cuts(self, row: int, bits: int) -> list[Interval]:
        """Return intervals, 2^-bits wide, around the cuts T_1, ..., T_(m-1) of a row."""
        ends, total = self._cut_numerators[row], self._denominators[row]
        return [Interval((end << bits) // total, -((-end << bits) // total), bits) for end in ends]

    def draw(self, rows: NDArray[np.intp], randomness: Randomness, method: DrawMethod | None) -> NDArray[np.intp]:
        """Draw an independent outcome for each row index."""
        n, m = self._shape
        outcomes = np.zeros(rows.size, np.intp)
        if m == 1:
            return outcomes
        constant = method == "constant" or (method is None and rows.size * n * m <= _CONSTANT_UP_TO)
        for start in range(0, rows.size, CHUNK):
            here = rows[start : start + CHUNK]
            uniform: NDArray[np.uint64] = randomness.words(here.size, 64)
            drawn, unsure = (self._by_comparison if constant else self._by_search)(here, uniform)
            for k in np.flatnonzero(unsure).tolist():
                exact_cuts = Thresholds(partial(self.cuts, int(here[k])))
                drawn[k] = exact_cuts.decide(int(uniform[k]), 64, randomness.word)
            outcomes[start : start + CHUNK] = drawn
        return outcomes

    def _key(self, rows: NDArray[np.uint64], uniform: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return (rows << (np.uint64(64) - self._shift)) | (uniform >> self._shift)

    def _by_search(
        self, rows: NDArray[np.intp], uniform: NDArray[np.uint64]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return, for each draw, how many cuts of its row are at or below ``uniform``, and whether more bits are needed
        to decide it.
        """
        keys, before = self._key(rows.astype(np.uint64), uniform), rows * (self._shape[1] - 1)
        index = np.searchsorted(self._keys, keys, side="right") - before
        return index, (index > 0) & (self._keys[np.maximum(before + index - 1, 0)] == keys)

    def _by_comparison(
        self, rows: NDArray[np.intp], uniform: NDArray[np.uint64]
    ) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the result of `_by_search` in constant time, by comparing each draw with every cut of every row."""
        n, m = self._shape
        indices, unsure = np.zeros(rows.size, np.intp), np.zeros(rows.size, np.bool_)
        block = max(1, min(n, _AT_ONCE // (m * min(rows.size, _DRAWS_SIDE_BY_SIDE))))
        step = max(1, _AT_ONCE // (block * m))
        for at in range(0, rows.size, step):
            here = slice(at, at + step)
            for low in range(0, n, block):
                cuts = self._cut_words[low : low + block, :, None]
                is_own = rows[here] == np.arange(low, low + len(cuts))[:, None]
                # Compare all rows, and select one result by arithmetic, so that no memory address depends on the row.
                passed = np.add.reduce((uniform[here] >= cuts).view(np.uint8), axis=1, dtype=self._count_type)
                indices[here] += (passed * is_own).sum(axis=0, dtype=np.intp)
                unsure[here] |= (np.logical_or.reduce(uniform[here] == cuts, axis=1) & is_own).any(axis=0)
        return indices, unsure
