"""Permanent responses that repeat, for tests of what is built on them."""

from typing import Any

from utmost.release.rappor import PermanentResponses
from utmost.testing.randomness import SeededRandomness


def seeded_responses(bits: Any, seed: int | str | bytes) -> PermanentResponses:
    """`PermanentResponses` with bits from a seed. They are not private: the seed takes the noise off again.

    >>> one, other = (seeded_responses([0, 1, 1, 0], seed=7) for _ in range(2))
    >>> one.at("1/2").tolist() == other.at("1/2").tolist()
    True
    """
    responses = object.__new__(PermanentResponses)
    responses._open(bits, SeededRandomness(seed))
    return responses
