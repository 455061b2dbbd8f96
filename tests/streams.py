"""Draws to compare between processes; here, so that a spawned worker can import them."""

from utmost.sampling.bits import SYSTEM


def some_words(randomness):
    """Single words and arrays, as integers; whatever is buffered shows up among the first."""
    return [randomness.word() for _ in range(8)] + randomness.words(8, 64).tolist()


def drawn_elsewhere(_):
    return some_words(SYSTEM)
