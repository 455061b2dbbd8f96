r"""Two responses to one bit that together lose what the looser one loses.

The stricter response is drawn from the looser one alone, so that it tells nothing new. That is possible exactly when
the stricter response is a refinement of the looser one, and then in one way only.
"""

from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from utmost.errors import OutOfRange
from utmost.exact import checked, wrong_kind
from utmost.release.rappor.response import BitResponse

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
        strict, loose: the two responses.

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
        found = {}
        for z1, z2 in product((0, 1), repeat=2):
            loose, kept = self.loose.of(bit), self.strict_given(z2)
            found[z1, z2] = (loose if z2 else 1 - loose) * (kept if z1 else 1 - kept)
        return found


@checked
def between(strict: BitResponse, at: BitResponse, loose: BitResponse) -> list[Fraction]:
    """P(response at ``at`` = 1 | loose = z2, strict = z1), by 2 z2 + z1: a response in between, without the bit.

    >>> f = BitResponse.permanent
    >>> [str(p) for p in between(f("1/2"), f("1/4"), f("1/8"))]
    ['1/66', '5/18', '13/18', '65/66']
    """
    outer, inner = Coupling(strict, at), Coupling(at, loose)
    found = []
    for z2, z1 in product((0, 1), repeat=2):
        middle = inner.strict_given(z2)
        ways = ((1 - middle, outer.strict_given(0)), (middle, outer.strict_given(1)))
        zero, one = (way * (kept if z1 else 1 - kept) for way, kept in ways)
        # A pair that no bit leads to, such as strict = 0 where loose = 1 settles strict, may go anywhere.
        found.append(one / (zero + one) if zero + one else Fraction(z2))
    return found


@checked
def largest_ratio(law_of_zero: PairLaw, law_of_one: PairLaw) -> Fraction:
    """The largest quotient of the two laws, either way up: exp of what a pair of responses loses.

    >>> pair = Coupling(BitResponse.permanent("1/2"), BitResponse.permanent("1/4"))
    >>> largest_ratio(pair.joint(0), pair.joint(1))
    Fraction(7, 1)
    """
    ratios = [law_of_zero[pair] / law_of_one[pair] for pair in law_of_zero if law_of_one[pair]]
    return max(max(ratio, 1 / ratio) for ratio in ratios)
