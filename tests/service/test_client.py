"""A ledger behind a service is used as a local one is: the same verbs, tables of the same kind, the same errors."""

import asyncio
import json
import re
import shlex
import warnings
from html import unescape
from urllib.parse import urlencode

import httpx
import pandas as pd
import pytest

from service.conftest import TABLE
from service.visiting import Visitor
from utmost import PointNoise
from utmost.counting import CountedTable
from utmost.errors import (
    BudgetExceeded,
    DataChanged,
    IndividualLeftOut,
    LedgerUnavailable,
    NotAllowed,
    NotPublished,
    NotServed,
    OutOfRange,
    ServiceError,
    TooOften,
    UtmostError,
    WrongKind,
)
from utmost.exact import level
from utmost.ledger import AnswerRequest, Ledger, PublishRequest
from utmost.privacy import Unit
from utmost.promises import Promise
from utmost.service import Grant, Settings, application, connect
from utmost.workloads import Domain, Workload, choose_plan

ONE_STORE = True

PROMISE = Promise("admitted", public="department", unit=Unit(1, 1))


CLIENT = type(connect("http://localhost", "utmost_none"))


class Inside(httpx.BaseTransport):
    """Carries requests to an application in this process; drops the answers of the first few."""

    def __init__(self, app, drop=0):
        self.inside, self.drop = httpx.ASGITransport(app=app), drop

    def handle_request(self, request):
        async def answered():
            sent = httpx.Request(request.method, request.url, headers=request.headers, content=request.read())
            answer = await self.inside.handle_async_request(sent)
            return httpx.Response(answer.status_code, headers=answer.headers, content=await answer.aread())

        made = asyncio.run(answered())
        if self.drop:
            self.drop -= 1
            raise httpx.ReadError("the line was cut")
        return made


@pytest.fixture
def connected(opened):
    service = opened(approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6))

    def made(role, *grants, drop=0):
        given = tuple(Grant(*grant) for grant in grants) or (Grant("*"),)
        presented = service.bearers.make(None, f"{role} {drop}", role, role, given)[1]
        return connect("http://localhost", presented, transport=Inside(app, drop))

    return made


def test_published_relaxed_and_viewed_as_in_a_local_ledger(connected):
    """A dataframe comes back a dataframe, and a view holds the values of its level."""
    frame = pd.DataFrame(TABLE)
    curator, reader = connected("curator"), connected("recipient", ("admissions", level("1/4")))
    first = curator.publish("admissions", frame, PROMISE, epsilon="1/4").table
    assert list(first.columns) == ["department", "admitted", "admitted_margin"]
    assert reader.view("admissions", epsilon="1/4").table["admitted"] == first["admitted"].tolist()
    again = curator.relax("admissions", frame, epsilon=1).table
    assert again.shape == first.shape
    assert curator.levels("admissions") == (level("1/4"), level(1))
    assert curator.margin("admissions", epsilon=1) == 3
    with pytest.raises(NotAllowed):
        reader.view("admissions", epsilon=1)
    with pytest.raises(DataChanged):
        curator.relax("admissions", frame.assign(admitted=[1, 2, 3]), epsilon=2)


def test_points_are_refused_by_name_before_anything_is_sent(connected):
    """The shape of a request has no distance in it, and said that an extra was forbidden."""
    curator, points = connected("curator"), Promise(["x", "y"], public="name", noise=PointNoise(50))
    with pytest.raises(OutOfRange, match="got per"):
        curator.publish("homes", {"name": ["a"], "x": [1.5], "y": [2.0]}, points, epsilon=1)
    with pytest.raises(OutOfRange, match="got per"):
        curator.propose(PublishRequest("homes", points, level(1), "homes"))


