"""Requests a second, and how long they take, of `utmost serve` on either store: view, publish, relax; and its memory.

Clients are threads of this process on the same machine, so that what they take of the processor is the service's loss.
The level that is viewed is stored; each publication is a release of its own, each relaxation a level more.

Run:  PYTHONPATH=src:tests python benchmarks/service/a_service_answers_hundreds_of_requests_a_second.py
      [--seconds 10]         for each figure
      [--memory 180]         seconds over which the memory is watched, with all three kinds of requests; 1800 for the
                             half hour; 0 for none
      [--store SQLite]       one of the stores alone
"""

import argparse
import contextlib
import os
import tempfile
import threading
import time
from pathlib import Path

import httpx

from postgres import fresh_database
from service.test_serve import served

CLIENTS, ROWS = 8, 100
PROMISE = {"columns": ["n"], "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
OPEN = {"UTMOST_SERVE_BURST": "100000000", "UTMOST_LEDGER_KEY": bytes(range(32)).hex()}


def table(number):
    return {"n": [number * ROWS + row for row in range(ROWS)]}


@contextlib.contextmanager
def running(folder, place, workers):
    given = () if place is None else ("--ledger", place, "--witness", str(folder / "witness"))
    options = ("--workers", str(workers), "--no-approvals", "--no-demo", "--rate", "100000000")
    with served(folder, *given, *options, **OPEN) as (process, address, tokens):
        yield process, address, {"Authorization": f"Bearer {tokens['curator']}"}


class Load:
    """Requests to one service, numbered, so that each release and level is new."""

    def __init__(self, address, headers):
        self.address, self.headers, self.number = address, headers, 0
        self._turn = threading.Lock()

    def next(self):
        with self._turn:
            self.number += 1
            return self.number

    def ask(self, client, kind):
        """One request; its seconds."""
        number = self.next()
        sent = {"headers": {"Idempotency-Key": f"{kind} {number}"}}
        began = time.perf_counter()
        if kind == "view":
            answer = client.get(f"/v1/releases/r{number % CLIENTS}/view?epsilon=1")
        elif kind == "publish":
            body = {
                "name": f"p{number}",
                "level": "1",
                "promise": PROMISE,
                "independent": True,
                "table": table(number + CLIENTS),
            }
            answer = client.post("/v1/releases", json=body, **sent)
        else:
            body = {"level": f"{1000 + number}/1000", "table": table(number % CLIENTS)}
            answer = client.post(f"/v1/releases/r{number % CLIENTS}/relax", json=body, **sent)
        assert answer.status_code == 200, answer.text
        return time.perf_counter() - began

    def client(self):
        return httpx.Client(base_url=self.address, headers=self.headers, timeout=60)

    def prepare(self):
        with self.client() as client:
            for number in range(CLIENTS):
                body = {
                    "name": f"r{number}",
                    "level": "1",
                    "promise": PROMISE,
                    "independent": True,
                    "table": table(number),
                }
                answer = client.post("/v1/releases", json=body, headers={"Idempotency-Key": f"r{number}"})
                assert answer.status_code == 200, answer.text

    def run(self, kinds, seconds):
        """The seconds of each request that all clients made in so many."""
        found, until = [], time.monotonic() + seconds

        def work(kind):
            with self.client() as client:
                while time.monotonic() < until:
                    found.append(self.ask(client, kind))

        threads = [threading.Thread(target=work, args=(kinds[at % len(kinds)],)) for at in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(found)


def resident(process):
    """The memory of a process and its children, in MiB."""
    total = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, group = int(path.parent.name), int(path.read_text().rsplit(")", 1)[1].split()[2])
            if group == os.getpgid(process.pid):
                total += int(Path(f"/proc/{number}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return total / 2**20


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=10)
    options.add_argument("--memory", type=float, default=180)
    options.add_argument("--store", choices=("SQLite", "PostgreSQL"))
    given = options.parse_args()
    for store, workers in (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 2)):
        if given.store not in (None, store):
            continue
        with tempfile.TemporaryDirectory() as here:
            folder, place = Path(here), None if store == "SQLite" else fresh_database()
            with running(folder, place, workers) as (process, address, headers):
                load = Load(address, headers)
                load.prepare()
                for kind in ("view", "publish", "relax"):
                    took = load.run([kind], given.seconds)
                    half, most = took[len(took) // 2], took[min(len(took) - 1, len(took) * 99 // 100)]
                    rate = len(took) / given.seconds
                    said = f"{rate:7.0f} requests a second, p50 {1000 * half:6.1f} ms, p99 {1000 * most:6.1f} ms"
                    print(f"{store:10s} {workers} worker(s) {kind:8s} {said}", flush=True)
                if given.memory and workers == 1:
                    for part in range(6):
                        load.run(["view", "view", "view", "view", "view", "view", "publish", "relax"], given.memory / 6)
                        said = f"{load.number} requests, {resident(process):.0f} MiB"
                        print(
                            f"{store:10s} {workers} worker(s) after {(part + 1) * given.memory / 6:5.0f} s: {said}",
                            flush=True,
                        )


if __name__ == "__main__":
    main()
