"""Dataframes of any library, and the interface by which they are read and made."""