def test_a_publication_is_of_the_version_that_its_answer_says(connected, monkeypatch):
    """Another curator publishes the next version as soon as the first is there: it is not taken for the first."""
    curator, other, posted = connected("curator"), connected("curator", drop=1), CLIENT._post
    changed = TABLE | {"admitted": [1, 2, 3]}

    def followed(remote, path, request, body):
        answer = posted(remote, path, request, body)
        if path == "/v1/releases" and remote is curator:
            assert other.publish("admissions", changed, PROMISE, epsilon=1, version=2).release.version == 2
        return answer

    monkeypatch.setattr(CLIENT, "_post", followed)
    first = curator.publish("admissions", TABLE, PROMISE, epsilon=1, request="mine")
    monkeypatch.undo()
    assert first.release.version == 1
    assert first.table == curator.view("admissions", epsilon=1, version=1).table
    assert curator.publish("admissions", TABLE, PROMISE, epsilon=1, request="mine").release.version == 1
    assert curator._post("/v1/releases/admissions/relax", None, {"level": "2", "table": changed})["version"] == 2


def test_a_plan_through_a_service(connected):
    """A counted table and a plan: the release comes back with its marginals, and the same at a view."""
    domain = Domain(sex=["men", "women"], outcome=["admitted", "rejected"])
    plan = choose_plan(Workload(domain, {"sex": 1, "sex outcome": 1}), Unit(1, 1), epsilon=1)
    counted = CountedTable(domain, [[10, 20], [30, 40]], Unit(1, 1))
    curator = connected("curator")
    made = curator.publish("applicants", counted, plan, epsilon=1).table
    seen = curator.view("applicants", epsilon=1).table
    assert seen.total({"sex": "men"}).value == made.total({"sex": "men"}).value
    assert curator.relax("applicants", counted, epsilon=2).level == level(2)
    part = CountedTable(domain, [[1, 2], [3, 4]], Unit(1, 1), part=("town", "Bern"))
    of_bern = Promise(noise=plan, part=part.part)
    assert curator.publish("in Bern", part, of_bern, epsilon=1).table.promise.part == ("town", "Bern")
    assert curator.view("in Bern", epsilon=1).promise.part == ("town", "Bern")
    counts = Promise("count", public=("sex", "outcome"), unit=part.unit, part=part.part)
    alone = curator.publish("counts", part, counts, epsilon=1, dataset="in Bern").table
    assert list(alone) == ["sex", "outcome", "count", "count_margin"]
    assert curator.relax("counts", part, epsilon=2).table["sex"] == alone["sex"]


def test_an_answer_that_is_lost_on_its_way_is_asked_for_again(connected):
    """Three answers dropped: one publication, and the ledger was asked under one key."""
    curator = connected("curator", drop=3)
    made = curator.publish("admissions", TABLE, PROMISE, epsilon=1, request="tonight").table
    assert curator.publish("admissions", TABLE, PROMISE, epsilon=1, request="tonight").table == made
    assert len(curator.releases) == 1
    with pytest.raises(LedgerUnavailable):
        connected("auditor", drop=9).status()


def test_budgets_receipts_and_history(connected):
    curator, admin, auditor = connected("curator"), connected("admin"), connected("auditor")
    admin.budget("admissions", 1)
    curator.publish("admissions", TABLE, PROMISE, epsilon=1)
    assert curator.rehearse("admissions", epsilon="1/2")["spent"] == "1"
    with pytest.raises(BudgetExceeded):
        curator.relax("admissions", TABLE, epsilon=2)
    with pytest.raises(NotPublished, match="'admisions'"):
        auditor.budget("admisions")
    receipt = auditor.receipt()
    admin.check(receipt)
    assert [event["kind"] for event in auditor.history("admissions")] == ["published"]
    assert admin.verify()["responses"] == 1
    assert auditor.me()["role"] == "auditor"


def test_an_approved_promise_stays_as_it_was_shown(opened):
    """Without an approval a counted table adds who was counted; with one the sender is warned, once."""
    service = opened()
    app = application(service, Settings(rate=1e6, burst=10**6))
    ada, grace = (
        connect("http://localhost", service.bearers.make(None, who, who, role, (Grant("*"),))[1], transport=Inside(app))
        for who, role in (("Ada", "curator"), ("Grace", "approver"))
    )
    domain = Domain(sex=["men", "women"])
    plan = choose_plan(Workload(domain, {"sex": 1}), Unit(1, 1), epsilon=1)
    table = CountedTable(domain, [3, 4], Unit(1, 1), individual="one household", proved=True)
    bare, whole = Promise(noise=plan), Promise.of_counted(table, noise=plan)
    for name, promise in (("bare", bare), ("whole", whole)):
        proposal = ada.propose(PublishRequest(name, promise, level(1), "people"))["name"]
        grace.decide(proposal, "approved")
        with warnings.catch_warnings(record=True, action="always", category=IndividualLeftOut) as warned:
            made = ada.publish(name, table, promise, epsilon=1, dataset="people", proposal=proposal)
        assert made.promise == ada.view(name, epsilon="1/2").promise == promise
        assert [one.category for one in warned] == ([IndividualLeftOut] if promise is bare else [])


