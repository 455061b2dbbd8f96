"""What the slow fuzz once found without a type: each refused call names what was required."""

import sys
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

import utmost as ut
from utmost import leakage, local, losses, optima
from utmost.errors import BadTable, LedgerError, OutOfRange, Unsupported, UtmostError
from utmost.exact import level
from utmost.geometry import PowerField, exact_mechanism
from utmost.ledger import Ledger
from utmost.local import BitResponse, CategoryCoupling, ThresholdedLaplace, ThresholdedPair, balanced_family
from utmost.noise import Geometric, Laplace, Staircase
from utmost.privacy import Amount
from utmost.privacy_types import PrivacyType
from utmost.promises import key_noise, selected_cell_noise
from utmost.releases import DetailRule, PlanarRelease, Texts, WithholdingRule
from utmost.spaces import Policy, counts, places
from utmost.statements import trend
from utmost.workloads import Plan, edges


class Unconvertible:
    def __array__(self, *arguments, **named):
        raise KeyError("no array")


HUGE = Fraction(10**1500 + 7, 3)
LINE = PrivacyType(counts(2), alpha="1/2")

TABLE = ut.release(
    {"ward": ["p", "q"], "n": [7, 9]}, ut.Promise(columns="n", public="ward", unit=ut.Unit(1, 1)), epsilon=1, once=True
)
TEN = ut.Domain(age=edges([0, 10, 20]))
SUMS = ut.release(np.array([7, 9]), Plan(TEN, ut.Unit(1, 1), {"age": 1}), epsilon=1, once=True).table

RESPONSES = [ThresholdedLaplace(BitResponse.permanent(a)) for a in ("1/2", "1/4")]

