"""Draws by item have exactly their distribution, and are the functions of an item's words that the docs say."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodness import chi_square

# Each value is computed from its words a second time; a release shows no word.
from utmost.core.sampling.item_draws import (
    Inversion,
    doublings,
    geometric_cuts,
    item_bridge,
    item_geometric,
    item_tightening,
    item_uniform,
)
from utmost.core.sampling.item_words import ItemWords, item_tags, word_cipher
from utmost.exact import Interval, level
from utmost.gradual import Bridge, Tightening
from utmost.noise import Geometric
from utmost.sampling import Identifiers

SECRET = bytes(range(32))
MANY = item_tags(SECRET, [Identifiers.of(np.arange(60_000))])
rationals = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=60)


class Given:
    """Words that a test chooses: of each slot its first words, and the bits behind them."""

    def __init__(self, first, word_bits=32, more=None):
        self.slots, self.word_bits, self.behind = first, word_bits, more

    def __len__(self):
        return len(self.slots[0])

    def first(self, slot, some=None):
        drawn = np.array(self.slots[slot], np.uint32)
        return drawn if some is None else drawn[some]

    def more(self, item, slot, extension):
        assert self.behind is not None, "a word that was chosen to decide did not"
        return self.behind(item, slot, extension), self.word_bits


def words(*label, tags=MANY):
    return ItemWords(word_cipher(SECRET, label), tags)


# ------------------------------------------------------------ inversion, by enumeration of all words of 8 bits


class Undecided(Exception):
    pass


def raise_undecided(item, slot, extension):
    if extension > 1:
        raise Undecided
    return behind


behind = 0


@settings(max_examples=6)  # each tries all words
@given(st.lists(st.fractions(0, 1, max_denominator=40), min_size=1, max_size=6).map(sorted))
def test_every_word_of_eight_bits_decides_only_what_is_certain(thresholds):
    """All 2^8 words, and of those that do not decide all 2^16: a cell is given the index of every number in it, and
    what stays open is the cells that hold a threshold. So each index has its distribution, up to words that decide
    nothing, and these halve with every bit."""
    global behind
    inversion = Inversion(lambda bits: [Interval.of(one, bits) for one in thresholds], 8)
    mass, open_cells = dict.fromkeys(range(len(thresholds) + 1), Fraction(0)), 0

    def decided(index, low, high):
        assert all(one <= low for one in thresholds[:index])
        assert all(high <= one for one in thresholds[index:])
        mass[index] += high - low

    for first in range(256):
        for behind in range(256):
            try:
                found = inversion.drawn(Given([[first]], 8, raise_undecided), 0)
            except Undecided:
                low = Fraction(256 * first + behind, 1 << 16)
                assert any(low <= one <= low + Fraction(1, 1 << 16) for one in thresholds)
                open_cells += 1
                continue
            if not any(Fraction(first, 256) <= one <= Fraction(first + 1, 256) for one in thresholds):
                decided(int(found[0]), Fraction(first, 256), Fraction(first + 1, 256))
                break
            low = Fraction(256 * first + behind, 1 << 16)
            decided(int(found[0]), low, low + Fraction(1, 1 << 16))
    ends = [Fraction(0), *thresholds, Fraction(1)]
    slack = Fraction(open_cells, 1 << 16)
    for index, found in mass.items():
        distribution = ends[index + 1] - ends[index]
        assert found <= distribution <= found + slack
        if not open_cells:
            assert found == distribution


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_the_thresholds_of_a_geometric_distribution_never_end(bits):
    """Beyond the last that is listed, more bits bring more thresholds: 1 - a^j for j up to hundreds."""
    inversion = Inversion(geometric_cuts(level(alpha="1/2").alpha_interval), bits)
    top = (1 << bits) - 1
    found = inversion.drawn(
        Given([[top] * 3], bits, lambda item, slot, extension: [0, top, top][item] if extension < 20 else 0), 0
    )
    assert found.tolist() == [bits, 20 * bits, 20 * bits]


# ------------------------------------------------------------ each distribution, by enumeration of its parts, in
# rationals


def parts_of(ratio, m, k):
    """The indices of the parts of K = k: the top part, then the groups of digits from the lowest on."""
    return [k >> m, *(k >> start & (1 << min(8, m - start)) - 1 for start in range(0, m, 8))]


def thresholds_of(ratio, m):
    """Of each part a function from j to its j-th threshold."""
    found = [lambda j: 1 - ratio ** (2**m * j)]
    for start in range(0, m, 8):
        size = min(8, m - start)
        found.append(lambda j, s=start, b=size: (1 - ratio ** (j * 2**s)) / (1 - ratio ** (2 ** (s + b))))
    return found


def word_at(threshold, index):
    """A word amid the numbers that have an index."""
    return floor((threshold(index) + threshold(index + 1)) / 2 * 2**32)


def geometric_words(ratio, m, k):
    return [word_at(cut, index) for cut, index in zip(thresholds_of(ratio, m), parts_of(ratio, m, k), strict=True)]


def index_words(masses):
    """A word for each index of a finite distribution, None where it has no mass."""
    ends = [sum(masses[:at], Fraction(0)) for at in range(len(masses) + 1)]
    return [floor((low + high) / 2 * 2**32) if low < high else None for low, high in pairwise(ends)]


def tails(ratio, reach):
    """P(K = k) for k < reach, and P(K >= reach)."""
    return [*((1 - ratio) * ratio**k for k in range(reach)), ratio**reach]


def of_geometric(alpha, reach):
    """All (words, mass, K) of Geom(alpha) up to ``reach``, which stands for all beyond."""
    m = doublings([(level(alpha=alpha), 1)])
    return [(geometric_words(alpha, m, k), mass, k) for k, mass in enumerate(tails(alpha, reach))]


@pytest.mark.parametrize("alpha", [Fraction(1, 3), Fraction(3, 4), Fraction(9, 10)])
def test_the_parts_of_geometric_noise_add_up_to_its_distribution(alpha):
    """Exactly: over all signs and all K, P(x) = (1-a)/(1+a) a^|x|."""
    marks = [1 / (1 + alpha), alpha / (1 + alpha)]
    cases = [([mark, *k_words], p * mass) for mark, p in zip(index_words(marks), marks, strict=True)
             for k_words, mass, _ in of_geometric(alpha, 9)]  # fmt: skip
    drawn = item_geometric(level(alpha=alpha), Given(list(zip(*(case for case, _ in cases), strict=True))))
    for x in range(-8, 9):
        mass = sum(mass for (_, mass), found in zip(cases, drawn.tolist(), strict=True) if found == x)
        assert mass == Geometric(alpha=alpha).pmf(x)


@pytest.mark.parametrize(("lower", "higher"), [("1/2", "1/3"), ("9/10", "1/2"), ("3/4", "2/3")])
def test_the_parts_of_tightening_add_up_to_its_distribution(lower, higher):
    distribution = Tightening(level(alpha=lower), level(alpha=higher))
    a = Fraction(lower)
    change = 1 - distribution.stay.number
    marks = [change / (1 + a), change * a / (1 + a), 1 - change]
    cases = [([mark, *k_words], p * mass) for mark, p in zip(index_words(marks), marks, strict=True)
             for k_words, mass, _ in of_geometric(a, 9)]  # fmt: skip
    drawn = item_tightening(distribution, Given(list(zip(*(case for case, _ in cases), strict=True))))
    for x in range(-8, 9):
        mass = sum(mass for (_, mass), found in zip(cases, drawn.tolist(), strict=True) if found == x)
        assert mass == distribution.pmf(np.array(x, object))


@pytest.mark.parametrize("w", [0, 1, -3])
@pytest.mark.parametrize(
    ("lower", "at", "higher"),
    [("1/2", "1/3", "1/4"), ("9/10", "3/4", "1/10"), ("1/2", "1/4", None), ("9/10", "8/9", None)],
)
def test_the_parts_of_a_bridge_add_up_to_its_distribution(lower, at, higher, w):
    """Exactly, given W = w: over the rows of the table, the coin at 0, all G and all J."""
    distribution = Bridge(level(alpha=lower), level(alpha=at), None if higher is None else level(alpha=higher))
    a, b = Fraction(lower), Fraction(at)
    fall, rise = b / a, a * b
    m = (
        doublings([(distribution.middle, 1), (distribution.lower, -1)]),
        doublings([(distribution.middle, 1), (distribution.lower, 1)]),
    )
    marks = [distribution.home.number, distribution.across.number, distribution.stay.number, distribution.leap.number]
    idle = [distribution.idle.number, 1 - distribution.idle.number] if higher is not None else [Fraction(1)]
    cases = []
    for (mark, p), (coin, q) in product(
        zip(index_words(marks), marks, strict=True), zip(index_words(idle), idle, strict=True)
    ):
        for (g, r), (j, s) in product(enumerate(tails(fall, 4)), enumerate(tails(rise, 5))):
            if p:
                drawn = [mark, coin, *geometric_words(fall, m[0], g), *geometric_words(rise, m[1], j)]
                cases.append((drawn, p * q * r * s))
    columns = list(zip(*(case for case, _ in cases), strict=True))
    found = item_bridge(distribution, np.full(len(cases), w), Given(columns)).tolist()
    for k in range(-4, 5):
        mass = sum(mass for (_, mass), one in zip(cases, found, strict=True) if one == k)
        assert mass == distribution.pmf(np.array(k, object), np.array(w, object)), k


# ------------------------------------------------------------ the same from real words, by logarithms


def number(found, slot, item):
    """An item's number to 544 bits, as a Decimal."""
    drawn = int(found.first(slot)[item])
    for extension in (1, 2, 3, 4):
        further, count = found.more(item, slot, extension)
        drawn = drawn << count | further
    return Decimal(drawn) / (Decimal(2) ** 544)


