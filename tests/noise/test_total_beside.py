"""A total of its own beside one draw: variances against least squares on the covariance, and the shares of the page."""

from fractions import Fraction

import numpy as np
import pytest

# The shares of a page of the proofs, which no public law takes.
from utmost.core.noise.total_beside import TotalBeside
from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.noise import CellsDraw, Geometric, TablesDraw

LAWS = [
    (lambda at: CellsDraw(at, 4, 2), 2),
    (lambda at: TablesDraw(at, [2, 3]), 1),
    (lambda at: CellsDraw(at, 3, 3, 5), 15),
]


@pytest.mark.parametrize(("law_at", "reach"), LAWS)
def test_variances_are_those_of_weighted_least_squares(law_at, reach):
    """Of the contrasts and the total of the first table, with the full covariance of the draw."""
    share = Fraction(3, 5)
    law, found = law_at(level(1).scaled(share)), TotalBeside.of(law_at, level(1), share, reach)
    n = law.sizes[0] if isinstance(law, TablesDraw) else law.size
    unit = np.eye(law.size, dtype=int).tolist()
    alone = [float(law.variance_of(row)) for row in unit[:n]]
    both = [[float(law.variance_of(np.add(unit[i], unit[j]).tolist())) for j in range(n)] for i in range(n)]
    draw = np.array([[(both[i][j] - alone[i] - alone[j]) / 2 for j in range(n)] for i in range(n)])
    np.fill_diagonal(draw, alone)
    beside = float(Geometric(level(1).scaled(1 - share), reach).variance())
    information = np.linalg.inv(draw) + np.ones((n, n)) / beside
    covariance = np.linalg.inv(information)
    assert found.cells[n] == pytest.approx(covariance[0, 0], rel=1e-9)
    assert found.total == pytest.approx(covariance.sum(), rel=1e-9)


def test_the_shares_of_the_page():
    """20 attributes and their total, and 5 of 10 cells with theirs; with cells alone the draw has all of the level."""
    tables = TotalBeside.least(lambda at: TablesDraw(at, [2] * 20), level(1), lambda of: 20 * of.cells[2] + of.total)
    assert 20 * tables.cells[2] + tables.total == pytest.approx(1545.5, abs=0.1)
    few = TotalBeside.least(lambda at: CellsDraw(at, 10, 5), level(1), lambda of: of.cells[10] + of.total, 5)
    assert (few.share, round(few.cells[10] + few.total, 1)) == (Fraction(39, 100), 210.3)
    cells = TotalBeside.least(lambda at: CellsDraw(at, 10, 5), level(1), lambda of: of.cells[10], 5)
    assert cells.share == 1


def test_shares_outside_their_range_are_refused():
    """A total that has no noise is not averaged."""
    for share in (Fraction(0), Fraction(3, 2)):
        with pytest.raises(OutOfRange):
            TotalBeside.of(lambda at: CellsDraw(at, 2, 2), level(1), share)
    public = TotalBeside.of(lambda at: TablesDraw(at, [3], "change-one", exactly=True), level(1), Fraction(1, 2))
    assert public.total == 0
