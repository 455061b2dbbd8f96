r"""Proof that a clean table is near to the least squares, whoever found it: exact integers, and no solver.

Let f(z) = 1/2 sum_S q_S |A_S z - y_S|^2 over the tables z >= 0 of which public facts hold, z* the least of f, and m at
most the least curvature of f. A certificate is the whole numbers c, the reals x = c + rest/2^bits that they are rounded
from, and for each public sum a multiplier mu. Let g = grad f(x) + B' mu and d = z* - x. The facts are taken at B x,
where mu says that they bind, so that mu B d <= 0; how far that moves them is stated (`CleanProof.facts_moved`). Since
z* is the least and x is allowed, grad f(z*) (x - z*) >= 0; and f is strongly convex, so that

    m |d|^2 <= (grad f(x) - grad f(z*)) (x - z*) <= grad f(x) (x - z*) <= -g d,

    m/2 |d|^2 <= sum over cells of -g_i d_i - m/2 d_i^2, each at most its largest for d_i within its bounds.

With no bound near that is |g|/m for |d|; a cell at its bound, which g presses against it, adds nothing. Every number
here is an integer over one denominator, so `residual` is that bound of |d|, rounded up in its third digit.

Where m is 0, as of overlapping marginals, many tables are least, and all have the same measured sums. Of these, and of
no cell, the bound is then:

    sum_S q_S |A_S d|^2 = (grad f(x) - grad f(z*)) (x - z*) <= -g d <= sum over g_i > 0 of g_i (x_i - least of x_i)
                                                            + (largest -g_i) T - sum over g_i < 0 of -g_i x_i,

with T at least the total of z*, which follows from f(z*) <= f(x): |A_S z* - y_S|^2 <= 2 f(x)/q_S.
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
from utmost.tables.axes.domain import Domain, Family

MeasuredSums = Mapping[Family, tuple[NDArray[Any], int]]
"""The sums of each measured family: integers, and their divisor."""

_BITS, _MILD = 40, 20  # digits of a cell behind the point; curvatures 2^20 apart need no more of them
_LARGEST, _MOST_BITS = 1 << 340, 600  # of cells and bits behind the point: sums are floats still, beside infinite ends
_DIGITS = 3  # of a figure that is stated


@dataclass(frozen=True, slots=True, eq=False)
class CleanCertificate:
    """Whole cells, the real ones that they are rounded from, and what public sums are worth there.

    Attributes:
        cells: integers, of the domain's shape.
        bits: the real cells are cells + rest / 2^bits.
        rest: integers, of the domain's shape.
        multipliers: One integer for each sum of each public family of sums of several cells, over 2^bits: above 0
            where the most that it may be binds, below 0 where the least does.
    """

    cells: NDArray[Any] = field(repr=False)
    bits: int
    rest: NDArray[Any] = field(repr=False)
    multipliers: Mapping[Family, NDArray[Any]]

    def facts(self, domain: Domain) -> dict[str, Any]:
        """The certificate as JSON values: integers as text, one behind the other."""
        return {
            "cells": _text(self.cells),
            "bits": self.bits,
            "rest": _text(self.rest),
            "multipliers": [
                {"family": list(domain.level_names(family)), "values": _text(values)}
                for family, values in self.multipliers.items()
            ],
        }

    @classmethod
    def of_facts(cls, domain: Domain, facts: Any) -> "CleanCertificate":
        """The certificate that JSON values describe.

        Raises:
            BadTable: for anything but a certificate.
        """
        try:
            if set(facts) != {"cells", "bits", "rest", "multipliers"} or type(facts["bits"]) is not int:
                raise BadTable("a certificate must have cells, bits, rest and multipliers", came="others")
            if not 0 < facts["bits"] <= _MOST_BITS:
                raise BadTable(f"bits must be in 1..{_MOST_BITS}", came="others")
            multipliers: dict[Family, NDArray[Any]] = {}
            for row in facts["multipliers"]:
                family = domain.family([*row["family"]])
                if set(row) != {"family", "values"} or family in multipliers:
                    raise BadTable("multipliers must have a family, each once, and values", came="others")
                multipliers[family] = _integers(row["values"], domain.group_shape(family))
            cells, rest = (_integers(facts[name], domain.shape) for name in ("cells", "rest"))
            if not np.all(np.abs(cells) < _LARGEST):
                raise BadTable("the cells of a clean table must be below 2^340", came="more")
            return cls(cells, facts["bits"], rest, multipliers)
        except UtmostError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise BadTable("a certificate must be integers as text", came=type(error).__name__) from None


@dataclass(frozen=True, slots=True)
class CleanProof:
    """The bound that a certificate proves.

    Attributes:
        residual: no real cell lies farther from the least squares, nor do all of them together: the root of the sum of
            their squares. Where the cells are open, the same of the measured sums of each marginal.
        facts_moved: so far public sums are moved at most, in the least squares that is meant.
        largest_move: the farthest that rounding moved a measured sum.
        cell_move: the farthest that it moved a cell.
    """

    residual: Fraction
    facts_moved: Fraction
    largest_move: Fraction
    cell_move: Fraction


def certificate_of(
    reconstruction: SumSquares,
    cells: NDArray[Any],
    near: tuple[NDArray[Any], Floats],
    multipliers: Mapping[Family, Floats],
    facts: PublicFacts | None = None,
) -> CleanCertificate:
    """The certificate of whole cells, from real ones and multipliers that some solver found.

    Args:
        cells: integers.
        near: the real cells that they are rounded from, as integers and what is left, moved into their bounds here.
        multipliers: Integers of each public family of sums of several cells.
        facts: the public facts.
    """
    least, largest = map(int, reconstruction.curvatures)
    bits = min(_MOST_BITS, _BITS + max(0, (largest // max(1, least)).bit_length() - _MILD))
    unit, (whole, left) = 1 << bits, near
    # A domain without axes has one cell, of which arithmetic makes a number.
    reals = whole.astype(object) * unit + _scaled(left, bits).reshape(whole.shape)
    lower, upper = _ends(reconstruction.domain, facts)
    reals = np.asarray(np.minimum(np.maximum(reals, lower * unit), upper * unit), dtype=object)
    scaled = {family: _scaled(values, bits).reshape(np.shape(values)) for family, values in multipliers.items()}
    return CleanCertificate(
        np.asarray(cells), bits, np.asarray(reals - cells.astype(object) * unit, dtype=object), scaled
    )


def proof_of(
    reconstruction: SumSquares, measured: MeasuredSums, certificate: CleanCertificate, facts: PublicFacts | None = None
) -> CleanProof:
    """The bound that a certificate proves for its cells: exact, and without a solver.

    Raises:
        BadTable: for cells that are negative or of which a public fact does not hold, real cells beyond their bounds,
            and multipliers of sums that are not public.

    Cost: some passes over the cells in Python's integers: a second for 10^5 cells.
    """
    domain, unit = reconstruction.domain, 1 << certificate.bits
    cells, rest = certificate.cells.astype(object), certificate.rest.astype(object)
    if np.any(cells < 0):
        raise BadTable("the cells of a clean table must not be negative", came="one that is")
    if facts is not None and not facts.hold(cells):
        raise BadTable("public facts must hold of the cells", came="cells of which one does not")
    reals = np.asarray(cells * unit + rest, dtype=object)
    lower, upper = (np.asarray(end * unit, dtype=object) for end in _ends(domain, facts))
    if not np.all((lower <= reals) & (reals <= upper)):
        raise BadTable("real cells must keep to their bounds", came="one that does not")
    curvature = int(reconstruction.curvatures[0])
    shared = lcm(*(divisor for _, divisor in measured.values()))
    slope, off, known = np.full(domain.shape, 0, dtype=object), 0, dict[Family, Fraction]()
    for family, (sums, divisor) in measured.items():
        pulled = domain.sums(reals, family).ravel() * shared - sums.astype(object).ravel() * (unit * shared // divisor)
        if curvature <= 0:
            listed = [int(number) for number in np.ravel(pulled)]
            off += sum(number * number for number in listed) * int(reconstruction.weights[family])
            known[family] = Fraction(sum(abs(int(number)) for number in sums.ravel().tolist()), divisor)
        slope = slope + domain.spread(pulled, family) * int(reconstruction.weights[family])
    moved = 0
    for family, values in certificate.multipliers.items():
        moved = max(moved, _facts_moved(domain, facts, family, values, reals, unit))
        slope = slope + domain.spread(values, family) * shared
    moves = [np.max(np.abs(domain.sums(rest, family))) for family in measured]
    if facts is not None:
        for family in facts.bounds.keys() - certificate.multipliers.keys() - {domain.finest}:
            nothing = np.full(domain.group_shape(family), 0, dtype=object)
            moved = max(moved, _facts_moved(domain, facts, family, nothing, reals, unit))
    if curvature > 0:
        residual = _distance(slope, (reals - lower, upper - reals), (unit, shared, curvature))
    else:
        squares = Fraction(off, (unit * shared) ** 2)  # twice f(x)
        weights = {family: Fraction(int(reconstruction.weights[family])) for family in measured}
        total = min(
            of + _root_above(squares * measured[family][0].size / weights[family]) for family, of in known.items()
        )
        rise = _rise(slope, reals, lower, total * unit) / (unit * unit * shared)
        residual = rounded_up(_root_above(rise / min(weights.values())))
    return CleanProof(
        residual,
        rounded_up(Fraction(moved, unit)),
        Fraction(int(max(moves)), unit),
        Fraction(int(np.max(np.abs(rest))), unit),
    )


def rounded_up(number: Fraction) -> Fraction:
    """The least number of three digits that is not below a number >= 0.

    >>> rounded_up(Fraction("0.0012341")), rounded_up(Fraction(2)), rounded_up(Fraction(99_911))
    (Fraction(31, 25000), Fraction(2, 1), Fraction(100000, 1))
    """
    if number == 0:
        return number
    step, ten = Fraction(1), Fraction(10)
    while number >= step * ten**_DIGITS:
        step *= ten
    while number < step * ten ** (_DIGITS - 1):
        step /= ten
    return -(-number // step) * step


def _ends(domain: Domain, facts: PublicFacts | None) -> tuple[NDArray[Any], NDArray[Any]]:
    """The least and the largest that each cell may be; infinite ones as a float."""
    if facts is not None:
        return facts.ends
    return np.full(domain.shape, 0, dtype=object), np.full(domain.shape, np.inf, dtype=object)


def _facts_moved(
    domain: Domain, facts: PublicFacts | None, family: Family, values: NDArray[Any], reals: NDArray[Any], unit: int
) -> int:
    """How far the bounds of a family's sums must be moved to where the real cells have them, in parts of a cell."""
    if facts is None or family not in facts.bounds or family == domain.finest:
        raise BadTable("multipliers must be of public sums of several cells", came="others")
    low, high = (end.astype(object).ravel() * unit for end in facts.bounds[family])
    sums, values = domain.sums(reals, family).ravel(), values.ravel()
    # Where a multiplier binds its bound must be the sum; elsewhere the sum must be within both.
    beyond = [np.maximum(low - sums, 0), np.maximum(sums - high, 0)]
    above, below = values > 0, values < 0
    if (high[above] == np.inf).any() or (low[below] == -np.inf).any():
        raise BadTable("a multiplier must be of a bound that is there", came="one of none")
    binding = [np.abs(sums[above] - high[above]), np.abs(sums[below] - low[below])]
    return int(max(part.max(initial=0) for part in (*beyond, *binding)))


