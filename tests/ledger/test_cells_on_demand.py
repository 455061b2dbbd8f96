"""Cells of a universe that are answered on demand: their distribution, that answers never change, and what a thief
sees."""

import sqlite3
from collections import Counter
from contextlib import closing
from datetime import date
from decimal import Decimal
from fractions import Fraction
from math import cosh, exp

import numpy as np
import pytest

import utmost as ut
from utmost.errors import AlreadyPublished, BadTable, DataChanged, NeedsTable, NotPublished, OutOfRange, WrongKind
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.releases import Texts, Tuples
from utmost.testing import seeded_ledger

KEY = bytes(range(32))
WORDS = Texts("abcdefghijklmnopqrstuvwxyz", most=20)
COUNTS = {"influenza": 900, "plague": 1, "cold": 40}


def opened(place):
    place.mkdir(exist_ok=True)
    return Ledger.open(place / "l.db", create=not (place / "l.db").exists(), key=KEY)


def test_an_answer_is_the_same_whenever_and_in_whatever_order_it_is_asked_for(tmp_path):
    """The same after reopening the ledger, from a later level, and for a table in another order."""
    names = ["influenza", "nobody", "cold", "zzz"]
    with opened(tmp_path) as ledger:
        first = ledger.cells_on_demand.publish("w", COUNTS, WORDS, most=100, epsilon=1)
        lower = first.answers(names)
        assert [first[name] for name in reversed(names)] == [lower[name] for name in reversed(names)]
        higher = ledger.cells_on_demand.relax("w", COUNTS, WORDS, epsilon=3)
        better = higher.answers(names)
        assert ledger.spent("w") == level(3)
    turned = dict(reversed([*COUNTS.items(), ("nobody", 0)]))
    with opened(tmp_path) as ledger:
        assert ledger.cells_on_demand.publish("w", turned, WORDS, most=100, epsilon=1).answers(names) == lower
        assert ledger.cells_on_demand.view("w", turned, WORDS, epsilon=1).answers(names) == lower
        assert ledger.cells_on_demand.relax("w", turned, WORDS, epsilon=3).answers(names) == better
        between = ledger.cells_on_demand.view("w", turned, WORDS, epsilon=2)
        assert ledger.spent("w") == level(3)
        assert between.level == level(2)
        assert "epsilon = 2" in between.guarantee
        assert (between.margin(), ledger.cells_on_demand.view("w", turned, WORDS, epsilon=1).margin()) == (1, 3)
        ledger.verify()


def test_cells_of_nobody_have_the_distribution_of_all_others(tmp_path):
    """Frequencies at one level and squares at two: cells with and without persons have geometric noise of epsilon /
    keys."""
    cells = Tuples(range(10**12), ["f", "m"])
    held = {(at, "f"): 7 for at in range(3000)}
    with opened(tmp_path) as ledger:
        lower = ledger.cells_on_demand.publish("c", held, cells, most=5000, keys=2, epsilon=2)
        higher = ledger.cells_on_demand.relax("c", held, cells, epsilon=4)
    nobodies = [(10**11 + at, "m") for at in range(3000)]
    for table, epsilon in ((lower, 1.0), (higher, 2.0)):
        alpha = exp(-epsilon)
        for keys, count in ((list(held), 7), (nobodies, 0)):
            noise = [answer - count for answer in table.answers(keys).values()]
            for value in range(-2, 3):
                chance = (1 - alpha) / (1 + alpha) * alpha ** abs(value)
                deviation = (3000 * chance * (1 - chance)) ** 0.5
                assert abs(Counter(noise)[value] - 3000 * chance) < 6 * deviation
            variance = sum(x * x for x in noise) / 3000
            assert variance == pytest.approx(1 / (cosh(epsilon) - 1), rel=0.25)
    pairs = [(lower[key], higher[key]) for key in nobodies[:1000]]
    assert sum(a == b for a, b in pairs) > 400, "a relaxed answer often stays where it was"


