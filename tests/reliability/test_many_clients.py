"""R2: one response for each item and level, whoever asks, however often, at the same time."""

import os
import random

import pytest

from reliability.clients import NEEDED, Children, Record, ask, random_request
from utmost.ledger import Ledger

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning"),
]
CLIENTS = 16


def insist(place, options, seed, requests, items, say):
    """Ask so many times; ask again what was answered, as a client does whose line is bad."""
    rng = random.Random(seed)
    with Ledger.open(place, create=True, **options) as ledger:
        for _ in range(requests):
            item, level, how = random_request(rng, items)
            for _ in range(rng.choice([1, 1, 2, 3])):
                try:
                    say([item, level, ask(ledger, item, level, how)])
                except NEEDED:
                    continue


def ask_together(place, options, requests, items):
    """All clients at once; returns what they were reported, after checking that nobody was answered anything else."""
    Ledger.open(place, create=True, **options).close()
    children, record = Children(), Record()
    for seed in range(CLIENTS):
        children.start(lambda say, seed=seed: insist(place, options, seed, requests, items, say))
    assert not any(children.listen(record.take))
    with Ledger.open(place, **options) as ledger:
        record.check(ledger)
        assert len({(one.name, one.version) for one in ledger.releases}) == len(ledger.releases)
    return record


def test_sixteen_clients(postgresql):
    record = ask_together(*postgresql, requests=15, items=6)
    assert record.count > 100


@pytest.mark.slow
def test_a_million_requests(store):
    """UTMOST_REQUESTS in the environment sets another dose."""
    requests = int(os.environ.get("UTMOST_REQUESTS", "1000000")) // CLIENTS * 4 // 7  # seven answers to four requests
    record = ask_together(*store, requests=requests, items=60)
    print(f"{record.count} answers to {len(record.answers)} questions, none with two values")
