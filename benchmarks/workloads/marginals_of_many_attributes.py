"""All marginal tables of many attributes: planned, bounded, counted, drawn and reconstructed without their domain.

    python benchmarks/workloads/marginals_of_many_attributes.py adult 2 3   mean variances of all tables of 2, of 3
    python benchmarks/workloads/marginals_of_many_attributes.py hundred     100 attributes of 10 values, all of 2
    python benchmarks/workloads/marginals_of_many_attributes.py bits        30 attributes of 2 values, all of 2
    python benchmarks/workloads/marginals_of_many_attributes.py release 3   48 842 made-up people, by the public calls
    python benchmarks/workloads/marginals_of_many_attributes.py survey      as many people, 100 attributes, all of 2

Adult's fourteen attributes have the sizes of ResidualPlanner's experiments (numbers in bins of 1 to 100). One person is
in one cell, every answer weighs alike, geometric noise. ``adult`` prints beside ours what Gaussian noise at cost 1 has
at best, the sum over spaces of the root of mu times its dimension: the closed form that ResidualPlanner attains. That
is another privacy, and no error of ours is to be compared with it. ``release`` compares the mean square of all errors
with what is stated, one draw.
"""

import resource
import sys
import time

import numpy as np

import utmost as ut
from utmost.privacy import Unit
from utmost.publish.workloads.bounds.marginal_bounds import wanted_spaces
from utmost.publish.workloads.measuring.marginal_spaces import MarginalErrors
from utmost.publish.workloads.planning.marginal_search import _cube_roots
from utmost.workloads import Domain, Workload, bounds_of, check_lower_bounds, choose_plan, marginals

ADULT = {
    "age": 85,
    "workclass": 9,
    "fnlwgt": 100,
    "education": 16,
    "marital": 7,
    "occupation": 15,
    "relationship": 6,
    "race": 5,
    "sex": 2,
    "gain": 100,
    "loss": 100,
    "hours": 99,
    "country": 42,
    "income": 2,
}
ONE = Unit(1, 1)


def figures(name, domain, columns, levels=(0.1, 1, 3)):
    wanted = Workload(domain, marginals(domain, columns), per_answer=True)
    tables, answers = wanted.marginals, float(wanted.weight)
    errors = MarginalErrors.of(wanted, tables)
    roots = _cube_roots(errors)
    gaussian = sum((float(mu) * dimension(domain, T)) ** 0.5 for T, mu in wanted_spaces(wanted).items())
    print(
        f"{name}: {len(tables)} tables, {wanted.answers} sums over {float(domain.size):.3g} cells; "
        f"Gaussian noise at cost 1, root mean square {gaussian / answers**0.5:.4g}",
        flush=True,
    )
    for epsilon in levels:
        equal = errors.error(np.full(len(tables), epsilon / len(tables))) / answers
        cubes = errors.error(epsilon * roots) / answers
        found = {}
        for rows in (False, True):
            started = time.perf_counter()
            chosen = choose_plan(wanted, ONE, epsilon=epsilon, rows=rows)
            found[rows] = chosen, time.perf_counter() - started
        alone = bounds_of(wanted, ONE, epsilon, tables).given_marginals.value / answers
        (plain, seconds), (signed, longer) = found[False], found[True]
        bounds = plain.lower_bounds
        check_lower_bounds(bounds)
        print(
            f"  epsilon {epsilon}: equal levels {equal:.6g}, cube roots {cubes:.6g} (least of these tables at least "
            f"{alone:.6g}); planned {plain.value / answers:.6g} ({len(plain.shares)} tables, {seconds:.1f} s, within "
            f"{bounds.given_marginals.ratio(plain.value):.4f} of the least of these); with differences of bits "
            f"{signed.value / answers:.6g} ({len(signed.shares)}, {longer:.1f} s)",
            flush=True,
        )


def dimension(domain, space):
    return float(np.prod([domain.shape[axis] - 1.0 for axis, _ in space]))


def release(columns, sizes=ADULT):
    domain, draw, lap = Domain({name: range(size) for name, size in sizes.items()}), np.random.default_rng(0), Lap()
    people = {name: draw.integers(0, size, 48_842) for name, size in sizes.items()}
    counted = ut.count_table(people, domain, ut.Counting(each_row=True))
    lap(f"counted {len(counted.cells)} cells of {float(domain.size):.3g}")
    wanted = Workload(domain, marginals(domain, columns), per_answer=True)
    chosen = choose_plan(wanted, counted.unit, epsilon=1)
    lap(f"planned {len(chosen.shares)} tables of {chosen.measured} sums")
    made = ut.release(counted, chosen, epsilon=1, once=True).table
    lap("drawn")
    squares = answers = 0
    for marginal in wanted.marginals:
        sums, divisor = made.reconstruction.estimates(made.measured, marginal)
        off = (sums / divisor).astype(float) - domain.sums(counted.cells, marginal)
        squares, answers = squares + float(off @ off), answers + len(off)
    lap(f"all {len(wanted.marginals)} tables, {answers} cells: mean square {squares / answers:.6g}, stated "
        f"{chosen.value / float(wanted.weight):.6g}")  # fmt: skip
    first, *_, last = sizes
    print(made.total({first: 1, last: 0}), f"of {first} 1 and {last} 0")
    lap("an answer with its bar")


class Lap:
    """Prints what was done, the seconds since the last, and the largest memory so far."""

    def __init__(self):
        self.since = time.perf_counter()

    def __call__(self, words):
        now = time.perf_counter()
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        print(f"{words}: {now - self.since:.1f} s, {most} MB", flush=True)
        self.since = time.perf_counter()


if __name__ == "__main__":
    what, *counts = sys.argv[1:]
    if what == "adult":
        for count in map(int, counts or ["2", "3"]):
            figures(f"Adult, tables of {count}", Domain({a: range(n) for a, n in ADULT.items()}), count)
    elif what == "hundred":
        figures("100 attributes of 10, tables of 2", Domain({f"x{at}": range(10) for at in range(100)}), 2, (1,))
    elif what == "bits":
        figures("30 bits, tables of 2", Domain({f"b{at}": ["y", "n"] for at in range(30)}), 2, (1,))
    elif what == "survey":
        release(2, {f"x{at}": 10 for at in range(100)})
    else:
        release(int(counts[0]))
