"""The bound by volume for one-way tables: the volume by counting lattice points, the bound beside known laws."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod

import pytest

from utmost.noise import TablesDraw
from utmost.privacy import Unit
from utmost.publish.workloads.bounds.one_way_volume import one_way_bound, one_way_volume
from utmost.workloads import Domain, Workload, choose_plan

JOINED = Unit(1, 1, "change-one", nonnegative=True)


def lattice_points(sizes, most, *, is_joined):
    """How many tables of integers with one total lie within so many individuals, by listing them."""
    totals = []
    for size in sizes:
        counted = Counter()
        for table in product(range(-most, most + 1), repeat=size):
            up, down = sum(x for x in table if x > 0), -sum(x for x in table if x < 0)
            counted[up - down] += (max(up, down) if is_joined else up + down) <= most
        totals.append(counted)
    return sum(prod(counted[t] for counted in totals) for t in range(-most, most + 1))


@pytest.mark.parametrize("is_joined", [False, True])
@pytest.mark.parametrize("sizes", [[2], [3], [2, 2], [2, 3]])
def test_the_volume_is_the_leading_coefficient_of_the_count_of_lattice_points(sizes, is_joined):
    """Ehrhart: the count is a polynomial in m, whose highest difference is volume times factorial."""
    m = 1 + sum(size - 1 for size in sizes)
    counts = [lattice_points(sizes, most, is_joined=is_joined) for most in range(m + 1)]
    difference = sum((-1) ** (m - i) * comb(m, i) * count for i, count in enumerate(counts))
    assert one_way_volume(sizes, is_joined=is_joined) == Fraction(difference, factorial(m))


@pytest.mark.parametrize("with_total", [False, True])
@pytest.mark.parametrize(("tables", "size"), [(1, 5), (2, 2), (5, 3), (10, 5), (20, 2)])
def test_no_law_that_is_known_is_below_the_bound(tables, size, with_total):
    """One draw, and the plan, at a small level; ten tables of five are within 1.4 of the least error there is."""
    domain = Domain({f"x{at}": range(size) for at in range(tables)})
    wanted = Workload(domain, {**dict.fromkeys(domain.columns, 1), **({"": 1} if with_total else {})})
    bound = one_way_bound(wanted, Unit(1, 1))
    law = TablesDraw("1/1000", [size] * tables)
    drawn = (tables * float(law.variance) + with_total * float(law.total_variance)) / 10**6
    assert bound < drawn
    if size == 5 and tables == 10:
        assert drawn < (1.4 if with_total else 1.27) * bound
        assert choose_plan(wanted, Unit(1, 1), epsilon="1/1000").one_way_times == pytest.approx(2.8, abs=0.1)


def test_the_bound_follows_weights_and_sensitivity_and_is_of_one_way_tables_alone():
    domain = Domain(a=range(3), b=range(4))
    wanted = Workload(domain, {"a": 2, "b": 2, "": 2})
    bound = one_way_bound(wanted, Unit(1, 1))
    assert one_way_bound(wanted.reweighted({"a": 1, "b": 1, "": 1}), Unit(1, 1)) == pytest.approx(bound / 2)
    assert one_way_bound(wanted, Unit(7, 1)) == pytest.approx(49 * bound)
    assert one_way_bound(wanted, JOINED) > bound  # who is replaced may change more
    five = Domain(a=range(5))
    law = TablesDraw("1/1000", [5], "change-one")
    drawn = float(law.variance + law.total_variance) / 10**6
    assert 0.7 * drawn < one_way_bound(Workload(five, {"a": 1, "": 1}), JOINED) < drawn
    for other, unit in [
        (Workload(domain, {"a b": 1}), Unit(1, 1)),
        (Workload(domain, {"a": 1, "b=1": 1}), Unit(1, 1)),
        (Workload(domain, {"": 1}), Unit(1, 1)),
        (wanted, Unit(1, 2)),
        (wanted, Unit(1, 1, "change-one")),
    ]:
        assert one_way_bound(other, unit) is None
