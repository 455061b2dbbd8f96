"""Reading a released table: cells, sums, differences, means and ratios of all distributions, and what other levels buy.

What is chosen of a read table is asked of the object that commands ask.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.noise import Combination, RepeatedSum
from utmost.privacy import Amount, Unit
from utmost.promises import once_together
from utmost.releases import CellBars, cell_noise_at
from utmost.sampling import sample
from utmost.workloads import Plan

TOGETHER = ut.Promise(["n", "m"], noise=once_together(["n", "m"], unit=ut.Unit(1, 2)))

DISTRIBUTIONS = {
    "geometric": {"unit": ut.Unit(1, 2)},
    "staircase": {"unit": ut.Unit(5, 2)},
    "half": {"unit": ut.Unit(3, 2), "relaxable": True},
    "reals": {"unit": ut.Unit("5/2", 2), "numbers": "reals", "grid": "1/8"},
    "coarse": {"unit": ut.Unit(1, 2), "numbers": "reals", "grid": 4},
    "change-one": {"unit": ut.Unit(1, 2, "change-one")},
}


def _plan(distribution, **more):
    return cell_noise_at(**{"epsilon": 1, **DISTRIBUTIONS[distribution], **more})


def _written(folder, distribution="geometric", table=None, **more):
    table = table or {"place": list("abcd"), "n": [5, 7, 9, 11], "m": [1, 2, 3, 4]}
    said = {"columns": ["n", "m"], "public": "place", "epsilon": 1, **DISTRIBUTIONS[distribution], **more}
    made = ut.release(table, **asked(**said), once=True)
    path = folder / "released.csv"
    names = list(made.table)
    rows = zip(*(np.asarray(made.table[name]).tolist() for name in names), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]) + "\n")
    said = made.statement_with({"of": "file", "sha256": __import__("hashlib").sha256(path.read_bytes()).hexdigest()})
    path.with_name("released.csv.json").write_text(json.dumps(said))
    return path, made


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_bars_hold_as_often_as_they_say(distribution):
    """Of 4000 draws of twelve cells: each cell, the sum, and all at once, within what chance allows below 95 %."""
    plan = _plan(distribution)
    bars, step = CellBars(plan), float(plan.grid or 1)
    noise = step * sample(plan.drawn, (4000, 12)).astype(float)
    if plan.grid is not None:
        noise = noise + step * np.random.default_rng(1).uniform(-0.5, 0.5, noise.shape)
    least = 0.95 - 7 * (0.05 * 0.95 / 4000) ** 0.5
    assert np.mean(abs(noise[:, 0]) <= bars.alone()) > least
    assert np.mean(abs(noise).max(axis=1) <= bars.together(12)) > least
    assert np.mean(abs(noise.sum(axis=1)) <= bars.total(12)) > least
    assert np.mean(abs(noise[:, :4].mean(axis=1) - noise[:, 4:].mean(axis=1)) <= bars.means(4, 8)) > least


@pytest.mark.parametrize(
    ("distribution", "draws"),
    [("staircase", 8), ("half", 8), ("coarse", 3)]
    + [pytest.param(distribution, 60, marks=pytest.mark.slow) for distribution in DISTRIBUTIONS],
)
def test_ratios_hold_as_often_as_they_say(distribution, draws):
    """The true ratio of six cells of 1000 to ten of them is within in at least 95 of 100 draws, but for chance."""
    plan = _plan(distribution)
    bars, step = CellBars(plan), plan.grid or 1
    noise = sample(plan.drawn, (draws, 10)).astype(object) * step
    held = 0
    for row in noise:
        cells = [1000 + Fraction(int(z)) if step == 1 else 1000 + Fraction(z) for z in row]
        bar = bars.ratio(sum(cells[:6]), sum(cells), above=6, below=10, shared=6)
        held += bar.lower <= 0.6 <= bar.upper
    assert held >= draws - 2 - draws // 10


def test_a_geometric_sum_is_that_of_the_other_rooms():
    plan = _plan("geometric")
    assert CellBars(plan).total(7) == Combination([1], plan.drawn.ratio, counts=[7]).margin()
    assert CellBars(_plan("staircase")).total(7) == RepeatedSum(_plan("staircase").drawn, 7).margin()
    assert CellBars(plan).total(0) == 0
    assert CellBars(plan).alone() == plan.margin


def test_two_bars_that_hold_at_once_may_each_miss_half_as_often():
    """What a mean of each kind, and each sum of a ratio, may miss adds up to what the whole may."""
    bars = CellBars(_plan("staircase"))
    one, two = (bars.total(count, "0.975") for count in (1, 2))
    assert bars.means(1, 2, "0.95") == one + two / 2
    ratio = bars.ratio(1000, 3000, above=1, below=2, confidence="0.95")
    assert ratio.lower == pytest.approx((1000 - one) / (3000 + two), rel=1e-12)
    assert ratio.upper == pytest.approx((1000 + one) / (3000 - two), rel=1e-12)


@pytest.mark.parametrize("sensitivity", [1, 5])
def test_a_ratio_of_amounts_is_that_of_their_steps(sensitivity):
    """Fieller's set, and two bars at once: 100 of 300 in halves are 200 of 600."""
    halves = Unit(sensitivity, 1, amount=Amount("paid", "1/2"))
    bars, steps = (CellBars(cell_noise_at(epsilon=1, unit=unit)) for unit in (halves, Unit(sensitivity, 1)))
    assert bars.ratio(100, 300, above=1, below=2) == steps.ratio(200, 600, above=1, below=2)


