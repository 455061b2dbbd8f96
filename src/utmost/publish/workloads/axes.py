"""Axes of a domain: a declared list of values each, with its coarsenings; plain lists, trees, ordered bins.

An axis says which values there are before anybody is counted, so that which values are published tells nothing of
anybody. Its **levels** are nested groupings of the values into runs, from the values themselves to coarser ones;
above all levels lies "all", the one group that holds every value.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotANumber, OutOfRange
from utmost.laws.exact import Number, checked, exact, exact_integer, frozen
from utmost.laws.exact.shown import Shown
from utmost.publish.workloads.tents import MARK, tent_count, tent_rows

Label = str | int
"""A value as it is declared and published: text or an integer. What reads as the same text is the same value."""

Edge = Fraction | float
"""The edge of a bin; -inf and inf at open ends."""

MOST_VALUES = 10**8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Axis(Shown):
    """One axis of a domain; made by `plain`, `hierarchy`, `bins`, or a list given to `Domain`.

    Attributes:
        levels: the names of its levels, the finest first. The finest names the column of events that holds the values;
            the empty text stands for the name that a domain gives.
        labels: of each level, the labels of its groups, in order.
        starts: of each level, where its groups begin among the values; a group ends where the next one begins.
        edges: of bins, their edges, ascending, one more than there are bins, the first and the last perhaps infinite;
            None for other axes.
        other: the label that takes in what is not declared; None where that is dropped.
        whole: of bins whose edges were listed, whether their labels are those of whole numbers; None elsewhere.
    """

    levels: tuple[str, ...]
    labels: tuple[tuple[Label, ...], ...] = field(repr=False)
    starts: tuple[NDArray[np.intp], ...] = field(repr=False)
    edges: tuple[Edge, ...] | None = field(default=None, repr=False)
    other: Label | None = None
    whole: bool | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.levels, self.labels, self.starts, self.edges, self.other, self.whole)

    @property
    def size(self) -> int:
        """How many values there are."""
        return len(self.labels[0])

    @property
    def blocks(self) -> tuple[int, ...] | None:
        """The values in each group, by level and then for "all"; None where groups of one level differ in size."""
        found = []
        for starts in self.starts:
            sizes = np.diff(starts, append=self.size)
            if (sizes != sizes[0]).any():
                return None
            found.append(int(sizes[0]))
        return (*found, self.size)

    def groups(self, level: int) -> int:
        """How many groups a level has; 1 for "all". Of -s, how many tents of spacing s there are."""
        if level < 0:
            return tent_count(self.size, -level)
        return len(self.labels[level]) if level < len(self.levels) else 1

    def level_name(self, level: int) -> str:
        """The name of a level; of -s, that of the tents of spacing s."""
        return self.levels[level] if level >= 0 else f"{self.levels[0]}{MARK}{-level}"

    def group_labels(self, level: int) -> tuple[Label, ...]:
        """The labels of a level's groups; of a tent, those of the first and the last value under it.

        >>> bins(4).group_labels(-3)
        ('0..0', '0..3', '2..3')
        """
        if level >= 0:
            return self.labels[level]
        under = (np.flatnonzero(row)[[0, -1]] for row in tent_rows(self.size, -level))
        return tuple("..".join(str(text_of(self.labels[0][end])) for end in ends) for ends in under)

    def group_starts(self, level: int) -> NDArray[np.intp]:
        """Where the groups of a level begin; [0] for "all"."""
        return self.starts[level] if level < len(self.levels) else np.zeros(1, dtype=np.intp)

    def group_of(self, level: int) -> NDArray[np.intp]:
        """Of each value, its group at a level."""
        starts = self.group_starts(level)
        return np.repeat(np.arange(len(starts), dtype=np.intp), np.diff(starts, append=self.size))

    def place(self, value: Any) -> int | None:
        """Where a value of the data stands among the values of the axis; None where it lies outside.

        >>> plain(["A", "B"]).place("B"), bins(0, 100, width=5).place(99.5), bins(10).place(10)
        (1, 19, None)
        """
        found = self._bin(value) if self.edges is not None else self._places.get(text_of(value))
        return self._places[text_of(self.other)] if found is None and self.other is not None else found

    @property
    def _places(self) -> dict[str | None, int]:
        return {text_of(label): place for place, label in enumerate(self.labels[0])}

    def _bin(self, value: Any) -> int | None:
        assert self.edges is not None, "only bins have edges"
        if isinstance(value, bool | np.bool_) or value is None:
            return None
        try:
            number = exact(value, "value")
        except NotANumber:
            return None
        found = bisect_right(self.edges, number) - 1
        return found if 0 <= found < len(self.edges) - 1 else None

    def named(self, name: str) -> "Axis":
        """The same axis with this name where its levels have none of their own."""
        return replace(self, levels=tuple(own if own[:1] not in ("", "/") else name + own for own in self.levels))


def _rebuilt(levels: Any, labels: Any, starts: Any, edges: Any, other: Any, whole: Any = None) -> Axis:
    return Axis(levels, labels, tuple(frozen(start.copy()) for start in starts), edges, other, whole)


def text_of(value: Any) -> str | None:
    """The text by which a value is known: integers and text agree; None for what is neither, or has too many digits.

    >>> text_of(7), text_of("7"), text_of(np.int64(7)), text_of(True), text_of(7.0)
    ('7', '7', '7', None, None)
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return str(int(value)) if abs(int(value)) < _LARGEST_SPELLED else None
    return None


