"""Columns changed together as a kind of noise: its levels are those of the plan, and its facts are checked."""

from dataclasses import replace
from fractions import Fraction

import pytest

import utmost as ut
from utmost.errors import BadTable, OutOfRange, Unsupported, UtmostError
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.promises import Promise, once_together, together_noise
from utmost.statements import read_release

NAMES = ["a", "b", "c", "d", "e"]
UNITS = [ut.Unit(1, 2), ut.Unit(3, 2, "change-one"), ut.Unit(2, 3), ut.Unit(1, 5, "change-one")]
RAISED = ut.Unit(1, 3, nonnegative=True)


@pytest.mark.parametrize("unit", [*UNITS, RAISED, ut.Unit(2, 4, "change-one", nonnegative=True)])
def test_a_step_of_what_is_stored_has_the_level_that_the_plan_gives_it(unit):
    """Computed in another way, from the plan's distributions at each level, sum by sum; the margins are the plan's."""
    noise = together_noise(NAMES[: unit.cells], unit=unit)
    for at in (level("1/7"), level(1), level(alpha="1/3"), level(50)):
        plan = once_together(noise.columns, unit=unit, noise=noise.way.kind, relaxable=True).at(at)
        if noise.way.kind == "rotated":
            assert noise.at(at).margins == plan.margins
        assert noise.guarantee(at, noise.columns) == noise.at(at).guarantee
        charged = [distribution.charge for distribution in noise.way.distributions if hasattr(distribution, "charge")]
        assert all(charge <= 1 for charge in charged)
        assert noise.margin(at, "0.95") == max(noise.at(at).margins)


def test_facts_that_spend_more_are_refused():
    noise = together_noise(NAMES[:3], unit=RAISED)
    facts = noise.facts()
    assert type(noise).of_facts(facts) == noise
    sums = facts["signed_sums"]
    for other in ([{**sums[0], "shares": ["1"] * 3}], [{**sums[0], "rows": [[1, 1, 1]] * 3}], []):
        with pytest.raises((UtmostError, LookupError, ValueError)):
            type(noise).of_facts({**facts, "signed_sums": other})
    with pytest.raises(OutOfRange):
        Promise.of_facts({"columns": ["a"], "noise": facts})


def test_a_table_changed_together_is_kept_and_read_back(tmp_path):
    table = {"d": ["x", "y"], "a": [7, 10**17], "b": [3, -(10**17)], "c": [1, 2]}
    promise = Promise(noise=together_noise(["a", "b", "c"], unit=ut.Unit(2, 3), largest=10**18), public="d")
    assert Promise.of_facts(promise.facts()) == promise
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        first = ledger.publish("t", table, promise, epsilon=40).table
        assert ledger.view("t", epsilon=40).table == first
        for name in "abc":
            assert all(abs(cell - true) < 9 for cell, true in zip(first[name], table[name], strict=True))
        assert ledger.relax("t", table, epsilon=60).table["a"] != table["b"]
        said = ledger.view("t", epsilon=60).save(tmp_path / "t.csv")
        assert ledger.verify().responses == 2
    assert (said["noise"]["kind"], said["noise"]["relaxable"]) == ("rotated", True)
    assert read_release(tmp_path / "t.csv").columns[0] == "a"


def test_what_cannot_be_is_refused():
    with pytest.raises(OutOfRange, match="once"):
        together_noise(["a", "a"], unit=ut.Unit(1, 2))
    with pytest.raises(OutOfRange, match='"signed", "rotated"'):
        together_noise(["a", "b"], unit=ut.Unit(1, 2), noise="joint")
    with pytest.raises(OutOfRange, match="a, b; got a, c"):
        Promise(["a", "c"], noise=together_noise(["a", "b"], unit=ut.Unit(1, 2)))
    with pytest.raises(Unsupported, match="identifier"):
        together_noise(["a", "b"], unit=ut.Unit(1, 2)).by_item()
    with pytest.raises(BadTable):
        ut.release({"a": [1], "b": [1.5]}, ut.Promise(noise=together_noise(["a", "b"], unit=ut.Unit(1, 2))), epsilon=1)
    assert replace(together_noise(["a", "b"], unit=ut.Unit(1, 2)), largest=Fraction(9)).stored_bound() == 18


def test_a_promise_of_many_or_wide_groups_is_refused_before_it_is_worked_out():
    """No search makes such groups; parsing them would take a service too long, since each has other distributions."""
    facts = together_noise(NAMES[:3], unit=RAISED, noise="signed").facts()
    groups = [[f"c{k}"] for k in range(300)]
    many = [{"rows": [[1]], "shares": [f"1/{k + 1}"], "spent": []} for k in range(300)]
    wide = [[f"c{k}" for k in range(8)]]
    rows = [[int(k == place) for k in range(8)] for place in range(8)]
    for cells, about in (
        (300, {"groups": groups, "shares": ["1/300"] * 300, "signed_sums": many}),
        (8, {"groups": wide, "shares": ["1"], "signed_sums": [{"rows": rows, "shares": ["1/8"] * 8, "spent": []}]}),
    ):
        columns = [name for group in about["groups"] for name in group]
        noise = facts | about | {"columns": columns, "cells": cells}
        with pytest.raises(BadTable, match="7 columns"):
            Promise.of_facts({"columns": columns, "noise": noise})
