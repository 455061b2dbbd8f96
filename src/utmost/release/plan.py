"""What a release promises, settled before anything is read or drawn."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, level, round_up
from utmost.noise import IntegerLaw, Law
from utmost.noise.cost_names import cost_named
from utmost.noise.costs import Cost
from utmost.noise.law import read_confidence
from utmost.release.choice import optimal_law, relaxable_law
from utmost.release.unit import Unit
from utmost.sampling.draw import on_grid

Domain = Literal["integers", "reals"]


@dataclass(frozen=True, slots=True)
class Plan:
    """The level, the individual it protects, and the one law that noises every released cell; made by `plan_release`.

    Attributes:
        level: what the whole release spends.
        unit: what one individual changes.
        law: the noise of one cell, at ``unit.per_cell(level)``.
        drawn: the law of the integers that are drawn: the law itself, or what stands for it on the grid.
        cost: what the law is optimal for.
        relaxable: whether the law was chosen so that the release can later be relaxed without loss.
        confidence: the probability with which a released cell lies within ``radius`` of the true one.
        radius: the least such distance; on a grid, the step that snapping may add is in it.
        grid: the width of the grid on which reals are released, None for integers.
    """

    level: Level
    unit: Unit
    law: Law
    drawn: IntegerLaw
    cost: Cost
    relaxable: bool
    confidence: Fraction
    radius: int | float
    grid: Fraction | None

    @property
    def theorem(self) -> str:
        """By which theorem this is the law to use, and for what: for all cells only where an individual changes one.

        Then the noise of any mechanism on any one cell is private at the whole level, so that the sum over all cells is
        least where each of them is. Where an individual changes more cells, noise that is not independent may be less.
        """
        claim = self.law.theorem
        if self.relaxable:
            claim = f"the least of the laws known to be relaxed without loss; {claim}"
        if self.unit.charged == 1:
            return f"for all cells together, since one individual changes only one: {claim}"
        return f"for each cell at its share of the level, not for all cells together: {claim}"


def plan_release(
    epsilon: Number | Level | None = None,
    *,
    alpha: Number | None = None,
    sensitivity: Number,
    cells: Number,
    cost: str | Cost = "absolute",
    domain: str = "integers",
    neighbours: str = "add-remove",
    relaxable: bool = False,
    confidence: Number = "0.95",
    grid: Number | None = None,
) -> Plan:
    """Choose the law that a release at this level uses; draws nothing and reads nothing.

    Args:
        epsilon, alpha: what the whole release spends, one of the two.
        sensitivity, cells, neighbours: what one individual changes, see `Unit`.
        cost: "absolute", "squared", "moment:3" or any even function nondecreasing in |x|.
        domain: "integers" or "reals".
        relaxable: choose a law that can later be relaxed without loss, at some cost now.
        confidence: of the stated radius.
        grid: for reals, the width of the grid, a power of two; chosen by level and sensitivity when None.

    Raises:
        NotALevel, NotANumber, OutOfRange: for a parameter that is no such thing.

    >>> plan = plan_release(epsilon=1, sensitivity=1, cells=2)
    >>> plan.law, plan.radius
    (Geometric(epsilon='1/2', sensitivity=1), 6)
    """
    spent, unit = level(epsilon, alpha), Unit(sensitivity, cells, neighbours)
    goal, sure = cost_named(cost), read_confidence(confidence)
    choose = relaxable_law if relaxable else optimal_law
    law = choose(unit.per_cell(spent), unit.sensitivity, goal, _domain(domain))
    drawn, exponent = on_grid(law, grid)
    if exponent is None:
        return Plan(spent, unit, law, drawn, goal, relaxable, sure, drawn.radius(sure), None)
    width = Fraction(2) ** -exponent
    # Snapping moves a value down by less than one step of the grid.
    radius = round_up((drawn.radius(sure) + 1) * width)
    return Plan(spent, unit, law, drawn, goal, relaxable, sure, radius, width)


def _domain(value: str) -> Domain:
    if isinstance(value, str) and value in ("integers", "reals"):
        return value  # type: ignore[return-value]
    raise OutOfRange('domain must be "integers" or "reals"', came=value)
