"""Proposals: who may make and decide them, what their keys stand for, and what they leave behind."""

import pytest

from service.conftest import TABLE, TERMS, relax
from service.publications import propose_by, publish_by, relax_by
from utmost.errors import NeedsApproval, NotAllowed, OutOfRange, RequestReused, WrongKind
from utmost.exact import level

QUARTER, HALF, ONE = level("1/4"), level("1/2"), level(1)


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


def test_a_proposal_that_is_not_there_approves_nothing(service, who, published):
    with pytest.raises(NeedsApproval, match="no proposal"):
        relax_by(service, published, "k", "admissions", TABLE, ONE, proposal="0" * 24)


def test_a_request_sent_again_means_the_version_of_the_first_time(service, who, published):
    """Without a version a relaxation is of the newest; the same request, after a newer one came, of the same."""
    relax(service, who, HALF)
    first = relax_by(service, published, "again", "admissions", TABLE, HALF)
    newer = propose_by(service, published, "v2", "publish", "admissions", ONE, terms=TERMS, version=2)
    service.proposals.decide(who("Grace", "approver"), newer.name, "approved")
    publish_by(service, published, "v2", "admissions", TABLE, ONE, TERMS, version=2, proposal=newer.name)
    assert relax_by(service, published, "again", "admissions", TABLE, HALF)["admitted"] == first["admitted"]
