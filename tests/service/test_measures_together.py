"""Several measures through a service in one transaction: approvals, levels, tables and answers of all, or of none."""

import json

import pytest

import utmost as ut
from counting_words import counted_with
from ledger.crash_points import a_draw_fails
from service.conftest import ALL, TABLE, TERMS
from service.publications import Terms, document, publish_by
from service.test_client import Inside
from service.visiting import Forms, Visitor
from utmost.errors import BudgetExceeded, DataChanged, NeedsApproval, NotAllowed, OutOfRange, RequestReused
from utmost.exact import level
from utmost.ledger import AnswerRequest, PublishRequest, shared_requests
from utmost.service import Grant, Settings, application, connect

ONE_STORE = True

KEY = bytes(range(32))
SALES = {"user": ["ann", "bob", "bob", "eve"], "shop": ["A", "A", "B", "A"], "paid": [3, 7, 9, 4]}
MEASURES = {"visits": ut.count(2), "spent": ut.sum("paid", per_cell=20)}


def counted(**changed):
    words = {"person": "user", "domain": ut.Domain(shop=["A", "B"]), "at_most": 2, "key": KEY, "measures": MEASURES}
    return counted_with(SALES | changed, **words)


@pytest.fixture(scope="module")
def tables():
    return counted()


@pytest.fixture(scope="module")
def shared(tables):
    plans = {
        name: ut.choose_plan(ut.Workload(table.domain, {"shop": 1, "": 1}), table.unit, epsilon=1)
        for name, table in tables.items()
    }
    return ut.workloads.share_level(plans, epsilon=1)


@pytest.fixture
def connected(opened):
    """Connections of each role, to a service that asks for approvals or not."""

    def of(*, approvals):
        service = opened(approvals=approvals)
        app = application(service, Settings(rate=1e6, burst=10**6))

        def made(owner, role, *grants, drop=0):
            presented = service.bearers.make(None, f"{owner} {role} {drop}", owner, role, grants or ALL)[1]
            return connect("http://localhost", presented, transport=Inside(app, drop))

        return made

    return of


def proposed(curator, tables, shared):
    """A proposal for each measure."""
    requests = shared_requests(tables, shared, dataset="sales")
    return {request.name: curator.propose(request)["name"] for request in requests}


def publish_shared(curator, tables, shared, dataset, *, epsilon=None, **options):
    requests = shared_requests(tables, shared, dataset=dataset, epsilon=epsilon)
    return curator.publish_measures(requests, tables, **options)


def test_published_and_relaxed_as_in_a_local_ledger(connected, tables, shared):
    """The same releases, levels and budget; an answer that is lost is asked for again, and drawn once."""
    curator = connected(approvals=False)("Ada", "curator", drop=2)
    lower = publish_shared(curator, tables, shared, "sales", request="tonight")
    assert {name: release.level for name, release in lower.items()} == shared.levels(level(1))
    again = publish_shared(curator, tables, shared, "sales", request="tonight")
    higher = curator.relax_shared(tables, shared, epsilon=2)
    later = curator.relax_shared(tables, shared, epsilon=2)
    for name in tables:
        assert again[name].table.facts() == lower[name].table.facts()
        assert later[name].table.facts() == higher[name].table.facts()
        assert curator.view(name, epsilon=higher[name].level).table.facts() == higher[name].table.facts()
    assert curator.budget("sales")["spent"] == "2"
    assert len(curator.releases) == 2
    with pytest.raises(DataChanged):
        curator.relax_shared(counted(paid=[1, 1, 1, 1]), shared, epsilon=3)
    with pytest.raises(OutOfRange, match="visits, spent"):
        publish_shared(curator, {"visits": tables["visits"]}, shared, "sales")
    assert curator.budget("sales")["spent"] == "2"


