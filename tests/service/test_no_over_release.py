"""R11 through HTTP: every role, endpoint and level; forged, expired, revoked and re-scoped tokens; neighbouring data.

Which verb an operation needs is written down here once more; an operation that is not here fails the first test.
"""

import json
import random
import secrets
from fractions import Fraction
from itertools import product

import pytest

from service.conftest import ALL
from service.publications import Terms, body, propose_by, publish_by, relax_by
from service.test_description import OPEN, bearer, operations
from service.test_http import Caller
from service.test_who_may import ALLOWED, ROLES
from utmost.errors import NotPublished
from utmost.exact import level
from utmost.service import Grant, Service, application
from utmost.testing import seeded_ledger

ONE_STORE = True

ROWS, STORED = 40, ("1/4", "1/2", "1", "2")
UP_TO = "1/2"
RELEASES = ("admissions", "wages", "nothing")
NEEDS = {
    ("get", "/v1/me"): None,
    ("get", "/v1/releases"): "list",
    ("post", "/v1/releases"): "publish",
    ("post", "/v1/publications"): "publish",
    ("post", "/v1/relaxations"): "relax",
    ("get", "/v1/releases/{name}"): "list",
    ("get", "/v1/releases/{name}/view"): "view",
    ("get", "/v1/releases/{name}/margin"): "list",
    ("post", "/v1/releases/{name}/relax"): "relax",
    ("get", "/v1/releases/{name}/rehearsal"): "propose",
    ("get", "/v1/releases/{name}/history"): "history",
    ("get", "/v1/proposals"): "read proposals",
    ("post", "/v1/proposals"): "propose",
    ("get", "/v1/proposals/{name}"): "read proposals",
    ("post", "/v1/proposals/{name}/decision"): "decide proposals",
    ("post", "/v1/proposals/{name}/withdrawal"): "propose",
    ("get", "/v1/tokens"): "tokens",
    ("post", "/v1/tokens"): "tokens",
    ("post", "/v1/tokens/{name}/revocation"): "tokens",
    ("get", "/v1/datasets/{dataset}/budget"): ("budgets", "history"),
    ("put", "/v1/datasets/{dataset}/budget"): "budgets",
    ("put", "/v1/datasets/{dataset}/charges"): "budgets",
    ("get", "/v1/history"): "history",
    ("get", "/v1/status"): "verify",
    ("post", "/v1/verification"): "verify",
    ("get", "/v1/receipt"): ("history", "verify"),
    ("post", "/v1/receipt/check"): "verify",
    ("get", "/v1/trail"): "trail",
    ("get", "/v1/trail/lines"): "trail",
    ("get", "/v1/waiting"): ("publish", "decide proposals"),
}
WHOLE = {"tokens", "budgets", "verify", "trail"}
"""What a token for one release does not allow, whatever its role: it concerns all of them."""


def table(shift=0):
    """A table whose released values, as they stand in an answer, are found in no other place."""
    return {"n": [10**12 + 7919 * row + shift for row in range(ROWS)]}


TERMS = Terms.read({"columns": "n", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}})


class World:
    """A service with two releases at four levels each, and what stands in an answer that holds one of them."""

    def __init__(self, service):
        self.service, self.app = service, application(service, OPEN)
        curator = service.bearers.make(None, "a", "Ada", "curator", ALL)[0]
        self.said, self.number = {}, 0
        for at, name in enumerate(RELEASES[:2]):
            self.said[name, "truth"] = self.shown(table(at)["n"])
            first = publish_by(service, curator, name, name, table(at), level("2"), TERMS)
            self.said[name, "2"] = self.shown(first["n"])
            for stored in STORED[:-1]:
                seen = service.releases.view(curator, name, level(stored)).table
                self.said[name, stored] = self.shown(seen["n"])
        self.made = {"proposals": self.proposal(curator)}
        self.made["tokens"] = service.bearers.make(None, "z", "Zoe", "recipient", ALL)[0].name

    def proposal(self, curator):
        return propose_by(self.service, curator, "q", "relax", "wages", level("4")).name

    @staticmethod
    def shown(cells):
        return json.dumps([int(cell) for cell in cells], separators=(",", ":"))

    def asked(self, method, path, name, at):
        """A request of an operation that is right in every field: its address, and its body."""
        self.number += 1
        kind = path.split("/")[2]
        record = self.made.get(kind, "")
        address = path.replace("{name}", name if kind == "releases" else record).replace("{dataset}", name)
        truth = table(RELEASES.index(name)) if name in RELEASES[:2] else table()
        bodies = {
            "/v1/releases": {**body(name, at, TERMS.facts()), "table": truth},
            "/v1/releases/{name}/relax": {"level": at, "table": truth},
            "/v1/publications": {"measures": [{**body(name, at, TERMS.facts()), "table": truth}]},
            "/v1/relaxations": {"measures": [{"name": name, "level": at, "table": truth}]},
            "/v1/proposals": {"relaxation": {"name": name, "level": at}},
            "/v1/proposals/{name}/decision": {"state": "refused", "reason": "no"},
            "/v1/tokens": {"owner": "Eve", "role": "admin", "grants": [{"release": "*"}]},
            "/v1/datasets/{dataset}/budget": {"epsilon": "100"},
            "/v1/datasets/{dataset}/charges": {"epsilon": "1", "what": f"request {self.number}", "independent": True},
            "/v1/receipt/check": {"receipt": "utmost-receipt:a:1:b:c"},
        }
        query = {"epsilon": at} if path.endswith(("view", "margin", "rehearsal")) else {}
        sent = bodies.get(path) if method != "get" else None
        return address, {"params": query, "json": sent, "key": f"{self.number}" if method == "post" else None}

    def over(self, text, name, most):
        """What a text holds beyond a level of one release."""
        return [
            (other, at)
            for (other, at), shown in self.said.items()
            if shown in text and (other != name or at == "truth" or Fraction(at) > Fraction(most))
        ]


