"""Public statements of releases, and their check: computed again from their facts and compared."""
