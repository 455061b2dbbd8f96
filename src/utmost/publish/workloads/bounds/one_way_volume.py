"""A lower bound on the error of all one-way tables of a domain and their total, by volume, for small epsilon.

An individual is in one group of each table. Let K be the convex hull of the changes by one individual and of their
negatives. Tables x^1, x^2, ... with one total t lie in K if, for each table x^a,

    add-remove                        the absolute values of x^a add up to at most 1,
    change-one, nonnegative           the positive part of x^a adds up to at most 1, and so does its negative part.

Given t, the tables are independent. Tables of n groups whose positive part adds up to at most p, and whose negative
part adds up to at most l = p - t, have the volume

    V_n(p, l) = sum over k < n of C(n-1, k)^2 p^k l^(n-1-k) / (n-1)!,

so vol K is the integral of a polynomial in t, and a rational number. Let m be the number of dimensions, M the matrix of
the weighted error, and r the radius of the ball with the volume of M^(1/2) K. For any mechanism

    epsilon^2 error  >=  m (m + 1) r^2        in the limit of small epsilon.

Source: proofs/theory/workload-bounds.md, "By volume"; [hardt2010] for K.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import comb, exp, factorial, lgamma, log, pi

from utmost.core.privacy.unit import Unit
from utmost.publish.workloads.measuring.axis_sums import Groups
from utmost.publish.workloads.workload import Workload

_ROUNDED = 1 - 1e-9  # this factor covers the rounding errors of logarithms
_MOST_GROUPS = 2000


def one_way_bound(workload: Workload, unit: Unit) -> float | None:
    """Return a lower bound on lim epsilon^2 * error of any mechanism for one-way tables; None if none is known."""
    if unit.cells != 1 or unit.in_total is not None or unit.exactly or unit.is_shared or unit.is_distinct:
        return None
    if unit.neighbours == "change-one" and not unit.nonnegative:
        return None
    weights: dict[int, Fraction] = {}
    of_total = Fraction(0)
    for part in workload.parts:
        groups = [sums for sums in part.sums if isinstance(sums, Groups) and sums.only is None]
        if len(groups) < len(part.sums):
            return None
        along = zip(groups, workload.domain.axes, strict=True)
        crossed = [place for place, (sums, axis) in enumerate(along) if axis.groups(sums.at) > 1]
        if len(crossed) > 1 or any(groups[place].at for place in crossed):
            return None
        if crossed:
            weights[crossed[0]] = weights.get(crossed[0], Fraction(0)) + part.weight
        else:
            of_total += part.weight
    sizes = [workload.domain.shape[place] for place in weights]
    if not sizes or sum(sizes) > _MOST_GROUPS:
        return None
    m = 1 + sum(size - 1 for size in sizes)
    # Compute det M in the coordinates t and all groups of each table but its last group, which is t minus these groups.
    of_t = of_total + sum((weight / size**2 for weight, size in zip(weights.values(), sizes, strict=True)), Fraction(0))
    determinant = _log(of_t) + sum(
        (size - 1) * _log(weight / size) + log(size) for weight, size in zip(weights.values(), sizes, strict=True)
    )
    ball = m / 2 * log(pi) - lgamma(m / 2 + 1)
    volume = _log(one_way_volume(sizes, is_joined=unit.neighbours == "change-one"))
    radius = exp((volume + determinant / 2 - ball) / m)
    return float(unit.sensitivity) ** 2 * m * (m + 1) * radius**2 * _ROUNDED


def one_way_volume(sizes: Sequence[int], *, is_joined: bool) -> Fraction:
    """Return vol K divided by the volume of a cell of the integer lattice; ``is_joined`` is true for change-one."""
    if is_joined:  # p = 1 and l = 1 - t for t >= 0; symmetric for t < 0
        return 2 * sum(
            (coefficient / (power + 1) for power, coefficient in enumerate(_product(sizes))), start=Fraction(0)
        )
    # p = (1 + t)/2 and l = (1 - t)/2, a beta function for each power; dt is 2 dp
    product = _product(sizes)
    degree = len(product) - 1
    terms = (
        coefficient * Fraction(factorial(power) * factorial(degree - power), factorial(degree + 1))
        for power, coefficient in enumerate(product)
    )
    return 2 * sum(terms, start=Fraction(0))


def _product(sizes: Sequence[int]) -> list[Fraction]:
    """Return the coefficients of l^0 p^D, l^1 p^(D-1), ... in the product of the tables' volumes V_n."""
    product = [1]
    below = 1
    for size in sizes:
        factors = [comb(size - 1, k) ** 2 for k in range(size)]
        below *= factorial(size - 1)
        grown = [0] * (len(product) + size - 1)
        for at, coefficient in enumerate(product):
            for k, factor in enumerate(factors):
                grown[at + k] += coefficient * factor
        product = grown
    return [Fraction(coefficient, below) for coefficient in product]


def _log(number: Fraction) -> float:
    return log(number.numerator) - log(number.denominator)
