"""No leaf of any kind of statement can be changed, left out or added and still be vouched for.

The table of kinds is imported from where it is, so that none is forgotten.
"""

import json
from copy import deepcopy

import pytest

from documents.test_registry_entry import STATEMENTS
from kinds import statement_kinds
from utmost.errors import BadTable, Unsupported
from utmost.statements import stated_release

# What is on the curator's word, and of which any other value of its kind says nothing that could be computed.
ON_TRUST = {
    "utmost": "the version that wrote it",
    "released": "what the columns are called",
    "columns": "what the columns are called",
    "public": "what the columns are called",
    "rows": "how many rows the table has, which is compared with the table",
    "column": "what the keys are called",
    "sha256": "the digest of a table, which is compared with it",
    "labels": "what places are called",
    "repeated": "how many answers were given before",
    "name": "what the release is called",
    "data_version": "which version it is",
    "levels": "which other levels were answered",
    "shown": "how many cells are shown, which is compared with the table",
    "family": "which table of a release it is, however it is spelled",
    "details": "from which noisy sum on a breakdown was shown, as long as it chooses the same",
    "families": "which tables the rule was applied to, which the whole release shows",
}


def leaves(value, path=()):
    """Every leaf of a document, with the names that lead to it."""
    if isinstance(value, dict) and value:
        for name, part in value.items():
            yield from leaves(part, (*path, name))
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for place, part in enumerate(value):
            yield from leaves(part, (*path, place))
    else:
        yield path, value


def put(said, path, value):
    """A copy with another value at a place."""
    changed = deepcopy(said)
    place = changed
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return changed


def others(value):
    """Another value of the kind, and values of other kinds."""
    if isinstance(value, bool):
        return [not value, int(value), None]
    if isinstance(value, int):
        return [value + 1, -1, 10**30, float(value), str(value)]
    if isinstance(value, float):
        return [value * (1 + 1e-9), 0.0, str(value)]
    if isinstance(value, str):
        return [f"{value} ", value[:-1], 7, None]
    if isinstance(value, list):
        return [[*value, "more"], {}, 7, *([value[1:]] if value else [])]
    return [0, "x", [1]]


def is_on_trust(path, value, other):
    """Whether a leaf says what nobody can compute, and the other value is one that it could have."""
    named = {part for part in path if isinstance(part, str)} & set(ON_TRUST)
    return bool(named) and type(other) is type(value) and other not in (-1, 10**30, "")


def refused(said):
    """Whether a statement is refused by type, and not by a traceback."""
    try:
        stated_release(said)
    except (BadTable, Unsupported):
        return True
    return False


def test_every_kind_of_statement_is_here():
    kinds = {json.loads(json.dumps(make()))["kind"] for make in STATEMENTS.values()}
    assert kinds == statement_kinds()


@pytest.mark.parametrize("kind", STATEMENTS)
def test_every_leaf_changed_removed_or_added_is_refused(kind):
    said = json.loads(json.dumps(STATEMENTS[kind]()))
    stated_release(said)
    believed = [
        (path, other)
        for path, value in leaves(said)
        for other in others(value)
        if not is_on_trust(path, value, other) and not refused(put(said, path, other))
    ]
    assert believed == []
    assert [name for name in said if not refused({key: it for key, it in said.items() if key != name})] == []
    assert refused(said | {"note": "by the way"})
