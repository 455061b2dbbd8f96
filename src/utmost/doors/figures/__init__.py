"""The papers' pictures, drawn anew with matplotlib (the extra ``[plot]``): one file a kind of picture."""

from utmost.provided import own_names

__dir__ = own_names(__name__)
