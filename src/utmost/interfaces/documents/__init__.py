"""Write, read and verify files of designs, channels, capacities, samplers and published tables."""
