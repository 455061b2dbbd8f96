"""Priors on counts by name, as a command line or a file writes them."""

from utmost.errors import NotANumber, OutOfRange
from utmost.exact import Array, exact, to_floats
from utmost.spaces.priors import binomial, truncated_poisson, uniform

PRIOR_NAMES = "uniform, binomial:0.3 or poisson:4"


def prior_named(name: str, n: int, exactly: bool = True) -> Array:
    """The prior with this name on the counts {0, ..., n}.

    Args:
        name: "uniform"; "binomial:p" for n rows that count with probability p each; "poisson:rate" for a Poisson count
            that is known to be at most n.
        n: the largest count.
        exactly: give Fractions; else float64, which takes far less time where n is large.

    Raises:
        OutOfRange: for any other name, and for a number outside its range.

    >>> prior_named("binomial:1/3", 2).tolist()
    [Fraction(4, 9), Fraction(4, 9), Fraction(1, 9)]
    """
    kind, _, number = name.strip().lower().partition(":")
    if name.strip().lower() == "uniform":
        return uniform(n + 1) if exactly else to_floats(uniform(n + 1))
    if kind not in ("binomial", "poisson"):
        raise OutOfRange(f"a prior by name must be one of {PRIOR_NAMES}", came=name)
    try:
        value = exact(number, kind)
    except NotANumber:
        raise OutOfRange(f"{kind} must be followed by a number, as in {kind}:1/3", came=name) from None
    parameter = value if exactly else float(value)
    return binomial(n, parameter) if kind == "binomial" else truncated_poisson(parameter, n)
