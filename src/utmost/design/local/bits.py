"""Randomised response to bits: the paper's maps f and g, their coupling, exact draws, and one step between levels.

**Two responses to one bit that together lose what the looser one loses.**

The stricter response is drawn from the looser one alone, so that it reveals nothing new. That is possible exactly when
the stricter response is a refinement of the looser one, and then in one way only.
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
    """Draw an independent bit for each state k that is 1 with probability ``chances[k]``.

    A uniform number U is drawn as far as it takes to know which of the chances it is below; the bit is [U < chance of
    its own state]. The numbers drawn are the same whatever the states are.

    Args:
        states: Array of any shape, with values below the number of chances.
        chances: Fractions, or numbers known to any precision.

    Cost: about 4 ns a bit.

    >>> from utmost.testing import SeededRandomness
    >>> draw_bits(np.array([0, 1], np.uint8), [Fraction(0), Fraction(1)], SeededRandomness(1)).tolist()
    [False, True]
    """
    reals = [partial(Interval.of, chance) if isinstance(chance, Fraction) else chance for chance in chances]
    order = sorted(range(len(reals)), key=lambda k: reals[k](_SORTING_BITS).middle)
    passed = Categorical(lambda bits: [reals[k](bits) for k in order], word_bits=_WORD_BITS, lookup=True)
    # is_one[k, j]: whether U, having passed j of the chances in their order, is below that of state k.
    is_one = np.array([[j <= order.index(k) for j in range(len(order) + 1)] for k in range(len(order))]).reshape(-1)
    drawn = np.empty(states.shape, np.bool_)
    flat, row = drawn.reshape(-1), states.reshape(-1)
    width = np.uint8(len(order) + 1)
    for start in range(0, row.size, CHUNK):
        part = row[start : start + CHUNK]
        flat[start : start + CHUNK] = is_one.take(part * width + passed.draw(part.size, randomness), mode="clip")
    return drawn


def as_bits(values: object, name: str) -> Bits:
    """An array of bits.

    Raises:
        NotANumber: for anything but bools and the integers 0 and 1.

    >>> as_bits([[0, 1]], "bits")
    array([[False,  True]])
    """
    array = plain_array(values, name)
    if array.dtype == np.bool_:
        return array
    if array.dtype.kind not in "iu" or (array.size and not 0 <= array.min() <= array.max() <= 1):
        raise NotANumber(f"{name} must be made of bits, 0 and 1", came=_kind(array))
    return array.astype(np.bool_)


def _kind(array: NDArray[Any]) -> str:
    """The description of wrong bits for messages: their type, or the place of the first wrong one; never a value."""
    if array.dtype.kind not in "iu":
        return f"an array of {array.dtype}"
    place = np.unravel_index(int(np.argmax((array < 0) | (array > 1))), array.shape)
    return f"another integer at [{', '.join(map(str, place))}]"


def check_same_shape(bits: Bits, responses: Bits) -> None:
    """Check that there is one response for each bit.

    Raises:
        OutOfRange: where there is not.
    """
    if bits.shape != responses.shape:
        raise OutOfRange("bits and responses must have one shape", came=f"{bits.shape} and {responses.shape}")


@dataclass(frozen=True, slots=True)
class BitResponse:
    """A response that is 1 with probability ``one`` where the bit is 1, and ``zero`` where it is 0.

    Args:
        one: Beta in the paper.
        zero: Gamma in the paper, with 0 < zero < one < 1.

    Raises:
        OutOfRange: for other probabilities.

    Source: [koufogiannis2015], equations (43) and (44).

    >>> BitResponse("3/4", "1/4").level
    level(alpha='1/3')
    """

    one: Fraction
    zero: Fraction

    def __init__(self, one: Number, zero: Number) -> None:
        beta, gamma = exact(one, "one"), exact(zero, "zero")
        if not 0 < gamma < beta < 1:
            raise OutOfRange("a response needs 0 < zero < one < 1", came=f"one={one}, zero={zero}", where="BitResponse")
        object.__setattr__(self, "one", beta)
        object.__setattr__(self, "zero", gamma)

    @classmethod
    def permanent(cls, a: Number) -> "BitResponse":
        """The map f: a fair coin with probability ``a``, the bit itself otherwise.

        Raises:
            OutOfRange: unless 0 < a < 1.

        >>> BitResponse.permanent("1/2")
        BitResponse(one=Fraction(3, 4), zero=Fraction(1, 4))
        """
        share = between_0_and_1(a, "a", "BitResponse.permanent")
        return cls(1 - share / 2, share / 2)

    @classmethod
    def of_word(
        cls, hashes: int, epsilon: Number | Level | None = None, *, alpha: Number | None = None
    ) -> "BitResponse":
        """The map f at which a word that sets so many bits loses a level: a = 2/(1 + e^(epsilon/2h)), rounded up.

        The parameter is a fraction of 2^-60, so that a word loses at most the level, and hardly less.

        Raises:
            NotALevel: for what is no level. OutOfRange: for a level at which a would not lie between 0 and 1.

        >>> BitResponse.of_word(2, alpha="1/81"), BitResponse.of_word(1, epsilon=2).level_of_value(1) < level(2)
        (BitResponse(one=Fraction(3, 4), zero=Fraction(1, 4)), True)
        """
        bit = level(epsilon, alpha).scaled(Fraction(1, 2 * natural(hashes, "hashes", least=1)))
        if bit.is_rational:
            return cls.permanent(2 * bit.alpha_fraction() / (1 + bit.alpha_fraction()))
        alpha_above = bit.alpha_interval(192).upper
        return cls.permanent(Fraction(-(-2 * alpha_above * _SHARE_STEPS // (1 + alpha_above)), _SHARE_STEPS))

    def of(self, bit: int) -> Fraction:
        """P(response = 1) for a bit."""
        bit = integer(bit, "bit")
        return self.one if bit else self.zero

    def then(self, after: "BitResponse") -> "BitResponse":
        """The response to this response: first this, then ``after``.

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
        """The level of a value that sets ``hashes`` bits of a Bloom filter, against any other such value.

        At most ``hashes`` bits go from 1 to 0 and as many from 0 to 1, so the loss is
        hashes (ln(one/zero) + ln((1-zero)/(1-one))).

        >>> BitResponse.permanent("1/2").level_of_value(2)
        level(alpha='1/81')
        """
        number = natural(hashes, "hashes", least=1)
        return Level.of_alpha(self.zero / self.one * (1 - self.one) / (1 - self.zero)).scaled(number)

    @property
    def channel(self) -> Channel:
        """Rows are the bits 0 and 1, columns the responses 0 and 1."""
        return Channel([[1 - self.zero, self.zero], [1 - self.one, self.one]])


