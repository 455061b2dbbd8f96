"""Which signed rows are found for a few cells: their figures, beside brute force, and groups of more cells."""

from itertools import product

import pytest

from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, choose_plan, ways_together


def signed(cells, epsilon):
    """The way by signed rows, or for two cells by their sum and difference."""
    ways = ways_together(level(epsilon), Unit(1, cells, nonnegative=True), relaxable=True)
    return next(way for way in ways if way.kind == ("rotated" if cells == 2 else "signed"))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (2, {"1/10": 399.92, 1: 3.918, 3: 0.3697}),
        (3, {"1/10": 657.6, 1: 6.440, 3: 0.6067}),
        (4, {"1/10": 1270.98, 1: 12.648, 3: 1.3522}),
        (5, {"1/10": 1599.87, 1: 15.868, 3: 1.6532}),
    ],
)
def test_the_variance_of_a_cell_at_three_levels(cells, expected):
    """The table of proofs/theory/cells-together.md; for five cells 15.87, where two groups have 20.5."""
    for epsilon, variance in expected.items():
        (distribution,) = signed(cells, epsilon).distributions
        assert float(distribution.variance) == pytest.approx(variance, rel=2e-4)
        assert cells == 2 or distribution.charge == 1


def test_more_than_five_cells_are_taken_in_groups_whose_shares_add_up():
    """Seven are one cell and three pairs, at 33.58 where a group of two and one of five have 35.75; four are one."""
    eight = signed(8, 1)
    assert (sum(eight.groups), sum(eight.shares), eight.cells) == (8, 1, 8)
    seven = signed(7, 1)
    assert (seven.groups, seven.shares) == ((7,), (1,))
    assert float(seven.distributions[0].variance) == pytest.approx(33.584, rel=1e-4)
    assert signed(4, 3).groups == (4,)


def test_the_least_noise_of_three_counts_is_of_the_range_and_signed_where_it_is_to_be_relaxed():
    """Where nobody lowers a cell; where somebody may, the joint noise, and the pair where it is to be relaxed."""
    counts, amounts = Unit(1, 3, nonnegative=True), Unit(1, 3)
    for epsilon in ("1/10", 1):
        assert ways_together(level(epsilon), counts)[0].kind == "range"
        assert ways_together(level(epsilon), counts, relaxable=True)[0].kind == "signed"
        assert ways_together(level(epsilon), amounts)[0].kind == "joint"
        assert ways_together(level(epsilon), amounts, relaxable=True)[0].kind == "rotated"
    assert "signed" not in {way.kind for way in ways_together(level(1), Unit(1, 2, nonnegative=True))}
    with pytest.raises(OutOfRange, match="cost"):
        ways_together(level(1), counts, cost="cubed")


@pytest.mark.parametrize("s", [1, 2])
def test_a_record_that_moves_to_another_row_loses_no_more_than_the_level(s):
    """By enumeration: each row has its own draw, one falls by s in both cells and the other rises."""
    stated, unit = level(alpha="1/4"), Unit(s, 2, "change-one", nonnegative=True)
    draws = {way.kind: way.distributions[0] for way in ways_together(stated, unit)}
    for kind in draws.keys() & {"range", "two-sided", "staircase"}:
        pmf, cells = draws[kind].pmf, list(product(range(-4, 5), repeat=2))
        left = max(pmf([x, y]) / pmf([x + s, y + s]) for x, y in cells)
        entered = max(pmf([x, y]) / pmf([x - s, y - s]) for x, y in cells)
        assert left * entered <= 1 / stated.alpha_fraction()
    if s == 2:
        assert "two-sided" in draws


def test_wide_cells_have_a_staircase_with_its_step():
    """Sensitivity above 1: at epsilon 3 a ninth less than by every unit, 22 % by the range, 26 % by both parts."""
    sizes = {way.kind: way.mean_size / 20 for way in ways_together(level(3), Unit(20, 2, nonnegative=True))}
    expected = {
        "two-sided": 0.369,
        "range": 0.390,
        "staircase": 0.439,
        "joint": 0.5,
        "rotated": 0.5,
        "independent": 0.608,
    }
    assert {kind: round(size, 3) for kind, size in sizes.items()} == expected
    assert "range" not in {way.kind for way in ways_together(level(3), Unit(20, 2))}


@pytest.mark.parametrize(("epsilon", "s"), [("1e-45", 10**40), (700, 1)])
def test_levels_at_both_ends_have_a_least_noise(epsilon, s):
    """Down to where sums have no error bars, and up to where precisions leave the floats."""
    ways = ways_together(level(epsilon), Unit(s, 3, nonnegative=True))
    assert ways[0].kind in ("range", "two-sided")
    assert all(way.mean_size >= 0 for way in ways)


@pytest.mark.parametrize("epsilon", [1, 200])
def test_a_total_alone_of_columns_that_change_together(epsilon):
    """All of the level goes to one row: the precisions of the others are lost in floats, and no error comes of it."""
    domain = Domain(shop=[1, 2], quarter=["q1", "q2", "q3", "q4"])
    unit = Unit(1, 4, nonnegative=True)
    chosen = choose_plan(Workload(domain, {"": 1}), unit, epsilon=epsilon, together="quarter")
    assert 0 < chosen.value <= choose_plan(Workload(domain, {"": 1}), unit, epsilon=epsilon).value
