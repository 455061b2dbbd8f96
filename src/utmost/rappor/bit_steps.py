"""One step of responses to bits, for whoever holds what it takes: the bits, the responses, or both."""

from typing import Any

import numpy as np

from utmost.exact import checked
from utmost.rappor.bits import BitResponse, Bits, Coupling, as_bits, check_same_shape, draw_bits
from utmost.rappor.thresholded import ThresholdedPair
from utmost.release.values import secure
from utmost.sampling.random_bits import Randomness


@checked
def respond(bits: Any, response: BitResponse, *, randomness: Randomness | None = None) -> Bits:
    """A fresh response to each bit: the permanent one, or one report of what was memoised.

    Args:
        bits: an array of 0 and 1, of any shape.
        response: the probabilities.
        randomness: the operating system's if left out.

    Source: koufogiannis2015, equations (43) and (44).

    >>> respond(np.ones((2, 3), bool), BitResponse.permanent("1/2")).shape
    (2, 3)
    """
    given = as_bits(bits, "bits")
    return draw_bits(given.view(np.uint8), [response.zero, response.one], secure(randomness))


@checked
def relax(
    bits: Any, responses: Any, strict: BitResponse, loose: BitResponse, *, randomness: Randomness | None = None
) -> Bits:
    """Responses at ``loose``, given those at ``strict``: together they lose what those at ``loose`` lose.

    Args:
        bits: what was responded to: the true bits for a permanent response, the memoised ones for a report.
        responses: at ``strict``; of the same shape.
        strict, loose: ``strict`` must be a refinement of ``loose``.
        randomness: the operating system's if left out.

    Raises:
        OutOfRange: where it is not, and for two shapes.

    >>> bits, strict, loose = np.zeros(4, bool), BitResponse.permanent("1/2"), BitResponse.permanent("1/4")
    >>> relax(bits, respond(bits, strict), strict, loose).shape
    (4,)
    """
    pair = Coupling(strict, loose)
    return _given_both(bits, responses, [pair.loose_given(bit, z) for bit in (0, 1) for z in (0, 1)], randomness)


@checked
def relax_thresholded(
    bits: Any, responses: Any, pair: ThresholdedPair, *, randomness: Randomness | None = None
) -> Bits:
    """The same by the noise of the paper's reformulation, which loses more: for comparison, and for two levels only.

    The noise itself is not kept; given the first response and the bit, the second has the law that it would have.
    """
    return _given_both(bits, responses, [pair.loose_given(bit, z) for bit in (0, 1) for z in (0, 1)], randomness)


@checked
def tighten(responses: Any, strict: BitResponse, loose: BitResponse, *, randomness: Randomness | None = None) -> Bits:
    """Responses at ``strict`` from those at ``loose``, without the bits.

    Raises:
        OutOfRange: where ``strict`` is no refinement of ``loose``.
    """
    pair = Coupling(strict, loose)
    given = as_bits(responses, "responses")
    return draw_bits(given.view(np.uint8), [pair.strict_given(0), pair.strict_given(1)], secure(randomness))


def _given_both(bits: Any, responses: Any, chances: Any, randomness: Randomness | None) -> Bits:
    true, said = as_bits(bits, "bits"), as_bits(responses, "responses")
    check_same_shape(true, said)
    return draw_bits(true.view(np.uint8) * np.uint8(2) + said, chances, secure(randomness))
