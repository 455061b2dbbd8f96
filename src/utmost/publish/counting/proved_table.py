"""Tables that were counted from people, as they are known before the file of any of them is loaded."""


class ProvedTable:
    """A table that knows its own labels, and what one individual changes; `CountedTable` is one."""

    __slots__ = ()
