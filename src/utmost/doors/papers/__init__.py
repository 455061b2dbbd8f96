"""The figures and numbers that papers print, computed anew and set beside what is printed."""

from utmost.provided import own_names

__dir__ = own_names(__name__)
