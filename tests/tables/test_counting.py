"""Counting people: one person changes no more than the unit says, whatever the events; every frame gives one table."""

import sys
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from counting_marks import pair_mark
from counting_words import counted_with
from utmost import Counting
from utmost.counting import cells_table, count_table
from utmost.errors import BadTable, KeyRefused, NotDeclared, OutOfRange, UtmostError, WrongKind
from utmost.privacy import Unit
from utmost.workloads import Domain, bins, hierarchy

KEY = bytes(range(32))
PAGES = Domain(page=[f"p{i}" for i in range(6)])
NASTY = ["x", "x\x1fy", "x|p0", "", "ä", "a\u0308", "\ud800", "0", "00", "-0", "p0", "x,y", "\x00", "𝔘" * 300]


def random_events(rng, persons=5, pages=8, events=25):
    return {
        "user": [f"u{i}" for i in rng.integers(0, persons, events)],
        "page": [f"p{i}" for i in rng.integers(0, pages, events)],
        "amount": rng.integers(-4, 9, events).tolist(),
    }


def without(events, person, column="user"):
    kept = [row for row, user in enumerate(events[column]) if user != person]
    return {name: [cells[row] for row in kept] for name, cells in events.items()}


def without_rows(events):
    return {name: [] for name in events}


def by_hand(events, places, at_most, low, high, values=None, key=KEY):
    """The definition, row by row: the second way to the same table."""
    sums = defaultdict(lambda: defaultdict(int))
    for row, person in enumerate(events["user"]):
        cell = places.get(str(events["page"][row]))
        if cell is not None:
            sums[str(person)][cell] += 1 if values is None else events[values][row]
    found = [0] * len(places)
    for person, cells in sums.items():
        clipped = {cell: min(high, max(low, total)) for cell, total in cells.items()}
        ranked = sorted((pair_mark(b"atom", key, person, cell), cell) for cell in clipped if clipped[cell])
        for _, cell in ranked[:at_most]:
            found[cell] += clipped[cell]
    return found


@pytest.mark.parametrize(
    ("sets", "largest_k", "largest_s"), [(80, 2, 2), pytest.param(1000, 4, 3, marks=pytest.mark.slow)]
)
def test_no_person_changes_more_than_the_unit_and_one_changes_as_much(sets, largest_k, largest_s):
    """For sets of events and every person in them: |change| is at most s in at most k cells, and both happen."""
    rng = np.random.default_rng(12)
    most = {}
    for trial in range(sets):
        k, s = int(rng.integers(1, largest_k + 1)), int(rng.integers(1, largest_s + 1))
        values = "amount" if trial % 2 else None
        per_cell = (-s, s - 1) if trial % 4 == 1 else s
        events = random_events(rng)
        say = {"person": "user", "domain": PAGES, "at_most": k, "per_cell": per_cell, "values": values, "key": KEY}
        full = counted_with(events, **say)
        assert full.unit == Unit(s, k, amount=values and {"name": values, "step": 1})
        for person in sorted(set(events["user"])):
            change = full.cells - counted_with(without(events, person), **say).cells
            reached = (int((change != 0).sum()), int(abs(change).max()))
            assert reached[0] <= k
            assert reached[1] <= s
            seen = most.setdefault((k, s), [0, 0, 0])
            most[k, s] = [*map(max, seen[:2], reached), max(seen[2], int(abs(change).sum()))]
    for (k, s), reached in most.items():
        assert reached == [k, s, k * s], (k, s)


@pytest.mark.parametrize(("low", "high", "values"), [(0, 2, None), (0, 5, "amount"), (-3, 2, "amount"), (2, 4, None)])
def test_it_is_what_the_definition_says(low, high, values):
    rng = np.random.default_rng(3)
    places = {f"p{i}": i for i in range(6)}
    for k in (1, 2, 3, 99):
        events = random_events(rng, events=120)
        say = {"person": "user", "domain": PAGES, "values": values, "key": KEY}
        found = counted_with(events, at_most=k, per_cell=(low, high), **say)
        assert found.cells.tolist() == by_hand(events, places, k, low, high, values)
        assert found.unit == Unit(max(abs(low), high), min(k, 6), amount=values and {"name": values, "step": 1})


