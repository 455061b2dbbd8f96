"""R2 through HTTP: many clients at once, lines that break, workers that share a database, kills and orderly ends.

The services are processes of `utmost serve`; the clients are threads here, each with connections of its own.
"""

import contextlib
import json
import os
import random
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from postgres import fresh_database
from service.publications import body
from service.test_serve import PATIENCE, served
from utmost.ledger import Ledger
from utmost.service import Grant, Service, Settings
from utmost.service import served as served_here

CLIENTS, ITEMS, LEVELS = 16, 6, ("1/4", "1/2", "1", "2")
KEY = bytes(range(32)).hex()
QUICK = {"UTMOST_SERVE_BURST": "1000000", "UTMOST_LEDGER_KEY": KEY}
TERMS = {"columns": ["n"], "dataset": "all", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}


def table(item):
    return {"n": [item * 1000 + 7 * row for row in range(5)]}


@contextlib.contextmanager
def running(kind, folder, database, *options, **environment):
    """A service on a store: one worker on SQLite, two processes on PostgreSQL; gives process, address and tokens."""
    place = ("--ledger", database, "--witness", str(folder / "witness"), "--workers", "2")
    given = (*(place if kind == "postgres" else ()), "--no-approvals", "--no-demo", "--rate", "1000000", *options)
    with served(folder, *given, **(QUICK | environment)) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def kind(request):
    return request.param


@pytest.fixture
def database(kind):
    return fresh_database() if kind == "postgres" else None


def requests_of(draw, number):
    """A request for an item at a level: (item, level, method, path, body, key); many are asked by several clients."""
    item, at, how = draw.randrange(ITEMS), draw.choice(LEVELS), draw.choice(("publish", "relax", "view", "view"))
    key = draw.choice((f"{item} {at}", f"own {number} {draw.random()}"))
    if how == "publish":
        sent = {**body(f"i{item}", LEVELS[item % 4], TERMS), "table": table(item)}
        return item, LEVELS[item % 4], "POST", "/v1/releases", sent, f"p{key}"
    if how == "relax":
        return item, at, "POST", f"/v1/releases/i{item}/relax", {"level": at, "table": table(item)}, f"r{key}"
    return item, at, "GET", f"/v1/releases/i{item}/view?epsilon={at}", None, None


