"""`utmost serve`, a process of its own: first start, restart, a kill in the middle, and refusals."""

import contextlib
import inspect
import itertools
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from unittest import mock

import httpx
import numpy as np
import pytest

from running import PLAIN, called
from service.conftest import TABLE, TERMS
from service.publications import publish_by
from utmost.errors import NotAuthenticated, OutOfRange, UtmostError, WrongKind
from utmost.exact import level

# What a worker opens, and with which patience.
from utmost.interfaces.service import app
from utmost.interfaces.service.records import Records
from utmost.ledger import Ledger
from utmost.service import Grant, Service, Settings, connect

ADMISSIONS = "admissions-1973"
PATIENCE = 120.0
"""Seconds that a start may take: three workers on a busy machine import the library one after another."""


PORTS = 300
_tried = itertools.count(random.SystemRandom().randrange(PORTS))


def free_port():
    """A port that nobody listens on. It lies below those that systems give to connections, of which one would else be
    open from it now and then by the time that a service listens; and each worker has ports of its own."""
    first = 12_000 + PORTS * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 64)
    for number in itertools.islice(_tried, PORTS):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", first + number % PORTS))
            return first + number % PORTS
    raise AssertionError("no port is free")


def wait_until_ready(process, address, said, patience=PATIENCE):
    """Wait until a worker answers and reaches its store, or fail saying which of the two it waited for."""
    last, waits = time.monotonic() + patience, "nobody listens"
    asked = httpx.Client(timeout=5, verify=False, headers={"Connection": "close"})  # no certificates are read
    while True:
        assert process.poll() is None, f"the service ended with {process.returncode}: {''.join(said)}"
        try:
            ready = asked.get(f"{address}/health/ready")
            if ready.status_code == 200:
                return
            waits = f"the store cannot be reached: {ready.text}"
        except httpx.ConnectError:
            waits = "nobody listens"
        except httpx.TransportError as error:
            waits = f"the port is open and no worker answers: {type(error).__name__}"
        assert time.monotonic() < last, f"after {patience} seconds {waits}; the service said: {''.join(said)}"
        time.sleep(0.05)


@contextlib.contextmanager
def served(folder, *options, **environment):
    """A service in a folder: the process, its address, and the tokens that it says."""
    port = free_port()
    command = [sys.executable, "-m", "utmost", "serve", "--port", str(port), *options]
    own = {"env": os.environ | PLAIN | environment, "start_new_session": True}
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True, **own)
    said = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
    reader.start()
    try:
        address = f"http://127.0.0.1:{port}"
        wait_until_ready(process, address, said)
        yield process, address, dict(re.findall(r"^  (\w+): (utmost_\S+)$", "".join(said), re.MULTILINE))
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
        reader.join()
        process.stderr.close()