def geometric_by_logarithms(found, slot, item, epsilon, m):
    """K by closed forms of the inverse distribution functions."""
    k = int((-(1 - number(found, slot, item)).ln() / (epsilon * 2**m)).to_integral_value("ROUND_FLOOR")) << m
    for place, start in enumerate(range(0, m, 8), slot + 1):
        size = min(8, m - start)
        cut = 1 - (-epsilon * 2 ** (start + size)).exp()
        drawn = -(1 - number(found, place, item) * cut).ln() / (epsilon * 2**start)
        k += int(drawn.to_integral_value("ROUND_FLOOR")) << start
    return k


@pytest.mark.parametrize("epsilon", [50, 1, "1/2", "1/10", "3/1000", "1/1000000", Fraction(1, 10**24)])
def test_geometric_noise_is_the_function_of_its_words_that_the_docs_say(epsilon):
    """Recomputed by logarithms to 200 digits, item by item."""
    at, found = level(epsilon), words("distribution", str(epsilon), tags=MANY[:50])
    drawn = item_geometric(at, found).tolist()
    with localcontext() as context:
        context.prec = 200
        e = Decimal(at.power.numerator) / Decimal(at.power.denominator)
        coin = 1 / (1 + (-e).exp())
        m = next(m for m in range(400) if e * 2**m >= Decimal("0.5"))
        assert m == doublings([(at, 1)])
        for item, x in enumerate(drawn):
            k = geometric_by_logarithms(found, 1, item, e, m)
            assert x == (k if number(found, 0, item) < coin else -1 - k)


