"""Lower bounds on the error of a workload for five classes of mechanisms, and the search for their certificates.

    per answer             any mechanism and any estimate, each answer by itself, at its own worst data set
    any mechanism          any mechanism and any estimate, all answers together, at the worst data set
    any unbiased           any mechanism with unbiased answers, at every data set
    any integer plan       independent geometric noise on any integer combinations of cells, linear unbiased estimates,
                           charged by all changes that one individual may make
    given marginals        independent geometric noise on the sums of given marginals, linear unbiased estimates

This module only searches for certificates, in floats; `workload_evidence` proves a bound from its certificate.

Source: proofs/theory/workload-bounds.md; [li2013] and [nikolov2024] for the constant Gamma.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from math import ldexp
from typing import Any

import numpy as np

from utmost.core.exact.arguments import instance, iterable, optional, text
from utmost.core.exact.arrays import Array, Floats
from utmost.core.exact.intervals import round_down
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, first_integer
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.workloads.bounds.bound_inequalities import (
    ChordShares,
    Directions,
    MatrixPart,
    MatrixRoots,
    MixedDirections,
    factors_of,
    mixed,
    row_totals,
)
from utmost.publish.workloads.bounds.marginal_bounds import TangentLevels, tangent_levels
from utmost.publish.workloads.bounds.workload_evidence import (
    BoundedProblem,
    LowerBound,
    WorkloadBounds,
    answers_below,
    cells_changed,
    changed_by_one,
    chord_of,
    exact_spectrum,
    is_alike,
    is_possible,
    is_whole,
    level_of_cells,
    marginal_blocks,
    matrix_parts,
    of_marginals,
    proven_bound,
)
from utmost.publish.workloads.measuring.even_levels import EvenLevels
from utmost.publish.workloads.measuring.measured_marginals import is_difference, measured_marginal
from utmost.publish.workloads.measuring.unit_charge import condition_around
from utmost.publish.workloads.measuring.variance_components import VarianceComponents
from utmost.publish.workloads.measuring.wanted_sums import wants_marginals
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Domain, Marginal

_MOST_MARGINALS = 256
_MIXED = 1 << 16

_INTEGER = "integer combinations of cells, each with geometric noise on the integers at its own level"
_ADDS = "one individual may add any number from 0 to the sensitivity to each of `cells` cells; a record may be empty"
_LINEAR = "answers by linear unbiased estimates, of which least squares are the best"
_CHARGED = "|change of a combination| times level, added up, is at most epsilon for all that one individual may change"
_TOGETHER = "any mechanism and any estimate, all answers together, at the worst data"
_PER_ANSWER = "any mechanism and any estimate, each answer at its own worst data"
_UNBIASED = "any mechanism with unbiased answers, at every data set"
_PUBLIC_TOTAL = "every individual is counted in the same number of cells, and no bounds are known for that"


@progress_bar("Searching for bounds")
def bounds_of(
    workload: Workload,
    unit: Unit,
    epsilon: Number | Level,
    marginals: Iterable[Any] | None = None,
    *,
    together: str | None = None,
) -> WorkloadBounds:
    """Compute lower bounds on the weighted error of a workload, each for a class of mechanisms, with a certificate.

    Args:
        workload: Wanted sums, and the weight of the error of each.
        unit: Unit of privacy.
        epsilon: Privacy level of the whole release.
        marginals: Marginals that a plan may measure. None stands for all marginals of the domain, or, if these are more
            than 256, for the cells and the wanted marginals; if the domain has several axes, only marginals whose
            groups have one size are used.
        together: Axis along which one individual changes all cells of one or several rows, as for `choose_plan`.

    Raises:
        NotALevel, OutOfRange: if the level or a marginal is invalid, if the domain does not have the axis ``together``,
            or if the size of this axis does not divide ``unit.cells``.

    Cost: a few thousand iterations, each over all pairs of a marginal and an eigenspace. If the workload treats the
    values of an axis differently (ranges, labels, groups of several sizes), the bounds also need a dozen
    eigendecompositions of a matrix over the values of such axes, at most 2000 values: some 15 seconds for 1024 values,
    and 2 seconds to check the certificate.

    >>> domain = Domain(region=[*range(20)], age=[*range(50)])
    >>> wanted = Workload(domain, {"region age": 1, "region": 1, "age": 1, "": 1})
    >>> bounds = bounds_of(wanted, Unit(1, 1), 1)
    >>> for kind, bound in bounds.by_class().items():
    ...     print(f"{kind}: {bound.value:.3f}")
    per answer: 7.365
    any mechanism: 27.490
    any unbiased: 13.745
    any integer plan: 27.490
    given marginals: 27.490
    """
    instance(workload, Workload, "workload")
    instance(unit, Unit, "unit")
    together = optional(together, text, "together")
    if marginals is not None:
        iterable(marginals, "marginals", or_text=True)
    at = level(epsilon)
    along = None if together is None else _axis_of_rows(workload, unit, together)
    chosen = _marginals(workload, marginals)
    missing: dict[str, str] = {}
    known: dict[int, Fraction] = {}

    def bound(kind: str, holds_for: str, hypotheses: str, certificate: Any = None) -> LowerBound:
        problem = BoundedProblem(workload, unit, at, chosen, together)
        value = round_down(proven_bound(kind, problem, certificate, known))
        return LowerBound(value, holds_for, hypotheses, certificate)

    worst = "mean squared error, each answer at its own worst data set; counts have no upper limit"
    first = bound("per answer", _PER_ANSWER, f"{worst}; {_adds(unit, together)}")
    jointly = unbiased = integer = over_marginals = None
    if unit.exactly:
        kinds = "any mechanism", "any unbiased", "any integer plan", "given marginals"
        missing = dict.fromkeys(kinds, _PUBLIC_TOTAL)
        means = tuple(round_down(mean) for mean in answers_below(workload, unit, at, together))
        return WorkloadBounds(workload, unit, at, chosen, first, None, None, None, None, missing, means, together)
    try:
        directions = _matrix_roots(matrix_parts(workload)) if not is_alike(workload) else None
        # If cells are not alike, the certificate is a matrix for each part; else it is `Directions`, with two numbers.
        best = directions or _directions(workload, unit, along)
        jointly = bound("any mechanism", _TOGETHER, _together_words(unit, best, together), best)
        unbiased = bound("any unbiased", _UNBIASED, _unbiased_words(best, together), best)
        single = directions or _directions(workload, changed_by_one(unit, at)[0], along)
        integer = bound("any integer plan", _INTEGER, f"{_CHARGED}; {_LINEAR}", single)
    except Unsupported as error:
        missing |= dict.fromkeys(("any unbiased", "any integer plan"), str(error))
    # The bound per answer holds for any mechanism, too, and may be the larger one.
    if jointly is None or jointly.value < first.value:
        jointly = bound("any mechanism", _TOGETHER, _together_words(unit, None, None))
    try:
        charged = of_marginals(unit, together)
        certificate = _over_marginals(workload, charged, at, chosen)
        if certificate is None:
            missing["given marginals"] = "the given marginals do not determine every wanted answer"
        else:
            words = _marginal_words(workload, charged, chosen, certificate)
            over_marginals = bound("given marginals", words, f"{_CHARGED}; {_LINEAR}", certificate)
    except Unsupported as error:
        missing["given marginals"] = str(error)
    means = tuple(round_down(mean) for mean in answers_below(workload, unit, at, together))
    return WorkloadBounds(
        workload, unit, at, chosen, first, jointly, unbiased, integer, over_marginals, missing, means, together
    )


def _over_marginals(
    workload: Workload, unit: Unit, at: Level, marginals: Sequence[Marginal]
) -> ChordShares | TangentLevels | None:
    """Return the certificate: tangents if many tables are wanted, else a chord's shares; None if none exists."""
    if wants_marginals(workload) or any(map(is_difference, marginals)):
        even, condition = EvenLevels.of(workload), condition_around(workload.domain, unit, marginals)
        measured = [even.reduced(marginal) for marginal in marginals]
        return tangent_levels(even.workload, measured, float(level_of_cells(unit, at).epsilon_float), condition)
    even_workload, blocks = marginal_blocks(workload, marginals)
    _, total, weight = chord_of(workload, unit, at, marginals, blocks)
    return _chord(blocks, exact_spectrum(even_workload, blocks), total, float(weight))


