"""What an attacker learns: no strategy does better than is stated, and one does as well."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import utmost as ut
from utmost import losses, priors
from utmost.channels import geometric_channel, randomized_response
from utmost.errors import OutOfRange
from utmost.exact import as_rationals
from utmost.optima import attack, usual_mechanisms
from utmost.privacy_types import smallest_epsilon
from utmost.spaces import counts, cycle, discrete, grid, points


def shares(size):
    masses = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    return masses.map(lambda w: [Fraction(x, sum(w)) for x in w])


@st.composite
def attacks(draw):
    """A channel, a reader, and a belief of an attacker, all small, with zeros among them."""
    n, m, k = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    channel = ut.channels.Channel([draw(shares(m)) for _ in range(n)])
    loss = draw(st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=n, max_size=n))
    return channel, ut.Consumer(draw(shares(n)), loss), draw(shares(n))


@given(attacks())
def test_brute_force_over_all_strategies_attains_what_is_stated_and_no_more(asked):
    """A strategy is a guess for every outcome; all of them are tried, in Fractions."""
    channel, reader, belief = asked
    found = attack(channel, reader, prior=belief)
    n, m = channel.shape
    J = [[p * q for q in row] for p, row in zip(belief, channel.matrix.tolist(), strict=True)]
    hits = [sum(J[x][y] for y, x in enumerate(guess)) for guess in product(range(n), repeat=m)]
    assert found.vulnerability == max(hits)
    assert found.prior_vulnerability == max(belief)
    loss = reader.loss.tolist()
    off = [
        sum(J[x][y] * loss[x][w] for x in range(n) for y, w in enumerate(guess))
        for guess in product(range(reader.actions), repeat=m)
    ]
    assert found.error == min(off)
    assert found.prior_error == min(
        sum(p * row[w] for p, row in zip(belief, loss, strict=True)) for w in range(reader.actions)
    )
    assert found.leakage == found.vulnerability / found.prior_vulnerability >= 1


@given(attacks())
def test_no_outcome_moves_the_odds_of_a_secret_by_more(asked):
    """p(x | y) / (1 - p(x | y)) over p(x) / (1 - p(x)), by Bayes' rule for every secret and outcome."""
    channel, reader, belief = asked
    found = attack(channel, reader, prior=belief).odds
    factors = {}
    for x, y in np.ndindex(*channel.shape):
        after = ut.optima.posterior(channel, np.array(belief, dtype=object), y)
        if after is not None and after[x] > 0 and belief[x] < 1:
            odds = math.inf if after[x] == 1 else after[x] / (1 - after[x])
            factors[x, y] = odds / (belief[x] / (1 - belief[x])), after[x]
    if not factors:
        assert found is None
        return
    assert found.factor == max(factor for factor, _ in factors.values())
    assert factors[found.secret, found.outcome] == (found.factor, found.after)
    assert found.before == belief[found.secret]


def dyadic(random, rows, size):
    """Rows of multiples of 2^-50 with the sum 1: floats that are exactly the rationals, and whose products are not."""
    cuts = np.sort(random.integers(0, 1 << 50, (rows, size - 1)), axis=1)
    ends = np.hstack([np.zeros((rows, 1), np.int64), cuts, np.full((rows, 1), 1 << 50)])
    return np.diff(ends) / 2.0**50


@given(st.integers(0, 10**6))
def test_floats_err_on_the_safe_side_and_hardly(seed):
    """Against the same numbers as rationals: chances and losses from above, errors from below, within 1e-11."""
    random = np.random.default_rng(seed)
    n, m = random.integers(1, 6, 2)
    numbers = dyadic(random, n, m), dyadic(random, 1, n)[0], random.random((n, 3))
    found, exact = (
        attack(ut.channels.Channel(matrix), ut.Consumer(belief, loss))
        for matrix, belief, loss in (numbers, _rational(numbers))
    )
    near = 1 + Fraction(1, 10**11)
    for name in ("prior_vulnerability", "vulnerability", "loss"):
        assert getattr(exact, name) <= Fraction(getattr(found, name)) <= getattr(exact, name) * near
    for name in ("prior_error", "error"):
        assert getattr(exact, name) / near <= Fraction(getattr(found, name)) <= getattr(exact, name)
    if exact.odds is not None and exact.odds.factor < math.inf:
        assert exact.odds.factor <= Fraction(found.odds.factor) <= exact.odds.factor * near