def test_each_needs_its_approval_and_none_is_said_without_all(connected, tables, shared):
    made = connected(approvals=True)
    curator, approver = made("Ada", "curator"), made("Grace", "approver")
    proposals = proposed(curator, tables, shared)
    approver.decide(proposals["visits"], "approved")
    for some in (None, {"visits": proposals["visits"]}, proposals):
        with pytest.raises(NeedsApproval):
            publish_shared(curator, tables, shared, "sales", proposals=some)
    assert curator.releases == []
    approver.decide(proposals["spent"], "approved")
    with pytest.raises(NeedsApproval, match="the approved request"):  # at other levels than were approved
        publish_shared(curator, tables, shared, "sales", epsilon=2, proposals=proposals)
    with pytest.raises(NeedsApproval):
        publish_shared(curator, tables, shared, "others", proposals=proposals)
    assert curator.waiting() != []
    lower = publish_shared(curator, tables, shared, "sales", proposals=proposals)
    assert curator.waiting() == []
    with pytest.raises(NeedsApproval):
        curator.relax_shared(tables, shared, epsilon=2)
    # what is stored needs none
    assert set(curator.relax_shared(tables, shared)) == set(lower)
    assert curator.budget("sales")["spent"] == "1"


def test_what_fails_after_the_first_is_drawn_leaves_nothing(opened, tables, shared, monkeypatch):
    service = opened(approvals=False)
    curator = service.bearers.make(None, "k", "Ada", "curator", ALL)[0]
    levels = shared.levels(shared.level)
    requests = {
        name: Terms(ut.Promise(noise=plan), "sales").request(name, levels[name]) for name, plan in shared.plans.items()
    }
    a_draw_fails(monkeypatch, 2)
    with pytest.raises(MemoryError):
        service.releases.publish_measures(curator, "tonight", list(requests.values()), tables, {})
    assert (service.ledger.releases, service.ledger.spent(dataset="sales")) == ((), None)
    monkeypatch.undo()
    made = service.releases.publish_measures(curator, "tonight", list(requests.values()), tables, {})
    assert set(made) == set(tables)
    with pytest.raises(RequestReused):
        service.releases.publish_measures(curator, "tonight", [requests["visits"]], tables, {})
    terms = Terms(requests["visits"].promise, "sales")
    with pytest.raises(RequestReused):
        publish_by(service, curator, "tonight", "visits", tables["visits"], level(1), terms)


def test_a_limit_has_room_for_all_or_none(connected, tables, shared):
    made = connected(approvals=False)
    admin, curator = made("Alan", "admin"), made("Ada", "curator")
    admin.budget("sales", "3/4")
    with pytest.raises(BudgetExceeded):
        publish_shared(curator, tables, shared, "sales")
    assert curator.releases == []
    admin.budget("sales", 1)
    publish_shared(curator, tables, shared, "sales")
    with pytest.raises(BudgetExceeded):
        curator.relax_shared(tables, shared, epsilon="5/4")


def test_plain_tables_go_together_and_versions_are_those_of_the_first_time(opened):
    """Not for plans alone: tables of cells, each by terms of its own; a repeated request means the same versions."""
    service = opened(approvals=False)
    curator = service.bearers.make(None, "k", "Ada", "curator", ALL)[0]
    terms = Terms.read(TERMS.facts() | {"dataset": "admissions"})
    other = {**TABLE, "admitted": [1, 2, 3]}
    requests, brought = [terms.request("first", 1), terms.request("second", "1/2")], {"first": TABLE, "second": other}
    tables = service.releases.publish_measures(curator, "k", requests, brought, {})
    assert [view.release.version for view in tables.values()] == [1, 1]
    assert [list(view.table) for view in tables.values()] == [["department", "admitted", "admitted_margin"]] * 2
    higher = [AnswerRequest("first", level(2), None), AnswerRequest("second", level(3), None)]
    relaxed = service.releases.relax_measures(curator, "r", higher, brought, {})
    publish_by(service, curator, "v", "first", other, level(1), terms, version=2)
    again = service.releases.relax_measures(curator, "r", higher, brought, {})
    assert [view.release.version for view in again.values()] == [1, 1]
    cells = [[list(view.table["admitted"]) for view in views.values()] for views in (relaxed, again)]
    assert cells[0] == cells[1]
    assert service.ledger.spent(dataset="admissions").epsilon == 2 + 3 + 1


def test_tables_of_two_datasets_or_declared_apart_differently_are_refused(service, who):
    curator = who("Ada", "curator")
    here, there = (Terms.read(TERMS.facts() | {"dataset": name}) for name in ("here", "there"))
    apart = Terms.read(TERMS.facts() | {"dataset": "here", "independent": True})
    for first, second in ((here, there), (here, apart), (TERMS, TERMS)):
        requests = [first.request("a", 1), second.request("b", 1)]
        with pytest.raises(OutOfRange, match="independent="):
            service.releases.publish_measures(curator, "k", requests, {"a": TABLE, "b": TABLE}, {})
    assert service.ledger.releases == ()


