"""A workload release is written once, and read with its checks."""

import json

import numpy as np
import pytest

import utmost as ut
from utmost.errors import BadTable, Unsupported
from utmost.privacy import Unit
from utmost.workloads import Domain, Plan


def test_a_release_is_read_as_it_was_written(tmp_path):
    """The same answers; a second file of the name, a changed one and one of another kind are refused."""
    plan = Plan(Domain(a=["x", "y"], b=["é", "z"]), Unit(1, 1), {"a b": "1/2", "": "1/2"})
    release = ut.release(np.array([[3, 10**20], [0, 1]], dtype=object), plan, epsilon=1, once=True).table
    path = tmp_path / "release.json"
    release.save(path)
    assert ut.read_release(path).total({"b": "é"}) == release.total({"b": "é"})
    with pytest.raises(Unsupported):
        release.save(path)
    facts = json.loads(path.read_text(encoding="utf-8"))
    for text in (json.dumps({**facts, "sensitivity": "2"}), "[1, 2]", "{", json.dumps({"kind": "another"})):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(BadTable):
            ut.read_release(path)


def test_a_table_of_one_marginal_says_which_file_answers(tmp_path):
    """A publisher saves a marginal as CSV; whoever takes it for the release is told what to ask for."""
    (tmp_path / "sex.csv").write_text("sex,count,count_margin\nmen,5,3\n")
    with pytest.raises(BadTable, match=r"\.json"):
        ut.read_release(tmp_path / "sex.csv")
