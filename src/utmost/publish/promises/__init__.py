"""Promises: everything that is decided before anybody looks at the data, and the kinds of noise that satisfy them."""