def test_a_token_for_some_releases_publishes_those_alone(service, who):
    """And declares that they are of nobody else; one measure beyond its grants refuses all."""
    few = who("Bo", "curator", Grant("a"), Grant("b"))
    terms = Terms.read(TERMS.facts() | {"dataset": "a", "independent": True})
    other = {**TABLE, "admitted": [1, 2, 3]}
    requests, tables = [terms.request("a", 1), terms.request("c", 1)], {"a": TABLE, "c": other}
    with pytest.raises(NotAllowed):
        service.releases.publish_measures(few, "k", requests, tables, {})
    plain = Terms.read(terms.facts() | {"independent": False})
    with pytest.raises(NotAllowed, match="declare"):
        service.releases.publish_measures(few, "k", [plain.request("a", 1)], tables, {})


def test_the_body_is_bounded_and_its_names_differ(connected, tables, shared):
    curator = connected(approvals=False)("Ada", "curator")
    noise = {"kind": "cells", "sensitivity": 1, "cells": 1}
    promise = {"columns": ["admitted"], "public": ["department"], "noise": noise}
    body = {"name": "a", "level": "1", "promise": promise, "dataset": "a", "table": TABLE}
    for bodies, status in (([], 422), ([body] * 2, 422), ([body | {"name": f"n{k}"} for k in range(11)], 422)):
        answer = curator._client.post("/v1/publications", json={"measures": bodies}, headers={"Idempotency-Key": "k"})
        assert answer.status_code == status
    nested = {"measures": [body | {"table": {"admitted": [[1], 2]}}]}
    answer = curator._client.post("/v1/publications", json=nested, headers={"Idempotency-Key": "k"})
    assert answer.status_code == 422
    assert curator.releases == []


def test_a_frame_of_an_engine_is_refused(place, tables, shared):
    import polars as pl

    lazy = pl.LazyFrame({"shop": ["A"], "visits": [1]})
    with ut.Ledger.open(place, create=True) as ledger:
        promise = ut.Promise("visits", public="shop", unit=ut.Unit(1, 1))
        with pytest.raises(ut.errors.Unsupported, match="count_table"):
            ledger.publish_measures(
                [PublishRequest("visits", promise, level(1), "sales", None, None, independent=False)], {"visits": lazy}
            )


def in_file(thing):
    return ("file.json", json.dumps(document(thing)).encode(), "application/json")


@pytest.fixture
def visitor(opened):
    def of(owner, role, *, approvals, made={}):  # noqa: B006  (one application for all who visit it)
        if approvals not in made:
            service = opened(approvals=approvals)
            made[approvals] = service, application(service, Settings(rate=1e6, burst=10**6))
        service, app = made[approvals]
        return Visitor(app, service.bearers.make(None, f"{owner} {role}", owner, role, ALL)[1]), service

    return of


def test_by_page_files_of_plans_and_counted_tables_are_published_together(visitor, tables, shared):
    ada, service = visitor("Ada", "curator", approvals=False)
    rows, files = {"dataset": "sales"}, {}
    for row, (name, table) in enumerate(tables.items(), 1):
        rows |= {f"release-{row}": name, f"epsilon-{row}": "1/2"}
        files |= {f"plan-{row}": in_file(shared.plans[name])}
        files |= {f"table-{row}": in_file(table)}
    page = ada.get("/publish")
    broken = files | {"table-2": ("c.json", b"{}", "application/json")}
    assert ada.fill(page, "/publish/measures", files=broken, **rows).status_code == 422
    twice = rows | {"release-2": rows["release-1"]}
    assert "each release must be chosen once" in ada.fill(page, "/publish/measures", files=files, **twice).text
    assert ada.fill(page, "/publish/measures", dataset="sales").status_code == 422
    assert service.ledger.releases == ()
    done = ada.fill(page, "/publish/measures", files=files, **rows)
    assert "Published." in done.text
    assert service.ledger.spent(dataset="sales").epsilon == 1
    assert {release.name for release in service.ledger.releases} == set(tables)
    relaxing = {name: field for name, field in rows.items() if name != "dataset"}
    relaxing |= {name: "1" for name in relaxing if name.startswith("epsilon")}
    brought = {name: file for name, file in files.items() if name.startswith("table")}
    swapped = brought | {"table-1": brought["table-2"]}
    page = ada.get("/publish")
    assert "Relax several together" in page.text
    assert ada.fill(page, "/relax/measures", files=swapped, **relaxing).status_code in (409, 422)
    assert ada.fill(ada.get("/publish"), "/relax/measures").status_code == 422
    assert service.ledger.spent(dataset="sales").epsilon == 1
    assert "Relaxed." in ada.fill(ada.get("/publish"), "/relax/measures", files=brought, **relaxing).text
    assert service.ledger.spent(dataset="sales").epsilon == 2


