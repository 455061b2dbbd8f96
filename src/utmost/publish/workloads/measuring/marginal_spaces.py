r"""Residual subspaces: what the marginal tables of many attributes have in common, without their domain.

A family S measures, of a few axes, groups of a level or the difference of two values, and has n_S sums. Its noise of
precision p_S says something of each **space** T that lies in it: one level of some of these axes, coarser or the same,
all other axes averaged out; where S measures a difference, T has that axis. With N cells and

    l_T = sum of p_S / n_S over the S that T lies in,

the eigenvalue of least squares on T is N l_T (`blocks`), so that an error is the sum over T of mu_T / l_T, where mu_T
is the mean over the answers w of |Q_T w|^2 / N. Of fourteen attributes and all 364 tables of three of them these are
470 spaces, each in some of the tables, whatever the number of cells: 6 10^17.

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
from utmost.publish.workloads.measuring.measured_families import is_difference, is_hats, is_listed
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.workload import WantedSums, Workload
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.axes.few_cells import MOST_LAID
from utmost.tables.axes.hat_functions import DIFFERENCE

MarginalSpace = tuple[tuple[int, int], ...]
"""Axes that a space does not average out, in order: each axis, and the place of its level among the even ones."""

_MOST_SPACES = 1 << 18
_MOST_LAID_SPACES = 1 << 20


def by_marginals(domain: Domain, families: Iterable[Family]) -> bool:
    """Whether estimates of these families go by the spaces in them, and not by all of the domain.

    So it is where differences are measured, and where the domain, or the number of its spaces, is beyond what can be
    laid out.

    >>> by_marginals(Domain(sex=["men", "women"]), [(0,)]), by_marginals(Domain(sex=["men", "women"]), [(0,), (-1,)])
    (False, True)
    """
    listed = list(families)
    if any(map(is_listed, listed)) or any(map(is_hats, listed)):
        return False
    return any(map(is_difference, listed)) or is_vast(domain)


def is_vast(domain: Domain) -> bool:
    """Whether a domain is too large for an array with a number for each cell, or for each space."""
    return domain.size > 16 * MOST_LAID or prod(len(axis.levels) + 1 for axis in domain.axes) > _MOST_LAID_SPACES


@dataclass(frozen=True, slots=True)
class EvenChain:
    """The levels of an axis whose groups have one size, from the finest, and how many groups each has; 1 at the end."""

    levels: tuple[int, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, axis: Axis) -> "EvenChain":
        """The chain of an axis.

        >>> EvenChain.of(Domain(sex=["men", "women"]).axes[0])
        EvenChain(levels=(0,), groups=(2, 1))
        """
        if len(axis.levels) == 1:
            return cls((0,), (axis.size, 1))
        even = [level for level in range(len(axis.levels)) if len(np.unique(axis.group_sizes(level))) == 1]
        return cls(tuple(even), (*(axis.groups(level) for level in even), 1))

    def above(self, place: int) -> list[int]:
        """The places at or above one that hold more than the next."""
        return [at for at in range(place, len(self.levels)) if self.groups[at] > self.groups[at + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class MarginalSpaces:
    """Measured families, and the spaces that lie in each.

    Attributes:
        domain: the domain.
        families: the measured families.
        chains: Even levels of each axis.
        measured_axes: Axes of each family, each with the place of its level, or None for a difference.
        sums: Number of sums of each family.
        covers: Places of the families that each space lies in.
    """

    domain: Domain
    families: tuple[Family, ...]
    chains: tuple[EvenChain, ...] = field(repr=False)
    measured_axes: tuple[tuple[tuple[int, int | None], ...], ...] = field(repr=False)
    sums: tuple[int, ...] = field(repr=False)
    covers: Mapping[MarginalSpace, list[int]] = field(repr=False)

    @classmethod
    def of(cls, domain: Domain, families: Iterable[Family]) -> "MarginalSpaces":
        """The spaces of these families.

        Raises:
            Unsupported: for a level whose groups differ in size, hat functions, and classes of listed rows.
            OutOfRange: for more than 2^18 pairs of a family and a space.

        >>> spaces = MarginalSpaces.of(Domain(a=range(3), b=range(4), c=range(5)), [(0, 0, 1), (1, 0, 0)])
        >>> {space: places for space, places in spaces.covers.items() if len(places) > 1}
        {((1, 0),): [0, 1], (): [0, 1]}
        """
        listed, chains = tuple(families), tuple(EvenChain.of(axis) for axis in domain.axes)
        shown = tuple(_kept(domain, chains, family) for family in listed)
        covers: dict[MarginalSpace, list[int]] = {}
        pairs = 0
        for place, axes in enumerate(shown):
            # Counted before they are made: those of one family alone may be more than fit.
            pairs += prod(1 if level is None else len(chains[axis].levels) - level + 1 for axis, level in axes)
            if pairs > _MOST_SPACES:
                remedy = "Measure fewer tables, or of fewer columns each."
                raise OutOfRange(f"tables may have {_MOST_SPACES} parts in common at most", came="more", remedy=remedy)
            for space in _below(chains, axes):
                covers.setdefault(space, []).append(place)
        sums = tuple(prod(1 if level is None else chains[axis].groups[level] for axis, level in axes) for axes in shown)
        return cls(domain, listed, chains, shown, sums, covers)

    def __reduce__(self) -> tuple[Any, ...]:
        return MarginalSpaces.of, (self.domain, self.families)

    def base(self, family: Family) -> tuple[tuple[int, int], ...]:
        """The axes of a family with more than one group, each with the place of the coarsest even level below it."""
        axes = []
        for axis, level in enumerate(family):
            of = self.domain.axes[axis]
            if of.groups(level) > 1:
                axes.append((axis, max(at for at, even in enumerate(self.chains[axis].levels) if even <= level)))
        return tuple(axes)

    def below(self, axes: Sequence[tuple[int, int | None]]) -> Iterable[MarginalSpace]:
        """The spaces that lie in what these axes show, the finest first; one by one, since there may be 2^axes."""
        return _below(self.chains, axes)


@dataclass(frozen=True, slots=True, eq=False)
class MarginalErrors:
    """The errors of a workload when families are measured, as numbers of spaces and families.

    Attributes:
        spaces: the measured families; see `MarginalSpaces`.
        names: the spaces in which some answer lies.
        wanted: mu_T of each of these, weighted; (spaces,).
        parts: Spaces of each part of the workload, and their mu_T.
        rows, columns: pairs of a wanted space and a family that it lies in; (pairs,).
        sizes: Number of sums of each family, as floats; (families,).
    """

    spaces: MarginalSpaces
    names: tuple[MarginalSpace, ...] = field(repr=False)
    wanted: Floats = field(repr=False)
    parts: tuple[tuple[NDArray[np.intp], Floats], ...] = field(repr=False)
    rows: NDArray[np.intp] = field(repr=False)
    columns: NDArray[np.intp] = field(repr=False)
    sizes: Floats

    @classmethod
    def of(cls, workload: Workload, families: Iterable[Family]) -> "MarginalErrors":
        """The errors of a workload over a domain of even levels."""
        spaces = MarginalSpaces.of(workload.domain, families)
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
        """l_T of each wanted space, from the precision of each family's noise."""
        each = (precisions / self.sizes)[self.columns]
        return np.asarray(np.bincount(self.rows, weights=each, minlength=len(self.wanted)), dtype=float)

    def error(self, levels: Floats) -> float:
        """The weighted sum of the mean variances; inf where the families do not determine some answer."""
        with np.errstate(divide="ignore"):
            return float((self.wanted / self.eigenvalues(precision(levels))).sum())

    def slope(self, levels: Floats) -> tuple[float, Floats]:
        """The error, and its derivative in each level."""
        # What is not determined yet pulls harder than all else, and divides by no zero.
        eigenvalues = np.maximum(self.eigenvalues(precision(levels)), 1e-300)
        terms = self.wanted / eigenvalues
        pulls = np.bincount(self.columns, weights=(terms / eigenvalues)[self.rows], minlength=len(self.sizes))
        return float(terms.sum()), -pulls * np.sinh(np.minimum(levels, 650.0)) / self.sizes

    def variances(self, levels: Floats) -> list[float]:
        """The mean variance of each part's answers; inf where it is not determined."""
        with np.errstate(divide="ignore"):
            inverses = 1 / self.eigenvalues(precision(levels))
        return [float(squares @ inverses[own]) for own, squares in self.parts]

    def undetermined(self) -> int | None:
        """The first part of the workload that the families do not determine; None where there is none."""
        known = np.zeros(len(self.wanted), dtype=bool)
        known[self.rows] = True
        return next((at for at, (own, _) in enumerate(self.parts) if not known[own].all()), None)


