"""One draw with a total of its own: privacy by neighbours, variances by least squares and by draws, what is refused."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest

from goodness import LEVEL, as_often, no_more_often
from noise.test_one_draw import all_presences, changes

# The step from cells to a total of its own is looked at alone, with chosen coins.
from utmost.core.noise.draw_with_total import least_share
from utmost.core.sampling import one_draws
from utmost.core.sampling.one_draws import answer_margin, sample_one_draw
from utmost.errors import OutOfRange
from utmost.exact import Level, level
from utmost.noise import CellsDraw, DiscreteStaircase, DrawWithTotal, Geometric, TablesDraw
from utmost.testing import SeededRandomness

HALF, THIRD = Level.of_alpha("1/2"), Level.of_alpha("1/3")
DRAWS = [
    CellsDraw(HALF, 2, 1),
    CellsDraw(HALF, 3, 2),
    CellsDraw(HALF, 2, 2, 2, step=2),
    CellsDraw(HALF, 3, 3, 2, in_total=3),
    CellsDraw(HALF, 2, 2, neighbours="change-one"),
    CellsDraw(HALF, 2, 2, nonnegative=False),
    CellsDraw(Level.of_alpha("1/4"), 2, 2, nonnegative=False, neighbours="change-one"),
    TablesDraw(HALF, [3]),
    TablesDraw(HALF, [3], "change-one"),
    TablesDraw(HALF, [2, 2]),
    TablesDraw(HALF, [2, 2], "change-one"),
]


def with_total(distribution, at=THIRD):
    return DrawWithTotal(
        distribution, Geometric(at) if distribution.reach == 1 else DiscreteStaircase(at, distribution.reach, step=1)
    )


@pytest.mark.parametrize("draw", DRAWS, ids=repr)
def test_cells_and_total_together_keep_the_sum_of_both_levels(draw):
    """Every neighbour, every answer around it, in rationals; and the largest change of the total."""
    distribution, first = with_total(draw), draw.sizes[0] if isinstance(draw, TablesDraw) else draw.size
    assert max(abs(sum(change[:first])) for change in changes(draw)) == draw.reach
    most, attained = 1 / (draw.level.alpha_fraction() * THIRD.alpha_fraction()), Fraction(0)
    totals = range(-2 * draw.reach, 2 * draw.reach + 1)
    pmf, total_pmf = cache(lambda cells: draw.pmf(cells)), cache(distribution.total.pmf)
    for cells in product(range(-2, 3), repeat=draw.size):
        if draw.distance(cells) is None:
            continue
        for change in changes(draw):
            moved = tuple(a + b for a, b in zip(cells, change, strict=True))
            if draw.distance(moved) is None:
                continue
            ratio, shift = pmf(cells) / pmf(moved), sum(change[:first])
            attained = max(attained, *(ratio * total_pmf(at) / total_pmf(at + shift) for at in totals))
    assert attained <= most
    if draw.reach == 1:
        assert attained == most


@pytest.mark.parametrize("draw", DRAWS, ids=repr)
def test_what_is_released_is_a_function_of_cells_and_total(draw):
    """The noise added to true cells is what comes of noisy cells and a noisy total, by the same coins."""
    distribution, bits = with_total(draw), np.random.default_rng(7)
    first = distribution.tables[0]
    person = np.array(max(all_presences(draw)))
    true = person * 11 + np.array(min(all_presences(draw)))  # of tables all with one total
    drawn = sample_one_draw(draw, 200, randomness=SeededRandomness(b"cells"))
    totals = bits.integers(-9, 9, 200)
    coins = SeededRandomness(b"coins"), SeededRandomness(b"coins")
    noise = one_draws._with_total(distribution, drawn, totals, coins[0])
    released = one_draws._with_total(distribution, drawn + true, totals + true[:first].sum(), coins[1])
    assert (released == noise + true).all()
    start = 0
    for size in distribution.tables:  # all tables have one total, which is the weighed one to an integer
        own = noise[:, start : start + size].sum(axis=1)
        mean = (1 - distribution.weight) * drawn[:, :first].sum(axis=1) + distribution.weight * totals
        assert (np.abs((own - mean).astype(float)) < 1).all()
        start += size


@pytest.mark.parametrize(
    ("draw_at", "share"),
    [
        (lambda at: CellsDraw(at, 4, 2), "2/5"),
        (lambda at: TablesDraw(at, [2, 3]), "2/5"),
        (lambda at: CellsDraw(at, 3, 3, 5), "1/2"),
    ],
)
def test_variances_are_those_of_weighted_least_squares(draw_at, share):
    """By the full covariance of the draw, but for rounding: at most a quarter for the total, and for each cell."""
    distribution = DrawWithTotal.at_share(draw_at, level("1/20"), Fraction(share))
    unit = np.eye(distribution.size, dtype=int)
    alone = [float(distribution.draw.variance_of(row.tolist())) for row in unit]
    both = [[float(distribution.draw.variance_of((a + b).tolist())) for b in unit] for a in unit]
    draw = np.array(
        [[(both[i][j] - alone[i] - alone[j]) / 2 for j in range(distribution.size)] for i in range(distribution.size)]
    )
    np.fill_diagonal(draw, alone)
    total = np.array([int(place < distribution.tables[0]) for place in range(distribution.size)])
    gain = draw @ total / (total @ draw @ total + float(distribution.total.variance()))
    best = draw - np.outer(gain, total @ draw)
    for answer in (*unit, total, total * 2 + unit[-1], 3 * unit[0] - unit[1]):
        most = float(np.abs(answer).sum()) ** 2 / 2
        assert (
            0
            <= distribution.variance_of(answer.tolist()) - answer @ best @ answer
            <= most + 1e-4 * (answer @ best @ answer)
        )


@pytest.mark.parametrize(("epsilon", "runs"), [("1/2", 8_000), (6, 8_000)])
def test_draws_have_these_variances_and_margins_cover(epsilon, runs):
    """Cells, total and a difference; at a high level rounding is what matters."""
    distribution = DrawWithTotal.at_share(lambda at: CellsDraw(at, 5, 3), level(epsilon), Fraction(1, 2))
    drawn = sample_one_draw(distribution, runs)
    for answer in ([1, 0, 0, 0, 0], [1] * 5, [1, -1, 0, 0, 0], [2, 0, 0, 0, 1]):
        noise = drawn @ np.array(answer)
        assert noise.var() <= distribution.variance_of(answer) * 1.1
        assert noise.var() >= (distribution.variance_of(answer) - sum(map(abs, answer)) ** 2 / 2) * 0.9
        assert abs(noise.mean()) <= 5 * (distribution.variance_of(answer) / runs) ** 0.5
        for sure in ("0.95", "0.5"):
            beyond = (np.abs(noise) > float(answer_margin(distribution, answer, sure))).sum()
            assert no_more_often(int(beyond), runs, 1 - float(sure)) > LEVEL
    rare = answer_margin(distribution, [1] * 5, "0.99999999")
    assert answer_margin(distribution, [1] * 5, "0.9999") < rare < 40 * distribution.variance_of([1] * 5) ** 0.5


@pytest.mark.parametrize("answer", [[1] * 5, [1, -1, 0, 0, 0]])
def test_margins_grow_with_the_confidence(answer):
    """From draws to the bound beyond them, which has the rounding in it: at a high level little else is left."""
    distribution = DrawWithTotal.at_share(lambda at: TablesDraw(at, [2, 3]), level(20), Fraction(1, 2))
    margins = [answer_margin(distribution, answer, sure) for sure in ("0.9", "0.997", "0.9995", "0.9999", "0.99999999")]
    assert margins == sorted(margins)


def test_one_draw_alone_is_what_a_total_without_weight_leaves():
    """Zeros as often as the distribution says: the coins move nothing where both totals agree."""
    distribution = with_total(TablesDraw(HALF, [2, 2]))
    runs = 4000
    drawn = sample_one_draw(distribution, runs)
    assert (drawn[:, :2].sum(axis=1) == drawn[:, 2:].sum(axis=1)).all()
    cells, totals = sample_one_draw(distribution.draw, runs), np.zeros(runs, int)
    same = cells[:, :2].sum(axis=1) == 0
    assert (one_draws._with_total(distribution, cells, totals, SeededRandomness(b"x"))[same] == cells[same]).all()
    assert as_often(int(same.sum()), runs, 1 - float(distribution.draw.total_tail(0))) > LEVEL


def test_the_shares_of_the_page():
    """20 attributes and their total, and 5 of 10 cells with theirs; with cells alone the draw has all of the level."""

    def value(draw_at, answers):
        def at(share):
            distribution = DrawWithTotal.at_share(draw_at, level(1), share) if share else draw_at(level(1))
            return sum(weight * float(distribution.variance_of(answer)) for weight, answer in answers)

        return at

    cell, total = [1, *[0] * 39], [1, 1, *[0] * 38]
    tables = value(lambda at: TablesDraw(at, [2] * 20), [(20, cell), (1, total)])
    share = least_share(tables)
    assert (share, round(tables(share)), round(tables(0))) == (Fraction(17, 100), 1552, 1852)
    few = value(lambda at: CellsDraw(at, 10, 5), [(1, [1, *[0] * 9]), (1, [1] * 10)])
    share = least_share(few)
    assert (share, round(few(share), 1), round(few(0))) == (Fraction(61, 100), 208.9, 930)
    assert few(share) < min(few(share + Fraction(at, 100)) for at in (-9, -1, 1, 9))
    assert least_share(value(lambda at: CellsDraw(at, 10, 5), [(1, [1, *[0] * 9])])) == 0


def test_totals_that_do_not_fit_are_refused():
    """A public total, and noise for a smaller change than one individual makes."""
    with pytest.raises(OutOfRange, match="public"):
        DrawWithTotal(TablesDraw(HALF, [3], "change-one", exactly=True), Geometric(HALF))
    with pytest.raises(OutOfRange, match="at least 4"):
        DrawWithTotal(CellsDraw(HALF, 3, 2, 2), Geometric(HALF, 3))
