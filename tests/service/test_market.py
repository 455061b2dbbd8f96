"""Accuracy sold by the step: nobody pays less for a level than its price, and nobody holds more than the loosest."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.conftest import relax
from utmost.errors import NotAllowed, OutOfRange, UnknownRecord, Unsupported
from utmost.exact import level
from utmost.interfaces.service.market import Offer, read_offer
from utmost.interfaces.service.terms import Terms
from utmost.promises import Promise, key_noise

EIGHTH, QUARTER, HALF, ONE = level("1/8"), level("1/4"), level("1/2"), level(1)
PRICES = {EIGHTH: 5, QUARTER: 10, ONE: 35}
LOW = {EIGHTH: 5, QUARTER: 10}


def bought(service, who, buyer, offer, at, key):
    order = service.market.order(buyer, key, offer.name, at)
    return service.market.decide_order(who("Ada", "curator"), order.name, "approved")


def test_a_buyer_pays_the_step_and_views_what_was_bought(service, who, published):
    """From nothing to 1/8 for 5; then to 1 for 30 more; what was viewed first still holds."""
    relax(service, who, ONE)
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer = who("Bo", "recipient", ("admissions", level("1/1000")))
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", EIGHTH)
    assert bought(service, who, buyer, offer, EIGHTH, "1").due == 5
    small = service.releases.view(buyer, "admissions", EIGHTH)
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", ONE)
    order = bought(service, who, buyer, offer, ONE, "2")
    assert (order.due, order.held) == (30, EIGHTH)
    large = service.releases.view(buyer, "admissions", ONE)
    assert large.margin < small.margin
    again = service.releases.view(buyer, "admissions", EIGHTH)
    assert again.table["admitted"] == small.table["admitted"]


def test_an_offer_of_what_is_gone_is_not_shown(who, service, published):
    """A ledger that was put back further than the records lacks a release that is offered: the others still sell."""
    service.market.offer(published, "o", "admissions", LOW, "EUR")
    gone = Offer("0" * 24, "gone", 1, ((ONE, Fraction(1)),), "EUR")
    service.desk.records.write(lambda shelf: shelf.put("offer", gone.name, gone.kept()))
    for token in (published, who("Bo", "recipient")):
        assert [one.release for one in service.market.offers(token)] == ["admissions"]


def test_buyers_who_share_hold_the_loosest_and_no_more(service, who, published):
    """Two buyers at one level get the same answer; those at two levels get the same as one who bought both."""
    relax(service, who, ONE)
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    answers = {}
    for owner in ("Bo", "Cy"):
        buyer = who(owner, "recipient", ("admissions", level("1/1000")))
        bought(service, who, buyer, offer, ONE, owner)
        views = (service.releases.view(buyer, "admissions", at) for at in (EIGHTH, ONE))
        answers[owner] = [view.table["admitted"] for view in views]
    assert answers["Bo"] == answers["Cy"]
    assert service.ledger.spent("admissions") == ONE


def test_an_order_counts_once_it_is_approved_and_not_by_the_buyer(service, who, published):
    offer = service.market.offer(published, "o", "admissions", LOW, "EUR")
    buyer = who("Ada", "recipient", ("admissions", level("1/1000")))
    order = service.market.order(buyer, "1", offer.name, QUARTER)
    assert service.market.order(buyer, "1", offer.name, QUARTER) == order
    with pytest.raises(NotAllowed):
        service.market.decide_order(published, order.name, "approved")  # Ada's own
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", QUARTER)


def test_what_is_not_there_is_not_offered(service, who, published):
    """A level beyond the loosest needs the table: it is offered once the release is relaxed."""
    with pytest.raises(OutOfRange, match="levels up to"):
        service.market.offer(published, "o", "admissions", PRICES, "EUR")
    relax(service, who, ONE)
    assert service.market.offer(published, "o", "admissions", PRICES, "EUR").is_open


def test_a_level_that_no_answer_leads_to_is_not_offered(service, who):
    """Keys are named at one level: another is refused when it is offered, and not when somebody has paid for it."""
    curator, approver = who("Ada", "curator"), who("Grace", "approver")
    terms = Terms(Promise(noise=key_noise(["word", "n"], delta="1e-9")), "words")
    proposal = service.proposals.propose(curator, "p", "publish", "words", ONE, terms=terms)
    service.proposals.decide(approver, proposal.name, "approved")
    table = {"word": ["a", "b"], "n": [90, 80]}
    service.releases.publish(curator, "k", "words", table, ONE, terms, proposal=proposal.name)
    with pytest.raises(Unsupported, match="one level"):
        service.market.offer(curator, "o", "words", {HALF: 5, ONE: 10}, "EUR")
    assert service.market.offer(curator, "o", "words", {ONE: 10}, "EUR").is_open


def test_what_is_held_is_not_sold_again(service, who, published):
    offer = service.market.offer(published, "o", "admissions", LOW, "EUR")
    for buyer in (who("Bo", "recipient", ("admissions", QUARTER)), who("Cy", "recipient")):
        with pytest.raises(NotAllowed):
            service.market.order(buyer, "1", offer.name, EIGHTH)


def test_a_closed_offer_takes_no_order(service, who, published):
    offer = service.market.offer(published, "o", "admissions", LOW, "EUR")
    service.market.close_offer(published, offer.name)
    buyer = who("Bo", "recipient", ("admissions", level("1/1000")))
    assert service.market.offers(buyer) == []
    with pytest.raises(UnknownRecord):
        service.market.order(buyer, "1", offer.name, QUARTER)


@pytest.mark.parametrize("prices", [{}, {"1": -1}, {"1/4": 10, "1": 9}, {"1": 1, "2/2": 2}])
def test_prices_that_can_be_got_around_are_refused(prices):
    with pytest.raises(OutOfRange):
        read_offer("o", "admissions", 1, prices, "EUR")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_every_way_to_a_level_costs_its_price(steps):
    """For all nondecreasing prices and all orders of purchases: what is paid is the price of the largest level."""
    prices = {level(Fraction(k + 1, 10)): sum(steps[: k + 1]) for k in range(len(steps))}
    offer = read_offer("o", "admissions", 1, prices, "EUR")
    for path in permutations(list(prices)[:4]):
        paid = Fraction(0)
        for at in path:
            paid += offer.step(paid, at)
        assert paid == offer.price(max(path))


def test_what_was_paid_is_credited_and_nothing_else(service, who, published):
    """A grant, another currency and what was refunded are credited with nothing; what is due is worked out when an
    order is decided, and a level is sold once."""
    relax(service, who, ONE)
    curator, buyer = who("Ada", "curator"), who("Bo", "recipient", ("admissions", EIGHTH))
    francs = service.market.offer(published, "francs", "admissions", PRICES, "CHF")
    assert bought(service, who, buyer, francs, QUARTER, "1").due == 10  # though 1/8 was given
    with pytest.raises(NotAllowed, match="one offer"):
        service.market.offer(published, "euros", "admissions", PRICES, "EUR")
    service.market.close_offer(published, francs.name)
    euros = service.market.offer(published, "euros", "admissions", PRICES, "EUR")
    asked = service.market.order(buyer, "3", euros.name, ONE)
    assert asked.due == 35
    with pytest.raises(NotAllowed, match="more than is ordered"):
        service.market.order(buyer, "4", euros.name, ONE)
    assert service.market.decide_order(buyer, asked.name, "cancelled").state == "cancelled"
    with pytest.raises(NotAllowed):
        service.market.decide_order(curator, asked.name, "approved")
    made = bought(service, who, buyer, euros, ONE, "5")
    assert service.releases.view(buyer, "admissions", ONE).level == ONE
    for _ in range(2):
        assert service.market.decide_order(curator, made.name, "refunded").state == "refunded"
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", ONE)
    assert service.releases.view(buyer, "admissions", QUARTER).level == QUARTER  # paid in francs
    assert bought(service, who, buyer, euros, ONE, "6").due == 35
    done = [entry["done"] for _, entry in service.audit.trail(who("Otto", "auditor"))]
    assert done.count("refunded") == done.count("cancelled") == 1


def test_two_orders_at_once_pay_the_price_of_the_larger(service, who, published):
    """Both are asked before either is decided; the second costs what is then left."""
    relax(service, who, ONE)
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer, curator = who("Bo", "recipient", ("admissions", level("1/1000"))), who("Ada", "curator")
    small, large = (service.market.order(buyer, str(at), offer.name, at) for at in (QUARTER, ONE))
    assert (small.due, large.due) == (10, 35)
    paid = [service.market.decide_order(curator, one.name, "approved").due for one in (small, large)]
    assert paid == [10, 25]


def test_the_largest_level_is_refunded_first(service, who, published):
    """Else the buyer would keep a level for less than its price."""
    relax(service, who, ONE)
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer, curator = who("Bo", "recipient", ("admissions", level("1/1000"))), who("Ada", "curator")
    small = bought(service, who, buyer, offer, QUARTER, "1")
    large = bought(service, who, buyer, offer, ONE, "2")
    with pytest.raises(NotAllowed, match="largest level"):
        service.market.decide_order(curator, small.name, "refunded")
    for order in (large, small):
        service.market.decide_order(curator, order.name, "refunded")
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", QUARTER)


def test_a_smaller_order_after_a_larger_one_is_not_sold(service, who, published):
    relax(service, who, ONE)
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer, curator = who("Bo", "recipient", ("admissions", level("1/1000"))), who("Ada", "curator")
    small, large = (service.market.order(buyer, str(at), offer.name, at) for at in (QUARTER, ONE))
    service.market.decide_order(curator, large.name, "approved")
    with pytest.raises(NotAllowed, match="sold once"):
        service.market.decide_order(curator, small.name, "approved")
    assert service.market.decide_order(curator, small.name, "refused").state == "refused"


def test_nobody_cancels_or_refunds_for_another(service, who, published):
    offer = service.market.offer(published, "o", "admissions", LOW, "EUR")
    buyer, other = (who(name, "recipient", ("admissions", level("1/1000"))) for name in ("Bo", "Cy"))
    order = service.market.order(buyer, "1", offer.name, EIGHTH)
    for token, state in (
        (other, "cancelled"),
        (other, "refunded"),
        (buyer, "refunded"),
        (who("Ada", "curator"), "lost"),
    ):
        with pytest.raises((NotAllowed, OutOfRange)):
            service.market.decide_order(token, order.name, state)
    with pytest.raises(NotAllowed, match="must be approved"):
        service.market.decide_order(who("Ada", "curator"), order.name, "refunded")
