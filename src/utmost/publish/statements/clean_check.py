"""Check by its certificate that a clean table is as near to its release as it states, without a solver."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from utmost.core.exact.progress_bar import progress_bar
from utmost.core.privacy.amount import Amount
from utmost.errors import BadTable, Unsupported
from utmost.publish.promises.codec import StatementForm, stated_field
from utmost.publish.promises.statement import unlike
from utmost.publish.promises.statement_kinds import CLEAN_KIND
from utmost.publish.releases.clean_release import CleanProblem, CleanTable
from utmost.publish.releases.detailed_release import DetailedSums, whole_release
from utmost.publish.releases.noisy_sums import Families, NoisySums
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.workloads.bounds.clean_certificate import CleanCertificate
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.publish.workloads.sums_in_words import read_family
from utmost.tables.axes.domain import Domain, Family
from utmost.tables.files import files
from utmost.tables.frames.any_table import adapter_of

_ROUNDED = frozenset({"zero_bias"})


@progress_bar("Checking a clean table")
def check_clean(statement: Mapping[str, Any], table: Any, release: Mapping[str, Any] | NoisyTable) -> CleanTable:
    """Check that a clean table and its statement follow from a release by a plan and public facts.

    Args:
        statement: Statement in the JSON file of the table.
        table: Clean table: labels and the column "clean"; columns of estimates and margins of error are allowed.
        release: Document of the release, by a plan or in two stages, which is checked first; or the noisy table of
            another tool.

    Returns:
        The clean tables.

    Raises:
        BadTable: for a statement that does not follow from the release, and for a cell that differs.

    Cost: some passes over the cells in Python's integers, and no solver: a second for 10^5 cells.
    """
    if isinstance(release, NoisyTable):
        clean, _ = _noisy_form(release).checked(statement)
        _check_cells(table, release.beside(clean))
        return clean
    whole = whole_release(release)
    clean, family = _clean_form(whole).checked(statement)
    _check_cells(table, beside_estimates(whole, clean, family))
    return clean


def _noisy_form(release: NoisyTable) -> StatementForm[tuple[CleanTable, Family]]:
    """Statements of clean tables of a table with noise from another tool."""

    def proved(statement: Mapping[str, Any]) -> tuple[CleanTable, Family]:
        of = stated_field(statement, "of", dict)
        made_of = [name for name in release.columns if of == {"sums": release.digest(name)}]
        if not made_of:
            raise BadTable("a clean table must be made of the release's cells", came="other cells", where="of")
        return _proved(statement, release.domain, None, partial(release.clean_problem, column=made_of[0]))

    return StatementForm(CLEAN_KIND, "a statement of a clean table", _fields, proved, _ROUNDED)


def _clean_form(whole: NoisySums | DetailedSums) -> StatementForm[tuple[CleanTable, Family]]:
    """Statements of clean tables: marginal, public facts, held sums and certificate determine every field."""
    made_of = whole.together if isinstance(whole, DetailedSums) else whole
    domain = made_of.domain

    def proved(statement: Mapping[str, Any]) -> tuple[CleanTable, Family]:
        if stated_field(statement, "of", dict) != {"sums": made_of.digest}:
            raise BadTable("a clean table must be made of the release's sums", came="other sums", where="of")
        return _proved(statement, domain, made_of.unit.amount, whole.clean_problem)

    return StatementForm(CLEAN_KIND, "a statement of a clean table", _fields, proved, _ROUNDED)


def _fields(clean: tuple[CleanTable, Family]) -> dict[str, Any]:
    return clean[0].fields(clean[1])


def _proved(
    statement: Mapping[str, Any], domain: Domain, amount: Amount | None, problem: Callable[..., CleanProblem]
) -> tuple[CleanTable, Family]:
    """The clean table that the certificate in a statement proves, with the marginal of the statement."""
    if "certificate" not in statement:
        remedy = "Make the clean table again from its release: clean, or utmost clean."
        raise BadTable("a clean table must have a certificate", came="none", where="certificate", remedy=remedy)
    listed = stated_field(statement, "given", list) if "given" in statement else None
    held = stated_field(statement, "held", list) if "held" in statement else None
    facts = None if listed is None else PublicFacts.of_facts(domain, listed, amount)
    certificate = CleanCertificate.of_facts(domain, stated_field(statement, "certificate", dict))
    family = domain.family(read_family(domain, stated_field(statement, "family", str)))
    try:
        return problem(facts, held).certified(certificate), family
    except Unsupported as error:
        required = "public facts and held sums must be possible for the release"
        raise BadTable(required, came=str(error)[:200]) from None


def beside_estimates(release: NoisySums | DetailedSums, clean: CleanTable, family: Families) -> dict[str, Any]:
    """Return the clean table of a marginal; for a release in one stage, with its estimates and margins first."""
    estimates = files.columns(release[family]) if isinstance(release, NoisySums) else {}
    return estimates | files.columns(clean[family])


def _check_cells(table: Any, expected: Mapping[str, Any]) -> None:
    """Check the columns' names, and each column against the certificate's cells and the release."""
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
            raise BadTable("a clean table must be that of its certificate", came="other cells", where=repr(name))
