"""A table of 300 x 333 with both marginals and its total: released, estimated exactly, made clean. Processor seconds.

Run with PYTHONPATH=src, and OMP_NUM_THREADS=1. With `--million` also a table of 1000 x 1000.

Poisson counts with lognormal means, a fixed seed, epsilon 1 in four equal shares. Below a million cells the rounding is
also solved by the simplex method alone, in the same run: the same least sum of moves.
"""

import sys
import time
from itertools import pairwise

import numpy as np

import utmost as ut
from utmost.privacy import Unit
from utmost.publish.workloads.reconstruction import clean as module
from utmost.workloads import Domain, Plan

least_whole_flow = module.least_whole_flow


def main():
    draw = np.random.default_rng(0)
    for shape in ((20, 50), (100, 100), (300, 333), *([(1000, 1000)] if "--million" in sys.argv else [])):
        domain = Domain(row=list(range(shape[0])), column=list(range(shape[1])))
        cells = draw.poisson(np.exp(draw.normal(0.3, 1.5, shape)))
        plan = Plan(domain, Unit(1, 1), dict.fromkeys(domain.marginals(), "1/4"))
        times = [time.process_time()]
        release = ut.release(cells, plan, epsilon=1, once=True).table
        times.append(time.process_time())
        table = release["row column"]
        times.append(time.process_time())
        clean = release.clean()
        times.append(time.process_time())
        if domain.size < 10**6:
            module.least_whole_flow = lambda program, sums, chains: None
            by_simplex = release.clean()
            module.least_whole_flow = least_whole_flow
            times.append(time.process_time())
            print(f"by the simplex method {times[-1] - times[-2]:.2f} s; cells that differ: ", end="")
            print((by_simplex.cells != clean.cells).sum())
        seconds = [f"{after - before:6.2f} s" for before, after in pairwise(times)]
        raw = np.sqrt(np.mean((table["count"].reshape(shape) - cells) ** 2))
        now = np.sqrt(np.mean((clean.cells - cells) ** 2))
        raised = (clean.cells - cells)[cells == 0].mean()
        print(f"{domain.size:6d} cells  release {seconds[0]}  estimates {seconds[1]}  clean {seconds[2]}")
        print(f"              root mean square error {raw:.2f} -> {now:.2f}, true zeros raised by {raised:+.2f}")
        print(f"              gap {clean.gap:.1e}, largest move of a measured sum {clean.largest_move:.3f}")


if __name__ == "__main__":
    main()
