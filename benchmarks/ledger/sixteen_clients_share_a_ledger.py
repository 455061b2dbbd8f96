"""Requests a second that sixteen clients, each a process of its own, get out of one ledger on either store.

Most requests of a ledger repeat what is stored; a new response costs a transaction that is synced to the disk. Both are
timed: a warm-up publishes, then clients ask for stored levels only, and then for a new level each time.

Run: PYTHONPATH=src:tests python benchmarks/ledger/sixteen_clients_share_a_ledger.py [seconds]
"""

import os
import sys
import tempfile
import time
from fractions import Fraction
from functools import partial
from pathlib import Path

import utmost as ut
from postgres import fresh_database
from utmost.ledger import Ledger

CLIENTS, RELEASES, ROWS = 16, 20, 100
KEY = bytes(range(32))
TABLE = {"n": list(range(ROWS))}


def stored(ledger, client, count):
    ledger.view(f"r{(client + count) % RELEASES}", epsilon=1)


def new(ledger, client, count):
    ledger.view(f"r{client}", epsilon=Fraction(1, 2 + client + CLIENTS * count))


def client(opened, number, ask, lasting, send):
    """Ask for so many seconds; say how often one was answered."""
    with opened() as ledger:
        count, until = 0, time.monotonic() + lasting
        while time.monotonic() < until:
            ask(ledger, number, count)
            count += 1
    os.write(send, count.to_bytes(8, "big"))


def requests_a_second(opened, ask, lasting):
    receive, send = os.pipe()
    children = []
    for number in range(CLIENTS):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                client(opened, number, ask, lasting, send)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    assert all(os.waitpid(child, 0)[1] == 0 for child in children)
    return sum(int.from_bytes(os.read(receive, 8), "big") for _ in children) / lasting


def main():
    lasting = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    with tempfile.TemporaryDirectory() as folder:
        for store, place in (("SQLite", Path(folder) / "l.db"), ("PostgreSQL", fresh_database())):
            opened = partial(Ledger.open, place, create=True, key=KEY, witness=Path(folder) / f"{store} witness")
            with opened() as ledger:
                for number in range(RELEASES):
                    ledger.publish(
                        f"r{number}", TABLE, ut.Promise(columns=["n"], unit=ut.Unit(1, 1)), epsilon=1, dataset="d"
                    )
            for what, ask in (("a level that is stored", stored), ("a new level each time", new)):
                rate = requests_a_second(opened, ask, lasting)
                print(f"{store:12s} {CLIENTS} clients, {what:24s} {rate:8.0f} requests a second")


if __name__ == "__main__":
    main()