def _marginals(workload: Workload, marginals: Iterable[Any] | None) -> tuple[Marginal, ...]:
    domain: Domain = workload.domain
    if marginals is not None:
        return tuple(dict.fromkeys(measured_marginal(domain, marginal) for marginal in marginals))
    count = 1
    for axis in domain.axes:
        count *= len(axis.levels) + 1
    chosen = domain.marginals() if count <= _MOST_MARGINALS else dict.fromkeys((domain.finest, *workload.marginals))
    if len(domain.axes) == 1:
        return tuple(chosen)
    even = []  # with several axes, plans measure only marginals whose groups have one size
    for marginal in chosen:
        sizes = (axis.group_sizes(level) for axis, level in zip(domain.axes, marginal, strict=True))
        if all(bool((group_sizes == group_sizes[0]).all()) for group_sizes in sizes):
            even.append(marginal)
    return tuple(even)


def _together_words(
    unit: Unit, certificate: Directions | MixedDirections | MatrixRoots | None, together: str | None
) -> str:
    worst = "sum of mean squared errors, at the data set where this sum is largest; counts have no upper limit"
    alike = isinstance(certificate, Directions | MixedDirections) and mixed(certificate)
    replaced = alike and any(change.down or change.rows_down for change, _ in alike)
    return f"{worst}; {_adds(unit, together)}{'; a record may be replaced by any other' if replaced else ''}"


