"""Write an axis as JSON values, and read it back: see `Domain.facts` and `Domain.of_facts`."""

import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.tables.axes.ages import ages
from utmost.tables.axes.axes import Axis, Edge, Label, hierarchy, plain
from utmost.tables.axes.clock import UNITS, shown_time
from utmost.tables.axes.listed_keys import listed
from utmost.tables.axes.ordered_axes import bins, edges, open_label, whole_label
from utmost.tables.axes.time_axes import periods
from utmost.tables.cells.spelling import Spelling

_TRUTH: dict[Label, Label] = {"false": False, "true": True}


def axis_facts(axis: Axis) -> Any:
    """Write an axis as JSON values: the list of its values, or a mapping with the arguments that create it."""
    extras = {name: label for name in ("other", "missing") if (label := getattr(axis, name)) is not None}
    extras |= axis.spelling.facts()
    if axis.column is not None:
        extras["column"] = axis.column
    if axis.edges is not None:
        # Open ends are written with their labels, unless these are the default labels of listed edges.
        label_of = whole_label if axis.whole else open_label
        last = len(axis.edges) - 2
        ends = {"below": (0, axis.edges[0] == -inf), "above": (last, axis.edges[-1] == inf)}
        open_ends = {
            name: label
            for name, (place, is_open) in ends.items()
            if is_open
            and ((label := axis.labels[0][place]) != label_of(*axis.edges[place : place + 2]) or axis.whole is None)
        }
        return {**_ordered_facts(axis), **open_ends, **extras}
    declared = [_TRUTH.get(label, label) if axis.truth else label for label in axis.labels[0][: axis.declared]]
    if axis.rows is not None:
        return {"listed": [list(row) for row in axis.rows[: axis.declared]], "names": list(axis.columns), **extras}
    if len(axis.levels) == 1:
        return {"values": declared, **extras} if extras else declared
    return {
        "tree": _branches(axis, len(axis.levels) - 1, 0, axis.declared),
        "names": [*reversed(axis.levels)],
        **extras,
    }


def _ordered_facts(axis: Axis) -> dict[str, Any]:
    assert axis.edges is not None, "only bins have edges"
    finite = [edge for edge in axis.edges if isinstance(edge, Fraction)]
    if axis.clock is not None:
        zone = {} if axis.clock.zone is None else {"zone": axis.clock.zone}
        longer = [name.rpartition("/")[2].replace("-", " ") for name in axis.levels[1:]]
        ends = [shown_time(int(edge)) for edge in (finite[0], finite[-1])]
        return {"periods": ends, "every": str(axis.clock.period), **zone, "groups": longer}
    if axis.whole is not None:
        stop = len(axis.edges) - 1
        groups = {name: _group_facts(axis, level, stop) for level, name in enumerate(axis.levels[1:], 1)}
        listed: dict[str, Any] = {"edges": [_edge(edge) for edge in axis.edges], "whole": axis.whole}
        if axis.on is not None:
            listed = {"ages": listed["edges"], "on": axis.on.isoformat()}
        return {**listed, **({"groups": groups} if groups else {})}
    runs = {} if len(axis.levels) < 2 else {"fanout": int(axis.levels[1].rpartition("/")[2])}
    return {"bins": [_edge(finite[0]), _edge(finite[-1])], "width": _edge(finite[1] - finite[0]), **runs}


def _group_facts(axis: Axis, level: int, stop: int) -> Any:
    """The edges of a level's groups; {group's label: labels of the level below} if labels do not follow from edges."""
    assert axis.edges is not None, "only bins have edges"
    starts = [start for start in axis.starts[level].tolist() if start < stop]
    pairs, label_of = [*pairwise([*starts, stop])], whole_label if axis.whole else open_label
    shown = axis.labels[level][: len(starts)]
    is_plain = (
        label == label_of(axis.edges[low], axis.edges[high]) or (high - low == 1 and label == axis.labels[0][low])
        for label, (low, high) in zip(shown, pairs, strict=True)
    )
    if all(is_plain):
        return [_edge(axis.edges[start]) for start in (*starts, stop)]
    below, of_below = axis.labels[level - 1], axis.starts[level - 1].tolist()
    return {
        str(label): [name for name, start in zip(below, of_below, strict=True) if low <= start < high]
        for label, (low, high) in zip(shown, pairs, strict=True)
    }


def _branches(axis: Axis, level: int, low: int, high: int) -> Any:
    ends = np.append(axis.starts[level][1:], axis.size)
    runs = [
        (label, int(start), int(end))
        for label, start, end in zip(axis.labels[level], axis.starts[level], ends, strict=True)
        if low <= start < high and start < axis.declared
    ]
    if level == 0:
        return [label for label, _, _ in runs]
    return {str(label): _branches(axis, level - 1, start, end) for label, start, end in runs}


def _edge(edge: Edge) -> int | str | None:
    return (int(edge) if edge.denominator == 1 else str(edge)) if isinstance(edge, Fraction) else None


