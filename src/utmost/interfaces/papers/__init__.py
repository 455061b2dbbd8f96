"""The figures and numbers that papers print, computed anew and set beside what is printed."""
