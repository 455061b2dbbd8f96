"""Contributions: each person in the one cell that says which bound suffices, and nobody else's cell moves."""

import random
from collections import Counter
from decimal import Decimal

import pytest

import utmost as ut
from counting_words import contributions_with
from utmost import Counting
from utmost.counting import count_contributions, count_table
from utmost.errors import BadTable, NotDeclared, NothingCounted, OutOfRange, WrongKind
from utmost.privacy import Unit
from utmost.workloads import Domain, bins

MORE = "more"
"""The cell of persons whom no bound leaves whole."""

PAGES = Domain(page=list("abcd"), hour=bins(3))


def frame(rows):
    return {name: [row[at] for row in rows] for at, name in enumerate(("who", "page", "hour", "paid"))}


def events(seed, size=60, persons=7):
    draw = random.Random(seed)
    return [
        (
            draw.randrange(persons),
            draw.choice("abcdX"),
            draw.randrange(4),
            draw.choice([-7, -1, 0, 0, 1, 2, 9, 1 << 61]),
        )
        for _ in range(size)
    ]


def contributions(rows, **words):
    return contributions_with(frame(rows), person="who", domain=PAGES, **words)


def cells_of(table):
    return dict(zip(table.domain.axes[0].labels[0], table.cells.tolist(), strict=True))


def needed(rows, who):
    """What a person needs, another way: sums by cell in a dict."""
    sums, cells = Counter(), set()
    for person, page, hour, paid in rows:
        if person == who and page != "X" and hour < 3:
            cells.add((page, hour))
            sums[page, hour] += paid
    return len(cells), max(map(abs, sums.values()), default=0)


def least(bounds, size):
    return next((bound for bound in bounds if size <= bound), MORE)


@pytest.mark.parametrize("seed", range(4))
def test_each_person_is_in_the_cell_of_the_least_bound_that_cuts_nothing(seed):
    rows, bounds, amounts = events(seed), [1, 2, 4, 7], [1, 3, 9, 1 << 61]
    sizes = [needed(rows, who) for who in range(7)]
    counted = cells_of(contributions(rows, at_most=bounds))
    assert {label: count for label, count in counted.items() if count} == Counter(
        least(bounds, cells) for cells, _ in sizes if cells
    )
    summed = cells_of(contributions(rows, per_cell=amounts, values="paid"))
    assert {label: count for label, count in summed.items() if count} == Counter(
        least(amounts, largest) for _, largest in sizes if largest
    )


def test_nothing_of_anybody_is_cut():
    report = contributions(events(3), at_most=[1, 2]).report
    assert (report.removed, report.clipped_sums) == (0, 0)


@pytest.mark.parametrize(
    "words", [{"at_most": [1, 3]}, {"per_cell": [2, 8], "values": "paid"}, {"per_cell": range(1, 3)}]
)
def test_without_a_person_one_cell_is_one_less_and_no_other_moves(words):
    """Brute force over all neighbours of small tables: what the unit says, attained."""
    for seed in range(6):
        rows = events(seed, size=25, persons=4)
        whole = contributions(rows, **words)
        assert whole.unit == Unit(1, 1)
        for who in range(4):
            less = contributions([row for row in rows if row[0] != who], **words)
            changes = (whole.cells - less.cells).tolist()
            assert set(changes) <= {0, 1}
            assert sum(changes) == bool(needed(rows, who)[1 if "values" in words else 0])


def test_under_change_one_nobody_lowers_a_cell():
    table = contributions(events(3), at_most=[1, 2], neighbours="change-one")
    assert table.unit == Unit(1, 1, "change-one", nonnegative=True)


def test_the_bound_that_cuts_nothing_cuts_nothing_and_the_one_before_does():
    """With the least bound of the fullest person `count_table` drops no cell; with one less it drops one at least."""
    rows = events(5, size=200)
    counts = cells_of(contributions(rows, at_most=range(1, 13)))
    enough = max(bound for bound, count in counts.items() if count and bound != MORE)
    dropped = [
        count_table(frame(rows), PAGES, Counting("who", at_most=bound)).report.removed for bound in (enough, enough - 1)
    ]
    assert dropped == [0, counts[enough]]


def test_amounts_have_bounds_in_their_own_unit():
    sales = {"who": ["ann", "ann", "bob", "cem"], "page": list("aaab"), "hour": [0, 0, 0, 1]}
    sales["paid"] = [Decimal("9.995"), Decimal(3), Decimal("-0.2"), Decimal(5000)]
    table = count_contributions(
        sales,
        PAGES,
        Counting("who"),
        "per_cell",
        ["0.2", "12.99", 100],
        measure=ut.sum("paid", step="0.01", each=(-1, 1000)),
    )
    assert cells_of(table) == {"0.2": 1, "12.99": 0, 100: 1, MORE: 1}
    assert table.unit == Unit(1, 1)
    assert table.column == "count"


def test_by_takes_fewer_axes_and_nobody_is_an_empty_table():
    rows = [("ann", "a", hour, 1) for hour in range(3)]
    assert cells_of(contributions(rows, at_most=[1, 2], by="page")) == {1: 1, 2: 0, MORE: 0}
    assert cells_of(contributions([], at_most=[1])) == {1: 0, MORE: 0}
    with pytest.warns(NothingCounted):
        contributions([("ann", "X", 1, 1)], at_most=[1])


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ({"at_most": [1], "values": "paid"}, OutOfRange),
        ({"at_most": []}, OutOfRange),
        ({"at_most": [0, 1]}, OutOfRange),
        ({"at_most": [2, 2]}, OutOfRange),
        ({"at_most": [3, 2]}, OutOfRange),
        ({"per_cell": []}, OutOfRange),
        ({"per_cell": ["0.5"], "values": "paid"}, OutOfRange),
        ({"at_most": 3}, WrongKind),
        ({"at_most": "12"}, WrongKind),
        ({"at_most": [1], "by": "week"}, NotDeclared),
    ],
)
def test_bounds_that_are_none_are_refused(words, error):
    with pytest.raises(error):
        contributions(events(1), **words)
    with pytest.raises(NotDeclared):
        count_contributions(frame(events(1)), None, Counting("who"), "at_most", [1])
    with pytest.raises(BadTable):
        contributions([(None, "a", 1, 1)], at_most=[1])


def test_a_join_with_a_public_table_keeps_the_unit_however_many_rows_match():
    """All neighbours of small tables, joined with a public table that has two, one or no rows for a key."""
    public, kinds = [("a", "north"), ("a", "south"), ("b", "north")], Domain(kind=["north", "south"])

    def counted(rows):
        joined = [(who, kind) for who, page, *_ in rows for key, kind in public if key == page]
        table = {"who": [who for who, _ in joined], "kind": [kind for _, kind in joined]}
        return count_table(table, kinds, Counting("who", at_most=1, key=b"k" * 16), measure=ut.count(2))

    largest = 0
    for seed in range(12):
        rows = events(seed, size=12, persons=3)
        for who in range(3):
            changed = counted(rows).cells - counted([row for row in rows if row[0] != who]).cells
            assert (changed != 0).sum() <= 1
            largest = max(largest, abs(changed).max())
    assert largest == 2
