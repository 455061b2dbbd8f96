"""Deterministic remaps."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from utmost.channels import Remap
from utmost.errors import NotANumber, OutOfRange
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 2], 2), r"action for outcome 1 must lie in 0..1; got 2"),
        (([-1], 2), "outcome 0 must lie in 0..1"),
        (([], 2), "one action for each outcome"),
        (([0.5], 2), "one action for each outcome"),
        (([True], 2), "one action for each outcome"),
        (([[0]], 2), "one action for each outcome"),
        (([0], 0), "size must be at least 1"),
        (([0], 1, [1]), "ties must be outcomes in 0..0; got 1"),
        (([0], 1, [-1]), "tied outcome must be at least 0"),
    ],
)
def test_what_is_no_remap_is_refused(arguments, message):
    """Actions are integers within the range, one for each outcome."""
    with pytest.raises(OutOfRange, match=message):
        Remap(*arguments)


def test_sizes_must_fit():
    """Composition and application need matching sizes; a size is a number."""
    with pytest.raises(OutOfRange, match="must take 2 outcomes; got 1"):
        Remap([0, 1], 2).then(Remap([0], 1))
    with pytest.raises(OutOfRange, match="for 2 outcomes; got 3"):
        Remap([0, 1], 2).apply(np.ones((1, 3)))
    with pytest.raises(NotANumber):
        Remap([0], None)
