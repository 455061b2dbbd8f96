"""The service through HTTP: what each role gets, what errors say, and what leaves in headers and lengths."""

import asyncio
import gc
import json
import logging
import tracemalloc

import httpx
import pytest

from service.conftest import TABLE, TERMS, relax
from service.publications import body
from service.visiting import Visitor
from utmost.exact import level
from utmost.service import Grant, Settings, application

ONE_STORE = True

QUARTER = level("1/4")


class Caller:
    """Calls an application in this process, as one bearer."""

    def __init__(self, app, presented=None):
        self.app, self.headers = app, {} if presented is None else {"Authorization": f"Bearer {presented}"}

    def __call__(self, method, path, *, key=None, headers=None, **more):
        sent = self.headers | ({} if key is None else {"Idempotency-Key": key}) | (headers or {})

        async def asked():
            transport = httpx.ASGITransport(app=self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
                return await client.request(method, path, headers=sent, **more)

        return asyncio.run(asked())


@pytest.fixture
def app(service):
    return application(service, Settings(rate=1e6, burst=10**6))


@pytest.fixture
def caller(service, app):
    def made(owner, role, *grants):
        given = tuple(Grant(*grant) for grant in grants) or (Grant("*"),)
        presented = service.bearers.make(None, f"{owner} {role} {len(given)}", owner, role, given)[1]
        return Caller(app, presented)

    return made


def publish_over_http(caller, epsilon="1/4", table=TABLE):
    ada, grace = caller("Ada", "curator"), caller("Grace", "approver")
    proposed = {"publication": body("admissions", epsilon, TERMS.facts()) | {"version": 1}}
    proposal = ada("POST", "/v1/proposals", key="p", json=proposed).json()["name"]
    grace("POST", f"/v1/proposals/{proposal}/decision", json={"state": "approved"})
    asked = {**body("admissions", epsilon, TERMS.facts()), "table": table, "proposal": proposal}
    return ada, ada("POST", "/v1/releases", key="k", json=asked)


def test_a_release_from_proposal_to_view(service, caller, who):
    """Proposed, approved, published, relaxed, viewed by a recipient: each answer is the ledger's own."""
    _ada, published = publish_over_http(caller)
    assert published.status_code == 200, published.text
    assert published.json()["columns"]["department"] == ["A", "B", "C"]
    relax(service, who, level(1))
    bo = caller("Bo", "recipient", ("admissions", QUARTER))
    seen = bo("GET", "/v1/releases/admissions/view?epsilon=1/4").json()
    assert seen["columns"]["admitted"] == published.json()["columns"]["admitted"]
    assert seen["statement"]["epsilon"] == "1/4"
    assert seen["margin"] == 12
    listed = bo("GET", "/v1/releases").json()["releases"]
    assert [release["levels"] for release in listed] == [["1/4"]]
    assert bo("GET", "/v1/releases/admissions/margin?epsilon=1").json()["margin"] == 3


def test_errors_are_problem_details_that_quote_no_value(caller):
    """Each refusal: its status, its media type, and none of the table's numbers."""
    ada, _ = publish_over_http(caller)
    bo = caller("Bo", "recipient", ("admissions", QUARTER))
    changed = {"department": ["A", "B", "C"], "admitted": [601, 370, 88888]}
    bad = {**body("x", "1", TERMS.facts()), "table": {"admitted": [88888, "88888x"]}}
    for call, status in (
        (lambda: bo("GET", "/v1/releases/admissions/view?epsilon=1"), 403),
        (lambda: bo("GET", "/v1/releases/none"), 403),
        (lambda: bo("GET", "/v1/tokens"), 403),
        (lambda: ada("GET", "/v1/releases/none"), 404),
        (lambda: ada("GET", "/v1/nothing"), 404),
        (lambda: ada("POST", "/v1/releases/admissions/relax", key="r", json={"level": "1", "table": changed}), 409),
        (lambda: ada("POST", "/v1/releases", key="b", json=bad), 409),
        (lambda: ada("POST", "/v1/releases", json=bad), 422),
        (lambda: ada("POST", "/v1/releases", key="b", json=bad | {"secret": 88888}), 422),
        (lambda: ada("POST", "/v1/releases", key="b", content=b'{"table": 88888'), 422),
        (lambda: ada("GET", "/v1/releases/admissions/view?epsilon=88888x"), 422),
        (lambda: Caller(bo.app)("GET", "/v1/releases"), 401),
        (lambda: Caller(bo.app, "utmost_88888")("GET", "/v1/releases"), 401),
    ):
        answer = call()
        assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), answer.text
        told = answer.json()
        assert told["status"] == status
        assert told["title"]
        assert "88888" not in answer.text.replace("88888x", "") or "epsilon=88888x" in str(answer.request.url)


