"""The decision tree has exactly the distribution it was built from."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodness import LEVEL, Written, chi_square

# The words of each value are counted, all 2^16 of them, which draws cannot do.
from utmost.core.sampling.categorical import Categorical, rest, whole_cells
from utmost.core.sampling.geometric_draws import signs
from utmost.exact import Interval, level
from utmost.sampling import Thresholds
from utmost.testing import SeededRandomness

weights = st.lists(st.integers(0, 1 << 20), min_size=1, max_size=12).filter(any)


def distribution_of(masses):
    """Cuts and probabilities of the distribution with these masses."""
    total = sum(masses)
    p = [Fraction(mass, total) for mass in masses]
    ends = [sum(p[:i], Fraction(0)) for i in range(1, len(p))]
    return p, lambda bits: [Interval.of(end, bits) for end in ends]


ALL_WORDS = range(1 << 16)


def stage_one(categorical, reserved):
    """The index of every one of the 2^16 words; those of the rest are sent on as ``reserved``."""

    class Kept:
        def draw(self, count, randomness):
            return np.full(count, reserved)

    if categorical._rest is not None:
        categorical._rest = Kept()
    return categorical.draw(1 << 16, Written(arrays=[ALL_WORDS]))


@given(weights, st.booleans())
def test_both_stages_together_have_exactly_the_distribution(masses, lookup):
    """n_j / 2^16 + (share of the rest) r_j = p_j: the n_j counted over all words, the r_j enclosed by their cells."""
    p, cuts = distribution_of(masses)
    found = stage_one(Categorical(cuts, word_bits=16, lookup=lookup), len(masses)).tolist()
    counts = np.bincount(found, minlength=len(masses) + 1).tolist()
    cells, left = counts[: len(masses)], counts[len(masses)]
    assert cells == whole_cells(cuts, 16)
    assert left <= 2 * len(masses)
    if not left:
        assert [Fraction(n, 1 << 16) for n in cells] == p
        return
    first, last = Thresholds(rest(cuts, cells, 16)).cells(64)
    lower = [Fraction(0), *(Fraction(f, 1 << 64) for f in first), Fraction(1)]
    upper = [Fraction(0), *(Fraction(f + 1, 1 << 64) for f in last), Fraction(1)]
    for j, (mass, n) in enumerate(zip(p, cells, strict=True)):
        least, most = lower[j + 1] - upper[j], upper[j + 1] - lower[j]
        assert n + left * least <= mass * (1 << 16) <= n + left * most
        assert most - least <= Fraction(4, 1 << 64)


@given(weights)
def test_lookup_and_scan_read_every_word_alike(masses):
    _, cuts = distribution_of(masses)
    table, scan = (stage_one(Categorical(cuts, word_bits=16, lookup=lookup), 0) for lookup in (True, False))
    assert (table == scan).all()
    few = Categorical(cuts, word_bits=16, lookup=False)
    words = np.arange(1 << 16, dtype=np.uint16)[::67]
    assert words.size < 1 << 10
    assert few._scan(words).dtype == scan.dtype
    assert (few._scan(words) == few._scan(np.tile(words, 2))[: words.size]).all()


@given(weights, st.data())
def test_the_scan_of_long_words_agrees_with_their_bounds(masses, data):
    _, cuts = distribution_of(masses)
    ends = np.cumsum(whole_cells(cuts, 32)).tolist()
    near = [word for end in [0, *ends] for word in range(end - 2, end + 2) if 0 <= word < ends[-1]]
    words = near + data.draw(st.lists(st.integers(0, ends[-1] - 1), max_size=20))
    found = Categorical(cuts, word_bits=32, lookup=False).draw(len(words), Written(arrays=[words]))
    assert found.tolist() == np.searchsorted(ends, words, side="right").tolist()


@given(weights)
def test_the_rest_is_a_distribution_and_exactly_what_is_missing(masses):
    """r_j = (2^16 p_j - n_j) / rest, to 200 bits, nonnegative and summing to one."""
    p, cuts = distribution_of(masses)
    cells = whole_cells(cuts, 16)
    left = (1 << 16) - sum(cells)
    if left == 0:
        return
    ends = [Fraction(0), *(interval.lower for interval in rest(cuts, cells, 16)(200)), Fraction(1)]
    for mass, n, (a, b) in zip(p, cells, pairwise(ends), strict=True):
        assert abs((mass * (1 << 16) - n) / left - (b - a)) < Fraction(1, 1 << 190)
        assert mass * (1 << 16) >= n


@pytest.mark.parametrize("word_bits", [16, 32])
def test_a_tie_in_both_stages_is_decided_by_later_bits(word_bits):
    """P(plain) = 1/(1+e^-1): a word of the rest, then the 64 bits in which the rest's threshold lies, then more."""
    cuts = lambda bits: [signs(level(1).alpha_interval)[0](bits)]  # noqa: E731
    cells = whole_cells(cuts, word_bits)
    (first,), (last,) = Thresholds(rest(cuts, cells, word_bits)).cells(64)
    assert first == last
    for then, index in ((0, 0), (2**64 - 1, 1)):
        bits = Written(words=[then], arrays=[[sum(cells)], [first]])
        assert Categorical(cuts, word_bits=word_bits, lookup=False).draw(1, bits).tolist() == [index]
        assert bits.served == 1
    for beside, index in ((first - 1, 0), (first + 1, 1)):
        bits = Written(arrays=[[sum(cells)], [beside]])
        assert Categorical(cuts, word_bits=word_bits, lookup=False).draw(1, bits).tolist() == [index]
        assert bits.served == 0


