"""What a strategy measures, a file for each way: its sums, charge, variances, estimates and bounds."""