def drop(address, token, method, path, sent, key):
    """Send a request and go, before it is answered or even before it is whole."""
    host, port = address.removeprefix("http://").split(":")
    content = b"" if sent is None else json.dumps(sent).encode()
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(content)}\r\n" + ("" if key is None else f"Idempotency-Key: {key}\r\n") + "\r\n"
    whole = head.encode() + content
    with contextlib.suppress(OSError), socket.create_connection((host, int(port)), timeout=5) as line:
        line.sendall(whole if random.random() < 0.7 else whole[: len(whole) // 2])


class Callers:
    """Clients at work, and every answer that they got, by item and level."""

    def __init__(self, address, token):
        self.address, self.token, self.answers, self.count, self.stopped = address, token, {}, 0, False
        self._turn = threading.Lock()

    def work(self, number, requests):
        """Ask at random; now and then go before the answer comes, and ask again under the same key."""
        draw = random.Random(number)
        headers = {"Authorization": f"Bearer {self.token}"}
        with httpx.Client(base_url=self.address, headers=headers, timeout=60, verify=False) as client:
            for _ in range(requests):
                item, at, method, path, asked, key = requests_of(draw, number)
                if draw.random() < 0.1:
                    drop(self.address, self.token, method, path, asked, key)
                for _ in range(draw.choice((1, 1, 2))):
                    if self.stopped:
                        return
                    sent = {} if key is None else {"headers": {"Idempotency-Key": key}}
                    with contextlib.suppress(httpx.TransportError):
                        self.take(item, at, client.request(method, path, json=asked, **sent))

    def take(self, item, at, answer):
        assert answer.status_code in (200, 404, 409, 503), answer.text
        with self._turn:
            self.count += 1
            if answer.status_code == 200:
                self.answers.setdefault((item, at), set()).add(tuple(answer.json()["columns"]["n"]))

    def all(self, requests):
        with ThreadPoolExecutor(CLIENTS) as pool:
            for done in [pool.submit(self.work, number, requests // CLIENTS) for number in range(CLIENTS)]:
                done.result()

    def check(self, ledger):
        """No item has two values at a level, and the ledger holds those that were answered."""
        assert {len(values) for values in self.answers.values()} == {1}
        for (item, at), values in self.answers.items():
            assert tuple(ledger.view(f"i{item}", epsilon=at).table["n"]) in values
        ledger.verify()


def check_workers_share(address, tokens):
    """One publication under one key through all workers; a revoked token is so in all at once."""
    headers = {name: {"Authorization": f"Bearer {presented}"} for name, presented in tokens.items()}
    sent = {**body("one", "1", TERMS | {"dataset": "one"}), "table": table(ITEMS)}

    def publish(_):
        return client.post("/v1/releases", json=sent, headers=headers["curator"] | {"Idempotency-Key": "the same"})

    def me(_):
        return client.get("/v1/me", headers=headers["curator"])

    def published():
        counts = client.get("/metrics", headers=headers["admin"]).text
        return sum(map(int, re.findall(r'utmost_requests_total{[^}]*"POST"[^}]*"/v1/releases"[^}]*} (\d+)', counts)))

    client = httpx.Client(base_url=address, timeout=60, verify=False)
    with client, ThreadPoolExecutor(12) as pool:
        before = published()
        made = list(pool.map(publish, range(12)))
        assert {answer.status_code for answer in made} == {200}
        assert len({answer.content for answer in made}) == 1
        for _ in range(6):  # whichever worker answers, it answers for all of them
            assert published() == before + 12
        name = me(0).json()["name"]
        revoked = client.post(f"/v1/tokens/{name}/revocation", headers=headers["admin"])
        assert revoked.status_code == 200
        assert {answer.status_code for answer in pool.map(me, range(24))} == {401}


def refused_from_now_on(address):
    """Wait until nobody new is let in."""
    last = time.monotonic() + PATIENCE
    while time.monotonic() < last:
        try:
            socket.create_connection(address, timeout=5).close()
        except ConnectionRefusedError:
            return
        except OSError:  # let in by the system, and dropped
            pass
        time.sleep(0.02)
    pytest.fail("somebody new is let in after SIGTERM")


def check_what_has_begun_is_answered(process, address, token):
    """SIGTERM when half a request has come: nobody new is let in, the other half is read, the answer comes, it ends."""
    host, port = address.removeprefix("http://").split(":")
    content = json.dumps({**body("late", "1", TERMS), "table": table(1)}).encode()
    head = f"POST /v1/releases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    head += f"Content-Type: application/json\r\nIdempotency-Key: l\r\nContent-Length: {len(content)}\r\n"
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        line.sendall(head.encode() + b"Expect: 100-continue\r\n\r\n" + content[:20])
        assert line.recv(1000).startswith(b"HTTP/1.1 100"), "the request has begun: its body is waited for"
        process.send_signal(signal.SIGTERM)
        refused_from_now_on((host, int(port)))
        line.sendall(content[20:])
        assert line.recv(1000).startswith(b"HTTP/1.1 200")
    assert process.wait(PATIENCE) in (0, -signal.SIGTERM, 128 + signal.SIGTERM)


@pytest.mark.parametrize("requests", [48, pytest.param(100_000, marks=pytest.mark.slow)])
def test_sixteen_clients_get_one_value_for_each_item_and_level(kind, database, tmp_path, requests):
    """Requests, retries and broken lines through all workers at once. UTMOST_REQUESTS sets another large dose."""
    requests = int(os.environ.get("UTMOST_REQUESTS", requests)) if requests > 48 else requests
    with running(kind, tmp_path, database) as (process, address, tokens):
        callers = Callers(address, tokens["curator"])
        callers.all(requests)
        if kind == "postgres":
            check_workers_share(address, tokens)
        else:
            check_what_has_begun_is_answered(process, address, tokens["curator"])
    assert callers.count >= requests
    assert len(callers.answers) >= ITEMS
    witness = tmp_path / "witness" if kind == "postgres" else None
    with Ledger.open(database or tmp_path / "releases.db", key=bytes.fromhex(KEY), witness=witness) as ledger:
        callers.check(ledger)
        assert kind == "postgres" or ledger.levels("late")


@pytest.mark.slow
def test_killed_under_load_it_loses_and_repeats_nothing(kind, database, tmp_path):
    """All processes killed at -9 while sixteen clients ask, again and again: what was answered stands, and verifies.
    UTMOST_KILLS in the environment sets another dose."""
    callers, token = Callers(None, None), None
    for kill in range(int(os.environ.get("UTMOST_KILLS", "20"))):
        with running(kind, tmp_path, database) as (process, address, tokens):
            callers.address, callers.token = address, tokens.get("curator", token)
            token, callers.stopped = callers.token, False
            with ThreadPoolExecutor(CLIENTS) as pool:
                jobs = [pool.submit(callers.work, number, 10_000) for number in range(kill, kill + CLIENTS)]
                wanted = callers.count + 40
                while callers.count < wanted and not any(job.done() for job in jobs):
                    time.sleep(0.01)
                time.sleep(random.uniform(0.0, 0.5))
                os.killpg(process.pid, signal.SIGKILL)
                callers.stopped = True
                for job in jobs:
                    job.result()
    assert callers.answers
    witness = tmp_path / "witness" if kind == "postgres" else None
    with Ledger.open(database or tmp_path / "releases.db", key=bytes.fromhex(KEY), witness=witness) as ledger:
        assert ledger.status().quarantine is None
        callers.check(ledger)


@pytest.mark.parametrize(("behind_proxy", "statuses"), [(None, [401, 429]), (True, [401, 401])])
def test_a_proxy_is_believed_only_where_there_is_one(tmp_path, behind_proxy, statuses):
    """X-Forwarded-For names who asks behind a proxy; without one it would be a way around the limits."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        service = Service(ledger)
        settings = Settings(rate=0.001, burst=1)  # where nothing is said, there is no proxy
        settings = replace(settings, behind_proxy=True) if behind_proxy else settings
        with served_here(service, settings) as address:
            headers = [{"Authorization": "Bearer none", "X-Forwarded-For": f"192.0.2.{host}"} for host in (1, 2)]
            answers = [httpx.get(f"{address}/v1/me", headers=one, timeout=PATIENCE, verify=False) for one in headers]
            assert [answer.status_code for answer in answers] == statuses
        with pytest.raises(httpx.ConnectError):  # nobody is answered once the ledger may be closed
            httpx.get(address, timeout=PATIENCE, verify=False)


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path):
    """A client that sends a byte now and then is told 408 and let go; others are answered in the meantime."""
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        service = Service(ledger)
        presented = service.bearers.make(None, "a", "Ada", "curator", (Grant("*"),))[1]
        with served_here(service, Settings(patience=1.0)) as address:
            host, port = address.removeprefix("http://").split(":")
            head = f"POST /v1/releases HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {presented}\r\n"
            head += "Content-Type: application/json\r\nIdempotency-Key: l\r\nContent-Length: 1000\r\n\r\n"
            began = time.monotonic()
            with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
                line.sendall(head.encode())
                for _ in range(3):
                    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # let go before the last byte
                        line.sendall(b" ")
                    time.sleep(0.1)
                    assert httpx.get(f"{address}/health/live", timeout=PATIENCE, verify=False).status_code == 200
                answer = line.recv(4000)
            assert answer.startswith(b"HTTP/1.1 408")
            assert 0.9 < time.monotonic() - began < 50  # a minute is what is waited for where nothing else is said
