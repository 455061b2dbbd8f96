"""The command line, the service, figures, documents, exchange with other packages, and helpers for tests."""
