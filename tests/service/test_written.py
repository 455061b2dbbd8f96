"""Each noun is said once: what is kept of it, what is answered, and what the description says come from its fields.

Records are made without a request.
"""

import json
from dataclasses import replace

import pytest
from pydantic import TypeAdapter

from utmost.errors import UnknownRecord
from utmost.exact import level
from utmost.interfaces.service.access.tokens import Token
from utmost.interfaces.service.api.response_models import paged
from utmost.interfaces.service.approvals import Proposal
from utmost.service import Grant

NAME, IRRATIONAL = "0" * 24, level(alpha="1/3")
QUARTER = level("1/4")
KEPT = {
    Token(NAME, "Bo", "recipient", (Grant("r", QUARTER), Grant("*")), 1, 2, "d", None, 7, frozenset({"Bob"})): {
        "owner": "Bo", "role": "recipient",
        "grants": [{"release": "r", "up_to": "1/4"}, {"release": "*", "up_to": None}],
        "made": 1, "expires": 2, "digest": "d", "subject": None, "revoked": 7,
    },
}  # fmt: skip
PROPOSAL = Proposal(NAME, "publish", "r", 1, QUARTER, "d1", 9, "so", "Ada", 4, also=("i Ada",), number=3)
KEPT_PROPOSAL = {
    "verb": "publish", "release": "r", "version": 1, "reason": "so", "proposer": "Ada", "made": 4, "state": "proposed",
    "decided_by": None, "decided": None, "anyone": False, "also": ["i Ada"], "level": "1/4",
    "digest": "d1", "size": 9, "decision_reason": "", "number": 3,
}  # fmt: skip


@pytest.mark.parametrize(("noun", "kept"), [*KEPT.items(), (PROPOSAL, KEPT_PROPOSAL)])
def test_what_is_kept_is_read_again(noun, kept):
    assert noun.kept() == kept
    again = type(noun).of_kept(NAME, json.loads(json.dumps(kept)))
    assert again.kept() == kept
    assert again == (replace(noun, also=frozenset()) if isinstance(noun, Token) else noun)


@pytest.mark.parametrize("noun", [*KEPT, PROPOSAL])
def test_what_is_answered_is_what_is_kept_without_what_is_hidden(noun):
    """With its name, and without digests of secrets and other names of a person."""
    answered = json.loads(TypeAdapter(type(noun)).dump_json(noun))
    hidden = {"also", "number"} if isinstance(noun, Proposal) else {"digest", "also"}
    assert answered == {"name": NAME} | {word: fact for word, fact in noun.kept().items() if word not in hidden}


def test_pages_tell_every_item_once():
    """Whatever the length of a page; and no page begins after what is not there."""
    items = [str(number) for number in range(7)]
    for most in range(1, 9):
        told, after = [], ""
        while after is not None:
            page, after = paged(items, after, most, str)
            assert len(page) <= most
            told += page
        assert told == items
    assert paged([], "", 5, str) == ([], None)
    with pytest.raises(UnknownRecord):
        paged(items, "8", 2, str)
