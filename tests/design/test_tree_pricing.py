"""Pricing over trees, in machine code and without: the same design; what it proves, certificates have."""

import pytest

from running import python

CODE = """
import sys
if sys.argv[1] == "without":
    sys.modules["numba"] = None
import numpy as np
import utmost as ut
rng = np.random.default_rng(5)
at = rng.random((12, 2)) * 3
space = ut.spaces.Space(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)))
consumer = ut.Consumer(rng.dirichlet(np.ones(12)), ut.losses.distance(space))
rounds = []
found = ut.optimal_mechanism(ut.PrivacyType(space, epsilon=1), consumer, method="columns", gap="1e-3",
                             progress=lambda number, gap: rounds.append((number, round(float(gap), 9))))
print(found.loss, found.lower, rounds)
"""


def test_without_numba_the_answers_are_the_same():
    pytest.importorskip("numba")
    with_it, without = (python("-c", CODE, how).stdout for how in ("with", "without"))
    assert with_it == without != ""
