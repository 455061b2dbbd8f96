"""Check, without a solver, the certificate that proves how near a clean table is to its release."""

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
from utmost.publish.releases.noisy_sums import MarginalNames, NoisySums
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.workloads.bounds.clean_certificate import CleanCertificate
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.publish.workloads.sums_in_words import read_marginal
from utmost.tables.axes.domain import Marginal
from utmost.tables.files import files

_ROUNDED = frozenset({"zero_bias"})


@progress_bar("Checking a clean table")
def check_clean(statement: Mapping[str, Any], table: Any, release: Mapping[str, Any] | NoisyTable) -> CleanTable:
    """Check that a clean table and its statement follow from a release by a plan and public facts.

    Args:
        statement: Statement in the JSON file of the table.
        table: Clean table: labels and the column "clean"; columns of estimates and margins of error are allowed.
        release: Document of a release by a plan or in two stages (it is checked first), or a noisy table that another
            tool published.

    Returns:
        The clean tables.

    Raises:
        BadTable: if the statement does not follow from the release, or if a cell differs.

    Cost: some passes over the cells in Python's integers, and no solver: a second for 10^5 cells.
    """
    amount: Amount | None = None
    problems: dict[str, Callable[..., CleanProblem]]  # by the digest of the cells or sums that are cleaned
    if isinstance(release, NoisyTable):
        domain, columns = release.domain, list(release.columns)
        problems = {release.digest(name): partial(release.clean_problem, column=name) for name in columns[::-1]}
    else:
        whole = whole_release(release)
        made_of = whole.together if isinstance(whole, DetailedSums) else whole
        domain, amount, problems = made_of.domain, made_of.unit.amount, {made_of.digest: whole.clean_problem}

    def proved(statement: Mapping[str, Any]) -> tuple[CleanTable, Marginal]:
        """Return the clean table that the certificate in the statement proves, with the marginal of the statement."""
        of = stated_field(statement, "of", dict)
        if set(of) != {"sums"} or of["sums"] not in problems:
            raise BadTable("the clean table must follow from its release", came="other cells or sums", where="of")
        if "certificate" not in statement:
            remedy = "Compute the clean table from its release again: clean(), or utmost clean."
            raise BadTable("a clean table must have a certificate", came="none", where="certificate", remedy=remedy)
        listed = stated_field(statement, "given", list) if "given" in statement else None
        held = stated_field(statement, "held", list) if "held" in statement else None
        facts = None if listed is None else PublicFacts.of_facts(domain, listed, amount)
        certificate = CleanCertificate.of_facts(domain, stated_field(statement, "certificate", dict))
        marginal = domain.marginal(read_marginal(domain, stated_field(statement, "marginal", str)))
        try:
            return problems[of["sums"]](facts, held).certified(certificate), marginal
        except Unsupported as error:
            required = "the release must have a clean table for the public facts and held sums of the statement"
            raise BadTable(required, came=str(error)[:200]) from None

    # The marginal, the public facts, the held sums and the certificate determine every field.
    form: StatementForm[tuple[CleanTable, Marginal]] = StatementForm(
        CLEAN_KIND, "a statement of a clean table", lambda clean: clean[0].fields(clean[1]), proved, _ROUNDED
    )
    clean, marginal = form.checked(statement)
    expected = release.beside(clean) if isinstance(release, NoisyTable) else beside_estimates(whole, clean, marginal)
    cells = files.columns(table)
    if "clean" not in cells or not set(cells) <= set(expected):
        raise BadTable("a clean table must have columns of labels and the column 'clean'", came=", ".join(cells))
    for name, column in cells.items():
        follows = expected[name]
        wanted = follows.tolist() if isinstance(follows, np.ndarray) else follows
        if len(column) != len(wanted) or any(map(unlike, column, wanted)):
            required = "a clean table must have the cells that its certificate proves"
            raise BadTable(required, came="other cells", where=repr(name))
    return clean


def beside_estimates(release: NoisySums | DetailedSums, clean: CleanTable, marginal: MarginalNames) -> dict[str, Any]:
    """Return the clean table of a marginal; if the release has one stage, its estimates and margins come first."""
    estimates = files.columns(release[marginal]) if isinstance(release, NoisySums) else {}
    return estimates | files.columns(clean[marginal])
