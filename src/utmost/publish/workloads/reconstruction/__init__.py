"""Estimates of every sum from the noisy ones; whole tables that are nowhere negative."""
