"""Answers from clients who trust nobody: categories, words, persons answered once."""
