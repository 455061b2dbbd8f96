"""Build, combine, restrict and draw from finite mechanisms, stored as row-stochastic matrices."""
