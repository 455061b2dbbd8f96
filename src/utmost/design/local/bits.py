"""Draw randomised responses to bits, and relax or tighten them to another level without additional loss.

**Two responses to one bit can have the total privacy loss of the response at the higher epsilon.**

If two responses together have only the loss of the response at the higher epsilon, the response at the lower epsilon is
a function of the response at the higher epsilon and independent randomness, and reveals no further information. A joint
distribution with only this loss exists if and only if the response at the lower epsilon is a refinement
(post-processing) of the response at the higher epsilon, and the distribution is unique. Source: [koufogiannis2015].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, integer, mapping, wrong_kind
from utmost.core.exact.arrays import plain_array
from utmost.core.exact.intervals import Interval
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, between_0_and_1, exact, natural
from utmost.core.sampling.categorical import Categorical
from utmost.core.sampling.draw import CHUNK
from utmost.core.sampling.geometric_draws import Real
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.design.channels.channel import Channel
from utmost.errors import NotANumber, OutOfRange

Bits = NDArray[np.bool_]

_WORD_BITS = 16
_SORTING_BITS = 256
_SHARE_STEPS = 1 << 60


def draw_bits(states: NDArray[np.uint8], chances: Sequence[Fraction | Real], randomness: Randomness) -> Bits:
    """Draw an independent bit for each state k in about 4 ns; the bit is 1 with probability ``chances[k]``."""
    # Draw bits of a uniform number U until they decide which of the chances are above U. The result is [U < own
    # chance]. The number of bits drawn does not depend on the states.
    reals = [partial(Interval.of, chance) if isinstance(chance, Fraction) else chance for chance in chances]
    order = sorted(range(len(reals)), key=lambda k: reals[k](_SORTING_BITS).middle)
    passed = Categorical(lambda bits: [reals[k](bits) for k in order], word_bits=_WORD_BITS, lookup=True)
    # is_one[k, j] says whether U is below the chance of state k if exactly j of the chances are at or below U.
    is_one = np.array([[j <= order.index(k) for j in range(len(order) + 1)] for k in range(len(order))]).reshape(-1)
    drawn = np.empty(states.shape, np.bool_)
    flat, row = drawn.reshape(-1), states.reshape(-1)
    width = np.uint8(len(order) + 1)
    for start in range(0, row.size, CHUNK):
        part = row[start : start + CHUNK]
        flat[start : start + CHUNK] = is_one.take(part * width + passed.draw(part.size, randomness), mode="clip")
    return drawn


def as_bits(values: object, name: str) -> Bits:
    """Return an array of bools; values other than bools and the integers 0 and 1 raise NotANumber."""
    array = plain_array(values, name)
    if array.dtype == np.bool_:
        return array
    # The message describes wrong bits by their type or by the position of the first one, never by a value.
    came = f"an array of {array.dtype}" if array.dtype.kind not in "iu" else None
    if came is None and array.size and not 0 <= array.min() <= array.max() <= 1:
        index = np.unravel_index(int(np.argmax((array < 0) | (array > 1))), array.shape)
        came = f"another value at [{', '.join(map(str, index))}]"
    if came is not None:
        raise NotANumber(f"{name} must be made of bits, 0 and 1", came=came)
    return array.astype(np.bool_)


@dataclass(frozen=True, slots=True)
class BitResponse:
    """A response that is 1 with probability ``one`` if the bit is 1, and with probability ``zero`` if the bit is 0.

    Args:
        one: P(response = 1) for bit 1, beta in the paper.
        zero: P(response = 1) for bit 0, gamma in the paper; 0 < zero < one < 1.

    Raises:
        OutOfRange: if 0 < zero < one < 1 does not hold.

    Source: [koufogiannis2015], equations (43) and (44).

    >>> BitResponse("3/4", "1/4").level
    level(alpha='1/3')
    """

    one: Fraction
    zero: Fraction

    def __init__(self, one: Number, zero: Number) -> None:
        beta, gamma = exact(one, "one"), exact(zero, "zero")
        if not 0 < gamma < beta < 1:
            raise OutOfRange(
                "a response needs 0 < zero < one < 1",
                came=f"one={one}, zero={zero}",
                where="BitResponse",
                remedy="Exchange zero= and one=, or use BitResponse.permanent(a).",
            )
        object.__setattr__(self, "one", beta)
        object.__setattr__(self, "zero", gamma)

    @classmethod
    def permanent(cls, a: Number) -> "BitResponse":
        """Return RAPPOR's permanent response f: a uniform random bit with probability ``a``, and the true bit
        otherwise.

        Raises:
            OutOfRange: if 0 < a < 1 does not hold.

        >>> BitResponse.permanent("1/2")
        BitResponse(one=Fraction(3, 4), zero=Fraction(1, 4))
        """
        share = between_0_and_1(a, "a", "BitResponse.permanent")
        return cls(1 - share / 2, share / 2)

    @classmethod
    def of_word(
        cls, hashes: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
    ) -> "BitResponse":
        """Return the permanent response for which a word that sets h = ``hashes`` bits has the given level: a = 2/(1 +
        e^(epsilon/2h)), rounded up.

        The parameter a is rounded up to a multiple of 2^-60, so the level of a word is at most the given one, and close
        to it.

        Raises:
            NotALevel: if the level is invalid.
            OutOfRange: if the parameter ``a`` would not lie between 0 and 1 at the given level.

        >>> BitResponse.of_word(2, alpha="1/81"), BitResponse.of_word(1, epsilon=2).level_of_value(1) < level(2)
        (BitResponse(one=Fraction(3, 4), zero=Fraction(1, 4)), True)
        """
        bit = level(epsilon, alpha).scaled(Fraction(1, 2 * natural(hashes, "hashes", least=1)))
        if bit.is_rational:
            return cls.permanent(2 * bit.alpha_fraction() / (1 + bit.alpha_fraction()))
        alpha_above = bit.alpha_interval(192).upper
        return cls.permanent(Fraction(-(-2 * alpha_above * _SHARE_STEPS // (1 + alpha_above)), _SHARE_STEPS))

    def of(self, bit: int) -> Fraction:
        """Return P(response = 1) for the true bit ``bit``."""
        bit = integer(bit, "bit")
        return self.one if bit else self.zero

    def then(self, after: "BitResponse") -> "BitResponse":
        """Return the response that applies ``after`` to this response.

        >>> BitResponse.permanent("1/2").then(BitResponse("3/4", "1/2"))
        BitResponse(one=Fraction(11, 16), zero=Fraction(9, 16))
        """
        instance(after, BitResponse, "after")
        one_after, zero = (p * after.one + (1 - p) * after.zero for p in (self.one, self.zero))
        return BitResponse(one_after, zero)

    @property
    def level(self) -> Level:
        """The level of one bit: the larger of ln(one/zero) and ln((1-zero)/(1-one))."""
        return Level.of_alpha(min(self.zero / self.one, (1 - self.one) / (1 - self.zero)))

    def level_of_value(self, hashes: int) -> Level:
        """Return the level of a value that sets ``hashes`` bits of a Bloom filter, compared with any other such value.

        Another value changes at most ``hashes`` bits from 1 to 0 and as many from 0 to 1, so epsilon is
        hashes (ln(one/zero) + ln((1-zero)/(1-one))).

        >>> BitResponse.permanent("1/2").level_of_value(2)
        level(alpha='1/81')
        """
        number = natural(hashes, "hashes", least=1)
        return Level.of_alpha(self.zero / self.one * (1 - self.one) / (1 - self.zero)).scaled(number)

    @property
    def channel(self) -> Channel:
        """The channel from bits 0 and 1 to responses 0 and 1."""
        return Channel([[1 - self.zero, self.zero], [1 - self.one, self.one]])


PairDistribution = dict[tuple[int, int], Fraction]
"""The probabilities P(lower = z1, higher = z2), by (z1, z2)."""


@dataclass(frozen=True, slots=True)
class Coupling:
    r"""The joint distribution of a response z1 at a lower epsilon and a response z2 at a higher epsilon; given z2, the
    response z1 does not depend on the bit.

    Let (b1, g1) and (b2, g2) be (one, zero) of ``lower`` and ``higher``. Then P(z1 = 1 | z2) is

    .. math:: k_0 = \frac{g_1 b_2 - b_1 g_2}{b_2 - g_2} \text{ for } z_2 = 0, \qquad
        k_1 = \frac{b_1 (1 - g_2) - g_1 (1 - b_2)}{b_2 - g_2} \text{ for } z_2 = 1.

    For two permanent responses (`BitResponse.permanent`) with a1 > a2, z1 equals z2 with probability (1 - a1)/(1 - a2),
    and is a uniform random bit otherwise.

    Args:
        lower: Distribution of z1.
        higher: Distribution of z2.

    Raises:
        OutOfRange: if ``lower`` is no refinement of ``higher``, because one/zero or (1-zero)/(1-one) of ``lower`` is
            larger than that of ``higher``.

    >>> pair = Coupling(BitResponse.permanent("1/2"), BitResponse.permanent("1/4"))
    >>> pair.lower_given(1), pair.lower_given(0)
    (Fraction(5, 6), Fraction(1, 6))
    >>> pair.higher_given(bit=1, lower=0)
    Fraction(7, 12)
    """

    lower: BitResponse
    higher: BitResponse

    def __post_init__(self) -> None:
        for name, response in (("lower", self.lower), ("higher", self.higher)):
            if not isinstance(response, BitResponse):
                raise wrong_kind(name, "a BitResponse", response)
        if not (self.lower_given(0) >= 0 and self.lower_given(1) <= 1):
            raise OutOfRange(
                "one/zero and (1-zero)/(1-one) must not be larger at the lower epsilon than at the higher epsilon",
                came=f"{self.lower} and {self.higher}",
                where="Coupling",
                remedy="Exchange the two responses, or use BitResponse.permanent(a) for both.",
            )

    def lower_given(self, higher: int) -> Fraction:
        """Return P(lower = 1 | higher) for a value of ``higher``; this probability does not depend on the bit."""
        (b1, g1), (b2, g2) = (self.lower.one, self.lower.zero), (self.higher.one, self.higher.zero)
        spread = b2 - g2
        return (b1 * (1 - g2) - g1 * (1 - b2)) / spread if higher else (g1 * b2 - b1 * g2) / spread

    def higher_given(self, bit: int, lower: int) -> Fraction:
        """Return P(higher = 1 | lower) for a bit and a value of ``lower``, by Bayes' rule; `relax` draws with it."""
        distribution = self.joint(bit)
        return distribution[lower, 1] / (distribution[lower, 0] + distribution[lower, 1])

    def joint(self, bit: int) -> PairDistribution:
        """Return P(lower = z1, higher = z2) for a bit."""
        distribution = {}
        for z1, z2 in product((0, 1), repeat=2):
            higher, lower_chance = self.higher.of(bit), self.lower_given(z2)
            distribution[z1, z2] = (higher if z2 else 1 - higher) * (lower_chance if z1 else 1 - lower_chance)
        return distribution


