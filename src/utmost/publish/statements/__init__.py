"""Write public statements of releases, and check them: every field is computed again and compared."""
