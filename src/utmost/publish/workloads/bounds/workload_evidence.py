"""Check lower bounds on the error of a workload from their certificates, without a solver."""

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
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.unit_charge import condition_around
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, dimension
from utmost.publish.workloads.workload import WantedSums, Workload
from utmost.tables.axes.domain import Marginal

MOST_ROWS_OF_A_BOUND = 2000
_MOST_WORK = 2 * MOST_ROWS_OF_A_BOUND**3
_CHORD_BITS = 64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LowerBound(Display):
    """A lower bound on the error of every mechanism or plan of a class."""

    value: float  # weighted sum of variances or mean squared errors, rounded down
    holds_for: str  # description of the class, for people
    hypotheses: str = field(repr=False)  # the conditions of the proof, for people
    # None if the bound is a closed form
    certificate: Directions | MixedDirections | MatrixRoots | ChordShares | TangentLevels | None = field(
        default=None, repr=False
    )

    def ratio(self, value: float) -> float:
        """Return value / bound, rounded up; inf if the bound is 0 or the value is infinite."""
        return round_up(Fraction(value) / Fraction(self.value)) if self.value > 0 and value < inf else inf


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkloadBounds(Display):
    """Lower bounds on the error of a workload, one for each class; None for a class without a bound."""

    workload: Workload = field(repr=False)
    unit: Unit
    level: Level
    marginals: tuple[Marginal, ...] = field(repr=False)  # the marginals that `given_marginals` is about
    per_answer: LowerBound  # any mechanism, each answer by itself
    any_mechanism: LowerBound | None  # any mechanism, all answers together
    any_unbiased: LowerBound | None  # any mechanism with unbiased answers
    any_integer_plan: LowerBound | None  # independent geometric noise on integer combinations of cells
    given_marginals: LowerBound | None  # plans over the given marginals
    not_bounded: Mapping[str, str]  # for each class without a bound, the reason
    # for each part of the workload, the bound per answer, averaged over the part's answers
    parts: tuple[float, ...] = field(repr=False)
    together: str | None = None  # the axis along which one individual changes whole rows

    def by_class(self) -> dict[str, LowerBound]:
        """Return the bounds that exist, by class."""
        bounds = {
            "per answer": self.per_answer,
            "any mechanism": self.any_mechanism,
            "any unbiased": self.any_unbiased,
            "any integer plan": self.any_integer_plan,
            "given marginals": self.given_marginals,
        }
        return {kind: bound for kind, bound in bounds.items() if bound is not None}

    def ratios(self, value: float) -> dict[str, float]:
        """Return a plan's weighted variance divided by each bound, rounded up."""
        return {kind: bound.ratio(value) for kind, bound in self.by_class().items()}


@progress_bar("Checking bounds")
def check_lower_bounds(bounds: WorkloadBounds) -> None:
    """Compute every bound again from the workload and its certificate, exactly.

    Raises:
        PromiseBroken: if a certificate is invalid, or does not prove its bound.
    """
    instance(bounds, WorkloadBounds, "bounds")
    known: dict[int, Fraction] = {}
    for kind, bound in bounds.by_class().items():
        problem = BoundedProblem(bounds.workload, bounds.unit, bounds.level, bounds.marginals, bounds.together)
        proven = proven_bound(kind, problem, bound.certificate, known)
        if not bound.value <= round_down(proven):
            raise PromiseBroken("the certificate must prove the bound", came=bound.value, where=kind)
    means = answers_below(bounds.workload, bounds.unit, bounds.level, bounds.together)
    if len(bounds.parts) != len(means) or any(
        not value <= round_down(mean) for value, mean in zip(bounds.parts, means, strict=True)
    ):
        raise PromiseBroken(
            "the bound of each part must be proved by its certificate", came="a larger number", where="parts"
        )


class BoundedProblem(NamedTuple):
    """The problem that a bound is about; the fields are those of `WorkloadBounds`."""

    workload: Workload
    unit: Unit
    level: Level
    marginals: Sequence[Marginal]
    together: str | None


