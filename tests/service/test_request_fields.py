"""Every field of a request to publish arrives, whatever entrance it comes by; one that is dropped on its way is seen.

The fields come from `PublishRequest`, the entrances from `ENTRANCES`. A new field gets a text of its own, and each
entrance is called with it: one that does not take it, or loses it, turns this test red.
"""

import json
from dataclasses import fields, replace

import pytest

import utmost as ut
from running import with_recipe
from service.conftest import ALL, KEY
from service.publications import document
from service.test_client import Inside
from service.visiting import Visitor
from utmost.counting import CountedTable
from utmost.exact import level
from utmost.ledger import AnswerRequest, Ledger, PublishRequest, shared_requests
from utmost.releases import Texts
from utmost.sampling import Identifiers
from utmost.service import Service, Settings, application, connect
from utmost.workloads import share_level

BEFORE, TABLE = {"id": ["a", "b"], "n": [1, 2]}, {"id": ["a", "b"], "n": [3, 5]}
PROMISE = ut.Promise("n", id_column="id", drop="id", unit=ut.Unit(1, 1))
DOMAIN = ut.Domain(sex=["men", "women"])
WORDS = Texts("ab", most=3)
KNOWN = {
    "name": "r", "promise": PROMISE, "level": level("1/3"), "dataset": "people", "version": 2, "request": "nightly",
    "independent": True,
}  # fmt: skip
VALUES = {each.name: KNOWN.get(each.name, f"a {each.name}") for each in fields(PublishRequest)}
"""A value for each field, none of them its default."""


def counted(cells):
    return CountedTable(DOMAIN, cells, ut.Unit(1, 1))


def asked(*without):
    return {name: value for name, value in VALUES.items() if name not in without}


def of_call(*without):
    """The arguments of a call that takes a name and a level beside the others."""
    return asked("name", "level", "promise", *without) | {"epsilon": VALUES["level"]}


class World:
    """A ledger in which version 1 is there, and the values of version 2 under another dataset; a service behind it."""

    def __init__(self, path, run):
        self.path, self.run = path, run
        with self.opened(create=True) as ledger:
            ledger.publish("r", BEFORE, PROMISE, epsilon=1, dataset="people")
            ledger.publish("twin", TABLE, PROMISE, epsilon=1, dataset="others")

    @property
    def key(self):
        file = self.path / "key"
        file.write_text(KEY.hex(), encoding="ascii")
        file.chmod(0o600)
        return file

    def opened(self, **options):
        return Ledger.open(self.path / "l.db", key=KEY, witness=self.path / "w", **options)

    def service(self, ledger, **options):
        service = Service(ledger, **options)
        app = application(service, Settings(rate=1e6, burst=10**6))
        return lambda who, role: (app, service.bearers.make(None, who, who, role, ALL)[1])

    def kept(self, name="r"):
        with self.opened() as ledger:
            return ledger.release(name).request


def by_ledger(world):
    with world.opened() as ledger:
        answer = ledger.publish("r", TABLE, PROMISE, **of_call())
        assert answer.ledger_facts.data_version == 2
        # Made again as it was, it has the same answer, and a rehearsal says so.
        assert ledger.publish("r", TABLE, PROMISE, **of_call()).table == answer.table
        ledger.rehearse("r", table=TABLE, promise=PROMISE, **of_call())
    return world.kept(), {}


def by_means(world):
    people, each = {"sex": ["men", "women"]}, {"income": [[3, 5], [8, 9]], "rent": [[1, 2], [4, 4]]}

    def counted_at(row):
        events = people | {name: columns[row] for name, columns in each.items()}
        measures = {name: ut.mean(name, each=(0, 9)) for name in each}
        return ut.count_measures(events, DOMAIN, ut.Counting(each_row=True), measures)

    with world.opened() as ledger:
        ledger.publish_means("m", counted_at(0), epsilon=1, dataset="people")
        ledger.publish_means("twin of m", counted_at(1), epsilon=1, dataset="others")
        call = of_call()
        ledger.rehearse_means("m", counted_at(1), **call)
        ledger.publish_means("m", counted_at(1), **call)
        ledger.rehearse_means("m", counted_at(1), **call)
    of_this = {"name": "m: income", "promise": None, "level": level("1/6"), "request": "nightly: income"}
    return world.kept("m: income"), of_this


