"""The promise of released points in sentences, and the theorem."""

from collections.abc import Sequence

from utmost.core.exact.written_levels import factor_text, level_name
from utmost.publish.promises.planar_law import PlanarLaw


def margin_name(columns: Sequence[str]) -> str:
    """The name of the column of the margin.

    >>> margin_name(["x", "y"])
    'x_y_margin'
    """
    return f"{'_'.join(columns)}_margin"


def places_guarantee(law: PlanarLaw, released: Sequence[str]) -> str:
    """The promise in plain sentences, and what it does not say.

    >>> from fractions import Fraction
    >>> from utmost.exact import level
    >>> print(places_guarantee(PlanarLaw(level(epsilon="1/2"), 2, Fraction(200), None), ["x", "y"]))
    Whatever anyone concludes from the released points (x, y), the chance of concluding it would have been at most 1.65
    times larger or smaller if one row's point had been elsewhere, 200 away by Euclidean distance in the unit of these
    columns, and exp(epsilon d/200) times if it had been d away (epsilon = 0.5 for each 200). For several rows of one
    individual the distances add up. It does not hide who is in the table, and points much farther apart than this
    distance are told apart.
    """
    per = law.per
    return (
        f"Whatever anyone concludes from the released points ({', '.join(released)}), the chance of concluding it "
        f"would have been at most {factor_text(law.level)} times larger or smaller if one row's point had been "
        f"elsewhere, {per} away by Euclidean distance in the unit of these columns, and exp(epsilon d/{per}) times if "
        f"it had been d away ({level_name(law.level)} for each {per}). For several rows of one individual the "
        "distances add up. It does not hide who is in the table, and points much farther apart than this distance "
        "are told apart."
    )


def places_line(law: PlanarLaw) -> str:
    """The promise in one line, for a screen; the statement has the whole of it.

    >>> from fractions import Fraction
    >>> from utmost.exact import level
    >>> print(places_line(PlanarLaw(level(epsilon="1/2"), 2, Fraction(200), None)))
    If one point had been 200 away, no result would be more than 1.65 times as likely (epsilon = 0.5 for each 200).
    """
    told = f"no result would be more than {factor_text(law.level)} times as likely"
    return f"If one point had been {law.per} away, {told} ({level_name(law.level)} for each {law.per})."


def places_drawn(law: PlanarLaw) -> str:
    """The noise in words."""
    return f"density proportional to exp(-epsilon |v|/{law.per}) in {law.dimensions} dimensions, in steps of {law.grid}"


def places_theorem(law: PlanarLaw) -> str:
    """The theorem about the noise."""
    space = f"{law.dimensions} dimension{'s' * (law.dimensions > 1)}"
    return (
        f"density c exp(-epsilon |v|/{law.per}) in {space}: before rounding, the stochastically smallest error among "
        f"all additive noise of this promise; rounded afterwards to steps of {law.grid}"
    )
