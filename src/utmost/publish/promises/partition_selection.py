"""Partition selection: select keys that cannot be listed beforehand, with the largest chance at epsilon and delta.

A key is selected if its count reaches a random threshold T with P(T <= n) = pi(n), where pi(n) is the largest
probability under any (epsilon, delta)-private selection of one key: see proofs/theory/unknown-keys.md. No other
mechanism of utmost has a delta above 0.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np

from utmost.core.exact.arguments import is_integer
from utmost.core.exact.arrays import plain_cells
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, natural
from utmost.core.exact.written_levels import factor_text
from utmost.core.sampling.categorical import Thresholds
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import BadTable, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.publish.counting.key_counts import counts_in_shares
from utmost.publish.promises.key_distribution import appearance_chance, read_delta, selection_distribution
from utmost.tables.cells.cell_values import integer_cells
from utmost.tables.frames.any_table import adapter_of

_MOST_KEYS = 10**9
_MOST_SHARES = 10**6
# Keys are sorted by their texts, and Python converts only integers of at most 4300 digits to text.
_LARGEST_KEY = 10**4000


@dataclass(frozen=True, slots=True, repr=False)
class SelectedKeys(Display):
    """The list of keys that `KeySelection` has selected at one delta.

    Attributes:
        keys: Keys in the order of their texts.
        level: Epsilon of all keys together.
        delta: Delta of this list and all lists at smaller deltas together.
        per_individual: Largest number of keys of one individual.
    """

    keys: tuple[Any, ...] = field(repr=False)
    level: Level
    delta: Fraction
    per_individual: int

    @property
    def statement(self) -> str:
        """The guarantee in words."""
        return promise_of_keys(self.level, self.delta, self.per_individual)


class KeySelection(Display, ProcessMemory):
    """Select keys at increasing deltas and one epsilon, without counts; all lists together cost as much as the last
    list.

    A list contains all keys of the lists at smaller deltas. Any other key is selected with its conditional probability,
    given that it was not selected before. The same delta always returns the same list. The lists are stored in memory:
    a new object for the same data is another release, and the costs of the two add up.

    Args:
        counts: {key: number of individuals who have it}, or a table of two columns, keys and counts. Keys are texts,
            integers, dates, or tuples of these.
        epsilon: Privacy level of all keys together, at every delta.
        keys: Largest number of keys of one individual, who adds at most 1 to the count of each.
        randomness: Source of random bits, the operating system's when None; a seeded source is refused.

    >>> selection = KeySelection({"flu": 800, "measles": 650, "plague": 1}, epsilon=1)
    >>> selection.at("1e-9").keys, selection.at("1e-8").delta
    (('flu', 'measles'), Fraction(1, 100000000))
    """

    __slots__ = ("_answers", "_counts", "_each", "_level", "_names", "_randomness")

    def __init__(
        self,
        counts: Any,
        *,
        epsilon: Number | Level,
        keys: int = 1,
        randomness: Randomness | None = None,
    ) -> None:
        self._level, self._each = level(epsilon), keys_of_one(keys)
        self._counts, self._randomness = counted_keys(counts), secure(randomness)
        self._names: set[Any] = set()
        self._answers: dict[Fraction, SelectedKeys] = {}

    def at(self, delta: Number, *, epsilon: Number | Level | None = None) -> SelectedKeys:
        """Return the keys selected at this delta: all keys selected at smaller deltas, and new ones.

        Raises:
            OutOfRange: if ``delta`` is new and below the largest delta answered.
            Unsupported: if ``epsilon`` is not that of the selection. A list that only grows cannot be relaxed in
                epsilon without loss: the event "newly selected" would soon be more probable than the larger level
                allows.
        """
        if epsilon is not None and level(epsilon) != self._level:
            # Keys can be selected at one epsilon only: the list cannot be relaxed, the counts over it can.
            raise Unsupported(
                "keys can be selected at one epsilon only, while delta can grow",
                came=str(level(epsilon)),
                where="KeySelection",
                remedy="Pass the epsilon of the first call, and relax only the counts of the selected keys.",
            )
        rare = read_delta(delta)
        with self._alone():
            if rare not in self._answers:
                last = max(self._answers, default=Fraction(0))
                if rare < last:
                    raise OutOfRange(
                        "delta must be at least the delta of the previous call", came=delta, where="KeySelection"
                    )
                self._check_owner()
                before = selection_distribution(self._level, last, self._each) if last else None
                after = selection_distribution(self._level, rare, self._each)
                chances: dict[int, Thresholds] = {}
                word, fresh = self._randomness.word, set()
                for key, n in self._counts:
                    if key not in self._names:
                        if n not in chances:
                            chances[n] = Thresholds(appearance_chance(before, after, n))
                        if chances[n].decide(word(), 64, word) == 0:
                            fresh.add(key)
                self._names |= fresh
                names = tuple(key for key, _ in self._counts if key in self._names)
                self._answers[rare] = SelectedKeys(names, self._level, rare, self._each)
            return self._answers[rare]

    def __repr__(self) -> str:
        return f"KeySelection({self._level}, keys={self._each}, at {len(self._answers)} deltas)"


def promise_of_keys(total: Level, delta: Fraction, keys: int, shares: int | None = None) -> str:
    """Return the guarantee of a list of selected keys, in words."""
    if shares is None:
        alone = f"A key that one individual alone holds is selected with a chance of {delta / keys}; if one individual "
        alone += f"holds several such keys, at least one of them is selected with a chance of at most {delta}."
    else:
        alone = f"Any key that one individual alone holds is selected with a chance of at most {delta}."
    return (
        f"Adding or removing any one individual, who holds at most {keys_held(keys, shares)}, multiplies or divides "
        f"the chance of any list of keys by at most {factor_text(total)}, except with a chance of {delta}: selecting "
        f"these keys is ({total}, delta={delta})-differentially private. {alone} Counts of these keys that are "
        "released at their own level add that level to epsilon."
    )


def keys_held(keys: int, shares: int | None = None) -> str:
    """Return the largest number of keys of one individual, as words in a sentence."""
    if shares is not None:
        return f"{keys} key{'s' * (keys > 1)} and gives {'them' if keys > 1 else 'it'} at most {shares} shares in all"
    return "1 key, counted once" if keys == 1 else f"{keys} keys, each counted once"


def _plain_key(part: Any) -> Any:
    """Return a part of a key as a JSON value: integers as numbers, texts and dates as text."""
    return int(part) if is_integer(part) else str(part)


def key_columns(keys: Sequence[Any], column: str) -> dict[str, list[Any]]:
    """Write keys as columns of a table: one column, or one for each part if the keys are tuples."""
    parts = {len(key) for key in keys if isinstance(key, tuple)}
    if not parts:
        return {column: list(map(_plain_key, keys))}
    if len(parts) > 1 or not all(isinstance(key, tuple) for key in keys):
        raise Unsupported("all keys of a table must have the same number of parts", came="different numbers")
    (count,) = parts
    return {f"{column}_{k}": [_plain_key(key[k]) for key in keys] for k in range(count)}


def keys_of_one(keys: Any) -> int:
    return natural(keys, "keys", least=1, most=_MOST_KEYS)


def shares_of_one(shares: Any, keys: int) -> int:
    """Check the number of shares of one individual: at least one for each key, at most 10^6."""
    return natural(shares, "shares", least=keys, most=_MOST_SHARES)


def counted_keys(counts: Any, shares: int | None = None) -> list[tuple[Any, int]]:
    """Check keys and counts; return (key, count) for counts above 0, sorted by the texts of the keys."""
    names, column = _columns(counts)
    try:
        cells = integer_cells(counts_in_shares(column, shares))
    except NotANumber as error:
        raise NotANumber(error.required, came=error.came, where=f"counts, {error.where}", remedy=error.remedy) from None
    if cells.shape is None or len(cells.shape) != 1 or cells.size != len(names):
        raise BadTable("there must be one count for each key", where="counts")
    numbers = [int(n) for n in cells.integers(0, cells.size).tolist()]
    for place, (name, n) in enumerate(zip(names, numbers, strict=True)):
        where = f"counts, entry {place + 1}"
        for part in chain(name) if isinstance(name, tuple) else (name,):
            if isinstance(part, float | np.floating) or not isinstance(part, str | int | np.integer | date):
                required = "a key must be text, an integer, a date, or a tuple of them"
                raise WrongKind(required, came=type(part).__name__, where=where)
            if not isinstance(part, str | date) and abs(int(part)) >= _LARGEST_KEY:
                raise OutOfRange("an integer key must have at most 4000 digits", came="more digits", where=where)
        if n < 0:
            raise OutOfRange("a count of individuals must be at least 0", came="a negative count", where=where)
    for place, repeats in enumerate(Counter(names).values()):
        if repeats > 1:
            raise BadTable(
                "each key must occur in only one row", came=f"{repeats} rows", where=f"counts, key {place + 1}"
            )
    held = [(name, n) for name, n in zip(names, numbers, strict=True) if n]
    return sorted(held, key=lambda pair: (str(pair[0]), type(pair[0]).__name__))


def _columns(counts: Any) -> tuple[list[Any], Any]:
    """Split a mapping of keys to counts, or a table of two columns, into keys and counts."""
    if isinstance(counts, Mapping):
        are_columns = (hasattr(value, "__len__") and not isinstance(value, str | bytes) for value in counts.values())
        if len(counts) != 2 or not all(are_columns):
            return list(counts), list(counts.values())
    adapter = adapter_of(counts)
    names = adapter.names(counts)
    if len(names) != 2:
        raise BadTable(
            "a table of keys must have two columns, keys and counts", came=f"{len(names)} columns", where="counts"
        )
    keys, numbers = (adapter.column(counts, name) for name in names)
    return plain_cells(keys), numbers