@pytest.fixture
def world(opened):
    return World(opened(approvals=False))


def test_every_operation_has_its_verb(world):
    assert NEEDS.keys() == {(method, path) for path, method, _ in operations(world.app.inside.openapi())}
    verbs = {verb for needs in NEEDS.values() if needs for verb in ([needs] if isinstance(needs, str) else needs)}
    assert verbs | {"metrics"} == set().union(*ALLOWED.values())


@pytest.mark.parametrize("every_level", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_role_endpoint_and_level(world, every_level):
    """For each role with a grant of one release up to 1/2, each operation, release and level below, at and above it:
    nothing is done that the role's row, the release or the level does not allow, and no answer holds more.

    What the role's row refuses is asked at the lowest level alone, which no grant is below, and of the releases in
    turn, unless `every_level`.
    """
    callers = {role: Caller(world.app, bearer(world.app, role, (Grant("admissions", level(UP_TO)),))) for role in ROLES}
    done = set()
    for turn, ((role, caller), ((method, path), needs)) in enumerate(product(callers.items(), NEEDS.items())):
        verbs = [needs] if isinstance(needs, str) else list(needs or [])
        names = RELEASES if "{name}" in path or "{dataset}" in path or method == "post" else RELEASES[:1]
        every = "releases" in path or path in ("/v1/publications", "/v1/relaxations")
        levels = ("1/4", "1/2", "1") if every else ("1",)
        refused = verbs and not set(verbs) & ALLOWED[role] and not every_level
        if refused:
            names, levels = [names[turn % len(names)]], levels[:1]
        for name, at in product(names, levels):
            address, sent = world.asked(method, path, name, at)
            answer = caller(method.upper(), address, **sent)
            assert answer.status_code < 500, answer.text
            assert world.over(answer.text, "admissions", UP_TO) == [], (role, method, path)
            if name != "wages":
                assert "wages" not in answer.text, (role, method, path, answer.text)
            if answer.status_code < 300:
                done.add((role, method, path))
                assert not verbs or set(verbs) & ALLOWED[role], (role, method, path)
                assert not set(verbs) & WHOLE or not path.startswith(("/v1/tokens", "/v1/datasets", "/v1/history")), (
                    path
                )
                apart = ("/releases" in path and path != "/v1/releases") or path == "/v1/relaxations"
                if name != "admissions" and apart:
                    raise AssertionError((role, method, address))
                if Fraction(at) > Fraction(UP_TO) and path.endswith(("view", "relax", "relaxations", "rehearsal")):
                    raise AssertionError((role, method, address, at))
    assert {("recipient", "get", "/v1/releases/{name}/view"), ("curator", "post", "/v1/releases/{name}/relax")} <= done


def test_without_a_token_nothing_is_said(world):
    """No token, and one of each role that was revoked: 401 in the same words at each operation, whatever is asked."""
    said = set()
    for caller, ((method, path), name) in product(
        (Caller(world.app), Caller(world.app, f"utmost_{'0' * 24}_{'A' * 43}")), product(NEEDS, RELEASES[1:])
    ):
        address, sent = world.asked(method, path, name, "1/4")
        answer = caller(method.upper(), address, **sent)
        assert answer.status_code == 401
        said.add(answer.content)
    assert len(said) == 2


def forged(draw, presented):
    """A token with one letter changed, cut, doubled, or of another's name."""
    at, letter = draw.randrange(len(presented)), draw.choice("0123456789abcdefABCDEFxyz-_ .")
    return draw.choice(
        [
            presented[:at] + letter + presented[at + 1 :] if letter != presented[at] else presented[:-1],
            presented[:at],
            presented + letter.strip() + "x",
            f"utmost_{secrets.token_hex(12)}_{presented.rsplit('_', 1)[1]}",
            presented[:32] + draw.choice("ABab01") * 43,
        ]
    )


@pytest.mark.parametrize("tokens", [60, pytest.param(500, marks=pytest.mark.slow)])
def test_tokens_that_are_not_what_they_seem(world, clock, tokens):
    """So many forged, expired, revoked and re-scoped tokens, each at a release and level that it is not for, and at
    another operation; sound ones in between: 0 over-releases.

    What a sound one may is recomputed from its grants with fractions.
    """
    draw, answered, number = random.Random(tokens + 1), {200: 0, 401: 0, 403: 0}, 0
    world.service.bearers.make(None, "standing", "standing", "admin", (Grant("*"),), days=2)  # the last one must stay
    while answered[401] + answered[403] < tokens:
        number += 1
        scopes = [
            (draw.choice(("*", *RELEASES)), draw.choice((None, *STORED))) for _ in range(draw.choice((1, 1, 1, 2)))
        ]
        grants = tuple(Grant(name, None if most is None else level(most)) for name, most in scopes)
        role, how = draw.choice(ROLES), draw.choice(("forged", "expired", "revoked", "scoped"))
        made, presented = world.service.bearers.make(None, f"t{number}", f"o{number}", role, grants, days=1)
        now = clock.now
        if how == "forged":
            presented = forged(draw, presented)
        elif how == "expired":
            clock.now += draw.choice((86_400, 86_401, 10**8))
        elif how == "revoked":
            world.service.bearers.revoke(made, made.name)
        name, at = draw.choice(RELEASES[:2]), draw.choice(STORED)
        answer = Caller(world.app, presented)("GET", f"/v1/releases/{name}/view", params={"epsilon": at})
        method, path = draw.choice(sorted(NEEDS))
        address, sent = world.asked(method, path, name, at)
        other = Caller(world.app, presented)(method.upper(), address, **sent)
        clock.now = now
        may = (
            how == "scoped"
            and role in ("recipient", "curator")
            and any(r in ("*", name) and (m is None or Fraction(at) <= Fraction(m)) for r, m in scopes)
        )
        assert answer.status_code == (200 if may else 403 if how == "scoped" else 401), (how, role, scopes, name, at)
        assert world.over(answer.text, name, at if may else "0") == []
        assert how == "scoped" or other.status_code == 401, (how, method, path)
        answered[answer.status_code] += 1
    assert answered[200] >= tokens // 60
    assert min(answered[401], answered[403]) > tokens / 10


def test_a_guess_at_somebody_elses_values_is_not_confirmed(world):
    """A curator for one release brings another's very values under its own name, and guesses beside them: it is told
    nothing, not even by an error; a curator for all releases is, so that budgets add up."""
    answers = []
    for number, guess in enumerate((table(1), table(1) | {"n": [1] * ROWS}, table(7))):
        asked = body(f"mine {number}", "1/1000", TERMS.facts() | {"independent": True}) | {"table": guess}
        scoped = Caller(world.app, bearer(world.app, "curator", (Grant(f"mine {number}"),)))
        answer = scoped("POST", "/v1/releases", key="g", json=asked)
        told = answer.json()
        assert {one["kind"] for one in told.pop("warnings")} <= {"RowsSorted"}, "which is of the table sent alone"
        drawn = told.pop("columns"), told["statement"].pop("table"), told.pop("name"), told["statement"].pop("name")
        assert drawn[2:] == (f"mine {number}",) * 2
        answers.append((answer.status_code, told))
    assert answers == [(200, answers[0][1])] * 3, "but for the noise, all three are told the same"
    assert answers[0][1]["statement"]["levels"] == ["1/1000"]
    whole = Caller(world.app, bearer(world.app, "curator"))
    asked = {**body("yours", "1/1000", TERMS.facts()), "table": table(1)}
    assert whole("POST", "/v1/releases", key="g", json=asked).json()["title"] == "AlreadyPublished"


def test_no_budget_is_split_without_a_declaration(world):
    """A curator for one release is compared with nobody. So it says in its terms that its individuals are in no other
    dataset, or is refused, whatever the others hold; nobody says it in its place. What is approved says so, too."""
    said = set()
    for name, truth in (("mine", table(1)), ("own", table(5)), ("wages", table(1))):
        scoped = Caller(world.app, bearer(world.app, "curator", (Grant(name),)))
        request = body(name, "1", TERMS.facts() | {"dataset": "apart", "independent": False})
        answer = scoped("POST", "/v1/releases", key="g", json=request | {"table": truth})
        proposed = {"publication": request}
        said |= {
            (one.status_code, one.content) for one in (answer, scoped("POST", "/v1/proposals", key="p", json=proposed))
        }
        declared = {"publication": request | {"independent": True}}
        made = scoped("POST", "/v1/proposals", key="q", json=declared).json()
        assert scoped("GET", f"/v1/proposals/{made['name']}").json()["publication"]["independent"] is True
    ((status, content),) = said
    assert status == 403
    assert b"in another dataset" in content
    with pytest.raises(NotPublished):
        world.service.ledger.release("mine")


def test_a_rehearsal_tells_nobody_of_another_budget(world):
    """A budget is for tokens for all releases; whoever is for some is told that of their datasets, and of another one
    the same words, whether it is there or not."""
    wages = Caller(world.app, bearer(world.app, "curator", (Grant("admissions"),)))
    said = {
        (one.status_code, one.content)
        for dataset in ("wages", "nothing", "Admissions")
        for one in [wages("GET", f"/v1/releases/admissions/rehearsal?epsilon=1/8&dataset={dataset}")]
    }
    ((status, content),) = said
    assert status == 403
    assert b"a dataset of the releases that the token allows" in content
    shared = world.service.ledger.release("admissions").dataset
    for dataset in ("", f"&dataset={shared}"):
        found = wages("GET", f"/v1/releases/admissions/rehearsal?epsilon=1/8{dataset}")
        assert (found.status_code, found.json()["dataset"]) == (200, shared)
    whole = Caller(world.app, bearer(world.app, "curator"))
    assert whole("GET", "/v1/releases/new/rehearsal?epsilon=1/8&dataset=wages").json()["dataset"] == "wages"


PATHS = (
    *("me", "releases", "releases/admissions", "releases/none", "proposals", "tokens", "trail"),
    *("releases/admissions/margin?epsilon=7", "releases/admissions/history", "history"),
)


def looks(tmp_path, name, cells, clock):
    """All that a recipient is answered about a table, with equal noise: status, headers, bytes but for the noise."""
    folder = tmp_path / name
    folder.mkdir()
    with seeded_ledger(folder / "l.db", "one noise") as ledger:
        service = Service(ledger, approvals=False, clock=clock)
        curator = service.bearers.make(None, "a", "Ada", "curator", ALL)[0]
        truth = {"n": cells}
        publish_by(service, curator, "p", "admissions", truth, level("1/4"), TERMS)
        relax_by(service, curator, "r", "admissions", truth, level(2))
        app = application(service, OPEN)
        bo = Caller(app, service.bearers.make(None, "b", "Bo", "recipient", (Grant("admissions", level("1/2")),))[1])
        view = "/v1/releases/admissions/view?epsilon="
        answers = [bo("GET", view + at) for at in ("1/4", "1/2", "1/8", "1/7", "1", "2", "3", "x", "0")]
        answers += [bo("GET", f"/v1/{path}") for path in PATHS]
        answers += [bo("POST", "/v1/releases/admissions/relax", key="x", json={"level": "1/2", "table": truth})]
        return [look(answer, cells) for answer in answers]


def look(answer, cells):
    """Status; headers, of what is fresh each time the length; the body as it is, with values as noise."""
    fresh = ("x-request-id", "content-length", "date")
    headers = [
        (name, len(value) if name in fresh[:1] else value)
        for name, value in answer.headers.items()
        if name not in fresh[1:]
    ]
    found = answer.json()
    noise = None
    if "columns" in found and "statement" in found:
        noise = [value - cell for value, cell in zip(found["columns"].pop("n"), cells, strict=True)]
        digest = found["statement"].get("values", {})
        assert len(json.dumps(digest)) >= 2
        found["statement"] = shape_of(found["statement"])
    return answer.status_code, headers, json.dumps(found), noise


def shape_of(value):
    """A JSON value with each digest, of the released values, replaced by its length."""
    if isinstance(value, dict):
        return {name: shape_of(part) for name, part in value.items()}
    return f"digest of {len(value)}" if isinstance(value, str) and len(value) >= 64 and value.isalnum() else value


@pytest.mark.parametrize("other", [128, *(pytest.param(one, marks=pytest.mark.slow) for one in (-127, 0)), 10**30])
def test_what_a_recipient_sees_depends_on_the_data_through_the_noise_alone(tmp_path, clock, other):
    """With equal noise, two tables give the same statuses, headers, orders, words and bytes, and values whose distance
    to the true ones is the same."""
    one, two = (looks(tmp_path, f"{at}", [5, value, 7], clock) for at, value in enumerate((127, other)))
    assert one == two
    assert sum(noise is not None for *_, noise in one) == 4
