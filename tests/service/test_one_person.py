"""One person under several names is one person: who proposes decides nothing, and what was bought stays theirs."""

from dataclasses import replace

import pytest

from service.conftest import ALL, TABLE, TERMS, relax
from utmost.errors import NotAllowed, OutOfRange
from utmost.exact import level
from utmost.interfaces.service.access.first_start import new_admin
from utmost.interfaces.service.desk import index_orders
from utmost.interfaces.service.records import Shelf
from utmost.service import Grant

ISSUER = "https://id.example"
SUBJECT = f"{ISSUER} s1"
CLAIMS = {"sub": "s1", "groups": ["buyers"]}
LOW, ONE = (Grant("admissions", level("1/1000")),), level(1)


@pytest.fixture
def made(service):
    """Makes a token."""

    def token(owner, role, grants=ALL, subject=None):
        about = (None, f"{owner} {role} {subject}", owner, role, grants)
        try:
            return service.bearers.make(*about, subject=subject)[0]
        except OutOfRange:  # which no owner is given
            one = replace(service.bearers.make(*about)[0], subject=subject)
            service.desk.records.write(lambda shelf: shelf.put("token", one.name, one.kept()))
            return one

    return token


@pytest.mark.parametrize("order", ["linked before", "linked after"])
def test_names_that_tokens_join_are_one_person(service, made, order):
    """Ada has a token of her own and one by a provider; the provider's name has another owner's name, too."""
    mine = made("Ada", "curator")
    links = [("Ada", "curator"), ("A. Lovelace", "approver")]
    if order == "linked before":
        for owner, role in links:
            made(owner, role, subject=SUBJECT)
    proposal = service.proposals.propose(mine, "p", "publish", "x", ONE, terms=TERMS)
    if order == "linked after":
        for owner, role in links:
            made(owner, role, subject=SUBJECT)
    decider = service.bearers.of_claims(ISSUER, {"sub": "s1"})
    for token in (decider, made("A. Lovelace", "approver"), made("Ada", "approver")):
        with pytest.raises(NotAllowed, match="second person"):
            service.proposals.decide(token, proposal.name, "approved")
    assert service.proposals.decide(made("Grace", "approver"), proposal.name, "approved").state == "approved"


def test_an_admin_whom_nobody_can_be_is_not_the_last(service, made):
    """A provider's subject may be misspelt; the one who comes is there, and so is whoever has a secret."""
    admin = made("root", "admin")
    ghost = made("ghost", "admin", subject=f"{ISSUER} typo")
    with pytest.raises(NotAllowed, match="last valid"):
        service.bearers.revoke(admin, admin.name)
    own = made("Ada", "admin", subject=SUBJECT)
    assert service.bearers.revoke(own, admin.name).revoked
    with pytest.raises(NotAllowed, match="last valid"):
        service.bearers.revoke(own, own.name)
    assert service.bearers.revoke(own, ghost.name).revoked


def test_another_admin_is_made_however_the_first_was_written(service, made):
    made("Admin", "admin")
    assert service.bearers.authenticated(new_admin(service)).owner == "Admin"


@pytest.fixture
def offered(service, who, published):
    relax(service, who, ONE)
    return service.market.offer(published, "o", "admissions", {"1/4": 10, 1: 35}, "EUR")


def buy(service, who, buyer, offer, at, key="1"):
    order = service.market.order(buyer, key, offer.name, level(at))
    return service.market.decide_order(who("Ada", "curator"), order.name, "approved")


def test_who_bought_as_one_of_a_group_keeps_it_under_a_token_of_their_own(service, who, made, offered):
    made("buyers", "recipient", LOW, f"claim groups=buyers {ISSUER}")
    before = service.bearers.of_claims(ISSUER, CLAIMS)
    bought = buy(service, who, before, offered, "1/4")
    waiting = service.market.order(before, "2", offered.name, ONE)
    made("Bo", "recipient", LOW, SUBJECT)
    now = service.bearers.of_claims(ISSUER, CLAIMS)
    assert (before.owner, now.owner) == (SUBJECT, "Bo")
    assert service.releases.view(now, "admissions", level("1/4")).level == level("1/4")
    assert [one.name for one in service.market.orders(now)] == [bought.name, waiting.name]
    assert service.market.credit(now, offered) == 10
    with pytest.raises(NotAllowed, match="more than is ordered"):
        service.market.order(now, "3", offered.name, ONE)
    assert service.market.decide_order(now, waiting.name, "cancelled").state == "cancelled"
    assert buy(service, who, now, offered, 1, "4").due == 25


def test_nobody_pays_less_by_having_two_names(service, who, made, offered):
    """An owner called as the provider calls them counts once; credit that was used is not refunded; a level is sold
    once to a person, whichever name ordered it."""
    made("buyers", "recipient", LOW, f"claim groups=buyers {ISSUER}")
    first = service.bearers.of_claims(ISSUER, CLAIMS)
    small = buy(service, who, first, offered, "1/4")
    made(SUBJECT, "recipient", LOW, SUBJECT)
    same = service.bearers.of_claims(ISSUER, CLAIMS)
    assert service.market.credit(same, offered) == 10
    assert len(service.market.orders(same)) == 1
    large = buy(service, who, same, offered, 1, "2")
    assert large.due == 25
    curator = who("Ada", "curator")
    with pytest.raises(NotAllowed, match="largest level is refunded first"):
        service.market.decide_order(curator, small.name, "refunded")
    service.market.decide_order(curator, large.name, "refunded")
    assert service.market.decide_order(curator, small.name, "refunded").state == "refunded"
    with pytest.raises(NotAllowed, match="allow this level"):
        service.releases.view(same, "admissions", level("1/4"))


