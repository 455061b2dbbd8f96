"""Select cells of a declared universe that is too large to list, such as all texts, with epsilon and without delta.

Every cell of the universe gets independent noise, and the cells with a noisy count above a threshold are published. The
work hardly grows with the universe: among cells with count 0, only the selected ones are drawn. The distribution is
exactly that of noise on every cell; proof: proofs/theory/unknown-keys.md.
"""

import json
import numbers
from bisect import bisect_right
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Any, Protocol

from utmost.core.exact.arguments import is_integer, mapping, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact_integer, first_integer, natural, written_number
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.geometric import Geometric
from utmost.core.sampling.draw import sample
from utmost.core.sampling.geometric_draws import SingleGeometricSampler
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange, WrongKind
from utmost.publish.promises.partition_selection import counted_keys, keys_of_one

_MOST_LETTERS = 1000
_MOST_FALSE = 10**7
_HIGHEST = level(1000)
_MOST_BITS = 13_000  # Python prints integers of up to 4300 digits


class Universe(Protocol):
    """A finite list of keys that is never written out: its methods map an index to a key, and a key to its index."""

    # If a universe has ``facts`` (`Texts` and `Tuples` do), a ledger recognises it by their digest, else by its size.
    @property
    def size(self) -> int:
        """Number of keys."""

    def key(self, place: int) -> Any:
        """Return the key at index ``place``, 0 to size - 1."""

    def place(self, key: Any) -> int | None:
        """Return the index of a key; None if the key is not in the universe."""


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of ``least`` to ``most`` letters of an alphabet, shorter ones first.

    Raises:
        OutOfRange: if the alphabet is empty or repeats a letter, or if a length is above 1000.

    >>> words = Texts("ab", most=2)
    >>> words.size, [words.key(place) for place in range(words.size)], words.place("ba")
    (6, ['a', 'b', 'aa', 'ab', 'ba', 'bb'], 4)
    """

    alphabet: str
    most: int
    least: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "most", natural(self.most, "most", most=_MOST_LETTERS))
        object.__setattr__(self, "least", natural(self.least, "least", most=self.most))
        if not isinstance(self.alphabet, str) or not self.alphabet or len(set(self.alphabet)) != len(self.alphabet):
            raise OutOfRange("alphabet must have at least one letter, and no letter twice", where="Texts")

    @property
    def size(self) -> int:
        """Number of texts."""
        return sum(len(self.alphabet) ** length for length in range(self.least, self.most + 1))

    def key(self, place: int) -> str:
        """Return the text at index ``place``, 0 to size - 1."""
        place, base, length = natural(place, "place", most=self.size - 1), len(self.alphabet), self.least
        while place >= base**length:
            place, length = place - base**length, length + 1
        letters = []
        for _ in range(length):
            place, digit = divmod(place, base)
            letters.append(self.alphabet[digit])
        return "".join(reversed(letters))

    def facts(self) -> dict[str, Any]:
        """Return the universe as JSON values, which `of_facts` reads."""
        return {"alphabet": self.alphabet, "most": self.most, "least": self.least}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Texts":
        """Read the texts that `facts` describe."""
        _check_facts(facts, "alphabet", "most", "least")
        return cls(facts["alphabet"], facts["most"], facts["least"])

    def place(self, key: Any) -> int | None:
        """Return the index of a text; None if the text is not in the universe."""
        if not isinstance(key, str) or not self.least <= len(key) <= self.most or set(key) - set(self.alphabet):
            return None
        base, number = len(self.alphabet), 0
        for letter in key:
            number = number * base + self.alphabet.index(letter)
        shorter: int = sum(base**length for length in range(self.least, len(key)))
        return number + shorter

    def keys_written(self, parts: Sequence[str]) -> int:
        """Return the number of keys whose parts have these texts: 1 or 0."""
        return int(len(parts) == 1 and self.place(parts[0]) is not None)


def universe_facts(universe: Universe) -> dict[str, str]:
    """Return the facts by which a ledger recognises a universe: size, and kind and digest if it has ``facts``."""
    size = {"size": size_text(universe)}
    facts = getattr(universe, "facts", None)
    if facts is None:
        return size

    def typed(value: object) -> list[str]:
        """Write a value without a JSON form as its type, with its text if it is a date, number or bytes."""
        has_text = isinstance(value, date | time | timedelta | numbers.Number | bytes)
        return [type(value).__name__, *([str(value)] if has_text else [])]

    text = json.dumps(facts(), sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=typed)
    return {**size, "kind": type(universe).__name__, "digest": sha256(text.encode("ascii")).hexdigest()}


def size_text(universe: Universe) -> str:
    """Write the number of keys of a universe in decimal digits, or in hexadecimal if there are too many digits."""
    size = exact_integer(universe.size, "size of the universe")
    return str(size) if size.bit_length() <= _MOST_BITS else hex(size)


def _check_facts(facts: Mapping[str, Any], *names: str) -> None:
    if not mapping(facts, "facts").keys() >= {*names}:
        raise OutOfRange(
            f"the facts of a universe must have the fields {', '.join(names)}", came="other fields", where="of_facts"
        )


class Tuples:
    """All tuples with one value from each of several lists; a ``range`` may stand for a list of integers.

    >>> cells = Tuples(range(10**6), ["f", "m"])
    >>> cells.size, cells.key(3), cells.place((1, "m"))
    (2000000, (1, 'm'), 3)
    """

    __slots__ = ("_lists", "_places", "_texts", "size")

    def __init__(self, *lists: Sequence[Any]) -> None:
        if not lists or not all(isinstance(values, Sequence) and len(values) for values in lists):
            raise OutOfRange("each argument of Tuples must be a list with at least one value", where="Tuples")
        if not all(isinstance(value, Hashable) for values in lists if type(values) is not range for value in values):
            raise OutOfRange("the values of Tuples must be texts or numbers", where="Tuples")
        self._lists = lists
        self._places = [
            None if isinstance(values, range) else {(type(value), value): place for place, value in enumerate(values)}
            for values in lists
        ]
        if any(places is not None and len(places) != len(v) for places, v in zip(self._places, lists, strict=True)):
            raise OutOfRange("each list of Tuples must have no value twice", where="Tuples")
        self.size = prod(map(len, lists))
        self._texts: list[Counter[str] | None] | None = None

    def facts(self) -> dict[str, Any]:
        """Return the lists as JSON values, which `of_facts` reads; a range is written by its ends and step."""
        lists = [
            {"range": [values.start, values.stop, values.step]} if isinstance(values, range) else list(values)
            for values in self._lists
        ]
        return {"lists": lists}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Tuples":
        """Read the lists that `facts` describe."""
        _check_facts(facts, "lists")
        try:
            lists = [range(*one["range"]) if isinstance(one, Mapping) else one for one in facts["lists"]]
        except (LookupError, TypeError, ValueError):
            raise OutOfRange(
                "the facts of Tuples must be lists or ranges", came="other facts", where="of_facts"
            ) from None
        return cls(*lists)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tuples) and self.facts() == other.facts()

    def __hash__(self) -> int:
        return hash(repr(self.facts()))

    def key(self, place: int) -> tuple[Any, ...]:
        """Return the tuple at index ``place``, 0 to size - 1."""
        place, parts = natural(place, "place", most=self.size - 1), []
        for values in reversed(self._lists):
            place, at = divmod(place, len(values))
            parts.append(values[at])
        return tuple(reversed(parts))

    def place(self, key: Any) -> int | None:
        """Return the index of a tuple; None if the tuple is not in the universe."""
        if not isinstance(key, tuple) or len(key) != len(self._lists):
            return None
        number = 0
        for part, values, places in zip(key, self._lists, self._places, strict=True):
            if not isinstance(part, Hashable):
                return None
            if places is not None:
                at = places.get((type(part), part))
            else:
                at = values.index(part) if type(part) is int and part in values else None
            if at is None:
                return None
            number = number * len(values) + at
        return number

    def keys_written(self, parts: Sequence[str]) -> int:
        """Return the number of tuples whose parts have these texts; 1 and "1" have the same text."""
        if self._texts is None:
            self._texts = [None if isinstance(values, range) else Counter(map(str, values)) for values in self._lists]
        if len(parts) != len(self._lists):
            return 0
        listed = zip(parts, self._lists, self._texts, strict=True)
        return prod(_is_in_range(part, values) if texts is None else texts[part] for part, values, texts in listed)


def _is_in_range(text: str, values: Sequence[Any]) -> bool:
    if len(text) > _MOST_LETTERS or not text.removeprefix("-").isdecimal():
        return False
    return str(int(text)) == text and int(text) in values


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SelectedCells(Display):
    """The cells of a universe whose noisy counts exceed a threshold.

    Attributes:
        keys: Keys in the order of the universe, which does not depend on the counts.
        noisy: Noisy counts of the keys, at least ``threshold`` + 1: biased upwards by selection.
        level: Epsilon of the whole list; there is no delta.
        per_individual: Largest number of keys of one individual.
        threshold: Number that a noisy count must exceed; a function of the universe's size, epsilon and
            ``false_keys``.
        expected_false: Upper bound on the expected number of selected keys that nobody has.
    """

    keys: tuple[Any, ...] = field(repr=False)
    noisy: tuple[int, ...] = field(repr=False)
    level: Level
    per_individual: int
    threshold: int
    expected_false: Fraction


@progress_bar("Selecting cells")
def select_cells(
    counts: Any,
    universe: Universe,
    *,
    epsilon: Number | Level,
    keys: int = 1,
    false_keys: Number = 1,
    randomness: Randomness | None = None,
) -> SelectedCells:
    """Select cells of a declared universe of any size (words, pages, cells of a long table), without a delta.

    Each cell, even a cell with count 0, gets two-sided geometric noise at the level epsilon/keys; cells whose noisy
    count exceeds the threshold are published. Noise is drawn only for the cells in ``counts``, and for those cells with
    count 0 that are selected.

    Args:
        counts: {key: number of individuals who have it}, or a table of two columns, keys and counts. Every key must be
            in the universe.
        universe: `Texts`, `Tuples`, or any `Universe`, chosen without looking at the data.
        epsilon: Privacy level of the whole list.
        keys: Largest number of keys of one individual, who adds at most 1 to the count of each.
        false_keys: Largest expected number of selected keys that nobody has, at most 10^7; it determines the threshold.
        randomness: Source of random bits, the operating system's when None; a seeded source is refused.

    Raises:
        BadTable: if a table does not have exactly two columns, or if a key is in two rows.
        NotANumber, WrongKind: if counts or keys are invalid; the message names their position, never their value.
        NotALevel, PromiseBroken: if the level is invalid, or if the source of randomness is not secure.
        OutOfRange: if a key is outside the universe (the message does not show it), or if ``false_keys`` is out of
            range.

    Guarantee: epsilon for one individual added or removed. For one individual replaced by another, pass twice the
    number of ``keys``.

    Cost: linear in the number of counted and selected keys, and growing with log(size).

    Source: the distribution of [cormode2012]; proof: proofs/theory/unknown-keys.md.

    >>> cells = select_cells({"influenza": 900, "plague": 1}, Texts("abcdefghijklmnopqrstuvwxyz", most=20),
    ...     epsilon=1, false_keys="1e-9")
    >>> cells.keys, cells.threshold
    (('influenza',), 85)
    """
    bits = secure(randomness)
    if not all(hasattr(universe, name) for name in ("size", "key", "place")):
        raise wrong_kind("universe", "Texts, Tuples or another Universe", universe)
    return selected_cells(counted_keys(counts), universe, level(epsilon), keys_of_one(keys), false_keys, bits)


def selected_cells(
    counts: Sequence[tuple[Any, int]],
    universe: Universe,
    total: Level,
    keys: int,
    false_keys: Number,
    randomness: Randomness,
) -> SelectedCells:
    wish, places = read_false_keys(false_keys), check_places(counts, universe)
    each = total.scaled(Fraction(1, keys))
    threshold = least_threshold(each, universe.size, wish)
    held = sorted(places)
    noise = sample(Geometric(each), len(held), randomness=randomness).tolist() if held else []
    noisy_counts = {place: places[place] + int(x) for place, x in zip(held, noise, strict=True)}
    above = {place: noisy for place, noisy in noisy_counts.items() if noisy > threshold}
    above |= selected_empty_cells(each, threshold, universe.size, held, randomness)
    order = sorted(above)
    cells, noisy = tuple(map(universe.key, order)), tuple(above[place] for place in order)
    return SelectedCells(cells, noisy, total, keys, threshold, universe.size * tail(each, threshold, 128).upper)


def read_false_keys(false_keys: Number) -> Fraction:
    """Check the largest expected number of false keys; return it exactly."""
    wish = written_number(false_keys, "false_keys")
    if not 0 < wish <= _MOST_FALSE:
        raise OutOfRange(
            "false_keys must be above 0 and at most 10^7", came=false_keys, remedy="Pass, for example, false_keys=1."
        )
    return wish


def place_in(universe: Universe, key: Any, size: int) -> int | None:
    """Return the index of a key in a universe of this size; None if the key is not in the universe."""
    # Noise is a function of the text of an index. If 3, 3.0 and Decimal("3.00") were three indices, one cell would have
    # as many noises as a reader asks for, and their mean is the true count.
    place = universe.place(key)
    if place is None:
        return None
    if not is_integer(place) or not 0 <= place < size:
        raise WrongKind(
            "a universe must give each key an integer, from 0 to size - 1, as its place",
            came=type(place).__name__,
            where="universe",
            remedy="Correct the method place() of the universe: return None for a key of another type.",
        )
    return int(place)


def check_places(counts: Sequence[tuple[Any, int]], universe: Universe) -> dict[int, int]:
    """Return {index in the universe: count}; refuse a key outside the universe, and two keys with one index."""
    places, size = {}, exact_integer(universe.size, "size of the universe")
    for key, count in counts:
        place = place_in(universe, key, size)
        if place is None:
            remedy = "Drop keys outside the universe before they are counted, or declare a larger universe."
            raise OutOfRange("each key must be in the universe", came="another key", where="counts", remedy=remedy)
        places[place] = count
    if len(places) != len(counts):
        raise WrongKind(
            "a universe must have a different place for each key",
            came="one place for two",
            where="universe",
            remedy="Correct the method place() of the universe.",
        )
    return places


def tail(each: Level, threshold: int, bits: int) -> Interval:
    """Compute P(noise of a cell > m) = a^(m+1)/(1 + a), to a relative error of 2^-bits; a is alpha, m the threshold."""
    inner = bits + 2 * threshold.bit_length() + 16
    while True:
        a = each.alpha_interval(inner)
        chance = a ** (threshold + 1) / (1 + a)
        if chance.low and chance.low.bit_length() >= bits:
            return chance
        inner *= 2


def least_threshold(each: Level, size: int, wish: Fraction) -> int:
    """Return the least m >= 0 for which the expected number of false keys is at most ``wish``."""
    Geometric(each)  # raises for a level that is too small to draw
    if each > _HIGHEST:
        remedy = f"Pass a smaller epsilon: above {_HIGHEST.epsilon} for each key there is practically no noise."
        came = "a larger level"
        raise OutOfRange(f"epsilon must be at most {_HIGHEST.epsilon} for each key", came=came, remedy=remedy)

    def is_enough(threshold: int) -> bool:
        return size * tail(each, threshold, 128).upper <= wish

    above = 1
    while not is_enough(above):
        above *= 2
    return first_integer(-1, above, is_enough)


def selected_empty_cells(
    each: Level, threshold: int, size: int, held: Sequence[int], randomness: Randomness
) -> dict[int, int]:
    """Return {index: noise} of the selected cells with count 0; ``held`` has the sorted indices of the others."""

    # Cells that are not selected need no draw: the gap to the next selected cell is Geom(1 - t) with t = tail, and the
    # noise beyond the threshold is Geom(a), since geometric noise has no memory.
    def unnamed(bits: int) -> Interval:
        return (1 - tail(each, threshold, bits)).at(bits)

    def sure(bits: int) -> Interval:
        return Interval.of(1, bits)

    gap, beyond = SingleGeometricSampler(unnamed, (sure,)), SingleGeometricSampler(each.alpha_interval, (sure,))
    before = [place - rank for rank, place in enumerate(held)]
    word, names, at = randomness.word, {}, -1
    while (at := at + 1 + gap.draw(word)[0]) < size - len(held):
        names[at + bisect_right(before, at)] = threshold + 1 + beyond.draw(word)[0]
    return names