def _distance(slope: Any, rooms: tuple[Any, Any], scales: tuple[int, int, int]) -> Fraction:
    """The bound of the distance from the least squares; slopes are over unit * shared, rooms over unit.

    2 m (unit shared)^2 times what a cell adds is gain^2, or 2 m gain room - (m room)^2 where its bound comes first.
    """
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


def _rise(slope: NDArray[Any], reals: NDArray[Any], lower: NDArray[Any], total: Fraction) -> Fraction:
    """The most by which f may fall from here, where nothing but the total bounds the cells that would grow."""
    falls = np.asarray(np.maximum(-slope, 0), dtype=object)
    down = int((np.asarray(np.maximum(slope, 0), dtype=object) * (reals - lower)).sum())
    return max(Fraction(0), down + int(np.max(falls)) * total - int((falls * reals).sum()))


def _root_above(number: Fraction) -> Fraction:
    """A number not below the root, within 2^-40 of it relative, or the root where it is rational."""
    numerator, denominator = number.numerator, number.denominator
    shift = max(0, 80 - numerator.bit_length() + denominator.bit_length()) if numerator else 0
    shift += shift % 2
    # ceil of the root of numerator * denominator * 2^shift, over denominator * 2^(shift/2).
    under = (numerator * denominator) << shift
    root = isqrt(under)
    return Fraction(root + (root * root < under), denominator << (shift // 2))


def _scaled(values: Floats, bits: int) -> NDArray[Any]:
    """The integers nearest to numbers times 2^bits, in a row."""
    return objects(int(number) for number in np.rint(np.ldexp(np.asarray(values, np.float64).ravel(), bits)).tolist())


def _text(numbers: NDArray[Any]) -> str:
    return " ".join(map(str, numbers.ravel().tolist()))


def _integers(text: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Integers from text, each written in the one way that Python writes it."""
    words = text.split(" ")
    numbers = objects(int(word) for word in words)
    if any(abs(number) >= _LARGEST << _MOST_BITS for number in numbers.tolist()):
        raise BadTable("integers of a certificate must be below 2^940", came="one above")
    if _text(numbers) != text or numbers.size != int(np.prod(shape)):
        raise BadTable("a certificate must have an integer for each cell and each public sum", came="others")
    return numbers.reshape(shape)
