"""The best mechanism for secrets and their distances, why it is the best, and what any mechanism leaks."""
