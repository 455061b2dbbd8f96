"""Section 6.2 of Ghosh et al.: mechanisms that read the database, averaged over databases of one count, in rationals.

That the best of them is no better in the worst case, and that two users may share none, the papers' reproduction has.
"""

import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import loose_consumer
from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.optima import CountQuery, averaged, face_value_loss, optimal_mechanism
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, counts


def expanded(query, channel):
    """The channel on databases that reads the count alone."""
    return Channel(channel.matrix[query.results])


def worst_case_loss(query, channel, consumer):
    """The largest expected loss over all databases of each count."""
    losses = (channel.matrix * consumer.loss[query.results]).sum(axis=1)
    return sum(consumer.prior[n] * max(losses[query.results == n]) for n in range(len(consumer.prior)))


@pytest.mark.parametrize(("values", "rows"), [(2, 3), (3, 2)])
def test_averaging_keeps_the_level_and_never_hurts_in_the_worst_case(values, rows):
    """Of an optimum for a consumer of databases, of channels drawn at random, and of what is averaged already."""
    rng = random.Random(2)
    query = CountQuery(values, rows, [1])
    sizes = len(query.databases), rows + 1
    for k in range(12):
        consumer, alpha = loose_consumer(rng, rows), Fraction(rng.randint(1, 9), 10)
        drawn = [[Fraction(rng.randint(0, 5)) + (r == 0) for r in range(sizes[1])] for _ in range(sizes[0])]
        X = Channel([[x / sum(row) for x in row] for row in drawn])
        if k < 3:
            weights = [Fraction(rng.randint(1, 9)) for _ in range(sizes[0])]
            reader = Consumer([w / sum(weights) for w in weights], consumer.loss[query.results])
            on_databases = PrivacyType(query.space, alpha=alpha)
            X = optimal_mechanism(on_databases, reader).channel
            mean = averaged(query, X)
            assert PrivacyType(counts(rows), alpha=alpha).contains(mean)
            assert on_databases.contains(expanded(query, mean))
        again = expanded(query, averaged(query, X))
        assert worst_case_loss(query, again, consumer) <= worst_case_loss(query, X, consumer)
        assert worst_case_loss(query, again, consumer) == face_value_loss(averaged(query, X), consumer)
        assert averaged(query, again).same_as(averaged(query, X))


def test_misuse_is_refused():
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [])
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [0, 1])
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [5])
    with pytest.raises(OutOfRange):
        CountQuery(1, 3, [0])


def test_databases_are_at_the_distance_of_their_rows():
    query = CountQuery(3, 2, [0, 2])
    assert query.results.tolist() == [sum(v != 1 for v in d) for d in query.databases]
    assert np.array_equal(query.space.distances[0], [0, 1, 1, 1, 2, 2, 1, 2, 2])
