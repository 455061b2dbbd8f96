"""Names of releases, datasets and requests: which texts are names, and which two names people would read as one."""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from utmost.errors import OutOfRange

_LONGEST = 200  # characters of the name of a release, dataset, request or reason


def check_name(name: object, what: str) -> str:
    """Check the name of a release, a dataset or a request: printable text on one line; return the name."""
    is_text = isinstance(name, str) and 0 < len(name) <= _LONGEST and name.isprintable() and name == name.strip()
    if is_text and name not in (".", "..", "*"):  # URLs drop the dots, and the star stands for every release
        return str(name)
    raise OutOfRange(
        f'{what} must be printable text of 1 to {_LONGEST} characters, other than ".", ".." and "*", '
        "without spaces at its ends",
        came=repr(name) if isinstance(name, str) else type(name).__name__,
        remedy='Write, for example, "admissions 2026".',
    )


# Characters that Python calls printable, but that fonts draw as nothing.
_INVISIBLE = {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C}
_INVISIBLE |= {0x180D, 0x180F, 0x2800}


# Letters of Cyrillic and Greek that fonts draw as a Latin letter, and that letter. Look-alikes within Latin, such as l
# and 1 or rn and m, and other alphabets are not compared.
_CYRILLIC = "АВЕЅІЈКМНОРСТУХҮԚԜаеѕіјкорсухһԁԛԝӏ", "ABESIJKMHOPCTYXYQWaesijkopcyxhdqwl"
_GREEK = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹαικνορυχϲϳγ", "ABEZHIKMNOPTYXCaikvopuxcjy"
_LATIN_LETTER = str.maketrans(*map("".join, zip(_CYRILLIC, _GREEK, strict=True)))


SAME_IN_NAMES = "case, look-alike letters and invisible characters"
"""The differences by which no name counts as another one."""


@lru_cache(maxsize=1 << 14)
def name_as_drawn(name: str) -> str:
    """Return a name as `name_as_read`, with Latin letters in place of Cyrillic and Greek ones that look alike."""
    return name_as_read(unicodedata.normalize("NFKC", name).translate(_LATIN_LETTER))


def mixes_alphabets(name: str) -> bool:
    """Check whether a word of a name has letters of two of the alphabets Latin, Cyrillic and Greek."""
    alphabets = [{unicodedata.name(letter, "").partition(" ")[0] for letter in word} for word in name.split()]
    return any(len(found & {"LATIN", "CYRILLIC", "GREEK"}) > 1 for found in alphabets)


@lru_cache(maxsize=1 << 14)
def name_as_read(name: str) -> str:
    """Return a name as people read it: without case, invisible characters, and differences of Unicode normal form."""
    plain, before = name, None
    # Removing invisible characters can make a new composed letter, and normalising can make invisible ones.
    while plain != before:
        before = plain
        seen = "".join(letter for letter in plain if ord(letter) not in _INVISIBLE)
        plain = " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold()).split())
    return plain


def lookalike_of(name: str, known: Iterable[str]) -> str | None:
    """Return a known name that people would read as ``name``; None if there is none, or if ``name`` itself is known."""
    # Both are compared: folding letters first would make a difference of the case of Cyrillic letters.
    there, read, drawn = set(known), name_as_read(name), name_as_drawn(name)
    twins = (other for other in there if name_as_read(other) == read or name_as_drawn(other) == drawn)
    return None if name in there else min(twins, default=None)


def check_name_differs(name: str, known: Iterable[str]) -> None:
    """Check that the name of a new release does not look like a known one: readers would confuse the two releases."""
    if lookalike_of(name, known) is not None:
        required = f"the name of a release must differ from other names by more than {SAME_IN_NAMES}"
        remedy = "Write the name exactly as it was first written; or choose a name that reads differently."
        raise OutOfRange(required, came=ascii(name), where="name", remedy=remedy)