WAGES = {"region": ["N", "N", "S", "S"] * 20, "income": [20, 40, 30, 90] * 20, "rent": [5, 7, 9, 11] * 20}


def wages():
    """Counted tables of two means, by the names of their releases."""
    measures = {"income": ut.mean("income", each=(0, 100)), "rent": ut.mean("rent", each=(0, 20))}
    tables = ut.count_measures(WAGES, ut.Domain(region=["N", "S"]), ut.Counting(each_row=True), measures)
    return {f"wages: {name}": table for name, table in tables.items()}


def test_by_page_several_means_are_published_without_a_plan_and_shown(visitor):
    """As by the API; they are one table of the ledger, and each page shows counts, sums and means."""
    ada, service = visitor("Ada", "curator", approvals=False)
    rows, files = {"dataset": "wages"}, {}
    for row, (name, table) in enumerate(wages().items(), 1):
        rows |= {f"release-{row}": name, f"epsilon-{row}": "1/2"}
        files |= {f"table-{row}": in_file(table)}
    page = ada.get("/publish")
    assert ada.fill(page, "/publish/measures", files=files, **(rows | {"epsilon-2": ""})).status_code == 422
    assert service.ledger.releases == ()
    assert "Published." in ada.fill(page, "/publish/measures", files=files, **rows).text
    both = service.ledger.view_means("wages", epsilon=1)
    assert service.ledger.spent(dataset="wages").epsilon == 1
    shown = ada.get("/release?name=wages: rent").text
    for column in ("count", "rent_sum", "rent_mean"):
        assert f"region: {column}" in shown
    means = [f"{both.table[f'rent_mean{end}'][0]:g}" for end in ("", "_lower", "_upper")]
    assert all(mean in shown for mean in means), means


def test_by_page_several_means_are_one_table_under_one_name(visitor):
    """One name and one level; each mean gets an equal share, and the ledger has the same table as by the command."""
    ada, service = visitor("Ada", "curator", approvals=False)
    page, files = ada.get("/publish"), [in_file(table) for table in wages().values()]
    words = {"name": "wages", "epsilon": "1", "dataset": "payroll"}
    sent = {f"table-{row}": file for row, file in enumerate(files, 1)}
    plain = ut.count_table(WAGES, ut.Domain(region=["N", "S"]), ut.Counting(each_row=True))
    for wrong in ({"epsilon": ""}, {"name": ""}, {"files": {}}, {"files": {"table-1": files[0], "table-2": files[0]}},
                  {"files": {"table-1": in_file(plain)}}):  # fmt: skip
        given = {"files": sent, **words, **wrong}
        assert ada.fill(page, "/publish/means", **given).status_code == 422, wrong
    assert service.ledger.releases == ()
    done = ada.fill(page, "/publish/means", files=sent, **words)
    assert "Published." in done.text, done.text
    assert [release.name for release in service.ledger.releases] == ["wages: income", "wages: rent"]
    assert service.ledger.spent(dataset="payroll").epsilon == 1
    table = service.ledger.view_means("wages", epsilon=1).table
    assert {"count", "income_mean", "rent_mean"} <= set(table)
    again = ada.fill(ada.get("/publish"), "/publish/means", files=sent, **words | {"epsilon": "2"})
    assert again.status_code == 409, again.text