_LARGEST_SPELLED = 10**4000  # Python spells no integer of more than 4300 digits


@checked
def plain(labels: Iterable[Label], *, other: Label | None = None) -> Axis:
    """An axis of listed values, in the order of the list.

    Args:
        labels: the values, text or integers, distinct as text.
        other: a label beside them that takes in whatever else the data hold; None, and that is dropped.

    Raises:
        OutOfRange: for an empty list, a value that is neither text nor an integer, and one that comes twice.

    >>> plain(["A", "B"], other="other").labels
    (('A', 'B', 'other'),)
    """
    declared = _distinct([*labels, *(() if other is None else (other,))])
    return Axis(("",), (declared,), (_run(range(len(declared))),), None, other)


@checked
def hierarchy(branches: Mapping[Label, Any], *, names: Sequence[str], other: Label | None = None) -> Axis:
    """An axis of values in groups, and groups in larger groups.

    Args:
        branches: of each group its groups, or at the finest level its list of values; all equally deep.
        names: the names of the levels, the coarsest first, as they are met on the way down.
        other: a label that takes in whatever else the data hold, a branch of its own at each level.

    Raises:
        OutOfRange: for branches that are not as deep as there are names, an empty one, and labels that come twice at
            one level.

    >>> place = hierarchy({"North": ["N1", "N2"], "South": ["S1"]}, names=["region", "district"])
    >>> place.levels, place.labels
    (('district', 'region'), (('N1', 'N2', 'S1'), ('North', 'South')))
    """
    depth = len(names)
    if depth < 2 or len(set(names)) < depth or not all(isinstance(name, str) and name for name in names):
        remedy = 'Pass names=["region", "district"], say, the coarsest first.'
        raise OutOfRange("a tree needs a name for each of its levels, two at least", came=names, remedy=remedy)
    grown: Mapping[Label, Any] = branches
    if other is not None:
        only: Any = [other]
        for _ in range(depth - 2):
            only = {other: only}
        grown = {**branches, other: only}
    labels: list[list[Label]] = [[] for _ in names]
    starts: list[list[int]] = [[] for _ in names]
    _descend(grown, 0, labels, starts)
    found = tuple(_distinct(row) for row in reversed(labels))
    return Axis(tuple(reversed(names)), found, tuple(_run(row) for row in reversed(starts)), None, other)


