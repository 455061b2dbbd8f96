"""A first event that nobody wrote is damage, and is shown as such."""

import pytest

from utmost.errors import LedgerDamaged
from utmost.publish.ledger.events import read_event

CRAFTED = [
    b"[" * 100_000,
    b"{}",
    b"[]",
    b"\xff",
    b'{"format": 1, "kind": [], "time": "", "facts": {}}',
    b'{"format": 1, "kind": "opened", "time": 5, "facts": {}}',
    b'{"format": 1, "kind": "opened", "time": "", "facts": []}',
    b'{"format": ' + b"9" * 5000 + b', "kind": "opened", "time": "", "facts": {}}',
]


@pytest.mark.parametrize("body", CRAFTED, ids=[str(k) for k in range(len(CRAFTED))])
def test_what_is_no_event_is_damage(body):
    with pytest.raises(LedgerDamaged, match="event 1"):
        read_event(1, body)