def by_items(world):
    by_workers = ut.Promise("n", id_column="id", unit=ut.Unit(1, 1))
    ids = [Identifiers.of(TABLE["id"])]
    with world.opened() as ledger:
        key = ledger.items.commitment_key("i", by_workers)
        ledger.items.publish(PublishRequest("i", by_workers, level(1), "people"), key.committed(ids, BEFORE))
        key = ledger.items.commitment_key("i", by_workers, version=2)
        request = PublishRequest(**VALUES | {"name": "i", "promise": by_workers})
        ledger.items.publish(request, key.committed(ids, TABLE))
    return world.kept("i"), {"name": "i", "promise": by_workers}


def by_cells_on_demand(world):
    with world.opened() as ledger:
        for name, counts in (("r", {"a": 1, "b": 2}), ("twin", {"a": 3, "b": 5})):
            dataset = {"r": "people", "twin": "others"}[name]
            ledger.cells_on_demand.publish(f"c {name}", counts, WORDS, most=9, epsilon=1, dataset=dataset)
        ledger.cells_on_demand.publish("c r", {"a": 3, "b": 5}, WORDS, most=9, **of_call())
    return world.kept("c r"), {"name": "c r", "promise": None}


def by_shared_level(world):
    plans = {name: ut.choose_plan(ut.Workload(DOMAIN, {"sex": 1}), ut.Unit(1, 1), epsilon=1) for name in ("v", "w")}
    tables = {"v": counted([3, 4]), "w": counted([8, 9])}
    shared, own = share_level(plans, epsilon=1), ("name", "promise", "level", "version", "request")
    with world.opened() as ledger:
        ledger.publish("twin of v", tables["v"], ut.Promise(noise=plans["v"]), epsilon=1, dataset="others")
        made = shared_requests(tables, shared, **asked(*own))
        ledger.publish_measures([replace(one, request=f"nightly {one.name}") for one in made], tables)
    of_this = {"name": "v", "promise": None, "level": made[0].level, "version": 1, "request": "nightly v"}
    return world.kept("v"), of_this


def by_client(world):
    with world.opened() as ledger:
        app, presented = world.service(ledger, approvals=False)("Ada", "curator")
        with connect("http://localhost", presented, transport=Inside(app)) as ada:
            ada.publish("r", TABLE, PROMISE, **of_call())
            told = ada.history("r")[-1]["facts"]  # by the service, to whoever may read the events of the release
            facts = PublishRequest(**asked("request", "independent")).facts()
            assert {name: told.get(name) for name in facts if name != "promise"} == {
                name: fact for name, fact in facts.items() if name != "promise"
            } | {"independent": None}
    return world.kept(), {"request": "named by the service"}


def by_proposal(world):
    """Proposed, approved as it is shown, and done."""
    with world.opened() as ledger:
        person = world.service(ledger)
        request = PublishRequest(**asked("request"))
        (app, ada), (_, grace) = person("Ada", "curator"), person("Grace", "approver")
        with (
            connect("http://localhost", ada, transport=Inside(app)) as curator,
            connect("http://localhost", grace, transport=Inside(app)) as approver,
        ):
            name = curator.propose(request)["name"]
            shown = approver.proposal(name)
            wanted = json.loads(json.dumps(PublishRequest(**asked("request")).facts()))
            assert shown["publication"] == wanted
            approver.decide(name, "approved")
            curator.publish("r", TABLE, PROMISE, **of_call(), proposal=name)
            relaxed = curator.propose(AnswerRequest("r", level(2), 2))["name"]
            pages = [Visitor(app, grace).get(f"/proposal?name={each}").text for each in (name, relaxed)]
        words = [value for value in asked("request").values() if isinstance(value, str)]
        assert all(word in page for word in words for page in pages)
    return world.kept(), {"request": "named by the service"}


FORM = {"columns": "n", "drop": "id", "id_column": "id", "epsilon": "1/3", "sensitivity": "1", "cells": "1"}


def by_form(world):
    """The form of the page, filled in as a browser sends it."""
    with world.opened() as ledger:
        ada = Visitor(*world.service(ledger, approvals=False)("Ada", "curator"))
        texts = {name: str(value) for name, value in asked("promise", "level", "request", "independent").items()}
        file = {"table": ("t.csv", b"id,n\na,3\nb,5\n", "text/csv")}
        page = ada.get("/publish")
        assert all(f'name="{name}"' in page.text for name in texts)
        done = ada.fill(page, "/publish", None, file, **FORM, **texts, independent="on")
        assert "Published." in done.text, done.text
    return world.kept(), {"request": "named by the service"}


