"""One family of a release by a plan as a table: its labels, and the columns that stand beside them."""

from collections.abc import Mapping
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.privacy.amount import Amount
from utmost.errors import OutOfRange, UtmostError
from utmost.publish.releases.estimates import Printing
from utmost.publish.releases.workload_errors import AnswerErrors, by_group
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.workload import narrowed
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import labelled

Narrow = Mapping[int, int]
"""Place of the group of each axis that is narrowed to one label."""


def wanted_families(plan: Plan) -> list[Family]:
    """The families of the wanted parts that are families; the measured ones where there is none."""
    families, amounts = [], plan.amount_pair
    for part in () if plan.workload is None else plan.workload.parts:
        try:
            family = narrowed(plan.domain, part.name)[0]
            families.append(family if amounts is None else amounts.both(family))
        except UtmostError:  # a part of ranges or prefixes, which has bars of its own by `total`
            continue
    if not families and plan.rows is not None:
        return [plan.rows.base]
    return list(dict.fromkeys(families)) or [family for family in plan.shares if min(family, default=0) >= 0]


def groups_in(domain: Domain, family: Family, narrow: Narrow | None) -> NDArray[np.bool_]:
    """Which groups of a family stand in its table: of an axis that is narrowed, those of one label alone."""
    chosen = {} if narrow is None else narrow
    inside = np.ones(1, dtype=bool)
    for axis, groups in enumerate(domain.group_shape(family)):
        if groups > 1:
            along = np.arange(groups) == chosen[axis] if axis in chosen else np.ones(groups, dtype=bool)
            inside = np.logical_and.outer(inside, along).ravel()
    return inside


def estimated_columns(
    reconstruction: LeastSquares,
    errors: AnswerErrors,
    measured: Mapping[Family, NDArray[Any]],
    family: Family,
    confidence: Fraction,
    amount: Amount | None = None,
    *,
    names: tuple[str, str],
) -> dict[str, NDArray[Any]]:
    """The estimates of a family's sums as they are printed, of amounts in their own unit, and their margins behind.

    Args:
        names: Names of the two columns.

    Raises:
        NotDetermined: for a family that the measured ones do not determine.
    """
    sums, divisor = reconstruction.estimates(measured, family)
    laws = errors.of_family(family)[1]
    printing = Printing.of(laws.values(), amount)
    margins = {kind: printing.margin(law.margin(confidence)) for kind, law in laws.items()}
    kinds = errors.of_family(family)[0]
    return dict(zip(names, (printing.estimates(sums, divisor).ravel(), by_group(kinds, margins)), strict=True))


def amount_columns(
    reconstruction: LeastSquares,
    errors: AnswerErrors,
    measured: Mapping[Family, NDArray[Any]],
    family: Family,
    confidence: Fraction,
    amounts: AmountPair,
) -> dict[str, NDArray[Any]]:
    """The answers of `AmountPair.columns` for a family's groups, each with its margins behind.

    Raises:
        NotDetermined: for a family that the measured ones do not determine.
        OutOfRange: for a level that has the name of a column.
    """
    taken = set(amounts.domain.label_columns(amounts.seen(family)))
    for name in (name for column in amounts.columns for name in (column.name, column.margin)):
        if name in taken:
            required = "sums and counts stand in columns of their own names"
            raise OutOfRange(required, came=repr(name), remedy="Rename the column before it is counted.")
    both = amounts.both(family)
    sums, divisor = reconstruction.estimates(measured, both)
    parts = amounts.parts(sums.astype(object), both)
    columns: dict[str, NDArray[Any]] = {}
    for column in amounts.columns:
        common = lcm(*(weight.denominator for weight in column.weights))
        factors = np.array([int(weight * common) for weight in column.weights], dtype=object)
        kinds, laws = errors.of_amounts(amounts, both, column.weights)
        printing = Printing.of(laws.values(), column.amount)
        margins = {kind: printing.margin(law.margin(confidence)) for kind, law in laws.items()}
        columns[column.name] = printing.estimates(factors @ parts, divisor * common)
        columns[column.margin] = by_group(kinds, margins)
    return columns


def family_table(
    domain: Domain, kind: str, family: Family, columns: Mapping[str, NDArray[Any]], narrow: Narrow | None = None
) -> LabelledTable:
    """A table of a family's groups.

    Args:
        domain: the domain.
        kind: Kind of the table, as an adapter names it.
        family: Family whose groups are the rows.
        columns: Numbers of the groups, by the column's name.
        narrow: leaves the groups of one label.

    Raises:
        OutOfRange: for a level that has the name of a column.
    """
    labels = {name: np.array(values) for name, values in domain.group_labels(family).items()}
    inside = groups_in(domain, family, narrow)
    numbers = {name: column[inside] for name, column in columns.items()}
    return labelled(kind, {name: column[inside] for name, column in labels.items()}, numbers)
