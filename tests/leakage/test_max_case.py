"""Epsilon as a capacity: no outcome raises what any adversary can gain by more than e^epsilon, and some come near."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from utmost.leakage import g_vulnerability, joint
from utmost.privacy_types import smallest_epsilon
from utmost.spaces import discrete

weights = st.integers(1, 9)
matrices = st.integers(2, 4).flatmap(
    lambda m: st.lists(st.lists(weights, min_size=m, max_size=m), min_size=2, max_size=4)
)


def channel(rows):
    return [[Fraction(entry, sum(row)) for entry in row] for row in rows]


@given(matrices, st.data())
def test_no_outcome_is_worth_more_than_e_to_the_epsilon(rows, data):
    C, n = channel(rows), len(rows)
    believed = data.draw(st.lists(weights, min_size=n, max_size=n))
    prior = [Fraction(p, sum(believed)) for p in believed]
    gain = data.draw(st.lists(st.lists(weights, min_size=3, max_size=3), min_size=n, max_size=n))
    V, J = g_vulnerability(gain), joint(C, prior)
    most = max(C[x][y] / C[z][y] for x in range(n) for z in range(n) for y in range(len(C[0])))
    for y in range(len(C[0])):
        assert V.prior(list(J[:, y] / J[:, y].sum())) <= most * V.prior(prior)
    found = smallest_epsilon(C, discrete(n))
    assert found.value >= float(np.log(float(most))) * (1 - 1e-12)


@given(matrices)
def test_a_rare_secret_comes_near(rows):
    """The pair and the outcome at which the ratio is largest, and a prior that hardly believes in the first."""
    C, n = channel(rows), len(rows)
    found = smallest_epsilon(C, discrete(n))
    if found.pair is None:  # nothing is revealed
        return
    (x, z), y = found.pair, found.outcome
    t = Fraction(1, 10**9)
    prior = [(1 - t) * (i == z) + t * (i == x) for i in range(n)]
    J = joint(C, prior)
    factor = J[x, y] / J[:, y].sum() / t
    most = C[x][y] / C[z][y]
    assert most * (1 - most * t) <= factor < most
