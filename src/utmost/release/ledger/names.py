"""What may be a name: of a release, a dataset, a request or a reason."""

from utmost.errors import OutOfRange

_LONGEST = 200


def check_name(name: object, what: str) -> str:
    """A name of a release, a dataset or a request: some text on one line.

    Raises:
        OutOfRange: for anything else.

    >>> check_name("admissions 1973", "name")
    'admissions 1973'
    """
    if isinstance(name, str) and 0 < len(name) <= _LONGEST and name.isprintable() and name == name.strip():
        return name
    raise OutOfRange(
        f"{what} must be printable text of 1 to {_LONGEST} characters, without spaces at its ends",
        came=repr(name),
    )
