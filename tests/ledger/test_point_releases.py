"""Points in a ledger: one hidden path for each row, whatever level is asked for first; all recipients together learn
what the largest level allows. The characteristic function of the joint distribution is imported from its module: it is
the closed form that answers are compared with."""

import itertools
import sqlite3
from contextlib import closing
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from asking import asked
from joint_transform import joint_transform
from utmost import PointNoise
from utmost.errors import (
    AlreadyPublished,
    BadTable,
    BudgetExceeded,
    DataChanged,
    KeyRefused,
    NeedsTable,
    NotDeclared,
    OutOfRange,
)
from utmost.exact import level
from utmost.ledger import Ledger, read_sealed

ONE_STORE = True

KEY = bytes(range(32))
TABLE = {"who": ["a", "b", "c"], "x": [651300.25, 652900.0, -0.5], "y": [6861200.5, 6860100.0, 1e-9]}
ASKED = {"columns": ["x", "y"], "public": "who", "noise": ut.PointNoise(200)}
POINTS = np.array([TABLE["x"], TABLE["y"]]).T


def opened(folder, **options):
    return Ledger.open(folder / "l.db", **{"create": True, "key": KEY, "witness": False} | options)


def points(table):
    return np.array([table["x"], table["y"]]).T


@pytest.mark.parametrize("order", list(itertools.permutations((0, 1, 2))), ids=str)
def test_the_joint_distribution_of_three_levels_is_the_closed_form_in_any_order(tmp_path, order):
    """E exp(i sum t_j.V_j) of a ledger's answers is the product of the tightening distributions; each order has another
    key."""
    levels, count = [level("1/2"), level(1), level("5/2")], 5000
    at = np.arange(2.0 * count).reshape(count, 2)
    table = {"x": at[:, 0], "y": at[:, 1]}
    with opened(tmp_path) as ledger:
        asked = {"columns": ["x", "y"], "noise": ut.PointNoise(1, grid=Fraction(1, 1 << 20))}
        ledger.publish(f"{order}", table, ut.Promise(**asked), epsilon=levels[order[0]])
        for one in order[1:]:
            ledger.relax(f"{order}", table, epsilon=levels[one])
        drawn = [points(ledger.view(f"{order}", epsilon=one).table) - at for one in levels]
    rng = np.random.default_rng(3)
    for _ in range(20):
        t = [rng.normal(scale=0.7, size=2) for _ in levels]
        found = np.exp(1j * sum(v @ s for v, s in zip(drawn, t, strict=True))).mean()
        assert abs(found - joint_transform(t, levels)) < 5.5 / np.sqrt(count)


def test_other_points_versions_distances_and_names_have_other_paths(tmp_path):
    moved = {**TABLE, "x": [651300.25, 652900.0, np.nextafter(-0.5, 0)]}
    found = set()
    for at, (name, table, per) in enumerate(
        [("h", TABLE, 200), ("h", moved, 200), ("h", TABLE, 100), ("g", TABLE, 200)]
    ):
        folder = tmp_path / str(at)
        folder.mkdir()
        with opened(folder) as ledger:
            asked = ASKED | {"noise": PointNoise(per)}
            first = ledger.publish(name, table, ut.Promise(**asked), epsilon=1).table
            found.add(tuple((points(first)[0] - POINTS[0]) / per))
            if at == 0:
                again = ledger.publish(name, table, ut.Promise(**asked), epsilon=1, version=2).table
                found.add(tuple((points(again)[0] - POINTS[0]) / per))
                assert ledger.spent(name) == level(2)
    assert len(found) == 5


def test_a_level_that_is_not_stored_needs_the_points(ledger):
    ledger.publish("homes", TABLE, ut.Promise(**ASKED), epsilon=1)
    for at in ("1/2", 2):
        with pytest.raises(NeedsTable):
            ledger.view("homes", epsilon=at)
    lower = ledger.relax("homes", TABLE, epsilon="1/2").table
    assert (points(ledger.view("homes", epsilon="1/2").table) == points(lower)).all()
    assert ledger.levels("homes") == (level("1/2"), level(1))


