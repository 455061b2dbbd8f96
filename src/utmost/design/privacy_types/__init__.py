"""Decide which privacy level a mechanism satisfies: privacy types, smallest epsilons and trade-off curves."""
