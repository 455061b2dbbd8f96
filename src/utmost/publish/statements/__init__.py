"""Public statements of releases, and their check: built again from their facts and compared."""
