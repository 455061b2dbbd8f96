"""Parts of an event into PostgreSQL: by COPY, as `PostgresStore` writes them, beside a statement for each.

Run: PYTHONPATH=src:tests python benchmarks/ledger/parts_are_copied_into_postgres.py

Each figure is the least of five runs on an empty table, taken in turn, on the same server, that the tests start.
"""

from itertools import islice
from time import perf_counter

import psycopg

from postgres import fresh_database
from utmost.publish.ledger.postgres_store import _copy

SIZES = {"10,000 parts of 100 bytes": (10_000, 100), "64 parts of 1 MiB": (64, 1 << 20)}
TABLE = "CREATE TABLE utmost_parts (event BIGINT, part BIGINT, content BYTEA NOT NULL, PRIMARY KEY (event, part))"


def inserted(connection, parts):
    for part in parts:
        connection.execute("INSERT INTO utmost_parts VALUES (%s, %s, %s)", part, binary=True)


def seconds(connection, load, parts):
    connection.execute("TRUNCATE utmost_parts")
    start = perf_counter()
    with connection.transaction():
        load(connection, islice(parts, None))
    found = connection.execute("SELECT count(*), sum(length(content)) FROM utmost_parts").fetchone()
    assert found == (len(parts), sum(len(content) for _, _, content in parts))
    return perf_counter() - start


def main():
    with psycopg.connect(fresh_database(), autocommit=True) as connection:
        connection.execute(TABLE)
        for name, (count, size) in SIZES.items():
            parts = [(1, at, at.to_bytes(8, "big") * (size // 8)) for at in range(count)]
            runs = [[seconds(connection, load, parts) for load in (_copy, inserted)] for _ in range(5)]
            copied, one_by_one = (min(run[way] for run in runs) for way in (0, 1))
            print(f"{name:28s} COPY {copied:7.3f} s, INSERT {one_by_one:7.3f} s, {one_by_one / copied:5.1f} times")


if __name__ == "__main__":
    main()
