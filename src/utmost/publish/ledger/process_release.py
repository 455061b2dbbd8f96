"""Releasing a table by any promise, remembered by this process: a ledger that lasts as long as it."""

from typing import Any, Unpack

from utmost.laws.exact import Level, Number, level
from utmost.laws.sampling.random_bits import Randomness, entropy, secure
from utmost.publish.ledger.book import open_book
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.promise import Promise, Words
from utmost.publish.ledger.remembered_release import Release
from utmost.publish.ledger.volatile_store import VolatileStore

NAME = "release"
"""Under which a process remembers its one release."""


def release(
    table: Any,
    promise: Promise | None = None,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    randomness: Randomness | None = None,
    **words: Unpack[Words],
) -> Release:
    """Release a table at a level, and later at any other: cells, sums of a strategy, or points, as promised.

    The release is remembered by this process, as `GradualRelease` is, and gone when it ends; `Ledger.publish` keeps it.
    It holds the table, so that a looser level can be asked for as long as its values stay what they were.

    Args:
        table: as for `Ledger.publish`: a dict of columns, a frame, a counted table.
        promise: all that is decided beforehand; or its words instead, see `Promise`.
        epsilon, alpha: the first level, one of the two.
        randomness: the operating system's if left out; a seeded source is refused.

    Raises:
        As `Ledger.publish`. Nothing is drawn by a call that raises.

    Source: [koufogiannis2015], Theorems 1, 11 and 12.

    >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
    >>> made = release(table, Promise("admitted", public="department", sensitivity=1, cells=1), epsilon="1/2")
    >>> made.at(2)["admitted_radius"], made.levels
    ([1, 1], (Level(epsilon=1/2), Level(epsilon=2)))
    >>> made.spent, made.statement["guarantee"][:60]
    (Level(epsilon=2), 'Whatever anyone concludes from the released columns, the cha')
    """
    at, bits = level(epsilon, alpha), secure(randomness)
    opened = {"identity": entropy(16).hex(), "sealed": False, "derived": False, "witness": False}
    book = open_book(VolatileStore(), lambda _: Key(entropy(32)), lambda _: None, opened)
    memory = Ledger(book, bits)
    memory.publish(NAME, table, promise, epsilon=at, **words)
    return Release(memory, NAME, 1, table)
