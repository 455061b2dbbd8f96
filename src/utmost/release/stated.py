"""What a statement says, read back: the noise with which a consumer reads a released cell."""

import re
from collections.abc import Mapping
from typing import Any

from utmost.errors import BadTable, NotALevel, NotANumber, Unsupported
from utmost.exact import Level, exact, level
from utmost.noise import DiscreteStaircase, Geometric

_LOG = re.compile(r"-(?:(?P<power>\S+) )?log\((?P<base>[^)]+)\)")


def stated_level(facts: Mapping[str, Any]) -> Level:
    """The level that `statement.level_facts` wrote.

    Raises:
        BadTable: for what is none.

    >>> stated_level({"epsilon": "-1/3 log(1/2)"}) == level(alpha="1/2").scaled("1/3")
    True
    """
    return level_of_text(facts.get("epsilon"))


def level_of_text(text: Any) -> Level:
    """The level that `statement.level_text` wrote.

    Raises:
        BadTable: for what is none.

    >>> level_of_text("1/2"), level_of_text("-2 log(1/3)")
    (Level(epsilon=1/2), Level(alpha=1/3^2))
    """
    try:
        found = _LOG.fullmatch(str(text))
        if found is None:
            return level(exact(text, "epsilon"))
        return level(alpha=exact(found["base"], "alpha")).scaled(exact(found["power"] or 1))
    except (NotALevel, NotANumber):
        raise BadTable("the statement must hold its level as epsilon", came=text, where="epsilon") from None


def reading_noise(statement: Mapping[str, Any]) -> Level | DiscreteStaircase:
    """The noise of a released count: for geometric noise the level of one unit, for a discrete staircase its law.

    Where it is a level, alpha^|i - z| is what the release z says of count i.

    Args:
        statement: of a release of whole numbers.

    Raises:
        BadTable: for a statement that does not say what is needed.
        Unsupported: for another noise.

    >>> from utmost.release import plan_release
    >>> from utmost.release.statement import statement
    >>> plan = plan_release(alpha="1/4", sensitivity=1, cells=2)
    >>> reading_noise(statement(plan, ["admitted"], [], 12)).alpha
    Fraction(1, 2)
    >>> reading_noise(statement(plan_release(epsilon=1, sensitivity=5, cells=1), ["admitted"], [], 12))
    DiscreteStaircase(epsilon=1, sensitivity=5, step=2)
    """
    law = statement.get("law")
    if law not in ("Geometric", "DiscreteStaircase"):
        mend = 'Releases with domain="integers" have such noise.'
        raise Unsupported("only geometric noise and discrete staircases can be read", came=law, where="law", mend=mend)
    try:
        cell, numbers = statement["per_cell"], statement["parameters"]
        if law == "Geometric":
            return Geometric(stated_level(cell), numbers["sensitivity"]).ratio
        return DiscreteStaircase(stated_level(cell), numbers["sensitivity"], step=numbers["step"])
    except (KeyError, TypeError) as error:
        raise BadTable("the statement must say the level of each cell", came=f"no {error}") from None
