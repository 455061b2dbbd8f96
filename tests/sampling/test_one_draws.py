"""Draws of many cells at once: the exact chances of every decision, draws against them, margins of answers."""

from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from goodness import LEVEL, as_often, chi_square, no_more_often

# Every choice of uniform integers is enumerated, so that the distribution is exact.
from utmost.core.noise.cells_draw import chunk_points
from utmost.core.noise.tables_draw import points
from utmost.core.sampling import one_draws
from utmost.core.sampling.one_draws import answer_margin, sample_one_draw
from utmost.errors import OutOfRange
from utmost.noise import CellsDraw, TablesDraw
from utmost.testing import SeededRandomness


def every_path(monkeypatch, draw):
    """The exact distribution of what a function of uniform integers gives: every choice of theirs, with its chance."""
    distribution, todo = Counter(), [()]
    while todo:
        path, chance, taken = todo.pop(), Fraction(1), []

        def below(bound, _, path=path, taken=taken):
            if len(taken) < len(path):
                taken.append((path[len(taken)], bound))
                return path[len(taken) - 1]
            todo.extend((*path, *[0] * (len(taken) - len(path)), other) for other in range(1, bound))
            taken.append((0, bound))
            return 0

        monkeypatch.setattr(one_draws, "one_below", below)
        found = draw()
        for _, bound in taken:
            chance /= bound
        distribution[tuple(found)] += chance
    assert sum(distribution.values()) == 1
    return distribution


@pytest.mark.parametrize(("a", "most", "in_total"), [(1, 4, 3), (2, 3, 4), (3, 2, 4), (3, 3, 5), (2, 4, 9)])
def test_points_within_a_sum_are_uniform(monkeypatch, a, most, in_total):
    """Each vector of {1..most}^a with a sum of at most in_total, with the same chance, and no other."""
    distribution = every_path(monkeypatch, lambda: one_draws._within_sum(a, most, in_total, None))
    wanted = [x for x in product(range(1, most + 1), repeat=a) if sum(x) <= in_total]
    assert set(distribution) == set(wanted)
    assert set(distribution.values()) == {Fraction(1, len(wanted))}
    assert chunk_points(a, most, in_total) == len(wanted)


@pytest.mark.parametrize(("d", "j", "l"), [(1, 2, 1), (2, 2, 1), (3, 1, 2), (3, 2, 2), (4, 1, 1), (3, 0, 2)])
def test_points_of_a_table_are_uniform(monkeypatch, d, j, l):
    """Each point with sum j - l and raised part at most j, with the same chance."""
    distribution = every_path(monkeypatch, lambda: one_draws._table(d, j, l, None))
    around = product(range(-l, j + 1), repeat=d)
    wanted = [x for x in around if sum(x) == j - l and sum(max(v, 0) for v in x) <= j]
    assert set(distribution) == set(wanted)
    assert set(distribution.values()) == {Fraction(1, len(wanted))}
    assert points(d, j, l) == len(wanted)


@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
@pytest.mark.parametrize("m", [0, 1, 2])
def test_a_shell_of_tables_is_uniform(monkeypatch, neighbours, m):
    """Pair and tables together: each point of the shell with the chance of its pairs."""
    distribution = TablesDraw(1, [2, 2], neighbours)
    if neighbours == "change-one":  # two tosses choose the pair, again and again until it is allowed
        monkeypatch.setattr(
            one_draws, "_pair", lambda distribution, m, word: one_draws._on_segment(lambda _: 1, 0, 0, word) or (m, m)
        )
    found = every_path(monkeypatch, lambda: one_draws._tables(distribution, m, None))
    pairs = [(j, m - j) for j in range(m + 1)] if neighbours == "add-remove" else [(m, m)]
    chances = Counter()
    for j, l in pairs:
        table = [x for x in product(range(-l, j + 1), repeat=2) if sum(x) == j - l and sum(max(v, 0) for v in x) <= j]
        chances.update({(*x, *y): 1 for x, y in product(table, repeat=2)})
    total = sum(chances.values())
    assert found == {x: Fraction(times, total) for x, times in chances.items()}