def test_on_a_grid_each_cell_may_have_been_rounded_by_half_a_step():
    plan = _plan("reals")
    steps = RepeatedSum(plan.drawn, 3).margin()
    assert CellBars(plan).total(3) == (steps + 1.5) * 0.125
    assert CellBars(plan).alone() == plan.margin


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_a_table_is_read_from_its_file(distribution, tmp_path):
    path, made = _written(tmp_path, distribution)
    read = ut.read_release(path)
    cells = [float(cell) for cell in read.table["n"]]
    assert cells == [float(cell) for cell in made.table["n"]]
    assert list(read.table["place"]) == list("abcd")
    some = {"place": ["a", "c"]}
    total = read.total(some, column="n")
    assert float(total.value) == cells[0] + cells[2]
    assert read.margin() == made.noise.margin


def test_what_cannot_be_asked_is_refused(tmp_path):
    path, _ = _written(tmp_path)
    read = ut.read_release(path)
    for wrong in ({"n": "5"}, {"place": "z"}, {"place": ""}):
        with pytest.raises(OutOfRange):
            read.total(wrong, column="n")
    with pytest.raises(BadTable):
        read.total({"region": "a"}, column="n")
    with pytest.raises(OutOfRange):
        read.total()
    with pytest.raises(OutOfRange):
        CellBars(_plan("geometric")).ratio(1, 2, above=1, below=2, shared=2)
    path.write_text(path.read_text().replace("a,", "a,1"))
    with pytest.raises(BadTable):
        ut.read_release(path)
    with pytest.raises(BadTable):
        ut.read_release(tmp_path / "other.csv")


def test_columns_changed_together_are_not_read_as_if_their_noise_were_independent(tmp_path):
    made = ut.release({"n": [7, 9], "m": [1, 2]}, TOGETHER, epsilon=1, once=True)
    made.save(tmp_path / "t.csv")
    with pytest.raises(Unsupported):
        ut.read_release(tmp_path / "t.csv").total(column="n")


def test_a_difference_of_a_release_by_a_plan_has_the_distribution_of_its_own_noises():
    """Noises that both sums have cancel: never wider than the sum of both bars, and a sum less itself is 0 exactly."""
    plan = Plan(ut.Domain(sex=["men", "women"], age=["<40", "40+"]), ut.Unit(1, 1), {"sex age": 1})
    release = ut.release(np.array([[500, 700], [300, 100]]), plan, epsilon=1, once=True).table
    found = release.difference({"sex": "men"}, {"sex": "women"})
    assert found.exact == release.total({"sex": "men"}).exact - release.total({"sex": "women"}).exact
    assert found.margin == Combination([1], 1, counts=[4]).margin()
    assert release.difference({"sex": "men"}, {"sex": "men"}).margin == 0
    assert release.difference({}, {"sex": "men"}).margin == release.total({"sex": "women"}).margin


def test_rows_are_selected_by_names_and_labels_as_they_are(tmp_path, run):
    """A name with an equals sign or a blank, a label with a comma, the empty one: nothing is taken apart."""
    table = {"x=y": ["A, B", "A", "B", ""], "k ": ["p", "p", " q", "q"], "n": [1, 2, 3, 4]}
    release = ut.release(table, ut.Promise("n", public=["x=y", "k "], unit=Unit(1, 1)), epsilon=1)
    release.save(tmp_path / "r.csv")
    read, cells = ut.read_release(tmp_path / "r.csv"), release.table["n"]
    for label, row in (("A, B", 0), ("A", 1), ("B", 2), ("", 3)):
        assert read.total({"x=y": label}).value == cells[row]
    assert read.total({"k ": " q"}).value == cells[2]
    found = {row: run("read", tmp_path / "r.csv", *words, "--json") for row, words in {
        cells[0]: ["--where", "x=y=A, B"], cells[1] + cells[2]: ["--where", "x=y=B,A"],
        cells[1]: ["--where", "x=y=B,A", "--where", "k =p"],
    }.items()}  # fmt: skip
    for value, (code, shown, err) in found.items():
        assert (code, err) == (0, "")
        assert json.loads(shown)["value"] == value
    with pytest.raises(OutOfRange, match="must be a label of"):
        read.total({"x=y": "B,A"})
    assert "Did you mean 'k '" in run("read", tmp_path / "r.csv", "--where", "k=p")[2]
