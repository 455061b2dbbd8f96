"""Prove from a certificate that a clean table is near least squares, in exact integers and without a solver.

Let f(z) = 1/2 sum_S q_S |A_S z - y_S|^2 over the tables z >= 0 for which the public facts hold. Let z* be the table
where f is least, and m a lower bound on the curvature of f. A certificate has the integer cells c; the real cells
x = c + rest/2^bits, which were rounded to c; and a multiplier mu for each public sum. Let g = grad f(x) + B' mu and
d = z* - x. Replace each public sum with mu != 0 by its value B x, so that mu B d <= 0; `CleanProof.facts_moved` is the
largest change of a public sum. Since z* is the minimum and x is allowed, grad f(z*) (x - z*) >= 0. f is strongly
convex, so that

    m |d|^2 <= (grad f(x) - grad f(z*)) (x - z*) <= grad f(x) (x - z*) <= -g d,
    m/2 |d|^2 <= sum over cells of -g_i d_i - m/2 d_i^2, each at most its largest value for d_i within its bounds.

Without bounds near x the last inequality gives |d| <= |g|/m. A cell at a bound adds nothing if g pushes it beyond the
bound. Every number here is an integer over one denominator; `CleanProof.residual` is the bound on |d|, rounded up to
three digits.

If m is 0, as for overlapping marginals, many tables minimise f, and all these have the same measured sums. The bound is
then on these sums, not on cells:

    sum_S q_S |A_S d|^2 = (grad f(x) - grad f(z*)) (x - z*) <= -g d <= sum over g_i > 0 of g_i (x_i - least of x_i)
                          + (largest -g_i) T - sum over g_i < 0 of -g_i x_i,

with an upper bound T on the total of z*, which follows from f(z*) <= f(x): |A_S z* - y_S|^2 <= 2 f(x)/q_S.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arrays import Floats, objects
from utmost.errors import BadTable, UtmostError
from utmost.publish.workloads.reconstruction.estimates import SumSquares
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.tables.axes.domain import Domain, Marginal

MeasuredSums = Mapping[Marginal, tuple[NDArray[Any], int]]
"""For each measured marginal, its sums as integers, and their divisor."""

_BITS, _MILD = 40, 20  # binary digits of a cell after the point; these suffice for curvatures with ratio 2^20
_LARGEST, _MOST_BITS = 1 << 340, 600  # limits of a cell and of `bits`, so that sums are finite floats
_DIGITS = 3  # digits of the bounds in a certificate


@dataclass(frozen=True, slots=True, eq=False)
class CleanCertificate:
    """The integer cells, the real cells and the multipliers that prove a clean table to be near least squares."""

    cells: NDArray[Any] = field(repr=False)  # cells and rest are integers of the domain's shape
    bits: int  # the real cells are cells + rest / 2^bits
    rest: NDArray[Any] = field(repr=False)
    # For each public marginal other than the cells, an integer for each sum, in units of 2^-bits: above 0 if the upper
    # bound of the sum is tight, below 0 if the lower bound is tight.
    multipliers: Mapping[Marginal, NDArray[Any]]

    def facts(self, domain: Domain) -> dict[str, Any]:
        """Return the certificate as JSON values; each array of integers is one text."""
        return {
            "cells": _text(self.cells),
            "bits": self.bits,
            "rest": _text(self.rest),
            "multipliers": [
                {"marginal": list(domain.level_names(marginal)), "values": _text(values)}
                for marginal, values in self.multipliers.items()
            ],
        }

    @classmethod
    def of_facts(cls, domain: Domain, facts: Any) -> "CleanCertificate":
        """Read a certificate from JSON values, and check its form."""
        try:
            if set(facts) != {"cells", "bits", "rest", "multipliers"} or type(facts["bits"]) is not int:
                raise BadTable("a certificate must have cells, bits, rest and multipliers", came="other entries")
            if not 0 < facts["bits"] <= _MOST_BITS:
                raise BadTable(f"bits must be from 1 to {_MOST_BITS}", came="another number")
            multipliers: dict[Marginal, NDArray[Any]] = {}
            for row in facts["multipliers"]:
                marginal = domain.marginal([*row["marginal"]])
                if set(row) != {"marginal", "values"} or marginal in multipliers:
                    raise BadTable(
                        "multipliers must have values, and a marginal that no other multipliers have",
                        came="other entries",
                    )
                multipliers[marginal] = _integers(row["values"], domain.group_shape(marginal))
            cells, rest = (_integers(facts[name], domain.shape) for name in ("cells", "rest"))
            if not np.all(np.abs(cells) < _LARGEST):
                raise BadTable("the cells of a clean table must be below 2^340", came="a larger cell")
            return cls(cells, facts["bits"], rest, multipliers)
        except UtmostError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise BadTable(
                "the numbers of a certificate must be integers, written as text", came=type(error).__name__
            ) from None


@dataclass(frozen=True, slots=True)
class CleanProof:
    """The bounds on a clean table's errors that the table's certificate proves."""

    residual: Fraction  # bound on |x - z*|; if cells are not determined, on the measured sums of each marginal
    facts_moved: Fraction  # largest change from a public sum to B x, see the module
    largest_move: Fraction  # largest change of a measured sum by rounding
    cell_move: Fraction  # largest change of a cell by rounding


def certificate_of(
    reconstruction: SumSquares,
    cells: NDArray[Any],
    near: tuple[NDArray[Any], Floats],
    multipliers: Mapping[Marginal, Floats],
    facts: PublicFacts | None = None,
) -> CleanCertificate:
    """Make the certificate of integer cells; ``near`` has the real cells as integers and remainders."""
    least, largest = map(int, reconstruction.curvatures)
    bits = min(_MOST_BITS, _BITS + max(0, (largest // max(1, least)).bit_length() - _MILD))
    unit, (whole, left) = 1 << bits, near
    # A domain without axes has one cell: arithmetic turns its array into a number.
    reals = whole.astype(object) * unit + _scaled(left, bits).reshape(whole.shape)
    lower, upper = _ends(reconstruction.domain, facts)
    reals = np.asarray(np.minimum(np.maximum(reals, lower * unit), upper * unit), dtype=object)
    scaled = {marginal: _scaled(values, bits).reshape(np.shape(values)) for marginal, values in multipliers.items()}
    return CleanCertificate(
        np.asarray(cells), bits, np.asarray(reals - cells.astype(object) * unit, dtype=object), scaled
    )


def proof_of(
    reconstruction: SumSquares, measured: MeasuredSums, certificate: CleanCertificate, facts: PublicFacts | None = None
) -> CleanProof:
    """Check a certificate and return the bounds that it proves; this takes about a second for 10^5 cells."""
    domain, unit = reconstruction.domain, 1 << certificate.bits
    cells, rest = certificate.cells.astype(object), certificate.rest.astype(object)
    if np.any(cells < 0):
        raise BadTable("the cells of a clean table must not be negative", came="a negative cell")
    if facts is not None and not facts.hold(cells):
        raise BadTable("public facts must hold for the cells", came="a fact that does not hold")
    reals = np.asarray(cells * unit + rest, dtype=object)
    lower, upper = (np.asarray(end * unit, dtype=object) for end in _ends(domain, facts))
    if not np.all((lower <= reals) & (reals <= upper)):
        raise BadTable("real cells must lie within their bounds", came="a cell outside its bounds")
    curvature = int(reconstruction.curvatures[0])
    shared = lcm(*(divisor for _, divisor in measured.values()))
    slope, off, known = np.full(domain.shape, 0, dtype=object), 0, dict[Marginal, Fraction]()
    for marginal, (sums, divisor) in measured.items():
        pulled = domain.sums(reals, marginal).ravel() * shared - sums.astype(object).ravel() * (
            unit * shared // divisor
        )
        if curvature <= 0:
            listed = [int(number) for number in np.ravel(pulled)]
            off += sum(number * number for number in listed) * int(reconstruction.weights[marginal])
            known[marginal] = Fraction(sum(abs(int(number)) for number in sums.ravel().tolist()), divisor)
        slope = slope + domain.spread(pulled, marginal) * int(reconstruction.weights[marginal])
    moved = 0
    for marginal, values in certificate.multipliers.items():
        moved = max(moved, _facts_moved(domain, facts, marginal, values, reals, unit))
        slope = slope + domain.spread(values, marginal) * shared
    moves = [np.max(np.abs(domain.sums(rest, marginal))) for marginal in measured]
    if facts is not None:
        for marginal in facts.bounds.keys() - certificate.multipliers.keys() - {domain.finest}:
            nothing = np.full(domain.group_shape(marginal), 0, dtype=object)
            moved = max(moved, _facts_moved(domain, facts, marginal, nothing, reals, unit))
    if curvature > 0:
        residual = _distance(slope, (reals - lower, upper - reals), (unit, shared, curvature))
    else:
        squares = Fraction(off, (unit * shared) ** 2)  # twice f(x)
        weights = {marginal: Fraction(int(reconstruction.weights[marginal])) for marginal in measured}
        total = min(
            of + _root_above(squares * measured[marginal][0].size / weights[marginal]) for marginal, of in known.items()
        )
        falls = np.asarray(np.maximum(-slope, 0), dtype=object)
        down = int((np.asarray(np.maximum(slope, 0), dtype=object) * (reals - lower)).sum())
        rise = max(Fraction(0), down + int(np.max(falls)) * (total * unit) - int((falls * reals).sum())) / (
            unit * unit * shared
        )
        residual = rounded_up(_root_above(rise / min(weights.values())))
    return CleanProof(
        residual,
        rounded_up(Fraction(moved, unit)),
        Fraction(int(max(moves)), unit),
        Fraction(int(np.max(np.abs(rest))), unit),
    )


def rounded_up(number: Fraction) -> Fraction:
    """Return the least number with three digits that is >= ``number`` >= 0."""
    if number == 0:
        return number
    step, ten = Fraction(1), Fraction(10)
    while number >= step * ten**_DIGITS:
        step *= ten
    while number < step * ten ** (_DIGITS - 1):
        step /= ten
    return -(-number // step) * step


def _ends(domain: Domain, facts: PublicFacts | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the lower and the upper bound of each cell; infinite bounds are floats."""
    if facts is not None:
        return facts.ends
    return np.full(domain.shape, 0, dtype=object), np.full(domain.shape, np.inf, dtype=object)


