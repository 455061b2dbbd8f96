"""Store a permanent (memoised) response to each bit for each parameter. All responses to a bit together cost only the
largest of their epsilons.
"""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import integer
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.design.local.bits import BitResponse, Bits, Coupling, as_bits, between, draw_bits

Packed = NDArray[np.uint8]
"""An array of bits, packed eight in a byte."""


class PermanentResponses(ProcessMemory):
    """The bits of one or many clients, with RAPPOR's permanent responses to them at several parameters.

    A response is drawn once for each parameter, and later calls return the same response. Responses at several
    parameters form a Markov chain in which a response with a smaller epsilon depends only on the response with the next
    larger epsilon, so all of them together satisfy the largest epsilon.

    Args:
        bits: Array of 0 and 1, of any shape; it is copied.
        randomness: Source of random bits, by default the operating system.

    Raises:
        NotANumber: if a value is not a bit.

    Guarantee: each *bit* has the level `spent`; a value that sets h bits of a Bloom filter has the level
    `spent_by_value(h)`. Reports drawn from the responses are post-processing, and have no further privacy loss.

    Source: [koufogiannis2015], section 4.1, with the lossless coupling.

    >>> answer = PermanentResponses([[0, 1, 1], [1, 0, 0]])
    >>> first, second = answer.at("1/2"), answer.at("1/4")
    >>> bool((answer.at("1/2") == first).all()), answer.spent, answer.spent_by_value(1)
    (True, level(alpha='1/7'), level(alpha='1/49'))
    """

    __slots__ = ("_bits", "_known", "_randomness", "_shape")

    def __init__(self, bits: Any, *, randomness: Randomness | None = None) -> None:
        self._open(bits, secure(randomness, instead="utmost.testing.seeded_responses"))

    def _open(self, bits: Any, randomness: Randomness) -> None:
        truth = as_bits(bits, "bits")
        self._shape, self._bits = truth.shape, np.packbits(truth)
        self._known: dict[Fraction, Packed] = {}
        self._randomness = randomness

    def at(self, a: Number) -> Bits:
        """Return the responses at a parameter ``a``: a uniform random bit with probability ``a``, and the true bit
        otherwise.

        Raises:
            OutOfRange: if 0 < a < 1 does not hold.
            Unsupported: if the parameter is new and this object was created in another process.
        """
        response = BitResponse.permanent(a)
        share = 2 * response.zero
        with self._alone():
            if share not in self._known:
                self._check_owner()
                self._known[share] = np.packbits(self._drawn(response))
            return self._unpacked(self._known[share])

    def _drawn(self, response: BitResponse) -> Bits:
        share = 2 * response.zero
        # Find the nearest known parameters on both sides; a larger parameter belongs to a lower epsilon.
        lower = min((a for a in self._known if a > share), default=None)
        higher = max((a for a in self._known if a < share), default=None)
        if higher is None:
            true = self._unpacked(self._bits).view(np.uint8)
            if lower is None:
                return draw_bits(true, [response.zero, response.one], self._randomness)
            pair = Coupling(BitResponse.permanent(lower), response)
            states = true * np.uint8(2) + self._unpacked(self._known[lower])
            chances = [pair.higher_given(bit, z) for bit in (0, 1) for z in (0, 1)]
            return draw_bits(states, chances, self._randomness)
        above, at_higher = self._unpacked(self._known[higher]).view(np.uint8), BitResponse.permanent(higher)
        if lower is None:
            pair = Coupling(response, at_higher)
            return draw_bits(above, [pair.lower_given(0), pair.lower_given(1)], self._randomness)
        states = above * np.uint8(2) + self._unpacked(self._known[lower])
        return draw_bits(states, between(BitResponse.permanent(lower), response, at_higher), self._randomness)

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        """The parameters of all responses so far, the largest (smallest epsilon) first."""
        return tuple(sorted(self._known, reverse=True))

    @property
    def spent(self) -> Level | None:
        """The level of one bit for all responses together; None before the first response."""
        return BitResponse.permanent(min(self._known)).level if self._known else None

    def spent_by_value(self, hashes: int) -> Level | None:
        """Return the level of a value that sets ``hashes`` bits, compared with any other such value; None before the
        first response.
        """
        hashes = integer(hashes, "hashes")
        return BitResponse.permanent(min(self._known)).level_of_value(hashes) if self._known else None

    def _unpacked(self, packed: Packed) -> Bits:
        count = int(np.prod(self._shape, dtype=np.int64))
        return np.unpackbits(packed, count=count).view(np.bool_).reshape(self._shape)

    def __repr__(self) -> str:
        return f"PermanentResponses(shape={self._shape}, spent={self.spent})"
