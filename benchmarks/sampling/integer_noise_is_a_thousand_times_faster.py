"""Exact geometric noise at epsilon = 1, a million draws: against OpenDP's vector, and insecure float samplers.

Run: PYTHONPATH=src python benchmarks/sampling/integer_noise_is_a_thousand_times_faster.py
"""

import sys
import types

import numpy as np
import opendp.prelude as dp
import scipy.stats
from timing import Contender, compared, shown

from utmost.noise import Geometric
from utmost.release import add_noise
from utmost.sampling import sample

N, FEW = 1_000_000, 10_000
LAW = Geometric(epsilon=1)


def opendp_vector():
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    measurement = dp.m.make_geometric(*space, scale=1.0)
    zeros = [0] * FEW
    return lambda: measurement(zeros)


def diffprivlib_calls():
    # diffprivlib 0.6 fails to import beside today's scikit-learn, which only its models need.
    sys.modules.setdefault("diffprivlib.models", types.ModuleType("diffprivlib.models"))
    from diffprivlib.mechanisms import Geometric as TheirGeometric

    mechanism = TheirGeometric(epsilon=1, sensitivity=1)
    return lambda: [mechanism.randomise(0) for _ in range(FEW)]


def main():
    generator, values = np.random.default_rng(), np.arange(N)
    discrete = scipy.stats.dlaplace(1.0)
    found = compared(
        [
            Contender("utmost sample, table", lambda: sample(LAW, N, method="table"), N),
            Contender("utmost sample, constant-time (default)", lambda: sample(LAW, N), N),
            Contender("utmost release, constant-time (default)", lambda: add_noise(values, LAW), N),
            Contender("numpy laplace (legacy; insecure, float)", lambda: np.random.laplace(size=N), N),
            Contender("numpy laplace (Generator; insecure, float)", lambda: generator.laplace(size=N), N),
            Contender("scipy dlaplace (insecure, float)", lambda: discrete.rvs(N), N),
            Contender("diffprivlib Geometric, a call each", diffprivlib_calls(), FEW),
            Contender("OpenDP make_geometric, vector", opendp_vector(), FEW),
        ]
    )
    shown(found)
    theirs = found["OpenDP make_geometric, vector"][0]
    for name in list(found)[:3]:
        print(f"OpenDP's vector takes {theirs / found[name][0]:,.0f} times as long as {name}")


if __name__ == "__main__":
    main()
