"""Requests to a ledger, read and found sound by themselves; and what an answer is written as."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange, Unsupported
from utmost.laws.exact import Level, Number, level
from utmost.laws.sampling.grid import unsnapped
from utmost.laws.sampling.integers import Integers
from utmost.publish.counting.counted import CountedTable
from utmost.publish.ledger.labels import Named
from utmost.publish.ledger.promise import MEASURED, Promise, counted_table
from utmost.publish.ledger.promised_noise import Noise
from utmost.publish.ledger.publish_request import PublishRequest
from utmost.publish.ledger.source import Source, check_source, read_source
from utmost.publish.ledger.state import Published, State
from utmost.publish.releases.places_statements import radius_name
from utmost.publish.releases.planar import written as written_cells
from utmost.publish.releases.table import declared
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.tables.adapters import adapter_of, brought, table_of
from utmost.publish.workloads import Strategy
from utmost.publish.workloads.reconstruction import precision_weights
from utmost.publish.workloads.tree_reconstruction import reconstruction_of

Response = dict[str, Integers]
"""A response in steps of the lattice, by column."""

CONFIDENCE = Fraction(19, 20)
"""Of the error bars of a release by a strategy, unless another is asked of it."""


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


def check_reconstructed(noise: Noise) -> None:
    """Check that what a strategy measures gives back what is wanted, before anything is spent.

    Raises:
        Unsupported: for a strategy from which nothing can be reconstructed.
    """
    strategy = noise.strategy
    if strategy is not None:
        reconstruction_of(strategy.domain, precision_weights(strategy.levels(level(1))), strategy.pair)


def read_request(
    asked: PublishRequest, table: Any, look: Callable[[Callable[[State], Promise]], Promise]
) -> tuple[PublishRequest, Source]:
    """A request with the values read and every column declared.

    Args:
        table: see `Promise.rows_of`.
        look: calls a function with the state of the ledger.

    Raises:
        NotDeclared, BadTable, OutOfRange, WrongKind: for what cannot be published so.
    """
    promise = asked.promise
    if promise.strategy is not None:
        return replace(asked, kind=table.kind), measured_source(table, promise.noise)
    if len(promise.identifiers) > 1:
        remedy = "Join them into one column; several name the items of an engine's frame."
        raise OutOfRange(
            "the rows of this table are named by one column", came="several", where="id_column", remedy=remedy
        )
    public = declared(table, promise.columns, promise.public, promise.drop)
    promise = asked.as_published(look).promise
    source = read_source(table, promise.columns, promise.noise, promise.id_column, public, by_item=promise.by_item)
    check_source(source, promise.noise)
    promise = promise.as_read(tuple(source.columns), source.public)
    return replace(asked, promise=promise, kind=source.kind), source


def release_source(release: Published, table: Any) -> Source:
    """The values of a release that is there, read from a table that is brought again."""
    if release.noise.strategy is not None:
        return measured_source(counted_table(table), release.noise)
    if isinstance(table, CountedTable):
        table = table.in_steps(release.columns[0])
    by_item = release.items is not None
    return read_source(
        brought(table), release.columns, release.noise, release.id_column, release.public, by_item=by_item
    )


def measured_source(counted: CountedTable, noise: Noise) -> Source:
    """The true sums that a strategy measures, family by family.

    Raises:
        OutOfRange: for a table over another domain, or one whose individuals change more than the strategy protects.
    """
    strategy = noise.strategy
    assert strategy is not None
    counted.check_fits(strategy)
    sums = [one.ravel() for one in strategy.sums(counted.summable).values()]
    return read_source({MEASURED: np.concatenate(sums)}, MEASURED, noise, None)


def answer_beside(source: Source, noise: Noise, level: Level, kind: str, response: Response, part: Any) -> Any:
    """A response as it is handed to whoever brought the table: that table, with released values in it."""
    if noise.strategy is not None:
        return measured_release(noise.strategy, level, response[MEASURED], kind, part)
    radii, after = error_bars(noise, level, tuple(response), source.rows, source.public)
    return source.with_released(written(noise, level, response) | radii, after)


def answer_alone(noise: Noise, level: Level, kind: str, response: Response, part: Any, labels: Named) -> Any:
    """A response as it is handed to whoever brings no table: with the labels of its rows, and error bars.

    Args:
        part: where the dataset was counted in parts that share nobody, the partition and which part of it this is.
        labels: the columns of the table in order, and the public ones among them.
    """
    if noise.strategy is not None:
        return measured_release(noise.strategy, level, response[MEASURED], kind, part)
    order, public = labels
    columns: dict[str, Any] = {**public, **written(noise, level, response)}
    table = table_of(kind, {name: columns[name] for name in order or response})
    radii, after = error_bars(noise, level, tuple(response), len(next(iter(response.values()))), tuple(public))
    return adapter_of(table).with_columns(table, radii, after)


def error_bars(
    noise: Noise,
    level: Level,
    columns: tuple[str, ...],
    rows: int,
    public: Sequence[str],
    confidence: Number = CONFIDENCE,
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The columns of radii of a response, and behind which column each stands.

    A ledger of an older format may hold a column that has such a name; that one has no radius.
    """
    radius = noise.radius(level, confidence)
    after = {name: owner for name, owner in _bars(noise, columns).items() if name not in columns and name not in public}
    return {name: np.full(rows, radius) for name in after}, after


def _bars(noise: Noise, columns: tuple[str, ...]) -> dict[str, str]:
    """The names of the columns of radii, and behind which column each stands."""
    if noise.points is not None:
        return {radius_name(columns): columns[-1]}
    return {f"{name}_radius": name for name in columns}


def check_bars_free(noise: Noise, columns: tuple[str, ...], public: Sequence[str]) -> None:
    """Check that the columns of radii have names of their own.

    Raises:
        BadTable: where a column has such a name.
    """
    for name in _bars(noise, columns):
        if name in columns or name in public:
            raise BadTable(f"the error bars need the name {name!r}", came="a column of that name", remedy="Rename it.")


def written(noise: Noise, level: Level, response: Response) -> dict[str, NDArray[Any]]:
    """A response as numbers: integers, or floats on the grid, which for points is that of the level."""
    if noise.points is not None:
        grid = noise.points.law(level).grid
        return {name: written_cells(cells, grid) for name, cells in response.items()}
    exponent = noise.lattice.exponent
    if exponent is None:
        return {name: noise.unit.numbers(steps) for name, steps in response.items()}
    return {name: unsnapped(steps, exponent) for name, steps in response.items()}


def measured_release(
    strategy: Strategy, level: Level, flat: Integers, kind: str, part: tuple[str, str] | None
) -> WorkloadRelease:
    """What a strategy measured, from its noisy sums family by family in one row."""
    measured, start = {}, 0
    for family in strategy.shares:
        shape = strategy.measured_shape(family)
        measured[family] = flat[start : start + prod(shape)].reshape(shape)
        start += prod(shape)
    return WorkloadRelease(strategy, level, CONFIDENCE, measured, kind, part)
