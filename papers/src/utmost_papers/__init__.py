"""Recompute the figures, theorems and numbers of four papers on differential privacy, and compare them with the printed
ones.
"""
