"""Noise of many cells in one draw: individuals by search, privacy and masses by enumeration, the table of the page."""

from collections import deque
from fractions import Fraction
from functools import cache
from itertools import accumulate, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# The sums behind a variance, for more points than a test can list.
from utmost.core.noise.cells_draw import chunk_points, chunk_points_from
from utmost.exact import level
from utmost.noise import CellsDraw, DiscreteStaircase, Geometric, JointCells, TablesDraw

Q = Fraction(1, 3)

CELLS = [
    {"cells": n, "changed": k, "sensitivity": s, "step": r, **more}
    for n, k, s, r in [(1, 1, 3, 2), (2, 1, 1, 1), (2, 2, 2, 2), (3, 2, 1, 1), (3, 3, 2, 1), (3, 1, 2, 2), (4, 3, 1, 1)]
    for more in [{}, {"neighbours": "change-one"}, {"nonnegative": False}]
] + [
    {"cells": 2, "changed": 2, "sensitivity": 3, "in_total": 4, "step": 2},
    {"cells": 3, "changed": 3, "sensitivity": 2, "in_total": 3},
    {"cells": 3, "changed": 2, "sensitivity": 2, "in_total": 3, "neighbours": "change-one"},
    {"cells": 2, "changed": 2, "sensitivity": 4, "in_total": 5, "nonnegative": False, "neighbours": "change-one"},
    {"cells": 3, "changed": 3, "sensitivity": 1, "in_total": 2},
    {"cells": 4, "changed": 4, "sensitivity": 1, "in_total": 3, "neighbours": "change-one"},
]

TABLES = [
    {"sizes": sizes, "neighbours": neighbours, "exactly": exactly}
    for sizes in [(1,), (3,), (1, 2), (2, 3), (2, 2, 2)]
    for neighbours, exactly in [("add-remove", False), ("change-one", False), ("change-one", True)]
]


def presences(distribution):
    """All that the presence of one individual can add to the cells."""
    s, in_total = distribution.sensitivity, distribution.in_total
    values = range(s + 1) if distribution.nonnegative else range(-s, s + 1)
    for u in product(values, repeat=distribution.cells):
        if sum(v != 0 for v in u) <= distribution.changed and (in_total is None or sum(map(abs, u)) <= in_total):
            yield u


def table_presences(distribution):
    """One cell of each table, or, where the total is not public, nothing."""
    for cells in product(*map(range, distribution.sizes)):
        yield tuple(int(i == cell) for size, cell in zip(distribution.sizes, cells, strict=True) for i in range(size))
    if not distribution.exactly:
        yield (0,) * distribution.size


def all_presences(distribution):
    return presences(distribution) if isinstance(distribution, CellsDraw) else table_presences(distribution)


def changes(distribution):
    """All that one individual can change under the distribution's relation, and its negative."""
    present = set(all_presences(distribution))
    if distribution.neighbours == "change-one":
        return {tuple(a - b for a, b in zip(u, v, strict=True)) for u in present for v in present}
    return present | {tuple(-v for v in u) for u in present}


def moved(x, change):
    return tuple(a + b for a, b in zip(x, change, strict=True))


def near(distribution, most):
    """The points of at most so many individuals."""
    values = range(-most * 4, most * 4 + 1)
    points = (
        product(values, repeat=distribution.size)
        if distribution.size < 3
        else product(range(-most - 2, most + 3), repeat=distribution.size)
    )
    return [x for x in points if (d := distribution.distance(x)) is not None and d <= most]


