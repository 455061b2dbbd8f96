"""Places for ledgers: an SQLite file, and a database on a server that the tests start, and may stop."""

import subprocess
from urllib.parse import unquote, urlsplit

import pytest

import postgres

_KEY = bytes(range(32))


@pytest.fixture
def postgresql(tmp_path):
    """The address of an empty database, and the options to open a ledger there."""
    return postgres.fresh_database(), {"key": _KEY, "witness": str(tmp_path / "witness")}


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """The place of a ledger that is not there yet, and the options to open it."""
    if request.param == "sqlite":
        return str(tmp_path / "l.db"), {}
    return request.getfixturevalue("postgresql")


class Server:
    """The tests' server, to be stopped and started."""

    def __init__(self):
        self._data = unquote(urlsplit(postgres.server()).netloc.rpartition("@")[2])

    def stop(self, mode="fast"):
        """Stop it; "immediate" is a crash, after which it recovers."""
        self._run("-m", mode, "stop")

    def start(self):
        options = f"-h '' -k {self._data} -c max_connections=200"
        self._run("-w", "-t", "60", "-o", options, "-l", f"{self._data}/log", "start")

    def _run(self, *arguments):
        user = {"user": "nobody"} if postgres._is_root() else {}
        command = [postgres._bin_path() / "pg_ctl", "-D", self._data, *arguments]
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **user)


@pytest.fixture
def postgres_server(postgresql):
    """The server, left running."""
    server = Server()
    yield server
    server.stop()
    server.start()
