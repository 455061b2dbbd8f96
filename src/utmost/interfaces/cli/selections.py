"""Select the cells for `utmost total` and `utmost read` by texts COLUMN=LABELS; refuse unknown columns."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from utmost.errors import OutOfRange
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.statements.table_words import beyond_unit
from utmost.publish.workloads.sums_in_words import read_selection, typed_periods
from utmost.tables.axes.axes import label_text

_NEXT = re.compile(r",\s*(?=[^,=]+=)")  # separates two conditions


def conditions(published: Any, texts: Iterable[str] | None) -> list[str]:
    """Split texts with several conditions, such as "sex=men,age=20..40", unless a label has an equals sign."""
    found = list(texts or ())
    if not any(_NEXT.search(text) for text in found):
        return found
    if isinstance(published, DetailedSums):
        published = published.first
    elif isinstance(published, MeasuresTable):
        published = next(iter(published.releases.values()))
    elif isinstance(published, Answer) and published.is_by_plan:
        published = published.table
    if isinstance(published, NoisySums):
        axes = published.domain.axes
        labels = [label_text(label) for axis in axes for listed in axis.labels for label in listed]
    elif isinstance(published, Answer | NoisyTable):
        labels = [label for listed in published.cells.labels.values() for label in listed]
    else:
        return found  # refused later
    if any("=" in str(label) for label in labels):
        return found  # the text of a condition may be a label
    return [condition for text in found for condition in _NEXT.split(text)]


def counted_selection(sums: NoisySums, where: Iterable[str] | None) -> dict[str, Any]:
    """Return the cells of released sums that COLUMN=LABELS texts select."""
    texts, amounts = [text for text in where or () if text != "all"], sums.plan.amount_pair
    axes = [axis for axis in sums.domain.axes if amounts is None or axis.levels[0] != amounts.amount.name]
    if amounts is not None:
        amounts.check_where([text.partition("=")[0].strip() for text in texts])
    groups = [*(name for axis in axes for name in axis.levels[1:]), *typed_periods(sums.domain)]
    check_counted([axis.levels[0] for axis in axes], texts, groups)
    return read_selection(sums.domain, texts)


def check_counted(columns: Iterable[str], where: Iterable[str], groups: Iterable[str] = ()) -> None:
    """Refuse a column by which a table was not counted; the error says how to publish by this column."""
    counted_by = list(columns)
    known_names = [*counted_by, *groups]
    for text in where:
        name = text.partition("=")[0].strip()
        is_there = any(text.startswith(f"{column}=") for column in known_names) or name in ("all", "total", "")
        if not is_there and name not in known_names and "=" in text and not get_close_matches(name, known_names, n=1):
            remedy = (
                f"The release was counted by {', '.join(counted_by)}. If {name!r} is a group of their values, name "
                "the values, or write a range of bins: COLUMN=LOW..HIGH. "
                f"If {name!r} is another column, publish again with --by {','.join([*counted_by, name])}, "
                "which costs further epsilon."
            )
            raise OutOfRange(
                "a selection of cells must name columns by which the release was counted",
                came=repr(name),
                remedy=remedy,
            )


def quantity(published: NoisySums | MeasuresTable, amount: str | None = None) -> str:
    """Return in words what sums and ratios of a release are about: an amount, people or events."""
    if isinstance(published, MeasuresTable):
        return f"number of {next(iter(published.releases.values())).unit.counted_noun}"
    unit = published.unit
    if unit.amount is None or (unit.is_shared and amount is None):
        return f"number of {unit.counted_noun}"
    return f"number of different {unit.amount.name}" if unit.is_distinct else f"sum of {unit.amount.name}"


def uncounted(published: Any) -> str:
    """Return in words the contributions that no figure of a release includes; empty if utmost removed none."""
    if isinstance(published, DetailedSums):
        promise, cell, size = published.first.promise, "cell", None
    elif isinstance(published, MeasuresTable):
        releases = [release for release in published.releases.values() if release.promise.proved]
        words = [beyond_unit(each.promise, each.promise.unit, "cell", each.domain.size) for each in releases]
        return "; ".join(dict.fromkeys(words))
    elif isinstance(published, Answer) and getattr(published.noise, "grid", None) is None:
        promise, is_by_plan = published.promise, published.is_by_plan
        cell = "cell" if is_by_plan else "released cell"
        size = published.table.domain.size if is_by_plan else published.rows * len(promise.columns)
    else:
        return ""
    return beyond_unit(promise, promise.unit, cell, size) if promise.proved else ""
