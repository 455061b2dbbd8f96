"""Several attributes of each client: exact variances by enumeration, the better way, and what is refused."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.local import AttributeReports, SubsetSelection, best_attributes, best_report
from utmost.testing import SeededRandomness


@pytest.fixture
def seeded(monkeypatch):
    for file in ("attributes", "category_reports"):
        monkeypatch.setattr(f"utmost.design.local.{file}.secure", lambda randomness: randomness)


def test_the_variance_is_that_of_all_outcomes_in_rationals():
    """Of attribute drawn, set drawn: mean 1 and 0, and the second moments summed."""
    reports = tuple(SubsetSelection(k, 1, level(alpha="1/3")) for k in (2, 3))
    plan = AttributeReports(reports, (Fraction(2, 5), Fraction(3, 5)), level(alpha="1/3"))
    total = Fraction(0)
    for how, chance in zip(plan.reports, plan.chances, strict=True):
        for z in range(how.categories):
            moments = [Fraction(0)] * 2
            for power, (place, (_, some)) in product((1, 2), enumerate(how.sets())):
                part = ((z in some) - how.outside) / (how.inside - how.outside) / chance
                moments[power - 1] += chance * how.channel.matrix[0, place] * part**power
            assert moments[0] == (z == 0)
            total += moments[1] - moments[0] ** 2
    assert plan.variance == float(total)


def test_the_better_way_is_taken_and_one_attribute_is_one_report():
    for sizes, epsilon in product(([4, 4], [2, 50, 7], [3] * 10), ("1/10", 1, 4, 20)):
        plan = best_attributes(sizes, epsilon)
        assert plan.level == level(epsilon)
        shared = sum(float(best_report(k, level(epsilon).scaled(Fraction(1, len(sizes)))).variance) for k in sizes)
        uniform = sum((float(best_report(k, epsilon).variance) + 1) * len(sizes) - 1 for k in sizes)
        assert plan.variance <= min(shared, uniform) * (1 + 1e-9)
        assert sum(plan.chances) == 1 if plan.is_sampled else set(plan.chances) == {1}
    assert best_attributes([9], 1).reports == (best_report(9, 1),)


@pytest.mark.parametrize("epsilon", [1, 12])
def test_counts_are_right_within_their_errors(seeded, epsilon):
    clients = 60_000
    values = np.stack([np.arange(clients) % 4, np.arange(clients) % 3], axis=1)
    plan = best_attributes([4, 5], epsilon)
    drawn = plan.report(values, randomness=SeededRandomness(epsilon))
    for attribute, (rows, reports) in enumerate(drawn):
        estimates, errors = plan.counts(attribute, reports, clients)
        true = np.bincount(values[:, attribute], minlength=plan.reports[attribute].categories)
        assert len(rows) == len(reports)
        assert (abs(estimates - true) < 6 * errors + 1e-6).all()


def test_what_is_no_table_of_categories_is_refused_unnamed():
    plan = best_attributes([2, 3], 1)
    for values in ([[0]], [[0, 7]], [[-1, 0]], [[0.5, 1]], "no"):
        with pytest.raises(OutOfRange) as refused:
            plan.report(values)
        assert "7" not in str(refused.value)
    for categories in ([], [1]):
        with pytest.raises(OutOfRange):
            best_attributes(categories, 1)
