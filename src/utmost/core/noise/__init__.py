"""Distributions of additive noise on the integers and on the reals. `core/sampling` draws from them."""