def part_energies(workload: Workload) -> list[dict[MarginalSpace, Fraction]]:
    """The mu_T of the spaces in which each part's answers lie: the mean over them of |Q_T w|^2 / N.

    >>> part_energies(Workload(Domain(sex=["men", "women"], age=range(5)), {"sex": 1}))
    [{(): Fraction(1, 4), ((0, 0),): Fraction(1, 4)}]
    """
    chains: list[tuple[int, ...]] = []
    for name, axis in zip(workload.domain.columns, workload.domain.axes, strict=True):
        if axis.blocks is None:
            raise Unsupported("the groups of each level must have one size", came="several", where=f"axis {name!r}")
        chains.append(axis.blocks)
    known: dict[tuple[int, AxisSums], list[tuple[tuple[tuple[int, int], ...], Fraction]]] = {}
    return [_energies(part, workload.domain, chains, known) for part in workload.parts]


def _energies(
    part: WantedSums, domain: Domain, chains: Sequence[tuple[int, ...]], known: dict[Any, Any]
) -> dict[Any, Any]:
    choices = []
    for place, (axis, sums) in enumerate(zip(domain.axes, part.sums, strict=True)):
        if isinstance(sums, Groups) and sums.at == len(axis.levels):
            continue
        if (place, sums) not in known:
            rows = count_of(sums, axis)
            spectrum = enumerate(sums.spectrum(chains[place]))
            known[place, sums] = (
                rows,
                [
                    (((place, level),) if level < len(axis.levels) else (), Fraction(square) / (axis.size * rows))
                    for level, square in reversed(list(spectrum))
                    if square
                ],
            )
        choices.append(known[place, sums][1])
    energies: dict[MarginalSpace, Fraction] = {}
    for picked in product(*choices):
        space = tuple(level for levels, _ in picked for level in levels)
        energies[space] = prod((square for _, square in picked), start=Fraction(1))
    return energies