def by_form_of_measures(world):
    plan = ut.choose_plan(ut.Workload(DOMAIN, {"sex": 1}), ut.Unit(1, 1), epsilon="1/3")
    files = {f"plan-{row}": document(plan) for row in (1, 2)}
    files |= {f"table-{row}": document(counted([10 * row, 7])) for row in (1, 2)}
    with world.opened() as ledger:
        ledger.publish("twin of v", counted([10, 7]), ut.Promise(noise=plan), epsilon=1, dataset="others")
        ada = Visitor(*world.service(ledger, approvals=False)("Ada", "curator"))
        texts = {name: str(value) for name, value in asked("name", "promise", "level", "version", "request").items()}
        sent = {name: (f"{name}.json", json.dumps(content).encode(), "application/json")
                for name, content in files.items()}  # fmt: skip
        rows = {"release-1": "v", "release-2": "w"}
        done = ada.fill(ada.get("/publish"), "/publish/measures", files=sent, **rows, **texts)
        assert "Published." in done.text, done.text
    return world.kept("v"), {"name": "v", "promise": None, "version": 1, "request": "named by the service"}


OPTIONS = {"level": "epsilon", "version": "data-version"}


def by_command(world):
    file = world.path / "t.csv"
    file.write_text("id,n\na,3\nb,5\n", encoding="utf-8")
    options = ["--independent"]
    for name, value in asked("promise", "independent").items():
        options += [f"--{OPTIONS.get(name, name)}", str(value.epsilon if name == "level" else value)]
    VALUES["promise"].save(world.path / "promise.json")
    options += ["--promise", world.path / "promise.json"]
    options += ["--ledger", world.path / "l.db", "--witness", world.path / "w", "--key-file", world.key]
    code, _, told = world.run(*with_recipe("release", file, *options, "--out", world.path / "out.csv"))
    assert code == 0, told
    return world.kept(), {}


def by_share_command(world):
    plan = ut.choose_plan(ut.Workload(DOMAIN, {"sex": 1}), ut.Unit(1, 1), epsilon=1)
    for row, name in enumerate(("v", "w"), 1):
        for file, content in ((name, plan), (f"counted-{name}", counted([10 * row, 7]))):
            (world.path / f"{file}.json").write_text(json.dumps(document(content)), encoding="utf-8")
    with world.opened() as ledger:
        ledger.publish("twin of v", counted([10, 7]), ut.Promise(noise=plan), epsilon=1, dataset="others")
    options = ["--independent"]
    for name, value in asked("name", "promise", "level", "version", "request", "independent").items():
        options += [f"--{name}", value]
    options += ["--ledger", world.path / "l.db", "--witness", world.path / "w", "--key-file", world.key]
    options += ["--publish", world.path / "counted.json", "--epsilon", "2/3"]
    code, _, told = world.run("share", world.path / "v.json", world.path / "w.json", *options)
    assert code == 0, told
    return world.kept("v"), {"name": "v", "promise": None, "level": level("1/3"), "version": 1, "request": None}


ENTRANCES = {
    "Ledger.publish": by_ledger, "Ledger.publish_means": by_means, "items.publish": by_items,
    "cells_on_demand.publish": by_cells_on_demand, "shared_requests": by_shared_level, "client.publish": by_client,
    "client.propose": by_proposal, "form": by_form, "form of measures": by_form_of_measures, "command": by_command,
    "share command": by_share_command,
}  # fmt: skip


def check_arrives(entrance, path, run):
    """Whether the ledger holds each field as it was asked for."""
    path.mkdir()
    kept, differs = entrance(World(path, run))
    for name, value in VALUES.items():
        wanted = differs.get(name, value)
        if name == "independent":  # no trace is kept of it: without it the twin of the values is refused
            assert kept.independent is False
        elif name == "promise" and wanted is None:
            assert isinstance(kept.promise, ut.Promise)
        elif name == "request" and wanted == "named by the service":
            assert kept.request is not None
        else:
            assert getattr(kept, name) == wanted, name


def test_each_field_has_a_value_that_is_not_its_default():
    for each in fields(PublishRequest):
        assert VALUES[each.name] != each.default


@pytest.mark.parametrize("entrance", ENTRANCES.values(), ids=ENTRANCES)
def test_every_field_arrives(entrance, tmp_path, run):
    check_arrives(entrance, tmp_path / "whole", run)
