"""Check that a table with withheld cells follows its rule, and that exactly the right cells of a release are withheld.

The statement of the table contains the rule and the statement of the release without its digests, and follows from
these two. In the table, a blank cell must have the rule's mark, every shown cell must satisfy the rule, and labels and
margins of error must be those of the release. Only the complete release shows which cells the rule *must* show.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from utmost.core.exact.numbers import exact
from utmost.errors import BadTable, UtmostError
from utmost.publish.promises.codec import (
    StatementForm,
    differing,
    does_not_follow,
    names_of,
    stated_field,
    written_by,
)
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.statement import Statement, is_blank, unlike
from utmost.publish.promises.statement_kinds import NOISY_TABLE_KIND, WITHHELD_KIND, is_of_sums
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NOISY_TABLE_FORM, NoisyTable
from utmost.publish.releases.withheld import WithheldTable, narrowed_name, table_bias, without_digests
from utmost.publish.releases.withholding import SHOWN, WithholdingRule
from utmost.publish.workloads.sums_in_words import read_marginal
from utmost.publish.workloads.workload import narrowed
from utmost.tables.files import files

TextColumns = Mapping[str, list[Any]]


def _described(statement: Mapping[str, Any]) -> WithheldTable[Any]:
    """Return the table that a statement describes, without its cells; with labels and margins if a plan was used."""
    rule = WithholdingRule.of_facts(statement.get("rule"))
    release = stated_field(statement, "release", dict)
    if release.get("kind") == NOISY_TABLE_KIND:
        # The release is a table with noise from another tool.
        declared = NOISY_TABLE_FORM.checked(release)
        if release["table"] is not None or rule.complementary:
            raise does_not_follow("release")
        cells = declared.rows * len(declared.noise)
        described: WithheldTable[Any] = WithheldTable(
            None, rule, tuple(declared.noise), cells, 0, declared.bias(rule), release
        )
    elif is_of_sums(release):
        whole = NoisySums.without_sums(release)
        marginal, marginals = stated_field(statement, "marginal", str), names_of(statement, "marginals")
        words = _marginals(whole, marginals)
        if [narrowed_name(whole.domain, *narrowed(whole.domain, word)) for word in words] != marginals:
            raise does_not_follow("marginals")
        if marginal not in marginals:
            raise does_not_follow("marginal")
        alone = whole.withheld(replace(rule, complementary=False), [words[marginals.index(marginal)]])
        described = replace(alone[marginal], marginals=tuple(marginals), release=release)
    else:
        checked = Statement.of_facts(release)
        released, noise = checked.promise.columns, checked.noise
        if checked.digest is not None or not isinstance(noise, CellNoiseAtLevel):
            raise does_not_follow("release")
        described = WithheldTable(
            None, rule, released, checked.rows * len(released), 0, table_bias(rule, noise), release
        )
    shown = stated_field(statement, "shown", int)
    if not 0 <= shown <= described.cells:
        raise does_not_follow("shown")
    return replace(described, rule=rule, shown=shown)


WITHHELD_FORM = StatementForm(WITHHELD_KIND, "a statement of a withheld table", WithheldTable.facts, _described)
"""Statements of withheld tables: the release's statement, the rule and the number of shown cells determine every field.
"""


def check_withheld(
    statement: Mapping[str, Any], table: Any, release: Answer[Any] | NoisyTable | None = None
) -> WithheldTable[Any]:
    """Check that a table with withheld cells follows the rule in its statement, and follows from its release.

    Args:
        statement: Statement in the JSON file of the table.
        table: The table, as it was read.
        release: Answer or noisy table with the complete release, if available; the rule must then withhold exactly the
            cells that are withheld in the table.

    Returns:
        The table, with the facts of its statement.

    Raises:
        BadTable: if a shown cell breaks the rule, if a blank cell lacks the mark, or if a label or margin of error
            differs from the release; with ``release``, if any cell differs.
    """
    described = WITHHELD_FORM.checked(statement)
    columns = files.columns(table)
    _check_columns(statement, described, columns)
    marks = [mark for name in described.released for mark in columns[f"{name}_mark"]]
    if marks.count(SHOWN) != described.shown:
        raise BadTable(
            "the number of shown cells must be the number that the statement gives",
            came="another number",
            where="shown",
        )
    for name in described.released:
        marks, cells = columns[f"{name}_mark"], columns[name]
        margins = columns.get(f"{name}_margin", [])
        for row, (mark, cell, margin) in enumerate(zip(marks, cells, margins, strict=True)):
            where = f"column {name!r}, row {row + 1}"
            if mark not in (SHOWN, described.rule.mark):
                raise BadTable(f"a mark must be {SHOWN!r} or {described.rule.mark!r}", came="another mark", where=where)
            if is_blank(cell) != (mark != SHOWN and described.rule.is_blank):
                raise BadTable(
                    "the withheld cells, and no other cells, must be blank", came="another cell", where=where
                )
            if is_blank(cell):
                continue
            try:
                value, bar = exact(cell), exact(margin)
            except UtmostError:
                required = "a shown cell and its margin must be numbers"
                raise BadTable(required, came="another value", where=where) from None
            number = int(value) if value.denominator == 1 else float(value)
            if described.rule.passes(number, bar) != (mark == SHOWN):
                required = (
                    "a shown cell must satisfy the withholding rule"
                    if mark == SHOWN
                    else "a marked cell must break the withholding rule"
                )
                raise BadTable(required, came="another cell", where=where)
    if described.table is None and described.release["kind"] != NOISY_TABLE_KIND:
        whole = Statement.of_facts(described.release)
        whole.check_order(list(columns))
        for name in described.released:
            whole.check_cells([cell for cell in columns[name] if not is_blank(cell)], name)
    if release is not None:
        _check_made_of(described, columns, release)
    return replace(described, table=table)


def _check_columns(statement: Mapping[str, Any], described: WithheldTable[Any], columns: TextColumns) -> None:
    """Check the names of the columns, the number of rows, labels and margins."""
    if described.table is not None:
        expected = files.columns(described.table)
        open_columns = {f"{name}{end}" for name in described.released for end in ("", "_mark")}
        fixed = {name: cells for name, cells in expected.items() if name not in open_columns}
        rows = described.cells
    else:
        release, rows = statement["release"], statement["release"]["rows"]
        expected = {f"{name}{end}": list[Any]() for name in described.released for end in ("", "_mark", "_margin")}
        if release["kind"] == NOISY_TABLE_KIND:
            declared = NOISY_TABLE_FORM.checked(release)
            expected |= {name: [] for name in declared.public}
            fixed = {} if set(columns) != set(expected) else declared.margin_columns(columns)
        else:
            expected |= {name: [] for name in release["promise"]["public"]}
            fixed = {name: [margin] * rows for name, margin in release["margins"].items()}
    if sorted(columns) != sorted(expected):
        came = ", ".join(columns)
        raise BadTable("a withheld table must have the columns that its statement names", came=came, where="released")
    if any(len(cells) != rows for cells in columns.values()):
        raise BadTable(
            "the table must have the number of rows that its statement gives", came="another number", where="rows"
        )
    for name, cells in fixed.items():
        if any(map(unlike, columns[name], cells)):
            raise BadTable("the labels and margins must be those of the release", came="other values", where=repr(name))


def _check_made_of(described: WithheldTable[Any], columns: TextColumns, answer: Answer[Any] | NoisyTable) -> None:
    """Apply the rule to the release, and check that the result is this table."""
    again: WithheldTable[Any] | None = None
    if isinstance(answer, NoisyTable):
        again = answer.withheld(described.rule)
    elif isinstance(release := answer.table, NoisySums) and described.marginal is not None:
        again = release.withheld(described.rule, _marginals(release, described.marginals))[described.marginal]
        again = replace(again, release=without_digests(release.statement))
    elif not answer.is_by_plan and described.marginal is None:
        again = answer.withheld(described.rule)
    if again is None:
        raise BadTable(
            "the withheld table must follow from its release", came="another kind of release", where="release"
        )
    stated = described.facts()
    for name in differing(stated, written_by(json.loads(json.dumps(again.facts())), stated)):
        raise BadTable("the withheld table must follow from its release", came="another table", where=name)
    for name, cells in files.columns(again.table).items():
        if any(map(unlike, columns[name], cells)):
            required = "the withheld cells must be missing, and all other cells must be those of the release"
            raise BadTable(required, came="another table", where=f"column {name!r}")


def _marginals(release: NoisySums, names: Sequence[str]) -> list[tuple[Any, ...]]:
    return [read_marginal(release.domain, name) for name in names]
