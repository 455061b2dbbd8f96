"""Stopping rules in a ledger: the last level is reserved, the reached level is charged; a kill leaves all or
nothing."""

import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest

import utmost as ut
from disk import Disk, library
from reliability.clients import Children
from utmost.counting import CountedTable
from utmost.errors import AlreadyPublished, BudgetExceeded, Unsupported
from utmost.exact import level
from utmost.ledger import Ledger, PublishRequest, read_sealed
from utmost.sampling import Identifiers
from utmost.workloads import Domain, Workload

KEY = bytes(range(32))
UNIT = ut.Unit(1, 1)
RULE = ut.within("10 %", steps=5)
TABLE = {"department": ["A", "B"], "n": [400, 150]}
PROMISE = ut.Promise("n", public="department", unit=UNIT, until=RULE)
PLAIN = ut.Promise("n", public="department", unit=UNIT)


DOMAIN = Domain(department=["A", "B"], sex=["men", "women"])
COUNTED = CountedTable(DOMAIN, np.array([[400, 350], [300, 420]]), UNIT)
PLANNED = ut.Promise(noise=ut.choose_plan(Workload(DOMAIN, {"sex": 1, "": 1}), UNIT, epsilon=4), until=RULE)


def figures(answer):
    """The released numbers."""
    if isinstance(answer.table, dict):
        return [int(n) for n in answer.table["n"]]
    return [int(n) for sums in answer.table.measured.values() for n in sums.ravel()]


def kinds(ledger):
    return [event.kind for event in ledger.history()]


@pytest.fixture(params=["sealed", "derived", "open"])
def ledger(tmp_path, request):
    options = {"sealed": request.param != "open", "derived": request.param == "derived"}
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY, **options) as made:
        yield made


def test_it_is_one_transaction_and_the_level_reached_is_charged(ledger):
    answer = ledger.publish("a", TABLE, PROMISE, epsilon=4, dataset="people", request="tonight")
    ladder = RULE.levels(level(4))
    climbed = ladder[: ladder.index(answer.level) + 1]
    assert kinds(ledger) == ["opened", "published", *["answered"] * (len(climbed) - 1), "stopped"]
    assert ledger.levels("a") == climbed
    assert ledger.spent(dataset="people") == answer.level
    assert answer.ledger_facts.together == answer.level
    again = ledger.publish("a", TABLE, PROMISE, epsilon=4, dataset="people", request="tonight")
    assert (again.table, again.statement) == (answer.table, answer.statement)
    assert ledger.view("a", epsilon=answer.level).statement == answer.statement
    assert ledger.margin("a", epsilon=answer.level) == answer.margin() == answer.table["n_margin"][0]
    assert ledger.verify().responses == len(climbed)


def test_the_tables_of_a_plan_climb_in_one_transaction(ledger):
    """The last level is reserved, the reached level is charged; repeated, viewed and relaxed the answer stays the
    same."""
    ledger.budget("people", 4)
    answer = ledger.publish("a", COUNTED, PLANNED, epsilon=4, dataset="people", request="tonight")
    climbed = RULE.levels(level(4))[: RULE.levels(level(4)).index(answer.level) + 1]
    assert answer.is_met
    assert kinds(ledger)[2:] == ["published", *["answered"] * (len(climbed) - 1), "stopped"]
    assert ledger.budget("people").remaining == 4 - answer.level.epsilon
    again = ledger.publish("a", COUNTED, PLANNED, epsilon=4, dataset="people", request="tonight")
    assert again.statement == answer.statement == ledger.view("a", epsilon=answer.level).statement
    assert figures(again) == figures(answer)
    assert ledger.margin("a", epsilon=answer.level) == answer.margin()
    assert (again.confidence, again.table.stop) == (answer.confidence, answer.stop)
    with pytest.raises(AlreadyPublished):
        ledger.publish("a", COUNTED, ut.Promise(noise=PLANNED.noise), epsilon=4, dataset="people")
    with pytest.raises(BudgetExceeded):
        ledger.publish("b", replace(COUNTED, cells=COUNTED.cells * 2), PLANNED, epsilon=4, dataset="people")
    sharper = ledger.relax("a", COUNTED, epsilon=4)
    assert sharper.stop.is_met is None
    assert ledger.spent(dataset="people") == level(4)
    assert ledger.verify().responses == len(climbed) + 1


