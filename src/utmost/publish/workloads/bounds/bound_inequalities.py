"""Inequalities that bound the error of a workload from below; each holds for any certificate, however it was found.

C is the diagonal matrix of the weights, W the matrix of the wanted rows, M = W' C W, and X the information matrix of
the cells under a mechanism or a plan. All numbers are integers and rationals; a rounded number makes the bound smaller,
never larger. The proofs are in proofs/theory/workload-bounds.md.

    answer          the least mean squared error of one number, given the sensitivity
    directions      tr(M X^-1) >= (tr sqrt(G^1/2 M G^1/2))^2 / tr(G X), where M and G are diagonal in the eigenspaces
    matrix          the same with G = diag(q)^2, from a matrix Z whose square is near diag(q) M diag(q)
    chord           min over z of F(z) = sum_T m_T / (L z)_T is at least F(z)^2 / max_S (-dF/dz_S), for every z
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, lcm, prod

import numpy as np
from flint import fmpz_mat

from utmost.core.exact.arrays import Array
from utmost.core.exact.levels import Level, integer_root
from utmost.errors import PromiseBroken
from utmost.publish.workloads.measuring.variance_components import VarianceComponents, dimension

_ROOT_BITS = 96
_MOST_BITS = 1 << 17


@dataclass(frozen=True, slots=True)
class Directions:
    """Certificate: one individual adds 1 to any ``up`` cells and subtracts 1 from any ``down`` other cells."""

    # If `along` is an axis, the change is within a row along this axis: the individual changes any `rows` rows by it,
    # and any `rows_down` other rows by its negative. G is the mean of d d' over all such changes d.
    up: int
    down: int = 0
    along: int | None = None
    rows: int = 1
    rows_down: int = 0


@dataclass(frozen=True, slots=True)
class MixedDirections:
    """Certificate: several kinds of changes, with positive weights that add up to 1."""

    directions: tuple[Directions, ...]
    weights: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixRoots:
    """Certificate: a weight for each cell, and for each `MatrixPart` an approximate root of its weighted matrix."""

    weights: tuple[int, ...]  # q > 0, one for each combination of values of the axes that are not symmetric; (n,)
    roots: tuple[Array, ...] = field(repr=False)  # for each part, Z times 2^bits: a symmetric integer matrix (n, n)
    bits: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChordShares:
    """Certificate: a budget share >= 0 for each marginal; they add up to at most 1."""

    shares: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixPart:
    """M on one eigenspace of the axes that the workload treats symmetrically: ``matrix / denominator``."""

    # M is the sum over the parts of (matrix / denominator) kron Q, with orthogonal projections Q of rank `times`.
    matrix: Array
    denominator: int
    times: int


def variance_below(level: Level) -> Fraction:
    """Return a rational just below 1/(cosh E - 1), the variance of geometric noise at level E; 0 if E > 90 000."""
    low = _alpha_below(level)
    return 2 * low / (1 - low) ** 2


def answer_below(level: Level, sensitivity: Fraction, whole: bool) -> Fraction:
    """Return a rational just below the least worst-case mean squared error of one answer over all mechanisms."""
    # D is the sensitivity. D^2/(cosh epsilon - 1) is always a lower bound. If the answer takes every integer value, and
    # any two integers that differ by at most D belong to neighbours (`whole`), the variance of the staircase on the
    # reals minus 1/12 is a lower bound, too.
    steps = sensitivity**2 * variance_below(level)
    if not whole or sensitivity < 2:
        return steps
    b = _alpha_below(level)
    cube = (b * (1 + b) / 2) ** 2
    leading = cube.denominator.bit_length() - max(cube.numerator.bit_length(), 1)
    bits = max(0, _ROOT_BITS + leading // 3 + 1)
    root = Fraction(integer_root((cube.numerator << 3 * bits) // cube.denominator, 3), 1 << bits)
    staircase = sensitivity**2 * (root + b) / (1 - b) ** 2
    return max(steps, staircase - Fraction(1, 12))


def mixed(certificate: Directions | MixedDirections) -> list[tuple[Directions, Fraction]]:
    """Return the changes of a certificate with their weights."""
    if isinstance(certificate, Directions):
        return [(certificate, Fraction(1))]
    weights = certificate.weights
    if len(weights) != len(certificate.directions) or any(weight <= 0 for weight in weights) or sum(weights) != 1:
        raise PromiseBroken(
            "the weights of the changes in a certificate must be positive and add up to 1", came="other weights"
        )
    return list(zip(certificate.directions, weights, strict=True))


def directions_below(
    blocks: VarianceComponents, spectrum: Sequence[Fraction], certificate: Directions | MixedDirections
) -> Fraction:
    """Return a rational just below (sum_T sqrt(m_T dim_T g_T))^2; m, g are the workload's and the changes' spectra."""
    # g_T is the eigenvalue of G on T: (up - down)^2/n on the total, else ((up + down) - (up - down)^2/n)/(n - 1); for
    # mixed directions, g_T is the weighted mean of these numbers. For up = 1, down = 0 all g_T are 1/n, and the bound
    # is the constant Gamma. If changes are within rows along an axis, n is the size of the axis, the total is the sum
    # along the axis, and g_T has a second factor of the same form for the rows.
    changes = mixed(certificate)
    along = changes[0][0].along
    if any(change.along != along for change, _ in changes):
        raise PromiseBroken("all changes in a certificate must be along one axis", came="several axes")
    weighed = [(factors_of(change, blocks), weight) for change, weight in changes]
    roots = Fraction(0)
    for T, square, (total, rows_total) in zip(blocks.eigenspaces, spectrum, row_totals(blocks, along), strict=True):
        dimensions = prod(dimension(chain, t) for chain, t in zip(blocks.chains, T, strict=True))
        shown = sum(weight * cells[not total] * rows[not rows_total] for (cells, rows), weight in weighed)
        roots += _root(square * dimensions * shown)[0]
    return roots**2


def factors_of(
    change: Directions, blocks: VarianceComponents
) -> tuple[tuple[Fraction, Fraction], tuple[Fraction, Fraction]]:
    """Return G's eigenvalues (on the total, elsewhere), as one pair for the cells of a row and one for the rows."""
    n = blocks.cells if change.along is None else blocks.chains[change.along][-1]
    return _eigenvalues(change.up, change.down, n), _eigenvalues(change.rows, change.rows_down, blocks.cells // n)


def _eigenvalues(up: int, down: int, n: int) -> tuple[Fraction, Fraction]:
    if type(up) is not int or type(down) is not int or min(up, down) < 0 or not 1 <= up + down <= n:
        raise PromiseBroken(
            "a direction must change at least one cell, and at most all cells", came=f"{up} cells up and {down} down"
        )
    square = Fraction((up - down) ** 2, n)
    return square, (up + down - square) / (n - 1) if n > 1 else Fraction(0)


def row_totals(blocks: VarianceComponents, along: int | None) -> list[tuple[bool, bool]]:
    """For each eigenspace, say whether its vectors are constant along ``along``, and whether along all other axes."""
    lasts = [len(chain) - 1 for chain in blocks.chains]
    if along is None:
        return [(list(T) == lasts, True) for T in blocks.eigenspaces]
    others = [at for at in range(len(lasts)) if at != along]
    return [(T[along] == lasts[along], all(T[at] == lasts[at] for at in others)) for T in blocks.eigenspaces]


def matrix_below(parts: Sequence[MatrixPart], certificate: MatrixRoots) -> Fraction:
    """Return a rational below Gamma = min {tr(M X^-1): X_jj <= 1}, M >= 0, from weights and approximate roots."""
    # Let N = diag(q) M diag(q). By the inequality of Powers and Stormer, tr sqrt(N) >= tr Z - sqrt(n |N - Z^2|_1). The
    # trace norm is at most sqrt(n) times the Frobenius norm. Then Gamma >= (sum of times tr sqrt(N))^2 / (ranks sum
    # q^2).
    q, n = certificate.weights, len(certificate.weights)
    if any(weight <= 0 for weight in q) or not len(parts) == len(certificate.roots) == len(certificate.bits):
        raise PromiseBroken(
            "every cell must have a positive weight, and every part must have a root", came="another certificate"
        )
    traces = Fraction(0)
    for part, root, bits in zip(parts, certificate.roots, certificate.bits, strict=True):
        if part.matrix.shape != (n, n) or root.shape != (n, n) or (root != root.T).any():
            raise PromiseBroken(f"a root must be a symmetric matrix of {n} rows", came=root.shape)
        trace = Fraction(sum(root.diagonal().tolist()), 1 << bits)
        # Compute |N - Z^2|_F^2 exactly.
        scale = 4**bits
        square = fmpz_mat(root.tolist())
        square = square * square
        weights = np.array(q, dtype=object)
        weighted = fmpz_mat((part.matrix * weights[:, None] * weights).tolist())
        gap = weighted * scale - square * part.denominator
        total = sum(int(entry) ** 2 for entry in gap.entries())
        off = _root_above(n * _root_above(n * Fraction(total, (scale * part.denominator) ** 2)))
        traces += part.times * max(trace - off, Fraction(0))
    return traces**2 / (sum(part.times for part in parts) * sum(weight**2 for weight in q))


def chord_below(
    blocks: VarianceComponents,
    spectrum: Sequence[Fraction],
    certificate: ChordShares,
    total: int | None = None,
    weight: Fraction = Fraction(1),
) -> Fraction:
    """Return F(z)^2 / max_S (-dF/dz_S), below F on the simplex; F(z) = sum_T m_T / sum_S below[T, S] m_S z_S."""
    # Let lambda = L z for the shares z of the certificate, and lambda' = L z' for any other shares z'. By Cauchy's
    # inequality sum m/lambda' >= (sum m/lambda)^2 / (sum m lambda'/lambda^2), and the last sum is g.z' <= max g. If
    # `total` is the index of a marginal with an additional free share, the last sum is at most g_total + max g;
    # `weight` multiplies the number of groups of the marginal `total`.
    z = certificate.shares  # below, quotients are rounded down in F and up in g
    if len(z) != len(blocks.marginals) or any(share < 0 for share in z) or sum(z) > 1:
        raise PromiseBroken(
            "each table must have a share of at least 0, and the shares must add up to at most 1", came="other shares"
        )
    sizes = [Fraction(prod(c[s] for c, s in zip(blocks.chains, S, strict=True))) for S in blocks.marginals]
    if total is not None:
        sizes[total] *= weight
    # From here on, all numbers are integers over one common denominator.
    over = lcm(weight.denominator, *(share.denominator for share in z)) * lcm(
        *(square.denominator for square in spectrum)
    )
    units = np.array([int(share * size * over) for share, size in zip(z, sizes, strict=True)], dtype=object)
    occurring = [row for row, square in enumerate(spectrum) if square > 0]
    squares = [int(spectrum[row] * over) for row in occurring]
    inside = blocks.below[occurring].astype(int).astype(object)
    eigenvalues = (inside * units).sum(axis=1).tolist()
    if not occurring or min(eigenvalues) <= 0:
        raise PromiseBroken("the shares must determine every wanted answer", came="other shares")
    bits = 2 * max(eigenvalues).bit_length() + _ROOT_BITS
    value = sum((square << bits) // own for square, own in zip(squares, eigenvalues, strict=True))
    steps = np.array([-((-square << bits) // own**2) for square, own in zip(squares, eigenvalues, strict=True)])
    slopes = ((inside * steps.astype(object)[:, None]).sum(axis=0) * np.array(sizes, dtype=object)).tolist()
    most: Fraction = max(slopes) + (slopes[total] if total is not None else 0)
    constant: Fraction = Fraction(value**2) / (most * (over << bits))
    return constant


def _alpha_below(level: Level) -> Fraction:
    """Return a rational below alpha, near enough for 20 correct digits of the variance; 0 for a huge level."""
    bits, enough = 128, 1 << 64
    while True:
        around = level.alpha_interval(bits)
        low, width = around.lower, around.width * enough
        if (width <= low and width <= 1 - around.upper) or bits >= _MOST_BITS:
            return low
        bits *= 2


def _root_above(square: Fraction) -> Fraction:
    return _root(square)[1]


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    if square <= 0:
        return Fraction(0), Fraction(0)
    leading = square.denominator.bit_length() - square.numerator.bit_length()
    bits = max(0, _ROOT_BITS + leading // 2 + 1)
    scaled = (square.numerator << 2 * bits) // square.denominator
    low = isqrt(scaled)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)
