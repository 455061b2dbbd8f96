"""The figures, theorems and numbers of four papers, recomputed and compared with the print."""
