"""Tables of every kind: dataframes, engines and files, read once, checked, and written whole or not at all."""

from utmost.provided import own_names

__dir__ = own_names(__name__)