@given(rationals, rationals, st.integers(1, 40))
def test_doublings_are_the_least(a, b, power):
    """2^m d >= 1/2 > 2^(m-1) d, for alpha = a^power and for the quotient of two alphas."""
    for terms in ([(level(alpha=a).scaled(power), 1)], [(level(alpha=min(a, b)), 1), (level(alpha=max(a, b)), -1)]):
        d = sum(sign * -Decimal(one.base.numerator / one.base.denominator).ln() * int(one.power) for one, sign in terms)
        if abs(d) > Decimal("1e-9"):
            m = doublings(terms)
            assert d * 2**m >= Decimal("0.49999999")
            assert m == 0 or d * 2 ** (m - 1) < Decimal("0.50000001")


def test_doublings_of_epsilons_are_compared_as_they_are():
    """Also at the very boundary, and for levels of two kinds."""
    assert [doublings([(level(Fraction(1, 2**k)), 1)]) for k in range(5)] == [0, 0, 1, 2, 3]
    assert doublings([(level(Fraction(1, 2) - Fraction(1, 10**30)), 1)]) == 1
    assert doublings([(level(3), 1), (level(Fraction(5, 2)), -1)]) == 0
    assert doublings([(level(alpha="1/2"), 1), (level("1/2"), -1)]) == 2  # 0.193...


