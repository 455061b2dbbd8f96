"""Requests to a ledger, read and found sound by themselves; and what an answer is written as."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from utmost.errors import OutOfRange, Unsupported
from utmost.laws.exact import Level, Number, level
from utmost.publish.ledger.labels import Named
from utmost.publish.ledger.publish_request import PublishRequest
from utmost.publish.ledger.source import Source, check_source, read_source
from utmost.publish.ledger.state import Published, State
from utmost.publish.promises.declared_columns import chosen_columns, declared_columns
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise, Response
from utmost.publish.tables.adapters import adapter_of, table_of


def level_of_table(table_at: Number | Level | None, *, is_frame: bool) -> Level | None:
    """At which level a table holds responses; None for one of values.

    Args:
        is_frame: whether the table is a frame of an engine.

    Raises:
        NotALevel: for what is no level.
        Unsupported: for responses in any other table.
    """
    if table_at is not None and not is_frame:
        raise Unsupported(
            "only a frame that an engine evaluates may hold responses in place of values",
            came="table_at",
            remedy="Leave table_at= out: the ledger keeps the responses of other tables itself.",
        )
    return None if table_at is None else level(table_at)


def read_request(
    request: PublishRequest, table: Any, look: Callable[[Callable[[State], Promise]], Promise]
) -> tuple[PublishRequest, Source]:
    """A request with the values read and every column declared.

    Args:
        table: see `Promise.rows_of`.
        look: calls a function with the state of the ledger.

    Raises:
        NotDeclared, BadTable, OutOfRange, WrongKind: for what cannot be published so.
    """
    promise = request.promise
    if len(promise.identifiers) > 1:
        remedy = "Join them into one column; several name the items of an engine's frame."
        raise OutOfRange(
            "the rows of this table are named by one column", came="several", where="id_column", remedy=remedy
        )
    rows, kind = promise.noise.measured(table)
    names = tuple(adapter_of(rows).names(rows))
    public, _ = declared_columns(names, chosen_columns(promise.columns, names, None), promise.public, promise.drop)
    promise = request.as_published(look).promise
    source = read_source(rows, promise.columns, promise.noise, promise.id_column, public, by_item=promise.by_item)
    check_source(source, promise.noise)
    promise = promise.as_read(tuple(source.columns), source.public)
    return replace(request, promise=promise, kind=source.kind if kind is None else kind), source


def release_source(release: Published, table: Any) -> Source:
    """The values of a release that is there, read from a table that is brought again."""
    noise, by_item = release.noise, release.items is not None
    rows, _ = noise.measured(noise.rows_of(table, release.columns))
    return read_source(rows, release.columns, noise, release.id_column, release.public, by_item=by_item)


def answer_beside(source: Source, noise: Noise, level: Level, kind: str, response: Response, part: Any) -> Any:
    """A response as it is handed to whoever brought the table: that table, with released values in it."""

    def table(columns: Mapping[str, Any]) -> Any:
        margins, after = noise.with_bars(level, tuple(response), source.rows, source.public)
        return source.with_released({**columns, **margins}, after)

    return noise.handed(level, noise.written(level, response), kind, part, table)


def answer_alone(noise: Noise, level: Level, kind: str, response: Response, part: Any, labels: Named) -> Any:
    """A response as it is handed to whoever brings no table: with the labels of its rows, and error bars.

    Args:
        part: where the dataset was counted in parts that share nobody, the partition and which part of it this is.
        labels: the columns of the table in order, and the public ones among them.
    """

    def table(written: Mapping[str, Any]) -> Any:
        order, public = labels
        columns: dict[str, Any] = {**public, **written}
        shown = table_of(kind, {name: columns[name] for name in order or response})
        margins, after = noise.with_bars(level, tuple(response), len(next(iter(response.values()))), tuple(public))
        return adapter_of(shown).with_columns(shown, margins, after)

    return noise.handed(level, noise.written(level, response), kind, part, table)