def _descend(branch: Any, depth: int, labels: list[list[Label]], starts: list[list[int]]) -> None:
    last = len(labels) - 1
    if isinstance(branch, Mapping) != (depth < last) or isinstance(branch, str) or not hasattr(branch, "__len__"):
        raise OutOfRange(
            f"every branch of the tree must be {last + 1} levels deep, with a list of values at its end",
            came=type(branch).__name__,
            where=f"level {depth + 1}",
        )
    if len(branch) == 0:
        raise OutOfRange("every branch of the tree must hold a value", came="an empty one", where=f"level {depth + 1}")
    for label in branch:
        starts[depth].append(len(labels[last]))
        labels[depth].append(label)
        if depth < last:
            _descend(branch[label], depth + 1, labels, starts)


@checked
def bins(
    low: Number | Sequence[Number | None],
    high: Number | None = None,
    *,
    width: Number = 1,
    fanout: int = 2,
    groups: Mapping[str, Sequence[Number | None]] | None = None,
    whole: bool | None = None,
    other: Label | None = None,
) -> Axis:
    """An ordered axis: bins of one width from ``low`` to ``high``, and runs of ``fanout`` bins, of fanout^2, ...; or
    bins between listed edges, as of age groups.

    A bin holds its lower edge and not its upper one. The runs are levels as long as they divide the bins evenly; the
    level of runs of 16 of the axis ``age`` is called ``age/16``.

    Args:
        low, high: the lowest and the highest edge; ``bins(n)`` is ``bins(0, n)``. Or in place of ``low`` all edges,
            ascending; None for the first or the last, and the bin there has no end.
        width: of one bin, > 0; it divides high - low.
        fanout: by how much the runs grow from level to level, >= 2.
        groups: of listed bins, coarser levels by name, the finest first: of each its edges, which are edges of the one
            before, from the first to the last.
        whole: of listed bins, whether the labels are those of whole numbers, "0 to 4" and "65+"; else they are
            "[0, 5)" and "[65, inf)". If left out, they are where all edges are whole. A value between two whole numbers
            counts with the lower one, as completed years do.
        other: a label for what lies outside, one more bin at the end, and then there are no runs; None, and it is
            dropped.

    Raises:
        OutOfRange, NotANumber: for edges that make no bins, or more than 10^8.

    >>> bins(0, 20, width=5).labels[0], bins(4).named("age").levels
    (('[0, 5)', '[5, 10)', '[10, 15)', '[15, 20)'), ('age', 'age/2'))
    >>> age = bins([0, 5, 15, 25, 65, None], groups={"working age": [0, 15, 65, None]})
    >>> age.labels
    (('0 to 4', '5 to 14', '15 to 24', '25 to 64', '65+'), ('0 to 14', '15 to 64', '65+'))
    """
    if isinstance(low, Sequence) and not isinstance(low, str):
        if high is not None or (width, fanout) != (1, 2):
            raise OutOfRange("listed edges are all that there is to say of bins", remedy="Leave out high= and width=.")
        return _listed(low, groups or {}, whole, other)
    if groups is not None or whole is not None:
        raise OutOfRange("groups= and whole= are of bins whose edges are listed", remedy="Pass a list of edges.")
    bottom, top = (exact(0), exact(low, "low")) if high is None else (exact(low, "low"), exact(high, "high"))
    step = exact(width, "width")
    count = (top - bottom) / step if step > 0 else Fraction(0)
    if count.denominator != 1 or not 1 <= count <= MOST_VALUES:
        raise OutOfRange(
            f"the bins must be 1 to {MOST_VALUES} of one width, from the lowest edge to the highest",
            came=f"{count} from {bottom} to {top}",
            remedy="Choose edges whose distance is a multiple of width=.",
        )
    if exact_integer(fanout, "fanout") < 2:
        raise OutOfRange("fanout must be at least 2", came=fanout)
    edges = tuple(bottom + step * place for place in range(int(count) + 1))
    runs = [1]
    while other is None and runs[-1] * fanout < count and count % (runs[-1] * fanout) == 0:
        runs.append(runs[-1] * fanout)
    labels = [tuple(_bin_label(edges[i], edges[i + run]) for i in range(0, int(count), run)) for run in runs]
    if other is not None:
        labels[0] = _distinct([*labels[0], other])
    names = tuple("" if run == 1 else f"/{run}" for run in runs)
    return Axis(names, tuple(labels), tuple(_run(range(0, len(labels[0]), run)) for run in runs), edges, other)


