"""A lower bound on the error of plans that measure each marginal at its own privacy level, and a check of this bound.

Let the measured marginals S have levels e_S that add up to at most E, and let n_T be the smallest number of sums that
any marginal containing the space T has. Then

    mu_T / l_T >= mu_T n_T / sum of p(e_S) >= mu_T n_T v(sum of e_S),    sums over the S that contain T,

because p is superadditive. The right side is a convex function of the levels, so it lies above its tangent at any point
E_T. With slopes s_T the error is at least

    sum of mu_T n_T (v(E_T) + s_T E_T)  -  E max over S of (sum of mu_T n_T s_T over the T in S).

**Every choice of E_T is a certificate.** The bound by the chord of p (`bound_inequalities.chord_below`) is good for a
few marginals; for many marginals it is 20 to 5000 times too small.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from utmost.core.exact.arrays import Floats
from utmost.core.exact.levels import Level
from utmost.errors import PromiseBroken
from utmost.publish.workloads.measuring.marginal_spaces import (
    MarginalErrors,
    MarginalSpace,
    MarginalSpaces,
    part_energies,
)
from utmost.publish.workloads.measuring.unit_charge import ShareCondition, is_total
from utmost.publish.workloads.measuring.variance_components import precision
from utmost.publish.workloads.planning.row_search import lbfgs_descent
from utmost.publish.workloads.workload import Workload
from utmost.tables.axes.domain import Marginal

_DIGITS = 96
_STEP = 1 << 40


@dataclass(frozen=True, slots=True)
class TangentLevels:
    """Certificate: for each space T, in the order of `wanted_spaces`, the level E_T where the tangent touches."""

    levels: tuple[Fraction, ...]


def tangents_below(
    workload: Workload,
    marginals: Sequence[Marginal],
    level: Level,
    condition: ShareCondition,
    certificate: TangentLevels,
) -> Fraction:
    """Return a rational below the error of all plans that measure some of these marginals, with a level for each."""
    weights, spaces = wanted_spaces(workload), MarginalSpaces.of(workload.domain, marginals)
    if len(certificate.levels) != len(weights) or any(own <= 0 for own in certificate.levels):
        raise PromiseBroken(
            "a certificate must have a positive level for each subspace", came=f"{len(certificate.levels)} levels"
        )
    totals = [is_total(workload.domain, marginal) for marginal in marginals]
    slopes, gained = [Fraction(0)] * len(marginals), Fraction(0)
    for (space, weight), own in zip(weights.items(), certificate.levels, strict=True):
        places = spaces.covers.get(space)
        if places is None:
            raise PromiseBroken("the tables of a certificate must determine every wanted answer", came="other tables")
        scale = weight * min(spaces.sums[place] for place in places)
        alpha = Level.of_epsilon(own).alpha_interval(2 * _DIGITS)
        value, flat = 2 * alpha.lower / (1 - alpha.lower) ** 2, _slope(alpha.lower)
        # The first term is rounded down and the subtracted term up, so the difference stays below the bound.
        gained += _rounded(scale * (value + flat * own), up=False)
        steep = _rounded(scale * _slope(alpha.upper), up=True)
        for place in places:
            slopes[place] += steep
    whole = level.scaled(condition.scale).epsilon_interval(_DIGITS).upper
    free = max((slope for slope, total in zip(slopes, totals, strict=True) if total), default=Fraction(0))
    return gained - whole * (max(slopes) + condition.free * free)


def tangent_levels(
    workload: Workload, marginals: Sequence[Marginal], level: float, condition: ShareCondition
) -> TangentLevels | None:
    """Search by descent for levels E_T that give a large bound; None if the marginals do not determine all answers."""
    errors = MarginalErrors.of(workload, marginals)
    if errors.undetermined() is not None:
        return None
    least = np.full(len(errors.names), np.inf)
    np.minimum.at(least, errors.rows, errors.sizes[errors.columns])
    scales, whole = errors.wanted * least, level * float(condition.scale)
    free = condition.free_of(is_total(workload.domain, marginal) for marginal in marginals)

    def of_spaces(parts: Floats) -> Floats:
        each = (whole * (parts + free))[errors.columns]
        # Keep levels above 0: a space that is not measured would have precision 0 and an infinite slope.
        return np.maximum(np.bincount(errors.rows, weights=each, minlength=len(scales)), 1e-12 * whole)

    # Squares of any numbers, divided by their sum, are shares, so the descent needs no constraint.
    def slope(roots: Floats) -> tuple[float, Floats]:
        squares = roots * roots
        total = squares.sum()
        parts, own = squares / total, of_spaces(squares / total)
        terms = scales / precision(own)
        # Above 650 sinh would overflow; the term is practically 0 there.
        steep = terms * np.sinh(np.minimum(own, 650.0)) / precision(own)
        down = -whole * np.bincount(errors.columns, weights=steep[errors.rows], minlength=len(roots))
        return float(terms.sum()) / unit, (down - down @ parts) / total * 2 * roots / unit

    tops = np.zeros(len(marginals))
    np.maximum.at(tops, errors.columns, (scales ** (1 / 3))[errors.rows])
    start = tops / tops.sum() + 1e-6  # start above 0: the slope of a root of 0 is 0, and the descent would stay there
    unit = float((scales / precision(of_spaces(start / start.sum()))).sum())
    roots = lbfgs_descent(slope, np.sqrt(start * len(start)), 2000)
    own = of_spaces(roots * roots / (roots * roots).sum())
    # Any positive levels prove a bound, so round the best levels to short numbers.
    exponent = int(np.floor(np.log2(whole)))
    step = Fraction(2) ** exponent / _STEP
    return TangentLevels(tuple(max(1, round(number / float(step))) * step for number in own.tolist()))


def wanted_spaces(workload: Workload) -> dict[MarginalSpace, Fraction]:
    """Map each space T with mu_T > 0 to the sum, over the workload's parts, of weight times mu_T."""
    wanted: dict[MarginalSpace, Fraction] = {}
    for part, energies in zip(workload.parts, part_energies(workload), strict=True):
        for space, energy in energies.items():
            wanted[space] = wanted.get(space, Fraction(0)) + part.weight * energy
    return wanted


def _slope(alpha: Fraction) -> Fraction:
    """Return -v'(E) = sinh E / (cosh E - 1)^2 for alpha = exp(-E); it decreases in E."""
    return 2 * alpha * (1 + alpha) / (1 - alpha) ** 3


def _rounded(number: Fraction, *, up: bool) -> Fraction:
    """Round a number up or down to 96 binary digits."""
    shift = _DIGITS - number.numerator.bit_length() + number.denominator.bit_length()
    scaled = number * Fraction(2) ** shift
    return Fraction(-(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator) / (
        Fraction(2) ** shift
    )
