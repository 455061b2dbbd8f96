"""Residual subspaces: the errors of marginals over many attributes, without an array over the whole domain.

A marginal S has n_S sums: over groups of a level of a few axes, or differences of the two values of an axis. Its noise
has the precision p_S. S gives an estimate in each **space** T inside S: for some axes of S, T has a level that is
coarser than the level of S or the same; all other axes are averaged out. If S measures differences along an axis, T has
this axis. With N cells and

    l_T = sum of p_S / n_S over the S that contain T,

the eigenvalue of least squares on T is N l_T, so the error is the sum over T of mu_T / l_T, where mu_T is the mean over
the answers w of |Q_T w|^2 / N. Fourteen attributes, with all 364 tables of three attributes, have 470 spaces, whatever
the number of cells (for example 6 * 10^17).

Source: residual bases [xiao2023], with independent noise on the tables themselves; proofs/theory/marginals.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.measuring.axis_sums import AxisSums, Groups, count_of
from utmost.publish.workloads.measuring.measured_marginals import is_difference, is_hats, is_listed
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.few_cells import MOST_LAID
from utmost.tables.axes.hat_functions import DIFFERENCE

MarginalSpace = tuple[tuple[int, int], ...]
"""Axes that a space does not average out, in order; each with the index of the space's level in its `EvenChain`."""

_MOST_SPACES = 1 << 18
_MOST_LAID_SPACES = 1 << 20


def by_marginals(domain: Domain, marginals: Iterable[Marginal]) -> bool:
    """Whether estimates are computed in residual subspaces, as for differences and for vast domains."""
    listed = list(marginals)
    if any(map(is_listed, listed)) or any(map(is_hats, listed)):
        return False
    return any(map(is_difference, listed)) or is_vast(domain)


def is_vast(domain: Domain) -> bool:
    """Whether an array with a number for each cell, or for each space, would be too large."""
    return domain.size > 16 * MOST_LAID or prod(len(axis.levels) + 1 for axis in domain.axes) > _MOST_LAID_SPACES