def between(lower: BitResponse, middle: BitResponse, higher: BitResponse) -> list[Fraction]:
    """Return the probabilities of a response between two known ones: P(middle = 1 | higher = z2, lower = z1).

    The probability for z2 and z1 has the index 2 z2 + z1.

    >>> f = BitResponse.permanent
    >>> [str(p) for p in between(f("1/2"), f("1/4"), f("1/8"))]
    ['1/66', '5/18', '13/18', '65/66']
    """
    instance(lower, BitResponse, "lower")
    instance(middle, BitResponse, "middle")
    instance(higher, BitResponse, "higher")
    outer, inner = Coupling(lower, middle), Coupling(middle, higher)
    chances = []
    for z2, z1 in product((0, 1), repeat=2):
        chance = inner.lower_given(z2)
        cases = ((1 - chance, outer.lower_given(0)), (chance, outer.lower_given(1)))
        both_zero, both_one = (weight * (lower_chance if z1 else 1 - lower_chance) for weight, lower_chance in cases)
        # If the pair (z1, z2) has probability 0 for both bits, its conditional probability is arbitrary.
        chances.append(both_one / (both_zero + both_one) if both_zero + both_one else Fraction(z2))
    return chances


def largest_bit_ratio(distribution_of_zero: PairDistribution, distribution_of_one: PairDistribution) -> Fraction:
    """Return exp(epsilon) of a pair of responses: the largest ratio, in either direction, of the pair's probabilities
    for the bits 0 and 1.

    >>> pair = Coupling(BitResponse.permanent("1/2"), BitResponse.permanent("1/4"))
    >>> largest_bit_ratio(pair.joint(0), pair.joint(1))
    Fraction(7, 1)
    """
    mapping(distribution_of_zero, "distribution_of_zero")
    mapping(distribution_of_one, "distribution_of_one")
    ratios = [
        distribution_of_zero[pair] / distribution_of_one[pair]
        for pair in distribution_of_zero
        if distribution_of_one[pair]
    ]
    if not ratios or min(ratios) <= 0:
        raise OutOfRange(
            "both distributions must have positive probabilities for the same pairs",
            came=f"{distribution_of_zero} and {distribution_of_one}",
            where="largest_bit_ratio",
            remedy="Pass coupling.joint(0) and coupling.joint(1).",
        )
    return max(max(ratio, 1 / ratio) for ratio in ratios)


