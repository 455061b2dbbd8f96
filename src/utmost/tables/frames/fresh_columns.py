"""Copy public columns into fresh memory, so that a release holds no cell outside the published table.

A slice of a column refers to the memory of the whole column, and a missing cell may still have its former value in
memory, hidden by the mark of a missing cell. Files and pickles of the column would contain these bytes.
"""

from typing import Any

import numpy as np

from utmost.tables.optional_imports import extra

_ROWS = 1 << 20
"""Rows that are copied at once."""


def fresh_column(column: Any) -> Any:
    """Return a column of a dict in fresh memory: an array, or a column of Arrow, pandas or Polars. Lists and other
    columns are returned unchanged.
    """
    if isinstance(column, np.ndarray):
        return _fresh_array(column)
    module = type(column).__module__.partition(".")[0]
    if module == "pyarrow":
        return fresh_arrow(column) if hasattr(column, "null_count") else column
    if module == "polars" and hasattr(column, "drop_nulls"):
        return fresh_polars(column)
    if module == "narwhals" and hasattr(column, "to_native"):
        return fresh_column(column.to_native())
    if any(kind.__module__.partition(".")[0] == "pandas" for kind in type(column).__mro__) and hasattr(column, "dtype"):
        return _fresh_series(column)
    return column


def _fresh_array(column: Any) -> Any:
    if hasattr(column, "filled"):  # a masked array; the test does not import numpy.ma
        mask = np.array(np.ma.getmaskarray(column))
        cells = np.array(np.ma.getdata(column))
        cells[mask] = None if cells.dtype == object else np.zeros((), cells.dtype)
        return np.ma.MaskedArray(_fresh_array(cells), mask=mask)
    if column.dtype.kind in "US" and type(column) is np.ndarray and column.size:
        # The type's width may come from a longer text in a row that was removed.
        width = max(1, int(np.strings.str_len(column).max()))
        return column.astype(f"{column.dtype.kind}{width}")
    return column if column.base is None else column.copy()


def fresh_arrow(column: Any) -> Any:
    """Return an Arrow array, or a chunked array, in fresh memory and without the metadata of nested fields. The chunks
    of the result do not depend on those of ``column``.
    """
    arrow = extra("pyarrow", "tables")
    if not isinstance(column, arrow.ChunkedArray):
        return _fresh_part(arrow, column)
    if arrow.types.is_dictionary(column.type):
        decoded = [_decoded(arrow, chunk) for chunk in column.chunks]
        whole = arrow.chunked_array(decoded, None if decoded else column.type.value_type)
        return fresh_arrow(whole).dictionary_encode()
    if column.num_chunks == 1 and _is_exact(arrow, column.chunk(0)):
        return column
    # A Feather file has one dictionary for each column, also for one inside lists.
    rows = max(1, len(column)) if "dictionary" in str(column.type) else _ROWS
    parts: list[Any] = []
    for start in range(0, max(1, len(column)), rows):
        block = column.slice(start, rows).combine_chunks()
        parts.extend(block.chunks if isinstance(block, arrow.ChunkedArray) else [block])
    return arrow.chunked_array([_fresh_part(arrow, part) for part in parts])


def bare_type(kind: Any) -> Any:
    """Return the Arrow type of a fresh column of this type: without the metadata of nested fields."""
    return fresh_part(extra("pyarrow", "tables").nulls(0, kind)).type


def fresh_part(array: Any) -> Any:
    """Return an Arrow array in fresh memory."""
    return _fresh_part(extra("pyarrow", "tables"), array)


def _is_exact(arrow: Any, array: Any) -> bool:
    """Whether the array has no missing cell, and its buffer has only the bytes of its numbers."""
    if not arrow.types.is_primitive(array.type) or array.type.bit_width % 8 or array.null_count or array.offset:
        return False
    validity, content = array.buffers()
    return validity is None and content is not None and content.size == len(array) * array.type.bit_width // 8


