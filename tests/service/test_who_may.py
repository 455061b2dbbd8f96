"""Deny by default: every role, verb and level; forged, expired and revoked tokens."""

import random
from itertools import product

import pytest

from service.conftest import TABLE, TERMS, publish
from service.publications import publish_by, relax_by
from utmost.errors import LedgerDamaged, NotAllowed, NotAuthenticated, OutOfRange, RequestReused, UtmostError
from utmost.exact import level
from utmost.ledger import AnswerRequest
from utmost.service import Grant

ONE_STORE = True

HALF, QUARTER, ONE = level("1/2"), level("1/4"), level(1)
ALLOWED = {
    "recipient": {"list", "view"},
    "curator": {"list", "view", "propose", "read proposals", "publish", "relax", "history"},
    "approver": {"list", "decide proposals", "read proposals", "history"},
    "auditor": {"list", "read proposals", "history", "verify", "trail", "metrics"},
    "admin": {"list", "tokens", "budgets", "verify", "trail", "metrics"},
}
ROLES = tuple(ALLOWED)


def calls(service, token, at):
    """Every verb of the service, as a function of nothing, by the word that a role must have for it."""
    releases, proposals, audit = service.releases, service.proposals, service.audit
    return {
        "list": lambda: releases.release(token, "admissions"),
        "view": lambda: releases.view(token, "admissions", at),
        "propose": lambda: proposals.propose(token, "key", AnswerRequest("admissions", at, None)),
        "read proposals": lambda: proposals.page(token),
        "decide proposals": lambda: proposals.decide(token, "0" * 24, "approved"),
        "publish": lambda: publish_by(service, token, "key", "other", TABLE, at, TERMS),
        "relax": lambda: relax_by(service, token, "key", "admissions", TABLE, at),
        "tokens": lambda: service.bearers.make(token, "key", "Eve", "admin", (Grant("*"),)),
        "budgets": lambda: audit.limit(token, "admissions", ONE),
        "history": lambda: audit.history(token),
        "verify": lambda: audit.verify(token),
        "trail": lambda: audit.trail(token),
    }


def test_a_role_may_do_what_its_row_says_and_nothing_else(service, published, who):
    """For every role and verb: NotAllowed exactly where the table of roles has no entry."""
    verbs = calls(service, published, QUARTER)
    assert set(verbs) | {"metrics"} == set().union(*ALLOWED.values())
    for role, verb in product(ROLES, verbs):
        token = who(f"{role} only", role)
        try:
            calls(service, token, QUARTER)[verb]()
            refused = False
        except NotAllowed:
            refused = True
        except UtmostError:
            refused = False  # it may, and what was asked for is not there or needs a second person
        assert refused == (verb not in ALLOWED[role]), (role, verb)


def test_no_level_beyond_the_grant_leaves(service, published, who):
    """A recipient for epsilon 1/4 of one release gets nothing at a larger level, nor of another release."""
    publish(service, who, HALF, "wages", {"department": ["A"], "admitted": [5]})
    reader = who("Bo", "recipient", ("admissions", QUARTER))
    assert service.releases.view(reader, "admissions", level("1/8")).level == level("1/8")
    assert [release.name for release in service.releases.all(reader)] == ["admissions"]
    for name, at in (("admissions", level("251/1000")), ("admissions", ONE), ("wages", QUARTER), ("none", QUARTER)):
        with pytest.raises(NotAllowed):
            service.releases.view(reader, name, at)


def test_what_is_not_allowed_looks_alike_whether_or_not_it_is_there(service, published, who):
    """A refusal for a release that is there and for one that is not are the same words but for the name asked."""
    reader = who("Bo", "recipient", ("other", QUARTER))
    said = []
    for name in ("admissions", "nothing here"):
        with pytest.raises(NotAllowed) as refused:
            service.releases.view(reader, name, QUARTER)
        said.append(str(refused.value).replace(name, "NAME"))
    assert said[0] == said[1]


def test_what_is_not_allowed_takes_no_longer_where_it_is_not_there(service, published, who, monkeypatch):
    """Of ten thousand releases the names took 8 ms to put into an error, which was then not shown: a clock told."""
    reader, names = who("Bo", "recipient", ("other", QUARTER)), []
    monkeypatch.setattr(type(service.ledger), "release", lambda _, name, version=None: names.append(name))
    for name in ("admissions", "nothing here"):
        with pytest.raises(NotAllowed):
            service.releases.view(reader, name, QUARTER)
    assert names == []


