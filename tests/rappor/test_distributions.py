"""Responses to bits: the paper's maps, their threshold form, and the coupling that loses nothing, in rationals."""

from fractions import Fraction
from itertools import pairwise, product
from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from utmost.channels import randomized_response
from utmost.errors import OutOfRange
from utmost.exact import level
from utmost.gradual import joint_pmf
from utmost.local import BitResponse, Coupling, ThresholdedLaplace, ThresholdedPair, between, largest_bit_ratio
from utmost.releases import GradualRelease

F = Fraction
shares = st.fractions(F(1, 50), F(49, 50), max_denominator=50)
PAIRS = list(product((0, 1), repeat=2))


@st.composite
def responses(draw):
    low, high = sorted((draw(shares), draw(shares)))
    assume(low < high)
    return BitResponse(high, low)


def quantile(p):
    return log(2 * p) if p <= 0.5 else -log(2 * (1 - p))


@given(shares)
def test_the_map_f_is_a_fair_coin_or_the_bit(a):
    """Equation (43): half of a on either side; its level is ln((2-a)/a), at most the 2 ln(1/a) of Laplace noise."""
    f = BitResponse.permanent(a)
    assert (f.one, f.zero) == (1 - a / 2, a / 2)
    assert f.level == level(alpha=a / (2 - a))
    assert f.level <= ThresholdedLaplace(f).rate
    assert (f.channel.matrix == randomized_response(2, alpha=a / (2 - a)).matrix).all()


@given(responses(), responses())
def test_one_response_after_another_is_their_product(first, second):
    assert first.then(second).channel.same_as(first.channel @ second.channel)


@given(responses(), st.integers(1, 4))
def test_a_value_loses_what_its_differing_bits_lose(g, h):
    """h bits fall and h bits rise: the largest likelihood ratio of all responses, by enumeration for h = 1."""
    per = (g.one / g.zero) * ((1 - g.zero) / (1 - g.one))
    assert g.level_of_value(h) == level(alpha=1 / per).scaled(h)
    ratios = [(g.of(1) if a else 1 - g.of(1)) * (g.of(0) if b else 1 - g.of(0)) for a, b in PAIRS]
    swapped = [(g.of(0) if a else 1 - g.of(0)) * (g.of(1) if b else 1 - g.of(1)) for a, b in PAIRS]
    assert max(x / y for x, y in zip(ratios, swapped, strict=True)) == per


@given(responses())
def test_every_response_is_thresholded_laplace_noise(g):
    """P(bit + V > tau) = beta and gamma for V of rate lambda: the general form of (46)."""
    form = ThresholdedLaplace(g)
    rate, tau = form.rate.epsilon_float, form.threshold
    for bit in (0, 1):
        above = tau - bit
        risen = exp(-rate * above) / 2 if above >= 0 else 1 - exp(rate * above) / 2
        assert risen == pytest.approx(float(g.of(bit)), rel=1e-12)
    assert rate == pytest.approx(quantile(float(g.one)) - quantile(float(g.zero)), rel=1e-12)
    assert form.rate >= g.level, "what the noise would lose bounds what the bit loses"


@given(st.fractions(F(1, 40), F(1, 2), max_denominator=40), st.fractions(F(1, 2), F(39, 40), max_denominator=40))
def test_equation_46_as_it_should_be_printed(gamma, beta):
    """For gamma <= 1/2 <= beta: exp(-lambda) = 4 gamma (1 - beta); the printed 4 beta (1 - gamma) is never below 1."""
    assume(gamma < beta)
    form = ThresholdedLaplace(BitResponse(beta, gamma))
    assert form.rate == level(alpha=4 * gamma * (1 - beta))
    assert form.threshold == pytest.approx(log(2 * gamma) / log(4 * gamma * (1 - beta)))
    assert 4 * beta * (1 - gamma) >= 1
    if beta == 1 - gamma:
        assert form.threshold == 0.5, "which is the map f, equation (45)"
        assert form.rate == level(alpha=2 * gamma).scaled(2)


