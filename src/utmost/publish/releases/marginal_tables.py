"""Show one marginal of a release by a plan as a table: its labels, estimates and margins."""

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
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import labelled

Narrow = Mapping[int, int]
"""Restrictions of axes to one label each: the index of the label's group, by the index of the axis."""


def wanted_marginals(plan: Plan) -> list[Marginal]:
    marginals, amounts = [], plan.amount_pair
    for part in () if plan.workload is None else plan.workload.parts:
        try:
            marginal = narrowed(plan.domain, part.name)[0]
            marginals.append(marginal if amounts is None else amounts.both(marginal))
        except UtmostError:  # ranges and prefixes are no tables; `total` gives their margins
            continue
    if not marginals and plan.rows is not None:
        return [plan.rows.base]
    return list(dict.fromkeys(marginals)) or [marginal for marginal in plan.shares if min(marginal, default=0) >= 0]


def groups_in(domain: Domain, marginal: Marginal, narrow: Narrow | None) -> NDArray[np.bool_]:
    """For each group of a marginal, return whether it has the labels in ``narrow``."""
    chosen = {} if narrow is None else narrow
    inside = np.ones(1, dtype=bool)
    for axis, groups in enumerate(domain.group_shape(marginal)):
        if groups > 1:
            along = np.arange(groups) == chosen[axis] if axis in chosen else np.ones(groups, dtype=bool)
            inside = np.logical_and.outer(inside, along).ravel()
    return inside


def estimated_columns(
    reconstruction: LeastSquares,
    errors: AnswerErrors,
    measured: Mapping[Marginal, NDArray[Any]],
    marginal: Marginal,
    confidence: Fraction,
    amount: Amount | None = None,
    *,
    names: tuple[str, str],
) -> dict[str, NDArray[Any]]:
    """Return the columns of a marginal's table: printed estimates, in the amount's own unit, and their margins."""
    sums, divisor = reconstruction.estimates(measured, marginal)
    distributions = errors.of_marginal(marginal)[1]
    printing = Printing.of(distributions.values(), amount)
    margins = {kind: printing.margin(distribution.margin(confidence)) for kind, distribution in distributions.items()}
    kinds = errors.of_marginal(marginal)[0]
    return dict(zip(names, (printing.estimates(sums, divisor).ravel(), by_group(kinds, margins)), strict=True))


def amount_columns(
    reconstruction: LeastSquares,
    errors: AnswerErrors,
    measured: Mapping[Marginal, NDArray[Any]],
    marginal: Marginal,
    confidence: Fraction,
    amounts: AmountPair,
) -> dict[str, NDArray[Any]]:
    """Return the columns of `AmountPair.columns` for the groups of a marginal, each followed by its margins."""
    taken = set(amounts.domain.label_columns(amounts.seen(marginal)))
    for name in (name for column in amounts.columns for name in (column.name, column.margin)):
        if name in taken:
            required = "the columns of sums and of counts must have different names"
            raise OutOfRange(required, came=repr(name), remedy="Rename the column before the table is counted.")
    both = amounts.both(marginal)
    sums, divisor = reconstruction.estimates(measured, both)
    parts = amounts.parts(sums.astype(object), both)
    columns: dict[str, NDArray[Any]] = {}
    for column in amounts.columns:
        common = lcm(*(weight.denominator for weight in column.weights))
        factors = np.array([int(weight * common) for weight in column.weights], dtype=object)
        kinds, distributions = errors.of_amounts(amounts, both, column.weights)
        printing = Printing.of(distributions.values(), column.amount)
        margins = {
            kind: printing.margin(distribution.margin(confidence)) for kind, distribution in distributions.items()
        }
        columns[column.name] = printing.estimates(factors @ parts, divisor * common)
        columns[column.margin] = by_group(kinds, margins)
    return columns


def marginal_table(
    domain: Domain, kind: str, marginal: Marginal, columns: Mapping[str, NDArray[Any]], narrow: Narrow | None = None
) -> LabelledTable:
    """Return the table of a marginal: labels, then ``columns``; only the groups with the labels in ``narrow``."""
    labels = {name: np.array(values) for name, values in domain.group_labels(marginal).items()}
    inside = groups_in(domain, marginal, narrow)
    numbers = {name: column[inside] for name, column in columns.items()}
    return labelled(kind, {name: column[inside] for name, column in labels.items()}, numbers)
