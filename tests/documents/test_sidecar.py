"""The statement as a file: read back as it was said, and without anything secret in it."""

import json

import pytest

import utmost as ut
from utmost.errors import BadTable

TRUE_VALUES = [123457, 765431]


@pytest.mark.parametrize("text", ["", "{", "[]", '"text"', '{"kind": "other"}'])
def test_what_is_no_statement_is_refused(tmp_path, text):
    (tmp_path / "x.csv").write_text("n\n1\n")
    (tmp_path / "x.csv.json").write_text(text)
    with pytest.raises(BadTable):
        ut.read_release(tmp_path / "x.csv")


def test_a_statement_holds_no_true_value_and_no_seed():
    made = ut.release({"n": TRUE_VALUES}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=100, once=True)
    said = json.dumps(made.statement)
    assert made.table["n"] == TRUE_VALUES
    assert not any(str(value) in said for value in TRUE_VALUES)
    assert "seed" not in said


@pytest.mark.parametrize("spelled", ["1/2 ", "0.5", "2/4"])
def test_a_level_is_spelled_in_one_way_or_one_could_stand_twice(run, tmp_path, spelled):
    place = tmp_path / "r.csv"
    release = ut.release({"n": [1, 2]}, ut.Promise("n", unit=ut.Unit(1, 1)), epsilon="1/2")
    release.save(place)
    assert run("verify", place)[0] == 0
    beside = tmp_path / "r.csv.json"
    text = beside.read_text()
    for levels in ([spelled], ["1/2", spelled]):
        beside.write_text(json.dumps(json.loads(text) | {"levels": levels}))
        assert run("verify", place)[0] == 1
