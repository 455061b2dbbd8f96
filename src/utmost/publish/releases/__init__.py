"""Make releases of a table: at one level, and later at further levels."""
