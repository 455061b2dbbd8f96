"""Read Arrow columns as identifiers, and check that their types are allowed."""

from importlib.util import find_spec
from typing import Any

import numpy as np

from utmost.core.sampling.item_words import Identifiers
from utmost.errors import BadTable, Unsupported
from utmost.tables.frames.arrow_arrays import integers_to_arrow
from utmost.tables.optional_imports import extra


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


_BEYOND_ASCII = 0x80
_IN_ARROW = ("pyarrow", "polars", "pandas")


def text_identifiers(table: Any, name: str) -> Identifiers | None:
    """Read a column of text without missing or blank cells, creating no Python objects; None for any other column."""
    if type(table).__module__.partition(".")[0] not in _IN_ARROW or find_spec("pyarrow") is None:
        return None
    arrow = extra("pyarrow", "tables")
    try:
        column = table[name]
        chunks = arrow.chunked_array(column if hasattr(column, "__arrow_c_stream__") else [column])
    except (arrow.ArrowException, KeyError, TypeError, ValueError, NotImplementedError):
        return None  # for example objects of several types, or a column whose name is no text
    if not len(chunks) or not is_text(chunks.type) or chunks.null_count:
        return None
    whole = chunks.cast(arrow.large_string()).combine_chunks()  # 64-bit offsets have room for all chunks together
    return None if holds_blanks(whole) else arrow_identifiers(whole, name)


def holds_blanks(texts: Any) -> bool:
    """Whether some text is empty or white space. Only a text with a first byte that may be white space is examined
    further.
    """
    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    if (starts[1:] == starts[:-1]).any():
        return True
    if not len(texts):
        return False
    first = np.frombuffer(data, np.uint8)[starts[:-1]]
    # The first byte of white space is at most that of a blank, or outside ASCII.
    doubtful = np.flatnonzero((first <= ord(" ")) | (first >= _BEYOND_ASCII))
    if not doubtful.size:
        return False
    compute = extra("pyarrow.compute", "tables")
    trimmed = compute.utf8_trim_whitespace(texts.take(integers_to_arrow(doubtful)))
    return bool(compute.min(compute.binary_length(trimmed)).as_py() == 0)


def check_identifier(kind: Any, name: str) -> None:
    """Check that a column of this Arrow type can identify items."""
    kinds = extra("pyarrow", "tables").types
    inner = kind.value_type if kinds.is_dictionary(kind) else kind
    if not (is_text(inner) or kinds.is_integer(inner) or kinds.is_binary(inner) or kinds.is_large_binary(inner)):
        raise Unsupported(
            "identifiers must be text, bytes or integers",
            came=str(kind),
            where=f"column {name!r}",
            remedy="Cast the column to text, bytes or integers.",
        )


def is_text(kind: Any) -> bool:
    kinds = extra("pyarrow", "tables").types
    return bool(kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind))
