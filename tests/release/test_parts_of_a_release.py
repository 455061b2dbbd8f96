"""Small functions behind releases, each with one example."""

from fractions import Fraction

from utmost.core.noise.combination import Combination
from utmost.publish.releases.estimates import Printing, estimate_of
from utmost.publish.releases.given_facts import read_given
from utmost.publish.releases.release_facts import short_bar
from utmost.workloads import Domain


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
