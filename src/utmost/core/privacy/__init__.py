"""The unit of privacy: whom a promise protects, and what one of them can change."""
