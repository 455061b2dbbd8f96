"""Linear programs: a float solver, whose solution is refined to exact vertices, duals and Farkas rays."""
