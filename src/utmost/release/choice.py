"""Which law a release uses: the least noise for one release, or the least that can be relaxed without loss."""

from fractions import Fraction

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Law, Staircase
from utmost.noise.costs import Cost


def optimal_law(level: Level, sensitivity: Fraction, cost: Cost, domain: str) -> Law:
    """The law with the least expected cost of all additive noise at this level."""
    if domain == "integers":
        units = _units(sensitivity)
        return Geometric(level, units) if units == 1 else DiscreteStaircase(level, units, cost)
    return Staircase(level, sensitivity, cost)


def relaxable_law(level: Level, sensitivity: Fraction, cost: Cost, domain: str) -> Law:
    """The law with the least expected cost among those that are known to be relaxed without loss.

    On the integers these are the geometric law of ratio exp(-epsilon/s) and, for odd s, the half-step staircase: a
    uniform block plus s times a geometric variable. On the reals it is the Laplace law, drawn on a grid as a geometric.

    Source: [koufogiannis2015], Theorem 9, and its discrete counterpart.
    """
    if domain == "integers":
        units = _units(sensitivity)
        geometric = Geometric(level, units)
        if units % 2 == 0:
            return geometric
        half_step = DiscreteStaircase.half_step(level, units)
        return min(geometric, half_step, key=lambda law: law.expected_cost(cost))
    return Laplace(level, sensitivity)


def _units(sensitivity: Fraction) -> int:
    if sensitivity.denominator != 1:
        raise OutOfRange(
            "the sensitivity of whole numbers must be a whole number",
            came=sensitivity,
            mend=f'Pass {-(-sensitivity // 1)}, or declare domain="reals".',
        )
    return sensitivity.numerator
