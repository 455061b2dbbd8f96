"""Requests to a ledger, read and found sound by themselves; and what an answer is written as."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import BadTable, OutOfRange, Unsupported, WrongKind
from utmost.laws.exact import Level, Number, level
from utmost.laws.privacy.unit import Unit
from utmost.laws.sampling.grid import unsnapped
from utmost.laws.sampling.integers import Integers
from utmost.publish.counting.counted import CountedTable, Laid
from utmost.publish.ledger.labels import Named
from utmost.publish.ledger.promise import Promise, promised, promised_points
from utmost.publish.ledger.publish_request import PublishRequest
from utmost.publish.ledger.source import Source, check_source, read_source
from utmost.publish.ledger.state import Published, State
from utmost.publish.releases.places_statements import radius_name
from utmost.publish.releases.planar import written as written_cells
from utmost.publish.releases.table import declared
from utmost.publish.releases.tangent_plane import check_lengths
from utmost.publish.releases.workload_release import WorkloadRelease
from utmost.publish.tables.adapters import adapter_of, brought, table_of
from utmost.publish.workloads import Strategy
from utmost.publish.workloads.reconstruction import precision_weights
from utmost.publish.workloads.tree_reconstruction import reconstruction_of

Response = dict[str, Integers]
"""A response in steps of the lattice, by column."""

CONFIDENCE = Fraction(19, 20)
"""Of the error bars of a release by a strategy, unless another is asked of it."""

MEASURED = "measured"
"""The column of a release that a strategy measures."""


def read_table(strategy: Strategy | None, table: Any, columns: Any, public: Any, drop: Any, *unit: Any) -> Laid:
    """A table as it is to be released: its columns, and whom it protects; by a strategy, the unit of the strategy.

    Args:
        unit: the unit, or sensitivity, cells and neighbours.

    Raises:
        OutOfRange, NotANumber, WrongKind: for what cannot be released so.
    """
    if strategy is None:
        return Laid.of(table, columns, public, drop, *unit)
    if columns is not None or public or drop:
        remedy = "Leave out columns=, public= and drop=."
        raise OutOfRange("a strategy says itself what is released", remedy=remedy)
    if any(given is not None for given in unit[1:]) or unit[0] not in (None, strategy.unit):
        raise OutOfRange("a release by a strategy has the unit of the strategy", remedy="Leave out unit= and the rest.")
    counted = _counted(table)
    return Laid(counted, (), (), (), strategy.unit, counted.part)


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


def read_points(strategy: Strategy | None, table: Any, columns: Any, public: Any, drop: Any, *unit: Any) -> Laid:
    """A table whose columns are the coordinates of one point a row.

    Args:
        unit: must be left out.

    Raises:
        OutOfRange, NotANumber, WrongKind: for what cannot be released so.
    """
    if strategy is not None or any(given is not None for given in unit):
        remedy = "Leave out strategy=, unit=, sensitivity=, cells= and neighbours=."
        raise OutOfRange("points are released at a level for each per= of distance", remedy=remedy)
    if isinstance(table, CountedTable) or columns is None:
        raise OutOfRange("points need a table and the columns= of their coordinates")
    return Laid.of(table, columns, public, drop, Unit(1, 1, "change-one"), None, None, None)


def read_promise(strategy: Strategy | None, laid: Laid, per: Number | None = None, **lattice: Any) -> Promise:
    """The promise of a table's columns, of what a strategy measures, or of points.

    Raises:
        OutOfRange, NotANumber: for a parameter that is no such thing.
        Unsupported: for a strategy from which nothing can be reconstructed.
    """
    if per is not None:
        if lattice["numbers"] != "integers" or lattice["half_step"]:
            raise OutOfRange("points have noise of their own", remedy="Leave out numbers= and half_step=.")
        coordinates = [laid.columns] if isinstance(laid.columns, str) else laid.columns
        check_lengths(coordinates)
        dimensions = len(coordinates)
        return promised_points(per, dimensions, lattice["grid"], lattice["largest"])
    promise = promised(unit=laid.unit, **lattice)
    if strategy is None:
        return promise
    reconstruction_of(
        strategy.domain, precision_weights(strategy.levels(level(1))), strategy.pair
    )  # refuses before anything is spent
    return promise.measuring(strategy)


def read_request(
    asked: PublishRequest,
    laid: Laid,
    look: Callable[[Callable[[State], Promise]], Promise],
    *,
    drop: str | Sequence[str],
    id_column: str | None,
    noise: str,
) -> tuple[PublishRequest, Source]:
    """A request with the values read and every column declared.

    Args:
        look: calls a function with the state of the ledger.
        noise: "rows" or "items": what it is addressed by.

    Raises:
        NotDeclared, BadTable, OutOfRange, WrongKind: for what cannot be published so.
    """
    by_item = _is_by_item(noise, id_column)
    if asked.promise.strategy is not None:
        if id_column is not None:
            raise OutOfRange("what a strategy measures has no identifiers", came=id_column, where="id_column")
        source = measured_source(laid.table, asked.promise)
        return replace(asked, columns=tuple(source.columns), kind=laid.table.kind), source
    table, columns = laid.table, laid.columns
    kept = declared(table, columns, laid.public, drop)
    asked = asked.as_published(look)
    if by_item and asked.promise.points is not None:
        raise OutOfRange("points have paths of their own, and no noise by item", where="noise", remedy="Leave it out.")
    source = read_source(table, columns, asked.promise, id_column, kept, by_item=by_item)
    check_source(source, asked.promise)
    read: dict[str, Any] = {"columns": tuple(source.columns), "public": source.public, "kind": source.kind}
    return replace(asked, identifiers=() if id_column is None else (id_column,), **read), source


def _is_by_item(noise: str, id_column: str | None) -> bool:
    """Whether the noise is addressed by item."""
    if noise not in ("rows", "items"):
        raise OutOfRange('noise must be "rows" or "items"', came=noise, where="noise")
    if noise == "items" and id_column is None:
        remedy = "Pass id_column=, the column that says which item a row is."
        raise OutOfRange("noise by item needs identifiers", came="none", where="id_column", remedy=remedy)
    return noise == "items"


def release_source(release: Published, table: Any) -> Source:
    """The values of a release that is there, read from a table that is brought again."""
    if release.promise.strategy is not None:
        return measured_source(_counted(table), release.promise)
    if isinstance(table, CountedTable):
        table = table.table(table.domain.finest, release.columns[0])
    by_item = release.items is not None
    return read_source(
        brought(table), release.columns, release.promise, release.id_column, release.public, by_item=by_item
    )


def measured_source(counted: CountedTable, promise: Promise) -> Source:
    """The true sums that a strategy measures, family by family.

    Raises:
        OutOfRange: for a table over another domain, or one whose individuals change more than the strategy protects.
    """
    strategy = promise.strategy
    assert strategy is not None
    counted.check_fits(strategy)
    sums = [one.ravel() for one in strategy.sums(counted.summable).values()]
    return read_source({MEASURED: np.concatenate(sums)}, MEASURED, promise, None)


def _counted(table: Any) -> CountedTable:
    if not isinstance(table, CountedTable):
        remedy = "Count the events with ut.count_table over the domain of the strategy."
        raise WrongKind("a strategy measures a counted table", came=type(table).__name__, where="table", remedy=remedy)
    return table


def answer_beside(source: Source, promise: Promise, level: Level, kind: str, response: Response, part: Any) -> Any:
    """A response as it is handed to whoever brought the table: that table, with released values in it."""
    if promise.strategy is not None:
        return measured_release(promise.strategy, level, response[MEASURED], kind, part)
    radii, after = error_bars(promise, level, tuple(response), source.rows, source.public)
    return source.with_released(written(promise, level, response) | radii, after)


def answer_alone(promise: Promise, level: Level, kind: str, response: Response, part: Any, labels: Named) -> Any:
    """A response as it is handed to whoever brings no table: with the labels of its rows, and error bars.

    Args:
        part: where the dataset was counted in parts that share nobody, the partition and which part of it this is.
        labels: the columns of the table in order, and the public ones among them.
    """
    if promise.strategy is not None:
        return measured_release(promise.strategy, level, response[MEASURED], kind, part)
    order, public = labels
    columns: dict[str, Any] = {**public, **written(promise, level, response)}
    table = table_of(kind, {name: columns[name] for name in order or response})
    radii, after = error_bars(promise, level, tuple(response), len(next(iter(response.values()))), tuple(public))
    return adapter_of(table).with_columns(table, radii, after)


def error_bars(
    promise: Promise,
    level: Level,
    columns: tuple[str, ...],
    rows: int,
    public: Sequence[str],
    confidence: Number = CONFIDENCE,
) -> tuple[dict[str, NDArray[Any]], dict[str, str]]:
    """The columns of radii of a response, and behind which column each stands.

    A ledger of an older format may hold a column that has such a name; that one has no radius.
    """
    radius = promise.radius(level, confidence)
    after = {
        name: owner for name, owner in _bars(promise, columns).items() if name not in columns and name not in public
    }
    return {name: np.full(rows, radius) for name in after}, after


def _bars(promise: Promise, columns: tuple[str, ...]) -> dict[str, str]:
    """The names of the columns of radii, and behind which column each stands."""
    if promise.points is not None:
        return {radius_name(columns): columns[-1]}
    return {f"{name}_radius": name for name in columns}


def check_bars_free(promise: Promise, columns: tuple[str, ...], public: Sequence[str]) -> None:
    """Check that the columns of radii have names of their own.

    Raises:
        BadTable: where a column has such a name.
    """
    for name in _bars(promise, columns):
        if name in columns or name in public:
            raise BadTable(f"the error bars need the name {name!r}", came="a column of that name", remedy="Rename it.")


def written(promise: Promise, level: Level, response: Response) -> dict[str, NDArray[Any]]:
    """A response as numbers: integers, or floats on the grid, which for points is that of the level."""
    if promise.points is not None:
        grid = promise.points.law(level).grid
        return {name: written_cells(cells, grid) for name, cells in response.items()}
    exponent = promise.lattice.exponent
    if exponent is None:
        return response
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