def test_without_approval_a_counted_table_says_who_was_counted(connected):
    curator, domain = connected("curator"), Domain(sex=["men", "women"])
    plan = choose_plan(Workload(domain, {"sex": 1}), Unit(1, 1), epsilon=1)
    table = CountedTable(domain, [3, 4], Unit(1, 1), individual="one household", proved=True)
    bare, whole = Promise(noise=plan), Promise.of_counted(table, noise=plan)
    assert curator.publish("alone", table, bare, epsilon=1, dataset="people").promise == whole
    requests = [PublishRequest("together", bare, level(1), "people")]
    assert curator.publish_measures(requests, {"together": table})["together"].promise == whole
    assert curator.view("together", epsilon=1).promise == whole


@pytest.mark.parametrize(
    ("again", "timeout", "waited"),
    [
        ("5", 60, [5, 5, 5]),
        ("30", 60, [30, 30]),  # a third wait would be too long
        ("3600", 60, []),
        ("0", 60, [0.2, 0.4, 0.8]),
        ("Wed, 01 Jan 2031 00:00:00 GMT", 60, [0.2, 0.4, 0.8]),  # of a proxy
        (None, 60, [0.2, 0.4, 0.8]),
        ("1", 1.5, [1]),
    ],
)
def test_a_client_waits_as_long_as_it_is_told_within_its_timeout(monkeypatch, again, timeout, waited):
    slept, headers = [], {} if again is None else {"Retry-After": again}
    monkeypatch.setattr("utmost.interfaces.service.client.time.sleep", slept.append)
    problem = {"title": "TooOften", "status": 429, "detail": "Requests come too often."}
    transport = httpx.MockTransport(lambda request: httpx.Response(429, headers=headers, json=problem))
    ledger = connect("http://localhost", "utmost_x", timeout=timeout, transport=transport)
    with ledger, pytest.raises(TooOften) as refused:
        ledger.me()
    assert slept == waited
    assert refused.value.again == (int(again) if again in ("5", "30", "3600") else 1)


@pytest.mark.parametrize("status", [200, 400, 500])
@pytest.mark.parametrize("body", ["", "[]", '"x"', "null", '{"wrong":3}', '{"title":"NotAllowed","wrong":[3]}'])
def test_a_proxy_that_answers_something_else(status, body):
    """What is no answer of a service is refused by name, whatever JSON it is."""
    transport = httpx.MockTransport(lambda request: httpx.Response(status, text=body))
    with connect("http://localhost", "utmost_x", transport=transport) as ledger:
        if status == 200 and body.startswith("{"):
            assert ledger.me() == json.loads(body)
            return
        with pytest.raises(UtmostError, match=r"JSON object|^service") as refused:
            ledger.me()
        assert type(refused.value) in (ServiceError, NotAllowed)


def test_a_token_never_goes_in_the_clear():
    with pytest.raises(OutOfRange):
        connect("http://ledger.example", "utmost_x")


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8000", "https://", "", "localhost", "/v1"])
def test_an_address_of_no_service_is_refused_at_once(url):
    with pytest.raises(OutOfRange, match="https://"):
        connect(url, "utmost_x")


@pytest.mark.parametrize("token", ["", " ", "utmost_x ", "utmost_x\n", "utmost_\u00e9"])
def test_a_token_that_no_header_holds_is_refused_at_once_and_not_repeated(token):
    with pytest.raises(OutOfRange, match=r"^token") as refused:
        connect("http://localhost", token)
    assert "utmost_x" not in str(refused.value)


