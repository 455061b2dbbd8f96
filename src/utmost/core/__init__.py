"""Numbers, distributions of noise, their joint distributions at several levels, exact draws. No data are read here."""
