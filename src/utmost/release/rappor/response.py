"""Randomised response to one bit: the paper's maps f and g, and how they follow one another."""

from dataclasses import dataclass
from fractions import Fraction

from utmost.channels import Channel
from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked, exact, natural


@dataclass(frozen=True, slots=True)
class BitResponse:
    """A response that is 1 with probability ``one`` where the bit is 1, and ``zero`` where it is 0.

    Args:
        one: beta in the paper.
        zero: gamma in the paper, with 0 < zero < one < 1.

    Raises:
        OutOfRange: for other probabilities.

    Source: koufogiannis2015, equations (43) and (44).

    >>> BitResponse("3/4", "1/4").level
    Level(alpha=1/3)
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
        share = exact(a, "a")
        if not 0 < share < 1:
            raise OutOfRange("a must lie strictly between 0 and 1", came=a, where="BitResponse.permanent")
        return cls(1 - share / 2, share / 2)

    @checked
    def of(self, bit: int) -> Fraction:
        """P(response = 1) for a bit."""
        return self.one if bit else self.zero

    @checked
    def then(self, after: "BitResponse") -> "BitResponse":
        """The response to this response: first this, then ``after``.

        >>> BitResponse.permanent("1/2").then(BitResponse("3/4", "1/2"))
        BitResponse(one=Fraction(11, 16), zero=Fraction(9, 16))
        """
        one, zero = (p * after.one + (1 - p) * after.zero for p in (self.one, self.zero))
        return BitResponse(one, zero)

    @property
    def level(self) -> Level:
        """What one bit loses: the larger of ln(one/zero) and ln((1-zero)/(1-one))."""
        return Level.of_alpha(min(self.zero / self.one, (1 - self.one) / (1 - self.zero)))

    @checked
    def level_of_value(self, hashes: int) -> Level:
        """What a value loses that sets ``hashes`` bits of a Bloom filter, together with any other such value.

        At most ``hashes`` bits go from 1 to 0 and as many from 0 to 1, so the loss is
        hashes (ln(one/zero) + ln((1-zero)/(1-one))).

        >>> BitResponse.permanent("1/2").level_of_value(2)
        Level(alpha=1/3^4)
        """
        number = natural(hashes, "hashes", least=1)
        return Level.of_alpha(self.zero / self.one * (1 - self.one) / (1 - self.zero)).scaled(number)

    @property
    def channel(self) -> Channel:
        """Rows are the bits 0 and 1, columns the responses 0 and 1."""
        return Channel([[1 - self.zero, self.zero], [1 - self.one, self.one]])
