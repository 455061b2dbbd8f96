"""The figures, theorems and numbers of four papers, computed anew and set beside what is printed."""