def _facts_moved(
    domain: Domain, facts: PublicFacts | None, marginal: Marginal, values: NDArray[Any], reals: NDArray[Any], unit: int
) -> int:
    """Return ``unit`` times the largest change of a bound that is replaced by the sum of the real cells."""
    if facts is None or marginal not in facts.bounds or marginal == domain.finest:
        raise BadTable("multipliers must belong to public sums of two or more cells", came="other sums")
    low, high = (end.astype(object).ravel() * unit for end in facts.bounds[marginal])
    sums, values = domain.sums(reals, marginal).ravel(), values.ravel()
    # If a multiplier is not 0, its bound must equal the sum; if it is 0, the sum must lie within both bounds.
    beyond = [np.maximum(low - sums, 0), np.maximum(sums - high, 0)]
    above, below = values > 0, values < 0
    if (high[above] == np.inf).any() or (low[below] == -np.inf).any():
        raise BadTable("a multiplier must belong to a finite bound", came="an infinite bound")
    binding = [np.abs(sums[above] - high[above]), np.abs(sums[below] - low[below])]
    return int(max(part.max(initial=0) for part in (*beyond, *binding)))


def _distance(slope: Any, rooms: tuple[Any, Any], scales: tuple[int, int, int]) -> Fraction:
    """Bound |d|; ``slope`` has multiples of 1/(unit * shared), ``rooms`` distances in multiples of 1/unit."""
    # 2 m (unit shared)^2 times the term of a cell is gain^2; or 2 m gain room - (m room)^2 if the cell reaches its
    # bound before the term is largest.
    (unit, shared, curvature), added = scales, 0
    for side, space in zip((slope, -slope), rooms, strict=True):
        gain, room = (np.asarray(numbers, dtype=object).ravel() for numbers in (np.maximum(side, 0), space))
        can_move = (gain > 0) & (room > 0)
        gain, room = gain[can_move], room[can_move]
        has_end = room != np.inf
        room[has_end] *= curvature * shared
        is_free = gain <= room
        rate, end = gain[~is_free], room[~is_free]
        added += int((gain[is_free] * gain[is_free]).sum()) + int(((2 * rate - end) * end).sum())
    return rounded_up(_root_above(Fraction(added, (unit * shared * curvature) ** 2)))


