"""A workload release is computed again: no leaf of it can be changed and still be vouched for."""

import copy
import json

import numpy as np
import pytest

import utmost as ut
from utmost.counting import CountedTable
from utmost.errors import UtmostError
from utmost.privacy import Unit
from utmost.releases import NoisySums
from utmost.workloads import Domain, Plan, bins, hierarchy

KINDS = {
    "lists": (Domain(a=["x", "y"], b=["é", "z"]), Unit(1, 1), {"a b": "1/2", "": "1/2"}, {"epsilon": 1}),
    "bins": (
        Domain(age=bins(0, 40, width=5)),
        Unit(3, 2, "change-one"),
        {"age": "2/3", "age/4": "1/3"},
        {"epsilon": ut.level(alpha="1/2")},
    ),
    "a tree": (
        Domain(place=hierarchy({"S": ["d", "c"], "N": ["b", "a"]}, names=["region", "district"])),
        Unit(1, 1),
        {"district": 1},
        {"epsilon": "1/3", "confidence": "0.9"},
    ),
}


def facts(kind):
    domain, unit, shares, say = KINDS[kind]
    cells = np.arange(domain.size).reshape(domain.shape)
    counted = CountedTable(domain, cells, unit, part=("0123", "A") if kind == "a tree" else None)
    made = ut.release(counted, Plan(domain, unit, shares), **say, once=True).table
    return json.loads(json.dumps(made.facts()))


def leaves(value, path=()):
    """Every path to a leaf."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    if parts is None or not value:
        yield path, value
        return
    for name, part in parts:
        yield from leaves(part, (*path, name))


def others(value):
    """Values that stand where this one stood: near it, far from it, of another kind, and nothing."""
    near = {
        bool: [not value],
        int: [value + 1 if isinstance(value, int) else 0, -value - 1 if isinstance(value, int) else 0, str(value)],
        float: [0.5 if value != 0.5 else 0.25, 1],
        str: [f"{value} ", str(value)[:-1], "1/100", 7],
        type(None): [["p", "q"], "A", ["p"], ["p", 1]],
    }
    found = [*near.get(type(value), [[1]]), *([None] if value is not None else []), {}]
    return [other for other in found if other != value or type(other) is not type(value)]


def changed(said, path, other):
    made = copy.deepcopy(said)
    at = made
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = other
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_every_leaf_changed_is_refused(kind):
    """A margin, a share, a sum, a label, a sentence: another one in its place is told; so is a field more or less."""
    said = facts(kind)
    assert NoisySums.of_facts(said).plan.domain.same_as(KINDS[kind][0])
    for path, value in leaves(said):
        for other in others(value):
            if path == ("utmost",) and isinstance(other, str):
                continue
            if path[:2] == ("promise", "part") and isinstance(other, str):
                continue  # which part it is follows from nothing else: a signature holds it
            with pytest.raises(UtmostError):
                NoisySums.of_facts(changed(said, path, other))
    for name in said:
        with pytest.raises(UtmostError):
            NoisySums.of_facts({key: value for key, value in said.items() if key != name})
    with pytest.raises(UtmostError):
        NoisySums.of_facts(said | {"note": "by the way"})


def test_another_order_of_axes_is_another_release():
    """Whoever sorts the keys of the JSON turns the table: told by the digest."""
    said = facts("a tree")
    domain = said["promise"]["noise"]["plan"]["domain"]
    tree = domain["district"]["tree"]
    domain["district"]["tree"] = dict(sorted(tree.items()))
    with pytest.raises(UtmostError):
        NoisySums.of_facts(said)
