"""Restrict a workload to the cells that its answers read, if these are fewer than one individual may change."""

from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.axis_sums import AxisSums, Groups, Taken, Weighed, sum_of_values
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.axes import Axis

_MOST_READ = 1 << 16
"""A workload is restricted only to fewer cells than this; one individual rarely changes more."""


def narrowed_request(wanted: Workload, unit: Unit) -> tuple[Workload, Unit]:
    """Return the workload over only the cells that its answers read, and the unit for these cells.

    The workload is unchanged if one individual changes no more cells than the answers read.
    """
    domain = wanted.domain
    if unit.is_shared or unit.is_distinct:
        return wanted, unit.on_cells(domain.size)
    read = [_values_read(axis, [part.sums[place] for part in wanted.parts]) for place, axis in enumerate(domain.axes)]
    cells = prod(len(places) for places in read)
    if cells >= min(unit.cells, domain.size, _MOST_READ):
        return wanted, unit.on_cells(domain.size)
    # One individual changes at most all cells that are left. A replaced record may leave these cells, so their total is
    # not public.
    left = domain.narrowed(read)
    parts = [
        replace(
            part,
            sums=tuple(
                _narrowed_sums(sums, axis, of_left, places)
                for sums, axis, of_left, places in zip(part.sums, domain.axes, left.axes, read, strict=True)
            ),
        )
        for part in wanted.parts
    ]
    return Workload.of_parts(left, parts), replace(unit, exactly=False).on_cells(cells)


def _values_read(axis: Axis, sums: list[AxisSums]) -> NDArray[np.intp]:
    """Return the values of an axis that some answer reads; all values if the axis cannot be restricted to these."""
    read = np.zeros(axis.size, dtype=bool)
    for one in dict.fromkeys(sums):
        if isinstance(one, Groups) and one.only is not None:
            read |= axis.group_of(one.at) == one.only
        elif isinstance(one, Taken):
            read |= one.row
        elif isinstance(one, Weighed):
            read |= one.matrix(axis).any(axis=0)
        else:
            return np.arange(axis.size)
    places = np.flatnonzero(read)
    return places if axis.can_narrow(places) else np.arange(axis.size)


def _narrowed_sums(sums: AxisSums, axis: Axis, left: Axis, places: NDArray[np.intp]) -> AxisSums:
    if len(places) == axis.size:
        return sums
    if isinstance(sums, Weighed):
        return Weighed.of(left, sums.matrix(axis)[:, places])
    row: Any = sums.row if isinstance(sums, Taken) else sums.matrix(axis)[0]
    if isinstance(sums, Groups):
        return Groups(0, int(np.flatnonzero(row[places])[0]))
    return sum_of_values(left, np.asarray(row[places], dtype=bool))
