"""An axis for several columns of which only few combinations of values exist: a list of keys, each with a value of
every column.

Examples of such columns are the wiki and the page, or the region and the municipality. The list of keys is one axis.
The levels of the axis are the columns, the last column first: a group of the finest level is one key, a group of the
next level contains the keys that agree except in the last column, and so on. The keys with a given value in any one
column are a set of cells, so the sum over these keys also follows from a release.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from utmost.core.exact.arguments import instance, sequence_of, text, wrong_kind
from utmost.errors import OutOfRange, WrongKind
from utmost.tables.axes.axes import Axis, Label, hierarchy, label_text, outside_label, plain
from utmost.tables.cells.spelling import PLAIN_SPELLING, Spelling

BETWEEN = " / "
"""The separator of the values of a key that is written as one text."""


def listed(
    rows: Any,
    *,
    names: Sequence[str] | None = None,
    other: Label | None = None,
    spelling: Spelling = PLAIN_SPELLING,
) -> Axis:
    """An axis of a list of keys of several columns.

    Args:
        rows: Keys, as a list of tuples, a dict of columns, or a dataframe. The keys are public: they do not depend on
            any individual.
        names: Names of the columns, the coarsest first: ["project", "country", "page"]. By default all columns of a
            dict or dataframe, in their order.
        other: Value that all other keys have in each column; if None, these keys are left out.
        spelling: Missing marks of the columns, see `plain`.

    Returns:
        An axis with a level for each column: for ["project", "page"] the level ``page`` has a group for each key, and
        ``project`` a group for each project. The keys of a project are put together, in the order of the list.

    Raises:
        OutOfRange: if a key occurs twice, if a value is neither text nor an integer, or if two keys are the same text
            when their values are joined by " / ".
        WrongKind: if ``rows`` is no list of keys.

    >>> pages = listed([("enwiki", "Main"), ("frwiki", "Accueil"), ("enwiki", "Paris")], names=["wiki", "page"])
    >>> pages.levels, pages.labels[0]
    (('page', 'wiki'), ('enwiki / Main', 'enwiki / Paris', 'frwiki / Accueil'))
    >>> pages.label_columns(0)["wiki"]
    ['enwiki', 'enwiki', 'frwiki']
    """
    if names is not None:
        sequence_of(names, text, "names")
    other, spelling = outside_label(other, "other"), instance(spelling, Spelling, "spelling")
    columns, keys = _read(rows, names)
    tree: dict[Any, Any] = {}
    for key in keys:
        if len(key) != len(columns):
            raise OutOfRange(f"every key must have {len(columns)} values", came=len(key), where="rows")
        branch = tree
        for place in range(1, len(key)):
            branch = branch.setdefault(tuple(map(label_text, key[:place])), {})
        if tuple(map(label_text, key)) in branch:
            raise OutOfRange("the keys must be distinct", came="one key twice", where="rows")
        branch[tuple(map(label_text, key))] = key
    if len(columns) == 1:
        return plain([key[0] for key in tree.values()], other=other, spelling=spelling).named(columns[0])
    axis = hierarchy(_named(tree, len(columns)), names=columns, other=other)
    ordered = [*_leaves(tree, len(columns)), *([] if other is None else [(other,) * len(columns)])]
    return Axis(axis.levels, axis.labels, axis.starts, None, other, rows=tuple(ordered), spelling=spelling)


def _read(rows: Any, names: Sequence[str] | None) -> tuple[list[str], list[tuple[Label, ...]]]:
    """Read the names of the columns, and the keys as tuples of text and integers."""
    frame = rows if isinstance(rows, Mapping) or hasattr(rows, "columns") else None
    if frame is not None:
        came = getattr(frame, "column_names", None) or list(frame if isinstance(frame, Mapping) else frame.columns)
        columns = list(came if names is None else names)
        try:
            keys = list(zip(*(_cells(frame[name]) for name in columns), strict=True))
        except (KeyError, ValueError, LookupError):
            raise OutOfRange(
                "rows must have every column in names, and all these columns must be equally long",
                came=columns,
                where="names",
            ) from None
    else:
        if names is None or not hasattr(rows, "__iter__") or isinstance(rows, str):
            remedy = 'Pass [("enwiki", "Main")] with names=["wiki", "page"], or a frame.'
            raise WrongKind(
                "rows must be a list of keys with names=, or a frame", came=type(rows).__name__, remedy=remedy
            )
        columns, keys = list(names), [tuple(row) if isinstance(row, list | tuple) else (row,) for row in rows]
    if not columns or len(set(columns)) < len(columns):
        raise OutOfRange("names must contain at least one name, and no name twice", came=columns, where="names")
    return columns, [tuple(_value(value) for value in key) for key in keys]


def _cells(column: Any) -> list[Any]:
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            return list(getattr(column, method)())
    if not isinstance(column, Iterable):
        raise wrong_kind("a column of keys", "a list of values", column)
    return list(column)


def _value(value: Any) -> Label:
    text = None if isinstance(value, bool) else label_text(value)
    if not text or not text.strip():
        came = "nothing" if value is None or text is not None else type(value).__name__
        raise OutOfRange("the values of a key must be text or integers", came=came, where="rows")
    return value if isinstance(value, str) else int(value)


def _named(branch: Mapping[Any, Any], depth: int) -> Any:
    """Replace the keys of a tree by their joined texts, which are the labels of its groups."""
    if depth == 1:
        return [BETWEEN.join(texts) for texts in branch]
    return {BETWEEN.join(texts): _named(below, depth - 1) for texts, below in branch.items()}


def _leaves(branch: Mapping[Any, Any], depth: int) -> list[tuple[Label, ...]]:
    if depth == 1:
        return list(branch.values())
    return [key for below in branch.values() for key in _leaves(below, depth - 1)]
