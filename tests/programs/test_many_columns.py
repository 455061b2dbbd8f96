"""Programs of few rows and many columns, against the simplex method; and the threads of linear algebra."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from utmost.core.exact.one_thread import one_blas_thread

# Two routes of one program are compared; a public call takes the quicker one.
from utmost.core.programs import many_columns
from utmost.core.programs.many_columns import central_shares, exact_sums
from utmost.errors import SolverFailed
from utmost.programs import LinearProgram, solve


def random_program(seed, spread):
    """Columns with <weights, column> = 1, the constant one among them, and their costs."""
    rng = np.random.default_rng(seed)
    n, many = int(rng.integers(1, 12)), int(rng.integers(30, 90))
    weights = rng.dirichlet(np.ones(n))
    columns = 1 + spread * (rng.random((n, many)) - 0.5)
    columns[:, 0] = 1
    return columns / (weights @ columns), rng.random(many), weights


def simplex(columns, costs):
    n, many = columns.shape
    rows, places = np.divmod(np.arange(n * many), many)
    return solve(LinearProgram.of_triplets(costs, rows, places, columns.ravel(), np.ones(n), np.ones(n)))


@pytest.mark.parametrize("spread", [1.9, 1e-2, 1e-6])
@pytest.mark.parametrize("seed", range(5))
def test_shares_cost_the_least_and_prices_prove_it(seed, spread):
    """c x <= optimum + gap, A x = 1, x > 0, and A' y <= c up to the gap: however alike the columns are."""
    columns, costs, weights = random_program(seed, spread)
    found = central_shares(columns, costs, weights, 1e-7, 1e-12)
    best = float(costs @ found.shares)
    assert found.shares.min() > 0
    assert abs(columns @ found.shares - 1).max() <= 1e-9
    assert found.error <= 1e-9
    assert found.prices.sum() <= best + 1e-6
    assert best - found.prices.sum() <= 1e-6
    if spread > 1e-5:  # the simplex method's tolerance is of that size below
        assert best == pytest.approx(simplex(columns, costs).value, abs=1e-6)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value", "ignore:divide by zero")
@pytest.mark.parametrize("size", [1e12, 1e200])
@pytest.mark.parametrize("seed", range(3))
def test_a_start_that_lost_its_way_is_given_up(seed, size):
    """Prices of another world, and one column that takes all: what is found is what is found from nothing."""
    columns, costs, weights = random_program(seed, 1.9)
    shares, prices = np.zeros(len(costs)), size * np.random.default_rng(seed).standard_normal(len(weights))
    shares[0] = 1.0
    found = central_shares(columns, costs, weights, 1e-7, 1e-9, (shares, prices))
    again = central_shares(columns, costs, weights, 1e-7, 1e-9)
    assert abs(columns @ found.shares - 1).max() <= 1e-8
    assert float(costs @ found.shares) == pytest.approx(float(costs @ again.shares), abs=1e-6)


@pytest.mark.parametrize("seed", range(12))
def test_places_that_no_column_tells_apart_are_no_hindrance(seed):
    """Rows that are equal, or sums of others: the normal equations have no inverse, and the optimum is the same."""
    rng = np.random.default_rng(seed)
    n = 16
    mixing = rng.dirichlet(np.ones(n - 3), size=n)
    columns = mixing @ (rng.random((n - 3, 130)) * (rng.random((n - 3, 130)) < 0.7)) + 1e-3
    columns[:, 0] = 1
    weights = rng.dirichlet(np.ones(n))
    columns /= weights @ columns
    costs = 0.3 + 0.3 * rng.random(130)
    found = central_shares(columns, costs, weights, 1e-9, 1e-10)
    assert abs(columns @ found.shares - 1).max() <= 1e-8
    assert float(costs @ found.shares) == pytest.approx(simplex(columns, costs).value, abs=1e-6)


def test_sums_are_corrected():
    columns, costs, weights = random_program(3, 1.0)
    near = central_shares(columns, costs, weights, 1e-3).shares * (1 + 1e-6)
    assert abs(columns @ exact_sums(columns, weights, near) - 1).max() < 1e-13


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
    with one_blas_thread():
        assert blas_threads() == {1}
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


@pytest.mark.parametrize("spread", [1.9, 1e-2])
@pytest.mark.parametrize("seed", range(5))
def test_what_begins_at_the_last_optimum_ends_at_the_next(seed, spread):
    """Two thirds of the columns first, then all, from there; and the prices that it begins at are those that it had."""
    columns, costs, weights = random_program(seed, spread)
    some = 2 * len(costs) // 3
    before = central_shares(columns[:, :some], costs[:some], weights, 1e-7)
    shares = np.concatenate([before.shares, np.zeros(len(costs) - some)])
    from_there = central_shares(columns, costs, weights, 1e-7, near=(shares, before.prices))
    from_nothing = central_shares(columns, costs, weights, 1e-7)
    assert costs @ from_there.shares == pytest.approx(costs @ from_nothing.shares, abs=1e-6)
    assert from_there.prices.sum() == pytest.approx(from_nothing.prices.sum(), abs=1e-6)
    rows = many_columns._Differences.of(columns, weights)
    assert rows.prices(rows.multipliers(before.prices)) == pytest.approx(before.prices, abs=1e-12)
