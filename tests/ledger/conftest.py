"""Every promise is tested on both stores."""

import pytest

from postgres import fresh_database
from utmost.publish.ledger import Ledger

KEY = bytes(range(32))


@pytest.fixture(params=["sqlite", "postgres"])
def place(request, tmp_path):
    """Where a ledger may be made."""
    return tmp_path / "releases.db" if request.param == "sqlite" else fresh_database()


@pytest.fixture
def reopened(place, tmp_path):
    """Opens the ledger again, as another process would."""
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
