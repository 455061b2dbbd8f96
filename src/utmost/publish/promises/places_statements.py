"""The guarantee of released points in sentences, and the theorem about their noise."""

from collections.abc import Sequence

from utmost.core.exact.written_levels import factor_text, level_name
from utmost.publish.promises.planar_law import PlanarLaw


def margin_name(columns: Sequence[str]) -> str:
    return f"{'_'.join(columns)}_margin"


def places_guarantee(law: PlanarLaw, released: Sequence[str]) -> str:
    """The guarantee in plain sentences, with its limits."""
    per, level = law.per, law.level
    twice, thrice = (f"by {few * per}, by at most {factor_text(level.scaled(few))}" for few in (2, 3))
    return (
        f"Moving one row's point by {per} multiplies or divides the chance of any result in the released points "
        f"({', '.join(released)}) by at most {factor_text(level)}; {twice}; {thrice} "
        f"({level_name(level)} for each {per} of Euclidean distance, in the unit of these columns). For several rows "
        "of one individual the distances add up. The table does not hide who is in it, and points much farther apart "
        "than this can be told apart."
    )


def places_line(law: PlanarLaw) -> str:
    """The guarantee in one line, for a screen; the statement has the full text."""
    factor = f"by at most {factor_text(law.level)} ({level_name(law.level)} for each {law.per})"
    return f"Moving one point by {law.per} multiplies or divides the chance of any result {factor}."


def places_drawn(law: PlanarLaw) -> str:
    return f"density proportional to exp(-epsilon |v|/{law.per}) in {law.dimensions} dimensions, in steps of {law.grid}"


def places_theorem(law: PlanarLaw) -> str:
    space = f"{law.dimensions} dimension{'s' * (law.dimensions > 1)}"
    return (
        f"among all noise that is added to a point at this level, an error beyond any distance is least likely with "
        f"the density c exp(-epsilon |v|/{law.per}) in {space}; points are rounded afterwards to steps of {law.grid}"
    )