@pytest.fixture
def people(opened):
    """A client for each owner in a role, of a service that asks for no second person."""
    service = opened(approvals=False)
    app = application(service, Settings(rate=1e6, burst=10**6, address="https://ledger.example/"))

    def made(owner, role, *grants, kind=CLIENT):
        grants = tuple(Grant(*grant) for grant in grants) or (Grant("*"),)
        presented = service.bearers.make(None, owner, owner, role, grants)[1]
        return connect("http://localhost", presented, transport=Inside(app)) if kind is CLIENT else kind(app, presented)

    return made


def test_every_verb_of_every_role_goes_over_the_wire(people, tmp_path):
    """Tokens made and revoked, proposals, budgets, and the trail of it all."""
    admin, ada, auditor = people("Root", "admin"), people("Ada", "curator"), people("Ida", "auditor")
    ada.publish("admissions", TABLE, PROMISE, epsilon=1)
    token = admin.make_token("Bo", "recipient", {"admissions": "1/4"}, days="1/2")
    assert (token["token"]["role"], token["missing_releases"]) == ("recipient", [])
    assert token["token"]["expires"] - token["token"]["made"] == 43_200
    assert token["bearer"].startswith("utmost_")
    assert {made["owner"] for made in admin.tokens()} == {"Root", "Ada", "Ida", "Bo"}
    assert admin.revoke(token["token"]["name"])["revoked"] is not None
    bo = people("Cy", "recipient", ("admissions", level("1/4")))
    assert bo.view("admissions", epsilon="1/4").table == ada.view("admissions", epsilon="1/4").table
    assert [budget["spent"] for budget in auditor.budgets()] == ["1"]
    proposal = ada.propose(AnswerRequest("admissions", level(2)))
    assert ada.proposals() == [proposal]
    assert bo.me()["expires"] > bo.me()["made"]
    for refused in (bo.tokens, bo.trail, bo.proposals, bo.budgets, auditor.tokens):
        with pytest.raises(NotAllowed):
            refused()
    entries = auditor.trail()
    assert [entry["done"] for entry in entries][-3:] == ["refused"] * 3  # once for each request, see `trail`
    done = [entry["done"] for entry in entries if entry["done"] not in ("refused", "view")]
    assert done[-3:] == ["revoke", "make token", "propose"]
    for most in range(1, len(entries) + 2):
        assert auditor.trail(entries[0]["name"], most) == entries[1 : 1 + most]
    assert auditor.export_trail(tmp_path / "trail.jsonl") == len(auditor.trail())
    lines = [json.loads(line) for line in (tmp_path / "trail.jsonl").read_text(encoding="utf-8").splitlines()]
    assert auditor.verify()["trail"] == len(lines)
    with pytest.raises(FileExistsError):
        auditor.export_trail(tmp_path / "trail.jsonl")


def test_lists_longer_than_a_page_come_whole(people, monkeypatch):
    """Each list of the API in pages of two: the client has all items, once, in order."""
    ada, auditor, admin = people("Ada", "curator"), people("Ida", "auditor"), people("Root", "admin")
    for number in range(5):
        ada.publish(f"n{number}", TABLE, PROMISE, epsilon=1, dataset="d", independent=True)
        ada.propose(AnswerRequest(f"n{number}", level(2)))
    whole = [ada.releases, ada.proposals(), auditor.history(), auditor.trail(), admin.tokens()]
    send = CLIENT._get
    monkeypatch.setattr(CLIENT, "_get", lambda ledger, path, **asked: send(ledger, path, **asked | {"most": 2}))
    assert [ada.releases, ada.proposals(), auditor.history(), auditor.trail(), admin.tokens()] == whole
    assert [len(items) >= 3 for items in whole] == [True] * 5


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("a b/c?&#%", level("1/4")),
        ("naïve 'quotes' \"and\" $(more)", level(alpha="1/3")),
        ("Ωmega", level(alpha="1/3").scaled("1/2")),
    ],
)
def test_the_lines_on_a_page_are_those_that_work(people, name, at, monkeypatch):
    """A shell takes the address apart into itself, and Python does as it is told, whatever the name and level."""
    ada, visitor = people("Ada", "curator"), people("Eve", "curator", kind=Visitor)
    published = ada.publish(name, TABLE, PROMISE, epsilon=at).table
    page = visitor.get(f"/release?{urlencode({'name': name})}").text
    curl, python = (
        unescape(line)
        for line in re.findall(r'<pre id="line-\d">(.*?)</pre>', page[page.index("From a program") :], re.DOTALL)
    )
    words = shlex.split(curl)
    assert words[:3] == ["curl", "--header", "Authorization: Bearer $UTMOST_TOKEN"]
    address = words[3].removeprefix("https://ledger.example")
    assert ada._client.get(address).json()["columns"] == published
    asked = []
    monkeypatch.setenv("UTMOST_TOKEN", "utmost_x")
    monkeypatch.setattr("utmost.connect", lambda *about: asked.append(about) or ada)
    *setting, last = python.strip().splitlines()
    known = {}
    exec("\n".join(setting), known)
    assert eval(last, known).table == published
    assert asked == [("https://ledger.example", "utmost_x")]


