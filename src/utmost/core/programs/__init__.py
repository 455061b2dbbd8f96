"""Linear programs: a float solver, and exact vertices, duals and Farkas rays refined from its solution."""
