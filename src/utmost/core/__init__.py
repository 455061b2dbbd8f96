"""Numbers, laws of noise, joint laws, exact draws: no data."""