def proven_bound(kind: str, problem: BoundedProblem, certificate: object, known: dict[int, Fraction]) -> Fraction:
    """Return the bound that a certificate proves, rounded down; ``known`` caches bounds by id(certificate)."""
    workload, unit, level, marginals, together = problem
    if kind == "per answer" or (kind == "any mechanism" and certificate is None):
        means = answers_below(workload, unit, level, together)
        return sum((part.weight * mean for part, mean in zip(workload.parts, means, strict=True)), Fraction(0))
    if kind == "given marginals":
        unit = of_marginals(unit, together)
    if kind == "given marginals" and isinstance(certificate, ChordShares):
        even, blocks = marginal_blocks(workload, marginals)
        at, total, weight = chord_of(workload, unit, level, marginals, blocks)
        return variance_below(at) * chord_below(blocks, exact_spectrum(even, blocks), certificate, total, weight)
    if kind == "given marginals" and isinstance(certificate, TangentLevels):
        levels, condition = EvenLevels.of(workload), condition_around(workload.domain, unit, marginals)
        reduced = [levels.reduced(marginal) for marginal in marginals]
        return tangents_below(levels.workload, reduced, level_of_cells(unit, level), condition, certificate)
    if unit.exactly:
        raise PromiseBroken("this bound needs a total that is not public", came="a public total", where=kind)
    if kind == "any integer plan":
        unit, level = changed_by_one(unit, level)
    if isinstance(certificate, Directions | MixedDirections):
        along = place_of(workload, unit, together)
        most, rows = cells_changed(workload, unit, along)
        if any(change.along != along or not is_possible(change, unit, most, rows) for change, _ in mixed(certificate)):
            raise PromiseBroken(
                "the changes in a certificate must be possible for one individual", came=f"{certificate}", where=kind
            )
        blocks = VarianceComponents.of(workload.domain, (), workload.eigenspaces)
        if not is_alike(workload):
            required = "a certificate of directions needs cells that are all alike"
            raise PromiseBroken(required, came="unlike cells", where=kind)
        constant = directions_below(blocks, exact_spectrum(workload, blocks), certificate)
    elif isinstance(certificate, MatrixRoots):
        # Three bounds share a certificate, and its check multiplies integer matrices of thousands of rows.
        if id(certificate) not in known:
            known[id(certificate)] = matrix_below(matrix_parts(workload), certificate)
        constant = known[id(certificate)]
    else:
        raise PromiseBroken(
            "a bound must have a certificate of its own kind", came=type(certificate).__name__, where=kind
        )
    if kind == "any unbiased":
        return unit.sensitivity**2 * constant * variance_below(level) / 2
    if kind == "any mechanism":
        return constant * answer_below(level, unit.sensitivity, is_whole(unit))
    return variance_below(level.scaled(1 / unit.sensitivity)) * constant


def changed_by_one(unit: Unit, level: Level) -> tuple[Unit, Level]:
    """Return the unit and the level for which errors of plans of integer combinations are bounded."""
    # If a record may be replaced by its negative, a cell may change by twice the sensitivity. Independent geometric
    # noise then loses twice as much as for one record added or removed, so adding or removing has half the level.
    if unit.neighbours == "add-remove" or unit.nonnegative:
        return unit, level
    return replace(unit, neighbours="add-remove"), level.scaled(Fraction(1, 2))


