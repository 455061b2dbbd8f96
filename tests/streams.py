"""Draws to compare between processes; here, so that a spawned worker can import them."""

# The stream itself is compared, not what is made of it.
from utmost.core.sampling.random_bits import SYSTEM
from utmost.noise import Geometric
from utmost.sampling import sample

WIDE = Geometric(epsilon="1e-15")
"""Two draws of this noise are equal once in 10^15 times."""


def some_words(randomness):
    """Words and draws, single ones and arrays; whatever is buffered or drawn ahead shows up among them."""
    words = [randomness.word() for _ in range(8)] + randomness.words(8, 64).tolist()
    draws = [sample(WIDE, randomness=randomness) for _ in range(8)] + sample(WIDE, 8, randomness=randomness).tolist()
    return words + [draw % 2**64 for draw in draws]


def drawn_elsewhere(_):
    return some_words(SYSTEM)