def test_credit_is_that_of_the_person(service, who, made, offered):
    """Bought as one of a group, then under a name of one's own, then by a token with a secret of that name."""
    made("buyers", "recipient", LOW, f"claim groups=buyers {ISSUER}")
    group = service.bearers.of_claims(ISSUER, CLAIMS)
    small = buy(service, who, group, offered, "1/4")
    waiting = service.market.order(group, "w", offered.name, ONE)
    made("Bo", "recipient", LOW, SUBJECT)
    secret = made("Bo", "recipient", LOW)
    assert service.market.credit(secret, offered) == 10
    with pytest.raises(NotAllowed, match="than is ordered"):
        service.market.order(secret, "3", offered.name, ONE)
    curator = who("Ada", "curator")
    assert service.market.decide_order(curator, waiting.name, "approved").due == 25
    with pytest.raises(NotAllowed, match="first"):
        service.market.decide_order(curator, small.name, "refunded")
    for token in (secret, service.bearers.of_claims(ISSUER, CLAIMS)):
        assert service.releases.view(token, "admissions", ONE).level == ONE


@pytest.mark.parametrize("subject", ["", " ", "ada", "https://id.example", "https://id.example ", "a\nb c", "claim x"])
def test_what_is_no_subject_is_refused(service, subject):
    with pytest.raises(OutOfRange, match="subject"):
        service.bearers.make(None, "k", "Ada", "curator", ALL, subject=subject)


def test_orders_that_were_taken_back_are_shown_to_nobody_else(service, who, offered):
    al, eve = (who(name, "recipient", *LOW) for name in ("Al", "Eve"))
    order = service.market.order(al, "1", offered.name, ONE)
    for _ in range(2):
        with pytest.raises(NotAllowed, match="by its buyer"):
            service.market.decide_order(eve, order.name, "cancelled")
        service.market.decide_order(al, order.name, "cancelled")
    refunded = buy(service, who, al, offered, 1, "2")
    curator, limited = who("Ada", "curator"), who("Lim", "curator", *LOW)
    for _ in range(2):
        with pytest.raises(NotAllowed, match="at this level"):
            service.market.decide_order(limited, refunded.name, "refunded")
        service.market.decide_order(curator, refunded.name, "refunded")


def test_a_buyers_orders_are_looked_up_whatever_others_ordered(service, who, offered, monkeypatch):
    """An order reads its buyer's records and no others; a buyer's orders end somewhere; older ones get their index."""
    al, eve = (who(name, "recipient", *LOW) for name in ("Al", "Eve"))
    for key in range(5):
        order = service.market.order(al, f"{key}", offered.name, ONE)
        service.market.decide_order(al, order.name, "cancelled")
    read, all_of = [], Shelf.all

    def watched(shelf, kind, *options, **named):
        read.append(kind)
        return all_of(shelf, kind, *options, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Shelf, "all", watched)
        buy(service, who, eve, offered, "1/4")
    assert read
    assert "order" not in read
    monkeypatch.setattr("utmost.interfaces.service.market_desk.MOST_ORDERS", 5)
    with pytest.raises(NotAllowed, match="at most 5 orders"):
        service.market.order(al, "one more", offered.name, ONE)
    assert service.market.order(eve, "another", offered.name, ONE).due == 25

    def forget(shelf):
        for name, _ in shelf.all("ordered"):
            shelf.drop("ordered", name)

    service.desk.records.write(forget)
    assert service.market.orders(al) == []
    service.desk.records.write(index_orders)
    assert len(service.market.orders(al)) == 5
    assert len(service.market.orders(eve)) == 2


def test_an_offer_without_a_version_means_the_newest_of_its_time(service, who, published, offered):
    """The same request again gives the same offer, though a newer version was published between."""
    service.market.close_offer(published, offered.name)
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    asked = (curator, "p2", "publish", "admissions", level("1/8"))
    proposal = service.proposals.propose(*asked, terms=TERMS, version=2)
    service.proposals.decide(approver, proposal.name, "approved")
    table = {"department": ["A", "B", "C"], "admitted": [1, 2, 3]}
    options = {"version": 2, "proposal": proposal.name}
    service.releases.publish(curator, "k2", "admissions", table, level("1/8"), TERMS, **options)
    again = service.market.offer(published, "o", "admissions", {"1/4": 10, 1: 35}, "EUR")
    assert (again.name, again.version, again.is_open) == (offered.name, 1, False)
    assert service.market.offer(published, "new", "admissions", {"1/8": 10}, "EUR").version == 2


def test_a_relaxation_without_a_version_means_the_newest_of_its_time(opened, who):
    service = opened(approvals=False)
    curator = service.bearers.make(None, "c", "Ada", "curator", ALL)[0]
    service.releases.publish(curator, "k", "admissions", TABLE, level("1/4"), TERMS)
    first = service.releases.relax(curator, "r", "admissions", TABLE, ONE)
    other = {"department": ["A", "B", "C"], "admitted": [1, 2, 3]}
    service.releases.publish(curator, "k2", "admissions", other, level("1/4"), TERMS, version=2)
    again = service.releases.relax(curator, "r", "admissions", TABLE, ONE)
    assert list(again["admitted"]) == list(first["admitted"])
    assert service.releases.release(curator, "admissions", 2).levels == (level("1/4"),)
