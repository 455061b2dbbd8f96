"""Lower bounds on the error of a workload, and their certificates."""