def test_a_cell_is_given_only_where_the_probability_certainly_fills_it():
    """A trifle below 1/2 is not half of the cells, however small the trifle."""
    for bits in (20, 100, 120, 1000):
        _, cuts = distribution_of([2**bits - 1, 2**bits + 1])
        assert whole_cells(cuts, 16)[0] == 32767


def test_dyadic_distributions_need_no_second_stage():
    _, cuts = distribution_of([1, 2, 1, 4])
    assert whole_cells(cuts, 16) == [8192, 16384, 8192, 32768]
    assert Categorical(cuts, word_bits=16, lookup=True)._rest is None


def test_one_index_and_no_draws():
    alone = Categorical(lambda bits: [], word_bits=16, lookup=False)
    assert alone.draw(3, SeededRandomness(1)).tolist() == [0, 0, 0]
    assert alone.count == 1
    assert alone.draw(0, SeededRandomness(1)).tolist() == []


def test_indices_without_mass_are_never_drawn():
    """Zero masses first, last and in between, met by the words and cells next to them."""
    p, cuts = distribution_of([0, 3, 0, 0, 4, 0])
    cells = whole_cells(cuts, 16)
    edges = [0, 1, 2**63, 2**64 - 2, 2**64 - 1]
    first, last = Thresholds(rest(cuts, cells, 16)).cells(64)
    edges += [u for f in {*first, *last} for u in range(f - 2, f + 3) if 0 <= u < 2**64]
    found = Categorical(cuts, word_bits=16, lookup=True).draw(
        len(edges), Written(arrays=[[2**16 - 1] * len(edges), edges], then=12345)
    )
    assert set(found.tolist()) <= {1, 4}
    assert [mass > 0 for mass in p] == [False, True, False, False, True, False]


@pytest.mark.parametrize(
    ("word_bits", "lookup", "count"),
    [(bits, True, count) for bits in (8, 16) for count in (3, 300, 10_000)]
    + [(bits, False, count) for bits in (8, 16, 32) for count in (3, 300)],  # a scan is for few bounds
)
def test_many_indices_fit_their_distribution(word_bits, lookup, count):
    """More indices than a byte holds, and more than there are words."""
    masses = [1 + j % 7 for j in range(count)]
    total = sum(masses)
    ends = np.cumsum(masses)
    cuts = lambda bits: [Interval.of(Fraction(int(end), total), bits) for end in ends[:-1]]  # noqa: E731
    draws = Categorical(cuts, word_bits=word_bits, lookup=lookup).draw(60_000, SeededRandomness(5)).astype(np.int64)
    assert chi_square(draws, lambda x: ends[np.clip(x, 0, count - 1)] / total * (x >= 0)) > LEVEL


def test_a_threshold_known_only_to_lie_around_zero_is_no_fault():
    """Intervals around 0 and 1 may stick out of [0, 1]: their cells are decided exactly, in both stages."""

    def cuts(bits):
        return [
            Interval(-3, 3, bits),
            Interval.of(Fraction(1, 3), bits),
            Interval((1 << bits) - 3, (1 << bits) + 3, bits),
        ]

    for lookup in (False, True):
        drawn = Categorical(cuts, word_bits=16, lookup=lookup).draw(1 << 16, SeededRandomness(1))
        assert set(drawn.tolist()) == {1, 2}


@pytest.mark.parametrize("lookup", [False, True])
@pytest.mark.parametrize("count", [256, 257, 258])
def test_the_last_index_fits_its_type(count, lookup):
    """Of one index more than a byte has numbers, all are drawn."""
    _, cuts = distribution_of([1] * count)
    drawn = Categorical(cuts, word_bits=16, lookup=lookup).draw(20_000, SeededRandomness(3))
    assert sorted(set(drawn.tolist())) == list(range(count))
