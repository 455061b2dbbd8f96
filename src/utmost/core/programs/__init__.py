"""Linear programs: a solver in floats, carried on to exact vertices, duals and Farkas rays."""
