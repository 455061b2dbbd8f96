"""The pages without a browser: who sees what, hostile names, cookies, and forms that nobody can forge."""

import csv
import html
import io
import itertools
import json
import re

import numpy as np
import pytest

from service.conftest import TABLE, TERMS, publish, relax
from service.publications import Terms, document, propose_by, publish_by
from service.visiting import PAGE, Visitor
from utmost.core.exact.defaults import CONFIDENCE
from utmost.counting import CountedTable
from utmost.exact import level

# The routes of all pages, so that no form is forgotten.
from utmost.interfaces.service.pages.page_forms import forms
from utmost.interfaces.service.pages.page_measures import measures
from utmost.interfaces.service.pages.page_publishing import publishing
from utmost.interfaces.service.pages.page_sign_in import sign_in
from utmost.interfaces.service.pages.page_tools import tools
from utmost.interfaces.service.pages.pages import pages
from utmost.interfaces.service.published_margins import published_bars
from utmost.privacy import Unit
from utmost.promises import Promise, key_noise
from utmost.releases import NoisySums
from utmost.service import Settings, application
from utmost.statements import read_release
from utmost.workloads import Domain, Workload, choose_plan

ONE_STORE = True

HOSTILE = "<script>alert(1)</script>'\"&{{7*7}}"
CSV = b"department,admitted\nA,601\nB,370\nC,322\n"
LONG = 8_888_888_888_888
"""A cell that stands by chance in none of the random texts of a page: three digits do, once in seventy pages."""
TOOLS = ("/read", "/explore", "/channel", "/trust")
PAGES = {
    "/releases": {"recipient", "curator", "approver", "auditor", "admin"},
    "/release?name=admissions": {"recipient", "curator", "approver", "auditor", "admin"},
    "/verify": {"recipient", "curator", "approver", "auditor", "admin"},
    "/proposals": {"curator", "approver", "auditor"},
    "/publish": {"curator"},
    "/waiting": {"curator", "approver"},
    "/history": {"curator", "approver", "auditor"},
    "/budgets": {"admin"},
    "/tokens": {"admin"},
    "/trail": {"auditor", "admin"},
}
ROLES = ("recipient", "curator", "approver", "auditor", "admin")


@pytest.fixture
def app(service):
    return application(service, Settings(rate=1e6, burst=10**6))


@pytest.fixture
def visitor(app, bearer):
    return lambda owner, role, *grants: Visitor(app, bearer(owner, role, *grants))


def test_each_role_sees_its_pages_and_no_others(visitor, published, service):
    """Role times page: 200 where it may, 403 where not; and the menu lists no page that is refused."""
    for role in ROLES:
        seen = visitor(f"a {role}", role)
        front = seen.get("/releases").text
        for page, allowed in PAGES.items():
            answer = seen.get(page)
            assert answer.status_code == (200 if role in allowed else 403), (role, page)
            assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")
            if "?" not in page:
                assert (f'href="{page}"' in front) == (role in allowed), (role, page)
        for page in TOOLS:
            assert seen.get(page).status_code == 200


def test_every_page_wants_a_token(app, published):
    """Without one the browser is sent to sign in, and comes back to where it wanted to go."""
    stranger = Visitor(app)
    for page in (*PAGES, *TOOLS, "/map", "/release/table.csv?name=admissions&at=1/4"):
        answer = stranger.get(page, follow=False)
        assert answer.status_code == 303, page
        assert answer.headers["location"].startswith("/login?next=%2F"), page
    assert stranger.get("/no-such-page").status_code == 404


def test_a_sign_in_leads_back_and_nowhere_else(app, bearer, published):
    """To a path of this site; an address of another one is ignored."""
    presented = bearer("Bo", "recipient")
    elsewhere = ("//e.example/", "https://e.example", "/\\e.example", "javascript:alert(1)", "/a\n/b")
    for wanted in ("/verify", *elsewhere):
        visitor = Visitor(app)
        page = visitor.get("/login", params={"next": wanted})
        answer = visitor.fill(page, "/login", token=presented, follow=False)
        assert answer.headers["location"] == ("/verify" if wanted == "/verify" else "/releases")
        forced = visitor.fill(page, "/login", token=presented, next=wanted, follow=False)
        assert forced.status_code in (303, 403)  # the proof was for the cookie before
    visitor, part = Visitor(app), {"HX-Request": "true"}
    page = visitor.get("/login", params={"next": "/verify?€"})
    answer = visitor.fill(page, "/login", token=presented, follow=False, headers=part)
    assert answer.headers["hx-redirect"] == "/verify?%E2%82%AC"  # a header has no such letters


