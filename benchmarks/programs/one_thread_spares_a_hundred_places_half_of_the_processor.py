"""The design of 100 places with linear algebra in one thread, as it is shipped, and in as many as the machine has.

Run with PYTHONPATH=src.

A Euclidean grid of 10 x 10, a Dirichlet prior without symmetry, distance loss, epsilon 1 a step. Seconds of processor
of the whole process, all threads together, one run each.
"""

import time
from contextlib import nullcontext

import numpy as np

from utmost.design.optima import column_generation
from utmost.design.spaces import losses
from utmost.optima import optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, grid


def seconds():
    space = grid(10, 10)
    prior = np.random.default_rng(1).dirichlet(np.ones(100))
    start = time.process_time()
    optimal_mechanism(PrivacyType(space, epsilon=1), Consumer(prior, losses.distance(space)))
    return time.process_time() - start


def main():
    print(f"one thread          {seconds():6.1f} s")
    column_generation.one_blas_thread = nullcontext
    print(f"as many as there are {seconds():5.1f} s")


if __name__ == "__main__":
    main()