PairLaw = dict[tuple[int, int], Fraction]
"""P(strict = z1, loose = z2) by (z1, z2)."""


@dataclass(frozen=True, slots=True)
class Coupling:
    r"""The joint law of a strict and a loose response in which the strict one depends on the loose one only.

    With (b1, g1) and (b2, g2) the probabilities of the two, P(z1 = 1 | z2) is

    .. math:: k_0 = \frac{g_1 b_2 - b_1 g_2}{b_2 - g_2} \text{ for } z_2 = 0, \qquad
        k_1 = \frac{b_1 (1 - g_2) - g_1 (1 - b_2)}{b_2 - g_2} \text{ for } z_2 = 1.

    For the map f with a1 > a2 this is: z1 = z2 with probability (1 - a1)/(1 - a2), else a fair coin.

    Args:
        strict, loose: The two responses.

    Raises:
        OutOfRange: where the strict response is no refinement of the loose one: neither one/zero nor (1-zero)/(1-one)
            may be larger for the strict one.

    >>> pair = Coupling(BitResponse.permanent("1/2"), BitResponse.permanent("1/4"))
    >>> pair.strict_given(1), pair.strict_given(0)
    (Fraction(5, 6), Fraction(1, 6))
    >>> pair.loose_given(bit=1, strict=0)
    Fraction(7, 12)
    """

    strict: BitResponse
    loose: BitResponse

    def __post_init__(self) -> None:
        for name, response in (("strict", self.strict), ("loose", self.loose)):
            if not isinstance(response, BitResponse):
                raise wrong_kind(name, "a BitResponse", response)
        if not (self.strict_given(0) >= 0 and self.strict_given(1) <= 1):
            raise OutOfRange(
                "neither one/zero nor (1-zero)/(1-one) may be larger for the strict response than for the loose one",
                came=f"strict {self.strict}, loose {self.loose}",
                where="Coupling",
            )

    def strict_given(self, loose: int) -> Fraction:
        """P(strict = 1 | loose), whatever the bit is."""
        (b1, g1), (b2, g2) = (self.strict.one, self.strict.zero), (self.loose.one, self.loose.zero)
        spread = b2 - g2
        return (b1 * (1 - g2) - g1 * (1 - b2)) / spread if loose else (g1 * b2 - b1 * g2) / spread

    def loose_given(self, bit: int, strict: int) -> Fraction:
        """P(loose = 1 | strict) for a bit, by Bayes' rule: what relaxing a response needs."""
        law = self.joint(bit)
        return law[strict, 1] / (law[strict, 0] + law[strict, 1])

    def joint(self, bit: int) -> PairLaw:
        """P(strict = z1, loose = z2) for a bit."""
        law = {}
        for z1, z2 in product((0, 1), repeat=2):
            loose, strict_chance = self.loose.of(bit), self.strict_given(z2)
            law[z1, z2] = (loose if z2 else 1 - loose) * (strict_chance if z1 else 1 - strict_chance)
        return law


