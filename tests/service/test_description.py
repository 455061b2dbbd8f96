"""The API as it describes itself: complete, with examples that are true, and kept by every answer."""

import os
import re
import secrets
from pathlib import Path

import jsonschema
import pytest

from service.conftest import ALL, TABLE, TERMS
from service.publications import body
from service.test_http import Caller
from utmost.service import Settings, application

ONE_STORE = True

OPEN = Settings(rate=1e6, burst=10**6)
LINES = "application/x-ndjson"
ROLES = ("curator", "admin", "auditor", "approver")


@pytest.fixture
def app(opened):
    return application(opened(approvals=False), OPEN)


@pytest.fixture
def described(app):
    return app.inside.openapi()


def bearer(app, role, grant=ALL):
    """A new token of a role."""
    return app.inside.state.service.bearers.make(None, secrets.token_hex(8), role, role, grant)[1]


def check(described, schema, found):
    """Check a JSON value against a schema of the description."""
    jsonschema.Draft202012Validator({**schema, "components": described["components"]}).validate(found)


def operations(described):
    return [
        (path, method, operation) for path, found in described["paths"].items() for method, operation in found.items()
    ]


def test_every_request_and_answer_has_an_example_that_is_true(described):
    """The example of each body, answer and error is one of its schema; each parameter has a plain type."""
    for path, method, operation in operations(described):
        contents = [operation["requestBody"]["content"]] if "requestBody" in operation else []
        contents += [answer["content"] for answer in operation["responses"].values()]
        for content in contents:
            for kind, one in content.items():
                check(described, one["schema"], one["example"])
                assert kind in ("application/json", "application/problem+json", LINES), (path, method)
        assert operation["summary"]
        assert operation["operationId"].isidentifier()
        assert operation["tags"] == [path.split("/")[2]]
        assert {"200", "401", "403", "404", "413", "414", "422", "429", "503"} <= operation["responses"].keys()
        if method == "post" and not path.endswith(
            ("decision", "withdrawal", "closing", "revocation", "verification", "check")
        ):
            assert [one["required"] for one in operation["parameters"] if one["name"] == "Idempotency-Key"] == [True]


def test_objects_of_any_members_say_so(described):
    """Without it a generator of TypeScript takes `{"type": "object"}` for an object without members."""
    for name, schema in described["components"]["schemas"].items():
        for member, part in schema.get("properties", {}).items():
            if part.get("type") == "object":
                assert part.keys() & {"additionalProperties", "properties"}, (name, member)


def walk(app):
    """One answer of each operation, from a first publication to the trail, with its method and path."""
    curator, admin, auditor, approver = (Caller(app, bearer(app, role)) for role in ROLES)
    asked = {**body("admissions", "1/4", TERMS.facts()), "table": TABLE}
    one = "/v1/releases/{name}"

    def said(caller, method, described, key=None, path=None, **more):
        answer = caller(method, (path or described).replace("{name}", "admissions"), key=key, **more)
        assert answer.status_code == 200, (method, described, answer.text)
        return answer, (method.lower(), described, answer)

    yield said(curator, "POST", "/v1/releases", key="p", json=asked)[1]
    yield said(curator, "POST", f"{one}/relax", key="r", json={"level": "1", "table": TABLE})[1]
    measures = [asked | {"name": name, "dataset": "admissions"} for name in ("one", "two")]
    yield said(curator, "POST", "/v1/publications", key="pm", json={"measures": measures})[1]
    measures = [{"name": name, "level": "1", "table": TABLE} for name in ("one", "two")]
    yield said(curator, "POST", "/v1/relaxations", key="rm", json={"measures": measures})[1]
    for path, query in (
        ("view", "?epsilon=1/8"),
        ("margin", "?epsilon=1"),
        ("rehearsal", "?epsilon=2"),
        ("history", ""),
    ):
        yield said(curator, "GET", f"{one}/{path}", path=f"{one}/{path}{query}")[1]
    for path in ("/v1/me", "/v1/releases", "/v1/waiting", one, "/v1/proposals"):
        yield said(curator, "GET", path)[1]
    proposed = {"relaxation": {"name": "admissions", "level": "2"}, "reason": "so"}
    proposal, shown = said(curator, "POST", "/v1/proposals", key="q", json=proposed)
    yield shown
    one = f"/v1/proposals/{proposal.json()['name']}"
    yield said(approver, "GET", "/v1/proposals/{name}", path=one)[1]
    other, _ = said(
        curator, "POST", "/v1/proposals", key="w", json=proposed | {"relaxation": {"name": "admissions", "level": "3"}}
    )
    withdrawn = f"/v1/proposals/{other.json()['name']}/withdrawal"
    yield said(curator, "POST", "/v1/proposals/{name}/withdrawal", path=withdrawn)[1]
    made = f"{one}/decision"
    decided = {"json": {"state": "approved"}}
    yield said(approver, "POST", "/v1/proposals/{name}/decision", path=made, **decided)[1]
    yield said(curator, "GET", "/v1/proposals")[1]
    asked = {"owner": "Cy", "role": "recipient", "grants": [{"release": "*", "up_to": "1/4"}], "days": "1/2"}
    token, shown = said(admin, "POST", "/v1/tokens", key="t", json=asked)
    yield shown
    made = f"/v1/tokens/{token.json()['token']['name']}/revocation"
    yield said(admin, "POST", "/v1/tokens/{name}/revocation", path=made)[1]
    yield said(admin, "GET", "/v1/tokens")[1]
    budget = "/v1/datasets/{dataset}/budget"
    yield said(admin, "GET", budget, path="/v1/datasets/admissions/budget")[1]
    yield said(admin, "PUT", budget, path="/v1/datasets/admissions/budget", json={"epsilon": "3"})[1]
    charges, spent = (
        "/v1/datasets/{dataset}/charges",
        {"epsilon": "1/8", "what": "OpenDP, mean age", "independent": True},
    )
    yield said(admin, "PUT", charges, path="/v1/datasets/others/charges", json=spent)[1]
    for path in ("/v1/history", "/v1/status", "/v1/trail", "/v1/trail/lines"):
        yield said(auditor, "GET", path)[1]
    yield said(auditor, "POST", "/v1/verification")[1]
    receipt, shown = said(auditor, "GET", "/v1/receipt")
    yield shown
    yield said(auditor, "POST", "/v1/receipt/check", json=receipt.json())[1]


