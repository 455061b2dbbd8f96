"""Every distribution of noise of one number: tests of all distributions read this table, a new class needs one line."""

from collections.abc import Callable
from fractions import Fraction

from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Distribution, Geometric, IntegerDistribution, Laplace, Staircase

DISTRIBUTIONS: dict[type[Distribution], Callable[[Level, int, int], Distribution]] = {
    Geometric: lambda at, width, n: Geometric(at, width),
    DiscreteStaircase: lambda at, width, n: DiscreteStaircase(at, width, step=1 + n % width),
    Laplace: lambda at, width, n: Laplace(at, width),
    Staircase: lambda at, width, n: Staircase(at, width, gamma=Fraction(n % 5, 4)),
}
"""The noise of each public class for a level, a sensitivity, and further parameters that follow from an integer n >= 0.
"""

ON_INTEGERS = [make for kind, make in DISTRIBUTIONS.items() if issubclass(kind, IntegerDistribution)]
EXAMPLES = [
    make(at, width, n)
    for make in DISTRIBUTIONS.values()
    for at, width, n in ((level("1/2"), 3, 1), (level(alpha="1/3").scaled("1/2"), 4, 2), (level(2), 1, 3))
]
"""Each noise three times."""