def test_the_same_request_gives_the_same_bytes(caller):
    ada, first = publish_over_http(caller)
    asked = json.loads(first.request.content)
    assert ada("POST", "/v1/releases", key="k", json=asked).content == first.content
    other = ada("POST", "/v1/releases", key="k", json=asked | {"level": "1/8"})
    assert (other.status_code, other.json()["title"]) == (422, "RequestReused")


def test_every_answer_is_guarded(caller):
    """A strict content security policy, no sniffing, no caching, and a name for each request."""
    ada, _ = publish_over_http(caller)
    for answer in (ada("GET", "/v1/releases"), ada("GET", "/none"), Caller(ada.app)("GET", "/health/live")):
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert len(answer.headers["x-request-id"]) == 16


def test_a_long_body_and_too_many_requests_are_refused(service, caller):
    """Declared or not, a body beyond the limit is 413; the third of two requests at once is 429, and says when."""
    small = application(service, Settings(most_bytes=1000, rate=0.005, burst=2))
    presented = service.bearers.make(None, "x", "Ada", "curator", (Grant("*"),))[1]
    ada = Caller(small, presented)

    async def pieces():
        for _ in range(20):
            yield b" " * 100

    assert ada("POST", "/v1/releases", key="k", content=b" " * 2000).status_code == 413
    assert ada("POST", "/v1/releases", key="k", content=pieces()).status_code == 413
    assert ada("GET", "/v1/me").status_code == 200
    late = ada("GET", "/v1/me")
    assert late.status_code == 429
    assert 1 <= int(late.headers["retry-after"]) <= 200


def test_a_long_form_is_refused_as_a_long_body_is(service):
    """413 where it is cut off in the middle, too; and of a stranger no more is read than a sign-in takes, no file."""
    app = application(service, Settings(most_bytes=1_000_000, rate=1e6, burst=10**6))
    ada = Visitor(app, service.bearers.make(None, "x", "Ada", "curator", (Grant("*"),))[1])
    stranger, read = Visitor(app), []

    async def pieces(first, piece):
        yield first
        for _ in range(200):
            read.append(len(piece))
            yield piece

    parts = {"Content-Type": "multipart/form-data; boundary=b"}
    for name in ("table", "plan"):
        head = f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="x"\r\n\r\n'.encode()
        assert ada.send("POST", "/publish", content=pieces(head, b"1" * 10_000), headers=parts).status_code == 413
        read.clear()
        for path in ("/login", "/logout"):
            assert stranger.send("POST", path, content=pieces(head, b"1" * 10_000), headers=parts).status_code == 400
        assert sum(read) <= 40_000
    coded = {"Content-Type": "application/x-www-form-urlencoded"}
    for first, piece in ((b"token=", b"1" * 10_000), (b"", b"&a=1" * 10)):
        read.clear()
        assert stranger.send("POST", "/login", content=pieces(first, piece), headers=coded).status_code == 400
        assert sum(read) <= 50_000


def test_the_log_holds_routes_and_statuses_and_nothing_else(caller, caplog):
    caplog.set_level(logging.INFO, "utmost.interfaces.service")
    publish_over_http(caller)
    caller("Bo", "recipient", ("admissions", QUARTER))("GET", "/v1/releases/admissions/view?epsilon=1/4")
    entries = [json.loads(record.message) for record in caplog.records if record.name == "utmost.interfaces.service"]
    assert len(entries) == 4
    assert {key for entry in entries for key in entry} == {"request", "method", "route", "status", "ms", "token"}
    assert entries[-1]["route"] == "/v1/releases/{name}/view"
    assert "admissions" not in str(entries)