def test_a_field_or_file_that_stands_twice_in_a_form_is_refused(visitor):
    """The last one would be taken, in silence."""
    ada, service = visitor("Ada", "curator", approvals=False)
    (_, fields), *_ = [form for form in Forms(ada.get("/publish").text).found if form[0] == "/publish/means"]
    words = fields | {"name": "wages", "epsilon": "1", "dataset": "payroll"}
    files = [("table-1", in_file(table)) for table in wages().values()]
    for sent in (files, [*files[:1], ("epsilon", (None, b"2"))]):
        refused = ada.send("POST", "/publish/means", data=words, files=sent)
        assert (refused.status_code, "twice" in refused.text) == (400, True), refused.text
    assert service.ledger.releases == ()
    assert "Published." in ada.send("POST", "/publish/means", data=words, files=files[:1]).text


def test_by_page_several_means_are_approved_by_their_promises_and_brought_together(visitor):
    (ada, service), (grace, _) = visitor("Ada", "curator", approvals=True), visitor("Grace", "approver", approvals=True)
    tables = wages()
    for name, table in tables.items():
        promise = in_file(ut.Promise.of_counted(table))
        words = {"name": name, "dataset": "wages", "epsilon": "1/2"}
        made = ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, {"plan": promise}, **words)
        assert made.status_code == 200
        assert "rent" not in name or "rent_sum" in grace.proposal().text
        grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"})
    known = {
        proposal.release: proposal.name
        for proposal in service.proposals.all(service.bearers.authenticated(ada.presented))
    }
    files = {f"table-{known[name]}": in_file(table) for name, table in tables.items()}
    assert "Published." in ada.fill(ada.get("/proposals"), "/proposals/tables", files=files).text
    assert list(service.ledger.view_means("wages", epsilon=1).table)[1:4] == ["count", "count_margin", "income_sum"]


def test_by_the_api_several_means_are_published_as_in_a_local_ledger(connected):
    curator, tables = connected(approvals=False)("Ada", "curator"), wages()
    requests = [
        PublishRequest(name, ut.Promise.of_counted(table), level("1/2"), "wages", None, None, independent=False)
        for name, table in tables.items()
    ]
    answers = curator.publish_measures(requests, tables)
    assert {name: list(answer.table["region"])[-2:] for name, answer in answers.items()} == {
        "wages: income": ["income_sum", "income_sum_margin"],
        "wages: rent": ["rent_sum", "rent_sum_margin"],
    }


def test_by_page_the_tables_of_approved_proposals_are_brought_together(visitor, tables, shared):
    (ada, service), (grace, _) = visitor("Ada", "curator", approvals=True), visitor("Grace", "approver", approvals=True)
    for name in tables:
        plan = in_file(shared.plans[name])
        words = {"name": name, "dataset": "sales", "epsilon": "1/2"}
        ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, {"plan": plan}, **words)
    assert "Upload several tables together" not in ada.get("/proposals").text
    for _ in tables:
        grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"})
    assert "Upload several tables together" not in grace.get("/proposals").text
    page = ada.get("/proposals")
    known = {
        proposal.release: proposal.name
        for proposal in service.proposals.all(service.bearers.authenticated(ada.presented))
    }
    files = {f"table-{known[name]}": in_file(table) for name, table in tables.items()}
    wrong = files | {f"table-{'0' * 24}": next(iter(files.values()))}
    assert ada.fill(page, "/proposals/tables", files=wrong).status_code == 404
    assert service.ledger.releases == ()
    assert "Published." in ada.fill(page, "/proposals/tables", files=files).text
    assert service.ledger.spent(dataset="sales").epsilon == 1
    for name in tables:
        ada.fill(ada.get(f"/release?name={name}"), "/proposals", epsilon="1")
    for _ in tables:
        grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"})
    known = {
        proposal.release: proposal.name
        for proposal in service.proposals.all(service.bearers.authenticated(ada.presented))
        if proposal.verb == "relax"
    }
    relaxing = {f"table-{known[name]}": in_file(table) for name, table in tables.items()}
    both = dict([next(iter(relaxing.items())), list(files.items())[1]])
    assert (
        "either all proposals must publish, or all proposals must relax"
        in ada.fill(ada.get("/proposals"), "/proposals/tables", files=both).text
    )
    assert "Relaxed." in ada.fill(ada.get("/proposals"), "/proposals/tables", files=relaxing).text
    assert service.ledger.spent(dataset="sales").epsilon == 2
