"""Privacy types, smallest epsilons and trade-off curves: what was promised."""
