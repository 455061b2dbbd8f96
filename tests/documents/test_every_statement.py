"""No leaf of any kind of statement can be changed, left out or added and still be vouched for.

The kinds are those of the registry, and some more noises, plans and memories.
"""

import json

import numpy as np
import pytest

import utmost as ut
from asking import asked
from documents.test_codec import changed
from documents.test_registry_entry import STATEMENTS
from kinds import statement_kinds
from utmost.counting import CountedTable
from utmost.errors import BadTable, Unsupported
from utmost.promises import once_together
from utmost.statements import stated_release

TABLE = {"department": ["A", "B"], "admitted": [601, 370], "seen": [9, 8]}
DECLARED = {"columns": "admitted", "public": "department", "drop": "seen"}
TREE = ut.workloads.hierarchy({"S": ["d", "c"], "N": ["b", "a"]}, names=["region", "district"])


def cells(**promise):
    return ut.release(TABLE, **asked(**DECLARED, cells=1, **promise), once=True).statement


def together(noise, cells=3, **more):
    columns = ["a", "b", "c"]
    table = {name: [933, 585] for name in columns}
    chosen = once_together(columns, unit=ut.Unit(cells, 3, nonnegative=noise != "staircase"), noise=noise)
    return ut.release(table, ut.Promise(columns, noise=chosen), once=True, **more).statement


def planned(domain, unit, shares, part=None, **level):
    counts = np.arange(domain.size).reshape(domain.shape)
    counted = CountedTable(domain, counts, unit, part=part)
    return ut.release(counted, ut.workloads.Plan(domain, unit, shares), once=True, **level).table.facts()


def kept(**promise):
    """The statement of an answer in a memory, which was answered at a lower level before."""
    said = asked(**DECLARED, cells=1, sensitivity=3, **promise)
    return ut.release(TABLE, said["promise"], epsilon="1/2").release.relax(TABLE, epsilon=1).statement


KINDS = STATEMENTS | {
    "relaxable": lambda: cells(epsilon=1, sensitivity=3, relaxable=True),
    "half-step reals": lambda: cells(epsilon=8, sensitivity=3, numbers="reals", grid="1/4", half_step=True),
    "signed sums": lambda: together("signed", 1, epsilon="1/2"),
    "staircases together": lambda: together("staircase", epsilon=2),
    "ranges together": lambda: together("range", epsilon=2),
    "bins": lambda: planned(
        ut.Domain(age=ut.workloads.bins(0, 40, width=5)),
        ut.Unit(3, 2, "change-one"),
        {"age": "2/3", "age/4": "1/3"},
        epsilon=ut.level(alpha="1/2"),
    ),
    "part of a tree": lambda: planned(
        ut.Domain(place=TREE), ut.Unit(1, 1), {"district": 1}, ("0123", "A"), epsilon="1/3", confidence="0.9"
    ),
    "kept": lambda: kept(),
    "kept in half steps": lambda: kept(numbers="reals", grid=1, half_step=True),
}

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
    "marginal": "which table of a release it is, however it is spelled",
    "details": "from which noisy sum on a breakdown was shown, as long as it chooses the same",
    "marginals": "which tables the rule was applied to, which the whole release shows",
}


WORDS = ("1/100", "100", "declared", "observed", "reals", "absolute", "squared", "change-one", "independent", "keep")
NAMED = {"keys", "selected cells"}
HARMLESS = {
    ("cost", "squared"): KINDS.keys(),  # the noise is the best for both costs
    ("halves", "keep"): KINDS.keys(),  # no noise of these is in half steps
    ("confidence_exactly", "1/100"): NAMED,  # a list of keys states no margin
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


def others(value, turn):
    """Another value of the kind, and values of other kinds; of the words some, in turn."""
    if isinstance(value, bool):
        return [not value, int(value), None]
    if isinstance(value, int):
        return [value + 1, -1, 10**30, float(value), str(value)]
    if isinstance(value, float):
        return [value * (1 + 1e-9), 0.0, str(value)]
    if isinstance(value, str):
        return [f"{value} ", value[:-1], 7, None, *(word for word in WORDS[turn % 4 :: 4] if word != value)]
    if isinstance(value, list):
        return [[*value, "more"], {}, 7, *([value[1:]] if value else [])]
    return [0, "x", [1]]


def is_on_trust(kind, path, value, other):
    """Whether a leaf says what nobody can compute, and the other value is one that it could have."""
    if isinstance(other, str) and kind in HARMLESS.get((path[-1], other), ()):
        return True
    if path[-2:] == ("promise", "rows"):
        return False
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


def test_another_order_of_axes_is_another_release():
    """Whoever sorts the keys of the JSON turns the table: told by the digest."""
    said = json.loads(json.dumps(KINDS["part of a tree"]()))
    district = said["promise"]["noise"]["plan"]["domain"]["district"]
    district["tree"] = dict(sorted(district["tree"].items()))
    assert refused(said)


@pytest.mark.parametrize("kind", KINDS)
def test_every_leaf_changed_removed_or_added_is_refused(kind):
    said = json.loads(json.dumps(KINDS[kind]()))
    stated_release(said)
    first = [*KINDS].index(kind)  # a field of several kinds meets other words in each
    believed = [
        (path, other)
        for turn, (path, value) in enumerate(leaves(said), first)
        for other in others(value, turn)[turn % 2 :: 2]
        if not is_on_trust(kind, path, value, other) and not refused(changed(said, path, other))
    ]
    assert believed == []
    assert [name for name in said if not refused({key: it for key, it in said.items() if key != name})] == []
    assert refused(said | {"note": "by the way"})
