"""Recompute the figures, theorems and numbers of four papers on differential privacy, and compare with the print."""
