"""Arrow columns as identifiers: which types can say whose a row is, and how they are read."""

from importlib.util import find_spec
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
    if not (arrow.types.is_string(kind) or arrow.types.is_large_string(kind)):
        column = column.cast(arrow.large_string() if text else arrow.large_binary())
    _, offsets, data = column.buffers()
    places = np.int32 if arrow.types.is_string(column.type) else np.int64
    ends = np.frombuffer(b"" if offsets is None else offsets, places)[column.offset : column.offset + len(column) + 1]
    if not len(column):
        ends = np.zeros(1, np.int64)  # an empty array need have no buffers
    return Identifiers.of_buffers(ends, b"" if data is None else data, "text" if text else "bytes")


_IN_ARROW = ("pyarrow", "polars", "pandas")


def text_identifiers(table: Any, name: str) -> Identifiers | None:
    """The texts of a column of a table in memory, none missing or blank, without a text of Python's.

    Returns:
        None where that is not what the column has, or it cannot be had so: then it is read cell by cell, and refused.
    """
    if type(table).__module__.partition(".")[0] not in _IN_ARROW or find_spec("pyarrow") is None:
        return None
    arrow = extra("pyarrow", "tables")
    try:
        column = table[name]
        chunks = arrow.chunked_array(column if hasattr(column, "__arrow_c_stream__") else [column])
    except (arrow.ArrowException, KeyError, TypeError, ValueError, NotImplementedError):
        return None  # objects of several types, say; or a column whose name is no text
    if not is_text(chunks.type) or chunks.null_count:
        return None
    if chunks.num_chunks != 1:
        chunks = chunks.cast(arrow.large_string())  # whose places hold all chunks together
    identifiers = arrow_identifiers(chunks.combine_chunks() if chunks.num_chunks != 1 else chunks.chunk(0), "")
    return None if _has_blank(identifiers) else identifiers


_BLANK_HEADS = np.zeros(256, bool)
_BLANK_HEADS[[byte for byte in range(128) if chr(byte).isspace()] + [0xC2, 0xE1, 0xE2, 0xE3]] = True
"""With which bytes a text of blanks may begin."""


def _has_blank(texts: Identifiers) -> bool:
    """Whether a text has no letter: only those that begin as such may be, and are read one by one."""
    assert texts.offsets is not None
    starts, ends = texts.offsets[:-1], texts.offsets[1:]
    if (starts == ends).any():
        return True
    heads = np.flatnonzero(_BLANK_HEADS[texts.data[starts]])
    return any(not texts.data[starts[row] : ends[row]].tobytes().decode("utf-8", "replace").strip() for row in heads)


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
