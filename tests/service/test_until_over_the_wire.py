"""Accuracy first through the service: approved with its rule and its ladder, published, and read by a recipient."""

import numpy as np
import pytest

import utmost as ut
from service.test_client import Inside
from service.visiting import Visitor
from utmost.errors import Unsupported
from utmost.exact import level
from utmost.ledger import PublishRequest
from utmost.service import Grant, Settings, application, connect

ONE_STORE = True

TABLE = {"department": ["A", "B"], "n": [9000, 7000]}
RULE = ut.within("10 %", {"department": ["A"]}, steps=4)
PROMISE = ut.Promise("n", public="department", unit=ut.Unit(1, 1), until=RULE)


def test_a_second_person_sees_rule_and_ladder_and_a_recipient_the_level_reached(opened):
    service = opened()
    app = application(service, Settings(rate=1e6, burst=10**6))

    def token(who, role):
        return service.bearers.make(None, who, who, role, (Grant("*"),))[1]

    ada, grace, rita = token("Ada", "curator"), token("Grace", "approver"), token("Rita", "recipient")
    with (
        connect("http://localhost", ada, transport=Inside(app)) as curator,
        connect("http://localhost", grace, transport=Inside(app)) as approver,
        connect("http://localhost", rita, transport=Inside(app)) as recipient,
    ):
        name = curator.propose(PublishRequest("r", PROMISE, level(2), "people"))["name"]
        lines = {line["of"]: line["words"] for line in approver.proposal(name)["promise"]["first"]}
        assert lines["stops as soon as"] == RULE.words
        assert lines["ladder"] == "epsilon = 0.25, 0.5, 1, 2: the level reached is spent, at most 2"
        page = Visitor(app, grace).get(f"/proposal?name={name}").text
        assert RULE.words in page
        assert "at the last level" in page
        approver.decide(name, "approved")
        answer = curator.publish("r", TABLE, PROMISE, epsilon=2, dataset="people", proposal=name)
        assert (answer.level, answer.is_met, answer.stop.promised) == (level("1/4"), True, level(2))
        assert curator.budget("people")["spent"] == "1/4"
        assert answer.margin() == answer.table["n_margin"][0]
        seen = recipient.view("r", epsilon="1/4")
        assert seen.stop == answer.stop
        assert seen.table == answer.table
        assert ut.check_statement(seen.statement, seen.table)
        assert curator.publish("r", TABLE, PROMISE, epsilon=2, dataset="people", proposal=name).table == answer.table
    page = Visitor(app, rita).get("/release?name=r&at=1/4").text
    assert "promised beforehand" in page
    assert "at the level where the rule stopped" in page


def test_the_tables_of_a_plan_stop_and_are_read_by_a_recipient(opened):
    """The document that a recipient gets says where the rule stopped, and tells of no larger level."""
    service = opened(approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6))
    domain = ut.Domain(department=["A", "B"], sex=["men", "women"])
    counted = ut.counting.CountedTable(domain, np.array([[900, 800], [700, 950]]), ut.Unit(1, 1))
    plan = ut.choose_plan(ut.Workload(domain, {"sex": 1, "": 1}), counted.unit, epsilon=2)
    promise = ut.Promise.of_counted(counted, noise=plan, until=ut.within("10 %", steps=4))

    def token(who, role):
        return service.bearers.make(None, who, who, role, (Grant("*"),))[1]

    ada, rita = token("Ada", "curator"), token("Rita", "recipient")
    with (
        connect("http://localhost", ada, transport=Inside(app)) as curator,
        connect("http://localhost", rita, transport=Inside(app)) as recipient,
    ):
        answer = curator.publish("r", counted, promise, epsilon=2, dataset="people")
        assert (answer.level, answer.is_met, answer.stop.promised) == (level("1/4"), True, level(2))
        assert curator.budget("people")["spent"] == "1/4"
        curator.relax("r", counted, epsilon=2)
        seen = recipient.view("r", epsilon="1/4")
        assert seen.stop == answer.stop
        assert seen.total({"sex": "men"}) == answer.total({"sex": "men"})
        assert seen["sex"]["count_margin"].tolist() == answer["sex"]["count_margin"].tolist()
        assert level(2) not in seen.ledger_facts.levels
    page = Visitor(app, rita).get("/release?name=r&at=1/4").text
    assert "promised beforehand" in page
    assert "at the level where the rule stopped" in page


def test_a_rule_that_cannot_be_kept_is_refused_over_the_wire(opened):
    service = opened(approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6))
    ada = service.bearers.make(None, "Ada", "Ada", "curator", (Grant("*"),))[1]
    with connect("http://localhost", ada, transport=Inside(app)) as curator, pytest.raises(Unsupported):
        curator.publish("r", TABLE, ut.Promise(["x", "y"], noise=ut.PointNoise(200), until=RULE), epsilon=2)
