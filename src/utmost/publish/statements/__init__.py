"""What is said publicly of a release, and its check: built again from its facts and compared."""