def _listed(
    edges: Sequence[Number | None],
    groups: Mapping[str, Sequence[Number | None]],
    whole: bool | None,
    other: Label | None,
) -> Axis:
    """Bins between listed edges, and their groups."""
    read = _edges(edges, "bins")
    finite = [edge for edge in read if isinstance(edge, Fraction)]
    is_whole = all(edge.denominator == 1 for edge in finite) if whole is None else whole
    if is_whole and any(edge.denominator != 1 for edge in finite):
        raise OutOfRange("bins of whole numbers must have whole edges", came="others", where="whole")
    if groups and other is not None:
        raise OutOfRange("bins in groups have no label for what lies outside", where="other", remedy="Leave it out.")
    levels, before = [("", read)], read
    for name, coarse in groups.items():
        among = _edges(coarse, name)
        if not set(among) <= set(before) or (among[0], among[-1]) != (read[0], read[-1]):
            required = "the edges of groups must be edges of the level below, from the first to the last"
            raise OutOfRange(required, came="others", where=repr(name))
        levels.append((name, among))
        before = among
    name_bin = _whole_label if is_whole else _open_label
    labels = [tuple(name_bin(low, high) for low, high in pairwise(ends)) for _, ends in levels]
    if other is not None:
        labels[0] = _distinct([*labels[0], other])
    starts = [_run(read.index(edge) for edge in ends[:-1]) for _, ends in levels]
    if other is not None:
        starts[0] = _run(range(len(labels[0])))
    return Axis(tuple(name for name, _ in levels), tuple(labels), tuple(starts), read, other, is_whole)


def _edges(listed: Sequence[Number | None], where: str) -> tuple[Edge, ...]:
    """Listed edges, read; None only where an end is open."""
    last = len(listed) - 1
    read: list[Edge] = []
    for at, edge in enumerate(listed):
        if edge is None and at in (0, last):
            read.append(-inf if at == 0 else inf)
        else:
            read.append(exact(edge, "edge"))
    ascends = all(low < high for low, high in pairwise(read))
    if not ascends or not 2 <= len(read) <= MOST_VALUES + 1 or not any(isinstance(edge, Fraction) for edge in read):
        required = "edges must be listed ascending, two at least, None only for the first and the last"
        raise OutOfRange(required, came="others", where=repr(where))
    return tuple(read)


def _whole_label(low: Edge, high: Edge) -> Label:
    if low == -inf:
        return f"under {high}"
    if high == inf:
        return f"{low}+"
    return int(low) if high - low == 1 else f"{low} to {high - 1}"


def _open_label(low: Edge, high: Edge) -> Label:
    return f"({low}, {high})" if low == -inf else f"[{low}, {high})"


def _bin_label(low: Fraction, high: Fraction) -> Label:
    return int(low) if low.denominator == 1 and high - low == 1 else f"[{low}, {high})"


def _distinct(labels: Sequence[Any]) -> tuple[Label, ...]:
    texts = [text_of(label) for label in labels]
    if not labels or None in texts or len(set(texts)) < len(texts) or "" in texts:
        wrong = "none" if not labels else "a label twice" if None not in texts and "" not in texts else "another label"
        raise OutOfRange(
            "the values of an axis must be distinct, text or integers, at least one",
            came=wrong,
            remedy="Write dates and truth values as text.",
        )
    return tuple(label if isinstance(label, str) else int(label) for label in labels)


def _run(starts: Iterable[int]) -> NDArray[np.intp]:
    return frozen(np.fromiter(starts, dtype=np.intp))