CALLS = {
    "CategoryCounts": lambda: local.CategoryCounts(None, 4),
    "CategoryCounts without clients": lambda: local.CategoryCounts(np.array([1, 2, 3]), None),
    "CategoryCoupling": lambda: CategoryCoupling(level(alpha="1/2"), level(3)),
    "folded_channel": lambda: optima.folded_channel(level(1), 3),
    "losses.power": lambda: losses.power([]),
    "losses.power of text": lambda: losses.power("x"),
    "places": lambda: places("", name=None),
    "property_vulnerability": lambda: leakage.property_vulnerability(np.array([(0,)], dtype=[("a", "<i8")])),
    "PowerField": lambda: PowerField.of("x"),
    "exact_mechanism": lambda: exact_mechanism(LINE, []),
    "bits": lambda: local.respond(Unconvertible(), BitResponse.permanent("1/2")),
    "points": lambda: PlanarRelease(Unconvertible()),
    "half_step": lambda: Staircase.half_step(HUGE, 10**9),
    "optimal": lambda: Staircase.optimal(HUGE),
    "Laplace": lambda: Laplace(HUGE),
    "events": lambda: ut.interop.dp_event(Geometric(1), cells=-(10**40)),
    "risen": lambda: ThresholdedPair(*RESPONSES).risen(0, 10**1500),
    "ThresholdedLaplace": lambda: ThresholdedLaplace(1),
    "a selection of a table": lambda: TABLE.total("ward"),
    "a column of a table": lambda: TABLE.total(column=["n"]),
    "a ratio of a table": lambda: TABLE.ratio({"ward": "p"}, 3),
    "a selection of sums": lambda: SUMS.total(3),
    "a difference from nothing": lambda: SUMS.difference(None, {}),
    "a quantile of no level": lambda: SUMS.quantile(3, "1/2"),
    "cumulative sums": lambda: SUMS.cumulative("age", together="yes"),
    "sums that are none": lambda: SUMS.mean(sums=3),
    "a withheld table": lambda: SUMS.withhold("age", below=1)[["age"]],
    "a clean selection": lambda: SUMS.clean().total(3),
    "a release of no plan": lambda: ut.release(np.array([7, 9]), "age", epsilon=1, once=True).table,
    "a release of no level": lambda: replace(SUMS, level=1),
    "a group that is no text": lambda: DetailRule(3, {"age": 100}),
    "levels of trust": lambda: ut.releases.check_coalitions(["ann"]),
    "a trend": lambda: trend(3),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_refusal_is_typed(name):
    """One of our errors, which says what was required."""
    with pytest.raises(UtmostError, match=r"must|need|may|can"):
        CALLS[name]()


def test_what_is_refused_costs_no_import(monkeypatch):
    """Cells are checked before dp-accounting is loaded; OpenDP, which loads for seconds, only where it may be used."""
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    monkeypatch.setitem(sys.modules, "dp_accounting.pld.privacy_loss_distribution", None)
    for door in (ut.interop.dp_event, ut.interop.privacy_loss_distribution):
        with pytest.raises(OutOfRange, match="cells"):
            door(Staircase(1), cells=-(10**40))
    pytest.importorskip("opendp.mod")
    monkeypatch.delitem(sys.modules, "opendp")
    # Loaded before, so that what the refusal itself loads is seen.
    import_module("utmost.interfaces.interop.measurements")
    before = set(sys.modules)
    with pytest.raises(Unsupported, match="OpenDP must allow"):
        ut.interop.opendp_measurement(Geometric(1))
    assert set(sys.modules) == before


def test_directories_are_no_files(tmp_path):
    """A ledger's file is said to be none at once, and which file to name; a table may be a folder of Parquet files."""
    with pytest.raises(LedgerError, match="a file; got a directory"):
        Ledger.open(tmp_path, key=bytes(32), witness=tmp_path.parent / "w")
    with pytest.raises(BadTable, match="must contain Parquet files"):
        places(str(tmp_path))


def test_a_policy_of_a_thousand_public_secrets_is_made_at_once():
    """No path is shorter than the direct one, so none is looked for."""
    policy = Policy.public(1000)
    assert (policy.size, len(policy.components)) == (1000, 1000)
    small = Policy.public(3)
    assert small.distances.tolist() == Policy(small.distances).distances.tolist()
    assert Policy.hidden(3).distances.tolist() == Policy(Policy.hidden(3).distances).distances.tolist()


@pytest.mark.parametrize(
    "call",
    [
        lambda: ut.releases.Answer.of_statement({"n": [1]}, {"a": 1}),
        lambda: balanced_family({"age": slice(0, 2)}, 3),
        lambda: Ledger.open("\ud800"),
    ],
    ids=["a statement without a kind", "categories that cannot be hashed", "a path that no system has"],
)
def test_what_long_fuzzing_found_is_refused_by_our_errors(call):
    with pytest.raises(UtmostError):
        call()


LONG = [10**5000, Fraction(1, 10**5000), Fraction(10**5000 + 1, 10**5000), "1e5000", "1e-5000", "9" * 5000]
DOMAIN = ut.Domain(a=["p", "q"])
OF_LONG = {
    "sensitivity": lambda long: repr(ut.Unit(long, 1)),
    "in all": lambda long: repr(ut.Unit(1, 2, in_total=long)),
    "on the reals": lambda long: ut.Promise("n", noise=ut.CellNoise(ut.Unit(long, 1), numbers="reals")).guarantee(
        epsilon=1
    ),
    "a cell": lambda long: (
        ut.release({"n": [long]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=1, once=True).statement
    ),
    "per": lambda long: ut.Promise(["x", "y"], noise=ut.PointNoise(long)).guarantee(epsilon=1),
    "delta": lambda long: key_noise(["w", "n"], delta=long),
    "false names": lambda long: selected_cell_noise(["w", "n"], Texts("ab", most=3), false_keys=long),
    "an edge": lambda long: ut.Domain(a=edges([0, long])),
    "a step": lambda long: Amount("paid", long),
    "ends": lambda long: Amount("paid", 1, (0, long)),
    "below": lambda long: WithholdingRule.of(below=long),
    "part": lambda long: WithholdingRule.of(relative_margin=long),
    "a weight": lambda long: ut.Workload(DOMAIN, {"a": long}),
    "a distribution": lambda long: repr(Laplace(epsilon=1, sensitivity=long)),
    "a prior": lambda long: ut.Consumer([long, 1], ut.losses.absolute),
}


@pytest.mark.parametrize("name", OF_LONG)
def test_numbers_of_more_digits_than_python_writes_are_refused_by_type(name):
    """They ended in an error of Python's own, of a text of more than 4 300 digits or a float that is none."""
    for long in LONG:
        with pytest.raises(UtmostError):
            OF_LONG[name](long)


def test_texts_know_their_lengths_as_numbers():
    assert Texts("ab", most="2").size == Texts("ab", most=2).size == 6
