"""The command line: one file for each command, which parses, calls the library, and prints."""