def test_metrics_count_routes_for_auditors_alone(caller):
    ada, _ = publish_over_http(caller)
    assert ada("GET", "/metrics").status_code == 403
    text = caller("Di", "auditor")("GET", "/metrics").text
    assert 'utmost_requests_total{method="POST",route="/v1/releases",status="200"} 1.0' in text
    assert "admissions" not in text


@pytest.mark.slow
def test_views_leave_nothing_in_memory(caller, service, who, published):
    """What grows is what is kept: 60 views, lists and error bars after as many leave less than 200 bytes each."""
    relax(service, who, level(1))
    bo = caller("Bo", "recipient")
    paths = [f"/v1/releases/admissions{tail}" for tail in ("/view?epsilon=1/4", "/view?epsilon=1", "/margin?epsilon=2")]

    def ask():
        for number in range(60):
            assert bo("GET", [*paths, "/v1/releases", "/v1/me"][number % 5]).status_code == 200
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = ask()
        assert ask() - before < 60 * 200
    finally:
        tracemalloc.stop()


def test_a_view_says_who_sends_it_before_what_is_wrong_with_it(service, caller):
    """It looks its token up where it answers; a stranger learns nothing of its shape, and takes a stranger's turn."""
    ada, _ = publish_over_http(caller)
    bad = "/v1/releases/admissions/view?epsilon=1&version=x"
    for path in (bad, "/v1/releases/admissions/view?epsilon=1/4", "/v1/releases/admissions/view"):
        for stranger in (Caller(ada.app), Caller(ada.app, "utmost_" + "0" * 24 + "_" + "A" * 43)):
            answer = stranger("GET", path)
            assert (answer.status_code, answer.json()["title"]) == (401, "NotAuthenticated")
            assert answer.headers["www-authenticate"] == "Bearer"
    told = ada("GET", bad)
    assert (told.status_code, told.json()["title"]) == (422, ada("GET", "/v1/releases/admissions/view").json()["title"])
    narrow = application(service, Settings(rate=1e-6, burst=2))
    assert [Caller(narrow)("GET", bad).status_code for _ in range(3)] == [401, 401, 429]
    token = service.bearers.make(None, "late", "Lea", "recipient", (Grant("*"),))
    lea = Caller(narrow, token[1])
    assert [lea("GET", bad).status_code for _ in range(3)] == [422, 422, 429]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"level": None}, "body: missing level"),
        ({"datset": "x"}, "body: extra forbidden; did you mean dataset?"),
        ({"dataset": "x" * 5000}, "body: no short text in dataset"),
        ({"version": [1]}, "body: no short text in version"),
    ],
)
def test_a_request_of_the_wrong_shape_names_the_field_that_is_wanted(app, bearer, wrong, told):
    """And no name that came."""
    ada = Caller(app, bearer("Ada", "curator"))
    asked = {**body("admissions", "1/4", TERMS.facts()), "table": TABLE} | wrong
    answer = ada("POST", "/v1/releases", key="k", json=asked)
    assert (answer.status_code, answer.json()["wrong"]) == (422, [told])
    assert "datset" not in answer.text


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        ({"json": {"owner": "X", "role": "boss", "grants": []}}, "body.role: must be 'recipient', "),
        ({"json": {"owner": "", "role": "admin", "grants": []}}, "body.owner: must have a length of at least 1"),
        ({"key": None}, "header.Idempotency-Key: missing; send a new text"),
    ],
)
def test_a_value_out_of_its_limits_is_told_the_limit(app, bearer, sent, told):
    """It was told the name of a rule of the parser: "literal error"."""
    root, asked = Caller(app, bearer("Root", "admin")), {"json": {"owner": "X", "role": "admin", "grants": []}}
    answer = root("POST", "/v1/tokens", **{"key": "k"} | asked | sent)
    assert answer.status_code == 422
    assert answer.json()["wrong"][0].startswith(told)
    assert "query.most: must be at least 1" in root("GET", "/v1/tokens?most=0").json()["wrong"]
    wrong = root("PUT", "/v1/datasets/d/budget", json={"limit": "1"}).json()["wrong"]
    assert wrong == ["body.?: extra forbidden", "body.epsilon: missing"]  # it asked: did you mean list?


