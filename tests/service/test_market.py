"""Accuracy sold by the step: nobody pays less for a level than its price, and nobody holds more than the loosest."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.conftest import relax
from utmost.doors.service.market import Offer, read_offer
from utmost.errors import NeedsTable, NotAllowed, OutOfRange, UnknownRecord
from utmost.laws.exact import level

EIGHTH, QUARTER, HALF, ONE = level("1/8"), level("1/4"), level("1/2"), level(1)
PRICES = {EIGHTH: 5, QUARTER: 10, ONE: 35}


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
    assert large.radius < small.radius
    again = service.releases.view(buyer, "admissions", EIGHTH)
    assert again.table["admitted"] == small.table["admitted"]


def test_an_offer_of_what_is_gone_is_not_shown(who, service, published):
    """A ledger that was put back further than the records lacks a release that is offered: the others still sell."""
    service.market.offer(published, "o", "admissions", PRICES, "EUR")
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
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer = who("Ada", "recipient", ("admissions", level("1/1000")))
    order = service.market.order(buyer, "1", offer.name, QUARTER)
    assert service.market.order(buyer, "1", offer.name, QUARTER) == order
    with pytest.raises(NotAllowed):
        service.market.decide_order(published, order.name, "approved")  # Ada's own
    with pytest.raises(NotAllowed):
        service.releases.view(buyer, "admissions", QUARTER)


def test_a_level_bought_before_it_is_relaxed_waits(service, who, published):
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    buyer = who("Bo", "recipient", ("admissions", level("1/1000")))
    bought(service, who, buyer, offer, ONE, "1")
    with pytest.raises(NeedsTable):
        service.releases.view(buyer, "admissions", ONE)
    relax(service, who, ONE)
    assert service.releases.view(buyer, "admissions", ONE).level == ONE


def test_what_is_held_is_not_sold_again(service, who, published):
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    for buyer in (who("Bo", "recipient", ("admissions", QUARTER)), who("Cy", "recipient")):
        with pytest.raises(NotAllowed):
            service.market.order(buyer, "1", offer.name, EIGHTH)


def test_a_closed_offer_takes_no_order(service, who, published):
    offer = service.market.offer(published, "o", "admissions", PRICES, "EUR")
    service.market.close_offer(published, offer.name)
    buyer = who("Bo", "recipient", ("admissions", level("1/1000")))
    assert service.market.offers(buyer) == []
    with pytest.raises(UnknownRecord):
        service.market.order(buyer, "1", offer.name, ONE)


@pytest.mark.parametrize("prices", [{}, {"1": -1}, {"1/4": 10, "1": 9}, {"1": 1, "2/2": 2}])
def test_prices_that_can_be_got_around_are_refused(prices):
    with pytest.raises(OutOfRange):
        read_offer("o", "admissions", 1, prices, "EUR")


@given(st.lists(st.integers(0, 50), min_size=1, max_size=5))
def test_every_way_to_a_level_costs_its_price(steps):
    """For all nondecreasing prices and all orders of purchases: the sum paid is the price of the largest level."""
    prices = {level(Fraction(k + 1, 10)): sum(steps[: k + 1]) for k in range(len(steps))}
    offer = read_offer("o", "admissions", 1, prices, "EUR")
    for path in permutations(list(prices)[:4]):
        held, paid = None, Fraction(0)
        for at in path:
            paid += offer.step(held, at)
            held = at if held is None else max(held, at)
        assert paid == offer.price(max(path))
