"""What waits is told to whoever it waits for, and to nobody else, from an index that says what the records say.

Reads of the records are counted: that a list does not read what it does not show.
"""

import re

import pytest

from service.conftest import TABLE, TERMS, publish, relax
from service.publications import propose_by, publish_by
from service.visiting import Visitor
from utmost.errors import LedgerUnavailable, NotAllowed, UtmostError
from utmost.exact import level

# How many proposals the menu counts is made small.
from utmost.interfaces.service import pending_queue
from utmost.service import Settings, application

ONE_STORE = True

QUARTER, ONE = level("1/4"), level(1)


def verbs(service, token):
    return [waiting.verb for waiting in service.waiting.all(token)]


def by_hand(service, token):
    """What waits by opening every proposal there is: an approved one until its table was brought."""
    person = service.context.records.read(lambda store: service.context.person(store, token))
    there = {(release.name, at) for release in service.ledger.releases for at in release.levels}
    names = []
    if token.may_ever("propose") or token.may_ever("decide proposals"):
        for proposal in service.proposals.all(token):
            is_done = (proposal.release, proposal.level) in there
            if proposal.state == "proposed" and token.may("decide proposals", proposal.release, proposal.level):
                names += [] if proposal.is_of(person) else [proposal.name]
            if proposal.state == "approved" and not is_done and token.may("publish", proposal.release, proposal.level):
                names += [proposal.name] if proposal.anyone or proposal.is_of(person) else []
    return sorted(names)


def test_a_walk_says_at_each_step_what_waits_for_whom(service, who):
    """Proposed, approved, brought: each step is told to one role, and ends with the next."""
    ada, grace, bo = who("Ada", "curator"), who("Grace", "approver"), who("Bo", "recipient", ("admissions", QUARTER))
    same = who("Ada", "approver")
    proposal = propose_by(service, ada, "p", "publish", "admissions", ONE, terms=TERMS)
    assert [verbs(service, token) for token in (ada, grace, same)] == [[], ["decide proposals"], []]
    service.proposals.decide(grace, proposal.name, "approved")
    assert [verbs(service, token) for token in (ada, grace)] == [["publish"], []]
    with pytest.raises(UtmostError):  # a table that is refused is still to be brought
        publish_by(service, ada, "k", "admissions", {"admitted": ["x"]}, ONE, TERMS, proposal=proposal.name)
    assert verbs(service, ada) == ["publish"]
    publish_by(service, ada, "l", "admissions", TABLE, ONE, TERMS, proposal=proposal.name)
    assert verbs(service, ada) == []
    refused = propose_by(service, ada, "q", "relax", "admissions", level(2))
    service.proposals.decide(grace, refused.name, "refused", "not now")
    assert verbs(service, grace) == verbs(service, ada) == []
    for nobody in (bo, who("Ida", "auditor"), who("Root", "admin")):
        with pytest.raises(NotAllowed):
            service.waiting.all(nobody)


def test_the_index_says_what_the_records_say(service, who):
    """For every token, the same as opening all proposals."""
    few = [("admissions", QUARTER)]
    tokens = [who("Ada", "curator"), who("Grace", "approver"), who("Ada", "approver"), who("Cy", "curator", *few),
              who("Di", "approver", *few), who("Cy", "approver", ("wages", ONE))]  # fmt: skip
    publish(service, who, level("1/10"))
    publish(service, who, QUARTER, "wages", {"department": ["A"], "admitted": [5]})
    ada, grace, cy = tokens[0], tokens[1], tokens[3]
    propose_by(service, ada, "1", "relax", "admissions", ONE)
    propose_by(service, ada, "2", "relax", "wages", ONE, anyone=True)
    open_to_all = propose_by(service, ada, "3", "relax", "admissions", level("1/5"), anyone=True)
    propose_by(service, cy, "4", "relax", "admissions", level("1/6"))
    mine = propose_by(service, cy, "5", "relax", "admissions", level("1/7"))
    for decided in (open_to_all, mine):
        service.proposals.decide(grace, decided.name, "approved")
    relax(service, who, level("1/2"))

    def told():
        return [sorted(waiting.name for waiting in service.waiting.all(token)) for token in tokens]

    wanted = [by_hand(service, token) for token in tokens]
    assert told() == wanted
    assert [len(names) for names in wanted] == [1, 3, 1, 2, 1, 1]


def test_the_menu_counts_and_the_page_lists(service, who, bearer):
    """A count in the menu of each page, for whom it is; none where nothing waits, and none where the store fails."""
    app = application(service, Settings(rate=1e6, burst=10**6))
    ada, grace = who("Ada", "curator"), Visitor(app, bearer("Grace", "approver"))
    count = re.compile(r'href="/waiting"[^>]*>Waiting for you(?: <span class="tag">(\d+)</span>)?</a>')
    assert count.search(grace.get("/releases").text)[1] is None
    for number in range(3):
        propose_by(service, ada, f"p{number}", "publish", f"<b>{number}", ONE, terms=TERMS)
    assert count.search(grace.get("/releases").text)[1] == "3"
    page = grace.get("/waiting").text
    assert page.count("A proposal to decide") == 3
    assert "&lt;b&gt;1" in page
    assert "<b>1" not in page
    service.waiting.__class__.count, usual = _broken, service.waiting.__class__.count
    try:
        assert grace.get("/releases").status_code == 200
        assert count.search(grace.get("/proposals").text)[1] is None
    finally:
        service.waiting.__class__.count = usual


def _broken(*_):
    raise LedgerUnavailable("the ledger must be free to read", came="a lock")


def test_a_page_opens_no_proposal_to_count(service, who, bearer, monkeypatch):
    """Whatever lies there, the count reads the index alone."""
    app = application(service, Settings(rate=1e6, burst=10**6))
    ada, grace = who("Ada", "curator"), Visitor(app, bearer("Grace", "approver"))
    for number in range(5):
        propose_by(service, ada, f"p{number}", "publish", f"n{number}", ONE, terms=TERMS)
    transaction, kinds = service.context.records.read(type), []
    read = transaction._read
    monkeypatch.setattr(transaction, "_read", lambda store, kind, *more: kinds.append(kind) or read(store, kind, *more))
    assert 'class="tag">5<' in grace.get("/releases").text
    assert "proposal" not in kinds
    assert kinds.count("waiting") == 5


def test_the_menu_looks_at_a_hundred(service, who, monkeypatch):
    """Beyond that, here beyond ten, it says that there are more, and opens no more records."""
    assert pending_queue._MOST_COUNTED == 100
    monkeypatch.setattr(pending_queue, "_MOST_COUNTED", 10)
    ada, grace = who("Ada", "curator"), who("Grace", "approver")
    assert service.waiting.count(grace) == ""
    for number in range(11):
        propose_by(service, ada, f"p{number}", "publish", f"n{number}", ONE, terms=TERMS)
        if number == 9:
            assert service.waiting.count(grace) == "10"
    assert service.waiting.count(grace) == "10+"
    assert service.waiting.count(ada) == "0+"
    assert len(service.waiting.all(grace)) == 11


def test_a_token_that_expires_soon_says_so(service, who, bearer, clock):
    app = application(service, Settings(rate=1e6, burst=10**6))
    reader = Visitor(app, bearer("Bo", "recipient"))
    assert "Your token expires" not in reader.get("/releases").text
    clock.now += 77 * 86_400
    assert "Your token expires on 2027-04-15" in reader.get("/releases").text
