"""The unit of privacy: whom a promise protects, and how much one such individual can change a table."""