def test_levels_listed_are_those_of_the_grant(service, published, who):
    reader = who("Bo", "recipient", ("admissions", level("1/8")))
    service.releases.view(reader, "admissions", level("1/16"))
    release = service.releases.release(reader, "admissions")
    assert service.releases.levels(reader, release) == [(level("1/16"),)]
    assert service.releases.levels(published, release) == [(level("1/16"), QUARTER)]  # a curator sees all of them
    other = who("Di", "recipient", ("admissions", level("1/8")))
    assert service.releases.levels(other, release) == [()]


def test_forged_tokens_are_refused_alike(service, who, clock):
    """150 tokens with one thing changed, expired or revoked: all refused, with the same words."""
    admin = who("Root", "admin")
    token, presented = service.bearers.make(admin, "key", "Bo", "recipient", (Grant("*"),), days=1)
    assert service.bearers.authenticated(presented).owner == "Bo"
    draw, forged = (
        random.Random(1),
        ["", "utmost_", presented + "=", presented.upper(), None, 7, f"{presented.rsplit('_', 1)[0]}_{'A' * 43}"],
    )
    while len(forged) < 150:
        at = draw.randrange(len("utmost_"), len(presented))
        letter = draw.choice("0123456789abcdefABCDEFxyz-_")
        if letter != presented[at]:
            forged.append(presented[:at] + letter + presented[at + 1 :])
    words = set()
    for text in forged:
        with pytest.raises(NotAuthenticated) as refused:
            service.bearers.authenticated(text)
        words.add(str(refused.value))
    assert len(words) <= 2
    clock.now += 86400
    with pytest.raises(NotAuthenticated):
        service.bearers.authenticated(presented)
    clock.now -= 86400
    service.bearers.revoke(token, token.name)
    with pytest.raises(NotAuthenticated):
        service.bearers.authenticated(presented)


def test_a_token_is_said_once(service, who):
    """The same request gives the same token without its secret; another under its key is refused."""
    admin = who("Root", "admin")
    token, presented = service.bearers.make(admin, "key", "Bo", "recipient", (Grant("*"),))
    assert presented is not None
    assert service.bearers.make(admin, "key", "Bo", "recipient", (Grant("*"),)) == (token, None)
    with pytest.raises(RequestReused):
        service.bearers.make(admin, "key", "Bo", "admin", (Grant("*"),))
    kept = service.context.records.read(lambda store: store.get("token", token.name))
    name, _, secret = presented.removeprefix("utmost_").partition("_")  # the secret may hold "_" itself
    assert name == token.name
    assert len(secret) == 43
    assert secret not in str(kept)


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_record_that_was_changed_in_the_store_is_refused(service, who):
    """Whoever writes to the database without the key can neither make a token nor change one."""
    reader = who("Bo", "recipient", ("admissions", QUARTER))

    def promoted(table):
        rows = table.ask("SELECT kind, name, body, mac FROM utmost_service WHERE kind = 'token'")
        for kind, name, body, mac in rows:
            changed = bytes(body[:-1]) + bytes([body[-1] ^ 1])
            table.run("DELETE FROM utmost_service WHERE kind = ? AND name = ?", (kind, name))
            table.run("INSERT INTO utmost_service VALUES (?, ?, ?, ?)", (kind, name, changed, bytes(mac)))

    service.context.records._transact(promoted, write=True)
    with pytest.raises(LedgerDamaged):
        service.context.records.read(lambda store: store.get("token", reader.name))


@pytest.mark.parametrize("days", [0, -1, 367, "1e9"])
def test_a_token_ends(service, who, days):
    with pytest.raises(OutOfRange):
        service.bearers.make(who("Root", "admin"), "key", "Bo", "recipient", (Grant("*"),), days=days)


@pytest.mark.parametrize("role", ROLES)
def test_a_refusal_names_who_may_and_who_asks(who, role):
    """For every role and every right that it lacks."""
    token = who("Ada", role)
    for verb in set().union(*ALLOWED.values()) - ALLOWED[role]:
        with pytest.raises(NotAllowed, match="you are signed in as an? " + role) as refused:
            token.check(verb)
        needed = str(refused.value).split(" needs ")[1].split(" token;")[0]
        for other in ROLES:
            assert (f" {other}'s" in f" {needed}") == (verb in ALLOWED[other])
