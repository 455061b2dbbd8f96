"""Section 6.2 of Ghosh et al.: Proposition 6.2 and Theorem 6.3, in rationals."""

import random
from fractions import Fraction

import numpy as np
import pytest

from design.random_consumers import loose_consumer, strict_consumer
from utmost.channels import Channel

# Searches and evidence are taken apart, forged and compared, which no public call allows.
from utmost.design.optima.beyond_oblivious import best_worst_case, conflicting_users, expanded, worst_case_loss
from utmost.design.optima.sharing import shared_mechanism, sharing_program, sharing_refutation
from utmost.errors import OutOfRange
from utmost.optima import CountQuery, averaged, optimal_mechanism, uniqueness
from utmost.privacy_types import PrivacyType
from utmost.programs import farkas_gap
from utmost.spaces import counts

F = Fraction
FIGURE_4 = {(1, 0, 0): [F(11, 12), F(1, 12)], (0, 1, 0): [F(2, 3), F(1, 3)], (1, 0, 1): [F(5, 6), F(1, 6)]}
FIGURE_4[(0, 1, 1)] = [F(1, 3), F(2, 3)]


def half(query):
    return PrivacyType(query.space, alpha="1/2")


@pytest.mark.parametrize(("values", "rows"), [(2, 3), (3, 2)])
def test_proposition_6_2(values, rows):
    """The best worst case over all mechanisms on databases is the optimum on counts; averaging attains it."""
    rng = random.Random(1)
    query = CountQuery(values, rows, [1])
    for k in range(6):
        consumer = (strict_consumer, loose_consumer)[k % 2](rng, rows)
        alpha = F(rng.randint(1, 9), 10)
        value, X = best_worst_case(query, alpha, consumer)
        ptype = PrivacyType(counts(rows), alpha=alpha)
        assert value == optimal_mechanism(ptype, consumer).loss == worst_case_loss(query, X, consumer)
        mean = averaged(query, X)
        assert ptype.contains(mean)
        assert PrivacyType(query.space, alpha=alpha).contains(expanded(query, mean))
        assert worst_case_loss(query, expanded(query, mean), consumer) <= value


def test_averaging_never_hurts_in_the_worst_case():
    rng = random.Random(2)
    query = CountQuery(2, 3, [1])
    for _ in range(20):
        rows = [[rng.randint(0, 5) for _ in range(4)] for _ in range(8)]
        X = Channel([[F(x, sum(row) + 1) for x in row[:-1]] + [F(row[-1] + 1, sum(row) + 1)] for row in rows])
        consumer = loose_consumer(rng, 3)
        assert worst_case_loss(query, expanded(query, averaged(query, X)), consumer) <= worst_case_loss(
            query, X, consumer
        )


@pytest.mark.parametrize("tilt", [F(0), F(1, 100), F(1, 9)])
def test_figure_4_is_the_first_users_only_optimum(tilt):
    """Value 13/48 + tilt/2, unique already at tilt 0; the second user's optimum has rows 1 and 2 exchanged."""
    query, one, two = conflicting_users(tilt)
    found = optimal_mechanism(half(query), one)
    assert found.loss == F(13, 48) + tilt / 2 == optimal_mechanism(half(query), two).loss
    assert uniqueness(half(query), one).is_unique == (tilt >= 0)
    mechanism = dict(zip(query.databases, found.channel.matrix.tolist(), strict=True))
    other = dict(zip(query.databases, optimal_mechanism(half(query), two).channel.matrix.tolist(), strict=True))
    for d, row in FIGURE_4.items():
        assert mechanism[d] == [0, *row, 0]
        assert other[(d[1], d[0], d[2])] == [0, *row, 0]


@pytest.mark.parametrize("tilt", [F(0), F(1, 100), F(1, 9)])
def test_theorem_6_3(tilt):
    """No channel is optimal for both: together they lose min(19/30 + 4 tilt/5, 2/3), more than 13/24 + tilt apart."""
    query, one, two = conflicting_users(tilt)
    found = shared_mechanism(half(query), [one, two])
    assert not found.exists
    assert found.together.loss == min(F(19, 30) + 4 * tilt / 5, F(2, 3))
    assert found.regret == min(F(11, 120) - tilt / 5, F(1, 8) - tilt) > 0
    assert found.together.certificate.verify()


def test_theorem_6_3_has_an_exact_farkas_certificate():
    query, one, two = conflicting_users()
    ray = sharing_refutation(half(query), [one, two])
    optimum = optimal_mechanism(half(query), one).loss
    assert farkas_gap(sharing_program(half(query), [one, two], [optimum, optimum]), ray) > 0
    assert not farkas_gap(sharing_program(half(query), [one, two], [optimum + 1, optimum]), ray) > 0


@pytest.mark.parametrize("tilt", [F(1, 8), F(1, 5)])
def test_from_an_eighth_on_the_oblivious_third_serves_both(tilt):
    query, one, two = conflicting_users(tilt)
    assert optimal_mechanism(half(query), one).loss == F(1, 3)
    assert shared_mechanism(half(query), [one, two]).exists
    assert sharing_refutation(half(query), [one, two]) is None


def test_delta_plays_no_part():
    """Answers 0 and 3 are never used, so |f(d) - r|^(1 - delta) is 0 or 1 wherever it matters."""
    for delta in (0.25, 0.9):
        query, one, _ = conflicting_users(F(1, 100), delta)
        assert optimal_mechanism(half(query), one).loss == pytest.approx(float(F(13, 48) + F(1, 200)), rel=1e-12)


def test_on_counts_every_pair_of_consumers_shares_one_channel():
    """Theorem 3.1: no regret."""
    rng = random.Random(3)
    for _ in range(8):
        n = rng.randint(1, 3)
        pair = [strict_consumer(rng, n), loose_consumer(rng, n)]
        ptype = PrivacyType(counts(n), alpha=F(rng.randint(1, 9), 10))
        found = shared_mechanism(ptype, pair)
        assert found.exists
        assert found.regret == 0


def test_misuse_is_refused():
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [])
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [0, 1])
    with pytest.raises(OutOfRange, match="predicate"):
        CountQuery(2, 3, [5])
    with pytest.raises(OutOfRange):
        CountQuery(1, 3, [0])
    with pytest.raises(OutOfRange, match="tilt"):
        conflicting_users(F(3, 4))
    with pytest.raises(OutOfRange, match="at least one"):
        shared_mechanism(PrivacyType(counts(2), alpha="1/2"), [])


def test_databases_are_at_the_distance_of_their_rows():
    query = CountQuery(3, 2, [0, 2])
    assert query.results.tolist() == [sum(v != 1 for v in d) for d in query.databases]
    assert np.array_equal(query.space.distances[0], [0, 1, 1, 1, 2, 2, 1, 2, 2])
