"""Write the guarantee of released points, and the theorem about their noise, as sentences."""

from collections.abc import Sequence

from utmost.core.exact.written_levels import factor_text, level_name
from utmost.publish.promises.planar_distribution import PlanarDistribution


def margin_name(columns: Sequence[str]) -> str:
    return f"{'_'.join(columns)}_margin"


def places_guarantee(distribution: PlanarDistribution, released: Sequence[str]) -> str:
    """Return the guarantee, and what the guarantee does not cover, in plain sentences."""
    per, level = distribution.per, distribution.level
    twice, thrice = (f"by {few * per}, by at most {factor_text(level.scaled(few))}" for few in (2, 3))
    return (
        f"Moving one row's point by {per} multiplies or divides the chance of any result in the released points "
        f"({', '.join(released)}) by at most {factor_text(level)}; {twice}; {thrice} "
        f"({level_name(level)} for each {per} of Euclidean distance, in the unit of these columns). For several rows "
        "of one individual the distances add up. The table does not hide who is in it, and points much farther apart "
        "than this can be told apart."
    )


def places_line(distribution: PlanarDistribution) -> str:
    """Return what the guarantee covers, in one line for a screen."""
    factor = (
        f"by at most {factor_text(distribution.level)} ({level_name(distribution.level)} for each {distribution.per})"
    )
    return f"Moving one point by {distribution.per} multiplies or divides the chance of any result {factor}."


def places_drawn(distribution: PlanarDistribution) -> str:
    return (
        f"density proportional to exp(-epsilon |v|/{distribution.per}) in {distribution.dimensions} dimensions, "
        f"in steps of {distribution.grid}"
    )


def places_theorem(distribution: PlanarDistribution) -> str:
    space = f"{distribution.dimensions} dimension{'s' * (distribution.dimensions > 1)}"
    return (
        f"among all noise that is added to a point at this level, an error beyond any distance is least likely with "
        f"the density c exp(-epsilon |v|/{distribution.per}) in {space}; points are rounded afterwards to steps "
        f"of {distribution.grid}"
    )
