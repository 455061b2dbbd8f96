"""Identifiers that differ only in their spelling, such as "000173", "173" and " 000173". Identifiers that differ only
in spelling may belong to one person.
"""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

from utmost.tables.cells.event_codes import TextsInArrow
from utmost.tables.frames.arrow_identifiers import is_text
from utmost.tables.optional_imports import extra


def plain_identifiers(column: Any) -> Any:
    """Strip blanks and leading zeros from Arrow text, and convert it to lower case and to one Unicode form."""
    compute = extra("pyarrow.compute", "tables")
    plain = compute.utf8_normalize(compute.utf8_lower(column), form="NFKC")
    return compute.ascii_ltrim(compute.utf8_trim_whitespace(plain), characters="0")


def similar_identifiers(texts: Sequence[str]) -> int:
    """The number of identifiers that differ from some other identifier only by blanks, leading zeros, capitals or
    Unicode form.

    >>> similar_identifiers(["000173", "173", " 000173", "1730", "b"])
    3
    """
    if isinstance(texts, TextsInArrow):
        if not is_text(texts.column.type):
            return 0
        plain = plain_identifiers(texts.column)
        if plain.equals(texts.column):  # the given identifiers are distinct
            return 0
        counts = plain.value_counts().field("counts").to_numpy()
        return int(counts[counts > 1].sum())
    spelled = Counter(unicodedata.normalize("NFKC", text.lower()).strip().lstrip("0") for text in texts)
    return sum(count for count in spelled.values() if count > 1)
