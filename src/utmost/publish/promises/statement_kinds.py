"""Names of the kinds of statements in a file, and the format of all documents.

This file has only names and numbers, so that finding the kind of a file imports no code that writes it.
"""

import re
from collections.abc import Mapping
from typing import Any

from utmost.errors import BadTable, Unsupported

STATEMENT_FORMAT = 1
"""The format of every kind of document."""

STATEMENT_KIND = "utmost statement"
SUMS_TABLE_KIND = "utmost table of sums"
MEASURES_KIND = "utmost table of measures"
DETAILED_KIND = "utmost release in two stages"
CLEAN_KIND = "utmost clean table"
WITHHELD_KIND = "utmost withheld table"
ANSWERS_KIND = "utmost answers"
NOISY_TABLE_KIND = "utmost table of declared noise"

KINDS_BESIDE_TABLES = frozenset(
    {
        STATEMENT_KIND,
        SUMS_TABLE_KIND,
        MEASURES_KIND,
        CLEAN_KIND,
        WITHHELD_KIND,
        ANSWERS_KIND,
        NOISY_TABLE_KIND,
    }
)
"""The kinds of statements that are files beside a table."""


def noise_kind(document: Mapping[str, Any]) -> str:
    """Return the kind of noise in a statement's promise; "" for a document without one."""
    promise = document.get("promise")
    noise = promise.get("noise") if isinstance(promise, Mapping) else None
    kind = noise.get("kind") if isinstance(noise, Mapping) else None
    return kind if isinstance(kind, str) else ""


def is_of_sums(document: Mapping[str, Any]) -> bool:
    return document.get("kind") == STATEMENT_KIND and noise_kind(document) == "sums"


def is_whole(document: Any) -> bool:
    """Whether a document is a complete release without a table beside it: sums of a plan, or two stages."""
    if not isinstance(document, Mapping):
        return False
    return document.get("kind") in (DETAILED_KIND,) or (is_of_sums(document) and "sums" in document)


VERSION_PATTERN = re.compile(r"[0-9]+(\.[0-9]+){1,3}((a|b|rc|\.dev|\.post)[0-9]+)*(\+[0-9a-z]{1,20})?")
"""The form of a version number of utmost."""


def check_format(document: Mapping[str, Any], noun: str, where: str = "") -> None:
    """Check that a document has the current format; the error Unsupported names the version that wrote it."""
    form, version, place = document.get("format"), document.get("utmost"), f"{where}, 'format'" if where else "format"
    if type(form) is not int:
        raise BadTable(f"the format of {noun} must be an integer", came=type(form).__name__, where=place)
    if form != STATEMENT_FORMAT:
        is_known = isinstance(version, str) and VERSION_PATTERN.fullmatch(version)
        wrote = f"Version {version} of utmost" if is_known else "Another version of utmost"
        remedy = f"{wrote} wrote the file: read the file with that version."
        raise Unsupported(f"the format of {noun} must be {STATEMENT_FORMAT}", came=form, where=place, remedy=remedy)
