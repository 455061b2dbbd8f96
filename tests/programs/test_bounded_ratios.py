"""Columns of bounded ratios by interior points, against the simplex method on all rows."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from utmost.errors import SolverFailed
from utmost.programs import LinearProgram, solve
from utmost.programs.interior_point import RatioRows, interior_columns, near_pairs, nearly_broken, one_blas_thread


def factors_of(distances, epsilon):
    """alpha^d for every pair; 0 on the diagonal."""
    return np.where(np.eye(len(distances), dtype=bool), 0.0, np.exp(-epsilon * distances))


def random_factors(rng, n):
    points = rng.random((n, 2)) * 3
    return factors_of(np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1)), rng.choice([0.2, 1.0, 3.0]))


def simplex_value(costs, factors, *, by_entry):
    """The same program with all its rows at once."""
    k, n = costs.shape
    rows = RatioRows.everywhere(k, *np.nonzero(factors), factors)
    sums = n if by_entry else k
    number = np.tile(np.arange(n), k) if by_entry else np.repeat(np.arange(k), n)
    at = np.arange(len(rows))
    start = rows.column * n
    return solve(
        LinearProgram.of_triplets(
            costs.ravel(),
            np.concatenate([at, at, len(rows) + number]),
            np.concatenate([start + rows.low, start + rows.high, np.arange(n * k)]),
            np.concatenate([np.ones(len(rows)), -rows.factor, np.ones(n * k)]),
            np.concatenate([np.zeros(len(rows)), np.ones(sums)]),
            np.concatenate([np.full(len(rows), np.inf), np.ones(sums)]),
        )
    ).value


@pytest.mark.parametrize("seed", range(12))
def test_channels_agree_with_the_simplex_method(seed):
    """lower <= optimum <= upper, and both are near."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(2, 9)), int(rng.integers(1, 7))
    factors, costs = random_factors(rng, n), rng.random((k, n)) * rng.dirichlet(np.ones(n))
    found = interior_columns(costs, factors, lambda low, up: up - low < 1e-8)
    value = simplex_value(costs, factors, by_entry=True)
    assert found.lower - 1e-10 <= value <= found.upper + 1e-10
    assert found.upper - found.lower < 1e-8
    assert np.allclose(found.columns.sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_single_columns_agree_with_the_simplex_method(seed):
    """The least product of a column that sums to 1 with costs of both signs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    factors, costs = random_factors(rng, n), rng.normal(size=(1, n))
    found = interior_columns(costs, factors, lambda low, up: up - low < 1e-8, by_entry=False)
    value = simplex_value(costs, factors, by_entry=False)
    assert found.lower - 1e-10 <= value <= found.upper + 1e-10


def test_the_answer_lies_strictly_inside():
    """Every ratio that is held keeps a distance from its bound, and every multiplier from zero."""
    rng = np.random.default_rng(1)
    factors, costs = random_factors(rng, 8), rng.random((8, 8))
    found = interior_columns(costs, factors, lambda low, up: up - low < 1e-7)
    assert (found.multipliers > 0).all()
    assert (found.columns > 0).all()
    slack = found.columns[:, :, None] - factors[None] * found.columns[:, None, :]
    assert slack.min() > -1e-9


def test_a_wish_that_floats_cannot_grant_is_refused():
    rng = np.random.default_rng(1)
    with pytest.raises(SolverFailed, match="near the optimum"):
        interior_columns(rng.random((3, 4)), random_factors(rng, 4), lambda low, up: False)


def test_new_rows_are_pairs_not_held_yet():
    """A column that breaks a pair gets that pair once; a pair that is held is not found again."""
    factors = factors_of(np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float), 1.0)
    none = np.zeros(0, dtype=np.intp)
    rows = RatioRows(4, 1, none, none, none, np.zeros(0))
    steep = np.array([[1.0, 0.1, 1.0, 1.0]])
    new, worst = nearly_broken(steep, factors, rows, 0.0)
    assert (1, 0) in set(zip(new.low.tolist(), new.high.tolist(), strict=True))
    assert worst[0] == pytest.approx(np.exp(-1) - 0.1)
    assert len(nearly_broken(steep, factors, new, 0.0)[0]) == 0


def test_near_pairs_come_in_both_directions_and_leave_no_entry_out():
    factors = random_factors(np.random.default_rng(2), 30)
    low, high = near_pairs(factors)
    assert set(zip(low.tolist(), high.tolist(), strict=True)) == set(zip(high.tolist(), low.tolist(), strict=True))
    assert len(set(low.tolist())) == 30
    assert len(low) < 30 * 29 / 2


def test_slacks_and_combinations_are_transposed():
    """z . (A v) = (A' z) . v."""
    rng = np.random.default_rng(3)
    factors = random_factors(rng, 6)
    rows = RatioRows.everywhere(3, *near_pairs(factors), factors)
    v, z = rng.random((3, 6)), rng.random(len(rows))
    assert z @ rows.slacks(v) == pytest.approx((rows.combined(z) * v).sum(), rel=1e-12)


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    """Two threads of BLAS before, whatever the machine has; and two afterwards."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        yield
        assert blas_threads() == before


@pytest.mark.usefixtures("two_threads")
def test_linear_algebra_has_one_thread():
    """A design of 100 places took eight times the processor where threads waited for each other."""
    seen, half = [], 0.5 * (1 - np.eye(3))
    interior_columns(1 - np.eye(3), half, lambda *bounds: not seen.append(blas_threads()))
    assert seen == [{1}]
    with pytest.raises(SolverFailed), one_blas_thread():
        raise SolverFailed("the threads must be put back")


def test_whoever_comes_meanwhile_changes_no_thread():
    """Contexts that overlap leave as many threads as there were, in whichever order they end."""
    before, entered, left = blas_threads(), Barrier(2), Barrier(2)

    def first():
        with one_blas_thread():
            entered.wait(10)
        left.wait(10)

    def second():
        entered.wait(10)
        with one_blas_thread():
            left.wait(10)

    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(first), pool.submit(second)]:
            done.result()
    assert blas_threads() == before
