"""Releasing a table by any promise, remembered by this process: a ledger that lasts as long as it."""

from typing import Any

from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.sampling.item_words import SECRET_BYTES, item_tags
from utmost.core.sampling.random_bits import Randomness, entropy, secure
from utmost.errors import Unsupported
from utmost.publish.ledger.book import open_book
from utmost.publish.ledger.key import Key
from utmost.publish.ledger.ledger import Ledger
from utmost.publish.ledger.publishing import check_new
from utmost.publish.ledger.source import new_source
from utmost.publish.ledger.sqlite_store import VolatileStore
from utmost.publish.promises.plan import warn_of_rows
from utmost.publish.promises.promise import Promise, fitting
from utmost.publish.promises.statement import Statement
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.releases.answer import Answer, AnswerTable
from utmost.tables.engines.engines import is_engine_frame

NAME = "release"
"""Under which a process remembers its one release."""


def release(
    table: Any,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    randomness: Randomness | None = None,
) -> Answer[AnswerTable]:
    """Release a table at a level, and later at any other: cells, sums of a strategy, or points, as promised.

    The release is remembered by this process, as `GradualRelease` is, and gone when it ends; `Ledger.publish` keeps it.
    It holds the table, so that ``answer.release.at`` gives more accurate answers as long as its values stay the same.

    Args:
        table: as for `Ledger.publish`: a dict of columns, a frame, a counted table.
        promise: all that is decided beforehand; of a counted table by `Promise.of_counted`.
        epsilon, alpha: the first level, one of the two.
        randomness: the operating system's if left out; a seeded source is refused.

    Raises:
        As `Ledger.publish`. Nothing is drawn by a call that raises.

    Source: [koufogiannis2015], Theorems 1, 11 and 12.

    >>> from utmost import Unit
    >>> table = {"department": ["A", "B"], "admitted": [601, 370]}
    >>> answer = release(table, Promise("admitted", public="department", unit=Unit(1, 1)), epsilon="1/2")
    >>> answer.release.at(2).table["admitted_margin"], answer.release.levels
    ([1, 1], (level(epsilon='1/2'), level(epsilon=2)))
    >>> answer.level, answer.release.spent, answer.statement["guarantee"][:60]
    (level(epsilon='1/2'), level(epsilon=2), 'Whatever anyone concludes from the released columns, the cha')
    """
    bits = secure(randomness)
    opened = {"identity": entropy(16).hex(), "sealed": False, "derived": False, "witness": False}
    book = open_book(VolatileStore(), lambda _: Key(entropy(32)), lambda _: None, opened)
    memory = Ledger(book, bits)
    return memory.publish(NAME, table, promise, epsilon=epsilon, alpha=alpha)


def rehearse(
    table: Any,
    promise: Promise,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    confidence: Number = "0.95",
) -> dict[str, Any]:
    """Everything that `release` and `Ledger.publish` do up to the first draw: the statement that there would be.

    Args:
        table, promise, epsilon, alpha: as for `release`.
        confidence: of the error bars.

    Raises:
        As `release`; Unsupported: for a frame that an engine evaluates, which `rehearse_table` reads.

    >>> from utmost import Unit
    >>> rehearse({"n": [3]}, Promise("n", unit=Unit(1, 1)), epsilon=1)["margins"]
    {'n_margin': 3}
    """
    sure, at = read_confidence(confidence), level(epsilon, alpha)
    native = fitting(promise, table).rows_of(table)
    if is_engine_frame(native):
        raise Unsupported("a frame is rehearsed by rehearse_table", came=type(native).__name__, where="table")
    source = new_source(native, promise)
    check_new(source)
    if source.items is not None:
        source.check_distinct(item_tags(entropy(SECRET_BYTES), [source.items]))
    found, noise = source.promise, source.promise.lasting_noise
    noise.check_level(at)
    noise.warn(at)
    warn_of_rows(found.rows)
    if isinstance(noise, SumNoise):
        return noise.rehearsed(at, sure)
    return Statement(found, at, sure, 0 if noise.names_rows else source.rows, None, None).facts()
