"""Seeded randomness and strategies for tests; nothing here may touch a real release."""
