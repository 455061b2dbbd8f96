"""The public design of 9 to 30 places with its proof: seconds of processor, and times HiGHS's floats without any.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1; sizes may be given. HiGHS solves the same program, given in floats, in
the same run; the loss must agree. Of ten maps each, the mean; what is compiled or loaded first is left out.
"""

import sys
import time

import numpy as np

import utmost as ut
from utmost.design.optima.consumer_program import user_program
from utmost.design.spaces import losses
from utmost.programs import solve
from utmost.spaces import Consumer


def problem(n, seed, uniform):
    draw = np.random.default_rng(seed)
    space = ut.spaces.points(draw.random((n, 2)).round(3).tolist())
    prior = ut.priors.uniform(n) if uniform else draw.dirichlet(np.ones(n))
    return ut.PrivacyType(space, epsilon=1), Consumer(prior, losses.distance(space))


def main():
    for uniform in (False, True):
        for n in map(int, sys.argv[1:] or (9, 12, 14, 16, 20, 25, 30)):
            ut.optimal_mechanism(*problem(n, 10, uniform))
            ours = highs = gap = 0.0
            for seed in range(10):
                ptype, consumer = problem(n, seed, uniform)
                start = time.process_time()
                design = ut.optimal_mechanism(ptype, consumer)
                ours += time.process_time() - start
                program = user_program(ptype, consumer, exactly=False)
                start = time.process_time()
                value = solve(program).value
                highs += time.process_time() - start
                assert abs(value - float(design.loss)) <= 1e-6 * value
                gap = max(gap, float(design.gap / design.loss))
            prior = "uniform" if uniform else "Dirichlet"
            figures = f"{ours / 10:.3f} s, {ours / highs:.2f} times HiGHS ({highs / 10:.3f} s), gap {gap:.0e}"
            print(f"{n} places, {prior} prior: {figures}, by {design.method}", flush=True)


if __name__ == "__main__":
    main()
