"""Which law a release uses in each cell: the least noise, or the least here that can be relaxed without loss."""

from fractions import Fraction

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise import DiscreteStaircase, Geometric, Law, Staircase, relaxable_noise
from utmost.noise.costs import Cost


def optimal_law(level: Level, sensitivity: Fraction, cost: Cost, domain: str) -> Law:
    """The law with the least expected cost of all noise that can be added to one cell at this level."""
    if domain == "integers":
        units = _units(sensitivity)
        return Geometric(level, units) if units == 1 else DiscreteStaircase(level, units, cost)
    return Staircase(level, sensitivity, cost)


def relaxable_law(level: Level, sensitivity: Fraction, cost: Cost, domain: str) -> Law:
    """`relaxable_noise` for a release: the cheapest law that can be relaxed without loss, with the release's refusals.

    Source: [koufogiannis2015], Theorem 9, and its discrete counterpart.
    """
    if domain == "integers":
        return relaxable_noise(level, _units(sensitivity), cost)
    return relaxable_noise(level, sensitivity, cost, "reals")


def _units(sensitivity: Fraction) -> int:
    if sensitivity.denominator != 1:
        raise OutOfRange(
            "the sensitivity of whole numbers must be a whole number",
            came=sensitivity,
            mend=f'Pass {-(-sensitivity // 1)}, or declare domain="reals".',
        )
    return sensitivity.numerator
