"""Methods of measuring, one file for each: their sums, charge, variances, estimates and bounds."""
