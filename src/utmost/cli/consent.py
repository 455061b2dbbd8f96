"""What the library warns of, on the command line: a level that protects nobody needs a yes."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from utmost.errors import LittleProtection, OutOfRange, RowsObserved


@contextmanager
def protected(yes: bool) -> Iterator[None]:
    """Refuse a level at which practically nobody is protected, unless the user said yes; before anything is drawn.

    Raises:
        OutOfRange: where the library warns of `LittleProtection`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsObserved)  # the statement says it, on the screen and in the file
        warnings.simplefilter("ignore" if yes else "error", LittleProtection)
        try:
            yield
        except LittleProtection as warning:
            raise OutOfRange(str(warning).rstrip("."), mend="Or pass --yes to go on all the same.") from None
