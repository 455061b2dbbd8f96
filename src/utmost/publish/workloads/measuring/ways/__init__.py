"""Ways to measure, a file each: the sums, their charge, variances, estimates and bounds."""
