"""Privacy types, smallest epsilons and trade-off curves: what a mechanism promises."""
