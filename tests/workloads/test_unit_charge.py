"""The charge of a strategy is the privacy of its noise: by enumeration of all neighbours, in rationals."""

from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from utmost import Unit
from utmost.errors import OutOfRange
from utmost.laws.exact import level
from utmost.publish.workloads import Domain, Strategy, hierarchy
from utmost.publish.workloads.sums_and_differences import PairAxis
from utmost.publish.workloads.unit_charge import charge_of, is_exact, is_total, room_of_rows, rooms

BASE = Fraction(1, 2)
PLACES = hierarchy({"N": [1], "S": [2, 3]}, names=["state", "county"])
DOMAINS = {
    "one": Domain(a=[1]),
    "two": Domain(a=[1, 2]),
    "three": Domain(a=[1, 2, 3]),
    "five": Domain(a=range(5)),
    "crossed": Domain(a=[1, 2], b=[1, 2]),
    "wide": Domain(a=[1, 2], b=[1, 2, 3]),
    "tree": Domain(place=PLACES),
    "lone": Domain(a=[1, 2, 3], b=["all of them"]),
}
KINDS = [("add-remove", False), ("add-remove", True), ("change-one", False), ("change-one", True)]
UNITS = [Unit(s, k, *kind) for kind in KINDS for k in (1, 2, 3) for s in (1, 2)]


def contributions(unit, atoms):
    """All that one individual may be counted with."""
    s = int(unit.sensitivity)
    values = range(0 if unit.nonnegative else -s, s + 1)
    return [c for c in product(values, repeat=atoms) if sum(x != 0 for x in c) <= unit.cells]


def changes(unit, atoms):
    """All whole changes of the table between two neighbours, by the definition of the relation."""
    present = np.array(contributions(unit, atoms))
    both = present if unit.neighbours == "add-remove" else (present[:, None] - present[None]).reshape(-1, atoms)
    return np.unique(both, axis=0)


def rows_of(domain, family):
    """The sums of a family as rows over the atoms."""
    atoms = np.eye(domain.size, dtype=np.int64)
    return np.array([domain.sums(atom.reshape(domain.shape), family).ravel() for atom in atoms]).T


def largest_exponent(rows, levels, unit, atoms):
    """log to the base of the noise of the largest ratio of the joint law: of each sum, over answers far beyond it.

    P(y | x) is proportional to q^(level |y - a.x|), sums are noised each by itself, and x is any table with room for
    the change; the ratio depends on it only through a.x.
    """
    best = 0
    for change in changes(unit, atoms).tolist():
        moved = [sum(a * d for a, d in zip(row, change, strict=True)) for row in rows.tolist()]
        ratios = [
            max(BASE ** (weight * (abs(y) - abs(y - d))) for y in (-abs(d) - 1, 0, d, abs(d) + 1))
            for d, weight in zip(moved, levels, strict=True)
        ]
        best = max(best, prod(ratios, start=Fraction(1)))
    assert best.denominator == 1
    return best.numerator.bit_length() - 1


def measured(domain, unit, shares):
    """Rows and whole levels in proportion to the shares, and how many levels make the whole of an individual's."""
    scale = 12
    rows = [rows_of(domain, family) for family in shares]
    levels = [int(share * scale) for share, own in zip(shares.values(), rows, strict=True) for _ in own]
    return np.concatenate(rows), levels, scale * unit.charged * int(unit.sensitivity)


def share_sets(domain):
    """A few shares for the families of a domain: everything, everything else but the total, and uneven ones."""
    families = list(domain.families())
    yield {families[0]: Fraction(1)}
    yield dict.fromkeys(families, Fraction(1))
    yield {family: Fraction(1 + place % 3, 2) for place, family in enumerate(families)}
    yield {family: Fraction(3 if is_total(domain, family) else 1, 2) for family in families}


@pytest.mark.parametrize("name", DOMAINS)
def test_the_charge_is_the_largest_ratio_of_all_neighbours(name):
    """Never above the charge, and equal to it wherever it is called exact."""
    domain, exact = DOMAINS[name], 0
    for unit in UNITS:
        if len(contributions(unit, domain.size)) > (30 if unit.sensitivity > 1 else 150):
            continue
        for shares in share_sets(domain):
            rows, levels, whole = measured(domain, unit, shares)
            largest = Fraction(largest_exponent(rows, levels, unit, domain.size), whole)
            assert largest <= charge_of(domain, unit, shares), (unit, shares)
            if is_exact(domain, unit, shares):
                exact += 1
                assert largest == charge_of(domain, unit, shares), (unit, shares)
    assert exact > 20
