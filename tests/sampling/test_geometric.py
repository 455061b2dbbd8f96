"""The parts of a geometric variable multiply to its distribution."""

from fractions import Fraction
from itertools import pairwise, product

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, Written, chi_square

# The parts multiply to the distribution exactly, to 200 bits: draws alone show errors of a hundredth.
from utmost.core.sampling.geometric_draws import (
    CONSTANT,
    TABLE,
    MarkedGeometricSampler,
    SamplingPlan,
    SingleGeometricSampler,
    chooser,
    digits,
    geometric_parts,
    marked,
    signs,
    squared_often,
)
from utmost.exact import Interval, level
from utmost.sampling import Thresholds
from utmost.testing import SeededRandomness

ratios = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50)
BITS = 256


def real(value):
    return lambda bits: Interval.of(value, bits)


def masses(cuts):
    """The probabilities of a distribution as intervals."""
    ends = [Interval.of(0, BITS), *(cut.at(BITS) for cut in cuts(BITS)), Interval.of(1, BITS)]
    return [right - left for left, right in pairwise(ends)]


@given(ratios, st.integers(1, 4), st.integers(1, 3), st.integers(1, 20), st.fractions(0, 1, max_denominator=9))
def test_the_parts_multiply_to_the_distribution(a, values, group_bits, tail_bits, share):
    """P(K = k, mark) = (1-a) a^k w_mark, for every k below the tail."""
    parts = geometric_parts(
        real(a), [real(share), real(1 - share)], values=values, group_bits=group_bits, tail_bits=tail_bits
    )
    tops = masses(parts.top)
    groups = [masses(distribution) for _, distribution in parts.groups]
    assert sum(size for size, _ in parts.groups) == parts.shift
    assert all(0 < size <= group_bits for size, _ in parts.groups)
    for q, *digit in list(product(range(values), *(range(1 << size) for size, _ in parts.groups)))[:200]:
        k = q
        below = Interval.of(1, BITS)
        for d, (size, _), group in zip(digit, parts.groups, groups, strict=True):
            k, below = k << size | d, below * group[d]
        for mark, weight in enumerate([share, 1 - share]):
            found = tops[2 * q + mark] * below
            assert found.contains((1 - a) * a**k * weight)
            assert found.width < Fraction(1, 1 << 200)


@given(ratios, st.integers(1, 5), st.integers(1, 30))
def test_the_tail_is_what_is_left_and_no_more_than_promised(a, values, tail_bits):
    parts = geometric_parts(real(a), [real(Fraction(1))], values=values, group_bits=3, tail_bits=tail_bits)
    *_, tail = masses(parts.top)
    assert tail.contains(a ** (2**parts.shift * values))
    assert tail.upper <= Fraction(1, 2**tail_bits) + Fraction(1, 1 << 200)
    assert parts.shift == 0 or a ** (2 ** (parts.shift - 1) * values) > Fraction(1, 2**tail_bits)


@given(ratios, st.integers(1, 6))
def test_digits_are_proportional_to_powers(a, size):
    total = sum(a**d for d in range(1 << size))
    found = masses(digits(real(a), size))
    assert all(mass.contains(a**d / total) and mass.width < Fraction(1, 1 << 240) for d, mass in enumerate(found))


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-300", "1e-6", "1", "50", "5000"])
def test_precision_does_not_suffer_at_either_end(epsilon):
    """However near 1 or 0 the ratio is, asked for 256 bits the distributions come within 2^-240."""
    ratio = level(epsilon).alpha_interval
    for distribution in (digits(ratio, 8), marked(squared_often(ratio, 5), [real(Fraction(1))], 3)):
        assert all(mass.width < Fraction(1, 1 << 240) for mass in masses(distribution))


def test_the_tail_starts_afresh_and_keeps_its_mark():
    """The top part falls into the tail twice, then at 1: K = 2 values + 1, with the mark of the first."""
    plan = SamplingPlan(word_bits=16, lookup=False, indices=4, group_bits=1, tail_bits=1)
    many = MarkedGeometricSampler(real(Fraction(1, 2)), [real(Fraction(1, 2))] * 2, plan)
    assert (many._values, many._shift) == (2, 0)
    ends = np.cumsum([2**14, 2**14, 2**13, 2**13, 2**13, 2**13])
    tail_with_mark_one, tail_with_mark_zero, one = int(ends[5]) - 1, int(ends[4]) - 1, int(ends[2]) - 1
    k, mark = many.draw(2, Written(arrays=[[tail_with_mark_one, one], [tail_with_mark_zero], [one]]))
    assert (k.tolist(), mark.tolist()) == ([5, 1], [1, 0])


def test_a_single_draw_has_no_longest_tail_either():
    """Words of ones send the top part into its tail as often as they come."""
    one = SingleGeometricSampler(level(1).alpha_interval, [real(Fraction(1, 2))] * 2)
    longest, mark = one.draw(Written([2**64 - 1] * 3, then=0).word)
    assert (longest, mark) == (3 * one._values, 1)


@pytest.mark.parametrize(
    ("second", "index"), [(0, 0), (0x5555555555555554, 0), (0x5555555555555556, 1), (2**64 - 1, 1)]
)
def test_a_word_that_leaves_a_doubt_is_continued_by_the_next_one(second, index):
    """A third is 0.5555... in base 16: a word of fives lies on both of its sides."""
    choose = chooser(lambda bits: [Interval.of(Fraction(1, 3), bits)])
    words = Written([0x5555555555555555, second])
    assert (choose(words.word), words.served) == (index, 2)