def test_the_largest_level_is_what_a_dataset_spends(ledger):
    ledger.publish("homes", TABLE, ut.Promise(**ASKED), epsilon=1, dataset="people")
    ledger.budget("people", limit=3)
    ledger.relax("homes", TABLE, epsilon="5/2")
    ledger.relax("homes", TABLE, epsilon=2)
    assert (ledger.spent("homes"), ledger.budget("people").remaining) == (level("5/2"), Fraction(1, 2))
    with pytest.raises(BudgetExceeded):
        ledger.relax("homes", TABLE, epsilon=4)
    with pytest.raises(OutOfRange, match=r"moved by 200.*neighbours="):
        ledger.publish("n", {"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/4", dataset="people")
    with pytest.raises(OutOfRange, match="the same neighbouring relation"):
        ledger.publish(
            "g",
            {"x": [1], "y": [2]},
            ut.Promise(columns=["x", "y"], noise=ut.PointNoise(100)),
            epsilon="1/4",
            dataset="people",
        )
    with pytest.raises(AlreadyPublished, match="same values"):
        ledger.publish("twice", TABLE, ut.Promise(**ASKED), epsilon=1, independent=False)


def test_changed_points_are_refused_to_the_last_digit(ledger):
    ledger.publish("homes", TABLE, ut.Promise(**ASKED), epsilon=1)
    changed = {**TABLE, "y": [6861200.5, 6860100.0, np.nextafter(1e-9, 1)]}
    with pytest.raises(DataChanged, match="got other identifiers or values"):
        ledger.relax("homes", changed, epsilon=2)
    assert ledger.difference("homes", changed) == "column 'y', row 3"
    with pytest.raises(AlreadyPublished):
        ledger.publish("homes", TABLE, ut.Promise(**{**ASKED, "noise": PointNoise(100)}), epsilon=1)
    with pytest.raises(AlreadyPublished):
        ledger.publish("homes", TABLE, ut.Promise(**{**ASKED, "noise": PointNoise(200, grid=8)}), epsilon=1)
    written_otherwise = {**TABLE, "x": [Fraction(2605201, 4), 652900, Fraction(-1, 2)]}
    assert (
        points(ledger.publish("homes", written_otherwise, ut.Promise(**ASKED), epsilon=1).table)
        == points(ledger.view("homes", epsilon=1).table)
    ).all()


def test_a_key_of_a_level_opens_that_level_and_every_fact_is_bound(tmp_path):
    with opened(tmp_path) as ledger:
        first = ledger.publish("homes", TABLE, ut.Promise(**ASKED), epsilon=1).table
        higher = ledger.relax("homes", TABLE, epsilon=4).table
        keys = {at: ledger.level_key("homes", epsilon=at) for at in (1, 4)}
        ledger.backup(tmp_path / "copy.db")
    for at, answer in ((1, first), (4, higher)):
        assert (points(read_sealed(tmp_path / "copy.db", "homes", keys[at]).table) == points(answer)).all()
    with pytest.raises(KeyRefused):
        read_sealed(tmp_path / "copy.db", "homes", bytes(32))


def test_what_cannot_be_published_as_points(ledger):
    for wrong, error in (
        ({"unit": ut.Unit(1, 1)}, OutOfRange),
        ({"noise": PointNoise(200, grid=400)}, OutOfRange),
        ({"columns": None}, OutOfRange),
        ({"public": ()}, NotDeclared),
        ({"noise": PointNoise(200, largest=10)}, BadTable),
    ):
        with pytest.raises(error):
            ledger.publish("homes", TABLE, **asked(**(ASKED | wrong), epsilon=1))
    with pytest.raises(BadTable, match="largest="):
        ledger.publish(
            "far", {"x": [1e300], "y": [0]}, ut.Promise(columns=["x", "y"], noise=ut.PointNoise(1)), epsilon=1
        )
    assert ledger.releases == ()


@pytest.mark.parametrize(("epsilon", "per"), [("1/1000000", 1), (50, "1/3"), (1, 10**6)])
def test_corners_of_level_and_distance_and_the_bytes_of_a_cell(ledger, epsilon, per):
    """One point on a line, three dimensions, Fractions that are no floats; each cell fits the word that public facts
    give."""
    line = {"x": [Fraction(1, 3)]}
    made = ledger.publish(
        "line", line, ut.Promise(columns="x", noise=ut.PointNoise(per, dimensions=1)), epsilon=epsilon
    ).table
    assert abs(made["x"][0] - 1 / 3) < 100 * ledger.margin("line", epsilon=epsilon)
    space = {name: [0, 0, 7] for name in "xyz"}
    ledger.publish(
        "space",
        space,
        ut.Promise(columns=list("xyz"), noise=PointNoise(per, largest=10, dimensions=3)),
        epsilon=epsilon,
    )
    ledger.relax("space", space, epsilon=51)
    assert ledger.verify().cells == 1 + 9 + 9
    bounded, free = (PointNoise(per, largest=largest) for largest in (10, None))
    assert bounded.word(level(epsilon)) <= free.word(level(epsilon))


def test_neighbouring_points_are_stored_at_one_length(tmp_path):
    """The length of each part depends on public facts only, wherever the points are, however far."""
    lengths = set()
    for at, x in enumerate((0.0, -0.5, 3e20, Fraction(1, 3))):
        folder = tmp_path / str(at)
        folder.mkdir()
        with opened(folder) as ledger:
            ledger.publish("homes", {**TABLE, "x": [x, 1, 2]}, ut.Promise(**ASKED), epsilon=1)
            ledger.relax("homes", {**TABLE, "x": [x, 1, 2]}, epsilon=9)
        with closing(sqlite3.connect(folder / "l.db")) as database:
            rows = database.execute("SELECT event, part, length(content) FROM utmost_parts WHERE part > 0 OR event > 2")
            lengths.add(tuple(rows))
    assert len(lengths) == 1
