"""Which sums a workload wants, and whether measured marginals determine them."""

from collections.abc import Iterable

from utmost.errors import OutOfRange
from utmost.publish.workloads.measuring.axis_sums import IN_ORDER, Groups
from utmost.publish.workloads.measuring.marginal_spaces import is_vast
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Marginal, is_finer

MOST_CANDIDATES = 64
"""The largest number of candidate marginals that a search of plans tries by default."""


def is_unequal_tree(domain: Domain) -> bool:
    """Whether the domain has only one axis, and some level of it has groups of several sizes."""
    return len(domain.axes) == 1 and domain.axes[0].blocks is None


def wants_marginals(workload: Workload) -> bool:
    """Whether the workload wants many complete tables, or is over a vast domain."""
    many = len(workload.parts) > MOST_CANDIDATES and wants_tables(workload)
    return is_vast(workload.domain) or (many and len(workload.marginals) > MOST_CANDIDATES)


def wants_tables(workload: Workload) -> bool:
    """Whether all wanted sums are complete tables."""
    return all(isinstance(sums, Groups) and sums.only is None for part in workload.parts for sums in part.sums)


def axes_in_order(workload: Workload) -> list[int]:
    """Return the axes along which ranges, prefixes or windows are wanted."""
    return [
        place
        for place, axis in enumerate(workload.domain.axes)
        if axis.size > 2 and any(isinstance(part.sums[place], IN_ORDER) for part in workload.parts)
    ]


def check_determined(workload: Workload, marginals: Iterable[Marginal]) -> None:
    """Check that the sums of these marginals determine every wanted answer."""
    measured = tuple(marginals)
    for part in workload.parts:
        alone = workload.reweighted({part.name: 1})
        for T in alone.eigenspaces:
            if not any(is_finer(S, T) for S in measured):
                raise undetermined(part.name)


def undetermined(name: str) -> OutOfRange:
    """Return the exception for a part of the workload that the measured marginals do not determine."""
    return OutOfRange(
        "the measured tables must determine every wanted answer",
        came=f"{name or 'total'!r}, which is not determined",
        remedy=f"Also measure {name or 'total'!r} or a finer table; or leave this table out of the workload.",
    )
