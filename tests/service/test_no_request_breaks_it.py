"""R12: whatever comes, on either store, is answered by a typed refusal that quotes nothing, or done; nothing breaks.

The strict reader of JSON is tried alone, with more texts than requests would carry.
"""

import json
import random

import pytest

from service.conftest import TERMS
from service.publications import Terms, body
from service.test_description import OPEN, bearer, operations, walk
from service.test_http import Caller
from utmost.errors import OutOfRange, WrongKind
from utmost.ledger import Ledger
from utmost.service import Service, application

JSON = {"content-type": "application/json"}
ROLES = {
    "/v1/tokens": "admin",
    "/v1/datasets/{dataset}/budget": "admin",
    "/v1/datasets/{dataset}/charges": "admin",
    "/v1/proposals/{name}/decision": "approver",
    "/v1/receipt/check": "auditor",
}
"""Who may send a body, by path, where it is no curator."""
TABLES = {"/v1/releases", "/v1/releases/{name}/relax", "/v1/proposals", "/v1/publications", "/v1/relaxations"}
"""Where a body may be long."""
SECRET = 8_888_888_888_888
"""A cell, so long that it stands in no random text of a page by chance."""
PLAIN = {"columns": ["n"], "public": ["p"], "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
NAMES = [
    "", " ", "\x00", "\n", "a\x00b", "\ud800", "x" * 201, "x" * 100_000, "..", "a/b", "%2F",
    "'; DROP TABLE utmost_events; --",
]  # fmt: skip
NUMBERS = [
    "1e-4000", "1e4000", "1e-99999999", "1e99999999", "9" * 5000, "1/" + "9" * 3999, "1/0", "0", "-1", "nan", "inf",
    "", "\x00", "١", "1_0", "0x1", "1e5000", True, False, None, [], {}, 0, -1, 1e308, 5e-324, 10**4000, -0.0,
    2**63, 2**64,
]  # fmt: skip
CELLS = [None, True, "x", "\x00", 1.5, -0.0, 1e308, 10**4000, -(2**63), [], {}, {"a": [1]}, "٣", "1", " 1", "\ufeff"]
TEXTS = [
    "", "[]", "7", "null", '"x"', "{", '{"a":', "\x00", "NaN", "Infinity", '{"epsilon":NaN}', '{"epsilon":-Infinity}',
    "[" * 100_000, '{"a":' * 100_000, '{"epsilon":' + "9" * 5000 + "}", '{"\\ud800":1}',
    '{"epsilon":"\\ud800"}', json.dumps({str(n): n for n in range(5000)}), "\ufeff{}",
]  # fmt: skip
PLANS = [
    "", "x", "[]", "{}", "7", "NaN", '{"unit":1}', '{"unit":{}}', "[" * 50_000, '{"unit":{"sensitivity":1,"cells":1}}',
]  # fmt: skip


@pytest.fixture
def app(opened):
    return application(opened(approvals=False), OPEN)


def callers_of(app):
    list(walk(app))
    return {role: Caller(app, bearer(app, role)) for role in ("curator", "admin", "auditor", "recipient", "approver")}


@pytest.fixture
def callers(app):
    return callers_of(app)


@pytest.fixture(scope="module")
def one_app(tmp_path_factory):
    """A service on one store, for what is refused before the store is asked."""
    with Ledger.open(tmp_path_factory.mktemp("one") / "l.db", create=True) as ledger:
        yield application(Service(ledger, approvals=False), OPEN)


@pytest.fixture(scope="module")
def one_callers(one_app):
    return callers_of(one_app)


def check(answer, *statuses):
    """A typed answer in time: of one of these statuses, by its media type, with a name and words of bounded length."""
    assert answer.elapsed.total_seconds() < 60, answer.request.url
    assert answer.status_code in (statuses or (200, 401, 403, 404, 409, 413, 422)), (
        answer.request.url,
        answer.text[:300],
    )
    if answer.status_code == 200:
        return answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    told = answer.json()
    assert told["title"].isidentifier()
    assert len(answer.content) < 20_000
    assert str(SECRET) not in answer.text
    return told


def bodies(draw):
    """Requests that are right but for one thing, by method and path."""
    wrong = draw.choice(NUMBERS)
    name = draw.choice(NAMES)
    table = {"n": [SECRET, draw.choice(CELLS)], "p": ["a", draw.choice(CELLS)]}
    terms = {**PLAIN, draw.choice(["columns", "sensitivity", "cells", "grid", "largest", "public", "drop", "dataset",
                                   "id_column", "numbers", "rows", "neighbours", "half_step", "plan", "x"]):
             draw.choice([*NUMBERS, *NAMES, *PLANS])}  # fmt: skip
    fresh = f"f{draw.random()}"
    publication = {
        **body(fresh, "1", PLAIN | {"independent": True}),
        "table": {"n": [1, 2], "p": [1, 2]},
    }
    return [
        ("curator", "POST", "/v1/releases", publication | {"table": table}),
        ("curator", "POST", "/v1/releases", body(fresh, "1", terms) | {"table": publication["table"]}),
        ("curator", "POST", "/v1/releases", publication | {draw.choice(["name", "level", "version"]): wrong}),
        ("curator", "POST", "/v1/releases", publication | {"name": name}),
        ("curator", "POST", "/v1/releases", publication | {"counted": wrong, "table": None}),
        ("curator", "POST", "/v1/releases/admissions/relax", {"level": wrong, "table": {"admitted": [1]}}),
        ("curator", "POST", "/v1/releases/admissions/relax", {"level": 1, "table": draw.choice([table, wrong])}),
        ("curator", "POST", "/v1/proposals", {"publication": body("x", wrong, terms)}),
        ("curator", "POST", "/v1/proposals", {"relaxation": {"name": name, "level": "1", "version": wrong}}),
        ("admin", "POST", "/v1/tokens", {"owner": name, "role": "admin", "grants": [], "days": wrong, "subject": ""}),
        ("admin", "POST", "/v1/tokens", {"owner": "a", "role": name, "grants": [{"release": name, "up_to": wrong}]}),
        ("admin", "PUT", "/v1/datasets/admissions/budget", {"epsilon": wrong}),
        ("auditor", "POST", "/v1/receipt/check", {"receipt": draw.choice([name, wrong, "utmost-receipt:a:1:b:c"])}),
    ]  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("doses", [6, pytest.param(300, marks=pytest.mark.slow)])
def test_bad_bodies(callers, doses):
    """Every body with bad numbers, names, cells, terms: refused by name, or done; never a status of 500 or more."""
    draw = random.Random(doses)
    for turn in range(doses):
        for number, (role, method, path, sent) in enumerate(bodies(draw)):
            text = json.dumps(sent)  # as ASCII: NaN, halves of pairs and long numbers go out as they are
            check(callers[role](method, path, key=f"{turn} {number}", content=text, headers=JSON))


def test_what_is_no_json(one_app, one_callers):
    """Texts that are no JSON, or say what no answer could repeat: the wrong shape, at every operation with a body."""
    for path, method, operation in operations(one_app.inside.openapi()):
        if "requestBody" in operation:
            for text in TEXTS if path == "/v1/releases" else TEXTS[::3]:
                role = ROLES.get(path, "curator")
                answer = one_callers[role](
                    method.upper(), path.replace("{name}", "0" * 24), key="k", content=text.encode(), headers=JSON
                )
                if len(text) > 1 << 16 and path not in TABLES:
                    assert check(answer, 413)["title"] == "TooLarge"
                    continue
                told = check(answer, 422)
                assert told["title"] == "WrongShape", text[:50]
                assert all(len(one) < 200 for one in told["wrong"])


def test_a_column_that_stands_twice_is_not_lost(one_callers):
    """Python would take the last of two, in silence; so would it of two levels that a gateway read otherwise."""
    for twice in ('"table": {"n": [1], "n": [2]}', '"level": "1", "level": "2", "table": {"n": [1]}'):
        sent = '{"name": "x", "promise": {"columns": ["n"], "sensitivity": 1, "cells": 1}, "level": "1", ' + twice + "}"
        answer = one_callers["curator"]("POST", "/v1/releases", key="twice", content=sent.encode(), headers=JSON)
        assert check(answer, 422)["title"] == "WrongShape"


def test_a_parameter_that_stands_twice_in_an_address_is_refused(one_callers, one_app):
    """Of two levels in one address the last would be taken, in silence; a stranger is not told."""
    view = "/v1/releases/admissions/view?epsilon=1/8&epsilon=1/4"
    for path in (view, "/v1/releases/admissions/margin?epsilon=1&epsilon=1", "/v1/history?most=1&most=2"):
        told = check(one_callers["curator"]("GET", path), 422)
        (wrong,) = told["wrong"]
        assert wrong in ("query.epsilon: given twice", "query.most: given twice")
        assert check(Caller(one_app)("GET", path), 401)
    assert one_callers["curator"]("GET", "/release?name=a&name=b", headers={"accept": "text/html"}).status_code == 422


def test_a_parameter_that_no_path_takes_is_named(one_callers, one_app):
    """Misspelt, or of another path, it would be ignored in silence; hostile names are not repeated."""
    for path, wrong in (
        ("/v1/releases?limit=3", "query.limit: unknown: the parameters of this path are after, most"),
        ("/v1/releases/admissions/view?epsilon=1&foo=1", "query.foo: unknown"),
        ("/v1/me?x%20y=1", "query.?: this path takes none"),
    ):
        (told,) = check(one_callers["curator"]("GET", path), 422)["wrong"]
        assert told.startswith(wrong), told
        assert check(Caller(one_app)("GET", path), 401)


def test_bad_names_in_paths(callers):
    curator = callers["curator"]
    tails = ("", "/view?epsilon=1", "/margin?epsilon=1", "/history", "/rehearsal?epsilon=1")
    parts = ("%00", "%ff%fe", "%2e%2e", "a%2Fb", "%F0%9D%95%8F", "x" * 300, "%20", "%25", ";", "%ud800")
    for number, part in enumerate(parts):
        for tail in (
            tails if number < 2 else tails[number % 5 :: 5]
        ):  # what a path is told of its name is one function's
            assert check(curator("GET", f"/v1/releases/{part}{tail}"))
        for path in (f"/v1/tokens/{part}/revocation", f"/v1/proposals/{part}/decision"):
            check(callers["admin"]("POST", path, key="k", json={"state": "approved"}), 403, 404, 422)
        check(callers["admin"]("GET", f"/v1/datasets/{part}/budget"))


def test_bad_numbers_and_headers(one_callers):
    """Levels and numbers in the address, keys and kinds in headers, methods that there are none of."""
    curator = one_callers["curator"]
    for wrong in NUMBERS:
        for query in ("view", "margin", "rehearsal"):
            check(curator("GET", f"/v1/releases/admissions/{query}", params={"epsilon": wrong}))
        check(curator("GET", "/v1/releases/admissions/margin", params={"epsilon": 1, "confidence": wrong}))
        check(curator("GET", "/v1/releases/admissions", params={"version": wrong}))
        check(one_callers["auditor"]("GET", "/v1/trail", params={"after": wrong, "most": wrong}))
    for wrong in ("1_0", "１", "true"):
        for path, name in (("releases/admissions", "version"), ("releases/admissions/view?epsilon=1_0", "x"),
                           ("releases", "most"), ("releases/admissions/margin?epsilon=1/1_0", "version")):  # fmt: skip
            check(curator("GET", f"/v1/{path}", params={name: wrong} if "?" not in path else None), 422)
    for key in ("", "\x01", "x" * 201, "\xff", "\t"):
        answer = curator("POST", "/v1/proposals", json={"relaxation": {"name": "admissions", "level": "3"}},
                         headers={"Idempotency-Key": key.encode("latin-1")})  # fmt: skip
        check(answer, *((200,) if key == "\xff" else (422,)))
    for kind in (None, "", "text/plain", "application/xml", "application/json; charset=utf-16", "multipart/form-data"):
        sent = {} if kind is None else {"content-type": kind}
        check(curator("POST", "/v1/releases", key="x", content=b'{"name": 1}', headers=sent), 422)
    for method in ("DELETE", "PATCH", "OPTIONS", "BREW"):
        answer = curator(method, "/v1/releases")
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    for path in ("/v1/releases", "/v1/releases/gone", "/health"):
        head, whole = curator("HEAD", path), curator("GET", path)
        assert (head.status_code, head.content) == (whole.status_code, b"")
        assert head.headers["content-length"] == whole.headers["content-length"]
    long = f"Bearer {'x' * 60_000}"
    for given in ("", "Bearer", "Bearer ", "Basic YTpi", "bearer x", "Bearer \xff", "Bearer a.b.c", long):
        answer = curator("GET", "/v1/me", headers={"Authorization": given.encode("latin-1")})
        check(answer, 401)
        assert answer.headers["www-authenticate"] == "Bearer"
    assert curator("GET", "/v1/releases/").status_code == 404  # and no redirection to where the Host header says


def test_names_with_slashes_are_parts_of_paths(one_callers):
    """A release called "a/view" is another one than "a" with its view."""
    curator = one_callers["curator"]
    for name in ("a/view", "a", "a/b/c", "%2F"):
        asked = body(name, "1", TERMS.facts() | {"independent": True})
        check(
            curator("POST", "/v1/releases", key=name, json=asked | {"table": {"department": [1], "admitted": [5]}}), 200
        )
        part = "".join(f"%{byte:02X}" for byte in name.encode())
        assert check(curator("GET", f"/v1/releases/{part}"), 200)["name"] == name
        assert check(curator("GET", f"/v1/releases/{part}/view?epsilon=1"), 200)["name"] == name
        assert check(curator("GET", f"/v1/datasets/{part}/budget"), 200)["dataset"] == name


def test_a_stranger_is_refused_before_a_body_is_read(one_app):
    """Without a token that is valid, no byte of the body is asked for."""
    read = []

    async def pieces():
        read.append(1)
        yield b"{}"

    answer = Caller(one_app, "utmost_none")("POST", "/v1/releases", key="k", content=pieces(), headers=JSON)
    check(answer, 401)
    assert read == []


def test_what_nobody_thought_of_is_a_problem_too(one_app, one_callers, monkeypatch):
    """A fault in the service itself: status 500 by name, and not a word of it to the client."""

    def broken(*_):
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(type(one_app.inside.state.service.audit), "status", broken)
    answer = one_callers["auditor"]("GET", "/v1/status")
    assert (answer.status_code, answer.headers["content-type"]) == (500, "application/problem+json")
    assert answer.json()["title"] == "ServiceBroken"
    assert "secret" not in answer.text


@pytest.mark.parametrize("text", PLANS)
def test_a_plan_that_is_none(text):
    with pytest.raises((OutOfRange, WrongKind)):
        Terms.read({"noise": {"kind": "sums", "plan": text}})


def test_half_a_letter_in_a_refusal_is_written_out(one_callers):
    """What a refusal quotes may be no text that an answer can hold."""
    units = {"neighbours": "\ud800"}, {"sensitivity": "\ud800"}
    for number, said in enumerate(units):
        unit = {"cells": 1, "sensitivity": "1", "neighbours": "add-remove"} | said
        plan = json.dumps({"unit": unit, "domain": {"a": ["\ud800", "x"]}, "shares": [[["a"], "1"]]})
        terms = {"noise": {"kind": "sums", "plan": plan}}
        asked = {"publication": body("zz", "1", terms)}
        answer = one_callers["curator"]("POST", "/v1/proposals", key=f"half {number}", json=asked)
        check(answer, 422)


def test_shares_that_take_minutes_to_add_are_refused(one_callers):
    """Coprime denominators of four thousand digits: refused by their digits, before anything is added."""
    shares = [[[f"a~{n}"], f"1/1{str(n).zfill(3990)}"] for n in range(2, 2000)]
    unit = {"cells": 1, "sensitivity": "1", "neighbours": "add-remove"}
    plan = json.dumps({"unit": unit, "domain": {"a": list(range(4000))}, "shares": shares})
    terms = {"noise": {"kind": "sums", "plan": plan}}
    asked = {"publication": body("zz", "1", terms)}
    answer = one_callers["curator"]("POST", "/v1/proposals", key="coprime", json=asked)
    check(answer, 422)
    assert answer.elapsed.total_seconds() < 5


def test_a_plan_that_takes_seconds_to_read_is_refused_by_its_length(one_callers):
    terms = {"noise": {"kind": "sums", "plan": " " * (2 << 20) + "{}"}}
    asked = {"publication": body("zz", "1", terms)}
    answer = one_callers["curator"]("POST", "/v1/proposals", key="long", json=asked)
    check(answer, 422)
    assert answer.json()["title"] == "WrongShape"