@pytest.mark.parametrize(("total", "parts"), [(0, 3), (2, 1), (2, 3), (3, 2), (3, 4)])
def test_compositions_are_uniform(monkeypatch, total, parts):
    """Each composition into parts >= 0."""
    distribution = every_path(monkeypatch, lambda: one_draws._composition(total, parts, None))
    wanted = [x for x in product(range(total + 1), repeat=parts) if sum(x) == total]
    assert set(distribution) == set(wanted)
    assert set(distribution.values()) == {Fraction(1, len(wanted))}


def test_places_on_a_segment_have_their_weights(monkeypatch):
    """Listed where the segment is short, by differences where it is long."""
    for last in (3, 9):
        distribution = every_path(monkeypatch, lambda last=last: [one_draws._on_segment(_one_more, last, 1, None)])
        total = (last + 1) * (last + 2) // 2
        assert distribution == {(s,): Fraction(s + 1, total) for s in range(last + 1)}


def _one_more(place):
    return place + 1


@pytest.mark.parametrize("m", [0, 1, 2])
def test_both_parts_of_a_joined_shell_have_their_weights(monkeypatch, m):
    """(m, s) and (s, m) for each s < m and (m, m) by their numbers of points, exactly, where the first round ends."""
    distribution, on_segment = TablesDraw(1, [2, 3], "change-one"), one_draws._on_segment

    def first_round():
        once = iter([on_segment])
        monkeypatch.setattr(one_draws, "_on_segment", lambda *given: next(once)(*given))
        try:
            return one_draws._pair(distribution, m, None)
        except StopIteration:  # a second round begins
            return ("again",)

    found = every_path(monkeypatch, first_round)
    ended = 1 - found.pop(("again",))
    weights = {(j, l): distribution.shell_points(j, l) for j in range(m + 1) for l in range(m + 1) if m in (j, l)}
    assert found == {pair: ended * Fraction(points, sum(weights.values())) for pair, points in weights.items()}


DISTRIBUTIONS = [
    CellsDraw(1, 2, 2, 2, step=2),
    CellsDraw(1, 3, 2),
    CellsDraw(1, 3, 2, nonnegative=False),
    CellsDraw(2, 3, 1, 2),
    CellsDraw(2, 3, 2, 3, step=2, neighbours="change-one"),
    CellsDraw(1, 3, 3, 3, in_total=5, step=2),
    CellsDraw(2, 2, 2, 4, in_total=5, nonnegative=False, neighbours="change-one"),
    TablesDraw(1, [3], "change-one"),
    TablesDraw(1, [3], "change-one", exactly=True),
    TablesDraw(1, [2, 3]),
    TablesDraw("3/2", [2, 3], "change-one"),
    TablesDraw(1, [2, 2], "change-one", exactly=True),
]


@pytest.mark.parametrize("distribution", DISTRIBUTIONS, ids=repr)
def test_draws_have_the_distribution(distribution):
    """Points near 0 as often as their masses say; each cell against its tail."""
    count = 10_000 if isinstance(distribution, CellsDraw) else 4_000
    draws = sample_one_draw(distribution, count)
    seen = Counter(map(tuple, draws.tolist()))
    for point in [(0,) * distribution.size, *[x for x, _ in seen.most_common(12)]]:
        assert as_often(seen[point], count, float(distribution.pmf(point))) > LEVEL
    assert all(distribution.distance(point) is not None for point in seen)
    for cell in {0, distribution.size - 1}:

        def below(x, cell=cell):
            return [
                float(1 - distribution.tail(int(t), cell) / 2)
                if t >= 0
                else float(distribution.tail(int(-t - 1), cell) / 2)
                for t in x
            ]

        assert chi_square(draws[:, cell], below, least=100) > LEVEL
        assert no_more_often(int((abs(draws[:, cell]) > distribution.margin("0.9", cell)).sum()), count, 0.1) > LEVEL


