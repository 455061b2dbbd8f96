"""Every distribution of noise of one number: tests of all distributions read this table, a new class needs one row."""

from collections.abc import Callable
from fractions import Fraction

from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Distribution, Geometric, IntegerDistribution, Laplace, Staircase

Make = Callable[[Level, int, int], Distribution]

ROWS: dict[type[Distribution], tuple[Make, str]] = {
    Geometric: (lambda at, width, n: Geometric(at, width), "0 0 2 -1 5 -2 -1 0"),
    DiscreteStaircase: (lambda at, width, n: DiscreteStaircase(at, width, step=1 + n % width), "1 0 2 -1 0 -1 -1 0"),
    Laplace: (
        lambda at, width, n: Laplace(at, width),
        "0.275715828 2.15996933 3.47960854 -0.302549362 4.58700848 -3.04914951 -0.120697021 0.323616028",
    ),
    Staircase: (
        lambda at, width, n: Staircase(at, width, gamma=Fraction(n % 5, 4)),
        "0.328007698 0.8301754 2.09873199 -0.903669357 0.517395973 -1.54112244 -0.266438484 1.01991749",
    ),
}
"""For each public class its noise for a level, a sensitivity, and parameters that follow from an integer n >= 0;
and its first draws, which never change. Leave those of a new class empty: a test fails and prints them.
"""

DISTRIBUTIONS = {kind: make for kind, (make, _) in ROWS.items()}
ON_INTEGERS = [make for kind, make in DISTRIBUTIONS.items() if issubclass(kind, IntegerDistribution)]
EXAMPLES = [
    make(at, width, n)
    for make in DISTRIBUTIONS.values()
    for at, width, n in ((level("1/2"), 3, 1), (level(alpha="1/3").scaled("1/2"), 4, 2), (level(2), 1, 3))
]
"""Each noise three times."""
