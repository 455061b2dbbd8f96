"""What no distribution, no cost, no sum and no noise of several cells takes: each by its class."""

from fractions import Fraction

import numpy as np
import pytest

from every_noise import EXAMPLES
from utmost.errors import NotALevel, NotALoss, NotANumber, NotMonotone, OutOfRange, Unsupported, WrongKind
from utmost.noise import (
    CellsDraw,
    Combination,
    DiscreteStaircase,
    Geometric,
    JointCells,
    Laplace,
    RotatedPair,
    SignedCells,
    Staircase,
    TablesDraw,
    costs,
    gain,
    heuristic_gamma,
    optimal_gamma,
    optimal_noise,
    optimal_step,
    relaxable_noise,
    simultaneous_margins,
)


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
        lambda: optimal_gamma(1, 0),
        lambda: optimal_step(1, 0),
        lambda: heuristic_gamma("1e-60"),
        lambda: optimal_noise(1, numbers="naturals"),
        lambda: gain(Geometric(1), "gaussian"),
        lambda: gain("geometric"),
        lambda: gain("laplace", Geometric(1)),
        lambda: gain(Geometric(1), cost=lambda x: 0),
        *(lambda wrong=wrong: JointCells(1, **wrong) for wrong in ({"cells": 0}, {"cells": 2, "sensitivity": 0})),
        lambda: JointCells(1, 2).pmf([1, 2, 3]),
        *(
            lambda wrong=wrong: CellsDraw(1, **wrong)
            for wrong in ({"cells": 0}, {"cells": 2, "changed": 3}, {"step": 2}, {"sensitivity": 3, "in_total": 2})
        ),
        lambda: CellsDraw(1, 2).variance_of([1]),
        *(lambda sizes=sizes: TablesDraw(1, sizes) for sizes in ((), (2, 0))),
        lambda: TablesDraw(1, (2,), exactly=True),
        lambda: TablesDraw(1, [2, 2]).tail(1, cell=4),
    ],
    NotALoss: [
        *(lambda best=best: best(1, 5, lambda x: max(x, 0)) for best in (optimal_step, optimal_gamma)),
        *(
            lambda make=make, more=more: make(1, 5, "absolute", **more)
            for make, more in ((DiscreteStaircase, {}), (DiscreteStaircase, {"step": 1}), (Staircase, {}))
        ),
        lambda: Staircase(1, 1, "absolute", gamma=0.5),
        lambda: optimal_noise(1, 1, "absolute"),
    ],
    NotMonotone: [
        *(lambda best=best: best(1, 5, lambda x: 1 / (1 + abs(x))) for best in (optimal_step, optimal_gamma))
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
        *(lambda best=best: best(1, "5/2") for best in (optimal_noise, relaxable_noise)),
        lambda: gain(Laplace(1, 2.5), "geometric"),
        lambda: JointCells(1, sensitivity="1/2"),
        lambda: SignedCells(1, [["1/2"]], [1]),
    ],
    NotALevel: [
        *(lambda distribution=distribution: changed(distribution, epsilon=None) for distribution in EXAMPLES),
        *(lambda distribution=distribution: changed(distribution, alpha="1/2") for distribution in EXAMPLES),
        lambda: Combination([1], 0),
        lambda: Combination([1], None),
        lambda: JointCells(),
        lambda: RotatedPair(1, alpha="1/2"),
        lambda: CellsDraw(),
    ],
    Unsupported: [
        lambda: Geometric(1).pmf(np.array([1], dtype=object)),
        lambda: Geometric(alpha="1/3").pmf(10**9),
        *(lambda best=best: best(1, 5, lambda x: np.exp(2 * np.abs(x))) for best in (optimal_step, optimal_gamma)),
    ],
    WrongKind: [lambda: Combination(1, 1), lambda: simultaneous_margins([1]), lambda: simultaneous_margins(3)],
}


@pytest.mark.parametrize("error", REFUSED)
def test_what_makes_no_sense_is_refused_by_its_class(error):
    for call in REFUSED[error]:
        with pytest.raises(error):
            call()
