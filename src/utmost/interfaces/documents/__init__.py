"""Files of designs, channels, capacities, samplers and published tables: writing, reading and verifying."""
