"""Linear combinations of cells; each coefficient is a product of one number for each axis.

Example: for the number of admitted women, all numbers are 0 or 1. For the sum of the ages of the inhabitants of the
north, the numbers of the age axis are the midpoints of its bins, and the numbers of the region axis are 0 or 1. Every
property of a product form is computed axis by axis, without a list of all cells.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import frozen
from utmost.core.exact.numbers import Number, exact
from utmost.errors import OutOfRange
from utmost.tables.axes.axes import Axis, label_text
from utmost.tables.axes.domain import Domain, Marginal, Where


@dataclass(frozen=True, slots=True, eq=False)
class ProductForm:
    """A linear form: the coefficient of a cell is a product of one factor for each axis, divided by the denominator."""

    domain: Domain
    factors: tuple[NDArray[Any], ...] = field(repr=False)  # for each axis, an integer for each of its values
    denominator: int = 1  # positive

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(frozen(np.array(factor, dtype=object)) for factor in self.factors))

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductForm, (self.domain, self.factors, self.denominator)

    @property
    def marginal(self) -> Marginal:
        """The coarsest marginal in which all cells of a group have the same coefficient."""
        coarsest = []
        for axis, factor in zip(self.domain.axes, self.factors, strict=True):
            levels = range(len(axis.levels), 0, -1)
            even = (at for at in levels if (factor[axis.group_starts(at)][axis.group_of(at)] == factor).all())
            coarsest.append(next(even, 0))
        return tuple(coarsest)

    @property
    def is_one_cell(self) -> bool:
        """Whether at most one cell has a coefficient other than 0."""
        return all(np.count_nonzero(factor) <= 1 for factor in self.factors)

    def group_sums(self, axis: int, level: int) -> NDArray[Any]:
        """Return the sums of one axis' factors over the groups of a level."""
        return np.add.reduceat(self.factors[axis], self.domain.axes[axis].group_starts(level))

    def energy(self, axis: int, level: int) -> Fraction:
        """Replace one axis' factors by their means in the groups of an even level; return the squared length."""
        sums = self.group_sums(axis, level)
        return Fraction(int(sum(total * total for total in sums.tolist())), self.domain.axes[axis].size // len(sums))

    def of(self, groups: NDArray[Any], marginal: Marginal) -> Fraction:
        """Evaluate the form on cells that are constant on each group of ``marginal``; ``groups`` has their values."""
        rest = groups
        for axis, level, factor in zip(self.domain.axes, marginal, self.factors, strict=True):
            rest = np.tensordot(rest.astype(object), factor[axis.group_starts(level)], axes=([0], [0]))
        return Fraction(int(rest)) / self.denominator


def values_of(forms: Sequence[ProductForm], groups: NDArray[Any], marginal: Marginal) -> list[Fraction]:
    """Evaluate several forms like `ProductForm.of`; an axis with the same factors in all forms is summed only once."""
    places, rest = [], groups.astype(object)
    for place in reversed(range(len(marginal))):
        starts = forms[0].domain.axes[place].group_starts(marginal[place])
        columns = np.array([form.factors[place][starts] for form in forms], dtype=object)
        if (columns == columns[0]).all():
            rest = np.tensordot(rest, columns[0], axes=([place], [0]))
        else:
            places.append(columns)
    values = []
    for which, form in enumerate(forms):
        value = rest
        for columns in places:  # contracts the last axis first
            value = np.tensordot(value, columns[which], axes=([-1], [0]))
        values.append(Fraction(int(value), form.denominator))
    return values


LevelNumbers = str | Mapping[Any, Number] | Sequence[Number] | NDArray[Any]
"""Numbers for the groups of a level: a list in order, a mapping from labels, or "midpoints" of bins."""

Along = Mapping[str, LevelNumbers]
"""For the name of a level, the numbers by which the cells of its groups are multiplied."""


def selected(domain: Domain, where: Where, along: Along | None = None) -> ProductForm:
    """Return the sum over a selection; each cell is multiplied by the numbers of its groups in ``along``."""
    factors = [taken.astype(np.int64).astype(object) for taken in domain.selection(where)]
    denominator = 1
    for name, numbers in ({} if along is None else along).items():
        place, level = domain.level_named(name)
        axis = domain.axes[place]
        read = numbers_of(axis, level, numbers, name, factors[place])
        common = math.lcm(*(number.denominator for number in read))
        whole = np.array([int(number * common) for number in read], dtype=object)
        factors[place] = factors[place] * whole[axis.group_of(level)]
        denominator *= common
    return ProductForm(domain, tuple(factors), denominator)


def group_of(domain: Domain, marginal: Marginal, place: tuple[int, ...] | None = None) -> ProductForm:
    """Return the sum over one group of a marginal; ``place`` is the group's index on each axis (default: 0)."""
    places = (0,) * len(marginal) if place is None else place
    factors = []
    for axis, level, group in zip(domain.axes, marginal, places, strict=True):
        factors.append((axis.group_of(level) == group).astype(np.int64))
    return ProductForm(domain, tuple(factors))


def numbers_of(axis: Axis, level: int, numbers: LevelNumbers, name: str, taken: NDArray[Any]) -> list[Fraction]:
    """Read one of ``numbers`` for each group of a level; 0 if the group has neither a number nor a taken cell."""
    # Bins that a mapping leaves out have their midpoints. A list has a number for each label, or for each label taken.
    labels = [str(label_text(label)) for label in axis.labels[level]]
    counted = [bool(any(group)) for group in np.split(np.asarray(taken), axis.group_starts(level)[1:])]
    if isinstance(numbers, Mapping):
        given = {str(label_text(label)): exact(number, name) for label, number in numbers.items()}
        if unknown := [label for label in given if label not in labels]:
            came = repr(unknown[0])
            raise OutOfRange(
                f"values must name labels of {name!r}",
                came=came,
                remedy=f"Name some of {', '.join(map(repr, labels[:_SHOWN]))}{', ...' if labels[_SHOWN:] else ''}.",
            )
        known = [given.get(label, middle) for label, middle in zip(labels, _midpoints(axis, level), strict=True)]
    elif isinstance(numbers, str) and numbers == "midpoints":
        known = _midpoints(axis, level)
    else:
        # Read a list: a number for each label, or for each label that is counted; then None for the other labels.
        listed = list(numbers) if hasattr(numbers, "__iter__") and not isinstance(numbers, str) else []
        if len(listed) not in (len(counted), sum(counted)):
            remedy = 'Give a list, or a mapping from labels to numbers; bins also take "midpoints".'
            required = f"there must be a number for each of the {len(counted)} labels"
            raise OutOfRange(required, came=len(listed), where=repr(name), remedy=remedy)
        read = iter([exact(number, name) for number in listed])
        known = list(read) if len(listed) == len(counted) else [next(read) if is_in else None for is_in in counted]
    lacking = [label for label, number, is_in in zip(labels, known, counted, strict=True) if is_in and number is None]
    if lacking:
        # The remedy says how to leave these labels out, or to give them numbers.
        is_bins = axis.edges is not None and axis.clock is None
        named = " and ".join(map(repr, lacking[:_NAMED])) + (" and others" if lacking[_NAMED:] else "")
        came = f"{named}, which {'have' if lacking[1:] else 'has'} no {'midpoint' if is_bins else 'number'}"
        lines = ", ".join(f"{label!r}: NUMBER" for label in lacking[:_NAMED])
        remedy = f"Pass values={{{lines}}}{', and so on' if lacking[_NAMED:] else ''}."
        others = _selection_of_known(axis, level, known)
        if others:
            remedy = f"Exclude {'them' if lacking[1:] else 'it'} with where={{{name!r}: {others}}}, or p{remedy[1:]}"
        raise OutOfRange("each counted label must have a number", came=came, where=repr(name), remedy=remedy)
    return [number or Fraction(0) for number in known]


def _midpoints(axis: Axis, level: int) -> list[Fraction | None]:
    """Return the middle of each bin (24.5 for "20 to 29"); None for open bins, missing cells, and other axes."""
    return [None if pair is None else (pair[0] + pair[1] - bool(axis.whole)) / 2 for pair in _edges(axis, level)]


def _edges(axis: Axis, level: int) -> list[tuple[Fraction, Fraction] | None]:
    """Return both edges of each group of a level of bins; None for open bins, missing cells, and other axes."""
    groups, edges = axis.groups(level), axis.edges
    if edges is None or axis.clock is not None:
        return [None] * groups
    ends = [*axis.group_starts(level).tolist(), axis.size]
    closed: list[tuple[Fraction, Fraction] | None] = []
    for first, last in pairwise(ends):
        low, high = (edges[first], edges[last]) if last <= axis.declared else (None, None)
        closed.append((low, high) if isinstance(low, Fraction) and isinstance(high, Fraction) else None)
    return closed


def ends_of_bins(axis: Axis, level: int) -> list[tuple[Fraction, Fraction] | None]:
    """Return each bin's least value and a bound on its largest; None for open bins, missing cells, and other axes."""
    # A bin of integers such as "25 to 44" may hold 44.7, unless it counts completed years, or has the width 1.
    in_years = axis.on is not None
    return [
        None if pair is None else (pair[0], pair[1] - (bool(axis.whole) and (in_years or pair[1] - pair[0] == 1)))
        for pair in _edges(axis, level)
    ]


def stand_for_bins(domain: Domain, name: str, where: Where) -> bool:
    """Whether the selection has cells of a bin with several values, so that one number represents them all."""
    place, level = domain.level_named(name)
    axis = domain.axes[place]
    if axis.edges is None or axis.clock is not None:
        return False
    taken = np.split(np.asarray(selected(domain, where).factors[place]), axis.group_starts(level)[1:])
    pairs = zip(ends_of_bins(axis, level), taken, strict=True)
    return any(pair is None or pair[0] < pair[1] for pair, group in pairs if any(group))


def _selection_of_known(axis: Axis, level: int, known: Sequence[Fraction | None]) -> str:
    """Write an argument of `Domain.selection` for the labels whose number is known; "" if the argument is long."""
    places = [place for place, number in enumerate(known) if number is not None]
    starts = [*axis.group_starts(level).tolist(), axis.size]
    is_run = bool(places) and places == list(range(places[0], places[-1] + 1))
    if is_run and axis.edges is not None and starts[places[-1] + 1] <= axis.declared:
        ends = axis.edges[starts[places[0]]], axis.edges[starts[places[-1] + 1]]
        low, high = (axis.edge_shown(end) if isinstance(end, Fraction) else None for end in ends)
        return f"slice({low}, {high})"
    return repr([str(label_text(axis.labels[level][place])) for place in places]) if 0 < len(places) <= _SHOWN else ""


_NAMED, _SHOWN = 3, 12