def _root_above(number: Fraction) -> Fraction:
    """Return a number >= the square root, with a relative error below 2^-40; the root itself if it is rational."""
    numerator, denominator = number.numerator, number.denominator
    shift = max(0, 80 - numerator.bit_length() + denominator.bit_length()) if numerator else 0
    shift += shift % 2
    # Compute ceil(sqrt(numerator * denominator * 2^shift)) / (denominator * 2^(shift/2)).
    under = (numerator * denominator) << shift
    root = isqrt(under)
    return Fraction(root + (root * root < under), denominator << (shift // 2))


def _scaled(values: Floats, bits: int) -> NDArray[Any]:
    """Return the integers nearest to values * 2^bits, flattened."""
    return objects(int(number) for number in np.rint(np.ldexp(np.asarray(values, np.float64).ravel(), bits)).tolist())


def _text(numbers: NDArray[Any]) -> str:
    return " ".join(map(str, numbers.ravel().tolist()))


def _integers(text: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Read integers from text; refuse spellings that Python would not write, such as "+1" or "01"."""
    words = text.split(" ")
    numbers = objects(int(word) for word in words)
    if any(abs(number) >= _LARGEST << _MOST_BITS for number in numbers.tolist()):
        raise BadTable("integers of a certificate must be below 2^940", came="a larger integer")
    if _text(numbers) != text or numbers.size != int(np.prod(shape)):
        raise BadTable("a certificate must have an integer for each cell and each public sum", came="another number")
    return numbers.reshape(shape)
