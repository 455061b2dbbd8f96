"""Count the persons of each key if the keys cannot be listed beforehand; each person counts in a few keys only.

A key is identified by its text only: a number for it, such as its position among the keys of the data, would depend on
other persons' events. A person's keys are chosen by the hash of their texts, which depends on the person's own rows
only.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import numpy as np

from utmost.core.exact.arguments import integer, text, wrong_kind
from utmost.core.exact.numbers import natural
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.item_words import Identifiers, item_tags
from utmost.errors import BadTable, OutOfRange
from utmost.publish.counting.bounding import EventCells, Pairs, PairSums, identified, marking_secret, pair_marks
from utmost.publish.counting.cell_totals import TOTAL, totals_schema, wide_integers
from utmost.publish.counting.counting import COUNTING_KEY_BYTES, check_key
from utmost.publish.counting.person_pairs import PersonsInBuckets, persons_of
from utmost.tables.axes.axes import text_of
from utmost.tables.cells.columns import is_missing
from utmost.tables.cells.event_batches import Batch, read_events, spelling_of_table
from utmost.tables.cells.event_codes import distinct_cells
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.frames.adapters import check_columns_exist
from utmost.tables.frames.table import Table
from utmost.tables.optional_imports import extra

_KEY = "key"
_MOST_SHARES = 10**6  # shares of a person


@dataclass(frozen=True, slots=True, order=True)
class KeyShares:
    """Shares that persons gave to a key; a separate type, so that they are not taken for a number of persons."""

    shares: int  # shares of all persons together
    per_person: int  # shares that each person divides among the keys of the person


def counts_in_shares(column: Any, shares: int | None) -> Any:
    """Convert a column of `KeyShares` to integers; refuse it if ``shares`` is too small. Return others unchanged."""
    if not isinstance(column, list | tuple) and getattr(getattr(column, "dtype", None), "kind", None) != "O":
        return column
    cells = list(column)
    counted = [cell for cell in cells if isinstance(cell, KeyShares)]
    if not counted:
        return column
    if len(counted) < len(cells):
        raise BadTable(
            "either all counts or none must be in shares",
            came="counts of both kinds",
            where="counts",
            remedy="Take all counts from one call of count_keys.",
        )
    most = max(cell.per_person for cell in counted)
    if most > (shares or 0):
        required = f"shares must be at least {most} for these counts"
        came, remedy = "none" if shares is None else str(shares), f"Pass shares={most}, as in the call of count_keys."
        raise OutOfRange(required, came=came, where="shares", remedy=remedy)
    return [cell.shares for cell in cells]


def count_keys(
    events: Any,
    *,
    person: str,
    column: str,
    at_most: int,
    shares: int | None = None,
    counts: str = "count",
    key: bytes | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    progress: Progress | None = None,
) -> Table:
    """Count the persons of each key in a column of events, for noise by `key_noise`. Never publish the counts.

    For each person, the ``at_most`` keys with the least hash of ``key``, person and text are kept (all, if there are
    fewer), and each is counted once. Removing a person does not change which keys of the others are kept.

    Args:
        events: One row for each event, as for `count_table`.
        person: Column of the events' owners: text or integers, in every row.
        column: Column of keys: text or integers. Events whose key is missing, nan or NaN are left out.
        at_most: Largest number of keys in which one person is counted, >= 1. Pass the same number as ``keys=`` to
            `key_noise`.
        shares: Number of shares that each person divides evenly among the person's kept keys; a remainder is lost. Pass
            the same number as ``shares=`` to `key_noise`. 60 and 2520 have many divisors, so that remainders are small.
            With None, a person counts as 1 in each kept key.
        counts: Name of the table's column of counts; the column of keys has the name ``column``.
        key: Key of the hashes, 16 bytes or more; None for new random bytes.
        spelling: Spelling of missing values, see `count_table`.
        progress: Function that is called as ``progress(done, rows)`` after every batch.

    Returns:
        A table of the keys, in order, and their counts.

    Raises:
        BadTable: if an event has no person, if persons or keys are neither text nor integers, or if a column is
            missing.
        OutOfRange: if ``at_most`` is below 1, ``shares`` is less than ``at_most``, two columns have one name, or
            ``key`` has fewer than 16 bytes.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["home", "shop", "home", "home"]}
    >>> count_keys(events, person="user", column="page", at_most=2)
    {'page': ['home', 'shop'], 'count': [2, 1]}
    >>> count_keys(events, person="user", column="page", at_most=2, shares=60)["count"]
    [KeyShares(shares=90, per_person=60), KeyShares(shares=30, per_person=60)]
    """
    person, column, most = text(person, "person"), text(column, "column"), integer(at_most, "at_most")
    if most < 1:
        raise OutOfRange(
            "at_most must be at least 1", came=at_most, remedy="Pass the largest number of keys of one person."
        )
    if person == column:
        remedy = "Name another column of keys: column, or --unknown-keys."
        raise OutOfRange("the column of persons and the column of keys must differ", came=repr(column), remedy=remedy)
    if text(counts, "counts") == column:
        remedy = "Pass counts=, another name for the column of counts."
        raise OutOfRange("column and counts must be different names", came=repr(column), remedy=remedy)
    divided = None if shares is None else natural(shares, "shares", least=most, most=_MOST_SHARES)
    spelling = spelling_of_table(events, spelling)
    if key is not None and not isinstance(key, bytes):
        raise wrong_kind("key", "bytes", key)
    if key is not None:
        check_key(key)
    keys = _KeyReader(person, column, most, token_bytes(COUNTING_KEY_BYTES) if key is None else key, divided, spelling)
    found: dict[str, int] = defaultdict(int)
    with progress_bar("Counting keys", progress):
        if is_engine_frame(events):
            # Only the keys and their counts leave the engine.
            frame = engine_frame(events)
            check_columns_exist([person, column], frame.schema().names)
            totals = totals_schema(_KEY, text=True)
            for batch in frame.select([person, column]).added_up_by(person, PersonsInBuckets(keys), totals):
                for name, count in zip(batch.column(_KEY).to_pylist(), batch.column(TOTAL).to_pylist(), strict=True):
                    found[name] += int(count)
        else:
            for pairs, texts in persons_of(keys, read_events(events, [person, column])):
                for name, count in keys.counts(pairs[0][0], texts):
                    found[name] += count
    return keys.table(found, counts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _KeyReader:
    """How events are read, and which keys of a person are kept."""

    person: str
    column: str
    most: int
    key: bytes
    shares: int | None
    spelling: Spelling
    texts: dict[str, int] = field(default_factory=dict)

    @property
    def amounts_in_cells(self) -> Sequence[int]:
        return (0,)

    def placed(self, batch: Batch, before: int) -> Sequence[EventCells]:
        """Return the code of each event's key, -1 without a key; each event counts as 1."""
        codes, cells = distinct_cells(batch[self.column], self.column)
        numbers = []
        for cell in cells:
            if is_missing(cell):
                numbers.append(-1)
                continue
            text = text_of(cell)
            if text is None:
                where, remedy = f"column {self.column!r}", "Cast the column to text or to integers first."
                raise BadTable(
                    "keys must be text or integers", came="values of another type", where=where, remedy=remedy
                )
            # New keys get the next codes.
            numbers.append(-1 if self.spelling.is_missing(text) else self.texts.setdefault(text, len(self.texts)))
        return [(np.array([*numbers, -1], dtype=np.int64)[codes], ())]

    def counts(self, pairs: Pairs, persons: Sequence[str]) -> Iterator[tuple[str, int]]:
        """For each kept key, return the number of persons who keep it, or the number of shares that they give it."""
        names = list(self.texts)
        sizes = np.bincount(pairs.persons) if len(pairs.persons) else np.zeros(0, dtype=np.int64)
        # Persons with too many keys keep some of them: by hash, ties by name, so that the order of events does not
        # matter.
        many = sizes > self.most
        rows = np.flatnonzero(many[pairs.persons])
        of_many, cells = sizes[many], pairs.cells[rows]
        used, keys = np.unique(cells, return_inverse=True)
        texts = [names[cell].encode("utf-8", "surrogatepass") for cell in used.tolist()]
        ranks = np.empty(len(used), dtype=np.int64)
        ranks[sorted(range(len(used)), key=texts.__getitem__)] = np.arange(len(used))
        secret = marking_secret(b"key", self.key)
        tags = item_tags(secret, [Identifiers.of(texts)])[keys]
        marks = pair_marks(secret, identified(persons, np.flatnonzero(many)), of_many, tags)
        order = np.lexsort((ranks[keys], marks, pairs.persons[rows]))
        first = np.arange(len(rows)) - np.repeat(np.cumsum(of_many) - of_many, of_many) < self.most
        # For each kept (person, key) pair: `kept` has the key, `held` the number of keys that are kept of the person.
        whole = ~many[pairs.persons]
        kept = np.concatenate([pairs.cells[whole], cells[order[first]]])
        held = np.append(sizes[pairs.persons[whole]], np.full(int(first.sum()), self.most))
        counts = np.zeros(len(names), dtype=np.int64)
        np.add.at(counts, kept, 1 if self.shares is None else self.shares // held)
        return ((name, int(count)) for name, count in zip(names, counts, strict=True) if count)

    def table(self, found: Mapping[str, int], counts: str) -> Table:
        """Return the keys in alphabetical order, whatever the order of the events, and their counts."""
        names, shares = sorted(found), self.shares
        numbers = [found[name] if shares is None else KeyShares(found[name], shares) for name in names]
        return Table({self.column: names, counts: numbers})

    def summed(self, pairs: Sequence[PairSums], texts: Sequence[str]) -> Any:
        arrow = extra("pyarrow", "tables")
        counted_keys = dict(self.counts(pairs[0][0], texts))
        counts = np.array(list(counted_keys.values()), dtype=np.int64)
        return arrow.record_batch({_KEY: arrow.array(list(counted_keys), arrow.string()), TOTAL: wide_integers(counts)})