def between(strict: BitResponse, at: BitResponse, loose: BitResponse) -> list[Fraction]:
    """P(response at ``at`` = 1 | loose = z2, strict = z1), by 2 z2 + z1: a response in between, without the bit.

    >>> f = BitResponse.permanent
    >>> [str(p) for p in between(f("1/2"), f("1/4"), f("1/8"))]
    ['1/66', '5/18', '13/18', '65/66']
    """
    instance(strict, BitResponse, "strict")
    instance(at, BitResponse, "at")
    instance(loose, BitResponse, "loose")
    outer, inner = Coupling(strict, at), Coupling(at, loose)
    chances = []
    for z2, z1 in product((0, 1), repeat=2):
        middle = inner.strict_given(z2)
        ways = ((1 - middle, outer.strict_given(0)), (middle, outer.strict_given(1)))
        both_zero, both_one = (way * (loose_chance if z1 else 1 - loose_chance) for way, loose_chance in ways)
        # A pair that no bit leads to, such as strict = 0 where loose = 1 settles strict, may go anywhere.
        chances.append(both_one / (both_zero + both_one) if both_zero + both_one else Fraction(z2))
    return chances


def largest_bit_ratio(law_of_zero: PairLaw, law_of_one: PairLaw) -> Fraction:
    """The largest quotient of the two laws, either way up: exp of what a pair of responses loses.

    >>> pair = Coupling(BitResponse.permanent("1/2"), BitResponse.permanent("1/4"))
    >>> largest_bit_ratio(pair.joint(0), pair.joint(1))
    Fraction(7, 1)
    """
    mapping(law_of_zero, "law_of_zero")
    mapping(law_of_one, "law_of_one")
    ratios = [law_of_zero[pair] / law_of_one[pair] for pair in law_of_zero if law_of_one[pair]]
    if not ratios or min(ratios) <= 0:
        raise OutOfRange("both laws must have the same pairs, one at least", came="others", where="largest_bit_ratio")
    return max(max(ratio, 1 / ratio) for ratio in ratios)


def respond(bits: Any, response: BitResponse, *, randomness: Randomness | None = None) -> Bits:
    """A fresh response to each bit: the permanent one, or one report of what was memoised.

    Args:
        bits: Array of 0 and 1, of any shape.
        response: Probabilities.
        randomness: Source of random bits, by default the operating system.

    Source: [koufogiannis2015], equations (43) and (44).

    >>> respond(np.ones((2, 3), bool), BitResponse.permanent("1/2")).shape
    (2, 3)
    """
    instance(response, BitResponse, "response")
    truth = as_bits(bits, "bits")
    return draw_bits(truth.view(np.uint8), [response.zero, response.one], secure(randomness))


def relax(
    bits: Any, responses: Any, strict: BitResponse, loose: BitResponse, *, randomness: Randomness | None = None
) -> Bits:
    """Responses at ``loose``, given those at ``strict``: together they lose what those at ``loose`` lose.

    Args:
        bits: Bits of the responses: the true ones for a permanent response, the memoised ones for a report.
        responses: Responses at ``strict``, of the same shape.
        strict, loose: ``strict`` must be a refinement of ``loose``.
        randomness: Source of random bits, by default the operating system.

    Raises:
        OutOfRange: where it is not, and for two shapes.

    >>> bits, strict, loose = np.zeros(4, bool), BitResponse.permanent("1/2"), BitResponse.permanent("1/4")
    >>> relax(bits, respond(bits, strict), strict, loose).shape
    (4,)
    """
    instance(strict, BitResponse, "strict")
    instance(loose, BitResponse, "loose")
    pair = Coupling(strict, loose)
    return given_both(bits, responses, [pair.loose_given(bit, z) for bit in (0, 1) for z in (0, 1)], randomness)


def tighten(responses: Any, strict: BitResponse, loose: BitResponse, *, randomness: Randomness | None = None) -> Bits:
    """Responses at ``strict`` from those at ``loose``, without the bits.

    Raises:
        OutOfRange: where ``strict`` is no refinement of ``loose``.
    """
    instance(strict, BitResponse, "strict")
    instance(loose, BitResponse, "loose")
    pair = Coupling(strict, loose)
    bits = as_bits(responses, "responses")
    return draw_bits(bits.view(np.uint8), [pair.strict_given(0), pair.strict_given(1)], secure(randomness))


def given_both(bits: Any, responses: Any, chances: Sequence[Fraction | Real], randomness: Randomness | None) -> Bits:
    """Draw a new response for each bit and its response, that is 1 with the chance of the two, by 2 bit + response."""
    true, reported = as_bits(bits, "bits"), as_bits(responses, "responses")
    check_same_shape(true, reported)
    return draw_bits(true.view(np.uint8) * np.uint8(2) + reported, chances, secure(randomness))
