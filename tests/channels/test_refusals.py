"""Calls that channels and remaps refuse, each by its class of error."""

import numpy as np
import pytest

from utmost.channels import (
    Channel,
    Remap,
    abstract_staircase,
    dual_randomized_response,
    exponential_mechanism,
    geometric_channel,
    laplace_channel,
    planar_geometric_channel,
    randomized_response,
    tight_constraints,
    two_secret_optimum,
    unbounded_geometric_channel,
)
from utmost.errors import NotAChannel, NotALevel, NotALoss, NotANumber, OutOfRange, Unsupported
from utmost.spaces import Space, counts, grid

COIN = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
SMALL = [[0, 1], [1, 0]]
COSTS = [
    ([[0, 1], [0, 1]], {}, NotALoss),
    ([[0, 1]], {}, NotALoss),
    ([[0, -1], [1, 0]], {}, NotALoss),
    (SMALL, {"space": counts(2)}, NotALoss),
    (SMALL, {"base": [1]}, OutOfRange),
    (SMALL, {"base": [1, 0]}, OutOfRange),
    (SMALL, {"base": [1, None]}, NotANumber),
]
DEPENDENT = [[0 if x == y else 1 if (x < 3) != (y < 3) else 2 for y in range(6)] + [1] for x in range(6)]
"""Two threes at distance 1 across and 2 within, and a hub: E (1, 1, 1, -1, -1, -1, 0) = 0 at alpha = 1/2."""


@pytest.mark.parametrize(
    "matrix",
    [
        [[1, 0], ["3/5", "1/2"]],
        [[0.5, 0.6]],
        [["3/2", "-1/2"]],
        [[1.0 + 1e-17, -1e-17]],
        [[]],
        np.zeros((0, 2)),
        [1, 0],
        [[1, None]],
        [[1.0, float("nan")]],
        [[True, False]],
        [[1], [1, 0]],
        None,
    ],
)
def test_no_channel(matrix):
    with pytest.raises(NotAChannel):
        Channel(matrix)


def test_a_refusal_names_row_and_sum():
    with pytest.raises(NotAChannel, match=r"row 1.*11/10"):
        Channel([[1, 0], ["3/5", "1/2"]])


@pytest.mark.parametrize(
    "arguments",
    [
        ([0, 2], 2),
        ([-1], 2),
        ([], 2),
        ([0.5], 2),
        ([True], 2),
        ([[0]], 2),
        ([0], 0),
        ([0], 1, [1]),
        ([0], 1, [-1]),
    ],
)
def test_no_remap(arguments):
    with pytest.raises(OutOfRange):
        Remap(*arguments)


@pytest.mark.parametrize("make", [exponential_mechanism, abstract_staircase])
@pytest.mark.parametrize(("costs", "options", "error"), COSTS)
def test_no_costs(make, costs, options, error):
    with pytest.raises(error):
        make(costs, epsilon=1, **options)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: Channel([[1 / 49] * 49], tolerance=0.0), NotAChannel),
        (lambda: Channel([[1, 0]], outcomes=[1]), NotAChannel),
        (lambda: COIN.relabel(secrets=["x"]), NotAChannel),
        (lambda: COIN @ Channel([[1]]), NotAChannel),
        (lambda: COIN @ Remap([0], 1), OutOfRange),
        (lambda: COIN @ [[1, 1], [0, 1]], NotAChannel),
        (lambda: COIN.mix(Channel([[1], [1]]), 0), NotAChannel),
        (lambda: COIN.mix(COIN, "3/2"), OutOfRange),
        (lambda: COIN.choose(COIN, -0.1), OutOfRange),
        (lambda: COIN.mix(COIN, float("nan")), NotANumber),
        (lambda: COIN.choose(Channel([[1]]), 0), NotAChannel),
        (lambda: COIN.parallel(Channel([[1]])), NotAChannel),
        (lambda: COIN.restrict([]), OutOfRange),
        (lambda: COIN.restrict([2]), OutOfRange),
        (lambda: COIN.restrict([-1]), OutOfRange),
        (lambda: COIN.restrict([True, False]), OutOfRange),
        (lambda: COIN.restrict(0), OutOfRange),
        (lambda: Remap([0, 1], 2).then(Remap([0], 1)), OutOfRange),
        (lambda: Remap([0, 1], 2).apply(np.ones((1, 3))), OutOfRange),
        (lambda: Remap([0], None), NotANumber),
        (lambda: abstract_staircase(SMALL, epsilon=1, gamma="3/2"), OutOfRange),
        (lambda: abstract_staircase(SMALL, epsilon=1, space=Space([[0, "1/2"], ["1/2", 0]])), Unsupported),
        (lambda: abstract_staircase(grid(3, 3).distances, epsilon=1, space=grid(3, 3)), Unsupported),
        (lambda: exponential_mechanism(SMALL, alpha="1/2", tails=(-1, 1)), OutOfRange),
        (lambda: two_secret_optimum(), NotALevel),
        (lambda: two_secret_optimum(epsilon=1, distance=0), OutOfRange),
        (lambda: two_secret_optimum(epsilon=1, distance=-1), OutOfRange),
        (lambda: randomized_response(0, epsilon=1), OutOfRange),
        (lambda: randomized_response(3), NotALevel),
        (lambda: dual_randomized_response(0, epsilon=1), OutOfRange),
        (lambda: dual_randomized_response(3), NotALevel),
        (lambda: laplace_channel(3, epsilon=1, thresholds=[1, 1]), OutOfRange),
        (lambda: laplace_channel(3, epsilon=1, thresholds=[2, 1]), OutOfRange),
        (lambda: laplace_channel(3, epsilon=1, thresholds=[float("nan")]), NotANumber),
        (lambda: planar_geometric_channel(3, 3, epsilon="1e-4"), Unsupported),
        (lambda: tight_constraints(Space([*DEPENDENT, [1] * 6 + [0]]), alpha="1/2"), OutOfRange),
        (lambda: geometric_channel(0, epsilon=1), OutOfRange),
        (lambda: geometric_channel(-1, epsilon=1), OutOfRange),
        (lambda: unbounded_geometric_channel(1.5, epsilon=1), NotANumber),
        (lambda: unbounded_geometric_channel(None, epsilon=1), NotANumber),
        (lambda: unbounded_geometric_channel(True, epsilon=1), NotANumber),
        (lambda: geometric_channel(4), NotALevel),
        (lambda: geometric_channel(4, epsilon=1, alpha=0.5), NotALevel),
        (lambda: geometric_channel(4, alpha=1), NotALevel),
        (lambda: geometric_channel(4, epsilon=0), NotALevel),
    ],
)
def test_refused(call, error):
    with pytest.raises(error):
        call()
