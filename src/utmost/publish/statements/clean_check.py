"""Whether a clean table is as near to its release as it says, whichever solver found it: its certificate is checked."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import BadTable, Infeasible, NotANumber, NotDetermined, OutOfRange, Unsupported, WrongKind
from utmost.publish.promises.codec import check_header, differing
from utmost.publish.promises.statement import digest_of, does_not_follow, stated_field, unlike
from utmost.publish.promises.statement_kinds import CLEAN_KIND
from utmost.publish.promises.workload_statements import sums_digest
from utmost.publish.releases.clean_release import CleanTable
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.noisy_sums import Families, NoisySums
from utmost.publish.statements.detailed_check import check_whole
from utmost.publish.workloads.bounds.clean_certificate import CleanCertificate
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.publish.workloads.sums_in_words import read_family
from utmost.tables.files import files
from utmost.tables.frames.any_table import adapter_of

_ROUNDED = frozenset({"zero_bias"})


@progress_bar("Checking a clean table")
def check_clean(statement: Mapping[str, Any], table: Any, release: Mapping[str, Any]) -> CleanTable:
    """Check that a clean table, and what is said of it, are those of a release by a plan, and of public facts.

    Args:
        statement: Statement that was written beside the table.
        table: labels and the column "clean"; estimates and error bars may stand beside them.
        release: the document of the release, by a plan or in two stages, which is checked first.

    Returns:
        The clean tables.

    Cost: some passes over the cells in Python's integers, and no solver: a second for 10^5 cells.
    """
    check_header(statement, CLEAN_KIND, "a statement of a clean table")
    whole = check_whole(release)
    made_of = whole.together if isinstance(whole, DetailedSums) else whole
    if stated_field(statement, "of", dict) != {"measured": sums_digest(made_of)}:
        raise BadTable("a clean table must be made of the release's sums", came="other sums", where="of")
    name = stated_field(statement, "family", str)
    listed = stated_field(statement, "given", list) if "given" in statement else None
    held = stated_field(statement, "held", list) if "held" in statement else None
    if "certificate" not in statement:
        remedy = "Make the clean table again from its release: clean, or utmost clean."
        raise BadTable("a clean table must have a certificate", came="none", where="certificate", remedy=remedy)
    try:
        family = made_of.domain.family(read_family(made_of.domain, name))
        facts = None if listed is None else PublicFacts.of_facts(made_of.domain, listed, made_of.unit.amount)
        problem = whole.clean_problem(facts, held)
        certificate = CleanCertificate.of_facts(made_of.domain, stated_field(statement, "certificate", dict))
        clean = problem.certified(certificate)
    except (Infeasible, NotANumber, NotDetermined, OutOfRange, Unsupported, WrongKind) as error:
        required = "table, public facts and held sums must be such as the release has"
        raise BadTable(required, came=str(error)[:200]) from error
    for name in differing(statement, clean.said(digest_of(statement), family), _ROUNDED):
        raise does_not_follow(name)
    _check_cells(table, beside_estimates(whole, clean, family))
    return clean


def beside_estimates(release: NoisySums | DetailedSums, clean: CleanTable, family: Families) -> dict[str, Any]:
    """The whole numbers; behind the estimates and their error bars as they were released, where one stage has them."""
    estimates = files.columns(release[family]) if isinstance(release, NoisySums) else {}
    return estimates | files.columns(clean[family])


def _check_cells(table: Any, expected: Mapping[str, Any]) -> None:
    """Check each column against the cells of the certificate and the release, and that labels and numbers are there."""
    adapter = adapter_of(table)
    names = adapter.names(table)
    if "clean" not in names or not set(names) <= set(expected):
        raise BadTable("a clean table must have labels and the column 'clean'", came=", ".join(names))
    for name in names:
        column, wanted = (
            cells.tolist() if isinstance(cells, np.ndarray) else cells
            for cells in (adapter.column(table, name), expected[name])
        )
        if len(column) != len(wanted) or any(map(unlike, column, wanted)):
            raise BadTable("a clean table must be the one of its certificate", came="another", where=repr(name))
