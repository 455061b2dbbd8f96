"""Publishing by page: the margins of each level before anything is drawn, promises from files, and files to take."""

import io
import json
import re
from dataclasses import replace
from fractions import Fraction
from zipfile import ZipFile

import numpy as np
import pytest
from pyarrow import parquet

import utmost as ut
from service.conftest import publish
from service.publications import Terms, counted_in, document, planned, propose_by, publish_by
from service.test_pages import CSV, plan_and_table
from service.visiting import Visitor
from utmost.counting import CountedTable
from utmost.exact import level
from utmost.noise import Geometric
from utmost.privacy import Unit
from utmost.promises import Promise, key_noise
from utmost.releases import NoisySums
from utmost.service import Settings, application
from utmost.statements import read_release
from utmost.workloads import Domain, Plan, edges, periods

ONE_STORE = True

ASKED = {"name": "fresh", "columns": "admitted", "public": "department", "epsilon": "1/2"}


@pytest.fixture
def visitor(service, bearer):
    app = application(service, Settings(rate=1e6, burst=10**6))
    return lambda owner, role, *grants: Visitor(app, bearer(owner, role, *grants))


def looked(ada, page, files=None, headers=None, **asked):
    """What the second button of the first form says: the fields of the form, sent elsewhere."""
    fields = dict(re.findall(r'name="(proof|key|verb)" value="([^"]*)"', page.text)[:3])
    usual = {"sensitivity": "1", "cells": "1", "neighbours": "add-remove", "rows": "declared", "numbers": "integers"}
    return ada.send("POST", "/publish/preview", data=fields | usual | asked, files=files, headers=headers)


def cells_of(text):
    """The rows of the table on a page: what is in each cell."""
    rows = re.findall(r"<tr>(.*?)</tr>", text, re.DOTALL)
    return [
        [
            " ".join(re.sub(r"<[^>]+>", " ", cell).split())
            for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        ]
        for row in rows
    ]


def test_margins_and_spending_are_shown_before_anything_is_drawn(visitor, service):
    """At the level and around it; by a second route, the noise itself; nothing is written, nothing is spent."""
    ada = visitor("Ada", "curator")
    before = len(list(service.ledger.history()))
    levels = ("1/8", "1/4", "1/2", "1", "2")
    head, margins, spent = cells_of(looked(ada, ada.get("/publish"), **ASKED).text)
    assert head == ["Level ε", "0.125", "0.25", "0.5 chosen", "1", "2"]
    assert margins == ["margin of each released value", *(f"± {Geometric(level(at)).margin('0.95')}" for at in levels)]
    assert spent == ["fresh will have spent", "0.125", "0.25", "0.5", "1", "2"]
    assert len(list(service.ledger.history())) == before
    assert not service.proposals.all(service.bearers.authenticated(ada.presented))


def test_what_it_adds_to_what_was_spent(visitor, service, who):
    """Beside a release of the same dataset, under a limit: what each level would come to, and which is too much."""
    publish(service, who, level("1/4"))
    service.audit.limit(who("root", "admin"), "admissions", level(1))
    ada = visitor("Ada", "curator")
    answer = looked(ada, ada.get("/publish"), **ASKED, dataset="admissions")
    assert cells_of(answer.text)[-1] == ["admissions will have spent", "0.375", "0.5", "0.75", "too much", "too much"]
    assert "admissions has spent 0.25 so far, of a limit of 1." in re.sub(r"\s+", " ", answer.text)
    much = looked(ada, ada.get("/publish"), **(ASKED | {"epsilon": "2"}), dataset="admissions")
    assert "It could not be published" in much.text


def test_a_part_of_a_page_is_answered_or_the_whole(visitor):
    """For the script a part, for whoever has none a page; a refusal is said in both."""
    ada = visitor("Ada", "curator")
    page = ada.get("/publish")
    assert "<html" in looked(ada, page, **ASKED).text
    part = looked(ada, page, headers={"HX-Request": "true"}, **ASKED)
    assert part.text.lstrip().startswith("<h2>")
    wrong = looked(ada, page, headers={"HX-Request": "true"}, **(ASKED | {"epsilon": "-1"}))
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (422, True)


def test_a_refusal_names_the_fields_of_the_page(visitor):
    ada = visitor("Ada", "curator")
    page = ada.get("/publish")
    wrong = looked(ada, page, **ASKED | {"epsilon": "0"})
    assert "Write, for example, 1 in the field “Level ε”." in wrong.text
    assert '<label for="epsilon">Level ε</label>' in page.text


def test_who_may_not_publish_may_not_look(visitor):
    bo = visitor("Bo", "recipient")
    assert looked(bo, bo.get("/releases"), **ASKED).status_code == 403


