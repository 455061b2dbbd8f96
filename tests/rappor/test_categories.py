"""Reports of categories: the bound, what attains it, exact chances, estimates, and which relaxations lose nothing."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Channel
from utmost.errors import OutOfRange, UtmostError
from utmost.exact import level
from utmost.geometry import refines, vertices
from utmost.local import (
    CategoryCounts,
    CategoryCoupling,
    SubsetSelection,
    best_report,
    is_lossless,
    relax_categories,
    report_categories,
    tighten_categories,
)
from utmost.privacy_types import PrivacyType, smallest_epsilon
from utmost.spaces import discrete

ALPHAS = ["1/100", "1/3", "1/2", "4/5", "99/100"]


def variance_of(matrix):
    """The least mean over categories of the summed variances of unbiased estimates from one report: tr F^-1 - 1."""
    M = np.asarray(matrix, dtype=float)
    F = (M / M.mean(axis=0)) @ M.T
    return np.trace(np.linalg.inv(F)) - 1


def test_the_best_size_attains_the_bound_and_no_other_size_passes_it():
    """V of subset selection with the best d is (k-1)^2/(k^2 g - k) - (k-1)/k, exactly; other sizes have more."""
    for k, alpha in product([2, 3, 4, 7, 12, 101], ALPHAS):
        best = best_report(k, alpha=alpha)
        assert best.verify()
        assert best.variance == best.least_variance
        for size in range(1, k):
            other = SubsetSelection(k, size, best.level)
            assert other.variance >= best.variance
            assert other.verify() == (other.variance == best.variance)


def test_irrational_levels_are_decided_by_intervals():
    for k, epsilon in product([2, 5, 40, 1000], ["1/1000000", "1", "5", "50", "500"]):
        best = best_report(k, epsilon)
        assert best.verify()
        assert best.least_variance <= best.variance <= best.least_variance * (1 + 1e-12)
    assert best_report(10**9, 1).size == 268941421


@given(st.integers(2, 5), st.sampled_from(ALPHAS), st.integers(0, 2**32 - 1))
def test_no_private_report_of_any_kind_has_a_smaller_variance(k, alpha, seed):
    """Mixtures of the vertices of private columns, the reports that keep the level, all have at least the bound."""
    best = best_report(k, alpha=alpha)
    V = vertices(PrivacyType(discrete(k), alpha=alpha)).columns.astype(float)
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.3, size=V.shape[1]) * rng.integers(0, 2, V.shape[1]) + 1e-6
    columns = V * weights
    # A report must have rows that sum to 1: symmetrise under a cyclic shift of the categories.
    shifted = np.concatenate([np.roll(columns, shift, axis=0) for shift in range(k)], axis=1)
    channel = shifted / shifted.sum(axis=1, keepdims=True)
    assert variance_of(channel) >= float(best.least_variance) * (1 - 1e-9)


def test_the_trace_is_bounded_at_the_vertices_by_enumeration():
    """max |v|^2 / (sum v)^2 over all vertices of the private columns is g, in rationals; found without the formula."""
    for k, alpha in product([2, 3, 4, 5, 6], ALPHAS):
        V = vertices(PrivacyType(discrete(k), alpha=alpha)).columns
        largest = max(sum(v * v for v in column) / sum(column) ** 2 for column in V.T.tolist())
        bound = Fraction((k - 1) ** 2) / (k * k * largest - k) - Fraction(k - 1, k)
        assert bound == best_report(k, alpha=alpha).least_variance


def test_the_channel_keeps_its_level_and_the_estimator_has_the_variance_stated():
    for k, alpha in product([2, 4, 5], ["1/3", "4/5"]):
        for size in range(1, k):
            how = SubsetSelection(k, size, level(alpha=alpha))
            channel, sets = how.channel, list(combinations(range(k), size))
            assert smallest_epsilon(channel, discrete(k)).level == how.level
            p, q = how.inside, how.outside
            for x in range(k):
                estimates = [[(Fraction(z in some) - q) / (p - q) for z in range(k)] for some in sets]
                row = channel.matrix[x]
                mean = [sum(row * [one[z] for one in estimates]) for z in range(k)]
                assert mean == [Fraction(z == x) for z in range(k)]
                spread = [sum(row * [one[z] ** 2 for one in estimates]) - mean[z] ** 2 for z in range(k)]
                assert sum(spread) == how.variance
                assert [float(v) for v in spread] == pytest.approx([how.variances[z != x] for z in range(k)])
            assert variance_of(channel.matrix) == pytest.approx(float(how.variance))


def distribution_of_lower(pair, higher):
    """P(S_1 | S_2) by the words of the module: near with probability c, else anything."""
    k, d1 = pair.lower.categories, pair.lower.size
    sets = [frozenset(some) for some in combinations(range(k), d1)]
    near = [some for some in sets if some >= higher or some <= higher]
    c = pair.stays
    return {some: (1 - c) / len(sets) + (c / len(near) if some in near else 0) for some in sets}


def distribution_of_higher(pair, x, lower):
    """P(S_2 | x, S_1) as `relaxed` draws it, from its two chances."""
    k, d2 = pair.higher.categories, pair.higher.size
    a1, a2 = pair.lower.level.alpha_fraction(), pair.higher.level.alpha_fraction()
    sets = [frozenset(some) for some in combinations(range(k), d2)]
    has = x in lower
    nearby, keeps = pair._chance_of_near(a1, a2, has), pair._chance_of_keeping(a1, a2, has)
    near = [some for some in sets if some <= lower or some >= lower]
    is_open = has if d2 <= len(lower) else not has
    with_own, without = ([some for some in near if (x in some) is inside] for inside in (True, False))
    whole = comb(k - 1, d2 - 1) + comb(k - 1, d2) * a2
    found = {}
    for some in sets:
        inner = Fraction(0)
        if some in near:
            if not is_open:
                inner = Fraction(1, len(near))
            else:
                inner = keeps / len(with_own) if x in some else (1 - keeps) / len(without)
        found[some] = nearby * inner + (1 - nearby) * (1 if x in some else a2) / whole
    return found


def test_both_reports_together_lose_what_the_one_at_the_higher_level_loses():
    """P(S_1 | x) P(S_2 | x, S_1) = P(S_2 | x) P(S_1 | S_2), exactly, for every pair of sizes that can be relaxed."""
    relaxed = 0
    for k, d1, d2 in [(n, i, j) for n in (2, 4, 5) for i in range(1, n) for j in range(1, n)]:
        lower, higher = SubsetSelection(k, d1, level(alpha="4/5")), SubsetSelection(k, d2, level(alpha="1/3"))
        if not is_lossless(lower, higher):
            continue
        relaxed += 1
        pair = CategoryCoupling(lower, higher)
        first, second = ([frozenset(s) for s in combinations(range(k), d)] for d in (d1, d2))
        M1, M2 = lower.channel.matrix, higher.channel.matrix
        x = k - 1  # any other one is a renaming
        for i, one in enumerate(first):
            later = distribution_of_higher(pair, x, one)
            assert sum(later.values()) == 1
            for j, other in enumerate(second):
                assert M1[x, i] * later[other] == M2[x, j] * distribution_of_lower(pair, other)[one]
    assert relaxed > 10


def test_a_relaxation_loses_nothing_exactly_where_one_distribution_refines_the_other():
    """The inequality, and the linear program that seeks a channel W with M_1 = M_2 W, say the same."""
    verdicts = set()
    for k, d1, d2 in ((4, 2, 1), (4, 1, 2), (4, 3, 2), (5, 2, 1)):
        for a1, a2 in (("4/5", "1/3"), ("1/2", "2/5"), ("1/2", "1/3"), ("4/5", "3/4"), ("1/2", "1/20")):
            lower, higher = SubsetSelection(k, d1, level(alpha=a1)), SubsetSelection(k, d2, level(alpha=a2))
            found = refines(better=higher.channel, worse=lower.channel)
            assert bool(found) == is_lossless(lower, higher), (k, d1, d2, a1, a2)
            verdicts.add(bool(found))
    assert verdicts == {True, False}


def test_one_size_is_relaxed_between_any_two_levels():
    for k, size, epsilons in ((2, 1, (1, 2)), (1000, 270, ("1/10", 1)), (6, 5, ("1/1000000", 50))):
        lower, higher = (SubsetSelection(k, size, epsilon) for epsilon in epsilons)
        assert is_lossless(lower, higher)
        assert not is_lossless(higher, lower)
        assert CategoryCoupling(lower, lower).stays == 1


@pytest.mark.parametrize(("d1", "d2", "levels"), [(2, 2, (1, 2)), (2, 1, (1, 3)), (1, 2, ("1/4", 2)), (3, 3, (1, 1))])
def test_draws_have_their_distributions(d1, d2, levels):
    """Margins of what is drawn, relaxed and tightened, and the joint chance that both reports hold the category."""
    lower, higher = SubsetSelection(5, d1, levels[0]), SubsetSelection(5, d2, levels[1])
    n = 40_000
    values = np.arange(n) % 5
    first = report_categories(values, lower)
    second = relax_categories(values, first, lower, higher)
    back = tighten_categories(report_categories(values, higher), higher, lower)
    for sets, how in ((first, lower), (second, higher), (back, lower)):
        assert (np.diff(sets, axis=1) > 0).all()
        own = (sets == values[:, None]).any(axis=1)
        assert abs(own.mean() - float(how.inside)) < 5 * 0.5 / n**0.5
        other = (sets == ((values + 1) % 5)[:, None]).any(axis=1)
        assert abs(other.mean() - float(how.outside)) < 5 * 0.5 / n**0.5
    together = tighten_categories(second, higher, lower)
    joint = [
        ((one == values[:, None]).any(axis=1) & (second == values[:, None]).any(axis=1)).mean()
        for one in (first, together)
    ]
    assert abs(joint[0] - joint[1]) < 7 * 0.5 / n**0.5


def test_estimates_are_unbiased_and_sum_to_the_clients():
    how, truth = best_report(6, 1), np.repeat(np.arange(6), [12_000, 9_000, 6_000, 2_000, 1_000, 0])
    counts = CategoryCounts.of(report_categories(truth, how), how)
    found = counts.estimates(how)
    assert found.sum() == pytest.approx(30_000)
    assert (abs(found - np.bincount(truth, minlength=6)) < 5 * counts.errors(how)).all()
    assert float((counts.errors(how) ** 2).sum()) == pytest.approx(30_000 * float(how.variance), rel=0.05)
    parts = CategoryCounts.of(np.array([[0, 1]]), SubsetSelection(6, 2, 1)), CategoryCounts(np.zeros(6, dtype=int), 0)
    assert (parts[0] + parts[1]).clients == 1


def test_corners():
    nobody = report_categories([], best_report(3, 1))
    assert nobody.shape == (0, 1)
    assert CategoryCounts.of(nobody, best_report(3, 1)).estimates(best_report(3, 1)).tolist() == [0, 0, 0]
    assert report_categories([0, 1], SubsetSelection(2, 1, 50)).tolist() == [[0], [1]]


def test_refusals_repeat_no_category():
    how = SubsetSelection(4, 2, 1)
    for call in (
        lambda: SubsetSelection(1, 1, 1),
        lambda: SubsetSelection(4, 4, 1),
        lambda: best_report(1, 1),
        lambda: best_report(4),
        lambda: report_categories([4], how),
        lambda: report_categories([0.5], how),
        lambda: report_categories([[0]], how),
        lambda: CategoryCounts.of([[0, 0]], how),
        lambda: CategoryCounts.of([[0]], how),
        lambda: CategoryCounts([2], 1),
        lambda: CategoryCoupling(SubsetSelection(4, 2, 1), SubsetSelection(4, 1, "1.01")),
        lambda: CategoryCoupling(how, SubsetSelection(5, 2, 2)),
        lambda: relax_categories([0], [[0, 1], [1, 2]], how, SubsetSelection(4, 2, 2)),
        lambda: SubsetSelection(60, 30, 1).channel,
    ):
        with pytest.raises(UtmostError):
            call()
    for reports in ([[0, 4]], [[-1, 2]], [[1, 1]]):  # of an unknown category, of one below all, of one twice
        with pytest.raises(OutOfRange, match="2 different categories"):
            how.read(reports)
    with pytest.raises(OutOfRange, match=r"in 0\.\.3") as refused:
        report_categories([987654321], how)
    assert "987654321" not in str(refused.value)
    assert isinstance(how.channel, Channel)