@pytest.mark.parametrize("about", CELLS, ids=str)
def test_cells_keep_their_level_and_no_less(about):
    """All points near 0 and all changes of one individual, in rationals: the largest ratio is 1/alpha."""
    distribution = CellsDraw(alpha=Q**2, **about)
    pmf = cache(distribution.pmf)
    most = 2 if distribution.cells < 4 else 1
    points, all_changes = near(distribution, most), changes(distribution)
    ratios = {pmf(x) / pmf(moved(x, change)) for x in points[:: 1 + len(points) // 40] for change in all_changes}
    assert max(ratios) == 1 / Q**2
    assert min(ratios) >= Q**2


@pytest.mark.parametrize("about", TABLES, ids=str)
def test_tables_keep_their_level_and_no_less(about):
    """The same; a public total never moves."""
    distribution = TablesDraw(alpha=Q, **about)
    pmf = cache(distribution.pmf)
    points = near(distribution, 1)
    if distribution.size == 1 and distribution.exactly:
        assert distribution.pmf([0]) == 1
        return
    ratios = {pmf(x) / pmf(moved(x, change)) for x in points for change in changes(distribution)}
    assert max(ratios) == 1 / Q


def by_search(distribution, depth):
    """The least number of individuals that lead from the centre to each point, by search."""
    r = getattr(distribution, "step", 1)
    start = product(range(-r + 1, r), repeat=distribution.size)
    found, steps = dict.fromkeys(start, 0), [change for change in changes(distribution) if any(change)]
    todo = deque(found)
    while todo:
        x = todo.popleft()
        if found[x] < depth:
            for change in steps:
                y = moved(x, change)
                if y not in found:
                    found[y] = found[x] + 1
                    todo.append(y)
    return found


@pytest.mark.parametrize("about", [*CELLS[:21], *CELLS[-2:]], ids=str)
def test_cells_are_reached_by_so_many_individuals(about):
    """The formula is the exact count: for single chunks, and without a bound of all cells."""
    distribution = CellsDraw(1, **about)
    reached = by_search(distribution, 2)
    if distribution.neighbours == "change-one" and not distribution.nonnegative:
        return
    assert all(distribution.distance(x) == steps for x, steps in reached.items())
    assert set(near(distribution, 1)) <= set(reached)


@pytest.mark.parametrize("about", TABLES, ids=str)
def test_tables_are_reached_by_so_many_individuals(about):
    """The largest size of a table is the exact count."""
    distribution = TablesDraw(1, **about)
    reached = by_search(distribution, 2)
    assert all(distribution.distance(x) == steps for x, steps in reached.items())
    assert set(near(distribution, 1)) <= set(reached)


@pytest.mark.parametrize("about", CELLS, ids=str)
def test_shells_of_cells_are_counted_out(about):
    """The groups of a shell have as many points as it has."""
    distribution = CellsDraw(alpha=Q, **about)
    reach = distribution.step + 2 * distribution.sensitivity
    values = list(product(range(-reach + 1, reach), repeat=distribution.cells)) if distribution.cells < 4 else []
    alone = CellsDraw(alpha=Q, **{**about, "neighbours": "add-remove"})
    pairs = [(1, 0), (1, 1), (2, 1), (0, 2), (2, 2)]
    for j, l in pairs if distribution.nonnegative and values else []:
        parts = [([max(v, 0) for v in x], [min(v, 0) for v in x]) for x in values]
        points = sum(alone.distance(up) <= j and alone.distance(down) <= l for up, down in parts)
        if not distribution.is_joined:
            counted = (g.weight * value(g.shells[0], j) * value(g.shells[1], l) for g in distribution.groups)
            assert sum(counted) == points
        elif j == l:
            assert sum(g.weight * value(g.shells[0], j) for g in distribution.groups) == points
    for j in (0, 1, 2) if not distribution.nonnegative and values else ():
        assert sum(g.weight * value(g.shells[0], j) for g in distribution.groups) == sum(
            distribution.distance(x) <= j for x in values
        )


def value(series, m):
    """The coefficient of z^m in h(z) / (1 - z)^order."""
    row = [*series.heads, *[0] * (m + 1)]
    for _ in series.heads:
        row = list(accumulate(row))
    return row[m]


SMALL = Fraction(1, 400)


def enumerated(distribution, reach):
    """Points and their exact masses but for the normaliser, up to a reach."""
    points = product(range(-reach, reach + 1), repeat=distribution.size)
    return [(x, SMALL**d) for x in points if (d := distribution.distance(x)) is not None and d < 5]


@pytest.mark.parametrize(
    "distribution",
    [
        CellsDraw(alpha=SMALL, cells=1, sensitivity=3, step=2),
        CellsDraw(alpha=SMALL, cells=2, changed=2, sensitivity=2, step=2),
        CellsDraw(alpha=SMALL, cells=2, changed=1, sensitivity=2, neighbours="change-one"),
        CellsDraw(alpha=SMALL, cells=3, changed=2),
        CellsDraw(alpha=SMALL, cells=3, changed=2, nonnegative=False),
        CellsDraw(alpha=SMALL, cells=3, changed=2, neighbours="change-one"),
        CellsDraw(alpha=SMALL, cells=2, changed=2, sensitivity=2, in_total=3, step=2),
        CellsDraw(alpha=SMALL, cells=2, changed=2, sensitivity=2, in_total=3, neighbours="change-one"),
        TablesDraw(alpha=SMALL, sizes=[3], neighbours="change-one"),
        TablesDraw(alpha=SMALL, sizes=[3], neighbours="change-one", exactly=True),
        TablesDraw(alpha=SMALL, sizes=[2, 2]),
        TablesDraw(alpha=SMALL, sizes=[1, 2], neighbours="change-one"),
        TablesDraw(alpha=SMALL, sizes=[2, 2], neighbours="change-one", exactly=True),
    ],
    ids=repr,
)
def test_closed_forms_are_what_the_definition_adds_up_to(distribution):
    """Normaliser, variances of cells and answers, mean size, tails, total."""
    unit = getattr(distribution, "sensitivity", 1)
    points = enumerated(distribution, 4 * unit + 1 if distribution.size < 4 else 4)
    mass = sum(weight for _, weight in points)

    def mean(of):
        return float(sum(weight * of(x) for x, weight in points) / mass)

    assert float(distribution.normaliser) == pytest.approx(float(mass), rel=1e-6)
    assert float(distribution.variance) == pytest.approx(
        mean(lambda x: Fraction(sum(v * v for v in x), distribution.size)), rel=1e-5
    )
    coefficients = [1, -2, 3, 5][: distribution.size]
    wanted = mean(lambda x: sum(c * v for c, v in zip(coefficients, x, strict=True)) ** 2)
    assert float(distribution.variance_of(coefficients)) == pytest.approx(wanted, rel=1e-5)
    for t in range(2 * unit + 1):
        for cell in {0, distribution.size - 1}:
            beyond = mean(lambda x, cell=cell, t=t: abs(x[cell]) > t)
            assert float(distribution.tail(t, cell)) == pytest.approx(beyond, rel=1e-4, abs=3e-9)
    if isinstance(distribution, CellsDraw):
        assert float(distribution.mean_size) == pytest.approx(
            mean(lambda x: Fraction(sum(map(abs, x)), distribution.size)), rel=1e-5
        )
    else:
        first = distribution.sizes[0]
        assert float(distribution.total_variance) == pytest.approx(
            mean(lambda x: sum(x[:first]) ** 2), rel=1e-5, abs=1e-12
        )
        for t in range(3):
            beyond = mean(lambda x, t=t: abs(sum(x[:first])) > t)
            assert float(distribution.total_tail(t)) == pytest.approx(beyond, rel=1e-4, abs=3e-9)


@pytest.mark.parametrize("about", CELLS[::2], ids=str)
@settings(max_examples=3)
@given(st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20))
def test_tails_add_up_to_the_moments(about, q):
    """E|X| and E X^2 by tails, exactly: beyond some t every tail is one closed form, cut where it is tiny."""
    distribution = CellsDraw(alpha=q**8, **about)
    tails = [float(distribution.tail(t)) for t in range(60)]
    if tails[-1] < 1e-12:
        assert sum(tails) == pytest.approx(float(distribution.mean_size), rel=1e-6)
        squares = sum((2 * t + 1) * tail for t, tail in enumerate(tails))
        assert squares == pytest.approx(float(distribution.variance), rel=1e-6)


@pytest.mark.parametrize(
    ("distribution", "variance"),
    [
        (CellsDraw(1, 2, 2), 3.163),
        (CellsDraw(1, 2, 2, 2, step=2), 4 * 3.173),
        (CellsDraw(1, 3, 2), 4.145),
        (CellsDraw(1, 3, 2, nonnegative=False), 5.461),
        (CellsDraw(1, 10, 2), 6.894),
        (CellsDraw(1, 10, 2, nonnegative=False), 7.737),
        (CellsDraw(1, 10, 5), 20.88),
        (CellsDraw("1/10", 10, 5), 2142),
        (CellsDraw(3, 10, 5, nonnegative=False), 3.667),
        (TablesDraw(1, [2], "change-one"), 3.163),
        (TablesDraw(1, [5], "change-one"), 5.067),
        (TablesDraw(1, [30], "change-one"), 7.212),
        (TablesDraw(3, [30], "change-one"), 0.6666),
        (TablesDraw(1, [5] * 10), 75.33),
    ],
    ids=repr,
)
def test_the_variances_of_the_page(distribution, variance):
    """The table of proofs/theory/one-draw.md."""
    assert float(distribution.variance) == pytest.approx(variance, rel=5e-4)


@pytest.mark.parametrize(("sizes", "value"), [((2, 2), 12.65), ((2,) * 5, 64.2), ((2,) * 20, 1852), ((3,) * 5, 100.4)])
def test_all_one_way_tables_and_the_total(sizes, value):
    """The variances of one cell of each table, and of the total, added up."""
    distribution = TablesDraw(1, sizes)
    starts = [0, *accumulate(sizes)][:-1]
    cells = sum(
        float(distribution.variance_of([int(i == start) for i in range(distribution.size)])) for start in starts
    )
    assert cells + float(distribution.total_variance) == pytest.approx(value, rel=1e-3)


def test_margins():
    """Of the note; and the least that cover, in rationals."""
    assert TablesDraw(1, [5], "change-one").margin("0.95") == 5
    ten = TablesDraw(1, [2] * 10)
    assert (ten.margin("0.95"), ten.total_margin("0.95")) == (10, 13)
    assert (CellsDraw(1, 10, 5).margin("0.95"), CellsDraw(1, 10, 5, nonnegative=False).margin("0.95")) == (9, 11)
    for distribution in (CellsDraw(alpha=Q, cells=3, changed=2, sensitivity=2), TablesDraw(alpha=Q, sizes=[2, 3])):
        t = distribution.margin("9/10")
        assert distribution.tail(t) <= Fraction(1, 10) < distribution.tail(t - 1)
        assert distribution.margin(1 - distribution.tail(t)) == t


def test_what_other_distributions_cover():
    """One cell is a geometric or a staircase distribution; cells that one individual changes all are the cube's."""
    for epsilon in ("1/10", 1, 3):
        assert float(CellsDraw(epsilon).variance) == pytest.approx(float(Geometric(epsilon).variance()), rel=1e-12)
        stairs = DiscreteStaircase(level(epsilon), 5, step=2)
        assert float(CellsDraw(epsilon, 1, 1, 5, step=2).variance) == pytest.approx(float(stairs.variance()), rel=1e-9)
        cube = JointCells(epsilon, 3, 1)
        assert CellsDraw(epsilon, 3, 3, nonnegative=False).variance == pytest.approx(cube.variance, rel=1e-12)
    apart = CellsDraw(alpha=Q, cells=3)
    assert apart.variance == Geometric(alpha=Q).variance()
    assert apart.variance_of([1, 1, 1]) == 3 * Geometric(alpha=Q).variance()
    raised, replaced = (
        CellsDraw(alpha=Q, cells=4, neighbours="change-one"),
        TablesDraw(alpha=Q, sizes=[4], neighbours="change-one"),
    )
    for t in range(6):
        assert raised.tail(t) == replaced.tail(t)
    assert raised.variance_of([1, 2, 3, 4]) == replaced.variance_of([1, 2, 3, 4])
    halved = CellsDraw(1, 3, 2, neighbours="change-one", nonnegative=False)
    assert halved.variance == CellsDraw("1/2", 3, 2, nonnegative=False).variance


def test_extreme_levels_and_sizes():
    """Tiny and large levels, wide sensitivities, many cells: the limits of the page."""
    tiny = level("1/1000000")
    row = CellsDraw(tiny, 3, 3)
    assert float(row.variance) == pytest.approx(5 * 6 / 6 * 1e12, rel=1e-4)
    one = TablesDraw(tiny, [5], "change-one")
    assert float(one.variance) == pytest.approx(4 * 5 * 11 / (6 * 7) * 1e12, rel=1e-4)
    assert row.margin("0.95") > 10**6
    assert CellsDraw(50, 5, 3).margin("0.95") == TablesDraw(50, [2, 3]).margin("0.95") == 0
    wide = CellsDraw(1, 3, 2, 10**9, step=10**8)
    assert float(wide.variance) / 1e18 == pytest.approx(
        float(CellsDraw(1, 3, 2, 10**4, step=10**3).variance) / 1e8, rel=1e-3
    )
    assert TablesDraw(1, [100], "change-one").variance < Geometric("1/2").variance()


def test_a_table_that_adds_up_to_another_total_never_comes():
    assert TablesDraw(1, [2, 2]).pmf([1, 0, 0, 0]) == 0


@pytest.mark.parametrize("most", [3, 100, 8000, 8500, 10**6, 10**30])
def test_points_of_two_cells_under_a_sum_are_counted_in_short_and_in_long_columns(most):
    """Of the square all but a triangle, and the sum of a cell over it."""
    for over in (1, 2, most // 3, most - 1, most):
        t = 2 * most - over
        assert chunk_points(2, most, t) == most**2 - over * (over + 1) // 2
        # A first cell most - u has u + 1, u + 2, ... other cells too many: over - u, for u < over.
        first = sum((most - u) * (over - u) for u in range(over)) if most <= 100 else None
        if first is not None:
            assert chunk_points(2, most, t, (1,)) == most * most * (most + 1) // 2 - first


@pytest.mark.parametrize("exactly", [False, True])
@pytest.mark.parametrize(("size", "epsilon"), [(3, 1), (4, "1/2"), (6, 1)])
def test_tails_of_one_table_add_up_to_its_variance(size, epsilon, exactly):
    """At levels at which shells of all sizes matter; a series of too few shells has other tails."""
    distribution = TablesDraw(epsilon, [size], "change-one", exactly=exactly)
    squares = sum((2 * t + 1) * float(distribution.tail(t, 0)) for t in range(150))
    assert squares == pytest.approx(float(distribution.variance), rel=1e-12)


@pytest.mark.parametrize(("a", "most"), [(1, 4), (2, 5), (3, 3), (4, 2)])
def test_points_under_a_sum_with_a_large_first_cell_are_counted_out(a, most):
    points = list(product(range(1, most + 1), repeat=a))
    for in_total in range(a * most + 3):
        for least in range(1, most + 2):
            count = sum(sum(y) <= in_total and y[0] >= least for y in points)
            assert chunk_points_from(a, most, in_total, least) == count