def _adds(unit: Unit, together: str | None) -> str:
    whole = "" if is_whole(unit) else "; the bound uses only additions of 0 and of the sensitivity"
    in_total = "" if unit.in_total is None else f", at most {unit.in_total} in total"
    row = f" in whole rows along {together!r}" if together else ""
    return f"{_ADDS}{row}{in_total}{whole}"


def _unbiased_words(certificate: Directions | MixedDirections | MatrixRoots, together: str | None) -> str:
    if isinstance(certificate, MatrixRoots):
        return "at every data set; one individual may add the sensitivity to any one cell; a record may be empty"
    directions = [direction for direction, _ in mixed(certificate)]
    up, down = max(change.up for change in directions), max(change.down for change in directions)
    rows = max(change.rows for change in directions)
    row = "" if together is None else f" of {'one row' if rows == 1 else f'{rows} rows'} along {together!r}"
    if not down and not any(change.rows_down for change in directions):
        added = f"may add the sensitivity to up to {up} cells{row}"
        return f"at every data set; one individual {added}; a record may be empty"
    return (
        f"at every data set whose cells are at least the sensitivity; one individual's record may be replaced so that "
        f"up to {up} cells{row} grow and up to {down or up} others fall by the sensitivity"
    )


def _marginal_words(
    workload: Workload, unit: Unit, marginals: Sequence[Marginal], certificate: ChordShares | TangentLevels
) -> str:
    """Describe the plans for which the bound is proved: those with a level for each marginal, or for each group."""
    if isinstance(certificate, TangentLevels):
        return "plans over the given marginals, with one level for each marginal"
    condition = condition_around(workload.domain, unit, marginals)
    if is_alike(workload) and not condition.free and min(unit.reach / unit.sensitivity, workload.domain.size) == 1:
        return "plans over the given marginals, every group with its own level"
    if len(workload.domain.axes) > 1 and any(axis.blocks is None for axis in workload.domain.axes):
        return "plans over the given marginals with groups of one size, with one level for each marginal"
    return "plans over the given marginals, with one level for each marginal"


