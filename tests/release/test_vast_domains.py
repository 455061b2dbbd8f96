"""Universes too large to write out: the law is that of noise on every cell, in rationals and by frequencies."""

from fractions import Fraction
from itertools import combinations

import pytest

from utmost import errors
from utmost.exact import level
from utmost.publish.promises.vast_domains import least_threshold, named_cells, names_of_nobody, tail
from utmost.releases import Texts, Tuples, name_cells
from utmost.testing import SeededRandomness

HALF = level(alpha="1/2")


@pytest.mark.parametrize(
    "universe", [Texts("ab", 3), Texts("xyz", 2, least=0), Tuples(range(3), "ab"), Tuples([1, "1"], range(5, 0, -2))]
)
def test_places_and_keys_are_inverse(universe):
    keys = [universe.key(place) for place in range(universe.size)]
    assert len(set(keys)) == universe.size
    assert [universe.place(key) for key in keys] == list(range(universe.size))
    assert [universe.place(key) for key in ("é", None, ("c", 9), (True, "a"), 1.5)] == [None] * 5


def test_gaps_name_each_cell_independently_in_rationals():
    """Gaps Geom(1 - t) over four cells give each set of names t^k (1-t)^(4-k): the law of dense noise and threshold."""
    t = Fraction(1, 2) ** 3 / Fraction(3, 2)
    for k in range(5):
        for names in combinations(range(4), k):
            chance, at = Fraction(1), -1
            for place in names:
                chance, at = chance * (1 - t) ** (place - at - 1) * t, place
            chance *= (1 - t) ** (4 - at - 1)  # the next gap leads out
            assert chance == t**k * (1 - t) ** (4 - k)


def test_the_tail_and_the_noise_beyond_are_the_dense_law():
    a = Fraction(1, 2)
    dense = {x: (1 - a) / (1 + a) * a**x for x in range(200)}
    t = a**3 / (1 + a)
    around = tail(HALF, 2, 64)
    assert around.lower <= t <= around.upper
    assert abs(sum(mass for x, mass in dense.items() if x > 2) - t) < Fraction(1, 2**150)
    assert all(dense[3 + j] == t * (1 - a) * a**j for j in range(100))


def test_frequencies_agree_with_noise_on_every_cell():
    size, t = 40000, 1 / 12
    held = list(range(0, size, 5))
    named = names_of_nobody(HALF, 2, size, held, SeededRandomness(5))
    assert not set(named) & set(held)
    free = [sum(place % 5 == rest for place in named) for rest in range(1, 5)]
    cells = size / 5
    assert sum((n - cells * t) ** 2 / (cells * t * (1 - t)) for n in free) < 23.5  # 1 - 1e-4, 4 degrees
    values = list(named.values())
    assert min(values) == 3
    expected = [(3 + j, len(values) / 2 ** (j + 1)) for j in range(6)]
    assert sum((values.count(noise) - e) ** 2 / e for noise, e in expected) < 28


def test_held_cells_are_named_by_their_noisy_counts():
    held = [((place,), 3) for place in range(2000)]
    cells = named_cells(held, Tuples(range(4000)), HALF, 1, 400, SeededRandomness(6))
    assert cells.threshold == 2  # 4000 a^(m+1) / (1 + a) is 667 at m = 1 and 333 at m = 2
    assert all(noisy > 2 for noisy in cells.noisy)
    named = sum(place < 2000 for (place,) in cells.keys)
    assert abs(named / 2000 - 2 / 3) < 4.5 * (2 / 9 / 2000) ** 0.5  # P(3 + X > 2) = P(X >= 0) = 1/(1 + a)


@pytest.mark.parametrize("size", [1, 10**9, 26**20, 10**400])
@pytest.mark.parametrize("epsilon", ["1e-3", 1, 50])
def test_the_threshold_is_the_least(size, epsilon):
    each, wish = level(epsilon), Fraction(1, 3)
    least = least_threshold(each, size, wish)
    assert size * tail(each, least, 128).upper <= wish
    assert least == 0 or size * tail(each, least - 1, 128).lower > wish


def test_vast_universes_take_the_time_of_what_is_there():
    for universe, key in ((Texts("abcdefghijklmnopqrstuvwxyz", 20), "house"), (Tuples(range(10**9)), (7,))):
        cells = name_cells({key: 10**4}, universe, epsilon=1, false_names=5)
        assert key in cells.keys
        assert len(cells.keys) < 60
        assert cells.expected_false <= 5


def test_refusals_come_before_the_draw():
    for counts, universe, wish, error in (
        ({"secret": 1}, Texts("ab", 3), 1, errors.OutOfRange),
        ({"a": 1}, Texts("ab", 3), 0, errors.OutOfRange),
    ):
        with pytest.raises(error) as caught:
            name_cells(counts, universe, epsilon=1, false_names=wish)
        assert "secret" not in str(caught.value)
    with pytest.raises(errors.OutOfRange):
        Texts("aa", 2)
    with pytest.raises(errors.PromiseBroken):
        name_cells({"a": 1}, Texts("ab", 3), epsilon=1, randomness=SeededRandomness(1))


def test_nothing_is_held():
    assert name_cells({}, Texts("ab", 3), epsilon=1, false_names="1e-9").keys == ()