@pytest.mark.parametrize(("scheme", "name"), [("http", "utmost"), ("https", "__Host-utmost")])
def test_the_cookie_is_read_by_no_script_and_sent_to_nobody_else(app, bearer, scheme, name):
    """HttpOnly and SameSite=Strict, for the whole site; Secure and __Host- over TLS; gone after the sign-out."""
    visitor = Visitor(app, scheme=scheme)
    answer = visitor.fill(visitor.get("/login"), "/login", token=bearer("Bo", "recipient"), follow=False)
    (cookie,) = answer.headers.get_list("set-cookie")
    assert cookie.startswith(f"{name}=utmost_")
    flags = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert flags == {"httponly", "path=/", "samesite=strict"} | ({"secure"} if scheme == "https" else set())
    out = visitor.fill(visitor.get("/releases"), "/logout", follow=False)
    assert "utmost_" not in " ".join(out.headers.get_list("set-cookie"))
    assert visitor.get("/releases", follow=False).status_code == 303


def test_a_wrong_token_signs_nobody_in(app, service, bearer, who):
    """Wrong, cut short, revoked: one and the same words, and no token in a cookie."""
    presented = bearer("Bo", "recipient")
    service.bearers.revoke(who("root", "admin"), presented.split("_")[1])
    for token in ("", "utmost_x", presented[:-1], presented):
        visitor = Visitor(app)
        answer = visitor.fill(visitor.get("/login"), "/login", token=token)
        assert answer.status_code == 401
        assert "This token is not valid" in answer.text
        assert presented not in answer.text
        assert visitor.get("/releases", follow=False).status_code == 303


def test_a_token_that_is_revoked_shows_nothing_more(visitor, service, who, published):
    """At the next page already."""
    seen = visitor("Bo", "recipient")
    assert seen.get("/releases").status_code == 200
    name = next(one.name for one in service.bearers.all(who("root", "admin")) if one.owner == "Bo")
    service.bearers.revoke(who("root", "admin"), name)
    assert seen.get("/releases", follow=False).status_code == 303


FORMS = {
    *(
        "/login", "/logout", "/proposals", "/proposals/decision", "/proposals/table", "/proposals/tables",
        "/proposals/withdrawal", "/publish", "/publish/means", "/publish/measures", "/relax/measures",
        "/publish/preview", "/relax", "/view",
    ),
    *("/tokens", "/tokens/revocation", "/budgets"),
    *("/verify/ledger", "/verify/receipt", "/verify/table"),
}  # fmt: skip


def test_a_form_of_another_site_is_refused(visitor):
    """Without the proof, with a wrong one, with that of another session, and where the browser says another site."""
    ada, other = visitor("Ada", "curator"), visitor("Eve", "curator")
    proof = 'name="proof" value="([0-9a-f]+)"'
    own, foreign = (re.search(proof, one.get("/releases").text)[1] for one in (ada, other))
    assert own != foreign
    for action in sorted(FORMS):
        for fields in ({"a": "b"}, {"proof": ""}, {"proof": "0" * 64}, {"proof": foreign}, {"proof": "é"}):
            assert ada.send("POST", action, data=fields, follow=False).status_code == 403, (action, fields)
        for site in ("cross-site", "same-site"):
            crossed = ada.send("POST", action, data={"proof": own}, follow=False, headers={"Sec-Fetch-Site": site})
            assert crossed.status_code == 403, (action, site)
        assert ada.send("POST", action, json={"proof": own}, follow=False).status_code == 415, action
    assert ada.get("/releases", follow=False).status_code == 200


def test_the_forms_tested_are_all_there_are():
    """Every page that takes a form stands in the list above."""
    routes = [route for part in (forms, sign_in, publishing, measures, pages, tools) for route in part.routes]
    assert {route.path for route in routes if "POST" in getattr(route, "methods", ())} == FORMS


