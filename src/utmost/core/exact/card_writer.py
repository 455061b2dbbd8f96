"""Who writes the cards that notebooks show: a writer that knows every noun, and so stands above all of them.

`utmost/__init__.py` sets it, once.
"""

from collections.abc import Callable
from html import escape
from typing import Any


def plain_card(value: object) -> str:
    """The text of a value, as HTML."""
    return f"<code>{escape(repr(value))}</code>"


write_card: Callable[[Any], str] = plain_card
