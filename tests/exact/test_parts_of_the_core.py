"""Small functions of utmost.core, each with one example."""

from fractions import Fraction

import numpy as np
from flint.types.fmpq import fmpq

from utmost.core.exact.arrays import as_integers, largest_size, plain_cells, with_room_for
from utmost.core.exact.display import number_words
from utmost.core.exact.intervals import exp_floats, normal_tail_interval
from utmost.core.exact.linear_algebra import table_product
from utmost.core.exact.numbers import has_decimal_comma
from utmost.core.noise.inversion import slack_for
from utmost.core.noise.repeated_sums import repeated
from utmost.core.noise.tables_draw import segment_sum
from utmost.noise import Combination, Geometric


def test_plain_cells():
    assert (plain_cells(np.array([1, 2])), plain_cells(("a", None))) == ([1, 2], ["a", None])


def test_largest_size():
    assert (
        largest_size(np.array([3, -4])),
        largest_size(np.array([-(1 << 63)])) == 1 << 63,
        largest_size(np.zeros(0, int)),
    ) == (4, True, 0)


def test_with_room_for():
    assert (with_room_for(np.array([3, -4]), 2).dtype.name, with_room_for(np.array([1 << 61]), 2).dtype.name) == (
        "int64",
        "object",
    )


def test_as_integers():
    integers, denominator = as_integers([Fraction(1, 2), Fraction(2, 3)])
    assert (integers.tolist(), denominator) == ([3, 4], 6)


def test_number_words():
    assert (number_words(Fraction(903723, 50)), number_words(Fraction(2, 3)), number_words(Fraction(3**70, 7))) == (
        "18074.46",
        "2/3 (about 0.666667)",
        "about 3.57594e+32",
    )


def test_exp_floats():
    [(low, high)] = exp_floats([fmpq(-1)])
    assert (low < Fraction(3678794411714423215955237701614608674458111310, 10**46) < high, high - low < 1e-16) == (
        True,
        True,
    )


def test_normal_tail_interval():
    assert round(float(normal_tail_interval(Fraction(1), 64).middle), 6) == 0.317311


def test_table_product():
    assert table_product(np.array([10**20, 1], dtype=object), np.array([[0, 1], [1, 1]]), np.array([3, -(10**30)])) == [
        -999999999700000000000000000000,
        -999999999999999999999999999997,
    ]


def test_has_decimal_comma():
    assert (has_decimal_comma("0,5"), has_decimal_comma("1,000,000")) == (True, False)


def test_slack_for():
    assert (slack_for(0.05), slack_for(1e-9)) == (3.9, 7.4)


def test_repeated():
    assert (isinstance(repeated(Geometric(1), 24), Combination), repeated(Geometric(1), 24).margin("0.95")) == (
        True,
        13,
    )


def test_segment_sum():
    assert (segment_sum(lambda s: s * s, 1000, 2), segment_sum(lambda s: s * s, 2, 2)) == (333833500, 5)