def test_hostile_names_stay_text(visitor, service, who):
    """A release, an owner, a reason and a query that are markup: escaped on every page that shows them."""
    publish(service, who, level("1/4"), name=HOSTILE)
    propose_by(service, who(HOSTILE, "curator"), "h", "relax", HOSTILE, level(1), reason=HOSTILE)
    seen = {role: visitor(HOSTILE, role) for role in ROLES}
    tools = [f"/read?response={HOSTILE}", f"/explore?epsilon={HOSTILE}", f"/trust?owner={HOSTILE}&edges={HOSTILE}"]
    hostile = {"name": HOSTILE}
    for role, one in seen.items():
        for page in (*PAGES, *tools, "/release"):
            answer = one.get(page, params=hostile if page == "/release" else None)
            assert "<script>alert" not in answer.text, (role, page)
            assert "49" not in re.findall("&{{(.*?)}}", answer.text)
    shown = seen["curator"].get("/releases").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "{{7*7}}" in shown


def test_a_table_of_a_spreadsheet_with_semicolons_is_published(opened, bearer):
    service = opened(approvals=False)
    page = Visitor(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))
    for name, mark in (("x", b";"), ("y", b"\t")):
        words = {"name": name, "dataset": "x", "columns": "admitted", "public": "department", "epsilon": "1"}
        table = ("t.csv", CSV.replace(b",", mark), "text/csv")
        sent = page.fill(page.get("/publish"), "/publish", files={"table": table}, **words)
        assert "Published." in sent.text, sent.text
    assert [one.rows for one in service.ledger.releases] == [3, 3]


def test_from_proposal_to_table_by_forms(visitor, service):
    """A curator proposes, a second person approves, the table is brought, twice the same: published once."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    asked = {"name": "admissions", "columns": "admitted", "public": "department", "epsilon": "1/4"}
    made = ada.fill(ada.get("/publish"), "/proposals", **asked)
    assert "waits for a second person" in made.text
    assert "/proposals/decision" not in made.text
    early = ada.send("POST", "/proposals/table", data={"a": "b"}, follow=False)
    assert early.status_code == 403
    assert "Approved." in grace.fill(grace.proposal(), "/proposals/decision").text
    page = ada.proposal()
    first = ada.fill(page, "/proposals/table", files={"table": ("a.csv", CSV, "text/csv")})
    assert "Published." in first.text, first.text
    again = ada.fill(page, "/proposals/table", files={"table": ("a.csv", CSV, "text/csv")})
    assert "Published." in again.text
    assert len(service.ledger.releases) == 1
    changed = CSV.replace(b"601", b"%d" % LONG)
    other = ada.fill(page, "/proposals/table", files={"table": ("a.csv", changed, "text/csv")})
    assert other.status_code in (409, 422)
    assert str(LONG) not in other.text


def test_relaxing_by_forms(visitor, service, who, published):
    """Proposed from the page of the release, approved, brought; the page then shows both levels."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    ada.fill(ada.get("/release?name=admissions"), "/proposals", epsilon="1", reason="better bars")
    grace.fill(grace.proposal(), "/proposals/decision")
    (mine,) = (one.name for one in service.proposals.all(who("Ada", "curator")) if one.reason == "better bars")
    page, files = ada.get(f"/proposal?name={mine}"), {"table": ("a.csv", CSV, "text/csv")}
    done = ada.fill(page, "/proposals/table", where={"proposal": mine}, files=files)
    assert "Relaxed." in done.text
    assert [str(at) for at in service.ledger.levels("admissions")] == ["epsilon=1/4", "epsilon=1"]
    broken = {"table": ("a.csv", b"admitted\n\xff", "text/csv")}
    assert ada.fill(page, "/proposals/table", where={"proposal": mine}, files=broken).status_code == 422


def test_without_a_second_person_a_table_is_published_at_once(opened, bearer):
    """And relaxed; sent twice under its key, once."""
    service = opened(approvals=False)
    ada = Visitor(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))
    page, files = ada.get("/publish"), {"table": ("a.csv", CSV, "text/csv")}
    asked = {"name": "admissions", "columns": "admitted", "public": "department", "epsilon": "1/4"}
    for _ in range(2):
        assert "Published." in ada.fill(page, "/publish", files=files, **asked).text
    done = ada.fill(ada.get("/release?name=admissions"), "/relax", files=files, epsilon="2")
    assert "Relaxed." in done.text
    assert len(service.ledger.levels("admissions")) == 2


