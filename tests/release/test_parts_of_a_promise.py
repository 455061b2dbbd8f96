"""Small functions behind promises, statements and kinds of noise, each with one example."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from utmost import Promise, Unit, level, release
from utmost.errors import Unsupported
from utmost.exact import Level
from utmost.noise import SignedCells
from utmost.publish.promises.accuracy import _decimal, epsilon_for_in_all
from utmost.publish.promises.cell_noise import CellNoise, once_cells
from utmost.publish.promises.codec import differing
from utmost.publish.promises.declared_columns import declared_columns
from utmost.publish.promises.key_distribution import NamingLaw, naming_law
from utmost.publish.promises.lattice import lattice_of, whole_sensitivity, width_of
from utmost.publish.promises.level_steps import Step
from utmost.publish.promises.noise_at_level import bar_column, cell_noise_of_answer
from utmost.publish.promises.noise_kinds import noise_of_facts
from utmost.publish.promises.partition_selection import keys_held, promise_of_keys
from utmost.publish.promises.places_statements import margin_name, places_guarantee, places_line
from utmost.publish.promises.planar_law import PlanarLaw, written
from utmost.publish.promises.rotated_sums import read_off, signed_sums, turned, turned_back
from utmost.publish.promises.statement import reading_noise, unlike
from utmost.publish.promises.statement_kinds import check_format
from utmost.publish.promises.table_statements import (
    assumed_line,
    assumed_public,
    cells_digest,
    outcome_line,
    promise_line,
)
from utmost.publish.promises.together_at_level import grouped, in_words, noise_together_at
from utmost.publish.promises.vast_domains import Texts, Tuples, least_threshold, tail, universe_facts


def test_decimals_are_numbered_and_the_least_epsilon_is_one_of_them():
    assert [_decimal(place, 3) for place in (0, -1, 901)] == [1, Fraction(999, 1000), Fraction(101, 10)]
    assert epsilon_for_in_all(33, in_all=20) == Fraction(179, 100)


def test_words_of_responses_depend_on_public_facts():
    small = CellNoise(Unit(1, 1), largest=10**6)
    assert [small.word(level(1)), small.word(level("1/1000000000")), CellNoise(Unit(1, 1)).word(level(1))] == [4, 8, 16]
    assert [width_of(bits) for bits in (8, 9, 33, 64, 65)] == [1, 2, 8, 8, 16]
    assert whole_sensitivity(Fraction(3)) == 3


def test_the_noise_of_an_answer_is_made_for_its_level():
    assert repr(once_cells(Unit(5, 1), cost="squared").at(level(8)).law) == (
        "DiscreteStaircase(epsilon=8, sensitivity=5, step=1)"
    )
    unit = Unit(1, 2)
    noise = cell_noise_of_answer(unit, lattice_of("integers", unit), level(1), Fraction(19, 20))
    assert (repr(noise.law), noise.margin) == ("Geometric(epsilon='1/2', sensitivity=1)", 6)
    assert noise_of_facts({"kind": "cells", "sensitivity": 1, "cells": "2"}).unit == Unit(1, 2)
    assert Step.from_known([level(1), level(3), level(4)], level(2)).how == "bridge"


def test_documents_differ_in_fields_of_another_type_and_in_missing_ones():
    assert differing({"a": 1, "b": "1/2", "x": 0}, {"a": True, "b": "1/2", "y": 0}) == ["a", "y", "x"]
    with pytest.raises(Unsupported, match=r"format of a statement must be 1; got 2\. Version 1\.4\.0 of utmost wrote"):
        check_format({"format": 2, "utmost": "1.4.0"}, "a statement")


def test_columns_are_released_public_or_dropped_in_the_order_of_the_table():
    assert declared_columns(["ward", "name", "visits"], ["visits"], ["ward"], ["name"]) == (("ward",), ("name",))
    assert bar_column(3, 2).tolist() == [3, 3]
    assert bar_column((3, 4), 2).tolist() == [3, 4]


def test_the_probability_of_naming_a_key_is_as_large_as_it_can_be():
    law = NamingLaw(Fraction(2), Fraction(1, 10))
    assert [str(law.chance(n)) for n in range(6)] == ["0", "1/10", "3/10", "7/10", "9/10", "1"]
    one, shared = (naming_law(Level.of_epsilon(1), Fraction(1, 10**6), *of) for of in ((1,), (10, 60)))
    named_at = [[next(n for n in range(99) if one.chance(n) >= Fraction(p, 100)) for p in (50, 99)]]
    named_at += [[next(n for n in range(99) if shared.chance(60 * n) >= Fraction(p, 100)) for p in (50, 99)]]
    assert named_at == [[14, 18], [14, 18]]


def test_the_promise_of_keys_in_words():
    assert [keys_held(1), keys_held(3), keys_held(3, 60)] == [
        "1 key, counted once",
        "3 keys, each counted once",
        "3 keys and gives them at most 60 shares in all",
    ]
    assert promise_of_keys(level(1), Fraction(1, 10**6), 2) == (
        "Adding or removing any one individual, who holds at most 2 keys, each counted once, multiplies or divides the "
        "chance of any list of keys by at most 2.72, except with a chance of 1/1000000: naming these keys is "
        "(epsilon=1, delta=1/1000000)-differentially private. A key that one individual alone holds is named with a "
        "chance of 1/2000000; any such key of one individual, with at most 1/1000000. Counts of these keys that are "
        "released at a level of their own add that level to epsilon."
    )


def test_the_promise_of_points_in_words():
    law = PlanarLaw(level(epsilon="1/2"), 2, Fraction(200), None)
    assert margin_name(["x", "y"]) == "x_y_margin"
    assert places_line(law) == (
        "Moving one point by 200 multiplies or divides the chance of any result by at most 1.65 (epsilon = 0.5 for "
        "each 200)."
    )
    assert places_guarantee(law, ["x", "y"]) == (
        "Moving one row's point by 200 multiplies or divides the chance of any result in the released points "
        "(x, y) by at most 1.65; by 400, by at most 2.72; by 600, by at most 4.49 (epsilon = 0.5 for each 200 of "
        "Euclidean distance, in the unit of these columns). For several rows of one individual the distances add up. "
        "The table does not hide who is in it, and points much farther apart than this can be told apart."
    )


def test_the_grid_and_the_margin_of_points():
    law = PlanarLaw(level(epsilon=1), 2, Fraction(200))
    assert law.grid == 2
    assert law.margin() == pytest.approx(950.187, abs=1e-3)
    assert written(np.array([3, -7]), Fraction(1, 10)).tolist() == [0.3, -0.7]


def test_columns_are_computed_from_their_signed_sums():
    assert [sums.tolist() for sums in turned([601, 370], [332, 222])] == [[933, 592], [269, 148]]
    assert [column.tolist() for column in turned_back([933, 592], [270, 148])] == [[601.5, 370], [331.5, 222]]
    sums = signed_sums([[5, 1], [2, 2], [1, 0]], [[1, 0, 0], [1, -1, -1], [0, 1, -1]])
    assert [column.tolist() for column in sums] == [[5, 1], [2, -1], [1, 2]]
    law = SignedCells(1, [[1, 0, 0], [1, -1, -1], [0, 1, -1]], ["8/15", "7/15", "7/15"])
    columns = read_off([[5, 1], [3, -1], [1, 2]], law.estimate)
    assert [column.tolist() for column in columns] == [[5, 1], [1.5, 2], [0.5, 0]]


def test_columns_changed_together_are_grouped_and_named():
    assert grouped("abc", (2, 1)) == [("a", "b"), ("c",)]
    assert in_words(["a", "b", "c"], [2, 0, -1]) == "2 a - c"
    noise = noise_together_at(["applicants", "admitted"], epsilon="1/2", unit=Unit(1, 2), relaxable=True)
    assert (noise.way.kind, noise.margins) == ("rotated", (8, 8))


def test_sentences_and_digests_of_statements():
    assert cells_digest({"n": [1, 2]})["sha256"] == hashlib.sha256(b'[["n",["1","2"]]]').hexdigest()
    assert assumed_public("the list of rows") == (
        "The promise also assumes that the list of rows would be the same without any one individual."
    )
    assert promise_line(level("1/2"), "add-remove") == (
        "Adding or removing any one individual multiplies or divides the chance of any result by at most 1.65 "
        "(epsilon = 0.5)."
    )
    assert outcome_line(level("1/16")) == (
        "The chance of this outcome is multiplied or divided by at most 1.07 (epsilon = 0.0625)."
    )
    assert assumed_line(Unit(1, 2), "released cell") == "changes at most 2 released cells, each by at most 1"


def test_cells_of_files_are_compared_as_numbers_blanks_or_text():
    assert [unlike("3", 3.0), unlike("", None), unlike("01", "1"), unlike("x", 3)] == [False, False, True, True]


def test_the_noise_of_a_released_count_is_read_from_its_statement():
    twice = release({"n": [3, 4]}, Promise("n", unit=Unit(1, 2)), epsilon=level(alpha="1/4"), once=True)
    assert reading_noise(twice.statement).alpha == Fraction(1, 2)
    five = release({"n": [3]}, Promise("n", unit=Unit(5, 1)), epsilon=1, once=True)
    assert repr(reading_noise(five.statement)) == "DiscreteStaircase(epsilon=1, sensitivity=5, step=2)"


def test_universes_are_recognised_and_their_thresholds_grow_with_the_logarithm():
    assert universe_facts(Texts("ab", most=2))["size"] == "6"
    assert universe_facts(Tuples(range(10))) != universe_facts(Tuples([0]))
    assert float(tail(level("1"), 10, 64).upper) < 1.3e-5
    assert [least_threshold(level(1), size, Fraction(1)) for size in (26**20, 10**9)] == [64, 20]
