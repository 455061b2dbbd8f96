"""Public releases of a table: once, and at further levels."""