def test_a_field_of_another_request_is_not_suggested_for_itself(app, bearer):
    """It was told: "body.name: extra forbidden; did you mean name?"."""
    asked = {"owner": "X", "role": "admin", "grants": [], "name": "a"}
    wrong = Caller(app, bearer("Root", "admin"))("POST", "/v1/tokens", key="k", json=asked).json()["wrong"]
    assert len(wrong) == 1
    assert wrong[0].startswith("body.name: extra forbidden")
    assert "mean name" not in wrong[0]


def test_an_address_or_a_method_that_is_not_there_is_told_where_to_look(app, bearer):
    ada = Caller(app, bearer("Ada", "curator"))
    assert "/v1/openapi.json" in ada("GET", "/v1/relases").json()["detail"]
    assert "Allow" in ada("DELETE", "/v1/me").json()["detail"]


def test_a_level_is_written_as_in_commands_too(caller):
    """In an address: ln2 and alpha=1/2 are one level; what is no level is refused."""
    ada, _ = publish_over_http(caller, epsilon="ln2")
    for written in ("ln2", "alpha=1/2", "-log(1/2)", "1ln2", "ln 2"):
        seen = ada("GET", "/v1/releases/admissions/view", params={"epsilon": written})
        assert (seen.status_code, seen.json()["epsilon"]) == (200, "-log(1/2)"), seen.text
    assert ada("GET", "/v1/releases/admissions/margin", params={"epsilon": "1/2ln3"}).status_code == 200
    for wrong in ("ln1", "ln1/2", "ln", "alpha=2", "alpha=", "lnx", "0ln2", "ln2/0", "1/0ln2", "ln" + "9" * 300):
        assert ada("GET", "/v1/releases/admissions/margin", params={"epsilon": wrong}).status_code == 422, wrong


def test_a_body_of_another_kind_is_told_what_is_sent(app, bearer):
    ada, sent = Caller(app, bearer("Ada", "curator")), b'{"name": "x", "name": "x"}'
    for kind, words in (("text/plain", "Content-Type: application/json"), ("application/json", "comes twice")):
        answer = ada("POST", "/v1/releases", key="k", content=sent, headers={"Content-Type": kind})
        assert words in answer.json()["wrong"][0], answer.text


TOKEN = {"name", "owner", "role", "grants", "made", "expires", "subject", "revoked"}
PROPOSAL = {"name", "verb", "release", "version", "reason", "proposer", "made", "state", "decided_by", "decided",
            "anyone", "level", "digest", "size", "decision_reason"}  # fmt: skip


def test_tokens_and_proposals_are_answered_without_what_is_hidden_and_read_again(caller, service, opened, who):
    """No digest of a secret, no other name of a person; and another worker reads what this one wrote."""
    ada, _ = publish_over_http(caller)
    caller("Bo", "recipient", ("admissions", QUARTER), ("*",))
    root = caller("Root", "admin")
    tokens = root("GET", "/v1/tokens").json()["tokens"]
    assert {frozenset(token) for token in tokens} == {frozenset(TOKEN)}
    assert [{"release": "admissions", "up_to": "1/4"}, {"release": "*", "up_to": None}] in [t["grants"] for t in tokens]
    proposals = ada("GET", "/v1/proposals").json()["proposals"]
    assert [(set(one), one["decided_by"], one["level"]) for one in proposals] == [(PROPOSAL, "Grace", "1/4")]
    again, admin, curator = opened(), who("Root", "admin"), who("Ada", "curator")
    assert [one.kept() for one in again.bearers.all(admin)] == [one.kept() for one in service.bearers.all(admin)]
    assert again.proposals.page(curator) == service.proposals.page(curator)
    every = root("GET", "/v1/tokens").json()["tokens"]
    for most in range(1, len(every) + 2):
        listed, page = [], {"next": ""}
        while page["next"] is not None:
            page = root("GET", "/v1/tokens", params={"most": most, "after": page["next"]}).json()
            listed += page["tokens"]
            assert 0 < len(page["tokens"]) <= most
            assert listed == every[: len(listed)]
        assert listed == every
    assert root("GET", "/v1/tokens", params={"after": "8"}).status_code == 404