def _below(chains: Sequence[EvenChain], axes: Sequence[tuple[int, int | None]]) -> Iterable[MarginalSpace]:
    choices: list[list[MarginalSpace]] = []
    for axis, level in axes:
        own: list[MarginalSpace] = [((axis, at),) for at in chains[axis].above(level or 0)]
        choices.append(own if level is None else [*own, ()])
    for picked in product(*choices):
        yield tuple(level for levels in picked for level in levels)


def _kept(domain: Domain, chains: Sequence[EvenChain], family: Family) -> tuple[tuple[int, int | None], ...]:
    if is_listed(family) or is_hats(family):
        raise Unsupported("tables are measured by groups and differences", came=domain.family_name(family))
    axes: list[tuple[int, int | None]] = []
    for place, (axis, level) in enumerate(zip(domain.axes, family, strict=True)):
        if level == DIFFERENCE:
            axes.append((place, None))
        elif level < len(axis.levels) and axis.groups(level) > 1:
            if level not in chains[place].levels:
                raise Unsupported(
                    "the groups of a measured level must be of one size",
                    came="groups of several sizes",
                    where=repr(axis.levels[level]),
                    remedy="Measure the finest level instead; sums over the groups of this one can still be asked for.",
                )
            axes.append((place, chains[place].levels.index(level)))
    return tuple(axes)
