"""The capacities of a privacy type: the most that any of its mechanisms leaks, one file for each route to them."""
