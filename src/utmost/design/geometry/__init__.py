"""Compare channels by refinement, list vertices and kernels of a privacy type, and decide universal optimality."""
