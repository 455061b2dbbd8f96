"""The same sum in several releases: changes and trends whose bars hold as often as they say."""

import json

import numpy as np
import pytest

import utmost as ut
from asking import asked
from goodness import LEVEL, no_more_often
from utmost.errors import OutOfRange, WrongKind
from utmost.noise import Combination
from utmost.releases import CellBars
from utmost.statements import read_release
from utmost.workloads import Domain, Plan

DOMAIN = Domain(sex=["men", "women"], age=["<40", "40+"])
PLAN = Plan(DOMAIN, ut.Unit(1, 1), {"sex age": 1})


def _year(people, epsilon=1):
    return ut.release(np.array(people), PLAN, epsilon=epsilon, once=True)


def _table(folder, number, **distribution):
    table = {"sex": ["men", "women"], "n": [500 + 10**6 * number, 300]}
    said = {"columns": "n", "public": "sex", "epsilon": 1, "unit": ut.Unit(1, 1)} | distribution
    ut.release(table, **asked(**said), once=True).save(folder / f"{number}.csv")
    return read_release(folder / f"{number}.csv")


def test_a_change_has_the_distribution_of_both_noises(tmp_path):
    later, earlier = _year([[512, 89], [353, 17]], 2), _year([[500, 80], [350, 20]])
    found = ut.statements.change(later, earlier, {"sex": "men"})
    assert found.exact == later.total({"sex": "men"}).exact - earlier.total({"sex": "men"}).exact
    assert found.margin == Combination([1, 1], [2, 1], counts=[2, 2]).margin()
    table = _table(tmp_path, 1)
    assert (
        ut.statements.change(table, earlier, {"sex": "men"}).margin
        == Combination([1, 1], [1, 1], counts=[1, 2]).margin()
    )
    names = {"sex": ["men", "women"]}
    assert ut.statements.change(table, _table(tmp_path, 2), names).margin == Combination([1], 1, counts=[4]).margin()


def test_noise_that_has_no_distribution_of_sums_has_bars_of_its_parts(tmp_path):
    steps = [_table(tmp_path, number, sensitivity=5) for number in (1, 2)]
    found = ut.statements.change(*steps, {"sex": "men"})
    assert found.margin == 2 * CellBars(steps[0].noise).total(1, "0.975")
    assert found.value == steps[0].total({"sex": "men"}).value - steps[1].total({"sex": "men"}).value
    with pytest.raises(OutOfRange):
        ut.statements.change(steps[0], _year([[1, 2], [3, 4]]))
    promise = ut.Promise("n", public="sex", noise=ut.OneDraw(ut.Unit(1, 2, nonnegative=True), 2))
    draws = [ut.release({"sex": ["men", "women"], "n": n}, promise, epsilon=1, once=True) for n in ([5, 9], [6, 10])]
    found = ut.statements.change(draws[1], draws[0])
    halves = [answer.total(confidence="0.975") for answer in draws]
    assert found.exact == halves[1].exact - halves[0].exact
    assert found.margin == halves[0].margin + halves[1].margin
    assert found.variance == pytest.approx(halves[0].variance + halves[1].variance)


def test_bars_of_changes_and_trends_hold_as_often_as_they_say():
    """60 releases of five years each: all five sums at once, and all four changes at once, at 90 %."""
    people = [np.array([[500 + 10**4 * year, 89], [353, 17 + year]]) for year in range(5)]
    values = changes = 0
    for _ in range(60):
        found = ut.statements.trend([_year(counts) for counts in people], {"sex": "men"}, confidence="0.9")
        truth = [int(counts[0].sum()) for counts in people]
        values += all(abs(a.value - t) <= a.margin for a, t in zip(found.values, truth, strict=True))
        changes += all(abs(a.value - t) <= a.margin for a, t in zip(found.changes, np.diff(truth), strict=True))
    assert no_more_often(60 - min(values, changes), 60, 0.1) > LEVEL


