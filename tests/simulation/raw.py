"""What a store and a witness hold, read by SQL and JSON alone: an account of it that is not the library's."""

import json
from fractions import Fraction

from simulation.calls import DATASET

STORE, SETTLED, PENDING = "utmost_events", "utmost_witness", "utmost_pending"


def rows(place, path, *tables):
    """Number, body and mac of the events that a file holds; none where it has no such table."""
    with place.reading(path) as connection:
        if connection is None:
            return []
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        queries = (f"SELECT number, body, mac FROM {table} ORDER BY number" for table in tables if table in names)
        return [row for query in queries for row in connection.execute(query)]


def everything(place, path):
    """All that a ledger reads of its store."""
    with place.reading(path) as connection:
        tables = ("utmost_events", "utmost_parts", "utmost_head")
        return [connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall() for table in tables]


def nonces(place, path):
    """The first bytes of whatever is stored of responses."""
    with place.reading(path) as connection:
        return [bytes(content[:12]) for (content,) in connection.execute("SELECT content FROM utmost_parts")]


class Account:
    """What a list of events says, added up by itself.

    Attributes:
        events: their kinds and facts.
        levels: item (a name and a version) to its levels, as they are written.
        lost: what a rollback has cost.
        closed: items that are never relaxed again, or mechanisms from which nobody more is answered.
        persons: how many were answered.
    """

    def __init__(self, found):
        bodies = [json.loads(body) for _, body, _ in found]
        self.events = [(body["kind"], body["facts"]) for body in bodies]
        self.levels, self.lost, self.closed, self.persons = {}, Fraction(0), set(), 0
        for kind, facts in self.events:
            if kind in ("published", "answered"):
                self.levels.setdefault((facts["name"], facts["version"]), []).append(facts["level"])
            elif kind == "drawn":
                self.persons += facts["persons"]
            elif kind == "resumed":
                self.lost += sum(map(Fraction, facts["missing"].get(DATASET, ())))
                self.closed |= {tuple(item) for item in facts["closed"]}

    def largest(self, item):
        """The largest level of an item; 0 where there is none."""
        return max(map(Fraction, self.levels.get(item, ())), default=Fraction(0))

    @property
    def spent(self):
        """What all releases cost."""
        return sum(map(self.largest, self.levels), self.lost)

    @property
    def items(self):
        """All that has an answer: name, version and level."""
        return {(*item, epsilon) for item, levels in self.levels.items() for epsilon in levels}
