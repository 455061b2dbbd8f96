"""Small functions behind releases, each with one example."""

from fractions import Fraction

import numpy as np
import pytest

from utmost import Unit, level
from utmost.core.noise.combination import Combination
from utmost.core.noise.ratio_bars import RatioBar
from utmost.noise import Geometric
from utmost.publish.releases.clean_release import zero_bias
from utmost.publish.releases.complementary import Relations, complementary
from utmost.publish.releases.detailed_release import detailed_unit
from utmost.publish.releases.estimates import Printing, estimate_of
from utmost.publish.releases.given_facts import read_given
from utmost.publish.releases.item_commitment import value_sums
from utmost.publish.releases.planar import nearest_places
from utmost.publish.releases.release_facts import short_bar
from utmost.publish.releases.spread import deviation_bar
from utmost.publish.releases.trust import independent_loss
from utmost.publish.releases.withheld import narrowed_name
from utmost.publish.releases.withholding import NoiseTails
from utmost.workloads import Domain


def test_a_true_zero_is_raised_by_alpha_over_one_minus_its_square():
    bias, is_exact = zero_bias(Combination([1], 1))
    assert (bias, is_exact) == (pytest.approx(0.4254590641196), True)


def test_a_coarse_cell_is_the_sum_of_finer_ones():
    relations = Relations.of(Domain(sex=["men", "women"]), [(0,), (1,)])
    assert (list(relations.totals), [parts.tolist() for parts in relations.parts]) == ([2], [[0, 1]])


def test_the_smallest_cell_that_gives_another_away_is_withheld_too():
    domain = Domain(sex=["men", "women", "other"])
    both = {(0,): np.ones(3, dtype=bool), (1,): np.ones(1, dtype=bool)}
    rule = {(0,): np.array([True, True, False]), (1,): np.ones(1, dtype=bool)}
    values = {(0,): np.array([512.0, 89.0, 7.0]), (1,): np.array([608.0])}
    assert complementary(domain, both, rule, values)[0,].tolist() == [True, False, False]


def test_rows_that_are_sums_of_cells_have_a_bound_in_all():
    assert detailed_unit(Unit(2, 3)) == Unit(6, 3, in_all=6)
    assert detailed_unit(Unit(5, 1)) == Unit(5, 1)


def test_estimates_are_printed_with_decimals_that_their_error_allows():
    assert Printing.of([Combination([1], 1)]) == Printing(decimals=0, whole=True)
    assert Printing.of([Combination(["1/3", "2/3"], 1)]) == Printing(decimals=2, whole=False)
    assert str(estimate_of(Fraction(17), Combination([1], 1), Fraction(19, 20))) == "17 +- 3"
    shown = [short_bar(margin) for margin in (3.0, 950.1871, 12345678, 1198292.91)]
    assert shown == ["3", "950.188", "12345678", "1198300"]


def test_public_facts_are_numbers_lists_or_mappings_by_the_name_of_a_table():
    domain = Domain(sex=["men", "women"], year=[1, 2])
    facts = read_given(domain, {"total": 9, "sex": [5, 4], "year sex=men": {1: 2}})
    assert facts.words == "total = 9; sex=men = 5; sex=women = 4; sex=men year=1 = 2"


def test_equal_numbers_have_equal_digests_in_any_order_and_any_steps():
    halves, wholes = np.array([2, 6]), np.array([3, 1])
    assert (value_sums(bytes(32), halves, 1) == value_sums(bytes(32), wholes, None)).all()


def test_an_answer_is_matched_with_the_nearest_place():
    answers, places = np.array([[0.2, 0.0], [5.0, 5.0]]), np.array([[0.0, 0.0], [4.0, 4.0]])
    assert nearest_places(answers, places).tolist() == [0, 1]


def test_a_deviation_is_the_root_of_a_variance():
    assert str(deviation_bar(RatioBar(4.0, 1.0, 9.0, Fraction(19, 20)))) == "1 to 3"


def test_independent_noise_gives_away_the_product_of_all_ratios():
    levels = {"ann": level(alpha="1/2"), "bo": level(alpha="2/3"), "cy": level(alpha="2/3")}
    assert independent_loss(levels) == Fraction(9, 2)


def test_a_restricted_marginal_is_named_with_its_label():
    domain = Domain(department=list("AB"), sex=["men", "women"])
    assert narrowed_name(domain, (0, 0), {1: 1}) == "department sex=women"


def test_the_tails_of_geometric_noise():
    tails = NoiseTails(Geometric(alpha="1/2"))
    found = tails.reach(Fraction(0)), tails.mean_above(Fraction(0)), tails.mean_above(Fraction(2))
    assert found == pytest.approx((2 / 3, 2 / 3, 1 / 2))
