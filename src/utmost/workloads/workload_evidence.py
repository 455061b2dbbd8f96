"""Lower bounds on the error of a workload from their certificates, in rationals and outward rounding; no solver here.

Every bound is an inequality that holds for *any* certificate of its kind, so nothing has to be trusted about how the
certificate was found. C = diag(weights), W the wanted rows, M = W' C W, X the information that a mechanism or strategy
has about the atoms. The proofs are in docs/theory/workload-bounds.md.

    per answer      the least mean squared error of one number on a line of neighbours: only the sensitivity enters
    spectral        tr(M X^-1) >= (tr sqrt(G^1/2 M G^1/2))^2 / tr(G X), where M and G are diagonal in the eigenspaces
    of a matrix     the same with G = diag(q)^2, from a matrix Z whose square is near diag(q) M diag(q)
    chord           min over z of F(z) = sum_T m_T / (L z)_T is at least F(z)^2 / max_S (-dF/dz_S), for every z
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, lcm, prod

from flint import fmpz_mat

from utmost.errors import PromiseBroken
from utmost.exact import Array, Level
from utmost.exact.levels import integer_root
from utmost.workloads.blocks import Blocks

_ROOT_BITS = 96
_MOST_BITS = 1 << 17


@dataclass(frozen=True, slots=True)
class Directions:
    """Certificate of a spectral bound: one individual adds to any ``up`` atoms and takes from any ``down`` others.

    G is the mean of d d' over all such d, with entries 1, -1 and 0.
    """

    up: int
    down: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class MatrixRoots:
    """Certificate of a bound by matrices: weights of the atoms, and near roots of the weighted matrices.

    Attributes:
        weights: q, positive integers, (n,).
        roots: of each part of the workload an integer symmetric matrix, (n, n); divided by 2^bits it is Z.
        bits: of each part.
    """

    weights: tuple[int, ...]
    roots: tuple[Array, ...]
    bits: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChordShares:
    """Certificate of a chord bound: a share of each family, nonnegative rationals that add up to at most 1."""

    shares: tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixPart:
    """M on some eigenspaces of the other axes: an integer matrix over ``denominator``, that many ``times``.

    M = sum over the parts of (matrix/denominator) kron Q, with projections Q of rank ``times`` orthogonal to each other.
    """

    matrix: Array
    denominator: int
    times: int


def variance_below(level: Level) -> Fraction:
    """A rational just below 1/(cosh E - 1), the variance of geometric noise of this level; 0 beyond 90 000.

    >>> from utmost.exact import level
    >>> float(variance_below(level(1)))
    1.841347...
    """
    low, high = _alpha_ends(level)
    del high
    return 2 * low / (1 - low) ** 2


def answer_below(level: Level, sensitivity: Fraction, whole: bool) -> Fraction:
    """A rational just below the least worst mean squared error of one answer, for any mechanism and any estimate.

    Args:
        sensitivity: D, by how much one individual changes the answer.
        whole: whether the answer takes every integer, and any two at most D apart belong to neighbours.

    D^2/(cosh epsilon - 1) always; where ``whole``, also the variance of the staircase on the reals, less 1/12.

    >>> from utmost.exact import level
    >>> [round(float(answer_below(level(1), Fraction(D), True)), 4) for D in (1, 2)]
    [1.8413, 7.5965]
    """
    steps = sensitivity**2 * variance_below(level)
    if not whole or sensitivity < 2:
        return steps
    b = _alpha_ends(level)[0]
    staircase = sensitivity**2 * (_cube_root_below((b * (1 + b) / 2) ** 2) + b) / (1 - b) ** 2
    return max(steps, staircase - Fraction(1, 12))


def spectral_below(blocks: Blocks, spectrum: Sequence[Fraction], certificate: Directions) -> Fraction:
    """A rational just below (sum_T sqrt(m_T dim_T g_T))^2, where all atoms are alike.

    g_T is the eigenvalue of G on T: (up - down)^2/n on the total, ((up + down) - (up - down)^2/n)/(n - 1) elsewhere.
    For up = 1, down = 0 all are 1/n, and the bound is the constant Gamma of a workload that its symmetries do not change.

    Raises:
        PromiseBroken: for directions of more atoms than there are.
    """
    up, down, n = certificate.up, certificate.down, blocks.atoms
    if up < 0 or down < 0 or not 1 <= up + down <= n:
        raise PromiseBroken("a direction must change atoms, and no more than there are", came=f"{up} and {down}")
    on_total = Fraction((up - down) ** 2, n)
    elsewhere = (up + down - on_total) / (n - 1) if n > 1 else Fraction(0)
    total = tuple(len(chain) - 1 for chain in blocks.chains)
    roots = Fraction(0)
    for T, square in zip(blocks.eigenspaces, spectrum, strict=True):
        roots += _root_below(square * dimension(blocks, T) * (on_total if T == total else elsewhere))
    return roots**2


def matrix_below(parts: Sequence[MatrixPart], certificate: MatrixRoots) -> Fraction:
    """A rational below Gamma = min {tr(M X^-1): X_jj <= 1} of M >= 0, from weights and near roots.

    With N = diag(q) M diag(q), tr sqrt(N) >= tr Z - sqrt(n |N - Z^2|_1) by Powers and Stormer, and the trace norm is at
    most sqrt(n) times the Frobenius norm; then Gamma >= (sum of times tr sqrt(N))^2 / (ranks sum q^2).

    Raises:
        PromiseBroken: for certificates of another shape, weights that are not positive, and roots that are not symmetric.
    """
    q, n = certificate.weights, len(certificate.weights)
    if any(weight <= 0 for weight in q) or not len(parts) == len(certificate.roots) == len(certificate.bits):
        raise PromiseBroken("every atom must have a positive weight, and every part a root", came="others")
    found = Fraction(0)
    for part, root, bits in zip(parts, certificate.roots, certificate.bits, strict=True):
        if part.matrix.shape != (n, n) or root.shape != (n, n) or (root != root.T).any():
            raise PromiseBroken(f"a root must be a symmetric matrix of {n} rows", came=root.shape)
        trace = Fraction(sum(root.diagonal().tolist()), 1 << bits)
        off = _root_above(n * _root_above(n * _distance_squared(q, part, root, bits)))
        found += part.times * max(trace - off, Fraction(0))
    return found**2 / (sum(part.times for part in parts) * sum(weight**2 for weight in q))


def chord_below(blocks: Blocks, spectrum: Sequence[Fraction], certificate: ChordShares) -> Fraction:
    """F(z)^2 / max_S g_S, which is at most K = min over the simplex of F(z) = sum_T m_T / sum_S below[T, S] m_S z_S.

    By Cauchy's inequality sum m/lambda' >= (sum m/lambda)^2 / (sum m lambda'/lambda^2) for every other z', and the last
    sum is g.z' <= max g.

    Raises:
        PromiseBroken: for shares that are negative or above 1 together, or determine not all answers.
    """
    z = certificate.shares
    if len(z) != len(blocks.families) or any(share < 0 for share in z) or sum(z) > 1:
        raise PromiseBroken("the shares must be nonnegative, one for each family, at most 1 together", came="others")
    sizes = [prod(c[s] for c, s in zip(blocks.chains, S, strict=True)) for S in blocks.families]
    value, slopes = Fraction(0), [Fraction(0)] * len(z)
    for row, square in enumerate(spectrum):
        if square == 0:
            continue
        inside = [column for column in range(len(z)) if blocks.below[row, column]]
        eigenvalue = sum((sizes[column] * z[column] for column in inside), Fraction(0))
        if eigenvalue == 0:
            raise PromiseBroken("the shares must determine every wanted answer", came="others")
        value += square / eigenvalue
        for column in inside:
            slopes[column] += square * sizes[column] / eigenvalue**2
    return value**2 / max(slopes) if value else Fraction(0)


def dimension(blocks: Blocks, eigenspace: Sequence[int]) -> int:
    """The dimension of an eigenspace, as an integer however large."""
    found = 1
    for chain, t in zip(blocks.chains, eigenspace, strict=True):
        coarser = chain[-1] // chain[t + 1] if t + 1 < len(chain) else 0
        found *= chain[-1] // chain[t] - coarser
    return found


def _alpha_ends(level: Level) -> tuple[Fraction, Fraction]:
    """Rationals around alpha, so close that the variance of geometric noise has twenty digits; alpha may round to 0."""
    bits = 128
    while True:
        around = level.alpha_interval(bits)
        low, high = around.lower, around.upper
        near = low > 0 and high < 1 and (high - low) << 64 <= low and (high - low) << 64 <= 1 - high
        if near or bits >= _MOST_BITS:
            return low, high
        bits *= 2


def _distance_squared(q: Sequence[int], part: MatrixPart, root: Array, bits: int) -> Fraction:
    """|N - Z^2|_F^2, exactly."""
    n, scale = len(q), 4**bits
    square = fmpz_mat(root.tolist())
    square = square * square
    weights = fmpz_mat(n, n, [q[i] if i == j else 0 for i in range(n) for j in range(n)])
    weighted = weights * fmpz_mat(part.matrix.tolist()) * weights
    gap = weighted * scale - square * part.denominator
    total = sum(int(entry) ** 2 for entry in gap.entries())
    return Fraction(total, (scale * part.denominator) ** 2)


def _root_below(square: Fraction) -> Fraction:
    """A rational just below the square root: to 96 bits of it."""
    return _root(square)[0]


def _root_above(square: Fraction) -> Fraction:
    """A rational just above the square root."""
    return _root(square)[1]


def _root(square: Fraction) -> tuple[Fraction, Fraction]:
    if square <= 0:
        return Fraction(0), Fraction(0)
    leading = square.denominator.bit_length() - square.numerator.bit_length()
    bits = max(0, _ROOT_BITS + leading // 2 + 1)
    scaled = (square.numerator << 2 * bits) // square.denominator
    low = isqrt(scaled)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)


def _cube_root_below(cube: Fraction) -> Fraction:
    leading = cube.denominator.bit_length() - max(cube.numerator.bit_length(), 1)
    bits = max(0, _ROOT_BITS + leading // 3 + 1)
    return Fraction(integer_root((cube.numerator << 3 * bits) // cube.denominator, 3), 1 << bits)


def over_common(matrix: Array) -> tuple[Array, int]:
    """A matrix of rationals as integers over one denominator."""
    below = lcm(*{entry.denominator for entry in matrix.ravel().tolist()})
    found = matrix * below
    integers = found.copy()
    for place, entry in enumerate(found.ravel().tolist()):
        integers.flat[place] = int(entry)
    return integers, below
