"""The function that writes the HTML card of a value in a notebook.

`utmost/__init__.py` sets `write_card`, because cards need every class of the package.
"""

from collections.abc import Callable
from typing import Any


def plain_card(value: object) -> str:
    from html import escape  # a large module, which `import utmost` does not need

    return f"<code>{escape(repr(value))}</code>"


write_card: Callable[[Any], str] = plain_card
