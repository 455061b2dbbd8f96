"""Convert integers and texts to Arrow and back without importing pandas.

PyArrow's own functions, `pyarrow.array` and `to_numpy`, first import pandas if pandas is installed, and this import
takes a quarter of a second.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.tables.optional_imports import extra


def integers_to_arrow(numbers: NDArray[Any]) -> Any:
    """Return integers as an Arrow array: int32 stays int32, and other types become int64. An int64 array is not
    copied.
    """
    arrow, kind = extra("pyarrow", "tables"), np.int32 if numbers.dtype == np.int32 else np.int64
    content = arrow.py_buffer(np.ascontiguousarray(numbers, dtype=kind))
    return arrow.Array.from_buffers(arrow.from_numpy_dtype(kind), len(numbers), [None, content])


def texts_to_arrow(texts: Sequence[str]) -> Any:
    arrow, encoded = extra("pyarrow", "tables"), [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    buffers = [None, arrow.py_buffer(ends), arrow.py_buffer(b"".join(encoded))]
    return arrow.Array.from_buffers(arrow.large_string(), len(texts), buffers)


def integers_of_arrow(column: Any) -> NDArray[np.int64]:
    """The integers of an Arrow array without missing cells."""
    whole = column.cast("int64")
    return np.frombuffer(whole.buffers()[1] or b"", np.int64)[whole.offset : whole.offset + len(whole)]
