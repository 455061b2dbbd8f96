"""Sixteen readers and a writer, beside a bare endpoint in the same run, and kills at -9: nothing acknowledged is lost.

For each store and number of workers: the bare endpoint (FastAPI, the same bytes, the same number of workers) and the
service in turns, then kills. The processor is that of the server's processes alone, a request; p99 is the clients' own,
who are threads of this process on the same machine. Writers repeat what a kill cut off under the same key, and at the
end every level that was acknowledged must be there, with the values that were answered, and the whole ledger must
verify, as `utmost ledger verify` does it: every event, every response, the witness.

Run:  PYTHONPATH=src:tests python benchmarks/service/sixteen_readers_and_a_writer_through_kills.py
      [--seconds 300]        for all, divided among the three
      [--turns 3]            of each store, of the bare endpoint and the service
      [--kills 20]           for all
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

from postgres import fresh_database
from service.test_serve import free_port, served
from utmost.ledger import Ledger

READERS, ROWS = 16, 100
PROMISE = {"columns": ["n"], "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
OPEN = {"UTMOST_SERVE_BURST": "100000000", "UTMOST_LEDGER_KEY": bytes(range(32)).hex()}
SETUPS = (("SQLite", 1), ("PostgreSQL", 1), ("PostgreSQL", 4))
BARE = """
import os
from fastapi import FastAPI, Response
app, body = FastAPI(), open(os.environ["BODY"], "rb").read()
@app.get("/view")
def view(): return Response(body, media_type="application/json")
"""
TICKS = os.sysconf("SC_CLK_TCK")


def of_group(process):
    """Seconds of processor and MiB of memory that a process and its children have."""
    seconds, memory = 0.0, 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if int(fields[2]) == os.getpgid(process.pid):
                seconds += (int(fields[11]) + int(fields[12])) / TICKS
                memory += int(Path(f"/proc/{path.parent.name}/statm").read_text().split()[1])
    return seconds, memory * os.sysconf("SC_PAGE_SIZE") / 2**20


def read_for(address, path, headers, seconds, process, write=None):
    """What sixteen readers see in so many seconds: requests, processor a request in ms, p99 in ms, MiB at both ends."""
    took, until = [], time.monotonic() + seconds

    def work():
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            while time.monotonic() < until:
                began = time.perf_counter()
                # A connection that idled for five seconds is closed by the server, of either kind: sent again, as by a
                # client, and timed from the first try.
                try:
                    answer = client.get(path)
                except httpx.RemoteProtocolError:
                    answer = client.get(path)
                assert answer.status_code == 200
                took.append(time.perf_counter() - began)

    threads = [threading.Thread(target=work) for _ in range(READERS)]
    threads += [threading.Thread(target=write, args=(until,))] if write else []
    (before, first), _ = of_group(process), [thread.start() for thread in threads]
    for thread in threads:
        thread.join()
    (after, last), took = of_group(process), sorted(took)
    return len(took), 1000 * (after - before) / len(took), 1000 * took[len(took) * 99 // 100], first, last


@contextlib.contextmanager
def bare(folder, body, workers):
    """An endpoint that gives these bytes and nothing else."""
    (folder / "bare.py").write_text(BARE)
    (folder / "body.json").write_bytes(body)
    port = free_port()
    words = ["-m", "uvicorn", "bare:app", "--port", str(port), "--workers", str(workers), "--log-level", "error"]
    own = {"env": os.environ | {"BODY": str(folder / "body.json")}, "cwd": folder, "start_new_session": True}
    process = subprocess.Popen([sys.executable, *words], **own)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            with contextlib.suppress(httpx.HTTPError):
                httpx.get(f"{address}/view")
                break
            time.sleep(0.1)
        yield process, address
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Writer:
    """Relaxes one release, a level at a time, each under a key of its own until it is acknowledged."""

    def __init__(self, headers):
        self.headers, self.number, self.acknowledged = headers, 0, {}

    def until(self, address, end):
        with httpx.Client(base_url=address, headers=self.headers, timeout=60) as client:
            while time.monotonic() < end:
                level = f"{1001 + self.number}/1000"
                body = {"level": level, "table": {"n": list(range(ROWS))}}
                asked = {"json": body, "headers": {"Idempotency-Key": f"relax {self.number}"}}
                answer = client.post("/v1/releases/r/relax", **asked)
                assert answer.status_code == 200, answer.text
                self.acknowledged[level] = answer.json()["columns"]["n"]
                self.number += 1

    def until_killed(self, address):
        with contextlib.suppress(httpx.HTTPError):
            self.until(address, float("inf"))


def watched(store, workers, seconds, turns, kills):
    """One store: turns of both, then kills, then everything that was acknowledged."""
    with tempfile.TemporaryDirectory() as here:
        folder, place = Path(here), None if store == "SQLite" else fresh_database()
        words = () if place is None else ("--ledger", place, "--witness", str(folder / "witness"))
        words += ("--workers", str(workers), "--no-approvals", "--no-demo", "--rate", "100000000")
        path, figures = "/v1/releases/r/view?epsilon=1", {"bare": [], "service": []}
        with served(folder, *words, **OPEN) as (process, address, tokens):
            writer = Writer({"Authorization": f"Bearer {tokens['curator']}"})
            body = {
                "name": "r",
                "level": "1",
                "promise": PROMISE,
                "independent": True,
                "table": {"n": list(range(ROWS))},
            }
            once = writer.headers | {"Idempotency-Key": "r"}
            assert httpx.post(f"{address}/v1/releases", json=body, headers=once).status_code == 200
            content = httpx.get(address + path, headers=writer.headers).content
            with bare(folder, content, workers) as (other, there):
                for _ in range(turns):
                    figures["bare"].append(read_for(there, "/view", {}, seconds / (3 * turns), other))
                    turn = (address, path, writer.headers, 2 * seconds / (3 * turns), process)
                    figures["service"].append(read_for(*turn, lambda end: writer.until(address, end)))
        for _ in range(kills):
            with served(folder, *words, **OPEN) as (process, address, _):
                work = threading.Thread(target=writer.until_killed, args=(address,))
                work.start()
                time.sleep(1)
                os.killpg(process.pid, signal.SIGKILL)
                work.join()
        with served(folder, *words, **OPEN) as (_, address, _), httpx.Client(base_url=address, timeout=60) as client:
            for level, values in writer.acknowledged.items():
                answer = client.get("/v1/releases/r/view", params={"epsilon": level}, headers=writer.headers)
                assert answer.json()["columns"]["n"] == values, level
        key, witness = bytes.fromhex(OPEN["UTMOST_LEDGER_KEY"]), None if place is None else folder / "witness"
        with Ledger.open(place or folder / "releases.db", key=key, witness=witness) as ledger:
            assert ledger.verify().responses >= len(writer.acknowledged)
        return figures, len(writer.acknowledged)


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=300)
    options.add_argument("--turns", type=int, default=3)
    options.add_argument("--kills", type=int, default=20)
    chosen = options.parse_args()
    for at, (store, workers) in enumerate(SETUPS):
        kills = chosen.kills // len(SETUPS) + (at < chosen.kills % len(SETUPS))
        figures, kept = watched(store, workers, chosen.seconds / len(SETUPS), chosen.turns, kills)
        middle = {
            name: [sorted(run[field] for run in runs)[len(runs) // 2] for field in range(5)]
            for name, runs in figures.items()
        }
        own, other = middle["service"], middle["bare"]
        print(
            json.dumps(
                {
                    "store": store,
                    "workers": workers,
                    "requests": sum(run[0] for run in figures["service"]),
                    "processor, ms a request": [round(own[1], 3), round(other[1], 3), round(own[1] / other[1], 2)],
                    "p99, ms": [round(own[2], 1), round(other[2], 1), round(own[2] / other[2], 2)],
                    "MiB at the ends of each turn": [[round(run[3]), round(run[4])] for run in figures["service"]],
                    "kills": kills,
                    "levels acknowledged, all there": kept,
                }
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