def test_the_budget_of_a_dataset_of_others_is_not_shown(visitor, service, who):
    """A curator for some releases names a dataset that others spend: margins alone, in the same words as for none."""
    publish(service, who, level("3/16"))
    eve = visitor("Eve", "curator", ("fresh", None))
    answer = looked(eve, eve.get("/publish"), **ASKED, dataset="admissions", independent="on")
    assert "margin of each released value" in answer.text
    assert "0.1875" not in answer.text
    assert "will have spent" not in answer.text


def test_a_promise_is_brought_as_a_file(visitor, service):
    """What an approver reads and the ledger keeps is that promise, by its digest; a changed one is refused."""
    promise = Promise("admitted", public="department", unit=Unit(1, 1))
    content = json.dumps(document(promise)).encode()
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    brought = {"plan": ("promise.json", content, "application/json")}
    page = ada.get("/publish")
    without = ada.fill(page, "/proposals", {"kind": "plan"}, brought, name="fresh")
    assert (without.status_code, "Level ε" in without.text) == (422, True)
    forged = {"plan": ("promise.json", content.replace(b'"cells": 1', b'"cells": 2'), "application/json")}
    assert forged != brought
    assert ada.fill(page, "/proposals", {"kind": "plan"}, forged, name="fresh", epsilon="1").status_code == 422
    assert "waits" in ada.fill(page, "/proposals", {"kind": "plan"}, brought, name="fresh", epsilon="1").text
    assert "Approved." in grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"}).text
    table = {"table": ("a.csv", CSV, "text/csv")}
    assert "Published." in ada.fill(ada.proposal(), "/proposals/table", files=table).text
    assert service.ledger.release("fresh").noise == promise.noise


