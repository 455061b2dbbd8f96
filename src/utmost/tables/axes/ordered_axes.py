"""Ordered axes: bins of one width, and bins between listed edges, such as age groups."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

from utmost.core.exact.arguments import instance, integer, mapping, optional, truth, wrong_kind
from utmost.core.exact.display import brief
from utmost.core.exact.numbers import Number, exact, written_number
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import (
    MOST_VALUES,
    Axis,
    Edge,
    Label,
    label_text,
    named_column,
    outside_label,
    with_outside_labels,
)
from utmost.tables.axes.clock import Clock
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

BinEdges = Sequence[Number | None]
Grouped = Mapping[Any, Iterable[Any]]
"""A mapping from the label of each group to the labels in that group."""

DeclaredGroups = Mapping[str, BinEdges | Grouped]
Ends = Mapping[str, Label | None]
"""The labels "below", "above", "other" and "missing"; None if there is no such group."""


def bins(
    low: Number,
    high: Number | None = None,
    *,
    width: Number = 1,
    fanout: int | None = None,
    groups: DeclaredGroups | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    below: Label | None = None,
    above: Label | None = None,
    other: Label | None = None,
    missing: Label | None = None,
    column: str | None = None,
) -> Axis:
    """An ordered axis: bins of one width from ``low`` to ``high``, and runs of ``fanout`` bins, of ``fanout``^2 bins,
    and so on.

    A bin contains its lower edge, but not its upper edge. The runs of one length are a level of the axis if this length
    divides the number of bins. The level of runs of 16 on the axis ``age`` is called ``age/16``. See `edges` for bins
    of several widths.

    Args:
        low, high: Lowest and highest edge; ``bins(n)`` means ``bins(0, n)``.
        width: Width of one bin, > 0, which divides high - low.
        fanout: Factor by which the runs grow from level to level, >= 2; by default 2.
        groups: Dict from names to coarser levels, the finest first, in place of runs; see `edges`.
        spelling: Marks of the column, if they differ from those of the whole table, see `Spelling`.
        below, above: Labels of an additional bin for all numbers below the lowest edge, and of one for all numbers from
            the highest edge on.
        other: Label for all other values, an additional bin at the end; the axis then has no runs. If None, other
            values are left out.
        missing: Label for missing cells, an additional bin at the end, which is a separate group at every level; if
            None, they count as ``other``, or are left out.
        column: Events' column that has the numbers; by default the column with the name of the axis.

    Raises:
        OutOfRange, NotANumber: if the edges and the width make no bins, or more than 10^8.

    >>> bins(0, 20, width=5).labels[0], bins(4).named("age").levels
    (('[0, 5)', '[5, 10)', '[10, 15)', '[15, 20)'), ('age', 'age/2'))
    >>> bins(15, 25, width=5, below="under 15", above="25 or more", missing="not stated").labels[0]
    ('under 15', '[15, 20)', '[20, 25)', '25 or more', 'not stated')
    >>> bins(0, 10, groups={"band": {"0-4": range(5), "5-9": range(5, 10)}}).labels[1]
    ('0-4', '5-9')
    """
    if isinstance(low, Sequence) and not isinstance(low, str):
        raise wrong_kind("low", "the lowest edge (ut.workloads.edges takes a list of edges)", low)
    ends = _ends(below, above, other, missing)
    spelling, growth = instance(spelling, Spelling, "spelling"), 2 if fanout is None else integer(fanout, "fanout")
    bottom, top = (exact(0), exact(low, "low")) if high is None else (exact(low, "low"), exact(high, "high"))
    step = exact(width, "width")
    count = (top - bottom) / step if step > 0 else Fraction(0)
    if count.denominator != 1 or not 1 <= count <= MOST_VALUES:
        raise OutOfRange(
            f"the width must divide the range into 1 to {MOST_VALUES} bins",
            came=f"{brief(count)} bins from {brief(bottom)} to {brief(top)}",
            remedy="Choose a width that divides the distance from the lowest to the highest edge.",
        )
    if growth < 2:
        raise OutOfRange("fanout must be at least 2", came=growth, remedy="Leave out fanout=.")
    finest = tuple(bottom + step * place for place in range(int(count) + 1))
    if groups is not None:
        if fanout is not None:
            raise OutOfRange(
                "only one of groups= and fanout= may be given",
                came="both",
                remedy="Leave out one of them.",
            )
        return _listed(finest, mapping(groups, "groups"), None, ends, spelling, column)
    runs = [1]
    while ends["other"] is None and runs[-1] * growth < count and count % (runs[-1] * growth) == 0:
        runs.append(runs[-1] * growth)
    levels = [("" if run == 1 else f"/{run}", finest[::run]) for run in runs]
    return ordered_axis([(name, among, bin_label) for name, among in levels], ends, spelling, column=column)


def edges(
    listed: BinEdges,
    *,
    whole: bool | None = None,
    groups: DeclaredGroups | None = None,
    spelling: Spelling = PLAIN_SPELLING,
    below: Label | None = None,
    above: Label | None = None,
    other: Label | None = None,
    missing: Label | None = None,
    column: str | None = None,
) -> Axis:
    """An ordered axis: bins between listed edges, such as age groups.

    A bin contains its lower edge, but not its upper edge.

    Args:
        listed: All edges, ascending. If the first or the last edge is None, the bin has no end on that side.
        whole: Whether the labels are those of integers, such as "0 to 4" and "65+"; otherwise they are "[0, 5)" and
            "[65, inf)". By default, ``whole`` is True if all edges are integers. If ``whole`` is True, all cells must
            be integers; for decimals pass False.
        groups: Dict from names to coarser levels, the finest first. A level is a list of its edges, which must be edges
            of the level before and include its first and last edge; or a mapping from the label of each group to the
            labels of neighbours on the level before: ``{"0-4": [0, 1, 2, 3, 4], "5-9": range(5, 10)}``.
        spelling, below, above, other, missing, column: Arguments of `bins`.

    Raises:
        OutOfRange, NotANumber: if the edges do not ascend, or if the groups are invalid.

    >>> age = edges([0, 5, 15, 25, 65, None], groups={"working age": [0, 15, 65, None]})
    >>> age.labels
    (('0 to 4', '5 to 14', '15 to 24', '25 to 64', '65+'), ('0 to 14', '15 to 64', '65+'))
    """
    if isinstance(listed, str) or not isinstance(listed, Sequence):
        raise wrong_kind("edges", "a list of numbers, with None for an open end", listed)
    whole = optional(whole, truth, "whole")
    named = {} if groups is None else mapping(groups, "groups")
    ends = _ends(below, above, other, missing)
    return _listed(listed, named, whole, ends, instance(spelling, Spelling, "spelling"), column)


def _ends(below: Label | None, above: Label | None, other: Label | None, missing: Label | None) -> Ends:
    """Read the labels of the groups that are added to the listed bins."""
    named = {"below": below, "above": above, "other": other, "missing": missing}
    return {name: outside_label(label, name) for name, label in named.items()}


LabelOf = Callable[[Edge, Edge], Label]
"""A function from the edges of a group to its label."""

Levels = Sequence[tuple[str, Sequence[Edge], LabelOf]]
"""Name, edges and labels of each level, the finest first."""


def ordered_axis(
    levels: Levels,
    ends: Ends,
    spelling: Spelling,
    *,
    whole: bool | None = None,
    clock: Clock | None = None,
    column: str | None = None,
) -> Axis:
    """Make an axis in the order of its edges, from levels that each have edges among those of the level before."""
    labels, starts = list[tuple[Label, ...]](), list[list[int]]()
    finest = _with_ends(levels[0][1], ends)
    place_of = {edge: place for place, edge in enumerate(finest)}
    for _, edges, label_of in levels:
        outer = _with_ends(edges, ends)
        labels.append(
            tuple(_end_label(low, high, finest, ends) or label_of(low, high) for low, high in pairwise(outer))
        )
        starts.append([place_of[edge] for edge in outer[:-1]])
    shown, runs = with_outside_labels(labels, starts, ends["other"], ends["missing"])
    names, outside = tuple(name for name, _, _ in levels), (ends["other"], whole, ends["missing"])
    return Axis(names, shown, runs, finest, *outside, clock, spelling=spelling, column=named_column(column))


def _with_ends(edges: Sequence[Edge], ends: Ends) -> tuple[Edge, ...]:
    low = (-inf,) if ends["below"] is not None and edges[0] != -inf else ()
    return (*low, *edges, *((inf,) if ends["above"] is not None and edges[-1] != inf else ()))


def _end_label(low: Edge, high: Edge, finest: Sequence[Edge], ends: Ends) -> Label | None:
    """The label of a bin that is open on one side, or None for other bins, and for groups that contain more than that
    bin.
    """
    if low == -inf and high == finest[1]:
        return ends["below"]
    return ends["above"] if high == inf and low == finest[-2] else None


def _listed(
    edges: BinEdges, groups: DeclaredGroups, whole: bool | None, ends: Ends, spelling: Spelling, column: str | None
) -> Axis:
    """Make an axis of bins between listed edges, with groups of bins as further levels."""
    finest = _edges(edges, "edges")
    finite = [edge for edge in finest if isinstance(edge, Fraction)]
    is_whole = all(edge.denominator == 1 for edge in finite) if whole is None else whole
    if is_whole and any(edge.denominator != 1 for edge in finite):
        raise OutOfRange("with whole=True all edges must be integers", came="fractions", remedy="Leave out whole=.")
    label_of = whole_label if is_whole else open_label
    levels: list[tuple[str, Sequence[Edge], LabelOf]] = [("", finest, label_of)]
    for name, coarse in groups.items():
        _, before, label_below = levels[-1]
        if isinstance(coarse, Mapping):
            # The labels of the level below, in the form that the axis will show.
            below = [_end_label(low, high, finest, ends) or label_below(low, high) for low, high in pairwise(before)]
            levels.append((name, *_grouped(coarse, below, before, name)))
            continue
        among = _edges(coarse, name)
        if not set(among) <= set(before) or (among[0], among[-1]) != (finest[0], finest[-1]):
            required = "the edges of groups must be edges of the level below, including its first and its last edge"
            remedy = "Choose the edges of groups from the edges of the bins, including the first and the last edge."
            raise OutOfRange(required, came="other edges", where=repr(name), remedy=remedy)
        levels.append((name, among, label_of))
    return ordered_axis(levels, ends, spelling, whole=is_whole, column=column)


def _grouped(
    groups: Grouped, below: Sequence[Label], edges: Sequence[Edge], name: str
) -> tuple[Sequence[Edge], LabelOf]:
    """Read groups with lists of members. Return the edges of the groups in the order of the axis, and a function from
    edges to labels.
    """
    place_of = {label_text(label): place for place, label in enumerate(below)}
    runs = list[tuple[int, int, str]]()
    for label, members in groups.items():
        places = [place_of.get(label_text(member)) for member in members]
        there = sorted(place for place in places if place is not None)
        if not there or len(there) < len(places) or there != list(range(there[0], there[0] + len(there))):
            required = "each group must consist of neighbouring labels of the level below"
            remedy = f"The labels are {', '.join(map(str, [*place_of][:12]))}{', ...' * (len(place_of) > 12)}."
            raise OutOfRange(required, came=repr(label), where=repr(name), remedy=remedy)
        runs.append((there[0], there[-1] + 1, str(label_text(label))))
    runs.sort()
    starts, stops = [first for first, _, _ in runs], [last for _, last, _ in runs]
    # Each group must begin at the end of the one before.
    if starts != [0, *stops[:-1]] or stops[-1:] != [len(place_of)]:
        required = "every label of the level below must be in exactly one group"
        remedy = f"The labels are {', '.join(map(str, [*place_of][:12]))}{', ...' * (len(place_of) > 12)}."
        raise OutOfRange(required, came="a label in two groups, or in none", where=repr(name), remedy=remedy)
    named = {edges[first]: label for first, _, label in runs}
    return [*(edges[first] for first in starts), edges[-1]], lambda low, _: named[low]


def _edges(listed: BinEdges, where: str) -> tuple[Edge, ...]:
    """Read listed edges; None is allowed only for an open end."""
    last = len(listed) - 1
    edges: list[Edge] = []
    for at, edge in enumerate(listed):
        if edge is None and at in (0, last):
            edges.append(-inf if at == 0 else inf)
        else:
            edges.append(written_number(edge, "edge"))
    ascends = all(low < high for low, high in pairwise(edges))
    if not ascends or not 2 <= len(edges) <= MOST_VALUES + 1 or not any(isinstance(edge, Fraction) for edge in edges):
        required = "edges must be at least two ascending numbers, with None only as the first or the last"
        raise OutOfRange(
            required, came="other values", where=repr(where), remedy="Pass, for example, [0, 18, 65, None]."
        )
    return tuple(edges)


def whole_label(low: Edge, high: Edge) -> Label:
    """The label of a bin of integers: 7, "0 to 4", "under 5", "65+"."""
    if low == -inf:
        return f"under {high}"
    if high == inf:
        return f"{low}+"
    return int(low) if high - low == 1 else f"{low} to {high - 1}"


def open_label(low: Edge, high: Edge) -> Label:
    """The label of a bin of reals: "[0, 5)"."""
    return f"({low}, {high})" if low == -inf else f"[{low}, {high})"


_ENDS = re.compile(
    r"(?P<one>-?\d+)|(?P<first>-?\d+) to (?P<last>-?\d+)|under (?P<under>\S+)|(?P<over>\S+)\+"
    r"|[\[(](?P<low>[^\s,]+), (?P<high>[^\s,]+)\)"
)


def bin_ends(label: str) -> tuple[Edge, Edge] | None:
    """The edges of a bin from a label that this module made, or None for other labels.

    >>> bin_ends("18 to 64"), bin_ends("[1/2, inf)"), bin_ends("North")
    ((Fraction(18, 1), Fraction(65, 1)), (Fraction(1, 2), inf), None)
    """
    found = _ENDS.fullmatch(label)
    if found is None:
        return None
    try:
        if found["one"] is not None:
            return Fraction(found["one"]), Fraction(found["one"]) + 1
        if found["first"] is not None:
            return Fraction(found["first"]), Fraction(found["last"]) + 1
        low, high = found["over"] or found["low"], found["under"] or found["high"]
        return -inf if low in (None, "-inf") else Fraction(low), inf if high in (None, "inf") else Fraction(high)
    except ValueError:
        return None


def bin_label(low: Edge, high: Edge) -> Label:
    """The label of a bin: an integer if the bin contains exactly one integer."""
    return int(low) if isinstance(low, Fraction) and low.denominator == 1 and high - low == 1 else f"[{low}, {high})"