def test_what_adds_nothing_takes_no_place():
    """A cell whose sum is 0 is not among those kept, so that it puts no other out."""
    events = {"user": ["a"] * 7, "page": [f"p{i}" for i in range(6)] + ["p9"], "amount": [0, -1, 0, 4, 0, -7, 1]}
    for key in (b"1" * 16, b"2" * 16, b"3" * 16):
        found = count_table(events, PAGES, Counting("user", at_most=1, key=key), measure=ut.sum("amount", per_cell=5))
        assert found.cells.tolist() == [0, 0, 0, 4, 0, 0]


def test_names_of_all_kinds_are_persons_of_their_own():
    names = [name for name in NASTY if name]
    events = {"user": names * 6, "page": [f"p{i}" for i in range(6) for _ in names]}
    found = count_table(events, PAGES, Counting("user", at_most=2, key=KEY))
    assert found.cells.sum() == 2 * len(names)


def test_the_same_key_keeps_the_same():
    events = random_events(np.random.default_rng(7), events=400)
    say = {"person": "user", "domain": PAGES, "at_most": 2}
    first = counted_with(events, key=KEY, **say).cells.tolist()
    backwards = {name: cells[::-1] for name, cells in events.items()}
    assert counted_with(backwards, key=KEY, **say).cells.tolist() == first
    assert any(counted_with(events, **say).cells.tolist() != first for _ in range(20))


def test_each_cell_of_a_person_is_kept_equally_often():
    """Over keys and over persons the choice is uniform: 2 of 6, each with frequency 1/3 (five standard deviations)."""
    for persons, times in ((1, 300), (100, 5)):
        pages = [f"p{i}" for i in range(6)] * persons
        events = {"user": [f"u{number // 6}" for number in range(6 * persons)], "page": pages}
        keys = (number.to_bytes(16, "big") for number in range(times))
        total = sum(count_table(events, PAGES, Counting("user", at_most=2, key=key)).cells for key in keys)
        assert abs(total - times * persons / 3).max() < 5 * (times * persons * 2 / 9) ** 0.5


@pytest.mark.parametrize(
    "made",
    [lambda cells: cells, pl.Series, partial(pd.Series, dtype="Int64"), partial(pd.array, dtype="Int64"), pa.array],
)
def test_columns_of_nullable_integers_are_what_the_frame_of_them_is(made):
    """NumPy makes floats of integers beside a missing one; the columns of a dict are read as they are."""
    events = {"user": made([1, 2, 2]), "page": made([7, None, 8])}
    counted = count_table(events, Domain(page=[7, 8]), Counting("user", at_most=2))
    assert counted.cells.tolist() == [1, 1]