def test_a_chance_to_name_keys_that_protects_nobody_is_shown_to_curator_and_approver(visitor):
    """In the words of the library's own warning; a small chance and a small epsilon are not warned of."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    page = ada.get("/publish")
    for delta, is_weak in (("0.1", True), ("1e-6", False)):
        promise = Promise(noise=key_noise(["word", "n"], delta=delta))
        words = promise.at(1).weakness()
        assert bool(words) == is_weak
        brought = {"plan": ("promise.json", json.dumps(document(promise)).encode(), "application/json")}
        seen = looked(ada, page, brought, name=f"words {delta}", kind="plan", epsilon="1")
        assert ("This delta protects practically nobody" in seen.text) == is_weak
        ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, brought, name=f"words {delta}", epsilon="1")
        shown = grace.proposal().text
        assert (words in shown) == is_weak or not words
        assert ("This delta protects practically nobody" in shown) == is_weak
        grace.fill(grace.proposal(), "/proposals/decision", {"state": "refused"}, reason="seen")


def test_a_plan_is_looked_at_before_it_is_proposed(visitor):
    """The margin that each table will have, and the total."""
    ada = visitor("Ada", "curator")
    plan, _ = plan_and_table()
    answer = looked(ada, ada.get("/publish"), {"plan": plan}, name="sums", kind="plan", epsilon="")
    noise = planned(plan[1])[0].noise
    assert {row[0] for row in cells_of(answer.text)[1:-1]} == {
        f"margin of {of}" for of in NoisySums.without_data(ut.Promise(noise=noise), level(1), Fraction(19, 20)).bars()
    }


def test_a_name_with_a_comma_stands_in_quotes(visitor, service):
    """As the header of a CSV file has it, and as the script of the page writes it."""
    ada = visitor("Ada", "curator")
    asked = ASKED | {"drop": '"notes, old", x', "reason": "r"}
    assert ada.fill(ada.get("/publish"), "/proposals", **asked).status_code == 200
    (proposal,) = service.proposals.all(service.bearers.authenticated(ada.presented))
    _, facts = service.proposals.one(service.bearers.authenticated(ada.presented), proposal.name)
    assert facts["promise"]["drop"] == ["notes, old", "x"]


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_every_format_has_a_statement_of_its_own(visitor, published, tmp_path, ending):
    """The same bytes each time; the digest is theirs; the cells are those of the CSV; Excel has a sheet of words."""
    bo = visitor("Bo", "recipient")
    first, again = (bo.get(f"/release/table.{ending}?name=admissions&at=1/4").content for _ in range(2))
    assert first == again
    said = bo.get(f"/release/statement.json?name=admissions&at=1/4&of={ending}").content
    (tmp_path / f"t.{ending}").write_bytes(first)
    (tmp_path / f"t.{ending}.json").write_bytes(said)
    assert read_release(tmp_path / f"t.{ending}").margin() == 12
    if ending == "xlsx":
        assert json.loads(said)["guarantee"].encode() in _unpacked(first)
    if ending == "parquet":
        assert "Ada" not in str(parquet.read_metadata(io.BytesIO(first)).metadata)


def _unpacked(content):
    with ZipFile(io.BytesIO(content)) as packed:
        return b"".join(packed.read(name) for name in packed.namelist())


@pytest.mark.parametrize("unit", [Unit(1, 1), Unit(2, 3, in_total=4)])
def test_sums_dates_quartiles_and_withheld_cells_are_shown(visitor, service, who, unit):
    """On the page of a release by a plan: dates, quartiles where an axis has an order, small cells left out; and what
    bounds an individual in all."""
    domain = Domain(age=edges([0, 18, 65, None]), month=periods("2013", "2014", every="month"))
    plan = Plan(domain, unit, {"age month": 1})
    counted = CountedTable(domain, (100 * np.arange(domain.size)).reshape(domain.shape).tolist(), unit)
    terms, curator, approver = Terms(Promise(noise=plan)), who("Ada", "curator"), who("Grace", "approver")
    proposal = propose_by(service, curator, "d", "publish", "dated", level(1), terms=terms).name
    service.proposals.decide(approver, proposal, "approved")
    table = counted_in(json.dumps(document(counted)).encode())
    publish_by(service, curator, "d", "dated", table, level(1), terms, proposal=proposal)
    bo = visitor("Bo", "recipient")
    page = bo.get("/release?name=dated")
    assert "2013-12" in page.text
    assert ("all together by at most 4" in page.text) == (unit.in_total is not None)
    assert page.text.count("withheld") == 0
    assert bo.get("/release?name=dated&below=150").text.count('<span class="tag">withheld</span>') == 2
    assert "65+" in bo.get("/release?name=dated&quartiles=age").text
    assert "2013-" in bo.get("/release?name=dated&quartiles=month").text
    for wrong in ("below=x", "below=-1", "quartiles=none"):
        assert bo.get(f"/release?name=dated&{wrong}").status_code == 422, wrong
    whole = NoisySums.of_facts(bo.get("/release/release.json?name=dated&at=1").json())
    assert whole["age month"]["count"].shape == (36,)


def test_a_table_of_sums_is_taken_with_the_release_beside_it(visitor, service, who, tmp_path):
    """And read back as the whole release, whatever the format."""
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    plan, counted = plan_and_table()
    terms = Terms(planned(plan[1])[0])
    proposal = propose_by(service, curator, "d", "publish", "sums", level(1), terms=terms).name
    service.proposals.decide(approver, proposal, "approved")
    publish_by(service, curator, "d", "sums", counted_in(counted[1]), level(1), terms, proposal=proposal)
    bo = visitor("Bo", "recipient")
    for ending in ("csv", "parquet", "xlsx"):
        asked = "name=sums&at=1&marginal=sex"
        (tmp_path / f"s.{ending}").write_bytes(bo.get(f"/release/table.{ending}?{asked}").content)
        said = bo.get(f"/release/statement.json?{asked}&of={ending}").content
        (tmp_path / f"s.{ending}.json").write_bytes(said)
        assert ut.read_release(tmp_path / f"s.{ending}").total().value > 0, ending
    assert bo.get("/release/table.csv?name=sums&at=1&marginal=none").status_code == 422
    assert bo.get("/release/table.exe?name=sums&at=1").status_code in (404, 422)


def test_a_token_for_releases_that_are_chosen(visitor, published, service):
    """From a list, each with a largest level; what stands in lines goes before it."""
    root = visitor("root", "admin")
    page = root.get("/tokens")
    assert "<option>admissions</option>" in page.text
    chosen = {"release-1": "admissions", "up_to-1": "1/4", "release-2": "", "grants": ""}
    assert "A token for Cy" in root.fill(page, "/tokens", owner="Cy", role="recipient", days="7", **chosen).text
    lines = chosen | {"grants": "wages <= 2"}
    root.fill(root.get("/tokens"), "/tokens", owner="Di", role="recipient", days="7", **lines)
    made = {token.owner: token.grants for token in service.bearers.all(service.bearers.authenticated(root.presented))}
    assert [(grant.release, grant.up_to) for grant in made["Cy"]] == [("admissions", level("1/4"))]
    assert [(grant.release, grant.up_to) for grant in made["Di"]] == [("wages", level(2))]


DOMAIN = Domain(sex=["m", "w"], age=["<40", "40+"], town=["A", "B"])


@pytest.fixture
def seven_tables(service, who):
    """A release by a plan of cells, whose seven wanted tables are computed from them."""
    tables = ["sex", "age", "town", "sex age", "sex town", "age town", "sex age town"]
    workload = ut.Workload(DOMAIN, dict.fromkeys(tables, 1))
    plan = replace(Plan(DOMAIN, Unit(1, 1), {"sex age town": "3/4", "": "1/4"}), workload=workload)
    counted = CountedTable(DOMAIN, np.full((2, 2, 2), 900), Unit(1, 1))
    terms, curator, approver = Terms(Promise(noise=plan)), who("Ada", "curator"), who("Grace", "approver")
    proposal = propose_by(service, curator, "d", "publish", "seven", level(1), terms=terms).name
    service.proposals.decide(approver, proposal, "approved")
    table = counted_in(json.dumps(document(counted)).encode())
    publish_by(service, curator, "d", "seven", table, level(1), terms, proposal=proposal)
    return NoisySums.without_data(terms.promise, level(1), Fraction(19, 20)).bars()


def test_the_margins_of_a_plan_are_those_of_its_published_tables(visitor, service, who, seven_tables):
    """By every entrance; the noise of the total that was measured is in no table alone."""
    raw, largest = service.ledger.margin("seven", epsilon=1), max(seven_tables.values())
    assert raw != largest
    token = who("Bo", "recipient")
    assert service.releases.view(token, "seven", level(1)).margin == largest
    assert service.releases.margin(token, "seven", level(1)) == largest
    bo = visitor("Bo", "recipient")
    assert f"± {largest}" in bo.get("/releases").text
    page = bo.get("/release?name=seven").text
    for text in (bo.get("/releases").text, page):
        assert f"± {raw}<" not in text
    relaxing = cells_of(page[page.index('id="relaxing"') :])
    assert [row[1] for row in relaxing if row[0].startswith("ε = 1 ")] == [f"± {largest}"]
    for name, margin in seven_tables.items():
        assert any(row[0] == name and row[1] == f"± {margin}" for row in relaxing), name
        link = f"marginal={name.replace(' ', '+')}"
        assert f"table.csv?name=seven&amp;version=1&amp;at=1&amp;{link}" in page, name
        assert bo.get(f"/release/table.csv?name=seven&at=1&{link}").status_code == 200


def test_who_one_individual_is_goes_from_the_form_through_the_approval_to_the_statement(visitor):
    """The form says where to take it from; a counted table adds nothing to what was approved."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    events = {"who": ["a", "b"], "sex": ["m", "w"]}
    counted = ut.count_table(events, {"sex": ["m", "w"]}, ut.Counting(person="who", at_most=1))
    plan = ut.choose_plan(ut.Workload(counted.domain, {"sex": 1}), counted.unit, epsilon=1)
    page = ada.get("/publish")
    hints = re.findall(r'id="(?:plan-)?individual-hint">([^<]*)<', page.text)
    assert hints == [
        "For example one household.",
        "For example one household. Copy it from the counted table, where the file has it as individual: "
        "the statement has only what is approved.",
    ]
    brought = {"plan": ("plan.json", json.dumps(document(plan)).encode(), "application/json")}
    stated = {"individual": document(counted)["individual"], "proved": "on", "name": "people"}
    assert "waits" in ada.fill(page, "/proposals", {"kind": "plan"}, brought, **stated).text
    seen = grace.proposal().text
    assert stated["individual"] in seen
    for words in ("ask Ada which", "one individual changes no more than", "You cannot check two facts"):
        assert words not in seen, words
    assert "You cannot check one fact here" in seen
    grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"})
    assert ">approved<" in ada.get("/proposals").text
    address = ada.proposal()
    table = {"table": ("c.json", json.dumps(document(counted)).encode(), "application/json")}
    assert "Published." in ada.fill(address, "/proposals/table", files=table).text
    statement = ada.get("/release/release.json?name=people&at=1").json()
    assert statement["promise"]["individual"] == stated["individual"]
    for text in (ada.get("/proposals").text, ada.get(str(address.url)).text):
        assert ">published<" in text
        assert ">approved<" not in text


def test_a_proposal_beyond_the_limit_says_so_in_words_for_people(visitor, service, who):
    service.audit.limit(who("root", "admin"), "patients", level(1))
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    ada.fill(ada.get("/publish"), "/proposals", name="more", columns="n", epsilon="2", dataset="patients")
    page = " ".join(grace.proposal().text.split())
    assert "must add up to at most epsilon = 1; got a sum of epsilon = 2" in page
    assert "To raise the limit: ask an administrator of the service." in page
    assert "ledger.budget" not in page
    assert ">limit of patients</th><td>1<" in page
