"""The inverse of a positive definite integer matrix, rounded to binary digits: the same integers on every machine.

The start is computed in floats, whose last digits differ between machines. Newton's steps X <- X (2 - M X) on integers
double the digits. The exact residual 1 - M X bounds the error of X, and an entry is rounded only if its error bound
excludes the middle between two integers. An entry that stays undecided with more digits may lie exactly in the middle:
then its column is solved in rationals. If floats fail, as for weights with ratio 10^15, interval arithmetic computes
the start.
"""

import numpy as np
from flint import arb_mat, fmpz_mat

from utmost.core.exact.arrays import Array
from utmost.core.exact.intervals import working_precision
from utmost.errors import SolverFailed

_SPARE = 48  # binary digits beyond those of the result
_MARGIN = 30  # with an error of 2^-30 of a unit, one entry in 2^29 needs more digits
_STEPS, _ROUNDS = 12, 2


def rounded_inverse(matrix: Array, scale: int) -> Array:
    """Return scale * M^-1 with entries rounded to the nearest integer, halves up; M has Python integers, (m, m)."""
    size = len(matrix)
    if not size:
        return np.zeros((0, 0), dtype=object)
    whole = fmpz_mat(size, size, [int(entry) for entry in matrix.ravel()])
    for spare in range(_SPARE, _SPARE * (_ROUNDS + 1), _SPARE):
        digits = max(scale, int(max(matrix.ravel())) * size).bit_length() + spare
        near, off = _newton(whole, matrix, digits, (1 << digits - _MARGIN) // scale)
        # Round scale times the entries, and collect the indices of undecided entries.
        half = 1 << (digits - 1)
        rounded, unsure = [], []
        for place, entry in enumerate(near.entries()):
            low, high = (scale * (int(entry) + side) + half >> digits for side in (-off, off))
            rounded.append(low)
            if low != high:
                unsure.append(place)
        if not unsure:
            break
    for column in sorted({place % size for place in unsure}):
        # An undecided column is solved in rationals.
        size = whole.nrows()
        exact = whole.solve(fmpz_mat(size, 1, [scale * (row == column) for row in range(size)]))
        rounded[column::size] = [(2 * int(entry.p) + int(entry.q)) // (2 * int(entry.q)) for entry in exact.entries()]
    return np.array(rounded, dtype=object).reshape(size, size)


def _newton(whole: fmpz_mat, matrix: Array, digits: int, enough: int) -> tuple[fmpz_mat, int]:
    """Return 2^digits M^-1 approximately, and a bound on the error of each entry, at most ``enough`` if possible."""
    size, whole_unit = len(matrix), 1 << digits
    unit = fmpz_mat(size, size, [whole_unit * (i == j) for i in range(size) for j in range(size)])
    start = _float_start(matrix, digits)
    inverse = start if start and _norm(unit - whole * start) * 2 < whole_unit else _interval_start(whole, digits)
    least: int | None = None
    for _ in range(_STEPS):
        residual = unit - whole * inverse
        wrong = _norm(residual)
        if least is not None and wrong * 2 >= least:
            break
        least, near = wrong, inverse
        if _norm(near) * wrong <= enough * (whole_unit - wrong):
            break
        doubled = inverse * (unit + residual)
        inverse = fmpz_mat(size, size, [int(entry) >> digits for entry in doubled.entries()])
    if least is None or least * 2 >= whole_unit:
        raise SolverFailed("the matrix must be positive definite", came=f"{size} rows", where="rounded_inverse")
    # M^-1 = X (1 - E)^-1 with E = 1 - M X, so M^-1 - X is at most |X| |E| / (1 - |E|) in the largest row sum
    return near, _norm(near) * least // (whole_unit - least) + 1


def _float_start(matrix: Array, digits: int) -> fmpz_mat | None:
    """Return the inverse in floats of the matrix scaled to a diagonal of 1; None if it is singular in floats."""
    size = len(matrix)
    shift = [max(0, int(matrix[i, i]).bit_length() - 1) // 2 for i in range(size)]

    def scaled(i: int, j: int) -> float:
        whole = int(matrix[i, j])
        extra = max(0, abs(whole).bit_length() - 64)
        return float(np.ldexp(float(whole >> extra), extra - shift[i] - shift[j]))

    plain = np.array([[scaled(i, j) for j in range(size)] for i in range(size)], dtype=np.float64)
    try:
        inverse = np.linalg.inv(plain)
    except np.linalg.LinAlgError:
        return None
    fine = np.rint(np.ldexp((inverse + inverse.T) / 2, 60)).astype(object)
    listed = [_shifted(int(fine[i, j]), digits - 60 - shift[i] - shift[j]) for i in range(size) for j in range(size)]
    return fmpz_mat(size, size, listed)


def _interval_start(whole: fmpz_mat, digits: int) -> fmpz_mat:
    """Return the inverse by intervals of twice as many digits; 0 if a singular matrix is not excluded."""
    size = whole.nrows()
    with working_precision(2 * digits):
        try:
            middles = [entry.mid().man_exp() for entry in arb_mat(whole).inv().entries()]
        except ZeroDivisionError:
            return fmpz_mat(size, size)
    return fmpz_mat(size, size, [_shifted(int(mantissa), int(place) + digits) for mantissa, place in middles])


def _norm(matrix: fmpz_mat) -> int:
    """Return the largest sum of absolute entries of a row."""
    width = matrix.ncols()
    sizes = [abs(int(entry)) for entry in matrix.entries()]
    return max(sum(sizes[row : row + width]) for row in range(0, len(sizes), width))


def _shifted(whole: int, by: int) -> int:
    return whole << by if by >= 0 else whole >> -by
