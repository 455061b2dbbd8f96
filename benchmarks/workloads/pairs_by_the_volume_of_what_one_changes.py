"""All tables of two attributes: the bound by volume on any mechanism, at small levels, beside the certified one.

Run: PYTHONPATH=src python benchmarks/workloads/pairs_by_the_volume_of_what_one_changes.py [ATTRIBUTES VALUES SEED]

As epsilon goes to 0, epsilon^2 times the error of any mechanism is at least m (m + 1) r^2, for m the rank of the
answers and r the radius of the ball that has the volume of what one individual may change
(proofs/theory/workload-bounds.md). And r is at least 1 over the mean gauge of a random direction. For each seed a
direction is drawn, and its gauge enclosed by a linear program: the upper end by an explicit sum of changes, the lower
by a function whose largest value is known.

Printed: the gauge, the bound that it stands for, the certified bound for all answers together, and how many times each
the plan's error is. A mean over directions is no proof: the gauge of one is within .1 of the mean with a probability of
1 - 2 exp(-(m - 1)/200), which is 82 % for eight attributes of five values, and of several sooner.
"""

import sys
import time
import warnings
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from utmost.privacy import Unit
from utmost.workloads import Domain, Workload, bounds_of, choose_plan

LEVEL = "1/1000"
CLOSE, ROUNDS = 0.02, 40


def main(attributes=6, values=3, *seeds):
    domain = Domain({f"x{i}": range(values) for i in range(attributes)})
    wanted = Workload(domain, {" ".join(pair): 1 for pair in combinations(domain.columns, 2)}, per_answer=True)
    scale = float(1 / 1000) ** 2
    planned = choose_plan(wanted, Unit(1, 1), epsilon=LEVEL).value * scale
    certified = bounds_of(wanted, Unit(1, 1), LEVEL).any_mechanism.value * scale
    print(
        f"planned {planned:.0f}, certified bound {certified:.0f}: within {planned / certified:.2f}  (times 1/epsilon^2)"
    )
    space = Pairs(attributes, values)
    for seed in seeds or (0,):
        low, high, seconds = gauge(space, np.random.default_rng(seed))
        bound = space.bound(1 / high)
        print(f"direction {seed}: gauge between {low:.4f} and {high:.4f}, {seconds:.0f} s", end="; ")
        print(f"stands for a bound of {bound:.0f} at least: within {planned / bound:.2f}", flush=True)


class Pairs:
    """Cells as vectors of orthonormal functions of at most two attributes, which lie in a cell's row of the answers."""

    def __init__(self, attributes, values):
        self.d, self.n = attributes, values
        self.pairs = list(combinations(range(attributes), 2))
        ones = np.column_stack([np.ones(values), np.eye(values)[:, 1:]])
        self.basis = np.linalg.qr(ones)[0][:, 1:] * np.sqrt(values)
        self.rank = 1 + attributes * (values - 1) + len(self.pairs) * (values - 1) ** 2

    def rows(self, cells):
        """(N, m) of cells (N, d)."""
        each = self.basis[cells]
        of_two = [(each[:, i, :, None] * each[:, j, None, :]).reshape(len(cells), -1) for i, j in self.pairs]
        return np.concatenate([np.ones((len(cells), 1)), each.reshape(len(cells), -1), *of_two], axis=1)

    def function(self, y):
        """The values of a function in every cell, (n, ..., n)."""
        d, k = self.d, self.n - 1

        def along(table, *axes):
            return table.reshape([self.n if axis in axes else 1 for axis in range(d)])

        total = np.full((self.n,) * d, y[0])
        for i in range(d):
            total = total + along(self.basis @ y[1 + i * k : 1 + (i + 1) * k], i)
        for number, pair in enumerate(self.pairs):
            at = 1 + d * k + number * k * k
            total = total + along(self.basis @ y[at : at + k * k].reshape(k, k) @ self.basis.T, *pair)
        return total

    def bound(self, radius):
        """m (m + 1) r^2 in the answers' own coordinates: an eigenvalue counts the tables that hold a function."""
        m, d = self.rank, self.d
        squeezed = np.exp((np.log(len(self.pairs)) + d * (self.n - 1) * np.log(d - 1)) / m) / self.n**2
        return m * (m + 1) * squeezed * radius**2


def gauge(space, random):
    """The least sum of |c| with sum of c times cells' vectors a random direction, between two numbers."""
    start, m = time.process_time(), space.rank
    direction = random.normal(size=m)
    direction /= np.linalg.norm(direction)
    rows = space.rows(random.integers(0, space.n, size=(2 * m, space.d)))
    low, high = 0.0, np.inf
    for _ in range(ROUNDS):
        both = np.concatenate([rows, -rows])
        found = linprog(-direction, A_ub=both, b_ub=np.ones(len(both)), bounds=(-20, 20), method="highs")
        high = min(high, -found.fun)
        table = abs(space.function(found.x)).ravel()
        low = max(low, float(direction @ found.x) / table.max())
        if high - low <= CLOSE * high:
            break
        largest = np.argsort(-table)[:m]
        new = np.array(np.unravel_index(largest[table[largest] > 1 + 1e-9], (space.n,) * space.d)).T
        rows = np.concatenate([rows[abs(rows @ found.x) > 0.6], space.rows(new)])
    return low, high, time.process_time() - start


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*map(int, sys.argv[1:]))
