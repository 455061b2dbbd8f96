"""Random bits, certified thresholds, and exact draws from a distribution."""
