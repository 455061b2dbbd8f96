"""Small functions of utmost.core, each with one example."""

import math
from fractions import Fraction

import numpy as np
from flint.types.fmpq import fmpq

from utmost.core.exact.arrays import as_integers, largest_size, plain_cells, with_room_for
from utmost.core.exact.display import decimal_text, number_words
from utmost.core.exact.intervals import Interval, exp_floats, exp_interval, is_lower, normal_tail_interval
from utmost.core.exact.levels import integer_root, level, level_argument
from utmost.core.exact.linear_algebra import by_integers, table_product
from utmost.core.exact.numbers import first_integer, has_decimal_comma
from utmost.core.exact.written_levels import level_from_facts
from utmost.core.noise.inversion import slack_for
from utmost.core.noise.law import absolute, least_cost, squared
from utmost.core.noise.norm_staircase import norm_of
from utmost.core.noise.period_series import log_ratio
from utmost.core.noise.polynomials import eulerian, geometric_moment_cleared, power_sum
from utmost.core.noise.powers import Doubled
from utmost.core.noise.repeated_sums import repeated
from utmost.core.noise.shell_series import ShellSeries
from utmost.core.noise.signed_cells import charge_of_rows
from utmost.core.noise.tables_draw import segment_sum
from utmost.core.privacy.unit import Unit, read_unit
from utmost.exact import as_array
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


def test_decimal_text():
    assert (decimal_text(Fraction(-5, 4)), decimal_text(12), decimal_text(Fraction(1, 3))) == ("-1.25", "12", "1/3")


def test_number_words():
    assert (number_words(Fraction(903723, 50)), number_words(Fraction(2, 3)), number_words(Fraction(3**70, 7))) == (
        "18074.46",
        "2/3 (about 0.666667)",
        "about 3.57594e+32",
    )


def test_is_lower():
    assert is_lower(
        lambda bits: exp_interval(Fraction(1), bits), lambda bits: Interval.of(Fraction(271829, 10**5), bits)
    )


def test_exp_floats():
    [(low, high)] = exp_floats([fmpq(-1)])
    assert (low < Fraction(3678794411714423215955237701614608674458111310, 10**46) < high, high - low < 1e-16) == (
        True,
        True,
    )


def test_normal_tail_interval():
    assert round(float(normal_tail_interval(Fraction(1), 64).middle), 6) == 0.317311


def test_level_argument():
    assert (level_argument(level(alpha="1/4")), level_argument(level(alpha="1/4").scaled("1/6"))) == (
        "alpha='1/4'",
        "epsilon=level(alpha='1/2').scaled('1/3')",
    )


def test_integer_root():
    assert (integer_root(26, 3), integer_root(27, 3)) == (2, 3)


def test_by_integers():
    assert (by_integers(as_array([["1/2", "1/3"]]))[0].tolist(), by_integers(np.array([[0.5, 0.25]]))[1].tolist()) == (
        [[3, 2]],
        [[4]],
    )


def test_table_product():
    assert table_product(np.array([10**20, 1], dtype=object), np.array([[0, 1], [1, 1]]), np.array([3, -(10**30)])) == [
        -999999999700000000000000000000,
        -999999999999999999999999999997,
    ]


def test_first_integer():
    assert first_integer(0, 10**30, lambda k: k * k >= 10**50) == 10000000000000000000000000


def test_has_decimal_comma():
    assert (has_decimal_comma("0,5"), has_decimal_comma("1,000,000")) == (True, False)


def test_level_from_facts():
    assert level_from_facts({"epsilon": "-1/3 log(1/2)"}) == level(alpha="1/2").scaled("1/3")


def test_slack_for():
    assert (slack_for(0.05), slack_for(1e-9)) == (3.9, 7.4)


def test_least_cost():
    assert (
        least_cost([absolute, squared], "integers")
        == "no other noise that is added to integers has a smaller expected cost (absolute, squared)"
    )


def test_norm_of():
    assert (norm_of("max", [2, -1, 0]), norm_of("range", [2, -1, 0]), norm_of("range", [-2, -1])) == (2, 3, 2)


def test_log_ratio():
    assert log_ratio([(3, 0.0, -math.inf, math.inf), (4, -math.inf, 5.0, -math.inf)], 7.0) == 2.0


def test_power_sum():
    assert (power_sum(0, 4), power_sum(1, 4), power_sum(2, 4)) == (4, 6, 14)


def test_eulerian():
    assert (eulerian(0), eulerian(1), eulerian(3)) == ((1,), (0, 1), (0, 1, 4, 1))


def test_geometric_moment_cleared():
    assert geometric_moment_cleared(1, 2) == {0: 0, 1: 1, 2: -1}


def test_doubled():
    third = Doubled.of(Fraction(1, 3))
    assert (float(third.high), float(third.low)) == (0.3333333333333333, 1.850371707708594e-17)


def test_repeated():
    assert (isinstance(repeated(Geometric(1), 24), Combination), repeated(Geometric(1), 24).margin("0.95")) == (
        True,
        13,
    )


def test_shellseries_of():
    assert (ShellSeries.of([1, 3]).heads, ShellSeries.of([1, 3]).at(fmpq(1, 2))) == ((1, 1), 6)


def test_charge_of_rows():
    rows, shares = ((1, 0, 0), (1, -1, -1), (0, 1, -1)), [Fraction(267, 500), *[Fraction(233, 500)] * 2]
    assert [str(charge_of_rows(rows, shares, nonnegative=known)) for known in (True, False)] == ["1", "483/250"]


def test_segment_sum():
    assert (segment_sum(lambda s: s * s, 1000, 2), segment_sum(lambda s: s * s, 2, 2)) == (333833500, 5)


def test_read_unit():
    assert read_unit(Unit(1, 2)) == read_unit(None, 1, 2)