def test_one_release_is_not_compared_with_itself(tmp_path):
    release, table = _year([[512, 89], [353, 17]]), _table(tmp_path, 1)
    for same in (release, table):
        with pytest.raises(OutOfRange, match="different releases"):
            ut.statements.change(same, same)
        with pytest.raises(OutOfRange):
            ut.statements.trend([same])
    with pytest.raises(WrongKind):
        ut.statements.trend([release, 7])
    kept = ut.release({"n": [5]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1)
    with pytest.raises(OutOfRange, match="different releases"):
        ut.statements.change(kept.release.at(2), kept)
    other = ut.release({"n": [9]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon=1)
    assert ut.statements.change(kept, other).margin > kept.margin()
    for name, answer in {"kept": kept, "sharper": kept.release.at(2), "other": other}.items():
        answer.save(tmp_path / f"{name}.csv")
    saved = {name: read_release(tmp_path / f"{name}.csv") for name in ("kept", "sharper", "other")}
    assert ut.statements.change(saved["kept"], saved["other"]).margin > kept.margin()
    for answer in (saved["kept"], kept):
        with pytest.raises(OutOfRange, match="different releases"):
            ut.statements.change(saved["sharper"], answer)


def test_the_command_compares_two_files(tmp_path, run):
    for year in (2024, 2025, 2026):  # of other counts, so that no two have the same noisy sums by chance
        _year([[512 + 99 * year, 89], [353, 17]]).save(tmp_path / f"{year}.json")
    _table(tmp_path, 1)
    later, earlier = tmp_path / "2026.json", tmp_path / "2025.json"
    code, shown, _ = run("total", later, "--where", "sex=men", "--since", earlier)
    assert (code, "the true difference is from" in " ".join(shown.split())) == (0, True)
    assert run("total", tmp_path / "1.csv", "--where", "sex=men", "--since", earlier)[0] == 0
    code, _, err = run("total", later, "--since", later)
    assert (code, "--minus" in err) == (2, True)
    assert run("read", later, "--where", "sex=men", "--minus", "sex=women")[0] == 0
    code, _, err = run("total", later, "--since", earlier, "--ratio", "--since", tmp_path / "2024.json")
    assert (code, "two files" in err) == (2, True)
    code, shown, _ = run("total", later, "--since", tmp_path / "2024.json", "--since", earlier, "--where", "sex=men")
    assert code == 0
    assert "2025.json since 2024.json" in shown
    assert "All these sums and changes are within their margins at once" in shown


def test_the_command_compares_shares_and_means(tmp_path, run):
    """The interval of a change has the ends of two intervals that hold together; two answers of one release are
    refused.
    """
    for year in (2025, 2026):
        _year([[512 + 99 * (year - 2025), 89], [353, 17]]).save(tmp_path / f"{year}.json")
    later, earlier = tmp_path / "2026.json", tmp_path / "2025.json"
    code, shown, _ = run("total", later, "--since", earlier, "--where", "sex=men", "--ratio", "--json")
    report = json.loads(shown)
    new, old = (ut.read_release(path).ratio({"sex": "men"}, {}, confidence="0.975") for path in (later, earlier))
    low, high = report["interval"]
    assert (code, report["kind"]) == (0, "change")
    assert low == pytest.approx(new.lower - old.upper, abs=1e-12)
    assert high == pytest.approx(new.upper - old.lower, abs=1e-12)
    assert low < report["value"] < high
    code, shown, _ = run("total", later, "--since", earlier, "--mean", "sex", "--values", "1,2")
    assert code == 2
    assert run("total", later, "--since", later, "--where", "sex=men", "--ratio")[0] == 2
    _table(tmp_path, 1)
    code, _, err = run("total", tmp_path / "1.csv", "--since", earlier, "--ratio")
    assert (code, "--want" in err) == (2, True)


def test_the_change_of_a_mean_names_the_amount(tmp_path, run):
    """Both the change of a sum and that of a mean say what was added up."""
    (tmp_path / "d.json").write_text('{"town": ["A", "B"]}')
    for year, pay in ((2025, 10), (2026, 40)):
        (tmp_path / "p.csv").write_text("town,pay\n" + f"A,{pay}\nB,{pay + 1}\n" * 500)
        options = ["--each-row", "--by", "town", "--domain", tmp_path / "d.json", "--mean", "pay=0,100"]
        assert run("release", tmp_path / "p.csv", *options, "--epsilon", "2", "--out", tmp_path / f"{year}.csv")[0] == 0
    files = [tmp_path / "2026.csv", "--since", tmp_path / "2025.csv", "--where", "town=A"]
    code, shown, _ = run("total", *files, "--mean", "pay", "--json")
    low, high = json.loads(shown)["interval"]
    assert code == 0
    assert 20 < low < 30 < high < 40
    assert "sum of pay" in run("total", *files, "--sum", "pay")[1]
    assert "number of people" in run("total", *files)[1]


def test_the_command_gives_the_trend_that_the_library_gives(tmp_path, run):
    """Values and changes of three releases of two kinds, in folders, with names that are alike."""
    paths = [tmp_path / str(year) / "release.json" for year in range(3)]
    for year, path in enumerate(paths):
        path.parent.mkdir()
        _year([[512 + 99 * year, 89], [353, 17]]).save(path)
    since = [word for path in paths[:-1] for word in ("--since", path)]
    code, shown, _ = run("total", paths[-1], *since, "--where", "sex=men", "--confidence", "0.9", "--json")
    assert code == 0
    report = json.loads(shown)
    course = ut.statements.trend(list(map(ut.read_release, paths)), {"sex": "men"}, confidence="0.9")
    assert [row["question"] for row in report["values"]] == list(map(str, paths))
    for rows, answers in ((report["values"], course.values), (report["changes"], course.changes)):
        assert [(row["value"], row["margin"]) for row in rows] == [(one.value, one.margin) for one in answers]
    table = _table(tmp_path, 1)
    mixed = ut.statements.trend([table, *map(ut.read_release, paths)], each_where=[{"sex": ["men"]}] * 4)
    assert len(mixed.values) == 4
    assert run("total", paths[-1], "--since", tmp_path / "1.csv", *since, "--where", "sex=men")[0] == 0
    with pytest.raises(OutOfRange, match="for each answer"):
        ut.statements.trend([table, ut.read_release(paths[0])], each_where=[{}])
