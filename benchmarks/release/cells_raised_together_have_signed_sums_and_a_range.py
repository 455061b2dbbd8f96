"""Cells that one individual changes together: every noise that is offered, by public calls, and what draws agree.

Run: PYTHONPATH=src python benchmarks/release/cells_raised_together_have_signed_sums_and_a_range.py

Three tables: the variance of a cell by what can be relaxed later; the mean |error| over the sensitivity by norm and
step, for releases made once; and for some of them the mean |error| of 200 000 rows of a release, over the one
that is stated. "Each alone" is noise on each cell at its part of the level, which is what libraries of single
distributions do.
"""

import time

import numpy as np

import utmost as ut
from utmost.core.noise.norm_staircase import NormStaircase
from utmost.exact import level
from utmost.privacy import Unit
from utmost.promises import Promise, once_together
from utmost.workloads import ways_together

LEVELS = ("1/10", 1, 3)


def by_kind(epsilon, unit, **how):
    return {way.kind: way for way in ways_together(level(epsilon), unit, **how)}


def that_can_be_relaxed():
    """Variances of signed sums beside pairs, cells alone, and the joint distributions that cannot be relaxed."""
    print("variance of a cell      signed sums         pairs    each alone |    joint    range  | rows at shares")
    for cells in (2, 3, 4, 5, 8):
        for epsilon in LEVELS:
            began = time.perf_counter()
            ways = by_kind(epsilon, Unit(1, cells, nonnegative=True), cost="squared")
            spent = time.perf_counter() - began
            signed = ways.get("signed", ways["rotated"])
            values = [float(way.variance) for way in (signed, ways["rotated"], ways["independent"])]
            once = [float(ways[kind].variance) for kind in ("joint", "range")]
            rows = (
                sum(len(distribution.rows) for distribution in signed.distributions)
                if signed.kind == "signed"
                else cells
            )
            print(
                f"{cells} cells, epsilon {epsilon!s:5}"
                + "".join(f"{value:13.5g}" for value in values)
                + " |"
                + "".join(f"{value:9.4g}" for value in once)
                + f" | {rows} rows, {spent:.2f} s"
            )


def made_once():
    """Mean |error| of a cell over the sensitivity: norms, steps, and what is independent or turned."""
    print("mean |error| / s            range   step |  largest   step |    joint  rotated  each alone")
    for cells in (2, 3):
        for epsilon in ("1/4", 1, 3):
            for wide in (1, 2, 5, 20):
                ways = by_kind(epsilon, Unit(wide, cells, nonnegative=True))
                largest = NormStaircase.optimal(level(epsilon), cells, wide)
                values = {kind: way.mean_size / wide for kind, way in ways.items()}
                steps = ways["range"].distributions[0].step, largest.step
                print(
                    f"{cells} cells, epsilon {epsilon!s:4} s {wide:2}{values['range']:10.3f}{steps[0]:7}"
                    f" |{float(largest.mean_size) / wide:9.3f}{steps[1]:7} |{values['joint']:9.3f}"
                    f"{values['rotated']:9.3f}{values['independent']:12.3f}"
                )


def drawn(rows=200_000):
    """Mean |error| of what is released over what is stated."""
    print("drawn / stated mean |error| of 200 000 rows")
    for cells, wide, noise in (
        (3, 1, "signed"),
        (5, 2, "signed"),
        (2, 1, "range"),
        (3, 20, "range"),
        (2, 20, "staircase"),
    ):
        unit = Unit(wide, cells, nonnegative=noise != "staircase")
        names = [f"c{at}" for at in range(cells)]
        table = {name: np.full(rows, 100) for name in names}
        began = time.perf_counter()
        promise = Promise(names, noise=once_together(names, unit=unit, noise=noise))
        release = ut.release(table, promise, epsilon=1, once=True)
        spent = time.perf_counter() - began
        errors = np.array([np.abs(release.table[name] - 100).mean() for name in names])
        print(f"{noise:10} {cells} cells, s {wide:2}: {errors.mean() / release.noise.way.mean_size:.4f}, {spent:.2f} s")


if __name__ == "__main__":
    that_can_be_relaxed()
    made_once()
    drawn()
