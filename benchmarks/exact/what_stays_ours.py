"""Each engine that is ours beside the library that could have served, on one task: seconds of processor.

Run: PYTHONPATH=src python benchmarks/exact/what_stays_ours.py
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import operator
import time
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpq, fmpq_mat, fmpz, fmpz_mat

import utmost as ut
from utmost.core.exact.linear_algebra import solve_sparse, table_product
from utmost.core.noise.quadrature import integer_sum
from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.consumer_program import user_program
from utmost.exact import Interval
from utmost.programs import solve, solve_exactly


def main():
    intervals()
    table_products()
    sparse_systems()
    exact_programs()
    column_generation()
    long_sums()


def compare(name, ours, theirs, repeat=1):
    times = []
    for work in (ours, theirs):
        start = time.process_time()
        for _ in range(repeat):
            work()
        times.append((time.process_time() - start) / repeat)
    print(f"{name:72} ours {times[0] * 1000:10.4f} ms, library {times[1] * 1000:10.4f} ms", flush=True)


def intervals():
    """A product of two intervals of 128 bits: fixed point, and a ball with its ends read out as fixed point."""
    one, two = Interval.of(Fraction(1, 3), 128), Interval.of(Fraction(2, 7), 128)
    ctx.prec = 128
    three, four = arb(fmpq(1, 3)), arb(fmpq(2, 7))

    def ball():
        product = three * four
        (middle, _), (radius, _) = product.mid().man_exp(), product.rad().man_exp()
        return int(middle), int(radius)

    compare("interval arithmetic: a product and its ends, 128 bits", lambda: operator.mul(one, two), ball, 20_000)
    ctx.prec = 53


def table_products():
    """A vector of 120-bit integers by a 1 000 x 1 000 matrix whose entries are looked up among 500 such integers."""
    rng, n = np.random.default_rng(1), 1_000
    table = np.array([int(x) << 58 for x in rng.integers(1, 1 << 62, 500)], dtype=object)
    places = rng.integers(0, 500, (n, n)).astype(np.int32)
    weights = np.array([int(x) << 58 for x in rng.integers(1, 1 << 62, n)], dtype=object)

    def library():
        entries = [fmpz(x) for x in table.tolist()]
        matrix = fmpz_mat(n, n, [entries[place] for place in places.ravel().tolist()])
        return (matrix * fmpz_mat(n, 1, weights.tolist())).entries()

    compare("similarity times vector (limbs; fmpz_mat)", lambda: table_product(table, places, weights), library)


def sparse_systems():
    """A tridiagonal system of 400 equations, as bases of programs about privacy nearly are."""
    n = 400
    rows = [{j: Fraction(1 + (i == j) * 3, 1 + i % 3) for j in range(max(0, i - 1), min(n, i + 2))} for i in range(n)]
    right = [Fraction(1)] * n

    def library():
        dense = [row.get(j, Fraction(0)) for row in rows for j in range(n)]
        return fmpq_mat(n, n, [fmpq(x.numerator, x.denominator) for x in dense]).solve(fmpq_mat(n, 1, [1] * n), "dixon")

    compare("sparse elimination, 400 equations (fmpq; fmpq_mat by Dixon)", lambda: solve_sparse(rows, right), library)


def exact_programs():
    """A user's program of 21 secrets, to its rational vertex; HiGHS gives floats and no proof."""
    weights = np.rint(np.random.default_rng(20).dirichlet(np.ones(21)) * 10**6).astype(int)
    consumer = ut.Consumer(ut.priors.from_counts(weights), ut.losses.absolute)
    program = user_program(ut.PrivacyType(ut.spaces.counts(20), alpha="9/10"), consumer)
    exact = solve_exactly(program).value
    off = abs(Fraction(solve(program).value) - exact)
    compare(
        f"exact simplex of 21 secrets (HiGHS in floats, off by {float(off):.0e})",
        lambda: solve_exactly(program),
        lambda: solve(program),
    )


def column_generation():
    """The best mechanism on a grid of 36 places: our column generation, and HiGHS' simplex in floats."""
    space = ut.spaces.grid(6, 6)
    ptype = ut.PrivacyType(space, epsilon=1)
    consumer = ut.Consumer(np.full(36, 1 / 36), np.asarray(space.distances, dtype=float))
    compare(
        "column generation, 36 places (HiGHS' simplex)",
        lambda: certificate_of_rays(ptype, consumer),
        lambda: solve(user_program(ptype, consumer)),
    )


def long_sums():
    """The sum of 1/n^2 over a million integers: by Romberg's rule for sums, and term by term."""
    compare(
        "sum over 10^6 integers (adaptive Romberg; NumPy term by term)",
        lambda: integer_sum(lambda n: 1.0 / n**2.0, [(1, 10**6)]),
        lambda: (1.0 / np.arange(1, 10**6) ** 2.0).sum(),
    )


if __name__ == "__main__":
    main()
