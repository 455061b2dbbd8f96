"""Answers over a domain: sums of cells whose coefficients are products of one number for each value of each axis.

How many women were admitted takes the coefficients 0 and 1; the sum of the ages of all who live in the north takes the
midpoints of the bins on one axis, 0 and 1 on the other. Every number that is asked of a product form comes from its
axes alone, never from a list of all cells.
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
from utmost.tables.axes.domain import Domain, Family, Where


@dataclass(frozen=True, slots=True, eq=False)
class ProductForm:
    """The coefficient of a cell is the product of its values' factors, divided by the denominator.

    Attributes:
        domain: the domain.
        factors: An integer for each value of each axis.
        denominator: a positive integer.
    """

    domain: Domain
    factors: tuple[NDArray[Any], ...] = field(repr=False)
    denominator: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "factors", tuple(frozen(np.array(factor, dtype=object)) for factor in self.factors))

    def __reduce__(self) -> tuple[Any, ...]:
        return ProductForm, (self.domain, self.factors, self.denominator)

    @property
    def family(self) -> Family:
        """The coarsest family whose groups have one coefficient for all their cells."""
        return tuple(_level(axis, factor) for axis, factor in zip(self.domain.axes, self.factors, strict=True))

    @property
    def is_one_cell(self) -> bool:
        """Whether no cell is added to another."""
        return all(np.count_nonzero(factor) <= 1 for factor in self.factors)

    def group_sums(self, axis: int, level: int) -> NDArray[Any]:
        """The sums of the factors over the groups of one level of an axis."""
        return np.add.reduceat(self.factors[axis], self.domain.axes[axis].group_starts(level))

    def energy(self, axis: int, level: int) -> Fraction:
        """The squared length of one axis' factors after averaging over the groups of a level of equal sizes."""
        sums = self.group_sums(axis, level)
        return Fraction(int(sum(total * total for total in sums.tolist())), self.domain.axes[axis].size // len(sums))

    def of(self, groups: NDArray[Any], family: Family) -> Fraction:
        """The form of an array over the groups of a family, on each of which the form's coefficients are one number."""
        rest = groups
        for axis, level, factor in zip(self.domain.axes, family, self.factors, strict=True):
            rest = np.tensordot(rest.astype(object), factor[axis.group_starts(level)], axes=([0], [0]))
        return Fraction(int(rest)) / self.denominator


def values_of(forms: Sequence[ProductForm], groups: NDArray[Any], family: Family) -> list[Fraction]:
    """`ProductForm.of` for several forms: what they have in common is summed once."""
    places, rest = [], groups.astype(object)
    for place in reversed(range(len(family))):
        starts = forms[0].domain.axes[place].group_starts(family[place])
        columns = np.array([form.factors[place][starts] for form in forms], dtype=object)
        if (columns == columns[0]).all():
            rest = np.tensordot(rest, columns[0], axes=([place], [0]))
        else:
            places.append(columns)
    values = []
    for which, form in enumerate(forms):
        value = rest
        for columns in places:  # from the last axis on
            value = np.tensordot(value, columns[which], axes=([-1], [0]))
        values.append(Fraction(int(value), form.denominator))
    return values


LevelNumbers = str | Mapping[Any, Number] | Sequence[Number] | NDArray[Any]
"""A number for each group of a level: in order, by label, or "midpoints" of bins."""

Along = Mapping[str, LevelNumbers]
"""A number for each group of a level, by the name of the level: its cells count with it."""


def selected(domain: Domain, where: Where, along: Along | None = None) -> ProductForm:
    """The sum over the cells that a selection takes, each with a coefficient along some axes.

    Args:
        domain: the domain.
        where: Selection, see `Domain.selection`.
        along: Numbers for the groups of a level, by its name, in order or by label; of bins, also the text
            "midpoints", where every group that the selection takes has one.

    Raises:
        OutOfRange, NotANumber: for a label or an edge that is not declared, and for other than one number a group.

    >>> form = selected(Domain(age=["young", "old"], sex=["men", "women"]), {"sex": "men"}, {"age": ["1/2", 3]})
    >>> [factor.tolist() for factor in form.factors], form.denominator
    ([[1, 6], [1, 0]], 2)
    """
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


def group_of(domain: Domain, family: Family, place: tuple[int, ...] | None = None) -> ProductForm:
    """The sum over one group of a family, by its place on each axis; the first when left out."""
    places = (0,) * len(family) if place is None else place
    factors = []
    for axis, level, group in zip(domain.axes, family, places, strict=True):
        factors.append((axis.group_of(level) == group).astype(np.int64))
    return ProductForm(domain, tuple(factors))


def numbers_of(axis: Axis, level: int, numbers: LevelNumbers, name: str, taken: NDArray[Any]) -> list[Fraction]:
    """The number that each group of a level stands for, as `selected` takes them along it.

    Args:
        axis, level, name: the level, and what it is called.
        numbers: "midpoints" of bins; a mapping from labels to numbers, where bins that it leaves out have their
            midpoints; or a list, a number for each label, or for each that is taken.
        taken: Whether each value of the axis is selected; a group that is not needs no number, and has 0.

    Raises:
        OutOfRange: where a label that is taken has no number, as the last bin without an end, or missing cells; and for
            numbers of labels that there are not.

    >>> from utmost.workloads import edges
    >>> age = edges([16, 25, 45, None], missing="not stated")
    >>> [str(number) for number in numbers_of(age, 0, {"45+": 60}, "age", np.array([1, 1, 1, 0]))]
    ['20', '69/2', '60', '0']
    """
    labels = [str(label_text(label)) for label in axis.labels[level]]
    counted = [bool(any(group)) for group in np.split(np.asarray(taken), axis.group_starts(level)[1:])]
    if isinstance(numbers, Mapping):
        given = {str(label_text(label)): exact(number, name) for label, number in numbers.items()}
        if unknown := [label for label in given if label not in labels]:
            came = repr(unknown[0])
            raise OutOfRange(f"values must name labels of {name!r}", came=came, remedy=_all(labels))
        known = [given.get(label, middle) for label, middle in zip(labels, _midpoints(axis, level), strict=True)]
    elif isinstance(numbers, str) and numbers == "midpoints":
        known = _midpoints(axis, level)
    else:
        known = _listed(numbers, name, counted)
    lacking = [label for label, number, is_in in zip(labels, known, counted, strict=True) if is_in and number is None]
    if lacking:
        raise _without_numbers(axis, level, name, known, lacking)
    return [number or Fraction(0) for number in known]


def _listed(numbers: Any, name: str, counted: Sequence[bool]) -> list[Fraction | None]:
    """A number for each label, or for each label that is counted, from a list."""
    listed = list(numbers) if hasattr(numbers, "__iter__") and not isinstance(numbers, str) else []
    if len(listed) not in (len(counted), sum(counted)):
        remedy = 'Give a list, or a mapping from labels to numbers; bins also take "midpoints".'
        required = f"there must be a number for each of the {len(counted)} labels"
        raise OutOfRange(required, came=len(listed), where=repr(name), remedy=remedy)
    read = iter([exact(number, name) for number in listed])
    if len(listed) == len(counted):
        return list(read)
    return [next(read) if is_in else None for is_in in counted]


def _midpoints(axis: Axis, level: int) -> list[Fraction | None]:
    """The middle of each group of a level of bins; None of one without an end, of missing cells, and of others."""
    groups, edges = axis.groups(level), axis.edges
    if edges is None or axis.clock is not None:
        return [None] * groups
    ends = [*axis.group_starts(level).tolist(), axis.size]
    closed = [(edges[low], edges[high]) for low, high in pairwise(ends) if high <= axis.declared]
    middles: list[Fraction | None] = [
        (low + high - bool(axis.whole)) / 2 if isinstance(low, Fraction) and isinstance(high, Fraction) else None
        for low, high in closed
    ]
    return middles + [None] * (groups - len(middles))


def _without_numbers(
    axis: Axis, level: int, name: str, known: Sequence[Fraction | None], lacking: Sequence[str]
) -> OutOfRange:
    """The refusal of labels without a number, with a selection that leaves them out, and an argument that has one."""
    is_bins = axis.edges is not None and axis.clock is None
    named = " and ".join(map(repr, lacking[:_NAMED])) + (" and others" if lacking[_NAMED:] else "")
    came = f"{named}, which {'have' if lacking[1:] else 'has'} no {'midpoint' if is_bins else 'number'}"
    numbers = ", ".join(f"{label!r}: NUMBER" for label in lacking[:_NAMED])
    remedy = f"Pass values={{{numbers}}}{', and so on' if lacking[_NAMED:] else ''}."
    others = _selection_of_known(axis, level, known)
    if others:
        remedy = f"Exclude {'them' if lacking[1:] else 'it'} with where={{{name!r}: {others}}}, or p{remedy[1:]}"
    return OutOfRange("each label that is counted must have a number", came=came, where=repr(name), remedy=remedy)


def _selection_of_known(axis: Axis, level: int, known: Sequence[Fraction | None]) -> str:
    """The labels that have a number, as `Domain.selection` reads them; nothing where the list would be long."""
    places = [place for place, number in enumerate(known) if number is not None]
    starts = [*axis.group_starts(level).tolist(), axis.size]
    is_run = bool(places) and places == list(range(places[0], places[-1] + 1))
    if is_run and axis.edges is not None and starts[places[-1] + 1] <= axis.declared:
        ends = axis.edges[starts[places[0]]], axis.edges[starts[places[-1] + 1]]
        low, high = (axis.edge_shown(end) if isinstance(end, Fraction) else None for end in ends)
        return f"slice({low}, {high})"
    return repr([str(label_text(axis.labels[level][place])) for place in places]) if 0 < len(places) <= _SHOWN else ""


def _all(labels: Sequence[str]) -> str:
    return f"Its labels are {', '.join(map(repr, labels[:_SHOWN]))}{', ...' if labels[_SHOWN:] else ''}."


_NAMED, _SHOWN = 3, 12


def _level(axis: Axis, factor: NDArray[Any]) -> int:
    for level in range(len(axis.levels), 0, -1):
        if (factor[axis.group_starts(level)][axis.group_of(level)] == factor).all():
            return level
    return 0
