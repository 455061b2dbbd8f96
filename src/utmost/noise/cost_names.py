"""Costs by name, as a command line or a file writes them."""

from utmost.errors import NotANumber, OutOfRange
from utmost.noise.costs import Cost, absolute, moment, squared


def cost_named(name: str | Cost) -> Cost:
    """The cost with this name: "absolute", "squared" or "moment:3"; a cost given as a function passes through.

    Raises:
        OutOfRange: for any other name.

    >>> cost_named("absolute"), cost_named("moment:3")
    (absolute, moment(3))
    """
    if not isinstance(name, str):
        return name
    kind, _, order = name.strip().lower().partition(":")
    if (kind, order) == ("absolute", ""):
        return absolute
    if (kind, order) == ("squared", ""):
        return squared
    if kind == "moment":
        try:
            return moment(order)
        except NotANumber:
            pass
    raise OutOfRange('cost must be "absolute", "squared" or "moment:" and a positive order', came=name)