def plan_and_table(part=None, cells=((10, 20), (30, 40))):
    """The files of utmost plan and utmost count, of a small domain."""
    domain, unit = Domain(sex=["men", "women"], outcome=["admitted", "rejected"]), Unit(1, 1)
    plan = choose_plan(Workload(domain, {"sex": 1, "sex outcome": 1}), unit, epsilon="1/2")
    counted = CountedTable(domain, [list(row) for row in cells], unit, part=part)
    return tuple(
        (f"{name}.json", json.dumps(found).encode(), "application/json")
        for name, found in (("plan", document(plan)), ("counted", document(counted)))
    )


def test_sums_that_agree_by_forms(visitor, service):
    """A plan is proposed, a second person reads what it measures and approves, the counted table is brought, and what
    was measured stands on the page; then it is relaxed, in the same way; the file is the whole release."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    plan, counted = plan_and_table()
    made = ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, {"plan": plan}, name="applicants")
    assert "waits for a second person" in made.text
    page = grace.proposal()
    assert "sums published with noise" in page.text.lower()
    assert "columns published with noise" not in page.text.lower()
    assert "of the level" in page.text
    assert "Publish applicants at ε = 0.5" in page.text
    grace.fill(page, "/proposals/decision", {"state": "approved"})
    page = ada.proposal()
    broken = ("c.json", counted[1].replace(b"40", b"%d" % LONG), "application/json")
    done = ada.fill(page, "/proposals/table", files={"table": counted})
    assert "Published." in done.text, done.text
    assert "outcome" in done.text
    assert "<svg" in done.text
    changed = ada.fill(page, "/proposals/table", files={"table": broken})
    assert changed.status_code == 409
    assert str(LONG) not in changed.text
    for wrong in (("a.csv", CSV, "text/csv"), ("c.json", b"[" * 9000, "x/y"), ("c.json", b"{}", "x/y"), plan):
        assert ada.fill(page, "/proposals/table", files={"table": wrong}).status_code == 422
    ada.fill(ada.get("/release?name=applicants"), "/proposals", epsilon="2")
    grace.fill(grace.proposal(), "/proposals/decision", {"state": "approved"})
    (mine,) = (
        one.name for one in service.proposals.all(service.bearers.authenticated(ada.presented)) if one.verb == "relax"
    )
    page = ada.get(f"/proposal?name={mine}")
    done = ada.fill(page, "/proposals/table", where={"proposal": mine}, files={"table": counted})
    assert "Relaxed." in done.text, done.text
    file = ada.get("/release/release.json?name=applicants&at=2")
    assert NoisySums.of_facts(file.json())["sex"]["count"].shape == (2,)


def test_sums_of_a_part_at_once(opened, bearer):
    """Without a second person, by one form; a part of a partition spends in parallel with the others, and the page
    says which it is."""
    service = opened(approvals=False)
    ada = Visitor(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))
    for number, town in enumerate(("Bern", "Basel")):
        plan, counted = plan_and_table(("town", town), ((10 + number, 20), (30, 40)))
        asked = {"name": f"of {town}", "dataset": "towns", "epsilon": "1"}
        files = {"plan": plan, "table": counted}
        for _ in range(2):
            done = ada.fill(ada.get("/publish"), "/publish", {"kind": "plan"}, files, **asked)
            assert "Published." in done.text, done.text
        assert f"This release is of one part: town = {town}." in done.text
    assert service.ledger.budget("towns").spent == 1


def test_a_part_is_proposed_by_form(visitor, service):
    """Whoever approves reads which part it is; a table of another part, or of the whole, is not what was approved."""
    ada, grace = visitor("Ada", "curator"), visitor("Grace", "approver")
    (plan, basel), (_, bern), (_, whole) = (
        plan_and_table(part) for part in (("town", "Basel"), ("town", "Bern"), None)
    )
    for wrong in ("town", "town =", "= Bern", "a = b = c"):
        answer = ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, {"plan": plan}, name="x", part=wrong)
        assert answer.status_code == 422
    asked = {"name": "of Bern", "part": "town = Bern"}
    ada.fill(ada.get("/publish"), "/proposals", {"kind": "plan"}, {"plan": plan}, **asked)
    page = grace.proposal()
    assert "Bern of town: its level does not add up" in page.text
    grace.fill(page, "/proposals/decision", {"state": "approved"})
    page = ada.proposal()
    for table in (basel, whole):
        assert ada.fill(page, "/proposals/table", files={"table": table}).status_code == 422
    done = ada.fill(page, "/proposals/table", files={"table": bern})
    assert "This release is of one part: town = Bern." in done.text, done.text


def test_a_plan_that_is_none(visitor, service):
    """It is refused by name, and nothing is proposed."""
    ada = visitor("Ada", "curator")
    page = ada.get("/publish")
    for plan in (
        b"",
        b"x",
        b"{}",
        b"[1]",
        b"\xff",
        b'{"kind":"workload plan","format":1}',
        b'{"kind":"counted"}',
        b"NaN",
    ):
        files = {"plan": ("plan.json", plan, "application/json")}
        assert ada.fill(page, "/proposals", {"kind": "plan"}, files, name="x").status_code == 422, plan
    assert service.proposals.all(service.bearers.authenticated(ada.presented)) == []


def test_a_curator_for_some_releases_declares_whose_data_these_are(visitor, service):
    """The box is before the eyes and must be ticked; without it nothing is proposed."""
    eve = visitor("Eve", "curator", ("mine", None))
    page = eve.get("/publish")
    assert "none of these people is in another dataset" in page.text
    asked = {"name": "mine", "columns": "n", "epsilon": "1"}
    assert eve.fill(page, "/proposals", **asked).status_code == 403
    assert "waits for a second person" in eve.fill(page, "/proposals", **asked, independent="on").text


def test_a_table_of_true_values_never_lies_on_a_disk(visitor, published, monkeypatch):
    """However long a file is, it stays in memory."""
    import tempfile

    def refused(*arguments, **options):
        raise AssertionError("a file was made")

    ada = visitor("Ada", "curator")
    ada.fill(ada.get("/release?name=admissions"), "/proposals", epsilon="1")
    page = ada.get("/verify")
    monkeypatch.setattr(tempfile, "TemporaryFile", refused)
    big = b"admitted\n" + b"1234567\n" * 200_000
    files = {"table": ("a.csv", big, "text/csv"), "statement": ("s.json", b"{}", "application/json")}
    assert ada.fill(page, "/verify/table", files=files).status_code == 422


def test_what_a_recipient_downloads_is_what_its_statement_says(visitor, service, who, published, tmp_path):
    """Values and statement as files: checked by the library, by the page, and refused when one cell is changed."""
    relax(service, who, level(1))
    bo = visitor("Bo", "recipient", ("admissions", level("1/4")))
    page = bo.get("/release?name=admissions")
    assert "/release/table.csv" in page.text
    table = bo.get("/release/table.csv?name=admissions&at=1/4").content
    statement = bo.get("/release/statement.json?name=admissions&at=1/4").content
    (tmp_path / "t.csv").write_bytes(table)
    (tmp_path / "t.csv.json").write_bytes(statement)
    assert read_release(tmp_path / "t.csv").margin() == 12
    assert json.loads(statement)["levels"] == ["1/4"]
    files = {"table": ("t.csv", table, "text/csv"), "statement": ("s.json", statement, "application/json")}
    assert "It agrees with its statement" in bo.fill(bo.get("/verify"), "/verify/table", files=files).text
    rows = list(csv.reader(io.StringIO(table.decode())))
    cell = rows[0].index("admitted")
    rows[1][cell] = str(int(rows[1][cell]) + 1)
    changed = "\n".join(",".join(row) for row in rows).encode()
    answer = bo.fill(bo.get("/verify"), "/verify/table", files=files | {"table": ("t.csv", changed, "text/csv")})
    assert answer.status_code == 422
    for at in ("1", "1/8"):
        assert bo.get(f"/release/table.csv?name=admissions&at={at}").status_code == 404
    assert "ε = 1<" not in page.text


def test_a_release_of_selected_keys_is_shown_without_what_it_cannot_do(opened, bearer, who):
    """The number of its rows is part of its answer, and there is no answer at another level."""
    service = opened(approvals=False)
    page = Visitor(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))
    terms = Terms(Promise(noise=key_noise(["word", "n"], delta="1e-9")))
    words = {"word": ["flu", "measles", "plague"], "n": [800, 650, 1]}
    publish_by(service, who("Ada", "curator"), "k", "words", words, level(1), terms)
    seen = page.get("/release?name=words").text
    assert "measles" in seen
    for impossible in ("noisier copy", "1 rows", "What would relaxing give"):
        assert impossible not in seen + page.get("/releases").text


def test_a_count_is_read_where_the_reader_reaches_it(opened, bearer, who):
    """The link names a largest count beyond the noise, and none is above 1000; a response far beyond is refused."""
    service = opened(approvals=False)
    page = Visitor(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))
    table = {"department": ["A", "B", "C"], "admitted": [721_000, 370, 0]}
    publish_by(service, who("Ada", "curator"), "k", "admissions", table, level("1/4"), TERMS)
    links = re.findall(r'href="(/read[^"]*)">read row (\d)', page.get("/release?name=admissions").text)
    assert [row for _, row in links] == ["2", "3"]
    for link, _ in links:
        path = html.unescape(link)
        answer, released = (re.search(found, text) for found, text in (
            (r"Best answer</dt><dd>(\d+)<", page.get(path).text), (r"response=(-?\d+)", path)
        ))  # fmt: skip
        assert abs(int(answer[1]) - max(int(released[1]), 0)) <= 5
        assert f">response {released[1]}<" in page.get(path).text
    for far in (721_004, -111):  # Pr[noise < -110] is below 1e-12 / 2
        asked = page.get(f"/read?epsilon=1/4&prior=uniform&n=1000&response={far}")
        assert (asked.status_code, "larger n" in asked.text) == (422, True)
    assert page.get("/read?epsilon=1/4&prior=uniform&n=1000&response=-110").status_code == 200


def test_a_page_of_several_answers_shows_none_unasked(visitor, service, who, published):
    """Each answer belongs to its level: the page names the levels, and shows the values of the one that is chosen."""
    ada = visitor("Ada", "curator")
    assert "Values at ε = 0.25" in ada.get("/release?name=admissions").text
    relax(service, who, level(1))
    page = ada.get("/release?name=admissions").text
    assert "Values at" not in page
    assert "/release/table.csv" not in page
    assert "Choose the level" in page
    for at, words in (("1/4", "0.25"), ("1", "1")):
        assert f"Values at ε = {words}" in ada.get(f"/release?name=admissions&at={at}").text
    assert ada.get("/release/table.csv?name=admissions").status_code == 422


def test_to_look_at_a_page_draws_nothing(visitor, service, published):
    """A level that is not there is made by a form alone; a reader of addresses adds none."""
    bo = visitor("Bo", "recipient", ("admissions", level("1/4")))
    for at in ("1/8", "1/16"):
        assert bo.get(f"/release?name=admissions&at={at}").status_code == 200
    assert len(service.ledger.levels("admissions")) == 1
    page = bo.get("/release?name=admissions")
    assert bo.fill(page, "/view", epsilon="1/8").status_code == 200
    assert bo.fill(page, "/view", epsilon="1").status_code == 403
    assert [str(at) for at in service.ledger.levels("admissions")] == ["epsilon=1/8", "epsilon=1/4"]


def test_tokens_and_budgets_by_forms(visitor, app, published):
    """An admin makes a token, which is said once and works, and revokes it; and sets a limit."""
    root = visitor("root", "admin")
    page = root.get("/tokens")
    made = root.fill(page, "/tokens", owner="Cy", role="recipient", grants="admissions <= 1/4", days="7")
    presented = re.search("utmost_[0-9a-f]{24}_[A-Za-z0-9_-]{43}", made.text)[0]
    assert Visitor(app, presented).get("/release?name=admissions").status_code == 200
    again = root.fill(page, "/tokens", owner="Cy", role="recipient", grants="admissions <= 1/4", days="7")
    assert presented not in again.text
    assert "shown only once" in again.text
    assert presented not in root.get("/tokens").text
    limited = root.fill(root.get("/budgets"), "/budgets", dataset="admissions", epsilon="2")
    assert "The limit is set." in limited.text
    assert "of 2" in limited.text
    assert "Revoke" in root.get("/tokens").text


def test_receipts_and_the_whole_ledger(visitor, published):
    """A receipt of this ledger holds; any other line does not; everything is computed again at a press."""
    auditor = visitor("Ida", "auditor")
    page = auditor.get("/verify")
    receipt = re.search("utmost-receipt:[^<]+", page.text)[0]
    assert "still has all events of the receipt" in auditor.fill(page, "/verify/receipt", receipt=receipt).text
    assert auditor.fill(page, "/verify/receipt", receipt=receipt[:-1] + "x").status_code >= 400
    assert "The ledger is sound" in auditor.fill(page, "/verify/ledger").text


def test_a_part_of_a_page_is_answered_in_part(visitor, published):
    """What the script sends is answered by a line for the form, or by where to go."""
    bo = visitor("Bo", "recipient", ("admissions", level("1/4")))
    page, part = bo.get("/release?name=admissions"), {"HX-Request": "true", "Accept": "*/*"}
    refused = bo.fill(page, "/view", epsilon="3", headers=part)
    assert refused.status_code == 403
    assert refused.text.lstrip().startswith('<div class="alert"')
    done = bo.fill(page, "/view", epsilon="1/5", headers=part)
    assert (done.status_code, done.headers["hx-redirect"]) == (204, "/release?name=admissions&version=1&at=1%2F5")
    bo.jar.clear()
    assert bo.get("/read", headers=part).headers["hx-redirect"].startswith("/login")


TOO_MUCH = [
    ("/read", {"n": "1001"}),
    ("/read", {"n": "9" * 40}),
    ("/read", {"prior": "weights", "weights": "1 " * 2000}),
    ("/read", {"prior": "binomial", "value": "2"}),
    ("/read", {"response": "1e9"}),
    ("/read", {"loss": "none"}),
    ("/read", {"epsilon": "0"}),
    ("/explore", {"sensitivity": "1001"}),
    ("/explore", {"sensitivity": "1/2"}),
    ("/explore", {"numbers": "none"}),
    ("/explore", {"cost": "none"}),
    ("/channel", {"n": "41"}),
    ("/channel", {"mechanism": "none"}),
    ("/map", {"shape": "grid", "size": "6x6"}),
    ("/map", {"shape": "graph", "size": "/etc/passwd"}),
    ("/map", {"shape": "hamming", "size": "999"}),
    ("/map", {"loss": "none"}),
    ("/trust", {"edges": "a b c"}),
    ("/trust", {"owner": "nobody"}),
    ("/trust", {"edges": "\n".join(f"a{k} b{k}" for k in range(401))}),
]


def test_a_page_refuses_what_is_too_much_or_nothing(visitor):
    """With a sentence where the answer would stand, in the page and not instead of it."""
    bo = visitor("Bo", "recipient")
    for page, asked in TOO_MUCH:
        answer = bo.get(page, params=asked)
        assert answer.status_code == 422, (page, asked)
        assert '<div class="alert" role="alert">' in answer.text
        assert f'action="{page}"' in answer.text


def test_a_place_in_the_trail_is_a_number(visitor):
    """As in the API: whatever else is refused before the store is asked, of which one knows no byte 0."""
    di = visitor("Di", "auditor")
    assert di.get("/trail?after=00001").status_code == 200
    for after in ("%00", "x", "1" * 41, "%D9%A3"):
        assert di.get(f"/trail?after={after}").status_code == 422


def test_programs_still_get_problem_details(app):
    """Whoever does not ask for a page gets JSON, as before."""
    answer = Visitor(app).send("GET", "/releases", headers={"Accept": "application/json"}, follow=False)
    assert answer.headers["content-type"].startswith("application/problem+json")
    assert Visitor(app).send("GET", "/v1/me", headers=PAGE).headers["content-type"] == "application/problem+json"


def test_no_page_has_script_or_style_in_it(visitor, published):
    """What the policy forbids is not there; no address leads off the host."""
    for role in ROLES:
        seen = visitor(f"a {role}", role)
        for page in [page for page, allowed in PAGES.items() if role in allowed] + [*TOOLS]:
            text = seen.get(page).text
            assert not re.search(r"<script(?![^>]*src=\"/static/)|<style|\sstyle=|\son[a-z]+=|javascript:", text), page
            assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text), page


def test_static_files_may_be_kept_and_have_their_licence(app):
    """Their addresses change with their content; nothing but them is given out."""
    visitor = Visitor(app)
    names = re.findall(r"/static/([^\"?]+)\?v=[0-9a-f]{12}", visitor.get("/login").text)
    assert {"pages.css", "pages.js", "htmx.min.js", "icon.svg"} <= set(names)
    for name in (*names, "htmx.LICENSE.txt"):
        answer = visitor.get(f"/static/{name}")
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
    for name in ("..%2Fapp.py", "pages.py", "%2e%2e/app.py"):
        assert visitor.get(f"/static/{name}").status_code == 404


def test_the_terms_of_a_form_are_those_of_the_api(visitor, service):
    """A proposal made by a form has the facts of the same proposal made in code."""
    ada = visitor("Ada", "curator")
    asked = {"name": "admissions", "columns": "admitted", "public": "department", "epsilon": "0.25"}
    ada.fill(ada.get("/publish"), "/proposals", **asked)
    (made,) = service.context.records.read(lambda store: store.all("proposal"))
    kept = service.context.records.read(lambda store: store.get("publication", made[0]))
    assert kept == TERMS.request("admissions", "1/4", 1).facts()
    assert made[1]["level"] == "1/4"


def test_long_lists_come_page_by_page_each_item_once(visitor, service, who, published, monkeypatch):
    """Releases and tokens in pages of two: every one is on one page, none is on two, and the last page leads back."""
    monkeypatch.setattr("utmost.interfaces.service.pages.pages._A_PAGE", 2)
    for count, name in enumerate(("deaths & births", "Ωmega", "visits")):
        publish(service, who, level("1/4"), name, TABLE | {"admitted": [count, 370, 322]})
    root = visitor("Root", "admin")
    tokens = [token.name[:8] for token in service.bearers.all(who("Root", "admin"))]
    for path, named, wanted in (
        ("/releases", r'<h2 id="release-\d+"><a [^>]*>([^<]*)</a>', [r.name for r in service.releases.all(published)]),
        ("/tokens", r"<td><code>([^<]*)</code></td>", tokens[::-1]),
    ):
        address, listed = path, []
        while address:
            page = root.get(address).text
            seen = re.findall(named, page)
            assert 0 < len(seen) <= 2
            assert len(listed) < len(wanted)
            assert (f'href="{path}">First page</a>' in page) == (address != path)
            listed += [html.unescape(name) for name in seen]
            following = re.search(rf'href="({path}\?after=[^"]*)">More</a>', page)
            address = following and html.unescape(following[1])
        assert listed == wanted
        assert len(listed) > 3
        assert root.get(path, params={"after": "no such item"}).status_code == 404


def test_a_page_after_an_item_shows_no_release_that_a_token_is_not_for(visitor, service, who, published, monkeypatch):
    """A recipient of one release cannot ask what follows another: its name is none of his list."""
    monkeypatch.setattr("utmost.interfaces.service.pages.pages._A_PAGE", 1)
    publish(service, who, level("1/4"), "deaths", TABLE | {"admitted": [1, 2, 3]})
    seen = visitor("Bo", "recipient", ("deaths",))
    assert "More</a>" not in seen.get("/releases").text
    for hidden in ("1 admissions", "1 nothing"):
        assert seen.get("/releases", params={"after": hidden}).status_code == 404


def test_the_margin_of_each_of_many_tables_is_shown(opened, who):
    """A plan of sixteen tables: the page of its proposal and the margin of its release regard all of them."""
    service = opened(approvals=False)
    domain = Domain({name: ["x", "y"] for name in "abcd"})
    names = [" ".join(some) for size in range(5) for some in itertools.combinations("abcd", size)]
    plan = choose_plan(Workload(domain, dict.fromkeys(names, 1)), Unit(1, 1), epsilon=1)
    promise = Promise(noise=plan)
    bars, left_out = published_bars(promise.noise, level(1))
    release = NoisySums.without_data(promise, level(1), CONFIDENCE)
    assert (dict(bars), left_out) == ({name or "total": release.bars(name)[name] for name in names}, 0)
    ada = who("Ada", "curator")
    publish_by(service, ada, "k", "many", CountedTable(domain, np.ones((2,) * 4, dtype=int), Unit(1, 1)), level(1),
               Terms(promise))  # fmt: skip
    assert service.releases.margin(ada, "many", level(1)) == max(release.bars(*names).values())
