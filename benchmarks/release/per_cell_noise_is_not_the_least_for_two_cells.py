"""What one applicant's two cells cost: noise for each cell at half the level, on disjoint counts, and drawn together.

Run: PYTHONPATH=src python benchmarks/release/per_cell_noise_is_not_the_least_for_two_cells.py [epsilon, 1]

An applicant who is admitted counts in `applicants` and in `admitted`: two cells, each by 1. The rows of the tutorial's
table are disjoint, so one row is the whole story. Three ways to publish both columns at the same epsilon:

- each cell noised by itself at epsilon/2, which is what `release` with ``cells=2`` does;
- the disjoint counts `admitted` and `rejected` noised at epsilon each, since an applicant changes one of them only;
  `applicants` is their sum;
- both cells noised together, mass proportional to alpha^max(|x1|, |x2|). Moving each cell by at most 1 moves that
  maximum by at most 1, so the distribution is epsilon-private for whatever an individual changes in the two cells.

Printed for each: mean |error| and the margin of 95 % for the two columns, by sums to a tail below 1e-15.
"""

import sys
from fractions import Fraction

import numpy as np

from utmost.noise import Geometric

REACH = 400


def main():
    epsilon = Fraction(sys.argv[1]) if len(sys.argv) > 1 else Fraction(1)
    places = np.arange(-REACH, REACH + 1)
    half, whole = (np.asarray(Geometric(epsilon=e).pmf(places), dtype=float) for e in (epsilon / 2, epsilon))
    both = np.exp(-float(epsilon) * np.maximum.outer(abs(places), abs(places)))
    together = both.sum(axis=1) / both.sum()
    print(f"epsilon = {epsilon}{'applicants':>36}{'admitted':>20}")
    for name, applicants, admitted in (
        ("each cell at epsilon/2", half, half),
        ("disjoint counts", np.convolve(whole, whole, "same"), whole),
        ("both drawn together", together, together),
    ):
        print(f"{name:24}{shown(applicants, places):>20}{shown(admitted, places):>20}")


def shown(pmf, places):
    """Mean |error|, and the least t with P(|X| <= t) >= 0.95."""
    assert abs(pmf.sum() - 1) < 1e-12
    within = np.cumsum(np.bincount(abs(places), weights=pmf))
    return f"{pmf @ abs(places):.3f}, ± {int(np.argmax(within >= 0.95))}"


if __name__ == "__main__":
    main()