def _axis_of_rows(workload: Workload, unit: Unit, together: str) -> int:
    """Return the index of the axis along which one individual changes whole rows."""
    columns = workload.domain.columns
    if together not in columns:
        raise OutOfRange(
            "together= must name an axis", came=repr(together), remedy=f"Name one of {', '.join(columns)}."
        )
    place = columns.index(together)
    if unit.cells % workload.domain.axes[place].size or unit.needs_sizes:
        remedy = "Leave out together=, or pass a unit whose cells are a multiple of the axis' size, without in_total."
        raise OutOfRange("with together=, one individual must change whole rows", came=repr(unit), remedy=remedy)
    return place


def _directions(workload: Workload, unit: Unit, along: int | None) -> Directions | MixedDirections:
    """Return the certificate with the largest bound: one of some candidate changes, or a mixture of two of them."""
    # For a given `down`, the root of the bound is concave in `up`; for a mixture of two changes, in their weights.
    blocks = VarianceComponents.of(workload.domain, (), workload.eigenspaces)
    spectrum = exact_spectrum(workload, blocks)
    largest = sum(spectrum)
    roots = np.sqrt(np.array([float(square / largest) for square in spectrum]) * blocks.dimensions)
    n = blocks.cells if along is None else workload.domain.axes[along].size
    of_kind = np.zeros((2, 2))
    for own, (total, rows_total) in zip(roots, row_totals(blocks, along), strict=True):
        of_kind[int(not total), int(not rows_total)] += own

    # Return the square root of the bound of a mixture, in floats: only `proven_bound` is exact.
    def root(*changes: tuple[float, Directions]) -> float:
        shown = np.zeros((2, 2))
        for weight, change in changes:
            cells, rows = factors_of(change, blocks)
            shown += weight * np.outer(np.array(cells, dtype=float), np.array(rows, dtype=float))
        return float((of_kind * np.sqrt(shown)).sum())

    most, most_rows = cells_changed(workload, unit, along)
    most, rows = min(most, n), min(most_rows, blocks.cells // n)
    replaced = unit.neighbours == "change-one"
    downs = {0, min(most, n // 2), min(most, n // 2) // 2} if replaced else {0}
    ups = {
        down: _peak(lambda up, down=down: root((1, Directions(up, down, along))), max(1, down), min(most, n - down))
        for down in downs
    }
    cells = {(1, 0), (most, 0), *((up, down) for down, up in ups.items())}
    lowered = min(most_rows, blocks.cells // n // 2) if replaced and along is not None else 0
    of_rows = {(1, 0), (rows, 0), (max(1, lowered), lowered)}
    tried = [Directions(up, down, along, *each) for up, down in cells for each in of_rows]
    tried = [change for change in tried if is_possible(change, unit, most, most_rows)]
    ranked = sorted(
        tried, key=lambda change: (-root((1, change)), change.up, change.down, change.rows, change.rows_down)
    )
    pairs = [
        (_peak(lambda step, pair=pair: root(*_weighted(pair, step)), 0, _MIXED), pair)
        for pair in combinations(ranked, 2)
    ]
    plain = (0, (ranked[0], ranked[0]))
    step, pair = max(pairs, key=lambda mixture: root(*_weighted(mixture[1], mixture[0])), default=plain)
    # Use a mixture only if it gains more than rounding errors.
    if root(*_weighted(pair, step)) <= root((1, ranked[0])) * (1 + 1e-9):
        return ranked[0]
    return MixedDirections(pair, (Fraction(_MIXED - step, _MIXED), Fraction(step, _MIXED)))


def _weighted(pair: tuple[Directions, Directions], step: int) -> list[tuple[float, Directions]]:
    return [(1 - step / _MIXED, pair[0]), (step / _MIXED, pair[1])]


def _peak(function: Any, low: int, high: int) -> int:
    """Return the argument in low..high at which a concave function of integers is largest."""
    return first_integer(low - 1, high, lambda place: function(place) >= function(place + 1))


def _chord(
    blocks: VarianceComponents,
    spectrum: Sequence[Fraction],
    total: int | None,
    weight: float,
    rounds: int = 20_000,
    gap: float = 1e-7,
) -> ChordShares | None:
    """Search for shares for `chord_below`: multiply them by sqrt(-dF/dz_S / F), repeatedly; None if F is infinite."""
    # At the optimum g_S = max g for all S with z_S > 0; and F = max g, plus g_total if the total has a free share.
    whole = sum(spectrum)
    squares = np.array([float(square / whole) for square in spectrum])
    present = np.array([square > 0 for square in spectrum])
    squares = squares[present]
    inside, free = blocks.below[present] * blocks.sizes, np.zeros(len(blocks.marginals))
    if total is not None:
        free[total] = 1
        inside[:, total] *= weight
    if (inside.sum(axis=1) == 0).any():
        return None
    z = np.full(len(blocks.marginals), 1 / len(blocks.marginals))
    for _ in range(rounds):
        eigenvalues = inside @ (z + free)
        quotients = squares / eigenvalues
        value, slopes = quotients.sum(), inside.T @ (quotients / eigenvalues)
        # The certificate proves value^2 / max slope, which equals the value at the optimum.
        if slopes.max() + slopes @ free <= value * (1 + gap):
            break
        z = z * np.sqrt(slopes / value)
        z /= z.sum()
    z = z + free
    # Round down by more than float errors: shares that add up to more than 1 would be no certificate.
    units = [int(share * (1 << 60)) for share in z / z.sum() * (1 - 1e-15 * len(z))]
    return ChordShares(tuple(Fraction(unit, 1 << 60) for unit in units))


def _matrix_roots(parts: Sequence[MatrixPart]) -> MatrixRoots:
    """Search for weights and roots: the next weights are the diagonal of the sum of the roots, scaled to total 1."""
    matrices = [np.asarray(part.matrix, dtype=float) / part.denominator for part in parts]
    n = len(matrices[0])
    y, best, best_weights = np.full(n, 1 / n), 0.0, np.full(n, 1 / n)
    for _ in range(12):
        roots = [_root(matrix, np.sqrt(y)) for matrix in matrices]
        diagonal = np.asarray(sum(part.times * root.diagonal() for part, root in zip(parts, roots, strict=True)))
        value = float(diagonal.sum())
        if value > best:
            best_weights = y
        # Any weights prove a bound: if the loop ends early, the bound is smaller, but holds.
        if value <= best * (1 + 1e-5):
            break
        # Keep weights above 0: the iteration multiplies them, so a weight of 0 would stay 0.
        best, y = value, np.maximum(diagonal, 1e-12 * value) / np.maximum(diagonal, 1e-12 * value).sum()
    q = np.maximum(1, np.rint(np.sqrt(best_weights / best_weights.max()) * (1 << 20)))
    integers, bits = list[Array](), list[int]()
    for matrix in matrices:
        root = _root(matrix, q)
        # Write the root in units of 2^-bits, in which its largest entry has about 60 bits.
        bits.append(max(0, 60 - int(np.frexp(np.abs(root).max())[1])))
        integers.append(np.empty(root.shape, dtype=object))
        integers[-1][:] = [[int(entry) for entry in row] for row in (root * ldexp(1.0, bits[-1])).tolist()]
    return MatrixRoots(tuple(int(w) for w in q), tuple(integers), tuple(bits))


def _root(matrix: Floats, q: Floats) -> Floats:
    """Return the square root of diag(q) matrix diag(q), in floats."""
    # An approximate root suffices: the proof takes the matrix as written, and bounds the error of its square.
    values, vectors = np.linalg.eigh(q[:, None] * matrix * q)
    root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
    return np.asarray((root + root.T) / 2)
