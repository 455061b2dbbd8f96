"""Persons by key: exactly the number said of each person, chosen by that person's rows alone."""

import random

import pytest

from utmost.counting import count_keys
from utmost.errors import BadTable, OutOfRange

KEY = b"k" * 32


def counted(rows, most, key=KEY):
    who, what = zip(*rows, strict=True) if rows else ((), ())
    table = count_keys({"who": list(who), "what": list(what)}, person="who", column="what", at_most=most, key=key)
    return dict(zip(table["what"], table["count"], strict=True))


@pytest.mark.parametrize("most", [1, 2, 5])
def test_without_a_person_so_many_keys_change_by_one(most):
    """Brute force: every person of 10 random sets of events is left out; the keys of all others stay as they were.

    Keys are found in the data, so without a person some are gone: a choice by their numbers would change others' keys.
    """
    draw, attained = random.Random(5), 0
    for _ in range(10):
        rows = [(draw.randrange(6), draw.choice("abcdefgh")) for _ in range(draw.randrange(1, 50))]
        whole = counted(rows, most)
        for who in {person for person, _ in rows}:
            less = counted([row for row in rows if row[0] != who], most)
            changes = [whole.get(key, 0) - less.get(key, 0) for key in {*whole, *less}]
            mine = {key for person, key in rows if person == who}
            assert set(changes) <= {0, 1}
            assert sum(changes) == min(most, len(mine))
            attained = max(attained, sum(changes))
    assert attained == most


@pytest.mark.parametrize(("most", "shares"), [(1, 1), (3, 6), (5, 7)])
def test_without_a_person_their_shares_are_gone_and_no_others(most, shares):
    """Brute force: of one who keeps m keys each loses shares // m, so never more than all shares."""
    draw, say = random.Random(5), {"person": "who", "column": "what", "at_most": most, "key": KEY}
    for _ in range(8):
        rows = [(draw.randrange(6), draw.choice("abcdefgh")) for _ in range(draw.randrange(1, 50))]
        for left_out in {person for person, _ in rows}:
            tables = rows, [row for row in rows if row[0] != left_out]
            columns = [{"who": [who for who, _ in table], "what": [what for _, what in table]} for table in tables]
            counts = [count_keys(events, shares=shares, **say) for events in columns]
            whole, less = (
                {key: count.shares for key, count in zip(each["what"], each["count"], strict=True)} for each in counts
            )
            changes = [whole.get(name, 0) - less.get(name, 0) for name in {*whole, *less}]
            kept = min(most, len({key for person, key in rows if person == left_out}))
            assert sorted(changes) == [0] * (len(changes) - kept) + [shares // kept] * kept
            assert sum(changes) <= shares
    with pytest.raises(OutOfRange):
        count_keys({"who": ["a"], "what": ["x"]}, shares=most - 1, **say)


def test_each_key_of_a_person_is_counted_once():
    assert counted([("a", "x"), ("a", "x"), ("b", "x"), ("b", 7), ("c", "7"), ("c", None)], 3) == {"7": 2, "x": 2}
    assert counted([], 1) == {}


def test_the_same_key_keeps_the_same():
    rows = [("a", key) for key in "abcdefgh"]
    assert counted(rows, 3) == counted(rows[::-1], 3)
    assert len({tuple(counted(rows, 1, key=bytes([n] * 16))) for n in range(40)}) > 3


@pytest.mark.parametrize(
    ("rows", "most", "error"),
    [([(None, "x")], 1, BadTable), ([("a", 1.5)], 1, BadTable), ([("a", "x")], 0, OutOfRange)],
)
def test_what_cannot_be_counted_is_refused(rows, most, error):
    with pytest.raises(error):
        counted(rows, most)
    with pytest.raises(OutOfRange):
        count_keys({"who": ["a"]}, person="who", column="who", at_most=1)
    events = {"who": ["a"], "count": ["x"]}
    with pytest.raises(OutOfRange, match="Pass counts="):
        count_keys(events, person="who", column="count", at_most=1)
    assert count_keys(events, person="who", column="count", at_most=1, counts="n") == {"count": ["x"], "n": [1]}


@pytest.mark.parametrize("size", [0, 15])
def test_a_key_that_somebody_could_guess_is_refused(size):
    with pytest.raises(OutOfRange, match="16 bytes"):
        counted([("a", "x")], 1, bytes(size))
