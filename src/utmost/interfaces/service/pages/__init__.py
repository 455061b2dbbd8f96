"""The pages of the service."""
