"""Select keys that nobody listed, as a kind of noise for a promise: the answer is a list of keys with noisy counts.

A ledger stores the whole table of keys and counts as one row, in which each column is one large integer. So the
length of the stored bytes depends only on the selected keys, and the number of all keys stays hidden. An answer has one
level: if the
keys were selected again at another epsilon, the two lists together would reveal more than either level allows.
"""

import json
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import objects, plain_cells
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, exact, exact_integer, first_integer, read_confidence
from utmost.core.exact.written_levels import level_name
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import Integers
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import BadTable, LedgerDamaged, NeedsTable, OutOfRange, UtmostError
from utmost.publish.counting.key_counts import counts_in_shares
from utmost.publish.promises.declared_columns import listed_names
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.key_distribution import SelectionDistribution, read_delta, selection_distribution
from utmost.publish.promises.noise_at_level import weakness_of
from utmost.publish.promises.partition_selection import (
    counted_keys,
    key_columns,
    keys_held,
    keys_of_one,
    promise_of_keys,
    shares_of_one,
)
from utmost.publish.promises.promised_noise import Noise, Response, at_one_level
from utmost.tables.cells.columns import integer_column
from utmost.tables.frames.any_table import adapter_of

MOST_SERVED = 10_000
"""The largest number of keys of one individual, and of false keys, that a service accepts."""

KEYS = "key", "count"
"""The default columns of a table of keys."""

_WEAK_DELTA = Fraction(1, 1000)  # a delta above this protects hardly anybody, and warns
_LEAST_SERVED = Fraction(1, 10**30)

KeysAndCounts = tuple[Sequence[Any], Sequence[int]]
"""Keys, and the noisy count of each."""


