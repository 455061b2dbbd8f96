"""The capacity of a privacy type (the largest leakage of any mechanism of the type), by methods in separate files."""