def test_a_thief_sees_how_many_were_declared_and_not_how_many_are_held(tmp_path):
    """Every row of every table in the store has the same length for no cell, one, equal ones, a hundred, and a huge
    count."""
    hundred = [WORDS.key(at) for at in range(100)]
    tables = ({}, {"a": 5}, dict.fromkeys(hundred, 7), {word: at + 1 for at, word in enumerate(hundred)}, {"z": 10**15})
    seen = set()
    for at, table in enumerate(tables):
        with opened(tmp_path / str(at)) as ledger:
            ledger.cells_on_demand.publish("w", table, WORDS, most=100, epsilon=1)
            ledger.cells_on_demand.relax("w", table, WORDS, epsilon=2)
            release = ledger.items.release("w")
            assert (release.rows, release.columns, release.promise.id_column) == (100, ("n",), ("cell",))
        with closing(sqlite3.connect(tmp_path / str(at) / "l.db")) as store:
            names = [name for (name,) in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            rows = [(name, row) for name in sorted(names) for row in store.execute(f"SELECT * FROM {name}")]
        seen.add(tuple((name, *(len(x) if isinstance(x, bytes | str) else x for x in row)) for name, row in rows))
    assert len(seen) == 1


def test_what_is_no_such_table_is_refused_before_anything_is_spent(tmp_path):
    with opened(tmp_path) as ledger:
        cells = ledger.cells_on_demand
        for counts, most, wrong in (
            (COUNTS, 2, OutOfRange),
            ({"Ü": 1}, 9, OutOfRange),
            ({"a": -1}, 9, OutOfRange),
            ({"a": [1, 2], "n": [1]}, 9, BadTable),
            (COUNTS, 0, OutOfRange),
        ):
            with pytest.raises(wrong):
                cells.publish("w", counts, WORDS, most=most, epsilon=1)
        with pytest.raises(NotPublished):
            cells.relax("w", COUNTS, WORDS, epsilon=1)
        asked = cells.publish("w", COUNTS, WORDS, most=3, epsilon=1)
        for other in (COUNTS | {"plague": 2}, {**COUNTS, "new": 1}, {"influenza": 900}, {}):
            with pytest.raises((DataChanged, OutOfRange)):
                cells.relax("w", other, WORDS, epsilon=2)
        with pytest.raises(DataChanged):
            cells.view("w", COUNTS, Texts("zyxwvutsrqponmlkjihgfedcba", most=20), epsilon=1)
        with pytest.raises((AlreadyPublished, DataChanged)):
            cells.publish("w", COUNTS, WORDS, most=4, epsilon=1)
        with pytest.raises(NeedsTable):
            cells.view("w", COUNTS, WORDS, epsilon=2)
        with pytest.raises(OutOfRange, match="key 2"):
            asked.answers(["cold", "not a word"])
        for keys in ("cold", 5, None):
            with pytest.raises(WrongKind, match=r"^keys"):
                asked.answers(keys)
        assert asked.answers([]) == {}
        assert ledger.spent("w") == level(1)
        assert "900" not in repr(asked)


class Own:
    """A universe from outside the library; a ledger knows only its size."""

    def __init__(self, size):
        self.size = size

    def key(self, place):
        return place

    def place(self, key):
        return key if key in range(self.size) else None


def test_a_universe_is_a_promise_that_is_kept(tmp_path):
    """Another universe is refused, even if the counted cells have the same places: longer words, more values, other
    days."""
    days = [date(2024, 1, 1), date(2024, 1, 2)]
    pairs = [
        ({"a": 5}, WORDS, Texts("abcdefghijklmnopqrstuvwxyz", most=21)),
        ({"a": 5}, WORDS, Texts("abcdefghijklmnopqrstuvwxyü", most=20)),
        ({(1, "f"): 5}, Tuples(range(9), ["f", "m"]), Tuples(range(10), ["f", "m"])),
        ({(days[0],): 5}, Tuples(days), Tuples([days[0], date(2024, 1, 3)])),
        ({(1,): 5}, Tuples([1, True]), Tuples([1, 1.0])),
        ({3: 5}, Own(10), Own(11)),
        ({"a": 5}, Texts("".join(map(chr, range(97, 3000))), most=1000), Own(10**10)),
    ]
    with opened(tmp_path) as ledger:
        cells = ledger.cells_on_demand
        for at, (counts, universe, other) in enumerate(pairs):
            asked = cells.publish(str(at), counts, universe, most=3, epsilon=1)
            assert (
                cells.publish(str(at), counts, universe, most=3, epsilon=1)[next(iter(counts))]
                == asked[next(iter(counts))]
            )
            for call in (cells.publish, cells.relax, cells.view):
                options = {"most": 3} if call == cells.publish else {}
                with pytest.raises(DataChanged, match="universe"):
                    call(str(at), {} if at == 6 else counts, other, epsilon=1, **options)
        assert "The universe has 18 cells" in cells.view("2", *pairs[2][:2], epsilon=1).guarantee
        assert ledger.status().releases == 7


def test_no_cell_has_two_noises(tmp_path):
    """Decimal("3.0"), Decimal("3.00") and so on are equal to 3: the mean of their answers would be the true count."""
    with opened(tmp_path) as ledger:
        answered = ledger.cells_on_demand.publish("d", {3: 40}, Own(10), most=5, epsilon="1/10")
        assert answered[np.int64(3)] == answered[3]
        for key in (Decimal("3.0"), 3.0, True, Fraction(3)):
            with pytest.raises(WrongKind, match="place"):
                answered[key]


def test_the_same_counts_are_known_again_under_another_dataset(tmp_path):
    """One table has one budget: a padded table is recognised by its counted cells."""
    with opened(tmp_path) as ledger:
        ledger.cells_on_demand.publish("w", COUNTS, WORDS, most=100, epsilon=1, dataset="one")
        table = {"word": [*COUNTS], "n": [*COUNTS.values()]}
        promise = {"columns": "n", "public": "word", "unit": ut.Unit(1, 1)}
        with pytest.raises(AlreadyPublished):
            ledger.publish("rows", table, ut.Promise(**promise), epsilon=1, dataset="two")


def test_the_same_place_of_another_universe_has_other_noise(tmp_path):
    """Two alphabets number "a" and "b" the other way round. With the noise of the number, equal answers about "a" in
    one copy and about "b" in the other would show that both counts are equal.
    """
    counts, said = {"a": 5, "b": 5}, []
    for at, letters in enumerate(("ab", "ba", "ab")):
        with seeded_ledger(tmp_path / f"{at}.db", at) as ledger:
            cells = ledger.cells_on_demand.publish("r", counts, Texts(letters, most=1), most=2, epsilon="1/1000")
            said.append([cells[letter] for letter in letters])
    assert said[0] == said[2] != said[1]
