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

from utmost.errors import OutOfRange
from utmost.laws.exact import Number, exact, frozen
from utmost.publish.workloads.axes import Axis
from utmost.publish.workloads.domain import Domain, Family, Where


@dataclass(frozen=True, slots=True, eq=False)
class ProductForm:
    """The coefficient of a cell is the product of its values' factors, divided by the denominator.

    Attributes:
        domain: the domain.
        factors: for each axis, an integer for each of its values.
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
        """Of the groups of one level of an axis, the sums of their values' factors."""
        return np.add.reduceat(self.factors[axis], self.domain.axes[axis].group_starts(level))

    def energy(self, axis: int, level: int) -> Fraction:
        """Of one axis, the squared length of the factors after averaging over the groups of a level of equal sizes."""
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


def selected(domain: Domain, where: Where, along: Mapping[str, Any] | None = None) -> ProductForm:
    """The sum over the cells that a selection takes, each with a coefficient along some axes.

    Args:
        domain: the domain.
        where: as for `Domain.selection`.
        along: by the name of a level, a number for each of its groups, in order or by label; of bins, also the text
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


def numbers_of(axis: Axis, level: int, numbers: Any, name: str, taken: NDArray[Any]) -> list[Fraction]:
    """The number that each group of a level stands for, as `selected` takes them along it.

    Args:
        axis, level, name: the level, and what it is called.
        numbers: as ``along`` of `selected` has them.
        taken: for each value of the axis, whether it is selected; a group that is not needs no midpoint, and has 0.
    """
    labels = axis.labels[level]
    if isinstance(numbers, str) and numbers == "midpoints":
        return _midpoints(axis, level, name, taken)
    if isinstance(numbers, Mapping):
        missing = [label for label in labels if label not in numbers]
        numbers = [] if missing else [numbers[label] for label in labels]
    listed: Sequence[Number] = list(numbers) if hasattr(numbers, "__iter__") and not isinstance(numbers, str) else []
    if len(listed) != len(labels):
        remedy = 'Give a list, or a mapping from labels to numbers; bins also take "midpoints".'
        required = f"there must be a number for each of the {len(labels)} labels"
        raise OutOfRange(required, came=len(listed), where=repr(name), remedy=remedy)
    return [exact(number, name) for number in listed]


def _midpoints(axis: Axis, level: int, name: str, taken: NDArray[Any]) -> list[Fraction]:
    edges, starts = axis.edges, axis.group_starts(level).tolist()
    if edges is None or axis.clock is not None or any(taken[axis.declared :]):
        remedy = "Give a number for each label, or leave the others out by where=."
        required = "only bins of numbers have midpoints, where no label takes in missing cells or what lies outside"
        raise OutOfRange(required, where=repr(name), remedy=remedy)

    def midpoint(start: int, end: int) -> Fraction:
        if not any(taken[start:end]):
            return Fraction(0)
        low, high = edges[start], edges[end]
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            return (low + high - bool(axis.whole)) / 2
        remedy = "Give a number for each label, such as the mean age of those above, or leave it out by where=."
        raise OutOfRange("a bin without an end has no midpoint", where=repr(name), remedy=remedy)

    return [midpoint(start, end) for start, end in pairwise([*starts, axis.size])]


def _level(axis: Axis, factor: NDArray[Any]) -> int:
    for level in range(len(axis.levels), 0, -1):
        if (factor[axis.group_starts(level)][axis.group_of(level)] == factor).all():
            return level
    return 0
