"""Read public facts as users write them: a mapping from names of tables to numbers, bounds, or tables of numbers."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.numbers import Number
from utmost.core.privacy.amount import Amount
from utmost.errors import OutOfRange, WrongKind
from utmost.publish.releases.marginal_tables import groups_in
from utmost.publish.workloads.reconstruction.public_facts import Between, PublicFacts
from utmost.publish.workloads.sums_in_words import read_marginal
from utmost.publish.workloads.workload import narrowed
from utmost.tables.axes.axes import label_text
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.frames.any_table import adapter_of

GivenFacts = PublicFacts | Mapping[str, object]
"""Mapping from names of tables to public facts, see `read_given`."""


def read_given(domain: Domain, public: GivenFacts, amount: Amount | None = None) -> PublicFacts:
    """Read public facts about the sums of a domain.

    Args:
        domain: Domain of the sums.
        public: Mapping from names of tables ("total", "carrier", "carrier=UA" or "month carrier=UA") to facts. A fact
            is a number or `utmost.workloads.between`. Pass one fact for all sums of the table; or a list with a fact
            for each sum, in the order of the table; or a mapping from labels (tuples of labels for several levels) to
            facts; or a table with the labels in columns of the levels' names and the facts in one other column. Sums
            that a mapping or a table leaves out have no fact.
        amount: Amount that is summed; None for counts.
    """
    if isinstance(public, PublicFacts):
        return public
    if not isinstance(public, Mapping):
        raise wrong_kind("given", 'a mapping from sums to numbers, {"total": 336776}', public)
    return PublicFacts.of_places(domain, [row for name in public for row in _rows(domain, name, public[name])], amount)


def read_table(domain: Domain, name: str | Sequence[str] | Marginal) -> Marginal:
    """Return the marginal that a table's name means; the name may not select labels; "total" is the sum of all."""
    marginal, narrow = narrowed(domain, _words(domain, name))
    if narrow:
        raise OutOfRange(
            "hold= must name complete tables, without labels",
            came=repr(name),
            remedy='Pass, for example, "total", or "carrier".',
        )
    return marginal


def _words(domain: Domain, name: Any) -> Any:
    if not isinstance(name, str):
        return name
    return read_marginal(domain, name)


def _rows(domain: Domain, name: str, values: object) -> Iterator[tuple[Marginal, int, object]]:
    """Yield the known sums of one table: marginal, index of the sum in the table, and fact."""
    marginal, narrow = narrowed(domain, _words(domain, name))
    places = np.flatnonzero(groups_in(domain, marginal, narrow)).tolist()
    if isinstance(values, Between | Number | np.number):
        yield from ((marginal, place, values) for place in places)
        return
    if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str):
        if len(values) != len(places):
            raise OutOfRange(
                f"given= must have {len(places)} numbers for {name!r}, one for each sum",
                came=len(values),
                remedy="Pass a number for each sum, or a mapping from labels to numbers.",
            )
        yield from ((marginal, place, value) for place, value in zip(places, list(values), strict=True))
        return
    levels = domain.label_columns(
        tuple(
            len(axis.levels) if at in narrow else level
            for at, (axis, level) in enumerate(zip(domain.axes, marginal, strict=True))
        )
    )
    labels = domain.group_labels(marginal)
    place_of = {tuple(label_text(labels[level][place]) for level in levels): place for place in places}
    for row, value in _by_label(levels, values, name):
        if row not in place_of:
            raise OutOfRange(
                f"given= must name labels of {', '.join(map(repr, levels))}",
                came=", ".join(map(str, row)),
                where=f"given, {name!r}",
                remedy="Spell the labels as the domain does.",
            )
        yield marginal, place_of[row], value


def _by_label(levels: tuple[str, ...], values: object, name: object) -> Iterator[tuple[tuple[str | None, ...], object]]:
    """Yield rows of labels with their facts, from a mapping or a table."""
    if isinstance(values, Mapping) and not set(levels) < set(values):
        for row, value in values.items():
            yield tuple(map(label_text, row if isinstance(row, tuple) else (row,))), value
        return
    adapter = adapter_of(values)
    numbers = [column for column in adapter.names(values) if column not in levels]
    if len(numbers) != 1 or len(adapter.names(values)) != len(levels) + 1:
        required = f"a public table must have the columns {', '.join(levels)} and one column of numbers"
        raise WrongKind(required, came=", ".join(map(str, adapter.names(values))), where=f"given, {name!r}")
    columns = [list(adapter.column(values, level)) for level in levels]
    for *row, value in zip(*columns, list(adapter.column(values, numbers[0])), strict=True):
        yield tuple(map(label_text, row)), value