def test_a_wrong_kind_of_request_or_grant_is_named(connected):
    """Both ended as an AttributeError of the client's inside."""
    with connected("admin") as root:
        with pytest.raises(WrongKind, match=r'grants=\{"admissions": "1/4"\}'):
            root.make_token("Bo", "recipient", ["admissions"])
        with pytest.raises(WrongKind, match="AnswerRequest"):
            root.propose(("admissions", level(1)))


def test_an_address_where_nothing_answers_is_named():
    with connect("http://localhost:9", "utmost_none") as nobody, pytest.raises(LedgerUnavailable, match="localhost:9"):
        nobody.me()
    with pytest.raises(OutOfRange, match=r"http://127\.0\.0\.1:8000"):
        connect("127.0.0.1:8000", "utmost_none")


def test_a_closed_client_asks_for_a_new_connection():
    with connect("http://127.0.0.1:9", "utmost_x") as client:
        pass
    with pytest.raises(LedgerUnavailable, match=r"ut\.connect"):
        client.me()


def test_an_error_does_not_repeat_the_password_of_an_address():
    """The address of a proxy may have one, and errors go to logs."""
    with (
        connect("http://ada:hushhush@localhost:9", "utmost_none") as nobody,
        pytest.raises(LedgerUnavailable, match="http://localhost:9") as caught,
    ):
        nobody.view("admissions", epsilon=1)
    assert "hushhush" not in str(caught.value)


def test_a_client_says_what_is_spent_as_a_local_ledger_does(connected, opened):
    """By a release, of all its versions, and by a dataset; a recipient sees its own levels."""
    curator, reader = connected("curator"), connected("recipient", ("admissions", level("1/4")))
    curator.publish("admissions", TABLE, PROMISE, epsilon="1/4", dataset="people")
    curator.relax("admissions", TABLE, epsilon=1)
    assert (curator.spent("admissions"), reader.spent("admissions")) == (level(1), level("1/4"))
    changed = TABLE | {"admitted": [1, 2, 3]}
    curator.publish("admissions", changed, PROMISE, epsilon="1/2", dataset="people", version=2)
    assert curator.spent("admissions") == connected("admin").spent(dataset="people") == level("3/2")
    assert curator.release("admissions")["version"] == 2
    for wrong in ({}, {"name": "admissions", "dataset": "people"}):
        with pytest.raises(OutOfRange):
            curator.spent(**wrong)
    with pytest.raises(NotPublished):
        curator.spent("none")
    again = curator.relax_measures([AnswerRequest("admissions", level(1))], {"admissions": changed})
    assert (again["admissions"].level, curator.spent("admissions")) == (level(1), level(2))


def test_what_a_client_does_not_have_is_a_typed_error(connected):
    """Every public name of a ledger is there, or is refused as an attribute with the remedy."""
    curator = connected("curator")
    own = {name for name in dir(CLIENT) if not name.startswith("_")}
    local = {name for name in dir(Ledger) if not name.startswith("_")}
    assert {"spent", "release", "relax_measures"} <= own & local
    for name in local - own:
        assert not hasattr(curator, name)
        with pytest.raises(NotServed, match=r"Ledger\.open|publish_measures"):
            getattr(curator, name)
    with pytest.raises(AttributeError, match=r"has no spend$"):
        curator.spend  # noqa: B018
