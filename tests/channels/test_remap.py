"""Deterministic remaps."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Remap
from utmost.exact import matrix_product


@given(st.data(), st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_remaps_compose_like_their_matrices(data, m, k, j):
    """(R then S).matrix = R.matrix @ S.matrix."""
    r = Remap(data.draw(st.lists(st.integers(0, k - 1), min_size=m, max_size=m)), k)
    s = Remap(data.draw(st.lists(st.integers(0, j - 1), min_size=k, max_size=k)), j)
    assert (r.then(s).matrix == matrix_product(r.matrix, s.matrix)).all()
    assert r.then(Remap.identity(k)).same_as(r)


def test_ties_are_kept_and_do_not_make_another_remap():
    """Which outcomes were tied is remembered, sorted, once each."""
    r = Remap(np.array([1, 0, 1]), 2, ties=[2, 0, 2])
    assert r.ties == (0, 2)
    assert r.same_as(Remap([1, 0, 1], 2))
    assert not r.same_as(Remap([1, 0, 1], 3))
    again = pickle.loads(pickle.dumps(r))
    assert (again.ties, again.size) == (r.ties, 2)
    assert not again.actions.flags.writeable