# ------------------------------------------------------------ uniform places


@pytest.mark.parametrize("bound", [1, 2, 3, 255, 256, 10**6 + 1, 2**31 + 1, 2**40 + 7, 10**100])
def test_a_place_is_the_number_times_the_bound(bound):
    found = words("place", str(bound), tags=MANY[:300])
    drawn = item_uniform(bound, found).tolist()
    with localcontext() as context:
        context.prec = 400
        assert drawn == [int(number(found, 0, item) * bound) for item in range(300)]


def test_a_word_of_eight_bits_places_only_where_it_is_certain():
    """All words: floor(U n) is constant on the cells that are decided, for n = 3 all but two."""
    asked = []
    found = item_uniform(3, Given([range(256)], 8, lambda item, slot, extension: asked.append(item) or 0))
    assert asked == [85, 170]
    assert np.bincount(found).tolist() == [86, 85, 85]


# ------------------------------------------------------------ distributions of real words


@pytest.mark.parametrize("epsilon", [3, 1, "1/10", "1/100"])
def test_geometric_noise_has_its_distribution(epsilon):
    drawn = item_geometric(level(epsilon), words("fresh", str(epsilon)))
    assert chi_square(drawn, Geometric(epsilon=epsilon).cdf) > 1e-4


@pytest.mark.parametrize(("lower", "higher"), [(1, 2), ("1/10", "1/9"), ("1/5", 4)])
def test_relaxed_and_tightened_noise_have_their_distributions(lower, higher):
    """Relaxed noise is geometric at the higher level, tightened noise at the lower one."""
    low, high = level(lower), level(higher)
    below = item_geometric(low, words("low", str(lower)))
    relaxed = item_bridge(Bridge(low, high, None), below, words("relax", str(higher)))
    assert chi_square(relaxed, Geometric(epsilon=higher).cdf) > 1e-4
    apart = item_tightening(Tightening(low, high), words("tighten", str(lower)))
    assert chi_square(apart, Tightening(low, high).cdf) > 1e-4
    assert chi_square(relaxed + apart, Geometric(epsilon=lower).cdf) > 1e-4
    middle = level((low.power + high.power) / 2)
    bridged = item_bridge(Bridge(low, middle, high), apart, words("bridge", str(lower)))
    assert chi_square(bridged, Tightening(middle, high).cdf) > 1e-4


def test_integers_beyond_64_bits_are_drawn_and_bridged():
    """At levels so low, and from noise so large, that machine words do not hold it."""
    low, high = level(Fraction(1, 10**40)), level(Fraction(2, 10**40))
    tags = MANY[:200]
    noise = item_geometric(low, words("wide", tags=tags))
    assert noise.dtype == object
    assert max(map(abs, noise)) > 10**39
    relaxed = item_bridge(Bridge(low, high, None), noise, words("wider", tags=tags))
    assert relaxed.dtype == object
    assert 0 < (relaxed == noise).sum() < 200
    small = item_bridge(Bridge(level(1), level(2), None), np.array([-(1 << 63), 1 << 62] * 100), words("x", tags=tags))
    assert set(np.sign(small.tolist()).tolist()) <= {-1, 0, 1}


def test_no_item_gives_no_noise():
    empty = words("none", tags=MANY[:0])
    assert item_geometric(level(1), empty).size == item_uniform(5, empty).size == 0
    assert item_bridge(Bridge(level(1), level(2), None), np.zeros(0, np.int64), empty).size == 0


def test_levels_that_agree_in_a_hundred_and_twenty_eight_bits_are_told_apart():
    """The interval of their difference begins at 0 there: more bits say how small it is, and none divides by 0."""
    half = level(alpha="1/2")
    below = Fraction(half.epsilon_interval(128).low, 1 << 128)
    with localcontext() as context:
        context.prec = 100
        apart = Fraction(Decimal(2).ln()) - below
    assert 0 < apart < Fraction(1, 1 << 128)
    least = doublings([(half, 1), (level(below), -1)])
    assert apart * 2**least >= Fraction(1, 2) > apart * 2 ** (least - 1)
