"""Ledgers on the command line: opening one, publishing, answering, and what is said of it to programs."""