def chord_of(
    workload: Workload, unit: Unit, level: Level, marginals: Sequence[Marginal], blocks: VarianceComponents
) -> tuple[Level, int | None, Fraction]:
    """Return the level E of share 1; the index of a total that is not charged, or None; a bound on p(r E)/(r p(E))."""
    # Let p(e) = cosh e - 1. A share r is at most 1, so p(r E) <= r p(E); the total's share is at most 2, so p(r E) <= r
    # p(2E)/2 = r (p(E) + 2) p(E).
    condition = condition_around(workload.domain, unit, marginals)
    at = level_of_cells(unit, level).scaled(condition.scale)
    totals = np.flatnonzero(blocks.sizes == blocks.cells)
    variance = variance_below(at)
    if not (condition.free and len(totals) and variance):
        return at, None, Fraction(1)
    # The weight depends on the workload and the unit only: a certificate cannot choose it.
    above = -(-(1 << _CHORD_BITS) // variance)  # rounded up: a larger weight makes the bound smaller
    return at, int(totals[0]), Fraction(above, 1 << _CHORD_BITS) + 2


def level_of_cells(unit: Unit, level: Level) -> Level:
    """Return the level of noise at share 1 if a cell changes by 1, not by the sensitivity."""
    return unit.per_cell(level).scaled(1 / unit.sensitivity)


def cells_changed(workload: Workload, unit: Unit, along: int | None) -> tuple[int, int]:
    """Return how many cells of a row one individual may enlarge, and in how many rows; 1 row if ``along`` is None."""
    if along is None:
        return unit.whole_cells, 1
    size = workload.domain.axes[along].size
    return size, unit.cells // size


def place_of(workload: Workload, unit: Unit, together: str | None) -> int | None:
    """Return the index of the axis ``together``, along which one individual changes whole rows; None without one."""
    if together is None:
        return None
    columns = workload.domain.columns
    if together not in columns:
        raise PromiseBroken("together= must name an axis", came=repr(together))
    if unit.cells % workload.domain.axes[columns.index(together)].size or unit.in_total is not None:
        raise PromiseBroken("with together, one individual must change whole rows", came=repr(unit))
    return columns.index(together)


def is_possible(change: Directions, unit: Unit, most: int, rows: int) -> bool:
    """Whether one individual can make this change, with the limits ``most`` and ``rows`` of `cells_changed`."""
    # The enlarged cells belong to one record, the lowered cells to another; each record is in at most `rows` rows.
    if change.rows < 1 or change.rows_down < 0 or max(change.up, change.down) > most:
        return False
    lowers = change.down > 0 or change.rows_down > 0
    touched = change.rows + change.rows_down if change.up and change.down else max(change.rows, change.rows_down)
    return touched <= rows and (unit.neighbours == "change-one" or not lowers)


def of_marginals(unit: Unit, together: str | None) -> Unit:
    """Return the unit by which marginals are charged, if one individual changes whole rows along ``together``."""
    # The rows of the old and the new record may coincide, so the bound is for one record added or removed.
    return unit if together is None or not unit.leaves_totals else replace(unit, neighbours="add-remove")


def is_whole(unit: Unit) -> bool:
    """Whether one individual may add every integer up to the sensitivity to a cell, independently of other cells."""
    return unit.sensitivity.denominator == unit.reach.denominator == 1 and not unit.is_shared


def answers_below(workload: Workload, unit: Unit, level: Level, together: str | None = None) -> list[Fraction]:
    """For each part, return the mean over its answers of a lower bound on the answer's error under any mechanism."""
    whole = is_whole(unit)
    known: dict[int, Fraction] = {}
    means = []
    for part in workload.parts:
        total = Fraction(0)
        for (size, cells), answers in _changed_cells(part, workload, unit, together).items():
            if unit.exactly:  # whoever enters a cell of the answer leaves a cell outside it
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
    """Count the answers by (number of cells added up, number of these cells that one individual changes)."""
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


def marginal_blocks(workload: Workload, marginals: Sequence[Marginal]) -> tuple[Workload, VarianceComponents]:
    """Return the workload over even levels (`EvenLevels`), and the marginals' variance components over these levels."""
    if len(workload.domain.axes) == 1:
        return workload, VarianceComponents.of(workload.domain, marginals, workload.eigenspaces)
    even = EvenLevels.of(workload)
    reduced = [even.reduced(marginal) for marginal in marginals]
    return even.workload, VarianceComponents.of(even.workload.domain, reduced, even.workload.eigenspaces)


def exact_spectrum(workload: Workload, blocks: VarianceComponents) -> list[Fraction]:
    wanted = wanted_spaces(workload)
    lasts = [len(chain) - 1 for chain in blocks.chains]
    spaces = (
        tuple((axis, level) for axis, (level, last) in enumerate(zip(T, lasts, strict=True)) if level < last)
        for T in blocks.eigenspaces
    )
    return [wanted.get(space, Fraction(0)) * blocks.cells for space in spaces]


def is_alike(workload: Workload) -> bool:
    """Whether the workload treats all cells alike: it has only complete tables, over axes of even levels."""
    return not _unlike_axes(workload)


def _unlike_axes(workload: Workload) -> list[int]:
    """Return the axes whose values the workload treats differently, or whose levels have groups of several sizes."""

    domain = workload.domain
    along = [{part.sums[a] for part in workload.parts} for a in range(len(domain.axes))]
    return [
        a
        for a, (axis, of) in enumerate(zip(domain.axes, along, strict=True))
        if axis.blocks is None or not all(isinstance(sums, Groups) and sums.only is None for sums in of)
    ]


def matrix_parts(workload: Workload) -> list[MatrixPart]:
    """Split M into eigenspaces of the symmetric axes; each part is a matrix over the values of the other axes."""
    # Parts of zeros stay: a plan may spend information in an eigenspace that no wanted answer needs.
    domain, unlike = workload.domain, _unlike_axes(workload)
    alike = [a for a in range(len(domain.axes)) if a not in unlike]
    rows = prod(domain.axes[a].size for a in unlike)
    chains = [domain.axes[a].blocks or () for a in alike]
    if rows > MOST_ROWS_OF_A_BOUND or rows**3 * prod(map(len, chains)) > _MOST_WORK:
        raise Unsupported(
            "axes with ranges, labels or uneven groups must have at most "
            f"{MOST_ROWS_OF_A_BOUND} values together for this bound",
            came=rows,
            remedy="Compute bounds of single answers, or over given marginals: these bounds have no such limit.",
        )
    grams = []
    for part in workload.parts:
        product_gram: Array = np.ones((1, 1))
        for a in unlike:
            product_gram = np.kron(product_gram, part.sums[a].gram(domain.axes[a]))
        # Floats round larger counts, so the matrix would be of another workload.
        if product_gram.max() >= 2.0**53:
            raise OutOfRange("the matrix of a workload must have entries below 2^53", came="larger entries")
        grams.append(product_gram.astype(np.int64).astype(object))
    weights = [part.weight / part.answers for part in workload.parts]
    # Use integers over one denominator: the check multiplies matrices a thousand times faster than with Fractions.
    below = lcm(*(weight.denominator for weight in weights))
    parts = []
    for T in product(*(range(len(chain)) for chain in chains)):
        times = prod(dimension(chain, t) for chain, t in zip(chains, T, strict=True))
        total = np.zeros((rows, rows), dtype=object)
        for weight, gram, part in zip(weights, grams, workload.parts, strict=True):
            eigenvalue = 1
            for place, chain, t in zip(alike, chains, T, strict=True):
                own = part.sums[place]
                assert isinstance(own, Groups), "values are alike only where complete tables are wanted"
                eigenvalue *= chain[own.at] if t >= own.at else 0
            total = total + int(weight * below) * eigenvalue * gram
        if times:
            parts.append(MatrixPart(total, below, times))
    return parts
