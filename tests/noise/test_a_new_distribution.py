"""A distribution that the library has never seen gets everything from its two formulas, right by enumeration."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from goodness import LEVEL, chi_square
from utmost import Unit
from utmost.errors import PromiseBroken, Unsupported
from utmost.exact import Level, level
from utmost.gradual import losslessness
from utmost.interop import privacy_loss_distribution, scipy_distribution
from utmost.noise import Geometric, IntegerDistribution, RepeatedSum, costs
from utmost.optima import folded_channel, read
from utmost.privacy_types import check_promise, delta, smallest_level, tradeoff
from utmost.releases import CellNoiseAtLevel, add_noise
from utmost.sampling import sample
from utmost.spaces import Consumer, losses, priors


@dataclass(frozen=True)
class TwoGeometrics(IntegerDistribution):
    """Geometric noise of one level per unit with probability ``share``, else of another."""

    first: Level
    second: Level
    share: Fraction
    sensitivity: int = 1

    @property
    def levels(self) -> tuple[Level, ...]:
        """Of one unit, of both."""
        return self.first, self.second

    @property
    def level(self) -> Level:
        """The largest likelihood ratio is that of 0 and the sensitivity: each part falls by one factor, the mixture by
        ever less.
        """
        return self.ratio_level(0, self.sensitivity)

    def mass(self, arithmetic: Any, i: Any) -> Any:
        """The weighted sum of (1 - b) / (1 + b) b^i."""
        return self._mixed(arithmetic, lambda powers: powers.complement * powers.power(i))

    def tail(self, arithmetic: Any, i: Any) -> Any:
        """The weighted sum of b^i / (1 + b)."""
        return self._mixed(arithmetic, lambda powers: powers.power(i))

    def _mixed(self, arithmetic: Any, formula: Any) -> Any:
        parts = (arithmetic(self.first), self.share), (arithmetic(self.second), 1 - self.share)
        return sum(formula(powers) / ((1 + powers.b) / share) for powers, share in parts)

    def __repr__(self) -> str:
        return f"TwoGeometrics({self.first}, {self.second}, share={self.share}, sensitivity={self.sensitivity})"


NOISE = TwoGeometrics(level(alpha="1/3"), level(alpha="4/5"), Fraction(1, 4), 3)
FAR = 400  # what lies beyond has a probability of 10^-39
MASSES = {x: NOISE.pmf(x) for x in range(-FAR, FAR + 1)}


def test_the_probabilities_are_one_distribution():
    for x in range(20):
        assert NOISE.tail_interval(x).contains(sum(MASSES[y] for y in range(x, FAR + 1)) + NOISE.ccdf(FAR))
        assert NOISE.cdf(x) - NOISE.cdf(x - 1) == NOISE.pmf(x) == NOISE.pmf(-x)
        assert NOISE.cdf_interval(-x).contains(NOISE.cdf(-x))
    assert NOISE.pmf([0.0, 1.0, 0.5]) == pytest.approx([float(NOISE.pmf(0)), float(NOISE.pmf(1)), 0])
    far = NOISE.logpmf(10**5)
    assert far == pytest.approx(math.log(Fraction(3, 4) * Fraction(1, 9)) + 10**5 * math.log(Fraction(4, 5)))
    with pytest.raises(Unsupported):
        NOISE.logpmf(10**6)


@pytest.mark.parametrize("confidence", ["0.5", "0.95", "0.999999"])
def test_margins_and_quantiles_are_the_least(confidence):
    t, sure = NOISE.margin(confidence), Fraction(confidence)
    assert 1 - 2 * NOISE.ccdf(t) >= sure > 1 - 2 * NOISE.ccdf(t - 1)
    k = NOISE.icdf(confidence)
    assert NOISE.cdf(k) >= sure > NOISE.cdf(k - 1)
    assert NOISE.icdf(np.array([float(confidence)])) == [NOISE.icdf(float(confidence))]
    assert NOISE.iccdf(1 - sure) == k


@pytest.mark.parametrize(
    "cost", [costs.absolute, costs.squared, costs.moment(3), lambda x: abs(x) >= 2, lambda x: min(abs(x), 7)]
)
def test_expected_costs_are_sums(cost):
    assert NOISE.expected_cost(cost) == pytest.approx(float(sum(p * cost(x) for x, p in MASSES.items())), rel=1e-12)


def test_the_entropy_is_a_sum():
    entropy = -sum(float(p) * math.log(p) for p in MASSES.values())
    assert NOISE.entropy() == pytest.approx(entropy, rel=1e-12)
    assert float(scipy_distribution(NOISE).var()) == pytest.approx(NOISE.variance())


def test_a_ratio_that_grows_to_the_end_of_the_search_is_refused_however_slowly():
    """All ratios agree to one part in 10^12; intervals of 4096 bits show that the last one is the largest."""
    slow = TwoGeometrics(level(alpha="1/2"), level(alpha="1/3"), 1 + Fraction(1, 10**13))
    with pytest.raises(Unsupported, match="Override worst_place"):
        slow.worst_place(1)


def test_a_cost_that_grows_as_fast_as_the_distribution_falls_is_refused():
    with pytest.raises(Unsupported):
        NOISE.expected_cost(lambda x: np.power(1.3, abs(x)))


@pytest.mark.parametrize("shift", [1, 3, 4])
def test_the_smallest_level_is_the_largest_ratio(shift):
    ratios = [MASSES[x - shift] / MASSES[x] for x in range(shift - FAR, FAR + 1)]
    assert smallest_level(NOISE, shift) == Level.of_alpha(1 / max(ratios))


def test_the_promise_is_checked():
    check_promise(NOISE)
    with pytest.raises(PromiseBroken):
        check_promise(NOISE, NOISE.level.epsilon_float * 0.999)
    with pytest.raises(PromiseBroken):
        check_promise(NOISE, NOISE.level.epsilon_float * 1.001)


@dataclass(frozen=True)
class Declared(TwoGeometrics):
    """It states a level that is not computed from its probabilities."""

    stated: Level = field(kw_only=True)

    @property
    def level(self) -> Level:
        return self.stated


@pytest.mark.parametrize("first", [level(alpha="1/3"), level("11/10")], ids=["rational", "irrational"])
def test_a_level_may_exceed_the_loss_by_a_part_in_a_trillion_and_never_fall_below_it(first):
    """A distribution that takes its level first finds its parameters by a search, which ends near the level."""
    parts = first, level(alpha="4/5"), Fraction(1, 4), 3
    loss = TwoGeometrics(*parts).level
    epsilon = loss.epsilon_interval(256).lower
    for above, is_kept in ((Fraction(1, 10**13), True), (Fraction(1, 10**11), False), (Fraction(-1, 10**13), False)):
        noise = Declared(*parts, stated=Level.of_epsilon(epsilon * (1 + above)))
        assert (noise.worst_level(Fraction(3)) == noise.level) == is_kept
        if is_kept:
            check_promise(noise)
        else:
            with pytest.raises(PromiseBroken, match=r"(more|less) noise"):
                check_promise(noise)


class OffByOne(TwoGeometrics):
    """Its tail begins one place too late."""

    def tail(self, arithmetic, i):
        return super().tail(arithmetic, i + 1)


class TooMuch(TwoGeometrics):
    """It has a hundredth more of everything."""

    def mass(self, arithmetic, i):
        return super().mass(arithmetic, i) * Fraction(101, 100)

    def tail(self, arithmetic, i):
        return super().tail(arithmetic, i) * Fraction(101, 100)


class Growing(TwoGeometrics):
    """The value 1 is likelier than 0, by as much as 2 is less likely."""

    def mass(self, arithmetic, i):
        moved = np.where(i == 1, 0.05, 0) - np.where(i == 2, 0.05, 0) if isinstance(i, np.ndarray) else self.moved(i)
        return super().mass(arithmetic, i) + moved

    def tail(self, arithmetic, i):
        moved = np.where(i == 2, -0.05, 0) if isinstance(i, np.ndarray) else Fraction(-1, 20) * (i == 2)
        return super().tail(arithmetic, i) + moved

    @staticmethod
    def moved(i):
        return Fraction((i == 1) - (i == 2), 20)


@pytest.mark.parametrize("kind", [OffByOne, TooMuch, Growing])
def test_two_formulas_that_are_not_one_distribution_are_refused(kind):
    distribution = kind(NOISE.first, NOISE.second, NOISE.share, NOISE.sensitivity)
    with pytest.raises(PromiseBroken):
        check_promise(distribution)
    with pytest.raises(PromiseBroken, match=r"P\(X|never grow"):
        distribution.check_formulas()


@pytest.mark.parametrize("sensitivity", [1, 4])
def test_a_level_that_no_decimal_says_is_rounded_up(sensitivity):
    distribution = TwoGeometrics(level("1/3"), level("2"), Fraction(1, 3), sensitivity)
    near, far = distribution.pmf_interval(0, 300), distribution.pmf_interval(sensitivity, 300)
    assert distribution.level.alpha_interval(300).upper < (far / near).lower
    assert distribution.level.epsilon_float == pytest.approx(math.log(float(near.middle / far.middle)), rel=1e-14)
    check_promise(distribution)
    assert float(delta(distribution, distribution.level)) == 0


@pytest.mark.parametrize("method", ["constant", "table"])
def test_draws_have_the_distribution(method):
    drawn = sample(NOISE, 20_000, method=method)
    assert chi_square(drawn, lambda x: NOISE.cdf(np.asarray(x, float))) > LEVEL
    assert isinstance(sample(NOISE), int)


def test_it_is_added_to_values():
    released = add_noise(np.full(20_000, 100), NOISE)
    assert abs(released.mean() - 100) < 8 * NOISE.std() / math.sqrt(20_000)


def test_sums_of_copies_have_certified_bars():
    bars = RepeatedSum(NOISE, 12)
    drawn = sample(NOISE, (20_000, 12)).sum(axis=1)
    assert np.mean(np.abs(drawn) <= bars.margin("0.9")) > 0.89
    assert bars.margin("0.9") < 2 * math.sqrt(12 * NOISE.variance())
    assert RepeatedSum(NOISE, 2_000).margin("0.9") < 3 * math.sqrt(2_000 * NOISE.variance())


def test_a_response_is_read_by_its_own_likelihoods():
    consumer = Consumer(priors.uniform(6), losses.absolute)
    for response in (-7, 2, 11):
        likelihoods = [NOISE.pmf(response - count) for count in range(6)]
        assert list(read(NOISE, consumer, response).posterior) == [p / sum(likelihoods) for p in likelihoods]


def test_a_far_response_is_read_where_probabilities_are_no_floats():
    distribution = TwoGeometrics(level(1), level("1/2"), Fraction(1, 2))
    found = read(distribution, Consumer(priors.uniform(3), losses.absolute), 5000).posterior
    assert found == pytest.approx(np.exp([-1, -0.5, 0]) / np.exp([-1, -0.5, 0]).sum(), rel=1e-9)


def test_pictures_take_it():
    assert "<svg" in NOISE._repr_html_()
    assert NOISE.theorem == "it is not claimed to be the least noise"


@pytest.mark.parametrize(
    "call",
    [
        lambda: folded_channel(NOISE, 4),
        lambda: losslessness(NOISE, NOISE),
        lambda: delta(NOISE, 1, 10**6),
        lambda: sample(TwoGeometrics(level("1/1000000"), level("1/1000"), Fraction(1, 2))),
        lambda: smallest_level(TwoGeometrics(level("1/1000000"), level("1/1000"), Fraction(1, 2)), 1),
    ],
)
def test_what_is_not_known_of_it_is_refused(call):
    with pytest.raises(Unsupported):
        call()


HALF = level(alpha="1/2")


@dataclass(frozen=True)
class Own(IntegerDistribution):
    """Noise by any formula of its tail: ``of_tail(powers, i)`` is P(X >= i)."""

    of_tail: Any
    base: Level = HALF
    sensitivity: int = 1
    claimed: Level | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        return (self.base,)

    @property
    def level(self) -> Level:
        return self.claimed or self.ratio_level(0, self.sensitivity)

    def mass(self, arithmetic: Any, i: Any) -> Any:
        return self.tail(arithmetic, i) - self.tail(arithmetic, i + 1)

    def tail(self, arithmetic: Any, i: Any) -> Any:
        return self.of_tail(arithmetic(self.base), i)


def truncated(last, inverse=2):
    """Geometric noise of alpha 1 / ``inverse`` without the values beyond ``last``."""

    def tail(powers, i):
        whole = 1 - 2 * powers.power(last + 1) / (1 + powers.b)
        inside = 1 - (i > last) * (powers.b * inverse)
        return (powers.power(i) - powers.power(last + 1)) / (1 + powers.b) / whole * inside

    return Own(tail, Level.of_alpha(Fraction(1, inverse)))


@pytest.mark.parametrize("last", [1, 200])
def test_noise_that_cannot_take_every_value_has_an_infinite_loss(last):
    """The value n + last + 1 is possible if the true number is n + 1, and impossible if it is n."""
    distribution = truncated(last)
    calls = [
        check_promise,
        smallest_level,
        lambda noise: delta(noise, epsilon=1),
        lambda noise: tradeoff(noise, 0.0),
        lambda noise: sample(noise, 4),
        lambda noise: privacy_loss_distribution(noise) if find_spec("dp_accounting") else sample(noise),
        cell_with,
    ]
    for call in calls:
        with pytest.raises(PromiseBroken, match="positive probability"):
            call(distribution)


def test_a_probability_that_no_interval_tells_from_0_is_refused():
    """0 is computed as 1 - 3 (1/3)."""
    with pytest.raises(PromiseBroken, match="positive probability"):
        check_promise(truncated(3, inverse=3))


def cell_with(noise):
    """The noise of one released cell that claims to satisfy its level."""
    return CellNoiseAtLevel.of_integers(noise.level, Unit(1, 1), noise)


def test_a_ratio_that_grows_beyond_the_level_is_found_wherever_a_class_says_the_worst_is():
    class Gaussian(Own):
        """P(X >= i) falls as b^(i^2), so that the loss has no bound."""

        def worst_place(self, distance):
            return 0

        def worst_level(self, distance):
            return self.level

    whole = 1 / (1 + Fraction(1, 2))
    squares = Gaussian(lambda powers, i: powers.power(i * i) * whole)
    with pytest.raises(PromiseBroken, match="satisfy the level of its distribution"):
        cell_with(squares)


def test_a_cliff_below_the_searched_probabilities_is_found():
    """Beyond 40 the probabilities fall at once below 1e-300, without being 0."""

    def falls(powers, i):
        near = (powers.power(i) - powers.power(41)) * (i <= 40)
        return (near + powers.power(i + 2000)) / (1 + powers.b) / (1 - 2 * powers.power(41) / (1 + powers.b))

    assert Own(falls).searched_level(1).epsilon_float > 1000


@pytest.mark.parametrize("kind", [OffByOne, TooMuch])
def test_formulas_that_are_not_one_distribution_are_neither_drawn_nor_released(kind):
    distribution = kind(NOISE.first, NOISE.second, NOISE.share, 1)
    for call in (lambda: sample(distribution, 3), lambda: cell_with(distribution)):
        with pytest.raises(PromiseBroken, match=r"P\(X"):
            call()


def test_a_class_that_inherits_the_shape_of_another_distribution_is_not_drawn_as_that():
    class Wider(Geometric):
        """Its formulas are those of another level; ``canonical`` is inherited."""

        def mass(self, arithmetic, i):
            return Geometric(alpha="3/4").mass(arithmetic, i)

        def tail(self, arithmetic, i):
            return Geometric(alpha="3/4").tail(arithmetic, i)

    with pytest.raises(PromiseBroken, match="canonical"):
        sample(Wider(alpha="1/2"), 2)


def test_a_ratio_of_probabilities_that_do_not_fall_is_no_level():
    uniform = Own(lambda powers, i: (3 - i) * powers.b / 3)  # 1/6 each for 0, 1, 2
    with pytest.raises(PromiseBroken, match="smaller than at i = 0"):
        uniform.ratio_level(0, 1)
    with pytest.raises(PromiseBroken, match="positive probability"):
        truncated(2).ratio_level(0, 3)


@dataclass(frozen=True)
class Tagged(TwoGeometrics):
    """A field that equality leaves out."""

    wider: object = field(default=None, compare=False)


class Changeable(IntegerDistribution):
    """Geometric noise whose level can be set later, so that a cached sampler would be that of another level."""

    sensitivity = 1
    level = property(lambda self: self.at)
    levels = property(lambda self: (self.at,))

    def __init__(self, alpha):
        self.at = level(alpha=alpha)

    def mass(self, arithmetic, i):
        return Geometric(self.at).mass(arithmetic, i)

    def tail(self, arithmetic, i):
        return Geometric(self.at).tail(arithmetic, i)


class Slotted(Changeable):
    __slots__ = ("more",)

    def __init__(self, alpha):
        super().__init__(alpha)
        self.more = 1


@pytest.mark.parametrize(
    "noise", [Tagged(NOISE.first, NOISE.second, NOISE.share, 1), Changeable("1/4"), Slotted("1/4")], ids=repr
)
def test_noise_that_its_equality_does_not_determine_is_not_drawn(noise):
    """Samplers are cached by equality: an equal object with other formulas would get the noise of the first."""
    for call in (lambda: sample(noise, 3), lambda: cell_with(noise)):
        with pytest.raises(PromiseBroken, match=r"frozen dataclass.*@dataclass"):
            call()


def test_noise_may_compute_an_attribute_once():
    class Computing(TwoGeometrics):
        @cached_property
        def widest(self):
            return max(self.levels)

    noise = Computing(NOISE.first, NOISE.second, NOISE.share, 1)
    assert noise.widest in noise.levels
    assert len(sample(noise, 3)) == 3


class GrowingALittle(TwoGeometrics):
    """The value 1 is likelier than 0, by a fortieth."""

    def mass(self, arithmetic, i):
        return super().mass(arithmetic, i) * np.where(i == 1, 1.25, 1.0)


def test_a_window_of_probabilities_that_grow_a_little_is_refused():
    """Whoever cuts a window at its ends would leave out probabilities above the limit."""
    growing = GrowingALittle(level("1/5"), level("1/5"), Fraction(1, 2))
    with pytest.raises(PromiseBroken, match="never grow"):
        growing.window(1e-9)