def axis_of_facts(name: str, facts: Any) -> Any:
    """Read an axis from JSON values, as an argument of `Domain`. "bins" with more than two numbers means "edges"."""
    where = f"axis {name!r}"
    whole = dict(facts) if isinstance(facts, Mapping) else {"values": facts}
    values = whole.get("values")
    if isinstance(values, list) and any(value is None or value == "" for value in values):
        named = [value for value in values if value is not None and value != ""]
        mended = {**whole, "values": named, "missing": whole.get("missing", "not stated")}
        required = "the values of an axis must not be empty: an empty cell is missing"
        remedy = f"Write {json.dumps(mended, ensure_ascii=False)}."
        raise OutOfRange(required, came="an empty value", where=where, remedy=remedy)
    if not isinstance(facts, Mapping):
        return facts
    facts = spelled_periods(facts)
    if isinstance(facts.get("bins"), list) and len(facts["bins"]) > 2:
        facts = {"edges" if key == "bins" else key: value for key, value in facts.items()}
    kind = next((kind for kind in _ARGUMENTS if kind in facts), None)
    if kind is None:
        months, numbers = '{"months": ["2026-01", "2026-07"]}', '{"bins": [0, 18, 65, null]}'
        raise OutOfRange(
            'an axis must be a list, or have one of "values", "tree", "listed", "bins", "edges", "ages" and "periods"',
            came=", ".join(map(repr, facts)) or "nothing",
            where=where,
            remedy=f"Write {months} for six months, or {numbers} for numbers.",
        )
    beside = {*_ARGUMENTS[kind], "other", "missing", "missing_marks", *(() if kind == "listed" else ("column",))}
    strange = [word for word in facts if word not in beside | {kind}]
    if strange:
        required = f'an axis with "{kind}" must have no other keys than {", ".join(sorted(beside))}'
        remedy = f"Leave out {', '.join(map(repr, strange))}."
        raise OutOfRange(required, came=", ".join(map(repr, strange)), where=where, remedy=remedy)
    try:
        return _axis_of_kind(kind, facts)
    except (NotANumber, OutOfRange, WrongKind) as error:  # the name of the axis is added to the message
        place = where if error.where is None else f"{where}, {error.where}"
        raise type(error)(error.required, came=error.came, where=place, remedy=error.remedy) from None


def spelled_periods(facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace "months", "years" or the name of another period in the JSON of an axis by "periods" and "every"."""
    unit = next((unit for unit in UNITS if f"{unit}s" in facts), None)
    if unit is None or "every" in facts or "periods" in facts:
        return facts
    rest = {key: value for key, value in facts.items() if key != f"{unit}s"}
    return {"periods": facts[f"{unit}s"], "every": unit, **rest}


def _axis_of_kind(kind: str, facts: Mapping[str, Any]) -> Any:
    rest = {key: value for key, value in facts.items() if key != kind and key not in _MARKS}
    marks = {key: facts[key] for key in _MARKS if key in facts}
    if marks:
        rest["spelling"] = Spelling(**marks)
    if kind == "tree":
        return hierarchy(facts["tree"], **{"names": (), **rest})
    if kind == "edges":
        return edges(facts["edges"], **rest)
    if kind == "ages":
        if not {"column", "on"} <= set(facts):
            remedy = 'Write {"ages": [0, 18, 65, null], "on": "2025-01-01", "column": "birth_date"}.'
            required = 'an axis with "ages" needs "column" (the birth dates) and "on" (the day of the count)'
            raise OutOfRange(
                required, came=", ".join(sorted({"column", "on"} & set(facts))) or "neither", remedy=remedy
            )
        return ages(rest.pop("column"), facts["ages"], **rest)
    if kind == "listed":
        return listed(facts["listed"], **rest)
    if kind == "values":
        return plain(facts["values"], **rest)
    ends = facts[kind] if isinstance(facts[kind], Sequence) and not isinstance(facts[kind], str) else ()
    if len(ends) != 2:
        remedy = (
            'Write, for example, {"bins": [0, 100], "width": 10}.'
            if kind == "bins"
            else 'Write, for example, {"periods": ["2026-01", "2026-07"], "every": "month"}.'
        )
        raise OutOfRange(f'"{kind}" must be a list of two edges, the first and the last', came=len(ends), remedy=remedy)
    return bins(*ends, **rest) if kind == "bins" else periods(*ends, **{"every": "", **rest})


_MARKS = ("decimal", "thousands", "missing_marks", "pattern", "currency")
"""The fields of `Spelling` by their names in a domain file."""

_ARGUMENTS: dict[str, set[str]] = {
    "values": set(),
    "tree": {"names"},
    "listed": {"names"},
    "bins": {"width", "fanout", "groups", "below", "above", "decimal", "thousands", "currency"},
    "edges": {"whole", "groups", "below", "above", "decimal", "thousands", "currency"},
    "ages": {"on", "groups", "pattern"},
    "periods": {"every", "zone", "groups", "below", "above", "pattern"},
}
