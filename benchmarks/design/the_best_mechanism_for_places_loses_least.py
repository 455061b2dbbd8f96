"""What a hidden location costs on 100 cells of France: the best mechanism beside planar noise and the exponential one.

Run: PYTHONPATH=src python benchmarks/design/the_best_mechanism_for_places_loses_least.py

The table of docs/howto/hide-a-location.md: the expected distance in cells between answer and truth, for readers who
remap by Bayes and for those who take the answer as it is; then the seconds of processor on a Manhattan grid.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time

import numpy as np

import utmost as ut
from utmost.design.optima.column_generation import certificate_of_rays
from utmost.interfaces.documents.consumer_files import prior_file

SIDE = 10


def main():
    prior = prior_file("weights:examples/france_10x10.csv", SIDE * SIDE).astype(float)
    space = ut.spaces.grid(SIDE, SIDE)
    consumer = ut.Consumer(prior, ut.losses.distance(space))
    blind = min(float(prior @ column) for column in np.asarray(space.distances, dtype=float).T)
    print(f"the same answer always: {blind:.3f}")
    for epsilon in ("1/2", 1, 2):
        found, seconds = timed(space, consumer, epsilon)
        print(
            f"epsilon {epsilon}: optimal {found.upper:.3f}, relative gap {found.gap / found.upper:.0e}, {seconds:.1f} s"
        )
        planar = ut.channels.planar_geometric_channel(SIDE, SIDE, epsilon=epsilon)
        exponential = ut.channels.exponential_mechanism(np.asarray(space.distances), epsilon=epsilon, space=space)
        for name, channel in (("planar noise", planar), ("exponential mechanism", exponential)):
            remapped, as_it_is = (
                ut.expected_loss(channel, consumer),
                ut.optima.face_value_loss(channel, consumer),
            )
            print(f"{name:>24}, remapped {remapped:.3f}, as it is {as_it_is:.3f}", flush=True)
    manhattan = ut.spaces.grid(SIDE, SIDE, metric="manhattan")
    _, seconds = timed(manhattan, ut.Consumer(prior, ut.losses.distance(manhattan)), 1)
    print(f"on the Manhattan grid, epsilon 1: {seconds:.1f} s")


def timed(space, consumer, epsilon):
    start = time.process_time()
    found = certificate_of_rays(ut.PrivacyType(space, epsilon=epsilon), consumer)
    return found, time.process_time() - start


if __name__ == "__main__":
    main()
