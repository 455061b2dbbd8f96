"""Randomised response as thresholded Laplace noise, and the privacy loss if this noise is relaxed."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product

from utmost.core.exact.arguments import instance, integer
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, exp_interval, log_interval, nearest
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import precision
from utmost.core.sampling.geometric_draws import Real
from utmost.design.local.bits import BitResponse
from utmost.errors import OutOfRange

_FLOAT_BITS = 160


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdedLaplace(Display):
    r"""A randomised response to a bit, in the form [bit + V > threshold] with Laplace noise V.

    Let q be the quantile function of the standard Laplace distribution. Then

    .. math:: \lambda = q(\beta) - q(\gamma), \qquad \tau = -q(\gamma) / \lambda

    give P(bit + V > tau) = beta for bit 1 and gamma for bit 0, for all 0 < gamma < beta < 1. RAPPOR's permanent
    response with parameter a has the rate -2 ln a and the threshold 1/2 (equation 45). For gamma <= 1/2 <= beta, lambda
    = -ln(4 gamma (1 - beta)) and tau = ln(2 gamma)/ln(4 gamma (1 - beta)). Equation (46) is meant to give this lambda
    and tau, but the scale printed there, 1/(-ln(4 beta (1 - gamma))), is negative or infinite. If both beta and gamma
    are above 1/2, lambda = ln((1 - gamma)/(1 - beta)); if both are below, lambda = ln(beta/gamma).

    Args:
        response: Response to write as thresholded Laplace noise.

    Source: [koufogiannis2015], equations (45) and (46), the latter corrected and extended.

    >>> f = ThresholdedLaplace(BitResponse.permanent("1/2"))
    >>> f.rate, f.threshold, f.response.level < f.rate
    (level(alpha='1/4'), 0.5, True)
    """

    response: BitResponse

    def __post_init__(self) -> None:
        instance(self.response, BitResponse, "response")

    @property
    def rate(self) -> Level:
        """The rate lambda as a level: for numbers u that differ by 1, publishing u + V satisfies this level. The rate
        is at least the level of the bit.
        """
        return Level.of_alpha(_exp_of_quantile(self.response.zero) / _exp_of_quantile(self.response.one))

    @property
    def threshold(self) -> float:
        """The threshold tau, as the nearest float."""
        return nearest(self.threshold_interval(_FLOAT_BITS))

    def threshold_interval(self, bits: int) -> Interval:
        """Return an interval around the threshold tau, about 2^-bits wide."""
        inner = bits + 32
        return (-log_interval(_exp_of_quantile(self.response.zero), inner) / self.rate.epsilon_interval(inner)).at(bits)


@dataclass(frozen=True, slots=True, repr=False)
class ThresholdedPair(Display):
    r"""The method of [koufogiannis2015] to relax a response: relax the Laplace noise, and apply the threshold again.

    The two noisy values together have the higher rate as their level. The two responses together have a smaller epsilon
    than the higher rate, but a larger epsilon than the response at the higher rate alone, because the response at the
    lower rate reveals something that the other one does not. For two permanent responses of RAPPOR with a1 > a2, and
    bit 0, with q = (a2/4)(1 - ln a1/ln a2),

    .. math:: P(01) = q, \quad P(11) = a_2/2 - q, \quad P(10) = (a_1 - a_2)/2 + q, \quad P(00) = 1 - a_1/2 - q.

    Args:
        lower: Response at the lower rate.
        higher: Response at the higher rate.

    Raises:
        OutOfRange: if the rate of ``higher`` is not larger than the rate of ``lower``.

    Source: [koufogiannis2015], Section 4.1.

    >>> pair = ThresholdedPair(*(ThresholdedLaplace(BitResponse.permanent(a)) for a in ("1/2", "1/4")))
    >>> pair.probability(0, 0, 0), pair.probability(1, 0, 0)
    (Fraction(23, 32), Fraction(3, 32))
    """

    lower: ThresholdedLaplace
    higher: ThresholdedLaplace

    def __post_init__(self) -> None:
        instance(self.lower, ThresholdedLaplace, "lower")
        instance(self.higher, ThresholdedLaplace, "higher")
        if not self.lower.rate < self.higher.rate:
            raise OutOfRange(
                f"higher= must have a rate above {self.lower.rate}",
                came=self.higher.rate,
                where="rappor",
                remedy="Exchange the two responses.",
            )

    def probability(self, bit: int, lower: int, higher: int) -> Fraction | float:
        """Return the probability of two responses to a bit: a Fraction if it is known to be rational, else a float."""
        bit = integer(bit, "bit")
        lower = integer(lower, "lower")
        higher = integer(higher, "higher")
        risen = self._rise_if_rational()
        if risen is None:
            return nearest(self.enclosure(bit, lower, higher, _FLOAT_BITS))
        lower_one, higher_one = self.lower.response.of(0), self.higher.response.of(0)
        # Both thresholds are 1/2, so the probabilities for bit 1 are those for bit 0 with the responses 0 and 1
        # exchanged.
        z1, z2 = (1 - lower, 1 - higher) if bit else (lower, higher)
        return {
            (0, 1): risen,
            (1, 1): higher_one - risen,
            (1, 0): lower_one - higher_one + risen,
            (0, 0): 1 - lower_one - risen,
        }[z1, z2]

    def enclosure(self, bit: int, lower: int, higher: int, bits: int) -> Interval:
        """Return an interval around the probability of two responses to a bit, computed with ``bits`` bits."""
        bit = integer(bit, "bit")
        lower = integer(lower, "lower")
        higher = integer(higher, "higher")
        bits = integer(bits, "bits")
        risen = self.risen(bit, bits)
        lower_one, higher_one = (Interval.of(each.response.of(bit), bits) for each in (self.lower, self.higher))
        return {
            (0, 1): risen,
            (1, 1): higher_one - risen,
            (1, 0): lower_one - higher_one + risen,
            (0, 0): 1 - lower_one - risen,
        }[lower, higher]

    def risen(self, bit: int, bits: int) -> Interval:
        """Return an interval around the probability P(V_1 <= t, V_2 > s) that ``lower`` gives 0 and ``higher`` gives 1.

        V_1 and V_2 are the noises, and t and s the thresholds of ``lower`` and ``higher`` minus the bit. The
        probability decreases in s and increases in t, so rational bounds of s and t enclose it.
        """
        bit = integer(bit, "bit")
        bits = integer(bits, "bits")
        inner = precision(bits) + 64
        t, s = (each.threshold_interval(inner) - bit for each in (self.lower, self.higher))
        rates = self.lower.rate.epsilon_interval(inner), self.higher.rate.epsilon_interval(inner)
        low, high = _crossing_chance(s.upper, t.lower, *rates), _crossing_chance(s.lower, t.upper, *rates)
        return Interval(max(low.low, 0), max(high.high, 0), inner).at(bits)

    def higher_given(self, bit: int, lower: int) -> Real:
        """Return P(higher = 1 | lower) for a bit; a response at the lower rate is relaxed with this probability."""
        bit = integer(bit, "bit")
        lower = integer(lower, "lower")
        exactly = self._rise_if_rational()
        lower_one = self.lower.response.of(bit)
        if exactly is not None:
            return partial(
                Interval.of, Fraction(self.probability(bit, lower, 1)) / (lower_one if lower else 1 - lower_one)
            )
        return lambda bits: self.enclosure(bit, lower, 1, bits + 8) / (lower_one if lower else 1 - lower_one)

    def loss(self) -> Level | float:
        """Return the privacy loss of both responses together: a Level if alpha is rational, else epsilon rounded up."""
        pairs = list(product((0, 1), repeat=2))
        if self._rise_if_rational() is not None:
            ratios = [Fraction(self.probability(0, *z)) / Fraction(self.probability(1, *z)) for z in pairs]
            return Level.of_alpha(min(min(ratio, 1 / ratio) for ratio in ratios))
        quotients = [
            self.enclosure(0, z1, z2, _FLOAT_BITS) / self.enclosure(1, z1, z2, _FLOAT_BITS) for z1, z2 in pairs
        ]
        largest = max(max(ratio.upper, 1 / ratio.lower) for ratio in quotients)
        return float(Level.of_alpha(1 / largest).epsilon)

    def _rise_if_rational(self) -> Fraction | None:
        """Return (zero_2/2)(1 - rate_1/rate_2) if both thresholds are 1/2 and rate_1/rate_2 is rational; else None."""
        responses = (self.lower.response, self.higher.response)
        lower_rate, higher_rate = self.lower.rate, self.higher.rate
        if any(each.one + each.zero != 1 for each in responses) or lower_rate.base != higher_rate.base:
            return None
        return responses[1].zero / 2 * (1 - lower_rate.power / higher_rate.power)


def _exp_of_quantile(p: Fraction) -> Fraction:
    """Return exp(q(p)), where q is the quantile function of the standard Laplace distribution."""
    return 2 * p if 2 * p <= 1 else 1 / (2 * (1 - p))


def _crossing_chance(s: Fraction, t: Fraction, slow: Interval, fast: Interval) -> Interval:
    """Return P(V_2 > s, V_2 + W <= t), with V_2 of rate ``fast`` and V_2 + W of rate ``slow``."""
    # W has the distribution function 1 - c e^{-slow u} for u >= 0 and c e^{slow u} for u < 0, with
    # c = (1 - (slow/fast)^2)/2. The event W <= t - V_2 is computed separately for s < V_2 <= t, where t - V_2 >= 0, and
    # for V_2 > max(s, t), where t - V_2 < 0.
    c = (1 - (slow / fast) ** 2) / 2
    probability = c * _beyond(max(s, t), t, slow, fast)
    if s < t:
        probability = probability + _cdf(t, fast) - _cdf(s, fast) - c * _within(s, t, slow, fast)
    return probability


def _cdf(x: Fraction, rate: Interval) -> Interval:
    tail = _exp(-rate * abs(x)) / 2
    return 1 - tail if x >= 0 else tail


def _within(s: Fraction, t: Fraction, slow: Interval, fast: Interval) -> Interval:
    """Return the integral over v in (s, t) of the Laplace density of rate ``fast`` at v, times e^{slow (v - t)}."""
    total, gap = slow + fast, fast - slow
    integral = Interval.of(0, slow.bits)
    if s < 0:
        end = min(t, Fraction(0))
        integral = integral + (_exp(total * end - slow * t) - _exp(total * s - slow * t)) / total
    if t > 0:
        start = max(s, Fraction(0))
        integral = integral + (_exp(-gap * start - slow * t) - _exp(-gap * t - slow * t)) / gap
    return integral * fast / 2


def _beyond(edge: Fraction, t: Fraction, slow: Interval, fast: Interval) -> Interval:
    """Integrate e^{slow (t - v)} times the Laplace density of rate ``fast`` over all v > edge, for an edge >= t."""
    total, gap = slow + fast, fast - slow
    integral = _exp(slow * t - total * max(edge, Fraction(0))) / total
    if edge < 0:
        integral = integral + (_exp(slow * t) - _exp(slow * t + gap * edge)) / gap
    return integral * fast / 2


def _exp(x: Interval) -> Interval:
    return exp_interval(x, x.bits)
