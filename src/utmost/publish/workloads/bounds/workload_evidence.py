"""Lower bounds on the error of a workload as values, and their check from workload and certificate; no solver here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from math import inf, lcm, prod
from typing import NamedTuple

import numpy as np

from utmost.core.exact.arguments import instance
from utmost.core.exact.arrays import Array
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_down, round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, PromiseBroken, Unsupported
from utmost.publish.workloads.bounds.bound_inequalities import (
    ChordShares,
    Directions,
    MatrixPart,
    MatrixRoots,
    MixedDirections,
    answer_below,
    chord_below,
    directions_below,
    matrix_below,
    mixed,
    variance_below,
)
from utmost.publish.workloads.bounds.marginal_bounds import TangentLevels, tangents_below, wanted_spaces
from utmost.publish.workloads.measuring.axis_sums import AxisSums, Groups
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.unit_charge import room_around
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, dimension
from utmost.publish.workloads.workload import WantedSums, Workload
from utmost.tables.axes.domain import Family

MOST_ROWS = 2000
_MOST_WORK = 2 * MOST_ROWS**3
_CHORD_BITS = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LowerBound(Display):
    """A number that no mechanism or plan of a class is below.

    Attributes:
        value: the bound, rounded down: a weighted sum of variances or mean squared errors.
        holds_for: the class.
        hypotheses: Hypotheses under which it is proved.
        certificate: Evidence from which `check_lower_bounds` computes it; None where it is a closed form.
    """

    value: float
    holds_for: str
    hypotheses: str = field(repr=False)
    certificate: Directions | MixedDirections | MatrixRoots | ChordShares | TangentLevels | None = field(
        default=None, repr=False
    )

    def within(self, value: float) -> float:
        """How many times the bound a value is, rounded up; inf where the bound is 0 or the value infinite."""
        return round_up(Fraction(value) / Fraction(self.value)) if self.value > 0 and value < inf else inf


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkloadBounds(Display):
    """How small the error of a workload can be, by class; None where the class is not bounded here.

    Attributes:
        workload, unit, level: Subject of the bounds.
        families: Families of ``these_families``.
        per_answer: Bound for any mechanism, each answer by itself.
        any_mechanism: Bound for any mechanism, all answers together.
        any_unbiased: Bound for any mechanism whose answers are unbiased.
        any_integer_plan: Bound for independent geometric noise on any integer combinations of cells.
        these_families: Bound for the families given.
        not_bounded: Reason for each kind that is None.
        parts: Mean of the bound per answer over the answers of each part of the workload, in order.
        together: the axis along which one individual changes the cells of a row; None where ``unit`` says all.
    """

    workload: Workload = field(repr=False)
    unit: Unit
    level: Level
    families: tuple[Family, ...] = field(repr=False)
    per_answer: LowerBound
    any_mechanism: LowerBound | None
    any_unbiased: LowerBound | None
    any_integer_plan: LowerBound | None
    these_families: LowerBound | None
    not_bounded: Mapping[str, str]
    parts: tuple[float, ...] = field(repr=False)
    together: str | None = None

    def each(self) -> dict[str, LowerBound]:
        """The bounds there are, by kind."""
        bounds = {
            "per answer": self.per_answer,
            "any mechanism": self.any_mechanism,
            "any unbiased": self.any_unbiased,
            "any integer plan": self.any_integer_plan,
            "these families": self.these_families,
        }
        return {kind: bound for kind, bound in bounds.items() if bound is not None}

    def within(self, value: float) -> dict[str, float]:
        """How many times each bound the weighted variance of a plan is, rounded up."""
        return {kind: bound.within(value) for kind, bound in self.each().items()}


@progress_bar("Checking bounds")
def check_lower_bounds(bounds: WorkloadBounds) -> None:
    """Compute every bound again from the workload and its certificate, exactly.

    Raises:
        PromiseBroken: for a bound that its certificate does not prove, and for anything but a certificate.
    """
    instance(bounds, WorkloadBounds, "bounds")
    known: dict[int, Fraction] = {}
    for kind, bound in bounds.each().items():
        problem = Bounded(bounds.workload, bounds.unit, bounds.level, bounds.families, bounds.together)
        proven = proven_bound(kind, problem, bound.certificate, known)
        if not bound.value <= round_down(proven):
            raise PromiseBroken("the certificate must prove the bound", came=bound.value, where=kind)
    means = answers_below(bounds.workload, bounds.unit, bounds.level, bounds.together)
    if len(bounds.parts) != len(means) or any(
        not value <= round_down(mean) for value, mean in zip(bounds.parts, means, strict=True)
    ):
        raise PromiseBroken("no mechanism may be below a bound per answer", came="one that is", where="parts")


class Bounded(NamedTuple):
    """The subject of a bound: see `WorkloadBounds`."""

    workload: Workload
    unit: Unit
    level: Level
    families: Sequence[Family]
    together: str | None


def proven_bound(kind: str, problem: Bounded, certificate: object, known: dict[int, Fraction]) -> Fraction:
    """The bound that a certificate proves, as a rational rounded down.

    Args:
        known: Bounds proved by matrix certificates of this workload so far, by their identity; it is added to.
    """
    workload, unit, level, families, together = problem
    if kind == "per answer" or (kind == "any mechanism" and certificate is None):
        means = answers_below(workload, unit, level, together)
        return sum((part.weight * mean for part, mean in zip(workload.parts, means, strict=True)), Fraction(0))
    if kind == "these families":
        unit = of_families(unit, together)
    if kind == "these families" and isinstance(certificate, ChordShares):
        even, blocks = family_blocks(workload, families)
        at, total, weight = chord_of(workload, unit, level, families, blocks)
        return variance_below(at) * chord_below(blocks, exact_spectrum(even, blocks), certificate, total, weight)
    if kind == "these families" and isinstance(certificate, TangentLevels):
        levels, room = EvenLevels.of(workload), room_around(workload.domain, unit, families)
        reduced = [levels.reduced(family) for family in families]
        return tangents_below(levels.workload, reduced, level_of_cells(unit, level), room, certificate)
    if unit.exactly:
        raise PromiseBroken("one individual must be able to add to a cell", came="a public total", where=kind)
    if kind == "any integer plan":
        unit, level = changed_by_one(unit, level)
    if isinstance(certificate, Directions | MixedDirections):
        _check_directions(kind, workload, unit, certificate, together)
        blocks = VarianceComponents.of(workload.domain, (), workload.eigenspaces)
        if not is_alike(workload):
            raise PromiseBroken("directions prove a bound only where all cells are alike", came="others", where=kind)
        constant = directions_below(blocks, exact_spectrum(workload, blocks), certificate)
    elif isinstance(certificate, MatrixRoots):
        # Three bounds share one certificate, whose check is a product of integer matrices of thousands of rows.
        if id(certificate) not in known:
            known[id(certificate)] = matrix_below(matrix_parts(workload), certificate)
        constant = known[id(certificate)]
    else:
        raise PromiseBroken("a bound must have a certificate of its kind", came=type(certificate).__name__, where=kind)
    if kind == "any unbiased":
        return unit.sensitivity**2 * constant * variance_below(level) / 2
    if kind == "any mechanism":
        return constant * answer_below(level, unit.sensitivity, is_whole(unit))
    return variance_below(level.scaled(1 / unit.sensitivity)) * constant


def changed_by_one(unit: Unit, level: Level) -> tuple[Unit, Level]:
    """A relation and a level by which a plan of sums is bounded.

    Where a record may be replaced by its opposite, all that it can change is changed twice, and by independent
    geometric noise a plan pays twice: it keeps half the level for one record more or less. Else the unit's own.

    >>> from utmost.exact import level
    >>> changed_by_one(Unit(1, 3, "change-one"), level(1))[1].epsilon
    Fraction(1, 2)
    """
    if unit.neighbours == "add-remove" or unit.nonnegative:
        return unit, level
    return replace(unit, neighbours="add-remove"), level.scaled(Fraction(1, 2))


def chord_of(
    workload: Workload, unit: Unit, level: Level, families: Sequence[Family], blocks: VarianceComponents
) -> tuple[Level, int | None, Fraction]:
    """The level up to which precision is below its chord, the family that has a share for nothing, and its weight.

    With p(e) = cosh e - 1 and shares of E of at most 1, but for the total of at most 2: p(r E) <= r p(E), and
    p(r E) <= r p(2E)/2 = r (p(E) + 2) p(E) for the total.
    """
    room = room_around(workload.domain, unit, families)
    at = level_of_cells(unit, level).scaled(room.scale)
    totals = np.flatnonzero(blocks.sizes == blocks.cells)
    variance = variance_below(at)
    if not (room.free and len(totals) and variance):
        return at, None, Fraction(1)
    # Nothing here but the workload, the unit and the shares: the certificate cannot choose its own weight.
    above = -(-(1 << _CHORD_BITS) // variance)  # rounded up: a larger weight is a smaller bound
    return at, int(totals[0]), Fraction(above, 1 << _CHORD_BITS) + 2


def level_of_cells(unit: Unit, level: Level) -> Level:
    """The level of share 1, for what a cell changes by 1: epsilon over cells (twice where a record is replaced) and
    sensitivity."""
    return unit.per_cell(level).scaled(1 / unit.sensitivity)


def cells_changed(workload: Workload, unit: Unit, along: int | None) -> tuple[int, int]:
    """How many cells one individual may raise; along an axis, of a row, and in how many rows."""
    if along is None:
        return unit.whole_cells, 1
    size = workload.domain.axes[along].size
    return size, unit.cells // size


def place_of(workload: Workload, unit: Unit, together: str | None) -> int | None:
    """The place of the axis along which one individual changes the cells of whole rows; None where there is none."""
    if together is None:
        return None
    columns = workload.domain.columns
    if together not in columns:
        raise PromiseBroken("cells that change together must lie along an axis", came=repr(together))
    if unit.cells % workload.domain.axes[columns.index(together)].size or unit.in_all is not None:
        raise PromiseBroken("cells that change together along an axis must be those of whole rows", came=repr(unit))
    return columns.index(together)


def is_possible(change: Directions, unit: Unit, most: int, rows: int) -> bool:
    """Whether one individual can change so many cells of so many rows, by ``cells_changed``.

    What is raised is one record, and what is lowered another, of which each is in so many rows.
    """
    if change.rows < 1 or change.rows_down < 0 or max(change.up, change.down) > most:
        return False
    lowers = change.down > 0 or change.rows_down > 0
    touched = change.rows + change.rows_down if change.up and change.down else max(change.rows, change.rows_down)
    return touched <= rows and (unit.neighbours == "change-one" or not lowers)


def of_families(unit: Unit, together: str | None) -> Unit:
    """The unit that families are charged for where whole rows are changed.

    So many cells lie in whole rows, too; those of two records need not keep apart there, so that one record more or
    less is what such plans are bounded by.
    """
    return unit if together is None or not unit.leaves_totals else replace(unit, neighbours="add-remove")


def _check_directions(
    kind: str, workload: Workload, unit: Unit, certificate: Directions | MixedDirections, together: str | None
) -> None:
    """An individual must be able to go there."""
    along = place_of(workload, unit, together)
    most, rows = cells_changed(workload, unit, along)
    if any(change.along != along or not is_possible(change, unit, most, rows) for change, _ in mixed(certificate)):
        raise PromiseBroken("an individual must be able to change so many cells", came=f"{certificate}", where=kind)


def is_whole(unit: Unit) -> bool:
    """Whether one individual may add every integer up to the most; not where what one cell gets another is short of."""
    return unit.sensitivity.denominator == unit.reach.denominator == 1 and not unit.is_shared


def answers_below(workload: Workload, unit: Unit, level: Level, together: str | None = None) -> list[Fraction]:
    """The mean over the answers of each part of a number that no mechanism is below.

    Args:
        together: the axis along which one individual changes the cells of a row, or of so many rows as the unit has.
    """
    whole = is_whole(unit)
    known: dict[int, Fraction] = {}
    means = []
    for part in workload.parts:
        total = Fraction(0)
        for (size, cells), answers in _changed_cells(part, workload, unit, together).items():
            if unit.exactly:  # who enters one of these cells leaves another that is none of them
                cells = min(cells, workload.domain.size - size)
            if not cells:
                continue
            if cells not in known:
                most = min(unit.sensitivity * cells, unit.reach if whole else unit.sensitivity * unit.whole_cells)
                known[cells] = answer_below(level, most, whole)
            total += answers * known[cells]
        means.append(total / part.answers)
    return means


def _changed_cells(
    part: WantedSums, workload: Workload, unit: Unit, together: str | None
) -> dict[tuple[int, int], int]:
    """How many cells an answer adds up, of how many one individual changes each, and how many answers do."""
    domain = workload.domain
    along = place_of(workload, unit, together)
    if along is None:
        return {(size, min(size, unit.cells)): answers for size, answers in part.sizes(domain).items()}
    others = [at for at in range(len(domain.axes)) if at != along]
    _, rows = cells_changed(workload, unit, along)
    counts: dict[tuple[int, int], int] = {}
    for own, answers in part.sizes(domain, [along]).items():
        for across, times in (part.sizes(domain, others) if others else {1: 1}).items():
            key = (own * across, own * min(across, rows))
            counts[key] = counts.get(key, 0) + answers * times
    return counts


def family_blocks(workload: Workload, families: Sequence[Family]) -> tuple[Workload, VarianceComponents]:
    """The workload as it is said over even levels, and the block structure of these families there.

    Raises:
        Unsupported: for a family of groups of several sizes, and for one tree of such groups by itself, whose uneven
            levels are measured, too.
    """
    if len(workload.domain.axes) == 1:
        return workload, VarianceComponents.of(workload.domain, families, workload.eigenspaces)
    even = EvenLevels.of(workload)
    reduced = [even.reduced(family) for family in families]
    return even.workload, VarianceComponents.of(even.workload.domain, reduced, even.workload.eigenspaces)


def exact_spectrum(workload: Workload, blocks: VarianceComponents) -> list[Fraction]:
    """The workload's spectrum as rationals."""
    wanted = wanted_spaces(workload)
    lasts = [len(chain) - 1 for chain in blocks.chains]
    spaces = (
        tuple((axis, level) for axis, (level, last) in enumerate(zip(T, lasts, strict=True)) if level < last)
        for T in blocks.eigenspaces
    )
    return [wanted.get(space, Fraction(0)) * blocks.cells for space in spaces]