def test_every_operation_answers_as_described(app, described):
    """Each of them is called once and done; its answer is of the schema that the description has for it."""
    done = set()
    for method, path, answer in walk(app):
        ((kind, content),) = described["paths"][path][method]["responses"]["200"]["content"].items()
        check(described, content["schema"], answer.text if kind == LINES else answer.json())
        assert answer.headers["content-type"].partition(";")[0] == kind
        done.add((method, path))
    assert done == {(method, path) for path, method, _ in operations(described)}


def test_the_page_about_http_names_every_operation_and_status(described):
    page = (Path(__file__).parents[2] / "docs/reference/service.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([A-Z]+) (/v1/\S+)` \|", page, re.MULTILINE)
    assert {(method.lower(), path) for method, path in rows} == {(how, path) for path, how, _ in operations(described)}
    statuses = {status for _, _, operation in operations(described) for status in operation["responses"]}
    assert set(re.findall(r"^\| (\d+) \|", page, re.MULTILINE)) | {"200"} == statuses | {"500"}


@pytest.mark.oracle
@pytest.mark.parametrize("role", ["curator", "recipient", "approver", "auditor", "admin", None])
@pytest.mark.filterwarnings("ignore")
def test_a_fuzzer_of_the_description_finds_no_answer_outside_it(app, role):
    """Schemathesis, over all operations as each role, with requests of the schema and beside it: no status 500, no
    status, media type, header or body that is not described. UTMOST_FUZZ in the environment sets another dose."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    list(walk(app))
    presented = None if role is None else bearer(app, role)
    headers = {} if role is None else {"Authorization": f"Bearer {presented}"}
    api = schemathesis.openapi.from_asgi("/v1/openapi.json", app)
    wanted = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
    ]
    doses = int(os.environ.get("UTMOST_FUZZ", "15"))
    seen = set()
    for found in api.get_all_operations():
        operation = found.ok()
        if operation.path.endswith("/verification") and doses > 100:
            continue

        for mode in schemathesis.GenerationMode:

            @settings(
                max_examples=doses, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
            )
            @given(case=operation.as_plan(generation_mode=mode))
            def fuzzed(case):
                answer = case.call(headers=headers)
                seen.add(answer.status_code)
                case.validate_response(answer, checks=wanted)

            fuzzed()
    assert seen <= {200, 401, 403, 404, 409, 413, 422}


@pytest.mark.parametrize("docs", [True, False])
def test_a_missing_address_names_the_description_where_there_is_one(opened, docs):
    caller = Caller(application(opened(), Settings(docs=docs)))
    detail = caller("GET", "/v1/nothing").json()["detail"]
    assert (caller("GET", "/v1/openapi.json").status_code == 200) == docs == ("/v1/openapi.json" in detail)
