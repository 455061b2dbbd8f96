"""The commands, one file each: parse, one library call, print."""

from utmost.provided import own_names

__dir__ = own_names(__name__)