def is_alike(workload: Workload) -> bool:
    """Whether all cells are alike: whole families only, of axes whose groups have one size at each level."""
    return not _unlike_axes(workload)


def _unlike_axes(workload: Workload) -> list[int]:
    """The axes along which the workload, or the axis itself, tells values apart."""

    domain = workload.domain
    along = [{part.sums[a] for part in workload.parts} for a in range(len(domain.axes))]
    return [
        a
        for a, (axis, of) in enumerate(zip(domain.axes, along, strict=True))
        if axis.blocks is None or not all(isinstance(sums, Groups) and sums.only is None for sums in of)
    ]


def matrix_parts(workload: Workload) -> list[MatrixPart]:
    """M, split along the axes whose values are alike, with one matrix over the values of the others.

    A part of zeros stays: where nothing is wanted, information that one individual limits can still be spent.

    Raises:
        Unsupported: where these have more than 2000 values together, or fewer for many eigenspaces of the others.
    """
    domain, unlike = workload.domain, _unlike_axes(workload)
    alike = [a for a in range(len(domain.axes)) if a not in unlike]
    rows = prod(domain.axes[a].size for a in unlike)
    chains = [domain.axes[a].blocks or () for a in alike]
    if rows > MOST_ROWS or rows**3 * prod(map(len, chains)) > _MOST_WORK:
        raise Unsupported(
            f"the bound needs a matrix over at most {MOST_ROWS} values of the axes whose values are not alike",
            came=rows,
            remedy="The bounds per answer and over the families given need none.",
        )
    grams = []
    for part in workload.parts:
        product_gram: Array = np.ones((1, 1))
        for a in unlike:
            product_gram = np.kron(product_gram, part.sums[a].gram(domain.axes[a]))
        grams.append(_integers(product_gram))
    weights = [part.weight / part.answers for part in workload.parts]
    # Integers over one denominator: the check multiplies matrices of them, which Fractions would make a thousand times
    # slower.
    below = lcm(*(weight.denominator for weight in weights))
    parts = []
    for T in product(*(range(len(chain)) for chain in chains)):
        times = prod(dimension(chain, t) for chain, t in zip(chains, T, strict=True))
        total = np.zeros((rows, rows), dtype=object)
        for weight, gram, part in zip(weights, grams, workload.parts, strict=True):
            total = total + int(weight * below) * _on_eigenspace(part.sums, alike, chains, T) * gram
        if times:
            parts.append(MatrixPart(total, below, times))
    return parts


def _on_eigenspace(
    sums: Sequence[AxisSums], alike: Sequence[int], chains: Sequence[Sequence[int]], T: Sequence[int]
) -> int:
    """The eigenvalue of the whole families' matrix on T: on each axis the size of a group, 0 below its level."""
    eigenvalue = 1
    for a, chain, t in zip(alike, chains, T, strict=True):
        own = sums[a]
        assert isinstance(own, Groups), "only whole families leave values alike"
        eigenvalue *= chain[own.at] if t >= own.at else 0
    return eigenvalue


def _integers(matrix: Array) -> Array:
    """Counts in floats, as Python integers."""
    # Beyond it a count in floats may have been rounded, and the matrix would be another workload's.
    if matrix.max() >= 2.0**53:
        raise OutOfRange("the matrix of a workload must hold numbers below 2^53", came="larger ones")
    return matrix.astype(np.int64).astype(object)