def _fresh_part(arrow: Any, array: Any) -> Any:
    types, kind = arrow.types, array.type
    compute = extra("pyarrow.compute", "tables")
    if types.is_null(kind):
        return arrow.nulls(len(array))
    if isinstance(kind, arrow.BaseExtensionType):
        storage = _fresh_part(arrow, array.storage)
        return arrow.ExtensionArray.from_storage(kind, storage.cast(kind.storage_type))
    if types.is_dictionary(kind):
        return _fresh_part(arrow, _decoded(arrow, array)).dictionary_encode()
    if types.is_string_view(kind) or types.is_binary_view(kind):
        large = arrow.large_string() if types.is_string_view(kind) else arrow.large_binary()
        return _fresh_part(arrow, array.cast(large)).cast(kind)
    if types.is_run_end_encoded(kind):
        decoded = _fresh_part(arrow, compute.run_end_decode(array))
        return compute.run_end_encode(decoded, run_end_type=kind.run_end_type)
    if types.is_union(kind):
        return _fresh_union(arrow, array)
    if types.is_nested(kind):
        return _fresh_nested(arrow, array)
    return array.drop_null().take(_places(arrow, array))


def _decoded(arrow: Any, array: Any) -> Any:
    """Return the cells of a dictionary array. Views of texts, which Arrow cannot take by index, become texts."""
    values = array.dictionary
    if arrow.types.is_string_view(values.type) or arrow.types.is_binary_view(values.type):
        values = values.cast(arrow.large_string() if arrow.types.is_string_view(values.type) else arrow.large_binary())
    return values.take(array.indices)


def _places(arrow: Any, array: Any) -> Any:
    """Return the position of each cell among the cells that are not missing, and null for a missing cell."""
    # Arrow's own scalars and lists would import pandas.
    compute, valid = extra("pyarrow.compute", "tables"), array.is_valid()
    ones = valid.cast(arrow.int64())
    return compute.if_else(
        valid, compute.subtract(compute.cumulative_sum(ones), ones), arrow.nulls(len(array), "int64")
    )


def _fresh_nested(arrow: Any, array: Any) -> Any:
    types, kind = arrow.types, array.type
    gone = array.is_null() if array.null_count else None
    if types.is_struct(kind):
        names = [kind.field(at).name for at in range(kind.num_fields)]
        if not names:
            return array.drop_null().take(_places(arrow, array))
        children = [_fresh_part(arrow, child) for child in array.flatten()]
        return arrow.StructArray.from_arrays(children, names=names, mask=gone)
    if types.is_map(kind):
        pairs = _fresh_nested(arrow, array.cast(arrow.list_(arrow.struct([kind.key_field, kind.item_field]))))
        keys, items = pairs.values.flatten()
        return arrow.MapArray.from_arrays(pairs.offsets, keys, items, mask=gone)
    if types.is_fixed_size_list(kind):
        size, places = kind.list_size, _places(arrow, array)
        starts = np.asarray(places.fill_null(0).to_numpy(zero_copy_only=False), np.int64)
        content = _fresh_part(arrow, array.flatten())
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        each = np.where(valid[:, None], starts[:, None] * size + np.arange(size), -1).ravel()
        chosen = arrow.array(each, mask=each < 0)
        return arrow.FixedSizeListArray.from_arrays(content.take(chosen), size, mask=gone)
    # Views of lists become lists.
    is_view = types.is_list_view(kind) or types.is_large_list_view(kind)
    sizes = array.sizes.to_numpy() if is_view else np.diff(array.offsets.to_numpy())
    is_large = types.is_large_list(kind) or types.is_large_list_view(kind)
    lengths = np.where(array.is_valid().to_numpy(zero_copy_only=False), sizes, 0)
    ends = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64 if is_large else np.int32)
    made = arrow.LargeListArray if is_large else arrow.ListArray
    return made.from_arrays(arrow.array(ends), _fresh_part(arrow, array.flatten()), mask=gone)


