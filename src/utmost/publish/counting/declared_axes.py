"""The axes of a declared domain by which events are counted, and the parts into which their persons are put."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from utmost.core.exact.arguments import sequence_of, text, wrong_kind
from utmost.errors import NotDeclared, OutOfRange
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.axes import Axis
from utmost.tables.axes.domain import Domain


def declared_domain(domain: Any, by: Any) -> Domain:
    """The domain as it was declared.

    Raises:
        NotDeclared: where there is none.
        WrongKind: for neither a domain nor a mapping.
    """
    if domain is None:
        raise NotDeclared(
            "domain must list the possible values of each column",
            came="none",
            remedy='Pass domain=ut.Domain(page=["A", "B"]), say: values found in the data would themselves tell of '
            "people. Where nobody can list them, use ut.counting.count_keys.",
        )
    if isinstance(domain, Domain):
        return domain
    if not isinstance(domain, Mapping):
        raise wrong_kind("domain", "a Domain or a mapping", domain)
    return Domain.of_facts(domain)


def chosen_axes(domain: Domain, by: Any) -> list[Axis]:
    """The axes of a domain that are counted by, in their order.

    Raises:
        OutOfRange: for none, and one that comes twice.
        NotDeclared: for one that the domain has not.
    """
    if by is None:
        return list(domain.axes)
    known = dict(zip(domain.columns, domain.axes, strict=True))
    names = (by,) if isinstance(by, str) else tuple(sequence_of(by, text, "by"))
    if not names or len(set(names)) < len(names):
        raise OutOfRange(
            "by must name at least one axis, and none twice",
            came=names,
            remedy=f"The domain declares {', '.join(map(repr, domain.columns))}.",
        )
    for name in names:
        if name not in known:
            raise NotDeclared(
                "by must name axes of the domain",
                came=repr(name),
                remedy=_axis_remedy(domain, name),
            )
    return [known[name] for name in names]


def _axis_remedy(domain: Domain, name: str) -> str:
    """Which axes there are; of a coarser level, which axis it is a level of."""
    finest = next((axis.levels[0] for axis in domain.axes if name in axis.levels), None)
    if finest is not None:
        return f"It is a level of {finest!r}: count by that, and its sums can be asked for afterwards."
    if name in domain.period_names:
        return f"Count by {domain.period_names[name].partition('/')[0]!r}, which has {name}s."
    near = get_close_matches(name, domain.columns, 1)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"The domain declares {', '.join(map(repr, domain.columns))}."


def part_axis(domain: Domain, part: Any) -> Axis:
    """The axis whose labels are the parts.

    Raises:
        NotDeclared, WrongKind, OutOfRange: for anything but declared axes.
    """
    if isinstance(part, str):
        if part not in domain.columns:
            raise NotDeclared(
                "part must name an axis of the domain",
                came=repr(part),
                remedy="Make it an axis of the domain, or pass part={column: list of labels}.",
            )
        return domain.axes[domain.columns.index(part)]
    if not isinstance(part, Mapping):
        raise wrong_kind("part", "the name of an axis, or {column: list of labels}", part)
    if len(part) != 1:
        raise OutOfRange(
            "part must name one column",
            came=f"{len(part)} columns",
            remedy='Pass part={"town": ["Bern", "Basel"]}, say.',
        )
    return Domain(part).axes[0]


def whole_rows(axes: Sequence[Axis], together: str, at_most: int) -> WholeRows:
    """The rows of cells, along an axis of the table, that are kept of a person.

    Raises:
        OutOfRange: for other than two to five values, and cells that are no whole rows.
    """
    if not axes:
        raise OutOfRange("together must name an axis of the table", came=repr(together), remedy="Leave it out.")
    rows = WholeRows.of(Domain({axis.levels[0]: axis for axis in axes}), together)
    rows.check_whole(at_most, "at_most")
    return rows
