"""The bound by volume for one-way tables: from the volume by counting lattice points, and beside known noise."""

from collections import Counter
from itertools import product
from math import comb, factorial, gamma, pi, prod

import numpy as np
import pytest

from utmost.noise import TablesDraw
from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, choose_plan

ONE, JOINED = Unit(1, 1), Unit(1, 1, "change-one", nonnegative=True)
SMALL = "1/1000000"  # a level at which errors times its square are those of the limit


def bound(wanted, unit):
    """What no mechanism is below, of the error times epsilon^2 as epsilon goes to 0; None where none is known."""
    plan = choose_plan(wanted, unit, epsilon=SMALL)
    return None if plan.one_way_times is None else plan.value / 10**12 / plan.one_way_times


def domain_of(sizes):
    return Domain({f"x{at}": range(size) for at, size in enumerate(sizes)})


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


def weights_of(sizes):
    """M of the error of all tables and the total, in the total and all groups of each table but the last."""
    m = 1 + sum(size - 1 for size in sizes)
    total, rows, at = np.eye(m)[0], [np.eye(m)[0]], 1
    for size in sizes:
        groups = [np.eye(m)[place] for place in range(at, at + size - 1)]
        rows += [row / size**0.5 for row in [*groups, total - sum(groups)]]
        at += size - 1
    return np.array(rows).T @ np.array(rows)


@pytest.mark.parametrize("unit", [ONE, JOINED], ids=repr)
@pytest.mark.parametrize("sizes", [[2, 2], [2, 3], [3, 3], [2, 2, 2]])
def test_it_is_the_ball_of_a_volume_that_lattice_points_have(sizes, unit):
    """m (m + 1) r^2; the count of points is a polynomial in m, whose highest difference is volume times factorial."""
    m = 1 + sum(size - 1 for size in sizes)
    counts = [lattice_points(sizes, most, is_joined=unit is JOINED) for most in range(m + 1)]
    volume = sum((-1) ** (m - i) * comb(m, i) * count for i, count in enumerate(counts)) / factorial(m)
    ball = pi ** (m / 2) / gamma(m / 2 + 1)
    radius = (volume * np.linalg.det(weights_of(sizes)) ** 0.5 / ball) ** (1 / m)
    domain = domain_of(sizes)
    found = bound(Workload(domain, {**dict.fromkeys(domain.columns, 1), "": 1}), unit)
    assert found == pytest.approx(m * (m + 1) * radius**2, rel=1e-6)


@pytest.mark.parametrize(
    ("tables", "size", "with_total"),
    [
        *((tables, size, with_total) for tables, size in [(2, 2), (5, 3), (20, 2)] for with_total in (False, True)),
        *(pytest.param(10, 5, with_total, marks=pytest.mark.slow) for with_total in (False, True)),
    ],
)
def test_no_distribution_that_is_known_is_below_the_bound(tables, size, with_total):
    """One draw, and the plan, at a small level; ten tables of five are within 1.4 of the least error there is."""
    domain = domain_of([size] * tables)
    wanted = Workload(domain, {**dict.fromkeys(domain.columns, 1), **({"": 1} if with_total else {})})
    distribution = TablesDraw("1/1000", [size] * tables)
    drawn = (tables * float(distribution.variance) + with_total * float(distribution.total_variance)) / 10**6
    assert bound(wanted, ONE) < drawn
    if size == 5 and tables == 10:
        assert drawn < (1.4 if with_total else 1.27) * bound(wanted, ONE)
        assert with_total or choose_plan(wanted, ONE, epsilon="1/1000").one_way_times == pytest.approx(2.8, abs=0.1)


def test_the_bound_follows_weights_and_sensitivity_and_is_of_one_way_tables_alone():
    domain = Domain(a=range(3), b=range(4))
    wanted = Workload(domain, {"a": 2, "b": 2, "": 2})
    found = bound(wanted, ONE)
    assert bound(wanted.reweighted({"a": 1, "b": 1, "": 1}), ONE) == pytest.approx(found / 2)
    assert bound(wanted, Unit(7, 1)) == pytest.approx(49 * found)
    assert bound(wanted, JOINED) > found  # who is replaced may change more
    for other, unit in [
        (Workload(domain, {"a b": 1}), ONE),
        (Workload(domain, {"a": 1, "b=1": 1}), ONE),
        (Workload(domain, {"": 1}), ONE),
        (wanted, Unit(1, 2)),
        (wanted, Unit(1, 1, "change-one")),
    ]:
        assert bound(other, unit) is None
