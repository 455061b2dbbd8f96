"""The loss that gradual release of optimal noise must take, by the joint program; Theorem 9 by a program of its own."""

import math

import numpy as np
import pytest

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.errors import NotALevel, OutOfRange, Unsupported
from utmost.exact import level
from utmost.gradual import losslessness
from utmost.noise import DiscreteStaircase, Geometric, costs
from utmost.optima import gradual_loss
from utmost.programs import LinearProgram, solve

# THEORY 4.4, in percent: both levels may lose; the lower one exact; the higher one exact.
KNOWN = [
    (3, 1, "3/2", 0.31, 0.46, 0.94),
    (3, "3/2", 2, 0.0024, 0.021, 0.0028),
    (4, 1, 2, 0.064, 0.074, 0.58),
    (4, 2, "5/2", 1.14, 4.1, 1.6),
]


@pytest.mark.parametrize(("D", "lower", "higher", "both", "first", "second"), KNOWN)
def test_known_losses(D, lower, higher, both, first, second):
    assert 100 * gradual_loss(D, lower, higher) == pytest.approx(both, rel=0.05)
    assert 100 * gradual_loss(D, lower, higher, keep="lower") == pytest.approx(first, rel=0.05)
    if D == 3:
        assert 100 * gradual_loss(D, lower, higher, keep="higher", reach=6) == pytest.approx(second, rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(("D", "lower", "higher", "both"), [(5, 2, 3, 0.24), (6, 1, 2, 0.58)])
def test_more_known_losses(D, lower, higher, both):
    assert 100 * gradual_loss(D, lower, higher, reach=3) == pytest.approx(both, rel=0.05)


@pytest.mark.parametrize(
    ("D", "lower", "higher", "cost"),
    [
        *((*pair, costs.absolute) for pair in ((1, 1, 2), (2, 1, 2), (3, 1, 2), (3, 2, 3), (3, 1, "3/2"))),
        *((*pair, costs.squared) for pair in ((2, 1, 2), (3, 1, "3/2"), (4, 1, 2))),
    ],
    ids=str,
)
def test_the_loss_is_zero_where_lossless_release_is_possible(D, lower, higher, cost):
    """Deconvolution and the joint program agree."""
    distributions = [DiscreteStaircase(e, D, cost) for e in (lower, higher)]
    loss = gradual_loss(D, lower, higher, cost=cost, reach=5 if D < 4 else 4)
    assert (loss < 1e-5) == bool(losslessness(*distributions))


def test_the_loss_falls_as_the_reach_grows():
    """Each program is a family of designs inside the next one."""
    losses = [gradual_loss(3, 1, "3/2", reach=r) for r in (1, 2, 3, 4)]
    assert losses == sorted(losses, reverse=True)
    assert gradual_loss(3, 1, "3/2", keep="lower") > losses[-1]


@pytest.mark.parametrize("epsilon", ["1/3", 1, 3])
@pytest.mark.parametrize("cost", [np.abs, np.square, lambda x: np.minimum(np.abs(x), 3), lambda x: np.abs(x) >= 2])
def test_geometric_noise_is_the_best_under_metric_privacy(epsilon, cost):
    """Theorem 9 on a lattice: minimise the cost subject to p(v) <= e^epsilon p(v +- 1), geometric beyond 60."""
    a, M = math.exp(-level(epsilon).epsilon_float), 60
    rows, columns, values = [], [], []
    for row, (v, other) in enumerate((v, v + d) for v in range(M + 1) for d in (-1, 1) if 0 <= v + d <= M):
        rows += [row, row]
        columns += [other, v]
        values += [1 / a, -1]
    count = row + 1
    mass = np.array([1.0] + [2.0] * (M - 1) + [2 / (1 - a)])
    beyond = np.arange(M, M + 3000)
    tail = 2 * (cost(beyond) * a ** (beyond - M)).sum()
    weights = np.append(np.array([1] + [2] * (M - 1)) * cost(np.arange(M)), tail)
    rows, columns, values = rows + [count] * (M + 1), columns + list(range(M + 1)), values + list(mass)
    program = LinearProgram.of_triplets(
        weights, rows, columns, values, lower=[0.0] * count + [1.0], upper=[math.inf] * count + [1.0]
    )
    distribution = Geometric(epsilon)
    v = np.arange(-M - 3000, M + 3001)
    assert solve(program).value == pytest.approx(float((cost(v) * distribution.pmf(v)).sum()), rel=1e-7)


def test_the_staircase_is_not_metrically_private():
    """Within a stair it falls by e^-epsilon in one step, where metric privacy for D steps allows e^(-epsilon/D)."""
    distribution = DiscreteStaircase(1, 3, step=2)
    fall = float(distribution.pmf(2)) / float(distribution.pmf(1))
    assert fall == pytest.approx(math.exp(-1))
    assert fall < math.exp(-1 / 3)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((0, 1, 2), {}, OutOfRange),
        ((3, 2, 1), {}, OutOfRange),
        ((3, 1, 1), {}, OutOfRange),
        ((3, 1, 2), {"reach": 0}, OutOfRange),
        ((3, 1, 2), {"cost": np.abs}, Unsupported),
        ((3, 1, 2), {"cost": costs.moment(3)}, Unsupported),
        ((3, 0, 2), {}, NotALevel),
    ],
)
def test_refusals(arguments, options, error):
    with pytest.raises(error):
        gradual_loss(*arguments, **options)


@pytest.mark.slow
def test_the_program_ends_at_a_sensitivity_of_ten():
    """Sums over slices have variables of their own, so rows are short; the loss stays below one per cent."""
    assert 100 * gradual_loss(10, 1, 2) == pytest.approx(0.41867, rel=1e-3)
