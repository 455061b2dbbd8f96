"""Small functions of a ledger, each with one example."""

from fractions import Fraction

import numpy as np

from utmost.exact import level
from utmost.publish.ledger.block_encryption import packed, stored
from utmost.publish.ledger.budgets import lookalike_of, name_as_read, separate_from
from utmost.publish.ledger.events import Event, check_name, event_bytes
from utmost.publish.ledger.key import Key, given_key
from utmost.publish.ledger.means_names import release_name
from utmost.publish.ledger.opening import store_at
from utmost.publish.ledger.spending import Account, Spending


def test_a_stored_block_has_a_length_that_its_integers_do_not_change():
    ours, theirs = stored(np.array([300, 298]), 2), stored(np.array([7, -7]), 2)
    assert ours != theirs
    assert len(ours) == len(theirs)


def test_packed_integers_have_a_count_a_width_the_least_and_the_offsets():
    assert packed(np.array([300, 298])).hex(" ", 4) == "02000000 01000000 02000000 2a010200"


def test_names_that_look_alike_are_equal_as_they_are_read():
    assert name_as_read("Café") == name_as_read("cafe\ufe00\u0301")
    assert name_as_read("a") != name_as_read("b")
    assert lookalike_of("CAFE", ["cafe", "tea"]) == "cafe"
    assert lookalike_of("cafe", ["CAFE", "cafe"]) is None


def test_a_new_dataset_beside_others_is_reported():
    reported = "'ages' and 'persons' are charged as different people: no budget adds up what both spend"
    assert separate_from(["persons"], "ages") == reported
    assert separate_from(["persons"], "persons") is separate_from([], "ages") is None


def test_a_name_is_returned_and_an_event_is_sorted_json():
    assert check_name("admissions 1973", "name") == "admissions 1973"
    body = b'{"facts":{"dataset":"d","limit":"1"},"format":1,"kind":"budgeted","time":"2026-01-01T00:00:00Z"}'
    assert event_bytes(Event(1, "2026-01-01T00:00:00Z", "budgeted", {"dataset": "d", "limit": "1"})) == body


def test_keys_are_never_shown_and_places_are_parsed():
    assert repr(Key(bytes(32))) == repr(given_key(bytes(32))) == "Key(...)"
    assert given_key("releases.key").name == "releases.key"
    assert store_at("sqlite:///releases.db", 1).place == "releases.db"
    assert release_name("wages", "income") == "wages: income"


def test_sums_of_levels_are_exact_and_parts_of_a_partition_cost_their_largest():
    both = Spending.of([level(1), level("1/2"), level(alpha="1/4"), level(alpha="1/2")])
    assert both.powers == ((None, Fraction(3, 2)), (Fraction(1, 2), Fraction(3)))
    assert Spending.of([level(1)]).larger(Spending.of([level(alpha="1/2")])).epsilon == 1
    account = Account().plus(level(1)).plus(level(1), ("by country", "A")).plus(level("1/5"), ("by country", "B"))
    assert account.spending.epsilon == 2
    assert account.minus(level(1)).spending.epsilon == 1
