"""Replace control characters in text that other people wrote, before a terminal gets it."""

import re

# Control characters of ASCII and Latin-1 except line breaks and tabs, and overrides of the writing direction.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""Replace every character that a terminal would obey instead of showing."""
    # Otherwise a label of a table, or a name in a statement, could overwrite the result of a check.
    return _ACTING.sub("\ufffd", text)