def test_another_epsilon_or_rule_is_another_release(ledger):
    answer = ledger.publish("a", TABLE, PROMISE, epsilon=4, request="tonight")
    for words in ({"epsilon": 2}, {"epsilon": answer.level}, {"epsilon": 8}):
        with pytest.raises(AlreadyPublished, match="answers one level"):
            ledger.publish("a", TABLE, PROMISE, **words)
        with pytest.raises(AlreadyPublished, match=r"request.*tonight"):
            ledger.publish("a", TABLE, PROMISE, **words, request="tonight")
    for promise in (PLAIN, ut.Promise("n", public="department", unit=UNIT, until=ut.within("9 %", steps=5))):
        with pytest.raises(AlreadyPublished):
            ledger.publish("a", TABLE, promise, epsilon=4)
    assert ledger.publish("a", TABLE, PROMISE, epsilon=4, version=2).level  # the remedy


def test_a_budget_has_to_allow_the_last_level_and_gets_the_rest_back(ledger):
    ledger.budget("people", 3)
    with pytest.raises(BudgetExceeded, match="is epsilon = 3"):
        ledger.publish("a", TABLE, PROMISE, epsilon=4, dataset="people")
    with pytest.raises(BudgetExceeded):
        ledger.rehearse("a", epsilon=4, dataset="people", table=TABLE, promise=PROMISE)
    assert not ledger.releases
    first = ledger.publish("a", TABLE, PROMISE, epsilon=3, dataset="people")  # the remedy
    left = 3 - first.level.epsilon
    assert first.level < level(3)
    assert ledger.budget("people").remaining == left
    second = ledger.publish("b", {**TABLE, "n": [500, 200]}, PROMISE, epsilon=left, dataset="people")
    assert ledger.budget("people").remaining == left - second.level.epsilon
    sharper = ledger.relax("a", TABLE, epsilon=1)
    assert ledger.spent(dataset="people").epsilon == 1 + second.level.epsilon
    assert sharper.stop is None  # of no level of the ladder, 3/16, 3/8, ...
    assert ledger.publish("a", TABLE, PROMISE, epsilon=3, dataset="people").statement == first.statement


def test_two_in_one_transaction_need_room_for_both_last_levels(ledger):
    ledger.budget("people", 3)
    tables = {"a": TABLE, "b": {**TABLE, "n": [900, 300]}}

    def asked(at):
        return [PublishRequest(name, PROMISE, level(at), "people") for name in tables]

    with pytest.raises(BudgetExceeded):
        ledger.publish_measures(asked(2), tables)
    assert kinds(ledger) == ["opened", "budgeted"]
    answers = ledger.publish_measures(asked("3/2"), tables)
    assert kinds(ledger).count("stopped") == 2
    assert ledger.spent(dataset="people").epsilon == sum(answer.level.epsilon for answer in answers.values())


def test_noise_by_identifier_climbs_where_the_ledger_keeps_the_answers(ledger):
    promise = ut.Promise("n", id_column="id", drop="id", unit=UNIT, keyed_by_id=True, until=RULE)
    table = {"id": ["x", "y", "z"], "n": [400, 300, 500]}
    answer = ledger.publish("a", table, promise, epsilon=4)
    swapped = {"id": ["z", "x", "y"], "n": [500, 400, 300]}
    again = ledger.publish("a", swapped, promise, epsilon=4)
    assert list(again.table["n"]) == [answer.table["n"][row] for row in (2, 0, 1)]
    assert ledger.relax("a", swapped, epsilon=6).level == level(6)


