"""Short reports: balanced families of blocks, exact chances and draws, and which relaxations of blocks lose nothing."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

# The distribution of one step is compared with the distribution of the whole, in rationals.
from utmost.errors import OutOfRange, Unsupported, UtmostError
from utmost.exact import level
from utmost.geometry import refines
from utmost.local import (
    BlockFamily,
    BlockSelection,
    CategoryCounts,
    CategoryCoupling,
    SubsetSelection,
    balanced_family,
    best_report,
    is_lossless,
    relax_categories,
    report_categories,
    short_report,
    tighten_categories,
)
from utmost.privacy_types import smallest_epsilon
from utmost.spaces import discrete

SMALL = [(k, d) for k in range(2, 14) for d in range(1, k)]


def test_every_two_categories_are_together_equally_often_counted_pair_by_pair():
    """sum of w_B over blocks with x and y is d(d-1)/(k(k-1)), and over blocks with x is d/k: without the transform."""
    for k, d in [*((k, d) for k, d in SMALL if k < 10), (12, 5), (13, 4), (24, 7)]:
        family = balanced_family(k, d)
        alone, together = [Fraction(0)] * k, dict.fromkeys(combinations(range(k), 2), Fraction(0))
        for weight, block in family.blocks():
            assert len(set(block)) == d
            for x in block:
                alone[x] += weight
            for pair in combinations(block, 2):
                together[pair] += weight
        assert set(alone) == {Fraction(d, k)}
        assert set(together.values()) == {Fraction(d * (d - 1), k * (k - 1))}


def test_there_are_no_more_blocks_than_the_published_bound():
    """k floor(k/2) blocks or fewer: the bits of k(k-1)/2 + 1, but one more at k = 6."""
    longer = []
    for k, d in [*SMALL, (31, 8), (64, 17), (100, 27)]:
        family = balanced_family(k, d)
        assert family.count <= max(k * (k // 2), k)
        if family.bits > (k * (k - 1) // 2).bit_length():
            longer.append((k, d))
    assert longer == [(6, 2), (6, 3), (6, 4)]


@pytest.mark.slow
def test_a_thousand_categories_take_nineteen_bits():
    """At epsilon 1 a set of 269 of 1 000 has 835 bits; a block has 19, and the same variance to the last digit."""
    how = short_report(1000, 1)
    assert (how.size, how.bits, best_report(1000, 1).bits) == (269, 19, 835)
    assert how.variance == best_report(1000, 1).variance
    assert how.verify()


def test_the_distribution_keeps_its_level_and_estimates_are_exact():
    """Unbiased for every category, and the variances are those of all sets: by the channel, in rationals."""
    for (k, d), alpha in product([(4, 2), (6, 2), (7, 3), (8, 3), (9, 4)], ["1/3", "4/5"]):
        how, sets = BlockSelection(balanced_family(k, d), level(alpha=alpha)), SubsetSelection(k, d, level(alpha=alpha))
        channel, blocks = how.channel, [set(block) for _, block in how.sets()]
        assert smallest_epsilon(channel, discrete(k)).level == how.level
        p, q = how.inside, how.outside
        assert (p, q, how.variance) == (sets.inside, sets.outside, sets.variance)
        for x in range(k):
            row = channel.matrix[x]
            estimates = [[(Fraction(z in block) - q) / (p - q) for z in range(k)] for block in blocks]
            mean = [sum(row * [each[z] for each in estimates]) for z in range(k)]
            assert mean == [Fraction(z == x) for z in range(k)]
            spread = [sum(row * [each[z] ** 2 for each in estimates]) - mean[z] ** 2 for z in range(k)]
            assert sum(spread) == how.variance


def test_draws_have_exactly_the_distribution_of_the_channel():
    """Every base, multiplier, place and side is walked through: the chances of numbers are those of the channel."""
    how = BlockSelection(balanced_family(8, 3), level(alpha="1/3"))
    family, p = how.family, how.inside
    share, channel = Fraction(1, len(family.multipliers)), how.channel.matrix
    for x in range(8):
        distribution = [Fraction(0)] * family.count
        for base, weight in enumerate(family.weights):
            for at, unit in enumerate(family.multipliers):
                for a in range(8):
                    is_own = a in family.bases[base]
                    chance = p / 3 if is_own else (1 - p) / 5
                    number = (base * len(family.multipliers) + at) * 8 + (x - unit * a) % 8
                    distribution[number] += weight * share * chance
        assert distribution == channel[x].tolist()
    clients, x = 200_000, 5
    drawn = report_categories(np.full(clients, x), how)
    seen, expected = np.bincount(drawn, minlength=family.count), channel[x].astype(float) * clients
    assert ((seen - expected) ** 2 / expected).sum() < family.count + 6 * (2 * family.count) ** 0.5


@pytest.mark.parametrize(("k", "d"), [(7, 3), (8, 3), (9, 4)])
def test_the_weight_of_each_report_is_that_of_its_block(k, d):
    """Chances that depend on it are drawn by the group of a report."""
    how = BlockSelection(balanced_family(k, d), "1/2")
    assert how.level == level("1/2")
    groups, weights = how.weights(np.arange(how.family.count))
    assert [weights[group] for group in groups.tolist()] == [weight for weight, _ in how.sets()]
    short = short_report(k, alpha="1/3")
    assert (short.categories, short.level, short.variance) == (k, level(alpha="1/3"), short.least_variance)


def test_counts_are_those_of_the_blocks():
    rng = np.random.default_rng(4)
    for k, d in [(7, 3), (12, 5), (30, 8)]:
        how = BlockSelection(balanced_family(k, d), level("1/2"))
        values = rng.integers(0, k, 400)
        reports = report_categories(values, how)
        blocks = [how.family.block(number) for number in reports.tolist()]
        counts = CategoryCounts.of(reports, how)
        assert counts.seen.tolist() == [sum(x in block for block in blocks) for x in range(k)]
        assert how.holds(reports, values).tolist() == [x in block for x, block in zip(values, blocks, strict=True)]
        assert counts.estimates(how).sum() == pytest.approx(400)


def test_the_blocks_of_one_family_can_be_relaxed_between_any_two_levels():
    """P(S_1 | x) P(S_2 | x, S_1) = P(S_2 | x) P(S_1 | S_2) from the chances that `relaxed` draws, in rationals."""
    family = balanced_family(7, 3)
    lower, higher = BlockSelection(family, level(alpha="4/5")), BlockSelection(family, level(alpha="3/4"))
    assert is_lossless(lower, higher)
    assert not is_lossless(higher, lower)
    pair, M1, M2 = CategoryCoupling(lower, higher), lower.channel.matrix, higher.channel.matrix
    a1, a2 = Fraction(4, 5), Fraction(3, 4)
    weights = [weight for weight, _ in lower.sets()]
    for x in range(7):
        for first, (_, block) in enumerate(lower.sets()):
            near = pair._chance_of_near(a1, a2, x in block)
            for second in range(family.count):
                forward = M1[x, first] * (near * (first == second) + (1 - near) * M2[x, second])
                blind = (1 - pair.stays) * weights[first] + pair.stays * (first == second)
                assert forward == M2[x, second] * blind
    values = np.arange(7).repeat(30_000)
    first = report_categories(values, lower)
    second = relax_categories(values, first, lower, higher)
    stays = (first == second).mean()
    own = float(sum(M2[0, n] * ((1 - pair.stays) * weights[n] + pair.stays) for n in range(family.count)))
    assert abs(stays - own) < 6 * (own * (1 - own) / len(values)) ** 0.5
    counts = CategoryCounts.of(second, higher)
    assert (abs(counts.estimates(higher) - 30_000) < 6 * counts.errors(higher)).all()
    back = tighten_categories(second, higher, lower)
    counts = CategoryCounts.of(back, lower)
    assert (abs(counts.estimates(lower) - 30_000) < 6 * counts.errors(lower)).all()


def test_families_of_two_sizes_are_decided_and_the_program_agrees():
    """p_1 <= p_max is necessary, the coupling by common categories sufficient; refinement decides all, in rationals."""
    verdicts = set()
    for d1, d2, a1, a2 in product((2, 3), (1, 2, 3), ("99/100", "9/10", "4/5", "7/10"), ("3/5", "1/3", "1/10")):
        lower = BlockSelection(balanced_family(7, d1), level(alpha=a1))
        higher = BlockSelection(balanced_family(7, d2), level(alpha=a2))
        decided = is_lossless(lower, higher)
        assert decided == bool(refines(better=higher.channel, worse=lower.channel))
        sets = is_lossless(SubsetSelection(7, d1, lower.level), SubsetSelection(7, d2, higher.level))
        assert sets or not decided
        verdicts.add((d1 == d2, decided, sets))
    assert verdicts >= {(True, True, True), (False, True, True), (False, False, False), (False, False, True)}


def test_short_blocks_can_be_less_relaxable_than_all_sets():
    """A counterexample: seven lines of the plane to its singletons, where all triples can follow and lines cannot."""
    lines = BlockFamily(7, 3, (1,), ((0, 1, 3),), (1,))
    lower, higher = (
        BlockSelection(lines, level(alpha="1/2")),
        BlockSelection(balanced_family(7, 1), level(alpha="1/10")),
    )
    assert is_lossless(lower, higher) == bool(refines(better=higher.channel, worse=lower.channel))
    for first, second in ((level("0.69"), level(alpha="1/7")), (level(alpha="1/2"), level(2))):
        with pytest.raises(Unsupported, match="rational alphas"):
            is_lossless(BlockSelection(lines, first), BlockSelection(balanced_family(7, 2), second))
    pairs = BlockSelection(balanced_family(7, 2), level(alpha="9/10"))
    with pytest.raises(OutOfRange, match="one report for both"):
        CategoryCoupling(pairs, BlockSelection(lines, level(alpha="1/10")))


def test_blocks_of_two_sizes_follow_each_other_by_their_common_members():
    """W = w(S_1)(1 + gamma(...)) has rows of 1, nothing negative, and M_1 = M_2 W, in rationals; then draws."""
    for d1, d2 in ((3, 2), (2, 3), (3, 1)):
        lower = BlockSelection(balanced_family(7, d1), level(alpha="4/5"))
        higher = BlockSelection(balanced_family(7, d2), level(alpha="1/10"))
        before, after = list(lower.sets()), list(higher.sets())
        mean = Fraction(d1 * d2, 7)
        blind = np.array([[w for w, _ in before]] * len(after), object)
        common = np.array([[len({*s} & {*t}) - mean for _, s in before] for _, t in after], object)
        made, moved = (higher.channel.matrix.dot(part)[0, 0] for part in (blind, blind * common))
        gamma = (lower.channel.matrix[0, 0] - made) / moved
        W = blind * (1 + gamma * common)
        assert (W >= 0).all()
        assert set(W.sum(axis=1)) == {1}
        assert (higher.channel.matrix.dot(W) == lower.channel.matrix).all()
        clients = 10_000
        values = np.arange(clients) % 7
        first = report_categories(values, lower)
        second = relax_categories(values, first, lower, higher)
        back = tighten_categories(second, higher, lower)
        for reports, how in ((second, higher), (back, lower)):
            counts = CategoryCounts.of(reports, how)
            assert (abs(counts.estimates(how) - np.bincount(values)) < 6 * counts.errors(how)).all()
        sizes = np.array([[len({*s} & {*t}) for _, s in before] for _, t in after])
        expected = float((higher.channel.matrix[0][:, None] * W * sizes).sum())
        for reports in (first, back):
            common = [
                len({*lower.family.block(s)} & {*higher.family.block(t)}) for s, t in zip(reports, second, strict=True)
            ]
            assert np.mean(common) == pytest.approx(expected, abs=6 * np.std(common) / clients**0.5)


def test_what_is_no_balanced_family_is_refused():
    good = {"categories": 7, "size": 3, "multipliers": (1,), "bases": ((0, 1, 3),), "weights": (1,)}
    assert BlockFamily(**good).count == 7
    for change in (
        {"bases": ((0, 1, 2),)},
        {"bases": ((0, 1),)},
        {"bases": ((0, 1, 1),)},
        {"bases": ()},
        {"weights": ("1/2",)},
        {"weights": (1, 0), "bases": ((0, 1, 3), (0, 1, 3))},
        {"multipliers": (0,)},
        {"multipliers": ()},
        {"categories": 6},
        {"size": 7},
    ):
        with pytest.raises(UtmostError):
            BlockFamily(**good | change)
    with pytest.raises(Unsupported):
        balanced_family(10**6, 3)
    how = BlockSelection(BlockFamily(**good), 1)
    for reports in ([7], [-1], [0.5], [[1]], "no"):
        with pytest.raises(OutOfRange):
            CategoryCounts.of(reports, how)
    assert comb(7, 3) > how.family.count
