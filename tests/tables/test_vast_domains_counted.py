"""Domains of more cells than numbers are counted: as smaller ones are, in parts, for persons, through every door."""

import numpy as np
import pytest

import utmost as ut
from counting_words import counted_with
from utmost import Counting
from utmost.counting import count_table
from utmost.errors import OutOfRange, Unsupported

# Numbers of cells run out at 2^62, and clash where there are few bits: both are set low inside.
from utmost.publish.counting import counting_rule
from utmost.publish.counting.numbered_cells import NumberedCells
from utmost.tables.axes.few_cells import FewCells
from utmost.workloads import Domain, Plan

KEY = bytes(range(32))
DOMAIN = Domain(a=["x", "y", "z"], b=range(4), c=["u", "v"])


def events(rows=400, persons=60, seed=1):
    draw = np.random.default_rng(seed)
    return {
        "who": [f"p{at}" for at in draw.integers(0, persons, rows)],
        "a": draw.choice(["x", "y", "z", "elsewhere"], rows).tolist(),
        "b": draw.integers(0, 4, rows).tolist(),
        "c": draw.choice(["u", "v"], rows).tolist(),
        "paid": draw.integers(0, 9, rows).tolist(),
    }


def laid(table):
    """The cells of a table in an array."""
    if isinstance(table.cells, np.ndarray):
        return table.cells.tolist()
    whole = np.zeros(table.domain.shape, dtype=np.int64)
    whole[tuple(table.cells.places.astype(np.int64))] = table.cells.numbers
    return whole.tolist()


@pytest.fixture
def few_numbers(monkeypatch):
    """Twenty-four cells are more than there are numbers of sixteen: but numbers keep sixty bits."""
    monkeypatch.setattr(counting_rule, "LARGEST_DOMAIN", 16)
    monkeypatch.setattr(counting_rule, "number_bits", lambda tables: 56)


TWICE = {"n": ut.count(3), "paid": ut.sum("paid", per_cell=(0, 20))}
WAYS = {
    "rows": {"each_row": True},
    "persons": {"person": "who", "at_most": 24, "per_cell": 2},
    "in all": {"person": "who", "at_most": 24, "in_total": 30},
    "amounts": {"person": "who", "at_most": 24, "values": "paid", "per_cell": (0, 20)},
    "measures": {
        "person": "who",
        "at_most": 24,
        "measures": {"n": ut.count(3), "paid": ut.sum("paid", per_cell=(0, 20))},
    },
    "parts": {"person": "who", "at_most": 8, "part": "a", "per_cell": 3},
    "fewer axes": {"each_row": True, "by": ["c", "b", "a"]},
}


@pytest.mark.parametrize("way", WAYS)
def test_a_vast_domain_is_counted_as_a_small_one(way, request):
    """Where nothing is cut by the hash of a cell both count the same, cell by cell."""
    usual = counted_with(events(), domain=DOMAIN, key=KEY, **WAYS[way])
    request.getfixturevalue("few_numbers")
    vast = counted_with(events(), domain=DOMAIN, key=KEY, **WAYS[way])
    if not isinstance(usual, dict):
        usual, vast = {"": usual}, {"": vast}
    for name, table in usual.items():
        assert laid(vast[name]) == laid(table)
        assert isinstance(vast[name].cells, FewCells)
        assert vast[name].unit == table.unit
        assert vast[name].domain.same_as(table.domain)
        assert str(vast[name].report) == str(table.report)


@pytest.mark.parametrize("most", [1, 3])
@pytest.mark.usefixtures("few_numbers")
def test_without_a_person_no_cell_moves_by_more_than_the_unit(most):
    """What is kept of the others stays, though cells have numbers by a hash."""
    table = events(120, 10)
    say = {"person": "who", "domain": DOMAIN, "at_most": most, "key": KEY}
    whole = np.array(laid(counted_with(table, **say)))
    attained = 0
    for who in set(table["who"]):
        left = [at for at, name in enumerate(table["who"]) if name != who]
        less = np.array(
            laid(counted_with({name: [column[at] for at in left] for name, column in table.items()}, **say))
        )
        assert set(np.unique(whole - less).tolist()) <= {0, 1}
        attained = max(attained, int((whole - less).sum()))
    assert attained == most


@pytest.mark.usefixtures("few_numbers")
def test_files_and_the_order_of_events_change_nothing(tmp_path):
    table = events()
    say = {"person": "who", "domain": DOMAIN, "at_most": 2, "key": KEY}
    here = laid(counted_with(table, **say))
    path = tmp_path / "events.csv"
    lines = zip(*table.values(), strict=True)
    path.write_text("\n".join([",".join(table), *(",".join(map(str, line)) for line in lines)]), encoding="utf-8")
    assert laid(counted_with(path, **say)) == here
    order = np.random.default_rng(3).permutation(400)
    assert laid(counted_with({name: [column[at] for at in order] for name, column in table.items()}, **say)) == here


def test_a_hundred_columns_are_counted_released_and_relaxed(tmp_path):
    """10^100 cells: sums of two columns are near the truth, in a ledger, too."""
    draw = np.random.default_rng(5)
    domain = Domain({f"q{at}": range(10) for at in range(100)})
    answers = {f"q{at}": draw.integers(0, 10, 500) for at in range(100)}
    answers["q0"][:3] = 11
    counted = count_table(answers, domain, Counting(each_row=True))
    assert (len(counted.cells), counted.report.outside["q0"]) == (497, 3)
    truth = int(((answers["q0"] == 4) & (answers["q7"] == 2)).sum())
    assert int(counted.cells.sums(domain.axes, domain.marginal("q0 q7"))[42]) == truth
    plan = Plan(domain, counted.unit, {"q0 q7": 1})
    with ut.Ledger.open(tmp_path / "l.db", create=True) as ledger:
        release = ledger.publish("answers", counted, ut.Promise(noise=plan), epsilon=5)
        assert abs(release.total({"q0": 4, "q7": 2}).value - truth) < 12
        assert ledger["answers"].at(20, table=counted).total({"q0": 4, "q7": 2}).value == truth


def test_what_is_not_counted_over_more_cells_than_numbers(few_numbers):
    polars = pytest.importorskip("polars")
    with pytest.raises(Unsupported, match="Parquet"):
        count_table(polars.LazyFrame(events()), DOMAIN, Counting(each_row=True))
    for words in (
        {"person": "who", "at_most": 2, "together": "c"},
        {"person": "who", "at_most": 2, "values": "paid", "each": (0, 9), "most_events": 2},
        {"person": "who", "at_most": 2, "measures": {"d": ut.distinct("paid", of=range(9))}},
    ):
        with pytest.raises(OutOfRange, match="2\\^62"):
            counted_with(events(), domain=DOMAIN, **words)


def test_cells_that_share_a_number_are_refused_and_not_added_up():
    cells = NumberedCells((10,) * 30, 4, KEY)
    cells.numbers(np.random.default_rng(0).integers(0, 10, (30, 40)))
    with pytest.raises(OutOfRange, match="another counting key"):
        cells.few(np.array([1]), np.array([1]))
    empty = NumberedCells((300, 2), 60, KEY)
    assert len(empty.few(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))) == 0
    wide = NumberedCells((70_000, 1, 300), 60, KEY)
    places = np.array([[69_999, 5], [0, 0], [299, 0]])
    assert wide.few(np.sort(wide.numbers(places)), np.array([1, 1])).places.tolist() == [[5, 69_999], [0, 0], [0, 299]]
