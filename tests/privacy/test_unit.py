"""The unit of privacy: one object for three numbers, at every adapter where these are read."""

from fractions import Fraction

import pytest

import utmost as ut
from utmost.errors import OutOfRange, WrongKind
from utmost.ledger import Ledger
from utmost.privacy import Amount, Unit
from utmost.releases import (
    GradualRelease,
    bridge,
    cell_noise_at,
    epsilon_for,
    path,
    relax,
    tighten,
)

TABLE = {"n": [3, 5, 8]}
UNIT = Unit(3, 2, "change-one")


DOORS = {
    "release": lambda **unit: ut.release(TABLE, ut.Promise("n", **unit), epsilon=1, once=True),
    "cell_noise_at": lambda **unit: cell_noise_at(1, **unit),
    "epsilon_for": lambda **unit: epsilon_for(20, **unit),
    "GradualRelease": lambda **unit: GradualRelease([1, 2], **unit),
    "relax": lambda **unit: relax([1, 2], 1, 2, cell_noise=ut.CellNoise(**unit)),
    "tighten": lambda **unit: tighten([1, 2], 2, 1, cell_noise=ut.CellNoise(**unit)),
    "bridge": lambda **unit: bridge([1, 2], [1, 3], 1, "3/2", 2, cell_noise=ut.CellNoise(**unit)),
    "path": lambda **unit: path(1, **unit),
}


WHOLE = ("release", "cell_noise_at", "epsilon_for", "relax", "tighten", "bridge")
"""What takes a unit, and no numbers in its place."""


@pytest.mark.parametrize("adapter", DOORS)
def test_every_adapter_takes_the_unit_whole_and_never_beside_its_numbers(adapter):
    DOORS[adapter](unit=UNIT)
    with pytest.raises(WrongKind, match=r"^unit .*int"):
        DOORS[adapter](unit=3)
    if adapter in WHOLE:
        return
    with pytest.raises(OutOfRange, match="unit= and sensitivity="):
        DOORS[adapter](unit=UNIT, sensitivity=3)
    with pytest.raises(OutOfRange, match=r"unit= and cells="):
        DOORS[adapter](unit=UNIT, cells=2)


def test_a_promise_without_a_unit_or_a_noise_is_refused():
    with pytest.raises(OutOfRange, match="no sensitivity="):
        ut.Promise("n")


def test_only_the_cells_have_a_default_elsewhere():
    GradualRelease([1, 2], sensitivity=3)
    with pytest.raises(OutOfRange, match=r"no sensitivity="):
        GradualRelease([1, 2], cells=2)


def test_the_unit_and_its_numbers_are_one_promise():
    assert ut.Promise(columns="n", unit=UNIT).once().at(1).unit == UNIT


def test_a_replaced_record_is_charged_twice_in_gradual_releases_too():
    """A response under change-one is as noisy as one of twice as many cells, at every level."""
    for epsilon in ("1/100", 1, 12):
        replaced, added = (
            ut.Promise("n", unit=unit).margins(epsilon) for unit in (Unit(1, 2, "change-one"), Unit(1, 4))
        )
        assert replaced == added


def test_a_ledger_takes_the_unit_and_keeps_it(tmp_path):
    with Ledger.open(tmp_path / "releases.db", create=True) as ledger:
        ledger.publish("a", TABLE, ut.Promise(columns="n", unit=UNIT), epsilon=1)
        assert ledger.releases[0].noise.unit == UNIT
        ledger.publish("a", TABLE, ut.Promise(columns="n", noise=ut.CellNoise(UNIT)), epsilon=1)
        assert len(ledger.history("a")) == 1


@pytest.mark.parametrize(
    "unit",
    [
        Unit(1, 4),
        Unit("1/3", 2, "change-one"),
        Unit(500, 2, amount=Amount("spent", "0.01")),
        Unit(20, 30, "change-one", nonnegative=True, in_total="201/2"),
    ],
)
def test_what_is_shown_can_be_typed(unit):
    """And says nothing that is usual."""
    assert eval(repr(unit), {"Unit": Unit, "Amount": Amount}) == unit
    assert repr(Unit(1, 4)) == "Unit(1, cells=4)"


def test_a_bound_in_total_is_kept_where_it_bounds():
    assert (Unit(2, 3).reach, Unit(2, 3).in_total, Unit(2, 3).epsilon_parts) == (6, None, 3)
    for most in (2, 3, 5, "11/2"):
        unit = Unit(2, 3, in_total=most)
        assert unit.in_total == unit.reach == Fraction(most)
        assert (unit.epsilon_parts, unit.whole_cells) == (Fraction(most) / 2, Fraction(most) // 2)
        assert Unit.of_facts(unit.facts()) == unit
    for most in (6, 7):
        assert Unit(2, 3, in_total=most) == Unit(2, 3)


@pytest.mark.parametrize("promise", [{}, {"neighbours": "change-one"}, {"nonnegative": True}])
def test_a_total_is_public_where_records_are_replaced_and_none_lowers_a_cell(promise):
    assert Unit(1, 1, "change-one", nonnegative=True, exactly=True).exactly
    with pytest.raises(OutOfRange, match="exactly= needs"):
        Unit(1, 1, exactly=True, **promise)


@pytest.mark.parametrize("parts", [(3, 2, "7/2"), ("1/2", 3, None), ("3/2", 1, None)])
def test_everybody_is_counted_with_the_same_whole_number_where_the_total_is_public(parts):
    """No sum of whole cells is 7/2: a promise that nobody can keep is no promise."""
    sensitivity, cells, in_total = parts
    whom = {"neighbours": "change-one", "nonnegative": True, "in_total": in_total}
    assert Unit(sensitivity, cells, **whom).reach.denominator == 2
    with pytest.raises(OutOfRange, match="whole number"):
        Unit(sensitivity, cells, exactly=True, **whom)
