"""Hypers: lemmas 1 and 2, figure 1, and what two channels that make the same hyper have in common."""

import copy
import pickle
from fractions import Fraction as F

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from utmost import losses, priors
from utmost.channels import Channel, geometric_channel, unbounded_geometric_channel
from utmost.exact import as_array, is_exact, matrix_product
from utmost.leakage import Hyper, hyper, hyper_of
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space
from utmost.testing import strategies


@st.composite
def channels_with_priors(draw, full_support=False):
    n = draw(strategies.sizes)
    return draw(strategies.channels(n, draw(strategies.sizes))), draw(strategies.priors(n, full_support=full_support))


def test_figure_1():
    found = hyper(geometric_channel(3, alpha="1/2"), priors.uniform(3))
    columns = as_array([["4/7", "1/4", "1/7"], ["2/7", "1/2", "2/7"], ["1/7", "1/4", "4/7"]])
    assert (found.posteriors == columns).all()
    assert found.weights.tolist() == [F(7, 18), F(2, 9), F(7, 18)]


@given(channels_with_priors())
def test_the_mean_of_the_posteriors_is_the_prior(given):
    """Lemma 1: p = sum_y w_y p(. | y), exactly; and each posterior is a distribution."""
    C, prior = given
    found = hyper(C, prior)
    assert (found.prior == prior).all()
    assert (matrix_product(found.posteriors, found.weights) == prior).all()
    assert (found.posteriors.sum(axis=0) == 1).all()
    assert found.weights.sum() == 1
    assert (found.weights > 0).all()


@given(channels_with_priors())
def test_equal_posteriors_are_one(given):
    columns = [tuple(column) for column in hyper(*given).posteriors.T]
    assert len(columns) == len(set(columns))


@given(channels_with_priors(full_support=True), st.randoms(use_true_random=False))
def test_outcomes_that_say_the_same_and_their_order_are_forgotten(given, random):
    """Splitting outcomes by a coin, shuffling them and adding an impossible one changes no hyper."""
    C, prior = given
    columns = [
        part for y, column in enumerate(C.matrix.T) for part in (column * F(1 + y % 3, 4), column * F(3 - y % 3, 4))
    ]
    columns.append(columns[0] * 0)
    random.shuffle(columns)
    assert hyper(Channel(np.array(columns).T), prior).same_as(hyper(C, prior))


@given(channels_with_priors(full_support=True))
def test_a_prior_without_zeros_determines_the_abstract_channel(given):
    C, prior = given
    abstract = hyper(C, prior).channel()
    assert abstract.same_as(C.merge_columns())
    assert hyper(abstract, prior).same_as(hyper(C, prior))


@given(st.data(), strategies.alphas)
def test_a_channel_is_private_exactly_when_its_posteriors_are(data, alpha):
    """Lemma 2: delta_x <= e^d(x, z) delta_z for every posterior of the uniform prior."""
    n = data.draw(st.integers(1, 5))
    space = Space(data.draw(strategies.metrics(n)))
    ptype = PrivacyType(space, alpha=alpha)
    C = data.draw(strategies.channels(n, 3)).mix(
        Channel(np.full((n, 3), F(1, 3), dtype=object)), data.draw(st.fractions(0, 1))
    )
    d = space.distances
    kept = all(
        column[x] * alpha ** int(d[x, z]) <= column[z]
        for column in hyper(C, priors.uniform(n)).posteriors.T
        for x in range(n)
        for z in range(n)
    )
    assert ptype.contains(C) == kept


@given(strategies.sizes, strategies.levels)
def test_geometric_noise_clamped_or_not_has_one_hyper(n, at):
    """[fernandes2022], section VI-A: the infinite and the truncated geometric mechanism are one abstract channel."""
    clamped, unbounded = geometric_channel(n + 1, at), unbounded_geometric_channel(n + 1, at)
    near = 0.0 if clamped.is_exact else 1e-12
    if not clamped.is_exact and at.epsilon_float > 30:
        return  # the float tails are 0 or subnormal there
    prior = priors.uniform(n + 1)
    assert hyper(clamped, prior).same_as(hyper(unbounded, prior), near)


@given(strategies.sizes, st.integers(0, 2**32 - 1))
def test_floats_merge_within_the_tolerance_and_not_beyond(n, seed):
    """One secret's entry is half of the others' or less, so that the third posterior stays far from the first two."""
    rng = np.random.default_rng(seed)
    column = np.vstack([rng.uniform(1 / 32, 1 / 16, (1, 1)), rng.uniform(1 / 8, 1 / 4, (n - 1, 1))])
    matrix = np.hstack([column, 3 * column, 1 - 4 * column])
    found = hyper(matrix, rng.dirichlet(np.ones(n)))
    assert found.shape == (n, 1 if n == 1 else 2)
    assert found.posteriors.dtype == np.float64
    apart = matrix.copy()
    if n > 1:
        apart[0] += [1e-3 * column[0, 0], 0, -1e-3 * column[0, 0]]
        assert hyper(apart, priors.uniform(n)).shape == (n, 3)
        assert hyper(apart, priors.uniform(n), tolerance=1e-2).shape == (n, 2)


def test_a_hyper_keeps_its_number_kind_and_is_read_only():
    exact, floats = hyper([["1/2", "1/2"]], [1]), hyper([[0.5, 0.5]], [1.0])
    assert is_exact(exact.posteriors)
    assert not is_exact(floats.weights)
    for array in (exact.posteriors, exact.weights, floats.joint):
        assert not array.flags.writeable
    again = pickle.loads(pickle.dumps(copy.deepcopy(exact)))
    assert again.same_as(exact)
    assert not again.posteriors.flags.writeable


def test_secrets_that_the_prior_excludes_stay_excluded():
    found = hyper(geometric_channel(3, alpha="1/2"), [0, "1/2", "1/2"])
    assert (found.posteriors[0] == 0).all()


def test_an_impossible_outcome_is_dropped():
    assert hyper([[1, 0, 0], [0, 1, 0]], [1, 0]).shape == (2, 1)


def test_a_consumer_brings_its_prior():
    consumer = Consumer(priors.uniform(3), losses.absolute)
    C = geometric_channel(3, alpha="1/2")
    assert hyper(C, consumer).same_as(hyper(C, priors.uniform(3)))


@given(channels_with_priors())
def test_a_hyper_can_be_given_by_its_parts(given):
    found = hyper(*given)
    assert hyper_of(found.posteriors, found.weights).same_as(found)


def test_hypers_that_differ_are_told_apart():
    one = hyper([[1, 0], [0, 1]], ["1/2", "1/2"])
    assert not one.same_as(hyper([[1], [1]], ["1/2", "1/2"]))
    assert not one.same_as(hyper([["3/4", "1/4"], ["1/4", "3/4"]], ["1/2", "1/2"]))
    assert one.same_as(hyper([[0, 1], [1, 0]], ["1/2", "1/2"]))
    apart, near = hyper_of([[0.5, 0.9], [0.5, 0.1]], [0.5, 0.5]), hyper_of([[0.5, 0.52], [0.5, 0.48]], [0.5, 0.5])
    assert not apart.same_as(near, tolerance=0.1), "each posterior is matched once"


def test_it_shows_its_size():
    assert repr(Hyper(np.array([[1.0]]), np.array([1.0]))) == "Hyper(1 posteriors on 1 secrets, float64)"