def test_wide_noise_and_no_rows():
    """Beyond int64 as Python ints; none; and what cannot be relaxed comes out within its margins at tiny levels."""
    for distribution in (
        CellsDraw("1e-25", 3, 2),
        CellsDraw(1, 2, 2, 10**30, step=10**29),
        TablesDraw("1e-25", [3, 2]),
    ):
        wide = sample_one_draw(distribution, 3)
        assert wide.dtype == object
        assert max(abs(int(x)) for x in wide.ravel()) > 1 << 63
    assert sample_one_draw(CellsDraw(1, 4, 2), 0).shape == (0, 4)
    assert not sample_one_draw(CellsDraw(60, 3, 2), 100).any()
    with pytest.raises(OutOfRange):
        sample_one_draw(CellsDraw(1, 2), -1)
    tiny = TablesDraw("1/1000000", [5])
    draws = sample_one_draw(tiny, 300)
    assert no_more_often(int((abs(draws[:, 2]) > tiny.margin("0.9", 2)).sum()), 300, 0.1) > LEVEL


def test_rejected_points_are_drawn_cell_by_cell(monkeypatch):
    """Whichever way the points of a shell are drawn, the distribution is the same."""
    distribution = CellsDraw(1, 4, 1)
    monkeypatch.setattr(one_draws, "_REJECTIONS", 0)
    draws = sample_one_draw(distribution, 4_000)
    zeros = int((draws == 0).all(axis=1).sum())
    assert as_often(zeros, 4_000, float(distribution.pmf([0] * 4))) > LEVEL
    assert no_more_often(int((abs(draws[:, 3]) > distribution.margin("0.9")).sum()), 4_000, 0.1) > LEVEL


@pytest.mark.parametrize("shell", [1, 3])
def test_rejected_points_with_a_bound_on_cells_are_uniform(monkeypatch, shell):
    """Two raised cells in shell s: each at most 2 s, the sum at most 3 s."""
    monkeypatch.setattr(one_draws, "_REJECTIONS", 0)
    distribution, shells = CellsDraw(1, 3, 3, 2, in_total=3), np.array([shell])
    found = every_path(monkeypatch, lambda: one_draws._raised(distribution, 2, shells, SeededRandomness(1))[0].tolist())
    wanted = [x for x in product(range(1, 2 * shell + 1), repeat=2) if sum(x) <= 3 * shell]
    assert found == dict.fromkeys(wanted, Fraction(1, len(wanted)))


@pytest.mark.parametrize(
    ("distribution", "coefficients"),
    [
        (CellsDraw(1, 5, 3), [1] * 5),
        (CellsDraw(1, 3, 3, 4, step=2), [1, -1, 0]),
        (TablesDraw(1, [6], "change-one"), [1, 1, 1, 0, 0, 0]),
        (TablesDraw(1, [2, 3]), [0, 0, 1, 1, 0]),
    ],
    ids=repr,
)
def test_margins_of_answers_cover(distribution, coefficients):
    """Fresh draws lie within; the same margin for everybody; scaled with the answer."""
    draws = sample_one_draw(distribution, 6_000) @ np.array(coefficients)
    for confidence in ("0.5", "0.95", "0.99"):
        margin = answer_margin(distribution, coefficients, confidence)
        missed = int((abs(draws) > margin).sum())
        assert no_more_often(missed, 6_000, 1 - float(confidence)) > LEVEL
        assert missed > 0
        assert answer_margin(distribution, [Fraction(c, 2) for c in coefficients], confidence) == margin / 2


def test_margins_of_single_cells_and_totals_are_exact():
    """No draw is made for them; nothing for nothing; bounds where draws cannot say."""
    distribution, tables = CellsDraw(1, 4, 2), TablesDraw(1, [2, 3])
    assert answer_margin(distribution, [0, 0, 3, 0]) == 3 * distribution.margin()
    assert answer_margin(tables, [1, 1, 0, 0, 0]) == answer_margin(tables, [0, 0, 1, 1, 1]) == tables.total_margin()
    assert answer_margin(distribution, [0] * 4) == 0
    assert answer_margin(TablesDraw(1, [3], "change-one", exactly=True), [1] * 3) == 0
    sure = answer_margin(distribution, [1, 1, 0, 0], "0.9999999999")
    assert sure <= 2 * distribution.margin("0.99999999995")


def test_seeded_draws_repeat():
    """Equal bits, equal draws."""
    distribution = CellsDraw(1, 4, 2, 3)
    first, second = (sample_one_draw(distribution, 5, randomness=SeededRandomness(7)) for _ in range(2))
    assert (first == second).all()
