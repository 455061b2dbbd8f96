"""What requests leave in the memory of a service: views, and relaxations, in one process and without threads.

After a first round, which fills what is made once, the process is measured after each of five rounds. With --traced it
says which lines hold what the rounds added, as tracemalloc sees it: a leak is a line without a bound.

Run:  PYTHONPATH=src python benchmarks/service/what_a_request_leaves_in_memory.py [--views 600] [--levels 60] [--traced]
"""

import argparse
import asyncio
import gc
import itertools
import os
import tempfile
import tracemalloc
from pathlib import Path

import httpx

from utmost.ledger import Ledger
from utmost.service import Grant, Service, Settings, application

ROUNDS, TABLE = 5, {"n": list(range(100))}
PROMISE = {"columns": ["n"], "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}


def resident():
    """MiB that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


async def rounds(name, work, times, traced):
    """Six rounds of a work: the first unmeasured."""
    await work(times)
    gc.collect()
    if traced:
        tracemalloc.start()
        await work(20)
        gc.collect()
        before = tracemalloc.take_snapshot()
    memory = [resident()]
    for _ in range(ROUNDS):
        await work(times)
        gc.collect()
        memory.append(resident())
    print(f"{name}, {times} in each round: {', '.join(f'{size:.1f}' for size in memory)} MiB")
    if traced:
        for line in tracemalloc.take_snapshot().compare_to(before, "lineno")[:10]:
            print("  ", line)
        tracemalloc.stop()


async def measured(client, views, levels, traced):
    """Views first, then relaxations, each of a level of its own."""
    body, numbers = (
        {"name": "r", "level": "1", "promise": PROMISE, "independent": True, "table": TABLE},
        itertools.count(1001),
    )
    (await client.post("/v1/releases", json=body, headers={"Idempotency-Key": "r"})).raise_for_status()

    async def view(times):
        for _ in range(times):
            (await client.get("/v1/releases/r/view?epsilon=1")).raise_for_status()

    async def relax(times):
        for number in itertools.islice(numbers, times):
            relaxed = {"level": f"{number}/1000", "table": TABLE}
            key = {"Idempotency-Key": str(number)}
            (await client.post("/v1/releases/r/relax", json=relaxed, headers=key)).raise_for_status()

    await rounds("views", view, views, traced)
    await rounds("relaxations", relax, levels, traced)


async def main():
    options = argparse.ArgumentParser()
    options.add_argument("--views", type=int, default=600)
    options.add_argument("--levels", type=int, default=60)
    options.add_argument("--traced", action="store_true")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as here, Ledger.open(f"{here}/releases.db", create=True) as ledger:
        service = Service(ledger, approvals=False)
        presented = service.bearers.make(None, "first", "Ada", "curator", (Grant("*"),))[1]
        transport = httpx.ASGITransport(app=application(service, Settings(rate=1e8, burst=10**8)))
        headers = {"Authorization": f"Bearer {presented}"}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as client:
            await measured(client, chosen.views, chosen.levels, chosen.traced)


if __name__ == "__main__":
    asyncio.run(main())
