"""Proposals: who may make and decide them, what their keys stand for, and what they leave behind."""

import json
from dataclasses import replace
from hashlib import sha256

import pytest

from service.conftest import TABLE, TERMS, relax
from service.publications import propose_by, publish_by, relax_by
from service.test_http import Caller
from service.visiting import Visitor
from utmost.errors import NeedsApproval, NotAllowed, OutOfRange, RequestReused, UnknownRecord, WrongKind
from utmost.exact import level
from utmost.promises import Promise, key_noise
from utmost.service import Settings, application

ONE_STORE = True

QUARTER, HALF, ONE = level("1/4"), level("1/2"), level(1)
EXAMPLE_PROMISE = TERMS.promise.facts()


def test_a_reason_has_a_thousand_characters_at_most(service, who):
    curator = who("Ada", "curator")
    made = propose_by(service, curator, "p", "publish", "admissions", ONE, terms=TERMS, reason="x" * 1000)
    assert len(made.reason) == 1000
    for wrong in ("x" * 1001, 7):
        with pytest.raises(OutOfRange):
            propose_by(service, curator, "q", "publish", "admissions", ONE, terms=TERMS, reason=wrong)
    with pytest.raises(WrongKind):
        propose_by(service, curator, "q", "publish", "admissions", ONE, terms=TERMS, anyone=1)


def test_only_who_may_proposes_and_decides(service, who):
    """An auditor does neither; who is for some levels proposes and decides up to them, and no more."""
    with pytest.raises(NotAllowed):
        propose_by(service, who("Eve", "auditor"), "p", "publish", "admissions", ONE, terms=TERMS)
    with pytest.raises(NotAllowed):
        propose_by(service, who("Bob", "curator", ("admissions", HALF)), "p", "relax", "admissions", ONE)
    proposal = propose_by(service, who("Ada", "curator"), "p", "publish", "admissions", ONE, terms=TERMS)
    for wrong in (who("Eve", "auditor"), who("Ida", "approver", ("admissions", HALF))):
        with pytest.raises(NotAllowed):
            service.proposals.decide(wrong, proposal.name, "approved")
    assert service.proposals.all(who("Grace", "approver"))[0].state == "proposed"


def test_an_auditor_reads_what_was_approved(service, who, bearer):
    """The request letter for letter, by whom it was decided; no form to decide, and no proposal of other releases."""
    ada, eve = who("Ada", "curator"), who("Eve", "auditor")
    made = propose_by(service, ada, "p", "publish", "admissions", ONE, terms=TERMS, reason="yearly")
    other = propose_by(service, ada, "q", "publish", "wages", ONE, terms=TERMS)
    service.proposals.decide(who("Grace", "approver"), made.name, "approved")
    proposal, facts = service.proposals.one(eve, made.name)
    assert (proposal.state, proposal.decided_by, proposal.digest) == ("approved", "Grace", made.digest)
    assert facts == service.proposals.one(ada, made.name)[1]
    with pytest.raises(UnknownRecord):
        service.proposals.one(who("Ida", "auditor", ("wages", None)), made.name)
    visitor = Visitor(application(service, Settings(rate=1000, burst=10_000)), bearer("Eve", "auditor"))
    listed = visitor.get("/proposals").text
    assert made.name in listed
    assert other.name in listed
    for one in (made, other):
        page = visitor.get(f"/proposal?name={one.name}")
        assert (page.status_code, one.digest in page.text) == (200, True)
        assert "/proposals/decision" not in page.text
        assert "/proposals/table" not in page.text


def test_an_approval_is_for_anybody_only_where_that_was_proposed(service, who):
    """Another curator uses it where it says so; and the key of a proposal stands for that, too."""
    ada, bob, grace = who("Ada", "curator"), who("Bob", "curator"), who("Grace", "approver")
    for anyone, name in ((None, "admissions"), (True, "others")):
        more = {} if anyone is None else {"anyone": anyone}
        proposal = propose_by(service, ada, name, "publish", name, ONE, terms=TERMS, **more)
        assert propose_by(service, ada, name, "publish", name, ONE, terms=TERMS, **more) == proposal
        with pytest.raises(RequestReused):
            propose_by(service, ada, name, "publish", name, ONE, terms=TERMS, anyone=not anyone)
        service.proposals.decide(grace, proposal.name, "approved")
        if anyone is None:
            with pytest.raises(NeedsApproval):
                publish_by(service, bob, name, name, TABLE, ONE, TERMS, proposal=proposal.name)
    assert publish_by(service, bob, name, name, TABLE, ONE, TERMS, proposal=proposal.name)


def test_a_request_sent_again_means_the_version_of_the_first_time(service, who, published):
    """Without a version a relaxation is of the newest; the same request, after a newer one came, of the same."""
    relax(service, who, HALF)
    first = relax_by(service, published, "again", "admissions", TABLE, HALF)
    newer = propose_by(service, published, "v2", "publish", "admissions", ONE, terms=TERMS, version=2)
    service.proposals.decide(who("Grace", "approver"), newer.name, "approved")
    publish_by(service, published, "v2", "admissions", TABLE, ONE, TERMS, version=2, proposal=newer.name)
    assert relax_by(service, published, "again", "admissions", TABLE, HALF)["admitted"] == first["admitted"]


