"""Sums that agree, by form: a plan says what is measured, a counted table is brought, and a release shows its sums."""

import json
from collections.abc import Mapping
from typing import Any

from utmost.doors.service import page_charts as charts
from utmost.doors.service.arriving import strict_json
from utmost.doors.service.axis_limits import check_listed
from utmost.doors.service.page_rendering import short
from utmost.doors.service.problems import printable
from utmost.doors.service.terms import Terms
from utmost.errors import BadTable, OutOfRange
from utmost.laws.exact import Level
from utmost.laws.privacy import Unit
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases import WorkloadRelease
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.publish.workloads import Strategy

_MOST_ATOMS, _MOST_FAMILIES, _MOST_BARS = 20_000, 4, 24
_MOST_LINES, _LONGEST_FACT = 40, 1_000


def brought_counted(content: bytes) -> CountedTable:
    """The counted table in a file that `utmost count` wrote.

    Raises:
        BadTable: for what is none; nothing of it is repeated.
    """
    return COUNTED_FORM.of(_document(content, "utmost count"), "file")


def planned(content: bytes) -> Strategy:
    """The strategy in a file that `utmost plan` wrote; it holds public facts alone.

    Raises:
        BadTable: for what is none.
    """
    return PLAN_FORM.of(_document(content, "utmost plan"), "file")


def _document(content: bytes, command: str) -> Any:
    try:
        document = strict_json(content)
        check_listed(document)
        return document
    except json.JSONDecodeError:
        remedy = f"Bring the .json file that {command} wrote."
        raise BadTable("a file must be JSON", came="something else", where="file", remedy=remedy) from None


def plan_terms(chosen: Strategy, dataset: str | None, independent: bool, part: str = "") -> Terms:
    """The terms of a release that measures what a plan says.

    Args:
        part: "partition = part", as people write it; empty for a whole.

    Raises:
        OutOfRange: for a part that is none.
    """
    names = [name.strip() for name in part.split("=")]
    if part and (len(names) != 2 or not all(names)):
        raise OutOfRange("a part is written as partition = part", where="part", remedy="Write town = Bern.")
    said: dict[str, Any] = {"dataset": dataset, "independent": independent, "part": names if part else None}
    return Terms.read({"strategy": chosen, **said})


def facts_shown(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The terms of a proposal in lines, without what says nothing.

    >>> unit = '"unit":{"sensitivity":"1","cells":2,"neighbours":"add-remove"}'
    >>> text = '{"domain":{},"shares":[[["sex"],"3/4"],[[],"1/4"]],' + unit + "}"
    >>> for name, fact in facts_shown({"strategy": text, "rows": "declared", "dataset": None, "independent": True}):
    ...     print(f"{name}: {fact}")
    measured: sex, with 3/4 of the level
    measured: total, with 1/4 of the level
    one individual: changes at most 2 atoms, each by at most 1
    neighbours: add-remove
    rows: declared
    independent: True
    """
    lines, text = [], facts.get("strategy")
    if isinstance(text, str):
        lines += _measured_lines(text)
    for name, fact in facts.items():
        if name == "part" and isinstance(fact, list) and len(fact) == 2:
            partition, part = fact
            fact = f"{part} of {partition}: its level does not add up with those of the other parts"
        if name != "strategy" and fact not in (None, [], False, ""):
            lines.append((name, ", ".join(map(str, fact)) if isinstance(fact, list) else str(fact)))
    return _cut([(name, printable(fact)) for name, fact in lines])


def _cut(lines: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """As many lines as a page holds, each as long; and how much more there is."""
    shown = [
        (name, fact if len(fact) <= _LONGEST_FACT else f"{fact[:_LONGEST_FACT]}... {len(fact)} characters in all")
        for name, fact in lines[:_MOST_LINES]
    ]
    more = len(lines) - len(shown)
    return [*shown, ("more", f"{more} lines, which the API gives")] if more else shown


def _measured_lines(text: str) -> list[tuple[str, str]]:
    """What the text of a strategy says; the text itself where it is none, as a proposal by the API may hold."""
    try:
        facts = json.loads(text)
        unit, shares = facts["unit"], facts["shares"]
        proved = Unit.of_facts(unit)
        lines = [("measured", f"{' '.join(names) or 'total'}, with {share} of the level") for names, share in shares]
        lines.append(("one individual", f"changes at most {proved.many('atom')}, each by at most {proved.most}"))
        lines.append(("neighbours", str(unit["neighbours"])))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        lines = [("strategy", text[:1000])]
    return lines


def sums_shown(release: WorkloadRelease, level: Level) -> dict[str, Any]:
    """The measured families of a release, as charts and tables; of a large domain the file alone has them."""
    strategy = release.strategy
    is_small = strategy.domain.size <= _MOST_ATOMS
    names = [strategy.domain.family_name(family) for family in strategy.shares] if is_small else []
    tables = [_family(release, name) for name in names[:_MOST_FAMILIES]]
    more = len(strategy.shares) - len(tables)
    return {"families": tables, "more_families": more, "part": release.part, "level": level}


def _family(release: WorkloadRelease, name: str) -> dict[str, Any]:
    table = release[name]
    axes = [column for column in table if column not in ("estimate", "radius")]
    labels = [" ".join(str(table[axis][row]) for axis in axes) or "total" for row in range(len(table["estimate"]))]
    radius = max(float(one) for one in table["radius"])
    rows = [(label, float(value)) for label, value in zip(labels, table["estimate"], strict=True)]
    title = f"{name or 'total'}, each with its error bar of {short(radius)} at 95 %"
    return {
        "name": name or "total",
        "picture": charts.error_bars(title, rows[:_MOST_BARS], radius),
        "rows": [(label, short(value), short(radius)) for label, value in rows[:_MOST_BARS]],
        "count": len(rows),
    }