@pytest.mark.parametrize(
    ("plan", "shift"),
    [(CONSTANT, shift) for shift in (60, 62, 1000)] + [(TABLE, shift) for shift in (60, 100)],
    ids=lambda value: {CONSTANT: "constant", TABLE: "table"}.get(value),
)
def test_variables_beyond_int64_are_python_integers(plan, shift):
    """Words of ones give the greatest digits and run into the tail; nothing wraps."""
    many = MarkedGeometricSampler(level(Fraction(1, 2**shift)).alpha_interval, [real(Fraction(1))], plan)
    k, _ = many.draw(100, SeededRandomness(shift))
    assert all(0 <= value < 60 << shift for value in k.tolist())
    assert max(k.tolist()) > 1 << shift
    assert (k.dtype == object) == (many._shift + (many._values - 1).bit_length() > 63)


def test_a_tail_that_outgrows_its_type_widens():
    """From int8 through a tail of many rounds: the sum is right in whatever type."""
    many = MarkedGeometricSampler(level(Fraction(1, 2**55)).alpha_interval, [real(Fraction(1))], CONSTANT)
    rounds = 40
    top = [[2**32 - 1], [2**64 - 1]]
    zeros = [[0]] * (1 + len(many._groups))
    k, _ = many.draw(1, Written(arrays=top * rounds + zeros))
    assert k.tolist() == [rounds * many._values << many._shift]
    assert k.dtype == object


PLANS = [
    CONSTANT,
    TABLE,
    SamplingPlan(word_bits=16, lookup=True, indices=8, group_bits=2, tail_bits=3),
    SamplingPlan(word_bits=16, lookup=False, indices=4, group_bits=1, tail_bits=1),
    SamplingPlan(word_bits=32, lookup=False, indices=4, group_bits=4, tail_bits=2),
]


@pytest.mark.parametrize("plan", PLANS, ids=str)
@pytest.mark.parametrize("epsilon", ["0.01", "0.7", "3"])
def test_every_plan_draws_the_distribution(plan, epsilon):
    """Also the plans that run into the tail at every second draw."""
    ratio, a = level(epsilon).alpha_interval, float(np.exp(-float(epsilon)))
    k, mark = MarkedGeometricSampler(ratio, [real(Fraction(1, 4)), real(Fraction(3, 4))], plan).draw(
        20_000, SeededRandomness(3)
    )

    def cdf(x):
        return 1 - a ** (x // 2 + 1.0) - np.where(x % 2, 0, 0.75 * (1 - a) * a ** (x // 2.0))

    assert chi_square(k.astype(np.int64) * 2 + mark, cdf) > LEVEL


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "0.7", "30"])
def test_single_variables_have_the_distribution(epsilon):
    """By bisection of 64-bit thresholds, independent of the cells of the arrays."""
    one, word = SingleGeometricSampler(level(epsilon).alpha_interval, [real(Fraction(1))]), SeededRandomness(6).word
    drawn = np.array([one.draw(word)[0] for _ in range(8_000)])
    assert chi_square(drawn, lambda k: -np.expm1(-float(epsilon) * (np.asarray(k) + 1.0))) > LEVEL


@pytest.mark.parametrize(
    ("epsilon", "plan", "low", "high"),
    [
        (1, CONSTANT, 1e-9, 1e-8),
        ("1e-15", CONSTANT, 1e-8, 1e-7),
        (1, TABLE, 1 / 6500, 1 / 5500),
        ("1e-15", TABLE, 1 / 85, 1 / 75),
    ],
)
def test_a_second_look_is_as_rare_as_the_theory_page_says(epsilon, plan, low, high):
    """The cells left over, of the top part and of all groups of digits: one look more for a draw that meets any."""
    ratio = level(epsilon).alpha_interval
    marked = MarkedGeometricSampler(ratio, signs(ratio), plan)
    stages = [marked._top, *(digits for _, digits in marked._groups)]
    assert low < sum(1 - stage._whole / 2**stage._word_bits for stage in stages) < high


DISTRIBUTIONS = {
    "signs": lambda ratio: lambda bits: [signs(ratio)[0](bits)],
    "digits": lambda ratio: digits(ratio, 3),
    "top": lambda ratio: marked(squared_often(ratio, 3), signs(ratio), 4),
}


@pytest.mark.parametrize("epsilon", ["1e-15", "1e-6", "0.1", "1", "5", "50"])
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("bits", [16, 64, 300])
def test_cells_are_those_of_ball_arithmetic(epsilon, distribution, bits):
    """Two routes to the same cells: our intervals, and Arb; beside a bound of cells, one more may be open."""
    before, flint.ctx.prec = flint.ctx.prec, 5000
    try:
        parts = Fraction(epsilon)
        a = (-flint.arb(parts.numerator) / parts.denominator).exp()
        if distribution == "signs":
            true = [1 / (1 + a)]
        elif distribution == "digits":
            true = [sum(a**i for i in range(d)) / sum(a**i for i in range(8)) for d in range(1, 8)]
        else:
            q = a**8
            true = [1 - q**k + q**k * share * (1 - q if k < 4 else 1) for k in range(5) for share in (0, 1 / (1 + a))]
            true = true[1:]
        fine = [int((t * 2 ** (bits + 12)).floor().unique_fmpz()) for t in true]
    finally:
        flint.ctx.prec = before
    for first, last, place in zip(
        *Thresholds(DISTRIBUTIONS[distribution](level(epsilon).alpha_interval)).cells(bits), fine, strict=True
    ):
        assert first <= place >> 12 <= last <= first + 1
        assert first == last or place % (1 << 12) in (0, (1 << 12) - 1)
