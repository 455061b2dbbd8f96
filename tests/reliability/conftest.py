"""Places for ledgers: an SQLite file, and a database on a server that the tests start."""

import itertools
from importlib.util import find_spec

import pytest
from postgres_server import programs, running_server

_KEY = bytes(range(32))
_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server():
    if programs() is None or find_spec("psycopg") is None:
        pytest.skip("PostgreSQL or psycopg is not installed")
    with running_server() as server:
        yield server


@pytest.fixture
def postgresql(postgres_server):
    """The address of an empty database, and the options to open a ledger there."""
    return postgres_server.create(f"ledger{next(_numbers)}"), {"key": _KEY}


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """The place of a ledger that is not there yet, and the options to open it."""
    if request.param == "sqlite":
        return str(tmp_path / "l.db"), {}
    return request.getfixturevalue("postgresql")
