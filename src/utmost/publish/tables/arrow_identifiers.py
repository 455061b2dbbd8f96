"""Arrow columns as identifiers: which types can say whose a row is, and how they are read."""

from typing import Any

import numpy as np

from utmost.errors import BadTable, Unsupported
from utmost.laws.sampling.item_words import Identifiers
from utmost.publish.tables.extra import extra


def arrow_identifiers(column: Any, name: str) -> Identifiers:
    """The identifiers in an Arrow array: text, bytes or integers."""
    arrow, kind = extra("pyarrow", "tables"), column.type
    if column.null_count:
        raise BadTable("every row must have an identifier", came="a row without one", where=f"column {name!r}")
    check_identifier(kind, name)
    if arrow.types.is_dictionary(kind):
        return arrow_identifiers(column.cast(kind.value_type), name)
    if arrow.types.is_integer(kind):
        return Identifiers.of(np.asarray(column.to_numpy(zero_copy_only=False)))
    text = is_text(kind)
    whole = column.cast(arrow.large_string() if text else arrow.large_binary())
    _, offsets, data = whole.buffers()
    ends = np.frombuffer(offsets, np.int64)[whole.offset : whole.offset + len(whole) + 1]
    return Identifiers.of_buffers(ends, b"" if data is None else data, "text" if text else "bytes")


def check_identifier(kind: Any, name: str) -> None:
    """Check that a column of this Arrow type can say which item a row is."""
    kinds = extra("pyarrow", "tables").types
    inner = kind.value_type if kinds.is_dictionary(kind) else kind
    if not (is_text(inner) or kinds.is_integer(inner) or kinds.is_binary(inner) or kinds.is_large_binary(inner)):
        raise Unsupported(
            "identifiers must be text, bytes or integers",
            came=str(kind),
            where=f"column {name!r}",
            remedy="Cast the column to one of them.",
        )


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    kinds = extra("pyarrow", "tables").types
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))
