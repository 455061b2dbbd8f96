"""The domain of a table: a product of axes, and its cells.

A **marginal** has one level of each axis. The groups of a marginal partition the cells, and the sums over these
groups are one table, such as counts by department and sex, counts by department, or the total count. Every sum of a
table is a sum of cells.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import reduce
from itertools import product
from keyword import iskeyword
from math import inf, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.arrays import frozen, unpickler, with_room_for
from utmost.core.exact.display import LONGEST, Display, brief, few
from utmost.errors import OutOfRange, WrongKind
from utmost.tables.axes.axes import Axis, Label, label_text, plain
from utmost.tables.axes.axis_facts import axis_facts, axis_of_facts
from utmost.tables.axes.few_cells import FewCells, check_laid
from utmost.tables.axes.hat_functions import DIFFERENCE, hat_spread, hat_sums
from utmost.tables.axes.listed_keys import listed

Marginal = tuple[int, ...]
"""A level for each axis: 0 for the finest, the number of levels for "all", and -s for hat functions of spacing s."""

Where = Mapping[str, Any]
"""The cells that a sum adds up: a mapping from the name of a level to a label, a slice of edges, or a list of these."""

_MOST_WRITTEN = 60
"""The repr of a domain with more values than this does not list them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Domain(Display):
    """A product of declared axes.

    Args:
        axes, named: Axes: a mapping from names to axes, or a keyword for each axis. An axis is a list of values, a type
            that lists them (pandas' CategoricalDtype, Polars' Enum), or the result of `plain`, `hierarchy`, `bins`,
            `edges`, `ages`, `periods` or `listed`. A domain without axes has one cell, the total.

    Raises:
        OutOfRange, WrongKind: if two axes have a level of the same name, or if a value is no axis.

    Cost: memory for the axes only, since no cell is stored.

    >>> domain = Domain(department=list("AB"), sex=["men", "women"])
    >>> domain.shape, domain.size, [domain.marginal_name(marginal) for marginal in domain.marginals()]
    ((2, 2), 4, ['department sex', 'department', 'sex', ''])
    """

    axes: tuple[Axis, ...]

    def __init__(self, axes: Mapping[str, Any] | None = None, /, **named: Any) -> None:
        if not isinstance(axes, Mapping | None):
            raise wrong_kind("axes", "a mapping of axes by name", axes)
        named_axes = {**({} if axes is None else axes), **named}
        read_axes = tuple(_read_axis(name, axis) for name, axis in named_axes.items())
        names = [name for axis in read_axes for name in axis.levels]
        if len(set(names)) < len(names):
            came = f"a name twice among {', '.join(names)}"
            raise OutOfRange("the levels of a domain must have distinct names", came=came)
        object.__setattr__(self, "axes", read_axes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _domain, (self.axes,)

    def __repr__(self) -> str:
        """A call that creates the domain if that fits on one line, else the number of values of each axis."""
        if sum(self.shape) <= _MOST_WRITTEN:
            facts = self.facts()
            is_plain = all(isinstance(axis, list) for axis in facts.values())
            is_named = is_plain and all(name.isidentifier() and not iskeyword(name) for name in facts)
            words = ", ".join(f"{name}={axis!r}" for name, axis in facts.items()) if is_named else repr(facts)
            text = f"Domain({words})" if is_plain else f"Domain.of_facts({words})"
            if len(text) <= LONGEST and text.isprintable():
                return text
        sizes = [f"{brief(axis.levels[0])}: {axis.size} values" for axis in self.axes]
        texts = (f"Domain({few(sizes, most)})" for most in range(9, 0, -1))
        return next((text for text in texts if len(text) <= LONGEST), f"Domain({len(sizes)} axes)")

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the axes, which are the names of their finest levels."""
        return tuple(axis.levels[0] for axis in self.axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis."""
        return tuple(axis.size for axis in self.axes)

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    @property
    def finest(self) -> Marginal:
        """The marginal whose groups are single cells."""
        return (0,) * len(self.axes)

    def marginals(self) -> Iterator[Marginal]:
        """Yield every marginal, from the single cells to the total."""
        return product(*(range(len(axis.levels) + 1) for axis in self.axes))

    def marginal(self, name: str | Sequence[str] | Marginal) -> Marginal:
        """The marginal with these levels, in any order. Other axes are summed over; the marginal without levels is the
        total.

        Args:
            name: Names of levels, as a list or as one text with spaces between them; or a marginal, which is returned.

        Raises:
            OutOfRange: if a level is unknown, or if two levels belong to one axis.

        >>> from utmost.workloads import hierarchy
        >>> place = hierarchy({"N": ["N1"]}, names=["region", "district"])
        >>> Domain(place=place, sex=["men", "women"]).marginal("sex region")
        (1, 0)
        """
        tops = [len(axis.levels) for axis in self.axes]
        if isinstance(name, tuple) and len(name) == len(tops):
            numbers: tuple[Any, ...] = name
            if all(type(level) is int and 0 <= level <= top for level, top in zip(numbers, tops, strict=True)):
                return numbers
        levels_taken = [*tops]
        words: Any = name
        if isinstance(name, str):
            words = (name,) if name in self._levels else words_in(name, self._levels.__contains__)
        elif not isinstance(name, Sequence):
            raise wrong_kind("a table", "the names of its levels", name)
        elif len(name) > _MOST_NAMES:
            raise OutOfRange(f"a table must name at most {_MOST_NAMES} levels", came=len(name))
        for word in words:
            axis, level = self.level_named(word)
            if levels_taken[axis] < tops[axis]:
                raise OutOfRange(
                    "a table must name at most one level of each axis",
                    came=f"{word!r} and another level of its axis",
                    remedy=f"Leave out {word!r}, or the other level.",
                )
            levels_taken[axis] = level
        return tuple(levels_taken)

    def marginal_name(self, marginal: Marginal) -> str:
        """The names of a marginal's levels, with spaces between them; the empty text for the total."""
        return " ".join(self.level_names(marginal))

    def level_names(self, marginal: Marginal) -> tuple[str, ...]:
        """The names of a marginal's levels, one for each axis that it does not sum over."""
        return tuple(axis.level_name(level) for axis, level in self._kept(marginal))

    def label_columns(self, marginal: Marginal) -> tuple[str, ...]:
        """The names of the columns with the labels of a marginal's groups. Listed keys have several columns."""
        return tuple(name for axis, level in self._kept(marginal) for name in axis.label_columns(level))

    def level_named(self, name: str) -> tuple[int, int]:
        """The index of the axis, and the index of the axis' level, with this name.

        Raises:
            OutOfRange: if no level has this name.
        """
        if not isinstance(name, str) or name not in self._levels:
            near = get_close_matches(name, self._levels, n=1) if isinstance(name, str) else []
            near = [self.period_names[name]] if name in self.period_names else near
            remedy = f"Did you mean {near[0]!r}?" if near else f"Its levels are {', '.join(self._levels)}."
            if any(axis.clock is not None and str(name).startswith(f"{axis.levels[0]}/") for axis in self.axes):
                remedy += " Longer periods are levels only if the axis begins and ends with whole ones."
            came = repr(name) if isinstance(name, str) else type(name).__name__
            raise OutOfRange("the domain must have a level of the given name", came=came, remedy=remedy)
        return self._levels[name]

    @property
    def period_names(self) -> dict[str, str]:
        """Map each kind of period, such as "month", to the name of the level with periods of this kind.

        A kind is left out if several levels have periods of this kind, or if any level of the domain has the name of
        the kind.

        >>> from utmost.workloads import periods
        >>> Domain(date=periods("2025", "2027", every="month")).period_names
        {'month': 'date', 'quarter': 'date/quarter', 'year': 'date/year'}
        """
        found: dict[str, list[str]] = {}
        for axis in self.axes:
            if axis.clock is not None:
                for name in axis.levels:
                    kind = name.removeprefix(f"{axis.levels[0]}/") if name != axis.levels[0] else str(axis.clock.period)
                    found.setdefault(kind, []).append(name)
        return {kind: names[0] for kind, names in found.items() if len(names) == 1 and kind not in self._levels}

    def group_shape(self, marginal: Marginal) -> tuple[int, ...]:
        """The number of groups of a marginal on each axis: 1 for an axis that it sums over."""
        return tuple(axis.groups(level) for axis, level in zip(self.axes, marginal, strict=True))

    def is_of_cells(self, marginal: Marginal) -> bool:
        """Whether each group of a marginal is one cell."""
        return min(marginal, default=0) >= 0 and prod(self.group_shape(marginal)) == self.size

    def group_labels(self, marginal: Marginal) -> dict[str, list[Label]]:
        """The labels of a marginal's groups as columns, one row for each group.

        Raises:
            Unsupported: if there are more than 2^28 groups.

        >>> Domain(department=["A", "B"], sex=["men", "women"]).group_labels((0, 0))
        {'department': ['A', 'A', 'B', 'B'], 'sex': ['men', 'women', 'men', 'women']}
        """
        columns = [axis.label_columns(level) for axis, level in self._kept(marginal)]
        sizes = [len(next(iter(labels.values()))) for labels in columns]
        check_laid(prod(sizes))
        groups = np.indices(sizes).reshape(len(sizes), prod(sizes))
        return {
            name: [values[group] for group in groups[place].tolist()]
            for place, labels in enumerate(columns)
            for name, values in labels.items()
        }

    def sums(self, cells: NDArray[Any] | FewCells, marginal: Marginal) -> NDArray[Any]:
        """The sums over a marginal's groups, of shape `group_shape`, from an array with one number for each cell.

        The type of the array must be able to represent every sum of cells. Sums under hat functions become Python ints
        if necessary. For `FewCells` the sums are one row, and no array of all cells is made.
        """
        if isinstance(cells, FewCells):
            return cells.sums(self.axes, marginal)
        sums = cells.reshape(self.shape)
        for place, (axis, level) in enumerate(zip(self.axes, marginal, strict=True)):
            if level == DIFFERENCE:
                sums = -np.diff(sums, axis=place)
            elif level < 0:
                roomy = with_room_for(sums, -level * self.size) if sums.dtype.kind in "iu" else sums
                sums = hat_sums(roomy, -level, place)
            elif level > 0:
                sums = np.add.reduceat(sums, axis.group_starts(level), axis=place)
        return sums

    def spread(self, groups: NDArray[Any], marginal: Marginal) -> NDArray[Any]:
        """The transpose of `sums`: each cell gets the value of its group in ``groups``."""
        numbers = groups.reshape(self.group_shape(marginal))
        for place, (axis, level) in enumerate(zip(self.axes, marginal, strict=True)):
            if level < 0:
                numbers = hat_spread(numbers, axis.size, -level, place)
            elif level > 0:
                numbers = np.take(numbers, axis.group_of(level), axis=place)
        return numbers

    def selection(self, where: Where) -> tuple[NDArray[np.bool_], ...]:
        """The values of each axis that belong to a sum, as masks. All values of an axis without a condition belong to
        the sum.

        Args:
            where: Mapping from names of levels to conditions. A condition is a label; for bins and periods a slice of
                edges, ``slice(20, 40)`` or ``slice("2013-05", "2014")``; or a list of these.

        Raises:
            OutOfRange: if a label is not declared, or if a slice does not begin and end at edges of bins.

        >>> from utmost.workloads import bins
        >>> [taken.tolist() for taken in Domain(age=bins(4), sex=["men", "women"]).selection({"age": slice(1, 3)})]
        [[False, True, True, False], [True, True]]
        >>> Domain(age=bins(4)).selection({"age": [slice(0, 2), "3"]})[0].tolist()
        [True, True, False, True]
        """
        if not isinstance(where, Mapping):
            raise wrong_kind("where", "a mapping from names of levels to labels", where)
        taken = [np.ones(axis.size, dtype=bool) for axis in self.axes]
        for name, wanted in where.items():
            place, level = self.level_named(name)
            taken[place] &= _selected_values(self.axes[place], level, wanted, name)
        return tuple(frozen(row) for row in taken)

    @classmethod
    def listed(cls, rows: Any, *, names: Sequence[str] | None = None, other: Label | None = None) -> "Domain":
        """The domain of a list of keys of several columns, with one cell for each key. The arguments are those of the
        function `utmost.workloads.listed`.

        >>> keys = [("enwiki", "Main"), ("enwiki", "Paris"), ("frwiki", "Paris")]
        >>> pages = Domain.listed(keys, names=["wiki", "page"])
        >>> pages.size, [pages.marginal_name(marginal) for marginal in pages.marginals()]
        (3, ['page', 'wiki', ''])
        >>> pages.selection({"page": "Paris"})[0].tolist()
        [False, True, True]
        """
        axis = listed(rows, names=names, other=other)
        return cls({axis.levels[0]: axis})

    def facts(self) -> dict[str, Any]:
        """The domain as JSON values, for `of_facts`."""
        return {name: axis_facts(axis) for name, axis in zip(self.columns, self.axes, strict=True)}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Domain":
        """Read a domain from JSON values.

        Each axis is a list of values, or a mapping: ``{"values": [...]}``, ``{"tree": {...}, "names": [...]}``,
        ``{"bins": [low, high], "width": 5}``, ``{"edges": [...]}``, ``{"ages": [...], "on": "2025-01-01", "column":
        "born"}``, ``{"months": [start, stop]}``, ``{"periods": [start, stop], "every": "2 weeks"}`` or ``{"listed":
        [[...], ...], "names": [...]}``,
        each optionally with ``"other"``, ``"missing"`` and the other arguments of the function that creates the axis.

        Raises:
            OutOfRange, WrongKind: if the values describe no domain.

        >>> Domain.of_facts({"age": {"bins": [0, 100], "width": 10}, "sex": ["men", "women"]}).shape
        (10, 2)
        """
        if not isinstance(facts, Mapping):
            raise WrongKind("a domain must be a mapping from names to axes", came=type(facts).__name__)
        return cls({name: axis_of_facts(name, axis) for name, axis in facts.items()})

    def narrowed(self, places: Sequence[NDArray[np.intp]]) -> "Domain":
        """The domain with only the values at the given positions of each axis.

        >>> Domain(sex=["men", "women"], age=range(3)).narrowed([np.array([0]), np.array([0, 1, 2])])
        Domain(sex=['men'], age=[0, 1, 2])
        """
        return Domain({axis.levels[0]: axis.narrowed(at) for axis, at in zip(self.axes, places, strict=True)})

    def places_of(self, narrowed: "Domain") -> list[NDArray[np.intp]] | None:
        """The positions for which `narrowed` returns the given domain, one array for each axis, or None if there are no
        such positions.
        """
        if narrowed.columns != self.columns:
            return None
        places = []
        for axis, own in zip(self.axes, narrowed.axes, strict=True):
            known = {label: place for place, label in enumerate(axis.labels[0])}
            if not set(own.labels[0]) <= set(known):
                return None
            places.append(np.sort(np.array([known[label] for label in own.labels[0]], dtype=np.intp)))
            if not axis.can_narrow(places[-1]):
                return None
        return places if self.narrowed(places).same_as(narrowed) else None

    def same_as(self, other: "Domain") -> bool:
        """Whether another domain has the same axes, with the same labels, in the same order."""
        return json.dumps(self.facts()) == json.dumps(other.facts())

    @property
    def _levels(self) -> dict[str, tuple[int, int]]:
        return {name: (a, level) for a, axis in enumerate(self.axes) for level, name in enumerate(axis.levels)}

    def _kept(self, marginal: Marginal) -> list[tuple[Axis, int]]:
        return [(axis, level) for axis, level in zip(self.axes, marginal, strict=True) if level < len(axis.levels)]


def words_in(text: str, is_word: Callable[[str], bool]) -> Iterator[str]:
    """Split a text at spaces into words. A known word may contain spaces, and the longest known word is chosen."""
    words = text.split()
    while words:
        end = next((end for end in range(len(words), 0, -1) if is_word(" ".join(words[:end]))), 1)
        yield " ".join(words[:end])
        words = words[end:]


def with_level(marginal: Marginal, place: int, level: int) -> Marginal:
    """Replace the level of one axis in a marginal, which has a level for each axis."""
    return (*marginal[:place], level, *marginal[place + 1 :])


def finest_common(marginals: Iterable[Marginal]) -> Marginal:
    """The coarsest marginal whose sums determine the sums of all given marginals."""
    return reduce(lambda finer, marginal: tuple(map(min, finer, marginal)), marginals)


def is_finer(finer: Marginal, coarser: Marginal) -> bool:
    """Whether each group of ``finer`` lies in a group of ``coarser``. A marginal counts as finer than itself."""
    return all(fine <= coarse for fine, coarse in zip(finer, coarser, strict=True))


@unpickler
def _domain(axes: tuple[Axis, ...]) -> Domain:
    return Domain({axis.levels[0]: axis for axis in axes})


def _read_axis(name: str, axis: Any) -> Axis:
    if not isinstance(name, str) or not name or not name.isprintable() or name != name.strip():
        raise OutOfRange("an axis must be named by printable text", came=repr(name))
    if isinstance(axis, Axis):
        return axis.named(name)
    if getattr(axis, "categories", None) is not None:  # a categorical type of pandas, an Enum of Polars
        labels: list[Any] = [
            label if isinstance(label, Label | np.generic) else label_text(label) for label in axis.categories
        ]
        return plain(labels).named(name)
    if isinstance(axis, str | Mapping) or not hasattr(axis, "__iter__"):
        remedy = (
            "Create a tree with ut.workloads.hierarchy, bins with ut.workloads.bins, times with ut.workloads.periods."
        )
        raise WrongKind("an axis must be a list of values", came=type(axis).__name__, where=repr(name), remedy=remedy)
    return plain(axis).named(name)


def _selected_values(axis: Axis, level: int, wanted: Any, name: str) -> NDArray[np.bool_]:
    """A mask of the values that ``wanted`` selects: a label, a slice of edges, or a list of these."""
    labels = [label_text(label) for label in axis.labels[level]]
    values = labels if axis.rows is None else [label_text(value) for value in axis.label_columns(level)[name]]
    listing = list(wanted) if isinstance(wanted, Collection) and not isinstance(wanted, str) else [wanted]
    groups, within = np.zeros(len(labels), dtype=bool), np.zeros(axis.size, dtype=bool)
    for label in listing:
        if isinstance(label, slice):
            within |= _values_between(axis, label, name)
            continue
        text = axis.text(label)
        if text is not None and text in values:
            groups |= np.array([value == text for value in values])
        elif text is not None and text in labels:
            groups[labels.index(text)] = True
        else:
            near = [text for text in labels if text and text.lstrip("0") == str(label).lstrip("0")]
            near = near or get_close_matches(str(label), [text for text in labels if text], n=1)
            listed_out = ", ".join(repr(label) for label in labels[:LONGEST])
            remedy = f"Its labels are {listed_out}."
            if near:
                remedy = f"Did you mean {near[0]!r}?"
            elif len(listed_out) > LONGEST:
                remedy = f"The axis has {len(labels)} labels; the first is {labels[0]!r}."
            raise OutOfRange(
                "a selected label must be a label of the axis", came=repr(label), where=repr(name), remedy=remedy
            )
    return np.asarray(groups[axis.group_of(level)] | within)


def _values_between(axis: Axis, wanted: slice, name: str) -> NDArray[np.bool_]:
    edges = axis.edges
    if edges is None or wanted.step is not None:
        raise OutOfRange(
            "a slice must select bins or periods by their edges, and have no step",
            came=str(wanted),
            where=repr(name),
        )
    places = []
    for end, open_end in ((wanted.start, 0), (wanted.stop, len(edges) - 1)):
        edge = None if end is None else axis.edge(end)
        if edge is not None and edge not in edges:
            is_even = axis.whole is None and axis.clock is None and not {-inf, inf} & {edges[0], edges[-1]}
            shown = [str(axis.edge_shown(edge)) for edge in edges]
            steps = f"in steps of {edges[1] - edges[0]}" if is_even else f"by {', '.join(shown[1:-1][:_SHOWN])}"
            remedy = f"The edges go from {shown[0]} to {shown[-1]} {steps}."
            raise OutOfRange("a range must begin and end at edges of bins", came=end, where=repr(name), remedy=remedy)
        places.append(open_end if edge is None else edges.index(edge))
    if places[0] >= places[1]:
        came, remedy = f"{wanted.start}..{wanted.stop}", "Write the smaller end of the range first."
        raise OutOfRange("the start of a range must be below its end", came=came, where=repr(name), remedy=remedy)
    # A range leaves out its end, on every axis: 0..18 ends with 17, and 2013-03..2013-05 is March and April.
    among = np.arange(axis.size)
    return (places[0] <= among) & (among < places[1])


_SHOWN = 12
_MOST_NAMES = 1000
