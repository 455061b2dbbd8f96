"""Privacy types, smallest epsilons and trade-off curves: which privacy level a mechanism satisfies."""
