"""The public design of 9 to 30 places with its proof: seconds of processor, and times HiGHS's floats without any.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1. HiGHS solves the same program in the same run; the loss must agree.
"""

import time

import numpy as np

import utmost as ut
from utmost.design.optima.consumer_program import user_program
from utmost.design.spaces import Consumer, losses
from utmost.laws.programs import solve


def main():
    for n in (9, 12, 16, 20, 25, 30):
        draw = np.random.default_rng(n)
        space = ut.spaces.points(draw.random((n, 2)).round(3).tolist())
        ptype = ut.PrivacyType(space, epsilon=1)
        consumer = Consumer(draw.dirichlet(np.ones(n)), losses.distance(space))
        start = time.process_time()
        found = ut.optimal_mechanism(ptype, consumer)
        ours = time.process_time() - start
        program = user_program(ptype, consumer)
        start = time.process_time()
        value = solve(program).value
        highs = time.process_time() - start
        assert abs(value - float(found.loss)) <= 1e-6 * value
        gap = float(found.gap / found.loss)
        print(f"{n} places: {ours:.3f} s, {ours / highs:.1f} times HiGHS, gap {gap:.0e}, by {found.method}")


if __name__ == "__main__":
    main()