@dataclass(frozen=True, slots=True)
class SelectionNoise(Noise):
    """The base class of noise that selects keys; each column of a list of keys is stored as one integer."""

    has_margin_per_column: ClassVar[bool] = False
    names_rows: ClassVar[bool] = True
    orders_columns: ClassVar[bool] = True
    is_relaxed: ClassVar[bool] = False

    # Columns of the key, or of its parts, and last the column of the number of individuals who have it
    columns: tuple[str, ...] = field(metadata=form("columns of the keys, and of their counts", write=list))

    @abstractmethod
    def selected(self, counts: Sequence[tuple[Any, int]], level: Level, bits: Randomness) -> KeysAndCounts:
        """Select keys, from pairs of a key and its count; return the selected keys and their noisy counts."""

    @property
    def divided(self) -> int | None:
        """The number of shares that one individual divides among their keys; None if each key counts as 1."""
        return None

    def check_counts(self, counts: Sequence[tuple[Any, int]]) -> None:
        """Check that the keys may be selected; raise OutOfRange for a key that was not declared."""

    @abstractmethod
    def threshold(self, level: Level) -> int:
        """Return the number that the noisy count of every selected key exceeds."""

    def keys_written(self, parts: Sequence[str]) -> int | None:
        """Return the number of possible keys whose parts have these texts; None if any key is possible."""
        return None

    def check_published(self, level: Level, columns: Mapping[str, Sequence[Any]]) -> None:
        """Check that each selected key is possible and listed once, and that its count is above the threshold."""
        least, seen = self.threshold(level), Counter[tuple[str, ...]]()
        for row, (*key, count) in enumerate(zip(*(columns[name] for name in self.columns), strict=True), start=1):
            parts, where = tuple("" if part is None else str(part) for part in key), f"row {row}"
            seen[parts] += 1
            most = self.keys_written(parts)
            if most is not None and seen[parts] > most:
                came = "a key twice" if most else "another key"
                raise BadTable("every selected key must be possible, and listed only once", came=came, where=where)
            try:
                is_above = exact_integer(exact(count), "count") > least
            except UtmostError:
                is_above = False
            if not is_above:
                required = f"the count of a selected key must be an integer above {least}, the threshold"
                raise BadTable(required, came="another", where=where)

    @property
    def whom(self) -> str:
        """Words for a sentence: "one individual, who holds at most ... keys"."""
        return f"one individual, who holds at most {keys_held(self.unit.cells, self.divided)}"

    def check_served(self) -> None:
        """Check that a service can compute the noise in short time."""
        if self.unit.cells > MOST_SERVED:
            required = f"in a service one individual may have at most {MOST_SERVED} keys"
            remedy = "Count with a smaller at_most, or select the keys on the machine that has the ledger."
            raise OutOfRange(required, came=self.unit.cells, where="terms", remedy=remedy)

    def check_size(self, rows: int, columns: int) -> None:
        """Accept every size: a table may have no key."""

    def bound(self) -> tuple[float, str]:
        return float("inf"), "any"

    def word(self, level: Level) -> int:
        """Return the number of bytes of an empty list; a longer list takes more bytes, since its content is public."""
        return 16

    def weakness(self, level: Level) -> str:
        weakness = weakness_of(level, Geometric(level.scaled(Fraction(1, self.unit.cells))))
        if self.delta is not None and self.delta > _WEAK_DELTA:
            said = f"delta is above {_WEAK_DELTA}: a key of one person alone is selected with that probability"
            weakness += f" This delta protects practically nobody: {said}. Choose a smaller one, for example 1e-6."
        return weakness.strip()

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if columns not in ((), self.columns):
            required = f"columns must be the columns that the noise names: {', '.join(self.columns)}"
            raise OutOfRange(required, came=", ".join(columns), remedy="Leave out columns=.")
        return self.columns

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """Sort the keys by their texts; encode each column, of keys or counts, as one integer in a single row."""
        adapter = adapter_of(rows)
        if sorted(adapter.names(rows)) != sorted(self.columns):
            required = f"a table of keys must have the columns {', '.join(self.columns)}, and no other"
            raise BadTable(
                required,
                came=", ".join(adapter.names(rows)),
                where="table",
                remedy="Leave out or rename the other columns.",
            )
        *parts, counts = (adapter.column(rows, name) for name in self.columns)
        counts = counts_in_shares(counts, self.divided)
        whole = integer_column(counts, self.columns[-1], lambda row: adapter.place(rows, row)).tolist()
        listed = list(map(plain_cells, parts))
        keys = listed[0] if len(listed) == 1 else list(zip(*listed, strict=True))
        counted = counted_keys({"keys": keys, "counts": whole})
        self.check_counts(counted)
        held = self._as_columns([key for key, _ in counted], [count for _, count in counted])
        return {name: objects([_number_of(column)]) for name, column in held.items()}, adapter.kind(rows, self.columns)

    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        return objects([int(number) for number in column])

    def _as_columns(self, keys: Sequence[Any], counts: Sequence[int]) -> dict[str, list[Any]]:
        """Return {column: cells} for keys and counts; for no keys, the columns are empty."""
        if not keys:
            return {name: [] for name in self.columns}
        parts = list(key_columns(keys, "key").values())
        if len(parts) != len(self.columns) - 1:
            required = f"each key must have {len(self.columns) - 1} parts, one for each column of keys"
            remedy = "Pass a table with the columns of the promise."
            raise BadTable(required, came=f"{len(parts)} parts", where="table", remedy=remedy)
        return dict(zip(self.columns, [*parts, list(counts)], strict=True))

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Draw the list of keys; refuse to draw at a second level."""
        step = response.step
        if step.lower is not None or step.higher is not None:
            raise at_one_level(step.to, repr(response.name))
        if values is None:
            raise NeedsTable(
                "to select keys, the table of keys and counts must be passed",
                came="no table",
                remedy="Pass the table of keys and counts.",
            )
        *parts, counts = (_list_of(values[name][0]) for name in self.columns)
        keys = parts[0] if len(parts) == 1 else list(zip(*parts, strict=True))
        listed = self._as_columns(*self.selected(list(zip(keys, counts, strict=True)), step.to, response.bits()))
        return SelectedList({name: objects([_number_of(column)]) for name, column in listed.items()})

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        columns = {}
        for name, cells in response.items():
            listed = _list_of(cells[0])
            column = np.array(listed) if len({type(part) for part in listed}) == 1 else objects(listed)
            # NumPy drops trailing NULs of texts, and converts large integers to floats.
            columns[name] = column if column.tolist() == listed else objects(listed)
        return columns

    def bars(self, columns: Sequence[str]) -> dict[str, str]:
        """Return no columns of margins: selection biases the noisy counts upwards, so that margins would mislead."""
        return {}


@dataclass(frozen=True, slots=True)
class SelectedList:
    """A drawn list of selected keys; each of its columns is stored as one integer."""

    columns: Mapping[str, Integers]  # Each column as one integer

    @property
    def known(self) -> tuple[None, None]:
        return None, None

    def blocks(self, column: str, below: object, above: object, rows: int) -> Iterator[Integers]:
        yield self.columns[column]


@dataclass(frozen=True, slots=True)
class KeyNoise(SelectionNoise):
    """The optimal selection of keys at epsilon and delta: a key is selected if its count reaches a random threshold."""

    kind: ClassVar[str] = "selected keys"
    json_kind: ClassVar[str] = "keys"

    chance: Fraction = field(
        metadata=form("delta: probability of selecting a key that one individual alone holds", name="delta", write=str)
    )
    # Number of shares that one individual divides among their keys, if counts are sums of shares; None if each key
    # counts as 1
    shares: int | None = field(metadata=form("shares that one individual divides among keys"))

    @property
    def divided(self) -> int | None:
        return self.shares

    @property
    def delta(self) -> Fraction:
        return self.chance

    @property
    def subject(self) -> str:
        return "keys that nobody listed"

    @property
    def relation(self) -> str:
        """The neighbouring relation, with delta in words, so that levels add up only for the same delta."""
        return f"{self.unit.neighbours}, but for a chance of {self.delta}"

    def check_served(self) -> None:
        """Check that a service can compute the noise in short time, also for this delta."""
        SelectionNoise.check_served(self)
        if self.delta < _LEAST_SERVED:
            raise OutOfRange("delta must be at least 1e-30 in a service", came="a smaller delta", where="terms")

    def distribution(self, level: Level) -> SelectionDistribution:
        """Return the distribution of the threshold that the count of a key, or its count of shares, must reach."""
        return selection_distribution(level, self.delta, self.unit.cells, self.shares)

    def threshold(self, level: Level) -> int:
        return self.distribution(level).threshold

    def selected(self, counts: Sequence[tuple[Any, int]], level: Level, bits: Randomness) -> KeysAndCounts:
        distribution = self.distribution(level)
        drawn = distribution.thresholds(len(counts), bits)
        selected = [
            (key, n + distribution.turn - least) for (key, n), least in zip(counts, drawn, strict=True) if n >= least
        ]
        return [key for key, _ in selected], [noisy for _, noisy in selected]

    def margin(self, level: Level, confidence: Number) -> int:
        """Return the margin of error of a noisy count before selection, as if all noisy counts were published."""
        distribution, sure = self.distribution(level), read_confidence(confidence)

        def is_within(far: int) -> bool:
            below = (
                distribution.chance_interval(distribution.turn - far - 1).upper
                if far < distribution.turn
                else Fraction(0)
            )
            return distribution.chance_interval(distribution.turn + far).lower - below >= sure

        return first_integer(-1, distribution.certain, is_within)

    def drawn(self, level: Level) -> str:
        count, each = "count", f"delta = {self.delta / self.unit.cells}"
        if self.shares is not None:
            count, each = "count of shares", "the largest delta of a share with which all shares together keep delta"
        step = level_name(level.scaled(Fraction(1, self.shares or self.unit.cells)))
        return (
            f"a key is selected if its {count} reaches a random threshold, which is drawn separately for each key at "
            f"{step} and {each}; its noisy count is published with it, and is always above "
            f"{self.threshold(level)}, so that rare keys look more frequent than they are"
        )

    @property
    def theorem(self) -> str:
        return "at every count, the probability of selecting a key is as large as epsilon and delta allow"

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        return promise_of_keys(level, self.delta, self.unit.cells, self.shares)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "KeyNoise":
        about = cls.arguments(facts)
        delta, keys = about["chance"], about["unit"].cells
        return key_noise(about["columns"], delta=delta, keys=keys, shares=about.get("shares"))


def key_noise(columns: Sequence[str] = KEYS, *, delta: Number, keys: int = 1, shares: int | None = None) -> KeyNoise:
    """Select keys that nobody listed beforehand (words, addresses, diagnoses); the noisy counts cost nothing more.

    A key is selected if its count plus noise exceeds a threshold. The noise maximises the probability of selecting a
    key, at every count, among all (epsilon/k, delta/k)-private selections of one key, with k = ``keys``. The guarantee
    covers the noisy counts, too. A key with the count 0 is never selected. Noisy counts are above the threshold by
    selection: rare keys look more frequent than they are.

    Args:
        columns: Column of the key, or columns of its parts, and last the column with the number of individuals who have
            the key: the columns of the table that `count_keys` returns. Keys are text, integers or dates.
        delta: Delta of the whole list, strictly between 0 and 1. A key that only one individual has is selected with
            probability delta/keys, or, with ``shares``, with at most delta.
        keys: Largest number of keys of one individual, who adds at most 1 to the count of each.
        shares: Number of shares, from ``keys`` to 10^6, that one individual divides among their keys in any way. The
            counts are then sums of shares, as from ``count_keys(..., shares=...)``. An individual with few keys then
            gives each of them more shares: with ``keys=10``, a key of fourteen individuals who have no other key is
            selected as easily as with ``keys=1``.

    Raises:
        OutOfRange, NotANumber: if an argument is invalid, or if ``shares`` is below ``keys``.

    Guarantee: (epsilon, delta) for one individual added or removed. If one individual is replaced by another, up to 2k
        keys change: pass keys=2*k, and twice the shares.

    Cost: some 50 microseconds for each key, most of it to recognise the table; a millisecond for each key if
    epsilon/keys, or epsilon/shares, is below about 1/200.

    Source: [desfontaines2022]; the noisy count: proofs/theory/unknown-keys.md.

    >>> from utmost import Promise, release
    >>> from utmost.exact import level
    >>> noise = key_noise(["word", "n"], delta="1e-9")
    >>> counts = {"word": ["flu", "measles", "plague"], "n": [800, 650, 1]}
    >>> release(counts, Promise(noise=noise), epsilon=1).table["word"]
    ['flu', 'measles']
    >>> noise.distribution(level(1)).threshold, noise.distribution(level(1)).chance(1), noise.margin(level(1), "0.95")
    (19, Fraction(1, 1000000000), 3)
    """
    most = keys_of_one(keys)
    divided = None if shares is None else shares_of_one(shares, most)
    unit = Unit(1, most) if divided is None else Unit(divided, most, in_total=divided)
    return KeyNoise(unit, check_key_columns(columns), read_delta(delta), divided)


def check_key_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns of keys and counts; check that there are at least two, and all different."""
    names = listed_names(columns, "columns")
    if len(names) < 2 or len(set(names)) != len(names):
        required = "columns must name the columns of keys, then the column of counts, each once"
        raise OutOfRange(required, came=", ".join(names), remedy='Pass, for example, columns=["page", "count"].')
    return names


def _number_of(column: Sequence[Any]) -> int:
    """Encode a list of texts and integers as one integer."""
    return int.from_bytes(b"\1" + json.dumps(list(column)).encode(), "big")


def _list_of(number: int) -> list[Any]:
    size = int(number)
    content = size.to_bytes((size.bit_length() + 7) // 8, "big")
    try:
        column = json.loads(content[1:])
    except ValueError:
        raise LedgerDamaged("a stored list of keys must be readable", came="other content", where="responses") from None
    return list(column)
