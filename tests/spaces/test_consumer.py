"""Consumers: sizes, kinds of numbers, and losses that are computed when they are asked for."""

import copy
import pickle

import numpy as np
import pytest

from utmost import losses, priors
from utmost.errors import NotALoss, NotANumber, NotAPrior, OutOfRange
from utmost.exact import is_exact
from utmost.spaces import Consumer

HALVES = ["1/2", "1/2"]


@pytest.mark.parametrize(
    ("prior", "loss", "exact"),
    [
        (HALVES, losses.absolute, True),
        (HALVES, [[0, 1], [1, 0]], True),
        (HALVES, lambda i, r: abs(i - r), True),
        ([0.5, 0.5], losses.absolute, False),
        (HALVES, losses.power(1.5), False),
        (HALVES, [[0, 0.5], [1, 0]], False),
        (HALVES, lambda i, r: 0.5 * abs(i - r), False),
    ],
)
def test_prior_and_loss_share_a_kind(prior, loss, exact):
    """Both Fractions, or both float64."""
    consumer = Consumer(prior, loss)
    assert consumer.is_exact == is_exact(consumer.prior) == is_exact(consumer.loss) == exact
    assert (consumer.secrets, consumer.actions) == (2, 2)


def test_actions_may_be_more_or_fewer_than_secrets():
    """A matrix says how many; a named loss takes as many as secrets, or as many as it is shown."""
    assert Consumer(HALVES, [[0, 1, 2], [2, 1, 0]]).actions == 3
    assert Consumer(HALVES, losses.absolute, actions=4).loss[0].tolist() == [0, 1, 2, 3]
    assert Consumer(HALVES, [[0], [1]], actions=1).actions == 1


@pytest.mark.parametrize("number_kind", [lambda c: c, lambda c: c.to_floats()])
@pytest.mark.parametrize("n", [7, 600])
def test_blocks_of_the_loss_are_parts_of_it(number_kind, n):
    """loss_block(rows, columns) is loss[rows][:, columns], kept or computed."""
    consumer = number_kind(Consumer(priors.uniform(n), losses.squared))
    rows, columns = slice(2, 5), np.array([0, 3, 6])
    block = consumer.loss_block(rows, columns)
    assert block.tolist() == [[(i - r) ** 2 for r in (0, 3, 6)] for i in (2, 3, 4)]
    assert is_exact(block) == consumer.is_exact
    assert not block.flags.writeable
    assert consumer.loss.shape == (n, n)


def test_ten_thousand_counts_need_no_matrix():
    """The loss of a large consumer is a rule; its columns are computed one block at a time."""
    consumer = Consumer(priors.uniform(10_001), losses.absolute).to_floats()
    assert consumer.table is None
    assert consumer.loss_block(slice(None), slice(9_999, 10_000))[0, 0] == 9_999.0


@pytest.mark.parametrize("loss", [losses.nib, [[0, 1], [1, 0.5]], losses.power("1/2")])
def test_copies_are_the_same_consumer_and_read_only(loss):
    """Pickle and deepcopy give back equal, read-only arrays."""
    consumer = Consumer(HALVES, loss)
    for again in (pickle.loads(pickle.dumps(consumer)), copy.deepcopy(consumer)):
        assert again.same_as(consumer)
        assert again.is_exact == consumer.is_exact
        assert not again.prior.flags.writeable
        assert not again.loss.flags.writeable
    assert not consumer.same_as(Consumer(HALVES, losses.absolute, actions=3))
    assert not consumer.same_as(Consumer([1, 0], loss))


def test_leaving_exactness_is_a_named_call():
    """to_floats gives the nearest floats and changes nothing else."""
    consumer = Consumer(["1/3", "2/3"], [[0, "1/7"], [1, 0]])
    floats = consumer.to_floats()
    assert floats.prior.tolist() == [1 / 3, 2 / 3]
    assert floats.loss[0, 1] == 1 / 7
    assert floats.to_floats() is floats


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((["1/2"], losses.absolute), NotAPrior, "sum to 1"),
        ((HALVES, [[0, 1]]), NotALoss, "must have 2 rows, one for each secret of the prior; got 1"),
        ((HALVES, [[0, -1], [1, 0]]), NotALoss, "negative"),
        ((HALVES, [[0, 1], [1, 0]], 3), NotALoss, "must have 3 columns"),
        ((HALVES, "absolute"), NotALoss, "loss"),
        ((HALVES, losses.distance), NotALoss, r"losses\.distance\(space\)"),
        ((HALVES, None), NotALoss, "loss"),
        ((HALVES, losses.absolute, 0), OutOfRange, "actions must be at least 1"),
        ((HALVES, losses.absolute, 1.5), NotANumber, "actions must be an integer"),
        ((HALVES, lambda i, r: r - i), NotALoss, "action 0 for secret 1 must not be negative"),
    ],
)
def test_what_is_no_consumer_is_refused(arguments, error, message):
    """Wrong sums, wrong sizes, negative losses and things that are no losses."""
    with pytest.raises(error, match=message):
        Consumer(*arguments)
