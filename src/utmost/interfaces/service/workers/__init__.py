"""Processes that do the work of pages, within bounds of time and memory."""