@given(st.tuples(shares, shares).filter(lambda pair: pair[0] != pair[1]))
def test_the_coupling_of_two_permanent_responses(pair):
    """z1 = z2 with probability (1-a1)/(1-a2), else a fair coin; both marginals are f; the pair loses what z2 loses."""
    a1, a2 = max(pair), min(pair)
    f = BitResponse.permanent
    coupling = Coupling(lower=f(a1), higher=f(a2))
    kept = (1 - a1) / (1 - a2)
    assert coupling.lower_given(1) == kept + (1 - kept) / 2
    assert coupling.lower_given(0) == (1 - kept) / 2
    distributions = [coupling.joint(bit) for bit in (0, 1)]
    for bit, distribution in enumerate(distributions):
        assert sum(distribution.values()) == 1
        assert distribution[1, 0] + distribution[1, 1] == f(a1).of(bit)
        assert distribution[0, 1] + distribution[1, 1] == f(a2).of(bit)
        for z1 in (0, 1):
            assert coupling.higher_given(bit, z1) == distribution[z1, 1] / (distribution[z1, 0] + distribution[z1, 1])
    assert level(alpha=1 / largest_bit_ratio(*distributions)) == f(a2).level


@given(responses(), responses())
def test_a_coupling_exists_exactly_for_refinements(lower, higher):
    """The channel of the lower is that of the higher times a channel, or a ratio grows and it is refused."""
    grows = lower.one / lower.zero > higher.one / higher.zero or (1 - lower.zero) / (1 - lower.one) > (
        1 - higher.zero
    ) / (1 - higher.one)
    if grows:
        with pytest.raises(OutOfRange, match="lower epsilon"):
            Coupling(lower, higher)
        return
    coupling = Coupling(lower, higher)
    rows = np.array([[1 - coupling.lower_given(z), coupling.lower_given(z)] for z in (0, 1)], dtype=object)
    assert (higher.channel.matrix @ rows == lower.channel.matrix).all()
    assert level(alpha=1 / largest_bit_ratio(coupling.joint(0), coupling.joint(1))) == higher.level


@given(st.lists(shares, min_size=3, max_size=3, unique=True), st.permutations(range(3)))
def test_every_order_of_three_requests_has_one_joint_distribution(drawn, order):
    """Fresh, relaxed, tightened or bridged: the product of the transitions is the same, as rationals."""
    a = sorted(drawn, reverse=True)
    f = [BitResponse.permanent(share) for share in a]

    def chain(bit, z):
        middle, outer = Coupling(f[1], f[2]), Coupling(f[0], f[1])
        highest = f[2].of(bit) if z[2] else 1 - f[2].of(bit)
        one, two = middle.lower_given(z[2]), outer.lower_given(z[1])
        return highest * (one if z[1] else 1 - one) * (two if z[0] else 1 - two)

    def asked(bit, z):
        mass, known = F(1), []
        for k in order:
            lower = max((i for i in known if i < k), default=None)
            higher = min((i for i in known if i > k), default=None)
            if lower is None and higher is None:
                one = f[k].of(bit)
            elif higher is None:
                one = Coupling(f[lower], f[k]).higher_given(bit, z[lower])
            elif lower is None:
                one = Coupling(f[k], f[higher]).lower_given(z[higher])
            else:
                one = between(f[lower], f[k], f[higher])[2 * z[higher] + z[lower]]
            mass *= one if z[k] else 1 - one
            known.append(k)
        return mass

    for bit, z in product((0, 1), product((0, 1), repeat=3)):
        assert asked(bit, z) == chain(bit, z)


def test_the_leak_of_the_reformulation():
    """THEORY 2.6 at a = 1/2, 1/4: the pair loses ln(23/3) > ln 7, the coupling ln 7."""
    f = [BitResponse.permanent(a) for a in ("1/2", "1/4")]
    naive = ThresholdedPair(*map(ThresholdedLaplace, f))
    assert [naive.probability(0, *z) for z in PAIRS] == [F(23, 32), F(1, 32), F(5, 32), F(3, 32)]
    assert naive.loss() == level(alpha=F(3, 23)) > f[1].level == level(alpha=F(1, 7))
    assert naive.loss() < naive.higher.rate, "the noise itself would lose 2 ln 4"


