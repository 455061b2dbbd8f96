"""What is published of a table: once, and at further levels."""
