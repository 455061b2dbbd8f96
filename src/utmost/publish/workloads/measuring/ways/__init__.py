"""Ways to measure, one file for each: its sums, their charge, variances, estimates and bounds."""
