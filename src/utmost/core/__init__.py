"""Numbers, distributions of noise at one or several levels, and exact draws of noise. No data are read here."""
