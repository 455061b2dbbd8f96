"""Dataframes of any library, and the one interface through which they are read and made."""
