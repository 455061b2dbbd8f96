"""Screens of the commands on a terminal."""