def test_started_again_and_killed_it_loses_and_repeats_nothing(tmp_path):
    """Started twice: the same values, no token more; every file is its owner's alone; it ends in order. Then it is
    killed at -9 while views at new levels come in: the ledger verifies, and what was answered stands."""
    with served(tmp_path) as (process, address, tokens):
        assert tokens.keys() == {"admin", "curator"}
        with connect(address, tokens["curator"]) as ledger:
            seen = {1000: ledger.view(ADMISSIONS, epsilon=1).table}
            assert len(seen[1000]["admitted"]) == 12
    assert process.returncode in (0, 143, -signal.SIGTERM)
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}
    with served(tmp_path) as (process, address, again):
        assert again == {}
        with connect(address, tokens["curator"][:-1] + "!") as ledger, pytest.raises(NotAuthenticated):
            ledger.me()
        with connect(address, tokens["curator"]) as ledger, contextlib.suppress(UtmostError):
            assert ledger.view(ADMISSIONS, epsilon=1).table == seen[1000]
            for step in range(1, 1000):
                seen[step] = ledger.view(ADMISSIONS, epsilon=f"{step}/1000").table
                if step == 5:
                    threading.Timer(0.05, process.kill).start()
    assert len(seen) >= 6
    with Ledger.open(tmp_path / "releases.db") as ledger:
        assert ledger.verify().responses >= len(seen)
        for step, table in seen.items():
            assert list(ledger.view(ADMISSIONS, epsilon=f"{step}/1000").table["admitted"]) == table["admitted"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--workers", "2"), "PostgreSQL"),
        (("--ledger", "postgresql://a:b@host/db"), "password"),
        (("--oidc-issuer", "https://id.example"), "audience"),
        (("--port", "0"), "port"),
    ],
)
def test_what_cannot_be_served_is_refused(tmp_path, options, says):
    ended = called("serve", *options, cwd=tmp_path)
    assert ended.returncode == 2
    assert says in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_settings_of_a_file_the_environment_and_the_options(tmp_path):
    """Each goes before the one before it; what is read is said, and nothing is made or started."""
    config = tmp_path / "serve.toml"
    every = Settings(rate=5.0, port=8001).environment()
    config.write_text(
        'ledger = "kept.db"\nport = 8001\nrate = 5\napprovals = false\naddress = "https://a.example"\n',
        encoding="utf-8",
    )
    read = Settings.of_environment({"UTMOST_SERVE_PORT": "8002", "UTMOST_SERVE_BURST": "7"}, file=config, port=None)
    assert (read.ledger, read.port, read.rate, read.burst, read.approvals) == ("kept.db", 8002, 5.0, 7, False)
    assert Settings.of_environment({"UTMOST_SERVE_PORT": "8002"}, file=config, port=8003).port == 8003
    for name, wrong in {"PORT": "8_002", "BURST": "٧", "RATE": "1_0", "PATIENCE": "１"}.items():
        with pytest.raises(OutOfRange, match=f"{name.lower()} must be a"):
            Settings.of_environment({f"UTMOST_SERVE_{name}": wrong})
    with pytest.raises(OutOfRange, match="smtp must be"):
        Settings(mail_to="a@example", mail_from="b@example", smtp="mail.example:٢٥")
    assert Settings(rate=np.float64(5), session_hours=8).rate == 5
    for wrong in ({"most_bytes": "x"}, {"port": "80"}, {"demo": 1}, {"webhook": None}, {"rate": True}, {"port": True}):
        with pytest.raises(WrongKind, match=next(iter(wrong))):
            Settings(**wrong)
    assert Settings.of_environment(every) == Settings(rate=5.0, port=8001)
    checked = called("serve", "--check", "--config", str(config), "--port", "8004", cwd=tmp_path)
    assert checked.returncode == 0
    for said in ("can be served", "kept.db", "8004", "https://a.example"):
        assert said in checked.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["serve.toml"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("prot = 1", "prot"), ("port = '1'", "port"), ("port = 0", "port"), ("rate = true", "rate"), ("= 1", "TOML"),
        ("workers = 2", "PostgreSQL"), ("ledger = 'postgresql://a:b@h/d'", "password"), ("webhook = 'x'", "webhook"),
        ("oidc_issuer = 'https://i.example'", "audience"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_served_are_told_before_the_start(tmp_path, text, says):
    (tmp_path / "serve.toml").write_text(text, encoding="utf-8")
    checked = called("serve", "--check", "--config", "serve.toml", cwd=tmp_path)
    assert checked.returncode == 2
    assert says in checked.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["serve.toml"]


def test_an_address_that_is_taken_is_refused_in_words(tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = called("serve", "--no-demo", "--port", port, cwd=tmp_path)
    assert done.returncode == 2
    assert f"utmost: 127.0.0.1:{port}: the service must start" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("answers", "says"),
    [(None, "nobody listens"), (b"", "no worker answers"), (b"HTTP/1.1 503 X\r\nContent-Length: 0\r\n\r\n", "store")],
)
def test_a_wait_that_is_too_long_says_for_what(answers, says):
    """Of a service that does not start: nobody listens, or no worker answers, or its store is out of reach."""
    with socket.socket() as listens:
        listens.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listens.getsockname()[1]}"

        def answer():
            with contextlib.suppress(OSError):
                while True:
                    line, _ = listens.accept()
                    with line:
                        line.recv(1000)
                        line.sendall(answers)

        if answers is not None:
            listens.listen()
            threading.Thread(target=answer, daemon=True).start()
        process = mock.Mock(**{"poll.return_value": None})
        with pytest.raises(AssertionError, match=says):
            wait_until_ready(process, address, ["started"], patience=0.2)
        listens.shutdown(socket.SHUT_RDWR) if answers is not None else None


def test_a_setting_that_is_misspelt_or_cannot_be_is_named(run):
    """A variable that names no setting was ignored; --check tries the host and the address, too."""
    with pytest.raises(OutOfRange, match="UTMOST_SERVE_BURST"):
        Settings.of_environment({"UTMOST_SERVE_BRUST": "5"})
    for wrong in (("--host", "no host"), ("--address", "x")):
        code, out, err = run("serve", "--check", *wrong)
        assert (code, out, wrong[0].strip("-") in err) == (2, "", True), err
    free = str(free_port())
    assert run("serve", "--check", "--host", "0.0.0.0", "--port", free)[0] == 0


def test_check_tries_what_a_start_needs(run, tmp_path):
    """The port, the folder, the database, and the key of a ledger that is there; and it makes nothing."""
    free, ledger = ("--port", str(free_port())), tmp_path / "l.db"
    code, _, err = run("serve", "--check", *free, "--ledger", ledger)
    assert (code, "the first start creates the ledger" in " ".join(err.split())) == (0, True)
    assert list(tmp_path.iterdir()) == []
    Ledger.open(ledger, create=True).close()
    code, _, err = run("serve", "--check", *free, "--ledger", ledger)
    assert (code, "the ledger opens with its key" in " ".join(err.split())) == (0, True)
    (tmp_path / "l.db.key").rename(tmp_path / "away")
    nobody = f"postgresql://127.0.0.1:{free_port()}/ledger"
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        wrong = {
            ("--ledger", ledger): "the key file must exist",
            ("--ledger", tmp_path / "none" / "l.db"): "mkdir -p",
            ("--ledger", nobody, "--key-file", tmp_path / "away"): "the server must be reachable",
            ("--ledger", tmp_path / "new.db", "--port", str(other.getsockname()[1])): "--port must be a free port",
        }
        for options, says in wrong.items():
            code, out, err = run("serve", "--check", *(() if "--port" in options else free), *options)
            assert (code != 0, out, says in " ".join(err.split())) == (True, "", True), (options, err)


@pytest.fixture
def starts(run, monkeypatch):
    """What a start says before it listens."""
    monkeypatch.setattr("uvicorn.run", lambda *_, **__: None)
    with mock.patch.dict(os.environ):  # a start sets variables for its workers
        yield lambda ledger: " ".join(run("serve", "--port", str(free_port()), "--ledger", ledger)[2].split())


def test_a_start_says_that_the_ledger_is_in_quarantine(run, starts, tmp_path):
    """An older copy was put back: the operator reads it at the start and by --check, not only in a refusal."""
    ledger = tmp_path / "l.db"
    assert "quarantine" not in starts(ledger)
    older = ledger.read_bytes()
    with Ledger.open(ledger) as opened:
        opened.budget(ADMISSIONS, 2)
    ledger.write_bytes(older)
    for said in (starts(ledger), run("serve", "--check", "--port", str(free_port()), "--ledger", ledger)[2]):
        assert "in quarantine: its witness has" in " ".join(said.split())


def test_the_records_know_what_an_older_ledger_and_witness_do_not(starts, tmp_path):
    """Both were put back, so the witness finds nothing: the receipt in the records does, once. Resumed, it is over."""
    ledger, older = tmp_path / "l.db", tmp_path / "older"
    starts(ledger)
    older.mkdir()
    for name in ("l.db", "l.db.witness"):
        shutil.copy(tmp_path / name, older)
    with Ledger.open(ledger) as opened:
        service = Service(opened, approvals=False)
        ada = service.bearers.make(None, "k", "Ada", "curator", (Grant("*"),))[0]
        publish_by(service, ada, "k", "wages", TABLE, level(1), TERMS)
    assert "quarantine" not in starts(ledger)
    for name in ("l.db", "l.db.witness"):
        shutil.copy(older / name, tmp_path)
    assert "in quarantine: a receipt" in starts(ledger)
    with Ledger.open(ledger) as opened:
        opened.resume("an older copy was put back", {"wages": 1})
    assert "quarantine" not in starts(ledger)


def test_what_a_resumed_ledger_was_charged_for_is_not_missing_again(starts, tmp_path):
    """Only the ledger was put back, and resumed with its witness before the service started again."""
    ledger, older = tmp_path / "l.db", tmp_path / "older"
    starts(ledger)
    shutil.copy(ledger, older)
    with Ledger.open(ledger) as opened:
        service = Service(opened, approvals=False)
        ada = service.bearers.make(None, "k", "Ada", "curator", (Grant("*"),))[0]
        publish_by(service, ada, "k", "wages", TABLE, level(1), TERMS)
        opened.view("wages", epsilon="1/2")  # an event after the receipt
    shutil.copy(older, ledger)
    with Ledger.open(ledger) as opened:
        opened.resume("the disk was replaced")
    assert "quarantine" not in starts(ledger)


def test_a_start_says_that_the_records_are_gone(run, starts, tmp_path):
    """Without tokens beside releases, either nobody served the ledger before, or its records were lost: those of a
    backup are good beside the newer ledger."""
    ledger = tmp_path / "l.db"
    assert "no records" not in starts(ledger)
    assert "no records" not in starts(ledger)
    assert run("serve", "--ledger", ledger, "--back-up", tmp_path / "backup")[0] == 0
    (tmp_path / "l.db.service").unlink()
    said = starts(ledger)
    assert "no records" in said
    assert f"copy ledger.db.service of the newest backup to {ledger}.service" in said
    assert "admin: utmost_" in said
    shutil.copy(tmp_path / "backup" / "ledger.db.service", tmp_path / "l.db.service")
    said = starts(ledger)
    assert "no records" not in said
    assert "utmost_" not in said, "its tokens are there again"


def test_a_request_is_answered_before_its_client_gives_up(tmp_path, monkeypatch):
    """The service waits for other writers, once for its records and once for the ledger, less long than a client."""
    opened = mock.Mock(side_effect=RuntimeError)
    monkeypatch.setattr(app.Ledger, "open", opened)
    monkeypatch.setenv("UTMOST_SERVE_LEDGER", str(tmp_path / "l.db"))
    with pytest.raises(RuntimeError), mock.patch("logging.basicConfig"), mock.patch("logging.captureWarnings"):
        app.of_environment()
    waits = opened.call_args.kwargs["timeout"], inspect.signature(Records).parameters["timeout"].default
    assert sum(waits) < inspect.signature(connect).parameters["timeout"].default
