"""Read uploaded plans and counted tables, and show the sums of a release by a plan."""

import json
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.levels import Level
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.figures import inline_svg as charts
from utmost.interfaces.figures.inline_svg import short
from utmost.interfaces.service.api.request_parsing import strict_json
from utmost.interfaces.service.workers.axis_limits import check_listed
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.promise import Promise
from utmost.publish.releases.marginal_tables import wanted_marginals
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.withholding import WithholdingRule
from utmost.publish.statements.counted_files import COUNTED_FORM
from utmost.publish.statements.plan_files import PLAN_FORM
from utmost.tables.frames.any_table import adapter_of

# The page of a plan's release shows 4 marginals, of each 500 rows and 24 bars; of a domain above 20 000 cells none.
_MOST_CELLS, _MOST_MARGINALS, _MOST_BARS, _MOST_LISTED = 20_000, 4, 24, 500


def read_counted_file(content: bytes) -> CountedTable:
    """Read the counted table in a file of `utmost count`; error messages repeat nothing of another file."""
    return COUNTED_FORM.of(read_json_file(content, "utmost count"), "file")


def read_plan_file(content: bytes) -> tuple[Promise, Level]:
    """Return the promise and the level in a file of `utmost plan`; the file has only public facts."""
    plan = PLAN_FORM.of(read_json_file(content, "utmost plan"), "file")
    assert plan.level is not None, "a plan says its level"
    return Promise(noise=plan), plan.level


def read_json_file(content: bytes, command: str) -> Any:
    """Return the JSON in a file that a command wrote; refuse axes that are too long."""
    try:
        document = strict_json(content)
        check_listed(document)
        return document
    except json.JSONDecodeError:
        remedy = f"Choose the .json file that {command} wrote."
        raise BadTable("the file must be JSON", came="another file", where="file", remedy=remedy) from None


def read_part(text: str) -> tuple[str, str]:
    """Split text such as "town = Bern" into a partition and its part."""
    partition, _, part = map(str.strip, text.partition("="))
    if not partition or not part or "=" in part:
        raise OutOfRange("a part must be written as partition = part", where="part", remedy="Write town = Bern.")
    return partition, part


def read_rule(below: str) -> WithholdingRule | None:
    """Return the rule that withholds values below a number; None for empty text."""
    return WithholdingRule.of(below=below) if below.strip() else None


def shown_sums(
    release: NoisySums, level: Level, rule: WithholdingRule | None = None, ordered: str = ""
) -> dict[str, Any]:
    """Return the measured marginals of a release as charts and tables; none for a domain of too many cells."""
    # `ordered` names a level, such as "year", of an axis of bins or dates: its quartiles are shown. "" shows none.
    plan, domain = release.plan, release.domain
    is_small = domain.size <= _MOST_CELLS
    # Tables of a plan by rows have no workload: its measured marginals are shown.
    wanted = plan.shares if plan.rows is not None else wanted_marginals(plan)
    tables = [release.table_name(marginal) for marginal in wanted]
    names = tables if is_small else []
    axes = [axis.levels for axis in domain.axes if axis.edges is not None] if is_small else []
    quarters = (("a quarter", "1/4"), ("half", "1/2"), ("three quarters", "3/4")) if ordered and is_small else ()
    return {
        "marginals": [shown for name in names[:_MOST_MARGINALS] for shown in _marginal_tables(release, name, rule)],
        "more_marginals": [(name or "total", name) for name in tables[len(names[:_MOST_MARGINALS]) :]],
        "part": release.promise.part,
        "level": level,
        "axes": [name for levels in axes for name in levels],
        "quartiles": [(words, str(release.quantile(ordered, share))) for words, share in quarters],
    }


def _marginal_tables(release: NoisySums, name: str, rule: WithholdingRule | None) -> list[dict[str, Any]]:
    """Return a table for each released column of a marginal; a cell withheld in the first table is withheld in all."""
    table, columns = release[name], release.value_columns
    numbers = len(columns) * 2
    axes, (first, first_margin) = adapter_of(table).names(table)[:-numbers], columns[0]
    labels = [" ".join(str(table[axis][row]) for axis in axes) or "total" for row in range(len(table[first]))]
    pairs = zip(table[first].tolist(), table[first_margin].tolist(), strict=True)
    is_shown = [rule is None or rule.passes(value, bar) for value, bar in pairs]
    amount = "" if release.unit.amount is None else release.unit.amount.name
    shown = [
        _column_table(name, value if len(columns) > 1 else amount, labels, table[value], table[margin], is_shown)
        for value, margin in columns
    ]
    if release.plan.amount_pair is not None and len(labels) <= _MOST_BARS:  # a mean takes a twentieth of a second
        shown.append(_means_table(release, name, labels, is_shown))
    return shown


def _means_table(release: NoisySums, name: str, labels: list[str], is_shown: list[bool]) -> dict[str, Any]:
    """Return the means of a marginal, each with its interval."""
    amount = release.unit.amount
    assert amount is not None, "amounts were summed"
    means = release.with_means(name)
    ends = zip(*(list(means[f"{amount.name}_mean{end}"]) for end in ("", "_lower", "_upper")), strict=True)
    rows: list[tuple[str, str | None, str]] = []
    for label, show, (mean, low, high) in zip(labels, is_shown, ends, strict=True):
        is_known = mean is not None and mean == mean
        value = short(float(mean)) if is_known else "not determined"
        rows.append(
            (
                label,
                value if show else None,
                f"{short(float(low))} to {short(float(high))}" if is_known and show else "",
            )
        )
    return {
        "name": name or "total",
        "unit": f"{amount.name}_mean",
        "marginal": name,
        "picture": "",
        "drawn": len(rows) - is_shown.count(False),
        "rows": rows,
        "count": len(rows),
        "withheld": is_shown.count(False),
    }


def _column_table(
    name: str, of: str, labels: list[str], values: NDArray[Any], margins: NDArray[Any], is_shown: list[bool]
) -> dict[str, Any]:
    """Return one column of a marginal's table as a chart and as rows; `of` is the column's name on the page."""
    values, margins = values.tolist(), margins.tolist()
    margin = max(map(float, margins))
    drawn = [(label, float(value)) for label, value, show in zip(labels, values, is_shown, strict=True) if show]
    title = f"{name or 'total'}, each with its margin of {short(margin)} at 95 %"
    cells = zip(labels[:_MOST_LISTED], values, margins, is_shown, strict=False)
    return {
        "name": name or "total",
        "unit": of,
        "marginal": name,
        "picture": charts.error_bars(title, drawn[:_MOST_BARS], margin) if drawn else "",
        "drawn": min(len(drawn), _MOST_BARS),
        "rows": [(label, short(value) if show else None, f"± {short(bar)}") for label, value, bar, show in cells],
        "count": len(labels),
        "withheld": is_shown.count(False),
    }
