"""What the exact arithmetic costs where it is most of the time: seconds of processor, each task in a new process.

Run: PYTHONPATH=src python benchmarks/exact/libraries_carry_the_arithmetic.py [PATH_OF_AN_OLDER_SRC]

With the path of the `src` of another version its times stand first, in alternate runs: three each, the least is kept.
"""

import os
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import numpy as np

import utmost as ut

RUNS = 3


def points(count):
    """Points of a unit square at no particular places, whose distances have no common measure."""

    return ut.spaces.points(np.random.default_rng(12).random((count, 2)).round(3).tolist())


def release_at_a_new_epsilon():

    table = {"count": list(range(100))}
    ut.release(table, ut.Promise(columns="count", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    yield
    for k in range(10):
        ut.release(table, ut.Promise(columns="count", unit=ut.Unit(1, 1)), epsilon=Fraction(137 + k, 100), once=True)


def margin_of_a_staircase():

    distributions = [ut.noise.Staircase(epsilon=Fraction(k, 7), sensitivity=k, gamma="1/3") for k in range(1, 21)]
    distributions[0].margin("0.9")
    yield
    for distribution in distributions:
        distribution.margin("0.95")


def design_of_12_irregular_points():

    space = points(12)
    ptype, consumer = ut.PrivacyType(space, epsilon=1), ut.Consumer(ut.priors.uniform(12), ut.losses.distance(space))
    ut.optimal_mechanism(
        ut.PrivacyType(ut.spaces.counts(2), epsilon=1), ut.Consumer(ut.priors.uniform(3), ut.losses.absolute)
    )
    yield
    ut.optimal_mechanism(ptype, consumer)


def additive_capacity_of_12_irregular_points():

    ptype = ut.PrivacyType(points(12), epsilon=1)
    ut.capacity(ut.PrivacyType(points(3), epsilon=2), kind="additive")
    yield
    ut.capacity(ptype, kind="additive")


def additive_capacity_of_100_irregular_points():

    ptype = ut.PrivacyType(points(100), epsilon=1)
    ut.capacity(ut.PrivacyType(ut.spaces.counts(2), epsilon=1), kind="additive")
    yield
    ut.capacity(ptype, kind="additive")


def twenty_samplers():

    rows = [ut.noise.Geometric(epsilon=Fraction(k, 10)) for k in range(1, 11)]
    rows += [ut.noise.DiscreteStaircase(epsilon=Fraction(k, 10), sensitivity=10**9) for k in range(1, 11)]
    ut.sample(ut.noise.Geometric(alpha="1/2"), 10)
    yield
    for distribution in rows:
        ut.sample(distribution, 10)


def exact_design_of_400_counts():

    weights = np.rint(np.random.default_rng(400).dirichlet(np.ones(401)) * 10**6).astype(int)
    consumer = ut.Consumer(ut.priors.from_counts(weights), ut.losses.absolute)
    ptype = ut.PrivacyType(ut.spaces.counts(400), alpha="9/10")
    ut.optimal_mechanism(
        ut.PrivacyType(ut.spaces.counts(2), epsilon=1), ut.Consumer(ut.priors.uniform(3), ut.losses.absolute)
    )
    yield
    ut.optimal_mechanism(ptype, consumer)


def exact_vertex_of_40_counts():
    """The user's program of 41 secrets, 1 681 variables, carried on to its rational vertex."""
    from utmost.design.optima.consumer_program import user_program
    from utmost.programs import solve_exactly

    weights = np.rint(np.random.default_rng(40).dirichlet(np.ones(41)) * 10**6).astype(int)
    consumer = ut.Consumer(ut.priors.from_counts(weights), ut.losses.absolute)
    program = user_program(ut.PrivacyType(ut.spaces.counts(40), alpha="9/10"), consumer)
    solve_exactly(
        user_program(ut.PrivacyType(ut.spaces.counts(1), alpha="1/2"), ut.Consumer(["1/2", "1/2"], [[0, 1], [1, 0]]))
    )
    yield
    solve_exactly(program)


def refinement_of_60_secrets():
    """A channel, and the same one followed by noise: the exact remap between them."""
    from utmost.exact import matrix_product

    fine = ut.channels.geometric_channel(60, alpha="2/3")
    coarse = ut.channels.Channel(matrix_product(fine.matrix, ut.channels.geometric_channel(60, alpha="1/2").matrix))
    ut.refines(better=[[1, 0], [0, 1]], worse=[[1], [1]])
    yield
    assert ut.refines(better=fine, worse=coarse)


def exact_product_of_200_secrets():
    """The matrix product of two geometric channels in rationals."""
    from utmost.exact import matrix_product

    one, two = (
        ut.channels.geometric_channel(200, alpha="2/3").matrix,
        ut.channels.geometric_channel(200, alpha="1/2").matrix,
    )
    yield
    matrix_product(one, two)


def capacity_of_400_hidden_places():

    ptype = ut.PrivacyType(ut.spaces.grid(20, 20), epsilon="1/2")
    ut.capacity(ut.PrivacyType(ut.spaces.counts(2), epsilon=1))
    yield
    ut.capacity(ptype)


TASKS = (
    release_at_a_new_epsilon,
    margin_of_a_staircase,
    twenty_samplers,
    design_of_12_irregular_points,
    additive_capacity_of_12_irregular_points,
    additive_capacity_of_100_irregular_points,
    capacity_of_400_hidden_places,
    exact_design_of_400_counts,
    exact_vertex_of_40_counts,
    refinement_of_60_secrets,
    exact_product_of_200_secrets,
)


def seconds(task, src):
    """Processor time of a task after its preparation, in a process of its own."""
    one_thread = {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": src}
    done = subprocess.run(
        [sys.executable, __file__, "--task", task.__name__],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **one_thread},
    )
    return float(done.stdout) if done.returncode == 0 else float("nan")


def one(name):
    """Run one task and print its seconds."""
    steps = globals()[name]()
    next(steps)
    start = time.process_time()
    next(steps, None)
    print(time.process_time() - start)


def main():
    if sys.argv[1:2] == ["--task"]:
        one(sys.argv[2])
        return
    ours = str(Path(__file__).parents[2] / "src")
    versions = [*sys.argv[1:2], ours]
    for task in TASKS:
        runs = [[seconds(task, src) for src in versions] for _ in range(RUNS)]
        least = [min(times) for times in zip(*runs, strict=True)]
        ratio = f"{least[0] / least[1]:8.1f} times" if len(least) == 2 else ""
        print(f"{task.__name__.replace('_', ' '):45}", *(f"{value:10.4f} s" for value in least), ratio, flush=True)


if __name__ == "__main__":
    main()