def _rational(numbers):
    return tuple(map(as_rationals, numbers))


def test_a_metric_promise_bounds_the_odds_and_response_attains_them():
    """Odds against all others together move by e^(epsilon d) at most; two secrets of response attain the level."""
    found = attack(randomized_response(2, alpha="1/3"), ut.Consumer(priors.uniform(2), losses.binary))
    assert (found.odds.factor, found.odds.after) == (3, Fraction(3, 4))
    line = attack(geometric_channel(5, alpha="1/2"), ut.Consumer(priors.uniform(5), losses.absolute))
    assert line.odds.factor <= 2**4


def test_a_channel_that_says_nothing_and_one_that_says_all():
    reader = ut.Consumer(priors.from_counts([1, 2, 3]), losses.binary)
    nothing, everything = (
        attack(ut.channels.Channel([[1]] * 3), reader),
        attack(ut.channels.Channel(np.eye(3, dtype=int)), reader),
    )
    assert nothing.vulnerability == nothing.prior_vulnerability == Fraction(1, 2)
    assert nothing.odds.factor == nothing.leakage == 1
    assert (everything.vulnerability, everything.error, everything.odds.factor) == (1, 0, math.inf)
    assert attack(ut.channels.Channel([[1]]), ut.Consumer([1], losses.binary)).odds is None
    with pytest.raises(OutOfRange, match="3 secrets"):
        attack(ut.channels.Channel([[1]]), reader)


SPACES = [counts(4), grid(2, 3), grid(2, 2, metric="manhattan"), discrete(4), cycle(5), points([0, 1, 4]), counts(0)]


@pytest.mark.parametrize(
    ("space", "epsilon"),
    [*zip(SPACES, ["1e-2", 6] * 3 + [6], strict=True), (counts(4), 6), (grid(2, 3), "1e-2")],
    ids=repr,
)
def test_the_usual_mechanisms_keep_the_level_and_lose_no_less_than_the_optimum(space, epsilon):
    """The reader pays the least for the optimum, and who guesses under the reader's loss errs by just as much."""
    ptype = ut.PrivacyType(space, epsilon=epsilon)
    for channel in usual_mechanisms(ptype).values():
        assert smallest_epsilon(channel, space).value <= float(Fraction(epsilon)) * (1 + 1e-9)
    weights = np.arange(1, space.size + 1)
    reader = ut.Consumer(priors.from_counts(weights.tolist()).astype(float), losses.distance(space))
    design = ut.optimal_mechanism(ptype, reader)
    found = design.attack()
    assert found.mechanism == "optimal"
    assert len(found.others) == (0 if space.size == 1 else len(usual_mechanisms(ptype)))
    for other in found.others:
        assert other.loss >= float(design.lower) * (1 - 1e-9)
        assert other.prior_vulnerability == found.prior_vulnerability
    assert found.error <= float(found.loss) <= found.error * (1 + 1e-6) + 1e-9
    bound = math.exp(float(Fraction(epsilon)) * float(np.max(space.distances, initial=0)))
    assert found.odds is None or found.odds.factor <= bound * (1 + 1e-9)


def test_another_belief_and_another_aim():
    """An attacker may know more than the reader, and want something else."""
    space = counts(3)
    design = ut.optimal_mechanism(ut.PrivacyType(space, alpha="1/2"), ut.Consumer(priors.uniform(4), losses.absolute))
    known = design.attack(prior=["1/2", "1/2", 0, 0], loss=losses.binary)
    assert known.prior_vulnerability == Fraction(1, 2)
    assert known.error == 1 - known.vulnerability
    assert known.loss == design.loss
    assert known.others[0].vulnerability == known.vulnerability  # geometric noise, remapped: the same mechanism


def test_a_thousand_counts_are_attacked_in_floats():
    """Priors that underflow, and no warning."""
    design = ut.optimal_mechanism(
        ut.PrivacyType(counts(400), epsilon=1), ut.Consumer(priors.binomial(400, "1/1000"), losses.absolute)
    )
    found = design.attack()
    assert 0.6 < found.prior_vulnerability < found.vulnerability < 1
    assert 1 < found.odds.factor < math.inf
