"""Counting the persons of each key where nobody can list the keys beforehand, so that each person is in few of them.

The keys are found in the data, so no cell has a number that others' events cannot change: a person's keys are chosen by
the hash of their texts, which is a function of that person's own rows alone.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import integer, text, wrong_kind
from utmost.core.exact.numbers import natural
from utmost.core.exact.progress_bar import Progress, progress_bar
from utmost.core.sampling.item_words import Identifiers, item_tags
from utmost.errors import BadTable, OutOfRange
from utmost.publish.counting.bounding import Pairs, identified, marking_secret, pair_marks
from utmost.publish.counting.cell_totals import TOTAL, totals_schema, wide_integers
from utmost.publish.counting.counting import KEY_BYTES
from utmost.publish.counting.person_pairs import PersonsInBuckets, persons_of
from utmost.tables.axes.axes import text_of
from utmost.tables.cells.columns import is_missing
from utmost.tables.cells.event_batches import Batch, read_events, spelling_of_table
from utmost.tables.cells.event_codes import distinct_cells
from utmost.tables.cells.spelling import PLAIN, Spelling
from utmost.tables.engines.engines import engine_frame, is_engine_frame
from utmost.tables.frames.adapters import check_columns_exist
from utmost.tables.frames.table import Table
from utmost.tables.optional_imports import extra

_KEY = "key"
_MOST_SHARES = 10**6


@dataclass(frozen=True, slots=True, order=True)
class KeyShares:
    """How many shares persons gave to a key: no number, so that nobody's table of them is read as one of persons.

    Attributes:
        shares: Shares of all persons together.
        of: so many one person divides among all of their keys.
    """

    shares: int
    of: int


def counts_in_shares(column: Any, shares: int | None) -> Any:
    """A column of counts in shares as integers, for a promise of so many; any other column as it is.

    Raises:
        OutOfRange: for counts in more shares of one person than the promise is for.
        BadTable: for shares beside numbers.
    """
    if not isinstance(column, list | tuple) and getattr(getattr(column, "dtype", None), "kind", None) != "O":
        return column
    cells = list(column)
    counted = [cell for cell in cells if isinstance(cell, KeyShares)]
    if not counted:
        return column
    if len(counted) < len(cells):
        raise BadTable(
            "counts must all be in shares, or none",
            came="both",
            where="counts",
            remedy="Take all counts from one count_keys.",
        )
    most = max(cell.of for cell in counted)
    if most > (shares or 0):
        required = f"shares must be at least {most} for these counts"
        came, remedy = "none" if shares is None else str(shares), f"Say shares={most}, as for count_keys."
        raise OutOfRange(required, came=came, where="shares", remedy=remedy)
    return [cell.shares for cell in cells]


@progress_bar("Counting keys")
def count_keys(
    events: Any,
    *,
    person: str,
    column: str,
    at_most: int,
    shares: int | None = None,
    counts: str = "count",
    key: bytes | None = None,
    spelling: Spelling = PLAIN,
    progress: Progress | None = None,
) -> Table:
    """The table of keys that events name, and of how many persons have each: for `key_noise`, never to be published.

    Of each person the ``at_most`` keys with the least hash of key, person and text are kept, exactly so many where
    there are as many, and each is counted once. Without the person, what is kept of all others stays as it is.

    Args:
        events: one row an event, as for `count_table`.
        person: the column that says whose event it is: text or integers, in every row.
        column: the keys, text or integers; events without one are left out, and so are nan and NaN.
        at_most: Most keys in which one person is counted, >= 1: ``keys=`` of `key_noise`.
        shares: Number of shares that each person divides evenly among the keys that are kept of them, a whole number
            for each and what is left over for none: ``shares=`` of `key_noise`. Few are left over of 60 or 2520.
            Each key counts once when None.
        counts: Name of the column of counts in the table; that of keys is ``column``.
        key: Key of the hashes; new random bytes when None.
        spelling: Missing marks of the table, see `count_table`.
        progress: called as ``progress(done, rows)`` after every batch.

    Raises:
        BadTable: for an event without a person, persons or keys that are neither text nor integers, and columns that
            are not there.
        OutOfRange: for no keys a person, fewer shares than keys, and one name for two columns.

    >>> events = {"user": ["ann", "ann", "bob", "ann"], "page": ["home", "shop", "home", "home"]}
    >>> count_keys(events, person="user", column="page", at_most=2)
    {'page': ['home', 'shop'], 'count': [2, 1]}
    >>> count_keys(events, person="user", column="page", at_most=2, shares=60)["count"]
    [KeyShares(shares=90, of=60), KeyShares(shares=30, of=60)]
    """
    person, column, most = text(person, "person"), text(column, "column"), integer(at_most, "at_most")
    if most < 1:
        raise OutOfRange("at_most must be at least 1", came=at_most, remedy="Give how many keys a person may have.")
    if person == column:
        remedy = "Pass column=, the column that holds the keys."
        raise OutOfRange("person and column must be different columns", came=repr(column), remedy=remedy)
    if text(counts, "counts") == column:
        remedy = "Pass counts=, another name for the column of counts."
        raise OutOfRange("column and counts must have different names", came=repr(column), remedy=remedy)
    divided = None if shares is None else natural(shares, "shares", least=most, most=_MOST_SHARES)
    marks = spelling_of_table(events, spelling)
    if key is not None and not isinstance(key, bytes):
        raise wrong_kind("key", "bytes", key)
    keys = _Keys(person, column, most, token_bytes(KEY_BYTES) if key is None else key, divided, marks)
    if is_engine_frame(events):
        return keys.table(_counted_by_engine(events, keys), counts)
    found: dict[str, int] = defaultdict(int)
    for pairs, texts in persons_of(keys, read_events(events, [person, column]), progress):
        for name, count in keys.counts(pairs, texts):
            found[name] += count
    return keys.table(found, counts)


def _counted_by_engine(events: Any, keys: "_Keys") -> dict[str, int]:
    """The counts of a frame whose rows stay with the engine: only the keys and their counts come here."""
    frame, wanted = engine_frame(events), [keys.person, keys.column]
    check_columns_exist(wanted, frame.schema().names)
    counts: dict[str, int] = defaultdict(int)
    for batch in frame.select(wanted).added_up_by(keys.person, PersonsInBuckets(keys), totals_schema(_KEY, text=True)):
        for name, count in zip(batch.column(_KEY).to_pylist(), batch.column(TOTAL).to_pylist(), strict=True):
            counts[name] += int(count)
    return counts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Keys:
    """How events are read, and which keys of a person are kept."""

    person: str
    column: str
    most: int
    key: bytes
    shares: int | None
    spelling: Spelling
    texts: dict[str, int] = field(default_factory=dict)

    def placed(self, batch: Batch, before: int) -> tuple[NDArray[np.int64], None]:
        """The number of each event's key; each counts once."""
        return _codes(batch[self.column], self.column, self.texts, self.spelling), None

    def counts(self, pairs: Pairs, persons: Sequence[str]) -> Iterator[tuple[str, int]]:
        """The keys that somebody keeps, with how many do, or with their shares."""
        names = list(self.texts)
        cells, sizes = _kept(pairs, self.most, persons, names, self.key)
        counts = np.zeros(len(names), dtype=np.int64)
        np.add.at(counts, cells, 1 if self.shares is None else self.shares // sizes)
        return ((name, int(count)) for name, count in zip(names, counts, strict=True) if count)

    def table(self, found: Mapping[str, int], counts: str) -> Table:
        """The keys in order, and their counts."""
        names, shares = sorted(found), self.shares
        numbers = [found[name] if shares is None else KeyShares(found[name], shares) for name in names]
        return Table({self.column: names, counts: numbers})

    def summed(self, pairs: Pairs, texts: Sequence[str]) -> Any:
        """The counts as an Arrow batch."""
        arrow = extra("pyarrow", "tables")
        counted_keys = dict(self.counts(pairs, texts))
        counts = np.array(list(counted_keys.values()), dtype=np.int64)
        return arrow.record_batch({_KEY: arrow.array(list(counted_keys), arrow.string()), TOTAL: wide_integers(counts)})


def _codes(column: Any, name: str, texts: dict[str, int], spelling: Spelling) -> Any:
    """The number of each event's key, -1 where there is none; new keys are added."""
    codes, cells = distinct_cells(column, name)
    numbers = []
    for cell in cells:
        if is_missing(cell):
            numbers.append(-1)
            continue
        text = text_of(cell)
        if text is None:
            remedy = "Cast it to text or to integers first."
            raise BadTable("keys must be text or integers", came="others", where=f"column {name!r}", remedy=remedy)
        if spelling.is_missing(text):
            numbers.append(-1)
            continue
        numbers.append(texts.setdefault(text, len(texts)))
    return np.array([*numbers, -1], dtype=np.int64)[codes]


def _kept(pairs: Pairs, most: int, persons: Sequence[str], names: Sequence[str], secret: bytes) -> tuple[Any, Any]:
    """The keys that are kept, one entry for each person that has them, and how many that person keeps."""
    sizes = np.bincount(pairs.persons) if len(pairs.persons) else np.zeros(0, dtype=np.int64)
    many = sizes > most
    rows = np.flatnonzero(many[pairs.persons])
    counts, cells = sizes[many], pairs.cells[rows]
    used, keys = np.unique(cells, return_inverse=True)
    texts = [names[cell].encode("utf-8", "surrogatepass") for cell in used.tolist()]
    ranks = np.empty(len(used), dtype=np.int64)
    ranks[sorted(range(len(used)), key=texts.__getitem__)] = np.arange(len(used))
    tags = item_tags(marking_secret(b"key", secret), [Identifiers.of(texts)])[keys]
    marks = pair_marks(marking_secret(b"key", secret), identified(persons, np.flatnonzero(many)), counts, tags)
    # By hash; of equal hashes by name, so that the order of events does not matter.
    order = np.lexsort((ranks[keys], marks, pairs.persons[rows]))
    first = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) < most
    whole = ~many[pairs.persons]
    held = sizes[pairs.persons[whole]]
    return np.concatenate([pairs.cells[whole], cells[order[first]]]), np.append(held, np.full(int(first.sum()), most))
