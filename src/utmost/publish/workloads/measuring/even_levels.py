"""Workloads over only those levels of a domain whose groups all have the same size.

Example: states with their airports, crossed with hours of the day. States have different numbers of airports, so sums
over states have no common eigenspaces with sums over airports and hours, and plans do not measure sums over states. A
workload may still want sums over states: each is a sum over a run of airports. Such a sum has a spectrum in the levels
with groups of one size, and so a variance in closed form.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.errors import Unsupported
from utmost.publish.workloads.measuring.axis_sums import AxisSums, Groups, Runs, sum_of_values
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal


@dataclass(frozen=True, slots=True, eq=False)
class EvenLevels:
    """A workload over the even levels of its domain: those whose groups all have the same size."""

    workload: Workload  # the wanted sums over the domain without uneven levels
    even_levels: tuple[tuple[int, ...], ...]  # for each axis, the indices in `domain` of its even levels and of "all"
    domain: Domain  # the domain with all levels

    @classmethod
    def of(cls, workload: Workload) -> "EvenLevels":
        """Return the workload over even levels; it is unchanged if all levels are even."""
        domain, even_levels, axes = workload.domain, list[tuple[int, ...]](), list[Axis]()
        for axis in domain.axes:
            sizes = [axis.group_sizes(level) for level in range(len(axis.levels) + 1)]
            even = tuple(level for level, group_sizes in enumerate(sizes) if (group_sizes == group_sizes[0]).all())
            even_levels.append(even)
            if axis.blocks is None:
                names = ("levels", "labels", "starts")
                kept: dict[str, Any] = {
                    name: tuple(getattr(axis, name)[level] for level in even[:-1]) for name in names
                }
                axis = replace(axis, **kept)
            axes.append(axis)
        if all(axis.blocks is not None for axis in domain.axes):
            return cls(workload, tuple(even_levels), domain)
        reduced = Domain({axis.levels[0]: axis for axis in axes})
        axes_of = list(zip(domain.axes, reduced.axes, even_levels, strict=True))
        wanted = [
            replace(part, sums=tuple(_reduced_sums(sums, *of) for sums, of in zip(part.sums, axes_of, strict=True)))
            for part in workload.parts
        ]
        return cls(Workload.of_parts(reduced, wanted), tuple(even_levels), domain)

    def restored(self, marginal: Marginal) -> Marginal:
        """Return a marginal over even levels as a marginal of `domain`; negative levels (hat functions) stay."""
        return tuple(
            level if level < 0 else levels[level] for levels, level in zip(self.even_levels, marginal, strict=True)
        )

    def reduced(self, marginal: Marginal) -> Marginal:
        """Return a marginal of `domain` as a marginal over even levels; refuse an uneven level."""
        for axis, levels, level in zip(self.domain.axes, self.even_levels, marginal, strict=True):
            if level >= 0 and level not in levels:
                raise Unsupported(
                    "the groups of a level must have the same size if the level is measured with other axes",
                    came="groups of several sizes",
                    where=repr(axis.levels[level]),
                    remedy=f"Measure {axis.levels[0]!r} instead; a workload may still ask for sums over the groups.",
                )
        return tuple(
            level if level < 0 else levels.index(level)
            for levels, level in zip(self.even_levels, marginal, strict=True)
        )

    def reduced_shares(self, shares: Mapping[Marginal, Fraction]) -> dict[Marginal, Fraction]:
        return {self.reduced(marginal): share for marginal, share in shares.items()}


def _reduced_sums(sums: AxisSums, axis: Axis, reduced: Axis, even_levels: tuple[int, ...]) -> AxisSums:
    """Return sums along an axis as sums along ``reduced``, the same axis without its uneven levels."""
    if not isinstance(sums, Groups):
        return sums
    if sums.at in even_levels:
        return Groups(even_levels.index(sums.at), sums.only)
    if sums.only is not None:
        return sum_of_values(reduced, axis.group_of(sums.at) == sums.only)
    return Runs(tuple(axis.group_starts(sums.at).tolist()))
