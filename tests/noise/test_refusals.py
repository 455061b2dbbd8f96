"""What no distribution, no cost and no sum takes: each by its class."""

from fractions import Fraction

import numpy as np
import pytest

from every_noise import EXAMPLES
from utmost.errors import NotALevel, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.noise import Combination, DiscreteStaircase, Geometric, Laplace, Staircase, costs, simultaneous_margins


def changed(distribution, **arguments):
    """A distribution of the same class and parameters, but for these arguments."""
    return type(distribution)(**{"epsilon": 1} | distribution.parameters | arguments)


NAN, INF = float("nan"), float("inf")
NO_NUMBERS = (True, NAN, INF, "3", None, [1, NAN], [True], 1j)
REFUSED = {
    OutOfRange: [
        *(
            lambda distribution=distribution, s=s: changed(distribution, sensitivity=s)
            for distribution in EXAMPLES
            for s in (0, -1, "1e101")
        ),
        *(lambda distribution=distribution: changed(distribution, epsilon="1e-60") for distribution in EXAMPLES),
        *(lambda step=step: DiscreteStaircase(1, 5, step=step) for step in (0, 6)),
        *(lambda gamma=gamma: Staircase(1, gamma=gamma) for gamma in (-0.1, 1.1)),
        *(lambda p=p: Laplace(1).icdf(p) for p in (-0.1, 1.1, [0.5, 2.0], Fraction(3, 2))),
        *(lambda m=m: Geometric(1).moment(m) for m in (0, -1)),
        *(lambda order=order: costs.moment(order) for order in (0, -1, "0")),
        *(
            lambda name=name: costs.cost_named(name)
            for name in ("", "cubic", "moment", "moment:x", "moment:0", "absolute:2")
        ),
        lambda: DiscreteStaircase.half_step(1, 4),
        lambda: Combination([1, 2], [1]),
        lambda: Combination([1, 2], 1, [1, 2, 3]),
        lambda: Combination([1], 1, [-1]),
        lambda: Combination(["1e200"], 1),
        lambda: Combination([1], 1).margin(1),
        lambda: Combination([1], 1).margin_for_miss(0),
        lambda: simultaneous_margins([]),
    ],
    NotANumber: [
        *(
            lambda distribution=distribution, s=s: changed(distribution, sensitivity=s)
            for distribution in EXAMPLES
            for s in (True, NAN, "x", None, *[1.5] * (distribution.numbers == "integers"))
        ),
        *(lambda x=x, f=f: getattr(Geometric(1), f)(x) for x in NO_NUMBERS for f in ("pmf", "cdf", "ccdf", "logpmf")),
        *(lambda x=x, f=f: getattr(Staircase(1), f)(x) for x in NO_NUMBERS for f in ("pdf", "cdf", "ccdf", "logpdf")),
        *(lambda p=p: Laplace(1).icdf(p) for p in (True, NAN, "x", None, [0.5, NAN])),
        *(lambda order=order: costs.moment(order) for order in (True, NAN, "three", None)),
        lambda: Geometric(alpha="1/2").pmf(np.array([0.5], dtype=object)),
        lambda: Laplace(1).pdf(np.array([Fraction(1, 2)], dtype=object)),
        lambda: Combination([1], 1, [0.5]),
        lambda: Combination([NAN], 1),
        lambda: Combination([True], 1),
        lambda: Combination([[1]], 1),
        lambda: Combination([1], 1).coverage("x"),
    ],
    NotALevel: [
        *(lambda distribution=distribution: changed(distribution, epsilon=None) for distribution in EXAMPLES),
        *(lambda distribution=distribution: changed(distribution, alpha="1/2") for distribution in EXAMPLES),
        lambda: Combination([1], 0),
        lambda: Combination([1], None),
    ],
    Unsupported: [lambda: Geometric(1).pmf(np.array([1], dtype=object)), lambda: Geometric(alpha="1/3").pmf(10**9)],
    WrongKind: [lambda: Combination(1, 1), lambda: simultaneous_margins([1]), lambda: simultaneous_margins(3)],
}


@pytest.mark.parametrize("error", REFUSED)
def test_what_makes_no_sense_is_refused_by_its_class(error):
    for call in REFUSED[error]:
        with pytest.raises(error):
            call()