def _fresh_union(arrow: Any, array: Any) -> Any:
    """Return a union whose children have only the cells that rows choose; a sparse union has null for other cells."""
    codes, children = array.type_codes.to_numpy().copy(), []
    names = [array.type.field(at).name for at in range(array.type.num_fields)]
    own = array.offsets.to_numpy() if array.type.mode == "dense" else None
    places = np.zeros(len(array), np.int32)
    for at, code in enumerate(array.type.type_codes):
        rows = np.flatnonzero(codes == code)
        places[rows] = np.arange(len(rows))
        # DuckDB reads sparse unions only.
        chosen = arrow.array(np.arange(len(array)), mask=codes != code) if own is None else arrow.array(own[rows])
        children.append(_fresh_part(arrow, array.field(at).take(chosen)))
    if own is None:
        return arrow.UnionArray.from_sparse(arrow.array(codes, arrow.int8()), children, names, array.type.type_codes)
    parts = arrow.array(codes, arrow.int8()), arrow.array(places, arrow.int32())
    return arrow.UnionArray.from_dense(*parts, children, names, array.type.type_codes)


def fresh_pandas(array: Any) -> Any:
    """Return an extension array of pandas in fresh memory, without unused categories."""
    kind = array.dtype
    if type(kind).__name__ == "CategoricalDtype":
        return array.remove_unused_categories().copy()
    if type(kind).__name__ == "ArrowDtype":
        column = extra("pyarrow", "tables").chunked_array(array.__arrow_array__())
        return extra("pandas", "tables").arrays.ArrowExtensionArray(fresh_arrow(column))
    if type(kind).__name__ == "StringDtype" or hasattr(kind, "numpy_dtype"):  # the latter has a mask of missing cells
        valid = ~np.asarray(array.isna())
        return array[valid].take(np.where(valid, np.cumsum(valid) - 1, -1), allow_fill=True)
    return array.copy()


def is_extension(column: Any) -> bool:
    """Whether a column of pandas is stored in an extension array, and not in an array of NumPy."""
    return not isinstance(column.dtype, np.dtype)


def _fresh_series(column: Any) -> Any:
    """Return a series, an index or an extension array of pandas in fresh memory, without attrs, name and the labels of
    its rows, which nobody has declared.
    """
    if not hasattr(column, "array"):
        return fresh_pandas(column) if is_extension(column) else column.copy()
    cells = fresh_pandas(column.array) if is_extension(column) else column.to_numpy().copy()
    pandas = extra("pandas", "tables")
    return pandas.Series(cells) if hasattr(column, "index") else pandas.Index(cells)


def fresh_polars(column: Any) -> Any:
    """Return a series of Polars in fresh memory, and an Enum without unused categories."""
    polars = extra("polars", "tables")
    kind = column.dtype
    if kind.is_nested() or kind in (polars.String, polars.Binary):
        # Polars copies references to texts, and not the texts. The type of a nested Enum lists all its categories.
        fresh = polars.from_arrow(fresh_arrow(column.to_arrow()))
        return (fresh if _has_enum(kind) else fresh.cast(kind)).alias(column.name)
    if kind == polars.Enum:
        used = set(column.unique().drop_nulls().to_list())
        return column.cast(polars.Enum([category for category in kind.categories if category in used]))
    if kind == polars.Object or not len(column):
        return column
    valid = column.is_not_null()
    position = valid.cast(polars.UInt32).cum_sum().cast(polars.Int64) - 1
    places = polars.select(polars.when(valid).then(position)).to_series()
    return column.drop_nulls().gather(places)


def _has_enum(kind: Any) -> bool:
    """Whether a type of Polars is an Enum, or contains one."""
    inner = [field.dtype for field in getattr(kind, "fields", ())] or [getattr(kind, "inner", None)]
    return bool(kind == extra("polars", "tables").Enum) or any(_has_enum(one) for one in inner if one is not None)
