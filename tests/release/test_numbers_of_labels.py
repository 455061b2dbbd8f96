"""Means and variances over labels without a number: the error names a remedy, and the remedy works."""

import json
import re

import numpy as np
import pytest

import utmost as ut
from running import called
from utmost.errors import LittleProtection, OutOfRange
from utmost.testing import seeded_workload_release
from utmost.workloads import Plan

AGES = ut.workloads.edges([16, 25, 45, 65, 85, None], groups={"broad": [16, 65, None]}, missing="not stated")
COUNTS = np.array([100, 200, 300, 100, 30, 70])
MIDDLES = [20, 34.5, 54.5, 74.5]


@pytest.fixture(scope="module")
def release():
    plan = Plan(ut.Domain(age=AGES), ut.Unit(1, 1), {"age": 1})
    return seeded_workload_release(COUNTS, plan, epsilon=20, seed=1)


def pasted(message, number="90"):
    """The arguments in an error message, as a user would type them."""
    return [
        eval(f"dict({part.replace('NUMBER', number)})") for part in re.findall(r"(?:where|values)=\{[^}]*\}", message)
    ]


@pytest.mark.parametrize("ask", ["mean", "spread", "variance"])
def test_the_remedy_of_an_open_bin_and_of_missing_cells_is_pasted(release, ask):
    verb = getattr(release, ask)
    with pytest.raises(OutOfRange) as refused:
        verb("age")
    assert str(refused.value) == (
        "'age': each counted label must have a number; got '85+' and 'not stated', which have no midpoint. "
        "Exclude them with where={'age': slice(16, 85)}, or pass values={'85+': NUMBER, 'not stated': NUMBER}."
    )
    without, numbered = pasted(str(refused.value))
    true = np.average(MIDDLES, weights=COUNTS[:4])
    whole = np.average([*MIDDLES, 90, 90], weights=COUNTS)
    if ask == "mean":
        assert verb("age", **without).estimate == pytest.approx(true, abs=0.3)
        assert verb("age", **numbered).estimate == pytest.approx(whole, abs=0.3)
    assert verb("age", **without).determined
    assert verb("age", **numbered).determined
    with pytest.raises(OutOfRange, match=r"'not stated'.*where=.*slice\(16, "):
        verb("age", values={"85+": 90})
    with pytest.raises(OutOfRange, match=r"slice\(16, 65\)"):
        verb("broad")
    with pytest.raises(OutOfRange, match=r"'eighty'.*'16 to 24'"):
        verb("age", values={"eighty": 80})


def test_known_ages_beside_one_that_is_unknown():
    """A user who followed the old remedy and gave "unknown" the number 0 got a mean of 18.9 instead of 45."""
    domain = ut.Domain(age=["30", "60", "unknown"])
    with pytest.warns(LittleProtection):
        release = ut.release(
            np.array([100, 100, 276]), Plan(domain, ut.Unit(1, 1), {"age": 1}), epsilon=60, once=True
        ).table
    known = {"30": 30, "60": 60}
    with pytest.raises(OutOfRange) as refused:
        release.mean("age", values=known)
    assert "got 'unknown', which has no number" in str(refused.value)
    assert "Exclude it with where={'age': ['30', '60']}, or pass values={'unknown': NUMBER}" in str(refused.value)
    where, _ = pasted(str(refused.value))
    assert release.mean("age", values=known, **where).estimate == pytest.approx(45)
    assert release.mean("age", values=[30, 60], **where).estimate == pytest.approx(45)
    assert release.total(along={"age": known}, **where).value == 9000
    with pytest.raises(OutOfRange, match="3 labels"):
        release.mean("age", values=[30, 60, 0, 1])


def test_the_remedy_is_in_the_words_of_the_command(release, tmp_path):
    release.save(tmp_path / "r.json")
    refused = called("total", "r.json", "--mean", "age", cwd=tmp_path)
    assert refused.returncode == 2
    told = " ".join(refused.stderr.split())
    where, values = re.search(r'with --where "([^"]*)", or pass --values "([^"]*)"', told).groups()
    assert (where, values) == ("age=16..85", "85+=NUMBER,not stated=NUMBER")
    said = called("total", "r.json", "--mean", "age", "--where", where, "--json", cwd=tmp_path)
    assert json.loads(said.stdout)["value"] == release.mean("age", where={"age": slice(16, 85)}).estimate
    said = called(
        "total", "r.json", "--mean", "age", "--values", values.replace("NUMBER", "90"), "--json", cwd=tmp_path
    )
    numbers = {"85+": 90, "not stated": 90}
    assert json.loads(said.stdout)["value"] == release.mean("age", values=numbers).estimate


def test_labels_with_commas_get_numbers_by_command(tmp_path):
    """The remedy named "[10, inf)=NUMBER", and its comma was read as the end of a number."""
    axis = ut.workloads.edges([0, 10, None], whole=False, missing="not stated")
    plan = Plan(ut.Domain(pay=axis), ut.Unit(1, 1), {"pay": 1})
    answer = ut.release(np.array([500, 300, 20]), plan, epsilon=1, once=True)
    answer.save(tmp_path / "r.json")
    numbers = {"[10, inf)": 20, "not stated": 0}
    told = ",".join(f"{label}={number}" for label, number in numbers.items())
    said = called("total", "r.json", "--mean", "pay", "--values", told, "--json", cwd=tmp_path)
    assert json.loads(said.stdout)["value"] == answer.mean("pay", values=numbers).estimate
