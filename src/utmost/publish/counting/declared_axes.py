"""The axes of a declared domain by which events are counted, and the axis that splits the persons into parts."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from utmost.core.exact.arguments import sequence_of, text, wrong_kind
from utmost.errors import NotDeclared, OutOfRange
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain


def declared_domain(domain: Any, by: Any) -> Domain:
    """Read a declared domain: a `Domain`, or a mapping for `Domain.of_facts`."""
    if domain is None:
        raise NotDeclared(
            "domain must list the possible values of each column",
            came="none",
            remedy='Pass, for example, domain=ut.Domain(page=["A", "B"]). A list of values from the data would reveal '
            "data of persons; if you cannot list them, use ut.counting.count_keys.",
        )
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, Mapping):
        raise wrong_kind("domain", "a Domain or a mapping", domain)
    return Domain.of_facts(domain)


def chosen_axes(domain: Domain, by: Any) -> list[Axis]:
    """Return the axes that ``by`` (--by) names, in the order of ``by``; all axes if ``by`` is None."""
    if by is None:
        return list(domain.axes)
    known = dict(zip(domain.columns, domain.axes, strict=True))
    names = (by,) if isinstance(by, str) else tuple(sequence_of(by, text, "by"))
    if not names or len(set(names)) < len(names):
        raise OutOfRange(
            "by= must name at least one axis, and no axis twice",
            came=names,
            remedy=f"The domain declares {', '.join(map(repr, domain.columns))}.",
        )
    for name in names:
        if name not in known:
            raise NotDeclared(
                "by= must name axes of the domain",
                came=repr(name),
                remedy=_axis_remedy(domain, name),
            )
    return [known[name] for name in names]


def _axis_remedy(domain: Domain, name: str) -> str:
    """Write the remedy for a name that is no axis: name the axis of which it is a level, or else a similar name."""
    finest = next((axis.levels[0] for axis in domain.axes if name in axis.levels), None)
    if finest is not None:
        return f"{name!r} is a level of {finest!r}: count by {finest!r}, and ask for sums by {name!r} afterwards."
    if name in domain.period_names:
        return f"Count by {domain.period_names[name].partition('/')[0]!r}, which has {name}s."
    near = get_close_matches(name, domain.columns, 1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"The domain declares {', '.join(map(repr, domain.columns))}."


def part_axis(domain: Domain, part: Any) -> Axis:
    """Return the axis whose labels are the parts: an axis of the domain, or a new one from {column: labels}."""
    if isinstance(part, str):
        if part not in domain.columns:
            raise NotDeclared(
                "part must name an axis of the domain",
                came=repr(part),
                remedy="Make the column an axis of the domain. In Python {column: list of labels} names a new one.",
            )
        return domain.axes[domain.columns.index(part)]
    if not isinstance(part, Mapping):
        raise wrong_kind("part", "the name of an axis, or {column: list of labels}", part)
    if len(part) != 1:
        raise OutOfRange(
            "part must name one column",
            came=f"{len(part)} columns",
            remedy='Pass, for example, part={"town": ["Bern", "Basel"]}.',
        )
    return Domain(part).axes[0]


def whole_rows(axes: Sequence[Axis], together: str, at_most: int) -> WholeRows:
    """Return the rows of cells along an axis: for each person, all cells of a row are kept, or none."""
    if not axes:
        raise OutOfRange("together= must name an axis of the table", came=repr(together), remedy="Leave out together=.")
    rows = WholeRows.of(Domain({axis.levels[0]: axis for axis in axes}), together)
    rows.check_whole(at_most, "at_most")
    return rows
