"""The privacy of a plan, by enumeration in rationals: no ratio is above the promised one, and one attains it."""

from fractions import Fraction
from itertools import combinations, product
from math import prod

import numpy as np
import pytest

from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan, hierarchy

WHOLE = Fraction(1, 2**16)
DOMAINS = {
    "crossed": (Domain(a=[1, 2], b=[1, 2]), {"a b": "1/2", "a": "1/4", "": "1/4"}),
    "tree": (
        Domain(place=hierarchy({"N": [1], "S": [2, 3]}, names=["state", "county"])),
        {"county": "1/4", "state": "1/2", "": "1/4"},
    ),
    "overlapping": (Domain(a=[1, 2], b=[1, 2]), {"a": "1/4", "b": "3/4"}),
}


def largest_ratio(plan, shift):
    """max over all answers y of P(y | x) / P(y | x + shift), in rationals.

    Sums are noised each by itself, and a geometric law has P(y) proportional to alpha^|y|, so that the largest ratio of
    a sum is found among answers from beyond 0 to beyond its shift, where |y| - |y - d| takes its least and greatest.
    """
    levels, found = plan.levels(level(alpha=WHOLE)), Fraction(1)
    for family, sums in plan.sums(shift).items():
        alpha = levels[family].scaled(1 / plan.unit.sensitivity).alpha  # levels are of a change by the sensitivity
        for d in sums.ravel().tolist():
            found *= max(alpha ** (abs(y) - abs(y - d)) for y in range(-abs(d) - 1, abs(d) + 2))
    return found


def shifts(domain, unit, signs):
    """All whole changes of at most so many cells, each by at most the sensitivity."""
    s = int(unit.sensitivity)
    for cells in combinations(range(domain.size), min(unit.cells, domain.size)):
        for sizes in product(range(-s if signs else 0, s + 1), repeat=len(cells)):
            shift = np.zeros(domain.size, dtype=np.int64)
            shift[list(cells)] = sizes
            yield shift.reshape(domain.shape)


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("unit", [Unit(1, 1), Unit(1, 2), Unit(2, 2)], ids=["one", "two", "two of two"])
def test_the_largest_ratio_is_the_promised_one(name, unit):
    """e^epsilon bounds every ratio for every change, of mixed signs too, and a change of one sign attains it."""
    domain, shares = DOMAINS[name]
    plan = Plan(domain, unit, shares)
    ratios = [largest_ratio(plan, shift) for shift in shifts(domain, unit, signs=True)]
    assert max(ratios) == 1 / WHOLE
    assert max(largest_ratio(plan, shift) for shift in shifts(domain, unit, signs=False)) == 1 / WHOLE


def test_whole_answers_have_the_ratio_of_their_parts():
    """The same over all joint answers of 7 sums, each from -1 to 2: the largest product is that of the largest."""
    domain, shares = DOMAINS["crossed"]
    plan = Plan(domain, Unit(1, 2), shares)
    levels = plan.levels(level(alpha=WHOLE))
    shift = np.array([[1, 0], [0, -1]])
    sums = [(levels[f].alpha, d) for f, found in plan.sums(shift).items() for d in found.ravel().tolist()]
    joint = max(
        prod(alpha ** (abs(y) - abs(y - d)) for (alpha, d), y in zip(sums, answer, strict=True))
        for answer in product(range(-1, 2), repeat=len(sums))
    )
    assert joint == largest_ratio(plan, shift)
    assert joint < 1 / WHOLE, "signs that differ cancel in the total"


def test_a_larger_change_passes_the_promise():
    """The bound is of the unit: three cells where two were promised."""
    domain, shares = DOMAINS["crossed"]
    plan = Plan(domain, Unit(1, 2), shares)
    assert largest_ratio(plan, np.array([[1, 1], [1, 0]])) > 1 / WHOLE
