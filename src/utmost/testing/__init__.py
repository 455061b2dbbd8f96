"""Seeded randomness and strategies for tests; nothing here may touch a real release."""

from utmost.testing.randomness import SeededRandomness
from utmost.testing.seeded_gradual import seeded_gradual_release
from utmost.testing.seeded_ledger import seeded_ledger
from utmost.testing.seeded_release import seeded_release
from utmost.testing.seeded_responses import seeded_responses

__all__ = ["SeededRandomness", "seeded_gradual_release", "seeded_ledger", "seeded_release", "seeded_responses"]