@given(st.tuples(shares, shares).filter(lambda pair: pair[0] != pair[1]))
def test_every_relaxation_of_f_by_noise_leaks(pair):
    """q = (a2/4)(1 - ln a1/ln a2) by the closed form; the loss lies between that of one bit and the rate."""
    a1, a2 = max(pair), min(pair)
    f = [BitResponse.permanent(a) for a in (a1, a2)]
    naive = ThresholdedPair(*map(ThresholdedLaplace, f))
    q = float(a2) / 4 * (1 - log(a1) / log(a2))
    distribution = [float(naive.probability(0, *z)) for z in PAIRS]
    assert distribution == pytest.approx(
        [1 - float(a1) / 2 - q, q, float(a1 - a2) / 2 + q, float(a2) / 2 - q], rel=1e-9
    )
    for z in PAIRS:
        assert naive.probability(1, *z) == pytest.approx(float(naive.probability(0, 1 - z[0], 1 - z[1])), rel=1e-12)
        given_first = naive.higher_given(0, z[0])(100)
        assert float(given_first.middle) == pytest.approx(
            distribution[2 * z[0] + 1] / (distribution[2 * z[0]] + distribution[2 * z[0] + 1])
        )
    loss = naive.loss()
    found = loss.epsilon_float if not isinstance(loss, float) else loss
    assert f[1].level.epsilon_float < found < naive.higher.rate.epsilon_float


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (("1/2", "1/10"), ("3/4", "1/20")),
        (("3/5", "3/10"), ("9/10", "3/10")),
        (("9/10", "4/5"), ("99/100", "4/5")),
        (("2/5", "1/5"), ("1/2", "1/20")),
        (("9/10", "17/20"), ("3/10", "1/20")),
    ],
)
def test_the_distribution_of_any_thresholded_pair_by_simulation(lower, higher):
    """P(V1 <= t, V2 > s) against 4e5 draws of the Laplace process in floats, for thresholds on any side."""
    pair = ThresholdedPair(*(ThresholdedLaplace(BitResponse(*g)) for g in (lower, higher)))
    rng, n = np.random.default_rng(7), 400_000
    slow, fast = pair.lower.rate.epsilon_float, pair.higher.rate.epsilon_float
    v2 = rng.laplace(0, 1 / fast, n)
    v1 = v2 + np.where(rng.random(n) < (slow / fast) ** 2, 0, rng.laplace(0, 1 / slow, n))
    for bit in (0, 1):
        z1, z2 = bit + v1 > pair.lower.threshold, bit + v2 > pair.higher.threshold
        for a, b in PAIRS:
            p = float(pair.probability(bit, a, b))
            assert np.mean((z1 == a) & (z2 == b)) == pytest.approx(p, abs=5 * (p * (1 - p) / n) ** 0.5)
            assert pair.enclosure(bit, a, b, 80).width < 2**-60
    assert float(pair.loss()) >= pair.higher.response.level.epsilon_float


def test_the_reformulation_through_the_library_leaks_as_computed():
    """A gradual release of reals, thresholded at 1/2, has the joint distribution of the pair: a third route."""
    n = 200_000
    f = [BitResponse.permanent(a) for a in ("1/2", "1/4")]
    pair = ThresholdedPair(*map(ThresholdedLaplace, f))
    answer = GradualRelease(np.zeros(n), sensitivity=1, numbers="reals")
    z1, z2 = (answer.at(each.rate) > 0.5 for each in (pair.lower, pair.higher))
    for a, b in PAIRS:
        p = float(pair.probability(0, a, b))
        assert np.mean((z1 == a) & (z2 == b)) == pytest.approx(p, abs=6 * (p * (1 - p) / n) ** 0.5)


@pytest.mark.parametrize(("a1", "a2"), list(pairwise([F(4, 5), F(1, 2), F(1, 4), F(1, 10)])))
def test_geometric_noise_with_a_threshold_does_not_leak(a1, a2):
    """[bit + V >= 1] for geometric V of alpha a/(2-a) is f, and two of them have the distribution of the coupling."""
    levels = [level(alpha=a / (2 - a)) for a in (a1, a2)]
    reach = np.arange(-250, 251)
    distribution = joint_pmf(np.meshgrid(reach, reach, indexing="ij"), levels)
    for bit in (0, 1):
        up = np.asarray(bit + reach >= 1, dtype=bool)
        coupling = Coupling(BitResponse.permanent(a1), BitResponse.permanent(a2)).joint(bit)
        for z1, z2 in PAIRS:
            mass = distribution[np.ix_(up == bool(z1), up == bool(z2))].sum()
            assert mass == pytest.approx(float(coupling[z1, z2]), abs=1e-12)


@pytest.mark.parametrize("wrong", [("1/2", "1/2"), ("1/4", "1/2"), (1, "1/2"), ("1/2", 0)])
def test_no_response(wrong):
    with pytest.raises(OutOfRange, match="0 < zero < one < 1"):
        BitResponse(*wrong)


@pytest.mark.parametrize("a", [0, 1, "-1/2", 2])
def test_no_permanent_response(a):
    with pytest.raises(OutOfRange, match="strictly between 0 and 1"):
        BitResponse.permanent(a)


def test_a_thresholded_pair_needs_a_larger_rate():
    f = [ThresholdedLaplace(BitResponse.permanent(a)) for a in ("1/4", "1/2")]
    with pytest.raises(OutOfRange, match="rate"):
        ThresholdedPair(*f)
