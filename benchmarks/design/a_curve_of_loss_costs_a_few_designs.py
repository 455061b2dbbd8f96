"""The least loss at many levels, each search begun where the one before ended, beside as many searches from nothing.

Run: PYTHONPATH=src python benchmarks/design/a_curve_of_loss_costs_a_few_designs.py [case ...]

Cases as in large_maps_are_designed_in_minutes.py, with a number of levels behind: grid,100,france,16. The levels lie
evenly from 1/4 to 4 per unit; loss: distance. Printed: seconds of processor in one thread and rounds, certificates
included, of one design to 1e-7 at level 1, of the curve to 1e-3, and of the same levels one by one to 1e-3.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

from large_maps_are_designed_in_minutes import SPACES, beliefs

from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.loss_curves import even_levels_between, loss_curve
from utmost.design.spaces import losses
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer

CASES = "grid,100,dirichlet,16 grid,100,france,16 random,100,dirichlet,16 grid,100,dirichlet,64 grid,196,dirichlet,16"
DRAWN_TO = 1e-3


def main():
    compare("grid,36,dirichlet,2", shown=False)
    for case in sys.argv[1:] or CASES.split():
        compare(case)


def compare(case, shown=True):
    kind, places, prior, count = case.split(",")
    space = SPACES[kind](int(places))
    consumer = Consumer(beliefs(prior, int(places)), losses.distance(space))
    types = [PrivacyType(space, level) for level in even_levels_between("1/4", 4, int(count))][::-1]
    one = timed(lambda tell: [certificate_of_rays(PrivacyType(space, epsilon=1), consumer, progress=tell)])
    levels = [ptype.level for ptype in types]
    warm = timed(lambda tell: loss_curve(space, consumer, levels, progress=lambda _, *told: tell(*told)).designs)
    cold = timed(lambda tell: [certificate_of_rays(ptype, consumer, gap=DRAWN_TO, progress=tell) for ptype in types])
    if shown:
        print(f"{case:24} one design {one}; curve {warm}; one by one {cold}", flush=True)


def timed(work):
    rounds = [0]

    def tell(_, gap):
        rounds[0] += 1

    start = time.process_time()
    found = work(tell)
    seconds = time.process_time() - start
    worst = max(float(one.gap / (one.loss if hasattr(one, "loss") else one.upper)) for one in found)
    return f"{seconds:6.1f} s, {rounds[0]:4} rounds, gap {worst:.0e}"


if __name__ == "__main__":
    main()
