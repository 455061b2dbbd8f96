r"""What a law claims in its one-line ``theorem``: optimal by which theorem, for which costs."""

from utmost.noise.costs import Cost, Moment, absolute, squared

THEOREM_11 = (
    "least expected cost, whatever the cost, among additive noise on the integers [geng2012, Theorem 11]; "
    "lossless to relax"
)
"""The claim of the two-sided geometric law at sensitivity 1."""


def costs_to_name(cost: Cost) -> list[Cost]:
    """The costs for which a law may be optimal: its own, and the two that everybody asks about."""
    return [cost, *(named for named in (absolute, squared) if named != cost)]


def least_cost(best: list[Cost]) -> str:
    """The claim of least expected cost, with the names of the costs.

    >>> least_cost([absolute, squared])
    'least expected cost (absolute, squared)'
    """
    return f"least expected cost ({', '.join(_cost_name(cost) for cost in best)})"


def _cost_name(cost: Cost) -> str:
    return repr(cost) if isinstance(cost, Moment) else str(getattr(cost, "__name__", cost))
