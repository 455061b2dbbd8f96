"""A service on each store, with a clock that tests set, and a token of each role."""

from dataclasses import dataclass

import pytest

import stores
from service.publications import Terms, propose_by, publish_by, relax_by
from utmost.exact import level

# A proposal that no request can make is written into the records by their own functions.
from utmost.interfaces.service.approvals import Proposal, request_digest, request_text
from utmost.interfaces.service.pending_queue import note_proposal
from utmost.ledger import Ledger
from utmost.service import Grant, Service

place, pytest_generate_tests = stores.place, stores.pytest_generate_tests
KEY = bytes(range(32))
TABLE = {"department": ["A", "B", "C"], "admitted": [601, 370, 322]}
TERMS = Terms.read(
    {"columns": "admitted", "public": "department", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
)
ALL = (Grant("*"),)


@dataclass
class Clock:
    now: float = 1_800_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def opened(place, tmp_path, clock):
    """Opens the service again, as another worker would."""
    ledgers = []

    def again(**options):
        ledgers.append(Ledger.open(place, create=True, key=KEY, witness=tmp_path / "witness"))
        return Service(ledgers[-1], clock=clock, **options)

    yield again
    for ledger in ledgers:
        ledger.close()


@pytest.fixture
def service(opened):
    return opened()


@pytest.fixture
def who(service):
    """A token of an owner in a role, made on demand; the same each time."""

    def token(owner, role, *grants):
        named = tuple(grant if isinstance(grant, Grant) else Grant(*grant) for grant in grants) or ALL
        key = f"{owner} {role} {[grant.kept() for grant in named]}"
        return service.bearers.make(None, key, owner, role, named)[0]

    return token


@pytest.fixture
def bearer(service):
    """What the bearer of a new token presents."""

    def made(owner, role, *grants):
        given = tuple(Grant(*grant) for grant in grants) or (Grant("*"),)
        return service.bearers.make(None, f"{owner} {role} {len(given)} page", owner, role, given)[1]

    return made


@pytest.fixture
def published(service, who):
    """The admissions at epsilon 1/4, confirmed by a second person; gives the curator's token."""
    return publish(service, who, level("1/4"))


def keep(service, number, verb, facts, release="a"):
    """Write a proposal into the records as it is, whatever its request says, as no request could."""
    made = Proposal(
        f"{number:024}", verb, release, 1, level(1), request_digest(facts), len(request_text(facts)), "", "Ada", 1
    )

    def work(store):
        store.put("proposal", made.name, made.kept())
        store.put("publication", made.name, facts)
        for kind in ("proposals", f"proposals {store.hidden('proposals', release)}"):
            store.put(kind, f"{number:012d}", {"proposal": made.name})
        note_proposal(store, made)

    service.context.records.write(work)
    return made.name


def publish(service, who, at, name="admissions", table=TABLE):
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    proposal = propose_by(service, curator, f"p {name} {at}", "publish", name, at, terms=TERMS)
    service.proposals.decide(approver, proposal.name, "approved")
    publish_by(service, curator, f"k {name} {at}", name, table, at, TERMS, proposal=proposal.name)
    return curator


def relax(service, who, at, name="admissions", table=TABLE):
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    proposal = propose_by(service, curator, f"r {name} {at}", "relax", name, at)
    service.proposals.decide(approver, proposal.name, "approved")
    return relax_by(service, curator, f"x {name} {at}", name, table, at, proposal=proposal.name)
