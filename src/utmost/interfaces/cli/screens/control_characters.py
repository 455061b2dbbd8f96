"""Text of others on one's own terminal: what would move the cursor, change colours or turn writing round is shown."""

import re

# The controls of ASCII and of Latin-1 but for line breaks and tabs, and the overrides of the direction of writing.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""The text with a mark for every character that a terminal would obey instead of showing it.

    A label of a released table, or a name in a statement, could else overwrite what a check says of it.

    >>> harmless("ward\x1b[1A 7"), harmless("Köln")
    ('ward�[1A 7', 'Köln')
    """
    return _ACTING.sub("\ufffd", text)
