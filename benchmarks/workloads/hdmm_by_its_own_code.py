"""HDMM's own program beside ours, on the same workloads: ranges, prefixes, rectangles and the Census workload SF1.

Run: PYTHONPATH=src python benchmarks/workloads/hdmm_by_its_own_code.py FOLDER [line | plane | sf1]

FOLDER is a clone of github.com/dpcomp-org/hdmm, which needs autograd (`pip install autograd`). It is used as it is, but
for its `sensitivity`, which newer NumPy refuses and which is computed here from the matrix, and IPython, which it
imports and does not call. Its plans are the best of five starts and of the counts of rows that it recommends.

Root mean square errors over all answers, in units of sqrt(2)/epsilon, where HDMM's are the same at every level.
``line`` draws the noise of each a thousand times, and says in how many standard deviations of the mean the squares
agree.
"""

import sys
import time
import types
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

import integer_rows_beside_hdmm as ours

from utmost.publish.workloads.planning.product_search import product_rows
from utmost.workloads import Domain, Workload, bins

STARTS, DRAWS = 5, 1000


def loaded(folder):
    """The modules of a clone."""
    sys.modules.setdefault("IPython", types.SimpleNamespace(embed=None))
    sys.path[:0] = [str(Path(folder) / "src"), str(Path(folder) / "examples")]
    from hdmm import error, matrix, templates, workload

    matrix.EkteloMatrix.sensitivity = lambda self: float(np.abs(self.dense_matrix()).sum(axis=0).max())
    matrix.Kronecker.sensitivity = lambda self: float(np.prod([part.sensitivity() for part in self.matrices]))
    return error, templates, workload


def best_of(template, wanted, error):
    """The least root mean square error of five starts, the plan, and seconds of processor."""
    start, found = time.process_time(), []
    for seed in range(STARTS):
        np.random.seed(seed)
        tried = template()
        tried.optimize(wanted)
        found.append((error.rootmse(wanted, tried.choose_plan()), seed, tried.choose_plan()))
    least, _, plan = min(found, key=lambda pair: pair[:2])
    return least, plan, time.process_time() - start


def line(error, templates, workload):
    for n in (16, 64, 256):
        for name, theirs in (("ranges", workload.AllRange(n)), ("prefixes", workload.Prefix(n))):
            least, plan, seconds = best_of(lambda n=n: templates.PIdentity(max(1, n // 16), n), theirs, error)
            wanted = getattr(Workload, name)(Domain(a=bins(n)), "a")
            print(f"{name} of {n}: HDMM {least:.4f} ({seconds:.1f} s, {agree(plan, wanted.gram(), least):+.1f})")
            for epsilon in ours.LEVELS:
                rows, mean = product_rows(wanted, epsilon)
                root = np.sqrt(mean / 2) * epsilon
                noise = ours_agree(rows, epsilon, wanted.gram(), mean)
                print(f"    ours at epsilon {epsilon}: {root:.4f}, {root / least:.4f} of it ({noise:+.1f})", flush=True)


def agree(plan, gram, least):
    """How many standard deviations the mean square of a thousand draws of Laplace noise is from what is stated."""
    A, draw = np.asarray(plan.dense_matrix()), np.random.default_rng(1)
    scale = np.abs(A).sum(axis=0).max()
    cells = np.linalg.pinv(A) @ draw.laplace(scale=scale, size=(len(A), DRAWS))
    return deviations(cells, gram, 2 * least**2)


def ours_agree(rows, epsilon, gram, stated):
    before, ours.DRAWS = ours.DRAWS, DRAWS
    try:
        cells = np.array(list(ours.drawn(rows, epsilon))).reshape(DRAWS, -1).T
    finally:
        ours.DRAWS = before
    return deviations(cells, gram, stated)


def deviations(cells, gram, stated):
    squares = (cells * (gram @ cells)).sum(axis=0)
    return (squares.mean() - stated) / (squares.std(ddof=1) / np.sqrt(DRAWS))


def plane(error, templates, workload, n=256):
    ranges = workload.AllRange(n)
    theirs = workload.Kronecker([ranges, ranges])
    least, _, seconds = best_of(lambda: templates.KronPIdentity([16, 16], [n, n]), theirs, error)
    print(f"rectangles of {n} x {n}: HDMM {least:.3f} ({seconds:.1f} s)", flush=True)
    ours.plane(n)


def sf1(error, templates, workload):
    from census_workloads import SF1_Persons

    theirs = SF1_Persons()
    sizes = [part.shape[1] for part in theirs.matrices[0].matrices]
    rows = [max(1, size // 16) if size > 16 else 1 for size in sizes]
    least, _, seconds = best_of(lambda: templates.KronPIdentity(rows, sizes), theirs, error)
    print(f"SF1 over {sizes}: HDMM {least * np.sqrt(2):.3f} at epsilon 1 ({seconds:.1f} s)", flush=True)
    ours.sf1()


if __name__ == "__main__":
    modules = loaded(sys.argv[1])
    for name in sys.argv[2:] or ("line", "plane", "sf1"):
        {"line": line, "plane": plane, "sf1": sf1}[name](*modules)