@dataclass(frozen=True, slots=True)
class EvenChain:
    """The even levels of an axis, finest first; the number of groups of each, and at the end 1 for the total."""

    levels: tuple[int, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, axis: Axis) -> "EvenChain":
        if len(axis.levels) == 1:
            return cls((0,), (axis.size, 1))
        even = [level for level in range(len(axis.levels)) if len(np.unique(axis.group_sizes(level))) == 1]
        return cls(tuple(even), (*(axis.groups(level) for level in even), 1))

    def above(self, place: int) -> list[int]:
        """Return the indices, from ``place`` on, of levels with more groups than the next level."""
        return [at for at in range(place, len(self.levels)) if self.groups[at] > self.groups[at + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class MarginalSpaces:
    """Measured marginals, and the residual spaces inside each."""

    domain: Domain
    marginals: tuple[Marginal, ...]
    chains: tuple[EvenChain, ...] = field(repr=False)
    # for each marginal, its axes with the index of the level; None for differences
    measured_axes: tuple[tuple[tuple[int, int | None], ...], ...] = field(repr=False)
    sums: tuple[int, ...] = field(repr=False)  # the number of sums of each marginal
    # for each space, the indices of the marginals that contain it
    covers: Mapping[MarginalSpace, list[int]] = field(repr=False)

    @classmethod
    def of(cls, domain: Domain, marginals: Iterable[Marginal]) -> "MarginalSpaces":
        """Find the spaces of these marginals; refuse hat functions, listed rows, uneven levels, and too many spaces."""
        listed, chains = tuple(marginals), tuple(EvenChain.of(axis) for axis in domain.axes)
        shown = tuple(_axes_of(domain, chains, marginal) for marginal in listed)
        covers: dict[MarginalSpace, list[int]] = {}
        pairs = 0
        for place, axes in enumerate(shown):
            # Count the spaces before listing them: the list of one marginal's spaces may exceed the memory.
            pairs += prod(1 if level is None else len(chains[axis].levels) - level + 1 for axis, level in axes)
            if pairs > _MOST_SPACES:
                remedy = "Measure fewer tables, or tables of fewer columns."
                raise OutOfRange(
                    f"the tables may have at most {_MOST_SPACES} residual subspaces",
                    came="more subspaces",
                    remedy=remedy,
                )
            for space in _below(chains, axes):
                covers.setdefault(space, []).append(place)
        sums = tuple(prod(1 if level is None else chains[axis].groups[level] for axis, level in axes) for axes in shown)
        return cls(domain, listed, chains, shown, sums, covers)

    def __reduce__(self) -> tuple[Any, ...]:
        return MarginalSpaces.of, (self.domain, self.marginals)

    def base(self, marginal: Marginal) -> tuple[tuple[int, int], ...]:
        """Return the axes with several groups in a marginal, each with the coarsest even level of these groups."""
        axes = []
        for axis, level in enumerate(marginal):
            of = self.domain.axes[axis]
            if of.groups(level) > 1:
                axes.append((axis, max(at for at, even in enumerate(self.chains[axis].levels) if even <= level)))
        return tuple(axes)

    def below(self, axes: Sequence[tuple[int, int | None]]) -> Iterable[MarginalSpace]:
        """Yield the spaces inside these axes, finest first, one by one, since there may be 2^axes."""
        return _below(self.chains, axes)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalErrors:
    """The errors of a workload as functions of the levels at which marginals are measured."""

    spaces: MarginalSpaces
    names: tuple[MarginalSpace, ...] = field(repr=False)  # the spaces T with mu_T > 0
    wanted: Floats = field(repr=False)  # weighted mu_T of each T; (spaces,)
    # for each part of the workload, the indices of its spaces T, and mu_T for each
    parts: tuple[tuple[NDArray[np.intp], Floats], ...] = field(repr=False)
    # for each pair of a space and a marginal that contains it, the index of the space; (pairs,)
    rows: NDArray[np.intp] = field(repr=False)
    columns: NDArray[np.intp] = field(repr=False)  # for each of these pairs, the index of the marginal; (pairs,)
    sizes: Floats  # number of sums of each marginal; (marginals,)

    @classmethod
    def of(cls, workload: Workload, marginals: Iterable[Marginal]) -> "MarginalErrors":
        """Prepare the errors of a workload over a domain of even levels."""
        spaces = MarginalSpaces.of(workload.domain, marginals)
        energies = [{space: float(mu) for space, mu in of.items()} for of in part_energies(workload)]
        places = {space: at for at, space in enumerate(dict.fromkeys(space for of in energies for space in of))}
        parts, wanted = [], np.zeros(len(places))
        for part, of in zip(workload.parts, energies, strict=True):
            own, squares = np.array([places[space] for space in of], dtype=np.intp), np.array(list(of.values()))
            parts.append((own, squares))
            wanted[own] += float(part.weight) * squares
        listed = [(at, column) for space, at in places.items() for column in spaces.covers.get(space, ())]
        pairs = np.array(listed, dtype=np.intp).reshape(-1, 2)
        sizes = np.array(spaces.sums, dtype=float)
        return cls(spaces, tuple(places), wanted, tuple(parts), pairs[:, 0], pairs[:, 1], sizes)

    def eigenvalues(self, precisions: Floats) -> Floats:
        """Return l_T for each wanted space T, from the precision of each marginal's noise."""
        each = (precisions / self.sizes)[self.columns]
        return np.asarray(np.bincount(self.rows, weights=each, minlength=len(self.wanted)), dtype=float)

    def error(self, levels: Floats) -> float:
        """Return the weighted sum of the mean variances; inf if an answer is not determined."""
        with np.errstate(divide="ignore"):
            return float((self.wanted / self.eigenvalues(precision(levels))).sum())

    def slope(self, levels: Floats) -> tuple[float, Floats]:
        """Return the error, and its derivative with respect to each marginal's level."""
        # Replace 0 by a tiny eigenvalue: spaces that are not determined get the largest derivative, without division by
        # 0.
        eigenvalues = np.maximum(self.eigenvalues(precision(levels)), 1e-300)
        terms = self.wanted / eigenvalues
        pulls = np.bincount(self.columns, weights=(terms / eigenvalues)[self.rows], minlength=len(self.sizes))
        return float(terms.sum()), -pulls * np.sinh(np.minimum(levels, 650.0)) / self.sizes

    def variances(self, levels: Floats) -> list[float]:
        """Return the mean variance of each part's answers; inf if an answer is not determined."""
        with np.errstate(divide="ignore"):
            inverses = 1 / self.eigenvalues(precision(levels))
        return [float(squares @ inverses[own]) for own, squares in self.parts]

    def undetermined(self) -> int | None:
        """Return the first part of the workload that the marginals do not determine, else None."""
        known = np.zeros(len(self.wanted), dtype=bool)
        known[self.rows] = True
        return next((at for at, (own, _) in enumerate(self.parts) if not known[own].all()), None)


def part_energies(workload: Workload) -> list[dict[MarginalSpace, Fraction]]:
    """For each part and space T, return mu_T: the mean over the part's answers w of |Q_T w|^2 / N."""
    chains: list[tuple[int, ...]] = []
    for name, axis in zip(workload.domain.columns, workload.domain.axes, strict=True):
        if axis.blocks is None:
            raise Unsupported(
                "all groups of a level must have the same size", came="groups of several sizes", where=f"axis {name!r}"
            )
        chains.append(axis.blocks)
    # Cache the mean of |Q w|^2 over the values of an axis, by level: parts often have the same sums along an axis.
    known: dict[tuple[int, AxisSums], list[tuple[MarginalSpace, Fraction]]] = {}
    of_parts = list[dict[MarginalSpace, Fraction]]()
    for part in workload.parts:
        choices = []
        for place, (axis, sums) in enumerate(zip(workload.domain.axes, part.sums, strict=True)):
            if isinstance(sums, Groups) and sums.at == len(axis.levels):
                continue
            if (place, sums) not in known:
                count = axis.size * count_of(sums, axis)
                known[place, sums] = [
                    (((place, level),) if level < len(axis.levels) else (), Fraction(square) / count)
                    for level, square in reversed(list(enumerate(sums.spectrum(chains[place]))))
                    if square
                ]
            choices.append(known[place, sums])
        energies: dict[MarginalSpace, Fraction] = {}
        for picked in product(*choices):
            space = tuple(level for levels, _ in picked for level in levels)
            energies[space] = prod((square for _, square in picked), start=Fraction(1))
        of_parts.append(energies)
    return of_parts


def _below(chains: Sequence[EvenChain], axes: Sequence[tuple[int, int | None]]) -> Iterable[MarginalSpace]:
    choices: list[list[MarginalSpace]] = []
    for axis, level in axes:
        own: list[MarginalSpace] = [((axis, at),) for at in chains[axis].above(level or 0)]
        choices.append(own if level is None else [*own, ()])
    for picked in product(*choices):
        yield tuple(level for levels in picked for level in levels)


def _axes_of(domain: Domain, chains: Sequence[EvenChain], marginal: Marginal) -> tuple[tuple[int, int | None], ...]:
    if is_listed(marginal) or is_hats(marginal):
        raise Unsupported(
            "a measured table must consist of groups and differences", came=domain.marginal_name(marginal)
        )
    axes: list[tuple[int, int | None]] = []
    for place, (axis, level) in enumerate(zip(domain.axes, marginal, strict=True)):
        if level == DIFFERENCE:
            axes.append((place, None))
        elif level < len(axis.levels) and axis.groups(level) > 1:
            if level not in chains[place].levels:
                raise Unsupported(
                    "all groups of a measured level must have the same size",
                    came="groups of several sizes",
                    where=repr(axis.levels[level]),
                    remedy="Measure the finest level; a workload may still ask for sums over coarser groups.",
                )
            axes.append((place, chains[place].levels.index(level)))
    return tuple(axes)