def test_a_dict_is_counted_without_the_extras(monkeypatch):
    """A core installation has neither narwhals nor pyarrow."""
    for name in ("narwhals", "narwhals.stable.v2", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    found = count_table({"user": ["a", "b"], "page": ["p0", "p0"]}, PAGES, Counting("user", at_most=1))
    assert found.table("page")["count"].tolist() == [2, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_table_is_of_the_kind_of_the_events(kind):
    events = kind({"user": ["a"], "page": ["p3"]})
    assert type(count_table(events, PAGES, Counting("user", at_most=1)).table("page")) is type(events)


def test_integers_and_text_are_one_person_and_one_value():
    events = {"user": [7, "7", np.int64(7), 8, "07"], "year": [2024, "2024", np.int32(2024), 2025, "2025"]}
    domain = Domain(year=[2024, "2025"])
    found = count_table(events, domain, Counting("user", at_most=2), measure=ut.count(1))
    assert found.cells.tolist() == [1, 2]


def test_bins_read_every_number_as_it_prints():
    """0.3 is in [0.3, 0.4), though the float lies below 3/10; integers, decimals and text go where they belong;
    a fraction of two integers may be a date, and is no number."""
    domain = Domain(share=bins(0, 1, width="1/10", other="outside"))
    cells = [0.3, Decimal("0.3"), "0.3", "3/10", 0.7, 0.1 + 0.2, 1, 1.0, float("nan"), None, -0.0, "x", 10**400]
    places = [3, 3, 3, 10, 7, 3, 10, 10, 10, 10, 0, 10, 10]
    for row, place in enumerate(places):
        one = count_table({"user": ["a"], "share": [cells[row]]}, domain, Counting("user", at_most=1))
        assert one.cells.argmax() == place == domain.axes[0].place(cells[row]), cells[row]
    floats = np.array([0.3, 0.7, 0.1 + 0.2, 1.0, np.nan, -0.0, np.inf, -np.inf, np.nextafter(0.3, 0)])
    user = np.arange(len(floats))
    found = count_table({"user": user, "share": floats}, domain, Counting("user", at_most=1))
    assert found.cells.tolist() == [1, 0, 1, 2, 0, 0, 0, 1, 0, 0, 4]


@pytest.mark.parametrize("width", ["1/3", "1/7", "1/10", "3", "1e-9"])
def test_columns_of_floats_and_of_integers_go_where_single_numbers_go(width):
    """Next to every edge, a float is read as the decimal it prints: comparing with float(edge) would be wrong."""
    axis = bins(-2 * Fraction(width), 5 * Fraction(width), width=width, other="outside")
    floats = [float(edge) for edge in axis.edges]
    floats += [float(np.nextafter(edge, way)) for edge in floats for way in (-9, 9)]
    whole = list(range(-8, 18))
    for column in (
        np.array(floats),
        np.array(floats, dtype=object),
        np.array(whole),
        pa.array(floats),
        pa.array(whole),
    ):
        events = {"row": list(range(len(column))), "share": column}
        counted = count_table(events, Domain(row=range(len(column)), share=axis), Counting(each_row=True))
        assert counted.cells.argmax(axis=1).tolist() == [axis.place(cell) for cell in column.tolist()]


def test_a_tree_is_counted_by_its_finest_level():
    place = hierarchy({"N": ["N1", "N2"], "S": ["S1"]}, names=["region", "district"], other="abroad")
    domain = Domain(place=place, page=["p0", "p1"])
    events = {"user": list("abcd"), "district": ["N2", "S1", "X", None], "page": ["p0"] * 4}
    found = count_table(events, domain, Counting("user", at_most=1), by=["page", "district"])
    assert found.domain.columns == ("page", "district")
    assert found.cells.tolist() == [[0, 1, 1, 2], [0, 0, 0, 0]]
    assert found.table("region")["count"].tolist() == [1, 1, 2]


HUGE = 2**63 - 1


def test_huge_amounts_are_summed_exactly():
    events = {"user": ["a"] * 4 + ["b"], "page": ["p0"] * 4 + ["p1"], "amount": [HUGE, HUGE, HUGE, -HUGE, 10**40]}
    for at in (1, HUGE, 10**30, 10**50):
        found = count_table(events, PAGES, Counting("user", at_most=1), measure=ut.sum("amount", per_cell=at))
        assert found.cells.tolist() == [min(at, 2 * HUGE), min(at, 10**40), 0, 0, 0, 0]
        assert found.unit.sensitivity == at
    wide = {name: np.array(cells[:4]) for name, cells in events.items()}
    for frame in (wide, pd.DataFrame(wide), pl.DataFrame(wide), pa.table(wide)):
        found = count_table(frame, PAGES, Counting("user", at_most=1), measure=ut.sum("amount", per_cell=(-1, 2**64)))
        assert found.cells[0] == 2 * HUGE


def test_nobody_at_all():
    for frame in (
        {"user": [], "page": []},
        pd.DataFrame({"user": [], "page": []}, dtype=str),
        pl.LazyFrame({"user": [], "page": []}),
    ):
        found = count_table(frame, PAGES, Counting("user", at_most=9))
        assert found.cells.tolist() == [0] * 6
        assert found.unit == Unit(1, 6)


def test_parts_share_nobody():
    """Each person changes one part only, in at most k cells of it; over 20 sets of events, every person."""
    rng = np.random.default_rng(6)
    say = {
        "person": "user",
        "domain": PAGES,
        "at_most": 2,
        "per_cell": 2,
        "part": {"land": ["A", "B", "C"]},
        "key": KEY,
    }
    for _ in range(20):
        events = random_events(rng) | {"land": list(rng.choice(list("ABCD"), 25))}
        full = counted_with(events, **say)
        assert list(full) == ["A", "B", "C"]
        assert len({table.part[0] for table in full.values()}) == 1
        assert [table.part[1] for table in full.values()] == ["A", "B", "C"]
        for person in sorted(set(events["user"])):
            rest = counted_with(without(events, person), **say)
            changes = [full[label].cells - rest[label].cells for label in full]
            assert sum(change.any() for change in changes) <= 1
            assert max((change != 0).sum() for change in changes) <= 2
            assert max(abs(change).max() for change in changes) <= 2
            own = [row for row, user in enumerate(events["user"]) if user == person and events["page"][row] < "p6"]
            held = {label: len({events["page"][row] for row in own if events["land"][row] == label}) for label in full}
            for label, change in zip(full, changes, strict=True):
                assert not change.any() or np.count_nonzero(change) == min(2, held[label])
        assert full["A"].unit == Unit(2, 2)
    assert not any(table.cells.any() for table in counted_with(without_rows(events), **say).values())


@pytest.mark.parametrize("order", [("kind", "x", "y"), ("x", "kind", "y"), ("x", "y", "kind")])
def test_rows_are_kept_whole_wherever_their_axis_stands(order):
    """Of each person two rows, or all where there are fewer, and in them both cells as they were."""
    rng, labels = np.random.default_rng(5), {"kind": ["a", "b"], "x": ["1", "2", "3"], "y": ["4", "5"]}
    events = {name: rng.choice(labels[name], 90).tolist() for name in order}
    events["who"] = [f"p{at}" for at in np.sort(rng.integers(0, 25, 90))]
    domain = Domain({name: labels[name] for name in order})
    words = {"person": "who", "domain": domain, "at_most": 4, "per_cell": 2, "together": "kind", "key": KEY}
    whole, fewer = counted_with(events, **words), 0
    for person in dict.fromkeys(events["who"]):
        cells = np.zeros(domain.shape, dtype=int)
        for who, *cell in zip(events["who"], *(events[name] for name in order), strict=True):
            if who == person:
                cells[tuple(labels[name].index(label) for name, label in zip(order, cell, strict=True))] += 1
        rows = np.moveaxis(np.minimum(cells, 2), order.index("kind"), -1).reshape(-1, 2)
        change = whole.cells - counted_with(without(events, person, "who"), **words).cells
        kept = np.moveaxis(change, order.index("kind"), -1).reshape(-1, 2)
        is_kept, held = kept.any(axis=1), np.count_nonzero(rows.any(axis=1))
        assert (kept[is_kept] == rows[is_kept]).all()
        assert np.count_nonzero(is_kept) == min(2, held)
        fewer += held > 2
    assert fewer > 5


def test_a_part_is_an_axis_of_the_domain_or_listed():
    events = {"user": list("aabb"), "page": ["p0"] * 4, "land": ["A", "B", "B", "B"]}
    domain = Domain(page=PAGES.axes[0], land=["A", "B"])
    by_axis = count_table(events, domain, Counting("user", at_most=1, key=KEY), part="land")
    listed = count_table(events, PAGES, Counting("user", at_most=1, key=KEY), part={"land": ["A", "B"]})
    assert by_axis["A"].domain.columns == ("page",)
    assert all((by_axis[label].cells == listed[label].cells).all() for label in "AB")
    assert by_axis["A"].part[0] != listed["A"].part[0]
    alone = count_table(events, Domain(land=["A", "B"]), Counting("user", at_most=1, key=KEY), part="land")
    assert sum(table.cells[0] for table in alone.values()) == 2
    assert alone["B"].domain.facts() == {"land": ["B"]}
    with pytest.raises(NotDeclared, match=r"^part"):
        count_table(events, PAGES, Counting("user", at_most=1), part="land")


SECRET = "9876543"
BAD = {
    "a person is missing": ({"user": [SECRET, None]}, "must name its person"),
    "a person without a name": ({"user": [SECRET, ""]}, "must name its person"),
    "a person of spaces": ({"user": [SECRET, " \t"]}, "must name its person"),
    "a number that signals": ({"user": [SECRET, Decimal("sNaN")]}, "must name its person"),
    "a tuple of lists": ({"user": [SECRET, ([SECRET],)]}, "text or integers; got a nested cell"),
    "more digits than can be written": ({"user": [SECRET, 10**5000]}, "text or integers; got an integer of thousands"),
    "an axis of tuples": ({"page": ["p0", ([SECRET],)]}, "text or integers; got a nested cell"),
    "a person that is not a number": ({"user": [1.5, float("nan")]}, "must name its person"),
    "a float": ({"user": [9876543.0, 2.0]}, "text or integers; got a number with a point"),
    "a truth value": ({"user": [True, False]}, "text or integers; got a truth value"),
    "a date": ({"user": list(np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"))}, "text or integers"),
    "an axis of floats": ({"page": [9876543.0, 1.0]}, "text or integers; got a number with a point"),
    "an axis of truth values": ({"page": [True, False]}, "text or integers; got a truth value"),
    "a list": ({"page": [[SECRET], ["p0"]]}, "text or integers"),
    "an amount that is missing": ({"amount": [1, None]}, "row 2, column 'amount'"),
    "an amount with a fraction": ({"amount": [9876543, 9876543.5]}, "row 2, column 'amount'"),
    "an amount in words": ({"amount": [1, f"{SECRET}x"]}, "row 2, column 'amount'"),
}


@pytest.mark.parametrize(("change", "said"), BAD.values(), ids=BAD)
def test_bad_events_are_refused_and_never_quoted(change, said):
    events = {"user": [SECRET, "b"], "page": [SECRET, "p0"], "amount": [1, 2]} | change
    with pytest.raises(BadTable, match=said) as caught:
        count_table(events, PAGES, Counting("user", at_most=1), measure=ut.sum("amount"))
    assert SECRET not in str(caught.value)
    assert caught.value.remedy


def test_what_lies_outside_is_dropped_and_missing_values_too():
    nothing = [None, float("nan"), np.float32("nan"), Decimal("NaN"), "", " "]
    events = {"user": list("abcdefgh"), "page": ["p0", "elsewhere", *nothing]}
    assert count_table(events, PAGES, Counting("user", at_most=1)).cells.sum() == 1


def test_a_blank_label_is_refused_since_no_cell_would_be_counted_there():
    with pytest.raises(OutOfRange, match="blank"):
        count_table({"user": ["a"], "page": [" "]}, Domain(page=["p0", " "]), Counting("user", at_most=1))


WRONG = {
    "no domain": ({"domain": None}, NotDeclared, "count_keys"),
    "columns without a domain": ({"domain": None, "by": ["page"]}, NotDeclared, "count_keys"),
    "a column that is no axis": ({"by": ["amount"]}, NotDeclared, "The domain declares 'page'"),
    "an axis twice": ({"by": ["page", "page"]}, OutOfRange, "no axis twice"),
    "no axis": ({"by": []}, OutOfRange, "at least one axis"),
    "nobody": ({"at_most": 0}, OutOfRange, "at_most must be at least 1"),
    "nothing": ({"per_cell": 0}, OutOfRange, "must be a positive number, or a pair"),
    "ends that cross": ({"per_cell": (3, 2)}, OutOfRange, "must be a positive number, or a pair"),
    "three ends": ({"per_cell": (1, 2, 3)}, OutOfRange, "3 numbers"),
    "half an event": ({"per_cell": 0.5}, UtmostError, "per_cell"),
    "persons as an axis": ({"person": "page"}, OutOfRange, "must be different columns"),
    "persons as values": ({"values": "user"}, OutOfRange, "must be different columns"),
    "an unknown relation": ({"neighbours": "both"}, OutOfRange, "neighbours must be"),
    "a number for a person": ({"person": 3}, WrongKind, "person"),
    "a key file that is not there": ({"key": "secret"}, KeyRefused, "key file"),
    "no table": ({"events": 3}, BadTable, "a dict of columns, a list of dicts or a dataframe"),
}


@pytest.mark.parametrize(("change", "kind", "said"), WRONG.values(), ids=WRONG)
def test_wrong_questions_are_refused(change, kind, said):
    events = {"user": ["a"], "page": ["p0"], "amount": [1]}
    with pytest.raises(kind, match=said):
        counted_with(**{"events": events, "person": "user", "domain": PAGES, "at_most": 1} | change)


EVENTS = {"user": ["a", "a", "b"], "page": ["p0", "p1", "p0"]}


def test_a_release_takes_the_unit_that_was_proved():
    counted = count_table(EVENTS, PAGES, Counting("user", at_most=2), measure=ut.count(3))
    release = ut.release(counted, ut.Promise.of_counted(counted), epsilon=1, once=True)
    assert release.unit == counted.unit == Unit(3, 2)
    assert (release.columns, release.public, release.promise.rows) == (("count",), ("page",), "declared")
    assert list(release.table) == ["page", "count", "count_margin"]
    larger = ut.release(
        counted, ut.Promise.of_counted(counted, "views", unit=Unit(3, 4, "change-one")), epsilon=1, once=True
    )
    assert larger.unit == Unit(3, 4, "change-one")
    silent = ut.release(counted, ut.Promise.of_counted(counted, unit=Unit(3, 6)), epsilon=400, once=True)
    assert silent.table["count"].tolist() == [2, 1, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "smaller",
    [Unit(3, 1), Unit(2, 6), Unit(3, 2)],
)
def test_a_smaller_unit_is_refused(smaller):
    counted = count_table(EVENTS, PAGES, Counting("user", at_most=2, neighbours="change-one"), measure=ut.count(3))
    with pytest.raises(OutOfRange, match="proved"):
        ut.release(counted, ut.Promise.of_counted(counted, unit=smaller), epsilon=1, once=True)


def test_labels_that_happen_to_be_the_counts_are_labels():
    """Declared labels are public whatever the counts are: a refusal would tell of people."""
    counted = count_table({"user": ["a"], "n": [0]}, Domain(n=[1, 0]), Counting("user", at_most=1))
    assert counted.cells.tolist() == [0, 1]
    same = count_table({"user": ["a"], "n": [1]}, Domain(n=[1, 0]), Counting("user", at_most=1))
    assert ut.release(same, ut.Promise.of_counted(same), epsilon=400, once=True).table["count"].tolist() == [1, 0]


NESTED = Domain(ward=["A", "B"], outcome=["admitted", "rejected"])


def test_nested_columns_are_an_axis():
    table = {"ward": ["B", "A"], "applicants": [10, 7], "admitted": [4, 7]}
    found = cells_table(table, NESTED, nested={"outcome": ["admitted", "applicants"]}, unit=Unit(1, 1))
    assert found.cells.tolist() == [[7, 0], [4, 6]]
    assert found.table("ward")["count"].tolist() == [7, 10]
    swapped = Domain(outcome=["admitted", "rejected"], ward=["A", "B"])
    again = cells_table(pl.DataFrame(table), swapped, nested={"outcome": ["admitted", "applicants"]}, unit=Unit(1, 1))
    assert again.cells.T.tolist() == found.cells.tolist()


def test_a_table_of_cells_is_read_and_its_gaps_are_zeros():
    table = {"ward": ["B", "A"], "outcome": ["admitted", "rejected"], "n": [10**30, 7]}
    assert cells_table(table, NESTED, counts="n", unit=Unit(1, 1)).cells.tolist() == [[0, 7], [10**30, 0]]


BAD_CELLS = {
    "more admitted than applied": ({"admitted": [4, 9876543]}, "row 2.*admitted|applicants must be at least admitted"),
    "fewer than none": ({"admitted": [4, -9876543]}, "admitted must be at least 0"),
    "a cell twice": ({"ward": ["A", "A"]}, "two rows for one cell"),
    "a ward that is not declared": (
        {"ward": ["A", "9876543"]},
        "row 2.*the domain must contain the values of every row",
    ),
    "no integer": ({"applicants": [10, "9876543x"]}, "row 2.*must be an integer"),
}


@pytest.mark.parametrize(("change", "said"), BAD_CELLS.values(), ids=BAD_CELLS)
def test_bad_tables_of_cells_are_refused(change, said):
    table = {"ward": ["B", "A"], "applicants": [10, 7], "admitted": [4, 7]} | change
    with pytest.raises(BadTable, match=said) as caught:
        cells_table(table, NESTED, nested={"outcome": ["admitted", "applicants"]}, unit=Unit(1, 1))
    assert "9876543" not in str(caught.value)


def test_which_columns_count_is_said_once_and_in_full():
    table = {"ward": ["A"], "outcome": ["admitted"], "n": [1], "m": [2]}
    for said in ({}, {"counts": "n", "nested": {"outcome": ["n", "m"]}}, {"nested": {"outcome": ["n"]}}):
        with pytest.raises(OutOfRange):
            cells_table(table, NESTED, unit=Unit(1, 1), **said)
    with pytest.raises(NotDeclared):
        cells_table(table, NESTED, unit=Unit(1, 1), nested={"sex": ["n", "m"]})
    with pytest.raises(BadTable, match="no column"):
        cells_table(table, NESTED, unit=Unit(1, 1), counts="k")


def test_two_tables_of_2_to_61_cells_are_counted_by_other_numbers_than_one():
    """A number of 62 bits names a cell of any of them: of 2^61 cells there is one table, and two by a hash of each."""
    sizes = dict(zip("abcdef", (10, 10, 10, 10, 10, 11), strict=True))
    domain = Domain({axis: range(1 << size) for axis, size in sizes.items()})
    events = {"user": ["Ada"], **{axis: [1] for axis in sizes}}
    words = {"person": "user", "domain": domain, "key": KEY}
    assert counted_with(events, at_most=1, **words).cells.numbers.tolist() == [1]
    both = counted_with(events, at_most=1, measures={"once": ut.count(), "again": ut.count()}, **words)
    assert [table.cells.places.tolist() for table in both.values()] == [[[1]] * 6] * 2


@pytest.mark.parametrize("key", [b"", b"short", bytes(15)])
def test_a_key_that_others_could_guess_is_refused(tmp_path, key):
    """A key file that was cut off, or /dev/null: anybody would know which cells of a person are kept."""
    with pytest.raises(OutOfRange, match=r"token_bytes\(32\)"):
        Counting("user", at_most=1, key=key)
    (tmp_path / "count.key").write_bytes(key)
    with pytest.raises(KeyRefused, match="head -c 32"):
        count_table(EVENTS, PAGES, Counting("user", at_most=1, key=tmp_path / "count.key"))


def test_a_key_file_that_may_never_end_is_refused(tmp_path):
    """--count-key /dev/urandom filled the memory; and a file of data given by mistake is not to be written over."""
    (tmp_path / "events.csv").write_bytes(bytes((1 << 20) + 1))
    with pytest.raises(KeyRefused, match="got more") as error:
        count_table(EVENTS, PAGES, Counting("user", at_most=1, key=tmp_path / "events.csv"))
    assert "events.csv" not in error.value.remedy
