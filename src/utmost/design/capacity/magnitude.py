r"""The magnitude of a privacy type: where the weighting E w = 1, E = alpha^d, is nonnegative, it is the capacity.

Then M = E diag(w) is a channel of the type and leaks sum_y w_y; and z = w proves that none leaks more. The sum of the
weighting is known as the magnitude of the metric space.
"""

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from utmost.design.capacity.certificate import CapacityCertificate
from utmost.design.capacity.classes import Classes
from utmost.design.capacity.kernel import Kernel
from utmost.design.capacity.mechanisms import KernelMechanism
from utmost.design.capacity.row_sums import BITS, scaled_table
from utmost.design.capacity.sandwich import sandwich
from utmost.errors import PromiseBroken, SolverFailed
from utmost.exact import Array, objects, solve_lifted
from utmost.exact.table_product import table_product
from utmost.privacy import PrivacyType

# Digit operations of an exact solution, beyond which it is enclosed instead.
_MOST_DIGITS = 3e9
_ROUNDS = 12
_NEGLIGIBLE = Fraction(1, 1 << (BITS - 16))
_MOST_CLASSES = 4_000


def by_magnitude(ptype: PrivacyType, kernel: Kernel, classes: Classes) -> CapacityCertificate | None:
    """The certificate of the multiplicative capacity where the weighting is nonnegative, else None.

    Cost: O(k^3) for k classes of secrets, and O(n k) for their distances.
    """
    if len(classes) > _MOST_CLASSES:
        return None
    weights = exact_weighting(kernel, classes)
    if weights is not None:
        if (weights < 0).any():
            return None
        return CapacityCertificate(ptype, "multiplicative", KernelMechanism(ptype, weights), weights)
    near = weighting(kernel, classes)
    if near is None or (near < 0).any():
        return None
    try:
        return CapacityCertificate(ptype, "multiplicative", *sandwich(ptype, near))
    except (PromiseBroken, SolverFailed):
        return None


def exact_weighting(kernel: Kernel, classes: Classes) -> Array | None:
    """The solution of E w = 1 in Fractions, (n,); None where it is irrational, too long, or E is singular."""
    if not kernel.is_rational:
        return None
    scale = lcm(*(p.denominator for p in kernel.fractions.tolist()))
    if len(classes) ** 3 * (len(classes) * scale.bit_length() / 64 + 1) > _MOST_DIGITS:
        return None
    reduced = reduced_kernel(kernel, classes, kernel.fractions)
    try:
        solution = solve_lifted(reduced, np.full((len(classes), 1), Fraction(1), dtype=object))
    except SolverFailed:
        return None
    return spread(solution[:, 0].tolist(), classes)


def weighting(kernel: Kernel, classes: Classes) -> Array | None:
    """The solution of E w = 1 to about 2^-120, as Fractions, (n,); None where floats cannot find it.

    A float64 solution is improved by the exact remainder 1 - E w, again and again; weights too small to have a sure
    sign become 0.
    """
    low, _, scale = scaled_table(kernel, 1)
    places = kernel.kinds[classes.representatives]
    factor = reduced_kernel(kernel, classes, kernel.floats)
    whole, unit = [0] * len(classes), 1 << (BITS + 32)
    remainder, last = np.ones(len(classes)), np.inf
    for _ in range(_ROUNDS):
        try:
            step = np.linalg.solve(factor, remainder)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(step).all():
            return None
        whole = [w + int(Fraction(s) * unit) for w, s in zip(whole, step.tolist(), strict=True)]
        left = _remainder(low, places, whole, classes, scale * unit)
        size = float(max(abs(r) for r in left))
        if size < float(_NEGLIGIBLE) or size > last / 4:
            break
        remainder, last = np.array([float(r) for r in left]), size
    found = [Fraction(w, unit) for w in whole]
    return spread([Fraction(0) if abs(w) < _NEGLIGIBLE else w for w in found], classes)


def reduced_kernel(kernel: Kernel, classes: Classes, table: Array) -> Array:
    """The sums over y in class B of table[kind of (x, y)], x the representative of class A: (k, k)."""
    k = len(classes)
    reduced = np.zeros((k, k), dtype=table.dtype) if table.dtype != object else np.full((k, k), Fraction(0))
    for a, x in enumerate(classes.representatives.tolist()):
        if table.dtype == object:
            for (b, kind), count in _counted(classes.labels, kernel.kinds[x]).items():
                reduced[a, b] += table[kind] * count
        else:
            reduced[a] = np.bincount(classes.labels, weights=table[kernel.kinds[x]], minlength=k)
    return np.asarray(reduced)


def spread(values: list[Fraction], classes: Classes) -> Array:
    """One value for each class, as one for each secret."""
    return objects(values)[classes.labels]


def _remainder(low: Array, places: NDArray[np.int32], whole: list[int], classes: Classes, one: int) -> list[Fraction]:
    """1 - E w at the representatives."""
    column = objects(whole)[classes.labels]
    return [Fraction(one - total, one) for total in table_product(low, places, column)]


def _counted(labels: NDArray[np.intp], kinds: NDArray[np.int32]) -> dict[tuple[int, int], int]:
    width = int(kinds.max(initial=0)) + 1
    codes, counts = np.unique(labels * width + kinds, return_counts=True)
    return {divmod(code, width): count for code, count in zip(codes.tolist(), counts.tolist(), strict=True)}