PUBLIC = {"name": "x", "level": "1", "promise": EXAMPLE_PROMISE}
IMPOSSIBLE = {
    "no column": {"promise": EXAMPLE_PROMISE | {"columns": []}},
    "a column twice": {"promise": EXAMPLE_PROMISE | {"columns": ["n", "n"]}},
    "released and public": {"promise": EXAMPLE_PROMISE | {"public": ["admitted"]}},
    "an identifier in no list": {"promise": EXAMPLE_PROMISE | {"id_column": "who"}},
    "no list of names": {"promise": EXAMPLE_PROMISE | {"public": 5}},
    "numbers as names": {"promise": EXAMPLE_PROMISE | {"public": [5]}},
    "a seventh version": {"version": 7},
    "the name of every release": {"name": "*"},
    "a name in other letters": {"name": "ADMISSIONS"},
}
NOT_RELAXED = {
    "a release that is not there": ({"name": "none", "level": "1"}, 404),
    "a version that is not there": ({"name": "admissions", "level": "1", "version": 2}, 404),
    "a smaller level": ({"name": "admissions", "level": "1/8"}, 422),
    "an answered level": ({"name": "admissions", "level": "1/4"}, 422),
    "keys": ({"name": "words", "level": "2"}, 422),
}


@pytest.fixture
def ada_over_http(service, bearer, published):
    keys = Promise(noise=key_noise(["word", "n"], delta="1e-9"))
    service.ledger.publish("words", {"word": ["flu"], "n": [800]}, keys, epsilon=1, independent=True)
    return Caller(application(service, Settings(rate=1e6, burst=10**6)), bearer("Ada", "curator"))


def test_what_no_table_could_carry_out_is_not_proposed(ada_over_http):
    asked = {fault: ({"publication": PUBLIC | changed}, 422) for fault, changed in IMPOSSIBLE.items()}
    asked |= {fault: ({"relaxation": wrong}, status) for fault, (wrong, status) in NOT_RELAXED.items()}
    for fault, (sent, status) in asked.items():
        refused = ada_over_http("POST", "/v1/proposals", key=fault, json=sent)
        assert refused.status_code == status, (fault, refused.text)
    assert ada_over_http("POST", "/v1/proposals", key="right", json={"publication": PUBLIC}).status_code == 200


def test_a_relaxation_is_recorded_under_the_digest_of_what_its_page_shows(ada_over_http):
    """The request letter for letter, its digest and size, and the levels so far: the same by API."""
    made = ada_over_http("POST", "/v1/proposals", key="r", json={"relaxation": {"name": "admissions", "level": "1"}})
    told = ada_over_http("GET", f"/v1/proposals/{made.json()['name']}").json()
    text = json.dumps(told["publication"], sort_keys=True, separators=(",", ":"))
    digest = sha256(text.encode()).hexdigest()
    assert (told["proposal"]["digest"], told["promise"]["digest"], made.json()["digest"]) == (digest,) * 3
    assert told["proposal"]["size"] == len(text)
    assert (told["publication"]["level"], told["publication"]["promise"]["columns"]) == ("1", ["admitted"])
    assert told["answered"] == ["1/4"]


def test_a_release_has_no_name_that_reads_as_anothers(service, published):
    """As for datasets; and none is named as all are."""
    for name in ("Admissions", "\uff41dmissions", "*"):
        with pytest.raises(OutOfRange, match=r"invisible characters|other than"):
            service.ledger.publish(name, TABLE, TERMS.promise, epsilon=1, dataset="admissions")


def test_a_request_that_was_not_approved_names_the_first_other_field(service, who):
    """Its approved value is for the proposer alone: another curator may have no right to see it."""
    ada, bob, grace = who("Ada", "curator"), who("Bob", "curator"), who("Grace", "approver")
    approved = replace(TERMS, dataset="library")
    proposal = propose_by(service, ada, "p", "publish", "loans", QUARTER, terms=approved, anyone=True)
    service.proposals.decide(grace, proposal.name, "approved")
    named = replace(TERMS.promise, individual="one household")
    others = {
        'another dataset. Send the approved request, whose dataset is "library"': (QUARTER, TERMS),
        'another level. Send the approved request, whose level is "1/4"': (HALF, approved),
        "another individual in its promise. Send the approved request, whose individual in its promise is not set": (
            QUARTER,
            replace(approved, promise=named),
        ),
    }
    for text, (at, terms) in others.items():
        with pytest.raises(NeedsApproval) as refused:
            publish_by(service, ada, text, "loans", TABLE, at, terms, proposal=proposal.name)
        assert text in str(refused.value)
    with pytest.raises(NeedsApproval) as refused:
        publish_by(service, bob, "b", "loans", TABLE, HALF, approved, proposal=proposal.name)
    assert ("another level" in str(refused.value), "1/4" in str(refused.value)) == (True, False)
    assert publish_by(service, ada, "k", "loans", TABLE, QUARTER, approved, proposal=proposal.name)
