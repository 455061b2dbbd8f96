"""What a worker of the service holds under load: sixteen readers and a writer from another process, line by line.

Resident memory says little by itself: beside it stand what the C library has handed out and what it holds free, and how
many blocks Python has in use. A leak is a number of blocks that goes on rising; a cache fills and stays; what is free
and not given back is the C library's.

Run:  PYTHONPATH=src:tests python benchmarks/service/what_load_leaves_in_memory.py [--seconds 100] [--readers 16]
      [--sqlite]        in place of PostgreSQL
"""

import argparse
import contextlib
import ctypes
import gc
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx

from postgres import fresh_database
from utmost.ledger import Ledger
from utmost.service import Grant, Service, Settings, served

ROWS, EVERY = 100, 8
PROMISE = {"columns": ["n"], "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}


class Handed(ctypes.Structure):
    """What `mallinfo2` of glibc says, in bytes but for the second and the third."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "used", "free", "keep")
    ]


def load(address, token, seconds, readers):
    """Read one level again and again, and relax to a new one each time; what the other process does."""
    headers, until = {"Authorization": f"Bearer {token}"}, time.monotonic() + seconds

    def read():
        with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
            while time.monotonic() < until:
                with contextlib.suppress(httpx.RemoteProtocolError):
                    client.get("/v1/releases/r/view?epsilon=1").raise_for_status()

    threads = [threading.Thread(target=read) for _ in range(readers)]
    for thread in threads:
        thread.start()
    with httpx.Client(base_url=address, headers=headers, timeout=60) as client:
        number = 1000
        while time.monotonic() < until:
            number += 1
            body = {"level": f"{number}/1000", "table": {"n": list(range(ROWS))}}
            key = {"Idempotency-Key": str(number)}
            client.post("/v1/releases/r/relax", json=body, headers=key).raise_for_status()
    for thread in threads:
        thread.join()


def watched(ledger, seconds, readers):
    """Serve a ledger here, load it from another process, and print what is held."""
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Handed
    service = Service(ledger, approvals=False)
    token = service.bearers.make(None, "first", "Ada", "curator", (Grant("*"),))[1]
    with served(service, Settings(rate=1e8, burst=10**8)) as address:
        body = {"name": "r", "level": "1", "promise": PROMISE, "independent": True, "table": {"n": list(range(ROWS))}}
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "r"}
        httpx.post(f"{address}/v1/releases", json=body, headers=headers).raise_for_status()
        client = subprocess.Popen([sys.executable, __file__, "--load", address, token, str(seconds), str(readers)])
        while client.poll() is None:
            time.sleep(EVERY)
            gc.collect()
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
            handed, levels = library.mallinfo2(), len(ledger["r"].levels)
            words = f"handed out {handed.used / 2**20:.1f}, free {handed.free / 2**20:.1f}"
            print(f"{levels} levels: {resident:.1f} MiB, {words}, {sys.getallocatedblocks()} blocks", flush=True)
        assert client.returncode == 0


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--seconds", type=float, default=100)
    options.add_argument("--readers", type=int, default=16)
    options.add_argument("--sqlite", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as here:
        place = f"{here}/releases.db" if chosen.sqlite else fresh_database()
        witness = {} if chosen.sqlite else {"witness": f"{here}/witness"}
        with Ledger.open(place, create=True, key=bytes(range(32)), **witness) as ledger:
            watched(ledger, chosen.seconds, chosen.readers)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--load"]:
        load(sys.argv[2], sys.argv[3], float(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
