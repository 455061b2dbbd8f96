"""The spending of other tools is charged to a dataset: once, within its limit, and not lost in a rollback."""

import json
import shutil

import pytest

import utmost as ut
from running import called, new_ledger
from utmost.errors import AlreadyPublished, BudgetExceeded, NotALevel, NotPublished, OutOfRange, Quarantined
from utmost.ledger import Ledger

KEY = bytes(range(32))
PROMISE = ut.Promise("n", unit=ut.Unit(1, 1))
WHAT = "OpenDP, mean age, 2025"


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as opened:
        yield opened


def test_one_budget_holds_for_all_tools(ledger):
    ledger.budget("d", limit=2)
    ledger.publish("r", {"n": [1]}, PROMISE, epsilon=1, dataset="d")
    assert ledger.charge("d", epsilon="1/2", what=WHAT).remaining == ut.level("1/2").epsilon
    with pytest.raises(BudgetExceeded):
        ledger.relax("r", {"n": [1]}, epsilon=2)
    with pytest.raises(BudgetExceeded):
        ledger.charge("d", epsilon="3/4", what="another")
    assert ledger.spent(dataset="d") == ut.level("3/2")
    ledger.relax("r", {"n": [1]}, epsilon="3/2")
    assert ledger.budget("d").remaining == 0
    assert ledger.verify().spent["d"].level == ut.level(2)
    assert ledger.history(dataset="d")[-2].facts == {"dataset": "d", "level": "1/2", "what": WHAT}


def test_the_limit_of_a_misspelt_dataset_can_be_removed(ledger):
    """It stood for good, and each release of another dataset needed independent=True."""
    ledger.budget("studnets", limit=2)
    with pytest.raises(OutOfRange):
        ledger.publish("r", {"n": [1]}, PROMISE, epsilon=1, dataset="students")
    ledger.remove_limit("studnets")
    ledger.budget("students", limit=2)
    ledger.publish("r", {"n": [1]}, PROMISE, epsilon=1, dataset="students")
    assert [budget.dataset for budget in ledger.status().datasets] == ["students"]
    limits = [event.facts for event in ledger.history() if event.kind == "budgeted"]
    assert [facts["limit"] for facts in limits if facts["dataset"] == "studnets"] == ["2", None]
    assert ledger.verify().spent["students"].level == ut.level(1)
    ledger.charge("other", epsilon=1, what=WHAT, independent=True)
    for dataset, error in (("students", OutOfRange), ("other", OutOfRange), ("studnets", NotPublished)):
        before = ledger.budget("students").spent
        with pytest.raises(error):  # nothing that was spent is hidden
            ledger.remove_limit(dataset)
        assert ledger.budget("students").spent == before


def test_a_charge_counts_once(ledger):
    first = ledger.charge("d", epsilon=1, what=WHAT)
    assert ledger.charge("d", epsilon=1, what=WHAT) == first
    assert len(ledger.history(dataset="d")) == 1
    with pytest.raises(AlreadyPublished, match="what="):
        ledger.charge("d", epsilon=2, what=WHAT)
    with pytest.raises(OutOfRange, match="independent=True"):
        ledger.charge("e", epsilon=2, what=WHAT)
    ledger.charge("e", epsilon=2, what=WHAT, independent=True)
    assert (ledger.spent(dataset="d"), ledger.spent(dataset="e")) == (ut.level(1), ut.level(2))


@pytest.mark.parametrize(
    ("dataset", "epsilon", "what", "error"),
    [("d", 1, "", OutOfRange), ("d", 1, "a\nb", OutOfRange), ("d", 1, 7, OutOfRange), ("", 1, WHAT, OutOfRange)],
)
def test_wrong_charges_write_nothing(ledger, dataset, epsilon, what, error):
    with pytest.raises(error):
        ledger.charge(dataset, epsilon=epsilon, what=what)
    with pytest.raises(NotALevel):
        ledger.charge("d", epsilon="one", what=WHAT)
    ledger.charge("d", epsilon=1, what=WHAT)
    with pytest.raises(OutOfRange, match="'D'"):
        ledger.charge("D", epsilon=1, what=WHAT)
    assert [event.kind for event in ledger.history()] == ["opened", "charged"]


def test_a_rollback_loses_no_charge(tmp_path):
    place = tmp_path / "l.db"
    with Ledger.open(place, create=True, key=KEY) as ledger:
        ledger.charge("d", epsilon=1, what="kept")
    shutil.copy(place, tmp_path / "old.db")
    with Ledger.open(place, key=KEY) as ledger:
        ledger.charge("d", epsilon="1/2", what="lost")
    shutil.copy(tmp_path / "old.db", place)
    with Ledger.open(place, key=KEY) as ledger:
        with pytest.raises(Quarantined):
            ledger.charge("d", epsilon=1, what="new")
        ledger.resume("the disk broke")
        assert ledger.spent(dataset="d") == ut.level("3/2")
        ledger.verify()


def test_the_command_charges_and_the_history_shows_it(tmp_path):
    place = tmp_path / "l.db"
    budget = "ledger", "budget", "--ledger", place, "--dataset", "d"
    assert "utmost ledger create" in called(*budget, "--limit", "1").stderr
    new_ledger(place)
    assert called(*budget, "--limit", "1").returncode == 0
    charge = "ledger", "charge", "--ledger", place, "--dataset", "d", "--epsilon", "1/4", "--what", WHAT
    assert json.loads(called(*charge, "--json").stdout)["remaining"] == "3/4"
    assert json.loads(called(*charge, "--json").stdout)["remaining"] == "3/4"
    assert WHAT.split(",", maxsplit=1)[0] in called("ledger", "history", "--ledger", place).stdout
    assert "--epsilon" in called(*charge[:6], *charge[8:]).stderr


def test_what_was_spent_beyond_the_limit_can_be_charged_after_the_limit_is_raised(tmp_path):
    """The remedy of the refusal, applied: an amount that was spent must not stay unrecorded."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.budget("visits", limit=1)
        with pytest.raises(
            BudgetExceeded, match=r"raise the limit, and make the charge again\. To raise it: ledger\.budget"
        ):
            ledger.charge("visits", epsilon=2, what="OpenDP, 2025")
        ledger.budget("visits", limit=2)
        assert ledger.charge("visits", epsilon=2, what="OpenDP, 2025").spent == 2