def respond(bits: Any, response: BitResponse, *, randomness: Randomness | None = None) -> Bits:
    """Draw a new response to each bit. To draw permanent responses, pass the true bits; to draw reports, pass the
    permanent responses as bits.

    Args:
        bits: Array of 0 and 1, of any shape.
        response: Probabilities of the response.
        randomness: Source of random bits, by default the operating system.

    Source: [koufogiannis2015], equations (43) and (44).

    >>> respond(np.ones((2, 3), bool), BitResponse.permanent("1/2")).shape
    (2, 3)
    """
    instance(response, BitResponse, "response")
    truth = as_bits(bits, "bits")
    return draw_bits(truth.view(np.uint8), [response.zero, response.one], secure(randomness))


def relax(
    bits: Any,
    responses: Any,
    from_response: BitResponse,
    to_response: BitResponse,
    *,
    randomness: Randomness | None = None,
) -> Bits:
    """Draw responses at a higher epsilon, given responses at a lower one; both together satisfy the higher epsilon.

    Args:
        bits: Bits to which ``responses`` belong: the true bits if ``responses`` are permanent responses, and the
            permanent responses if ``responses`` are reports.
        responses: Responses drawn by ``from_response``, of the same shape.
        from_response: Distribution of ``responses``; it must be a refinement of ``to_response``.
        to_response: Distribution of the new responses.
        randomness: Source of random bits, by default the operating system.

    Raises:
        OutOfRange: if ``from_response`` is no refinement of ``to_response``, or if ``bits`` and ``responses`` have
            different shapes.

    >>> bits, lower, higher = np.zeros(4, bool), BitResponse.permanent("1/2"), BitResponse.permanent("1/4")
    >>> relax(bits, respond(bits, lower), from_response=lower, to_response=higher).shape
    (4,)
    """
    instance(from_response, BitResponse, "from_response")
    instance(to_response, BitResponse, "to_response")
    pair = Coupling(from_response, to_response)
    # The chance of the response 1 for each bit and earlier response, at the index 2 bit + response
    chances = [pair.higher_given(bit, z) for bit in (0, 1) for z in (0, 1)]
    true, reported = as_bits(bits, "bits"), as_bits(responses, "responses")
    if true.shape != reported.shape:
        raise OutOfRange(
            "bits and responses must have the same shape",
            came=f"{true.shape} and {reported.shape}",
            remedy="Pass the responses to these bits.",
        )
    return draw_bits(true.view(np.uint8) * np.uint8(2) + reported, chances, secure(randomness))


def tighten(
    responses: Any, from_response: BitResponse, to_response: BitResponse, *, randomness: Randomness | None = None
) -> Bits:
    """Draw responses at a lower epsilon from responses at a higher one; this needs no bits and costs no privacy.

    Raises:
        OutOfRange: if ``to_response`` is no refinement of ``from_response``.
    """
    instance(from_response, BitResponse, "from_response")
    instance(to_response, BitResponse, "to_response")
    pair = Coupling(to_response, from_response)
    bits = as_bits(responses, "responses")
    return draw_bits(bits.view(np.uint8), [pair.lower_given(0), pair.lower_given(1)], secure(randomness))
