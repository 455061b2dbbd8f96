"""Whether a clean table is the one that its release gives: it is a function of the release, and is computed again."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.errors import BadTable, Infeasible, NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.laws.exact.long_work import long_work
from utmost.publish.promises.statement_kinds import CLEAN_FORMAT, CLEAN_KIND
from utmost.publish.releases.clean_release import CANCELS, CleanTable
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.workload_release import Families, WorkloadRelease
from utmost.publish.releases.workload_statements import sums_digest
from utmost.publish.statements.codec import check_header, differing
from utmost.publish.statements.detailed_check import check_whole
from utmost.publish.statements.statement_check import digest_of, does_not_follow, stated_field, unlike
from utmost.publish.tables import files
from utmost.publish.tables.adapters import adapter_of
from utmost.publish.workloads.clean import MANY
from utmost.publish.workloads.public_facts import PublicFacts
from utmost.publish.workloads.sums_in_words import read_family

_ROUNDED = frozenset({"zero_bias", "largest_move", "residual"})
_EARLIER = "Of so many cells earlier versions made other tables, as near: verify it by its own, or make it again."


@long_work("Checking a clean table")
def check_clean(statement: Mapping[str, Any], table: Any, release: Mapping[str, Any]) -> CleanTable:
    """Check that a clean table, and what is said of it, are those of a release by a plan, and of public facts.

    Args:
        statement: what was written beside the table.
        table: labels and the column "clean"; estimates and error bars may stand beside them.
        release: the document of the release, by a plan or in two stages, which is checked first.

    Returns:
        The clean tables, computed again.

    Cost: that of `WorkloadRelease.clean`.
    """
    check_header(statement, CLEAN_KIND, CLEAN_FORMAT, "a statement of a clean table", 1)
    whole = check_whole(release)
    made_of = whole.together if isinstance(whole, DetailedSums) else whole
    if stated_field(statement, "of", dict) != {"measured": sums_digest(made_of)}:
        raise BadTable("a clean table must be made of the release's sums", came="other sums", where="of")
    name = stated_field(statement, "family", str)
    listed = stated_field(statement, "given", list) if "given" in statement else None
    held = stated_field(statement, "held", list) if "held" in statement else None
    try:
        family = made_of.domain.family(read_family(made_of.domain, name))
        facts = None if listed is None else PublicFacts.of_facts(made_of.domain, listed, made_of.unit.amount)
        clean = whole.clean(facts, hold=held)
    except (Infeasible, NotANumber, OutOfRange, Unsupported, WrongKind) as error:
        required = "table, public facts and held sums must be such as the release has"
        raise BadTable(required, came=str(error)[:200]) from error
    clean = _as_earlier(clean, stated_field(statement, "zero_bias", float))
    for name in differing(statement, clean.said(digest_of(statement), family), _ROUNDED):
        raise does_not_follow(name)
    remedy = _EARLIER if made_of.domain.size > MANY else None
    _check_cells(table, beside_estimates(whole, clean, family), remedy)
    return clean


def beside_estimates(release: WorkloadRelease | DetailedSums, clean: CleanTable, family: Families) -> dict[str, Any]:
    """The whole numbers; behind the estimates and their error bars as they were released, where one stage has them."""
    estimates = files.columns(release[family]) if isinstance(release, WorkloadRelease) else {}
    return estimates | files.columns(clean[family])


def _as_earlier(clean: CleanTable, stated: float) -> CleanTable:
    """The table with the stated bias of zeros, where that is what earlier versions said of it.

    They took 1/(1/alpha - alpha) also where few digits are left of it; see `zero_bias`.
    """
    wide = 1.0 if clean.amount is None else float(clean.amount.step)
    if not clean.zero_bias_is_exact or 2 * clean.zero_bias * CANCELS < wide:
        return clean
    alpha = math.exp(-math.asinh(wide / (2 * clean.zero_bias)))
    # The level comes back from the bias but for its last digit, so alpha is this float or one beside it.
    for near in (math.nextafter(alpha, 0), alpha, math.nextafter(alpha, 1)):
        if near < 1 and math.isclose(stated, wide / (1 / near - near), rel_tol=2**-50):
            return replace(clean, zero_bias=stated)
    return clean


def _check_cells(table: Any, expected: Mapping[str, Any], remedy: str | None) -> None:
    """Check each column against the release's, and that the whole numbers and their labels are there."""
    adapter = adapter_of(table)
    names = adapter.names(table)
    if "clean" not in names or not set(names) <= set(expected):
        raise BadTable("a clean table must have labels and the column 'clean'", came=", ".join(names))
    for name in names:
        column = adapter.column(table, name)
        if len(column) != len(expected[name]) or any(map(unlike, column, expected[name])):
            raise BadTable(
                "a clean table must be the one that its release gives", came="another", where=repr(name), remedy=remedy
            )
