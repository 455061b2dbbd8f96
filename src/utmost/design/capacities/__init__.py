"""The capacity of a privacy type (the largest leakage of any mechanism of the type), and the methods that compute
it.
"""
