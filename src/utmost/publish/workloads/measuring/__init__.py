"""The ways to measure sums, what one individual changes in them, and their errors."""
