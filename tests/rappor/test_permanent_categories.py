"""Permanent reports of categories: one Markov chain in whatever order levels are asked for, and who may draw it."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

# The distribution of one step is compared with the distribution of the whole, in rationals.
from utmost.design.local.permanent_categories import _Between
from utmost.errors import OutOfRange, Unsupported
from utmost.exact import level
from utmost.local import BlockSelection, CategoryCounts, PermanentReports, SubsetSelection, balanced_family
from utmost.testing import SeededRandomness

ALPHAS = tuple(map(Fraction, ("4/5", "1/2", "1/3")))


def kinds(alpha="1/2"):
    return [
        SubsetSelection(4, 2, level(alpha=alpha)),
        BlockSelection(balanced_family(6, 2), level(alpha=alpha)),
        BlockSelection(balanced_family(7, 3), level(alpha=alpha)),
    ]


def permanent(values, how, seed):
    answers = PermanentReports.__new__(PermanentReports)
    answers._open(values, how, SeededRandomness(seed))
    return answers


def keep(how, lower, higher):
    """The stochastic matrix from sets at the higher level to the lower, and the weights of sets drawn blindly."""
    share, weights = Fraction(how.size, how.categories), [weight for weight, _ in how.sets()]
    c = (how.inside_of(lower) - share) / (how.inside_of(higher) - share)
    n = range(len(weights))
    return [[c * (i == j) + (1 - c) * weights[j] for j in n] for i in n], weights


@pytest.mark.parametrize("how", kinds(), ids=str)
def test_the_one_between_two_has_the_conditional_distribution_in_rationals(how):
    """P(S_2 | S_1, S_3) = W_32 W_21 / W_31 for every three sets, from the three chances that are drawn."""
    a1, a2, a3 = ALPHAS
    W32, weights = keep(how, a2, a3)
    W21, _ = keep(how, a1, a2)
    W31, _ = keep(how, a1, a3)
    between = _Between(how.at(level(alpha=a1)), how.at(level(alpha=a2)), how.at(level(alpha=a3)))
    apart, higher = between._informed_apart(a1, a2, a3), between._higher_of_two(a1, a2, a3)
    for first, third in product(range(len(weights)), repeat=2):
        informed = between._informed_at_one(a1, a2, a3, weight=weights[third]) if first == third else apart
        for middle, weight in enumerate(weights):
            drawn = informed * (higher * (middle == third) + (1 - higher) * (middle == first)) + (1 - informed) * weight
            assert drawn == W32[third][middle] * W21[middle][first] / W31[third][first]


@pytest.mark.parametrize("how", kinds(), ids=str)
@pytest.mark.parametrize("order", [(1, 3, 2), (3, 1, 2), (2, 3, 1), (2, 1, 3)])
def test_whatever_the_order_every_report_counts_and_neighbours_agree_as_often(how, order):
    """Estimates are right at each level, and two reports are the same as often as the chain says: 6 deviations."""
    k, clients = how.categories, 40_000
    values = np.arange(clients) % k
    answers = permanent(values, how, sum(order))
    drawn = {at: answers.at(epsilon=level(alpha=ALPHAS[at - 1])) for at in order}
    assert answers.spent == level(alpha="1/3")
    assert len(answers.levels) == 3
    for at, reports in drawn.items():
        protocol = how.at(level(alpha=ALPHAS[at - 1]))
        counts = CategoryCounts.of(reports, protocol)
        assert (abs(counts.estimates(protocol) - np.bincount(values)) < 6 * counts.errors(protocol)).all()
        assert answers.at(epsilon=level(alpha=ALPHAS[at - 1])) is reports
    for lower, higher in ((1, 2), (2, 3), (1, 3)):
        distribution = how.at(level(alpha=ALPHAS[higher - 1])).channel.matrix[0]
        W, _ = keep(how, ALPHAS[lower - 1], ALPHAS[higher - 1])
        same = float(sum(chance * W[i][i] for i, chance in enumerate(distribution)))
        agree = (drawn[lower] == drawn[higher]).reshape(clients, -1).all(axis=1).mean()
        assert abs(agree - same) < 6 * (same * (1 - same) / clients) ** 0.5


def test_irrational_levels_that_are_close_together_are_drawn():
    how = kinds()[2]
    answers = permanent([0, 1, 2], how, 5)
    for epsilon in ("1", "1.000000000001", "1.0000000000005", "50", "1/1000000", "2"):
        assert answers.at(epsilon).shape == (3,)
    assert answers.spent == level(50)


def test_reports_are_drawn_by_their_owner_alone():
    answers = PermanentReports([0, 1], kinds()[1])
    with pytest.raises(OutOfRange):
        PermanentReports([7], kinds()[1])
    with pytest.raises(ValueError, match="read-only"):
        answers.at(1)[0] = 3
    answers._owner += 1
    with pytest.raises(Unsupported):
        answers.at(2)
    assert len(answers.at(1)) == 2
    with pytest.raises(Unsupported):
        answers.__reduce__()
