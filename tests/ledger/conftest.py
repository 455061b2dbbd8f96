"""Run every test of a promise on both stores, SQLite and PostgreSQL."""

import pytest

import stores
from utmost.ledger import Ledger

place, pytest_generate_tests = stores.place, stores.pytest_generate_tests
KEY = bytes(range(32))


@pytest.fixture
def reopened(place, tmp_path):
    """Open the ledger again, as another process would."""
    opened = []

    def again(**options):
        opened.append(Ledger.open(place, create=True, **{"key": KEY, "witness": tmp_path / "witness"} | options))
        return opened[-1]

    yield again
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(reopened):
    """A new ledger."""
    return reopened()