def test_committed_rows_whose_answers_are_not_kept_are_refused(tmp_path):
    promise = ut.Promise("n", id_column="id", unit=UNIT, until=RULE)
    with Ledger.open(tmp_path / "l.db", create=True, key=KEY) as ledger:
        key = ledger.items.commitment_key("i", promise)
        rows = key.committed([Identifiers.of(["x"])], {"n": [4]})
        with pytest.raises(Unsupported, match="until= needs") as error:
            ledger.items.publish(PublishRequest("i", promise, level(1), "people"), rows)
        assert "Leave out until=" in str(error.value)
        plain = ut.Promise("n", id_column="id", unit=UNIT)
        assert ledger.items.publish(PublishRequest("i", plain, level(1), "people"), rows)


def test_a_rollback_is_charged_with_the_level_reached(tmp_path):
    options = {"key": KEY, "witness": tmp_path / "w"}
    with Ledger.open(tmp_path / "l.db", create=True, **options) as ledger:
        ledger.publish("x", TABLE, PLAIN, epsilon=1, dataset="people")
        shutil.copy(tmp_path / "l.db", tmp_path / "old.db")
        lost = ledger.publish("a", {**TABLE, "n": [900, 800]}, PROMISE, epsilon=4, dataset="people")
    shutil.copy(tmp_path / "old.db", tmp_path / "l.db")
    with Ledger.open(tmp_path / "l.db", **options) as ledger:
        ledger.resume("the disk died")
        assert ledger.spent(dataset="people").epsilon == 1 + lost.epsilon
        again = ledger.publish("a", {**TABLE, "n": [900, 800]}, PROMISE, epsilon=4, dataset="people")
        assert ledger.spent(dataset="people").epsilon == 1 + lost.epsilon + again.epsilon
        assert ledger.verify()


def test_a_recipient_reads_the_stop_with_the_key_of_its_level(tmp_path):
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        answer = ledger.publish("a", TABLE, PROMISE, epsilon=4)
        keys = {at: ledger.level_key("a", epsilon=at) for at in ledger.levels("a")}
    seen = read_sealed(tmp_path / "l.db", "a", keys[answer.level])
    assert (seen.stop, seen.margin(), seen.level) == (answer.stop, answer.margin(), answer.level)
    for at in [at for at in keys if at != answer.level]:
        assert read_sealed(tmp_path / "l.db", "a", keys[at]).stop.is_met is None


@pytest.mark.skipif(library() is None or not hasattr(os, "fork"), reason="no disk is watched here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(
    ("table", "promise", "stride"),
    [
        (TABLE, PROMISE, 9),
        (COUNTED, PLANNED, 17),
        pytest.param(TABLE, PROMISE, 1, marks=pytest.mark.slow),
        pytest.param(COUNTED, PLANNED, 1, marks=pytest.mark.slow),
    ],
    ids=["cells", "plan", "every step with cells", "every step with a plan"],
)
def test_a_kill_leaves_all_of_it_or_nothing(tmp_path, table, promise, stride):
    """A process dies at operations on the disk, by default at every ninth or seventeenth: all levels are there and
    charged, or none."""
    children, point, survived = Children(), 0, False
    while not survived:
        place = str(tmp_path / f"{point}.db")
        with Ledger.open(place, create=True) as made:
            made.budget("people", 5)

        def job(say, place=place, point=point):
            with Ledger.open(place) as opened:
                left = [point]

                def before(_):
                    left[0] -= 1
                    if left[0] < 0:
                        os.kill(os.getpid(), signal.SIGKILL)
                    return 0

                with Disk(before):
                    answer = opened.publish("a", table, promise, epsilon=4, dataset="people")
                say([figures(answer), str(answer.level.epsilon)])

        lines, status = children.heard(children.start(job))
        survived = not os.WIFSIGNALED(status)
        with Ledger.open(place) as opened:
            answer = opened.publish("a", table, promise, epsilon=4, dataset="people")
            told = [figures(answer), str(answer.level.epsilon)]
            assert lines in ([], [told])
            climbed = RULE.levels(level(4)).index(answer.level)
            assert kinds(opened) == ["opened", "budgeted", "published", *["answered"] * climbed, "stopped"]
            assert opened.budget("people").remaining == 5 - answer.level.epsilon
            assert opened.verify()
        point += stride
    assert lines == [told]
    assert point > 20
