"""`utmost clean`: round a release by a plan to nonnegative whole numbers whose sums all agree."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from utmost.errors import NotANumber, NotDetermined, OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.screens.screen import facts, number, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import requested_tables
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.reports import print_json
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.detailed_release import DetailedSums
from utmost.publish.releases.measures_table import MeasuresTable
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.statements.clean_check import beside_estimates
from utmost.publish.workloads.reconstruction.public_facts import between
from utmost.publish.workloads.sums_in_words import TOTAL_WORD, read_marginal
from utmost.tables.files import files
from utmost.tables.files.saving import Digest
from utmost.tables.files.sidecars import check_free, publish, sidecar_path


def clean(
    release: file_options.ReleaseFile,
    *,
    given: Annotated[
        list[str] | None,
        option(
            "SUM: NUMBER",
            'Public sum that clean values must have: "total: 4526", "sex=men: 20..40" or '
            '"sex outcome=admitted: public.csv".',
        ),
    ] = None,
    hold: Annotated[str | None, option("SUMS", 'Sums to keep as released, rounded to integers: "total".')] = None,
    want: Annotated[
        str | None, option("SUMS", 'Table to write: "department sex"; by default all cells, if they were measured.')
    ] = None,
    out: file_options.TableOut = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Round a release to whole numbers, none negative, whose sums all agree.

    utmost clean release.json --given "total: 4526" --out clean.csv

    It costs no privacy. Clean values are biased: publish them beside the release, not instead of it.

    More: docs/howto/publish-consistent-tables.md
    """
    out = table_options.output(out, form)
    check_free(Path("table.csv"), out)
    published = read_release(release)
    released = published.table if isinstance(published, Answer) else published
    if isinstance(released, MeasuresTable) or (isinstance(released, NoisySums) and released.unit.is_shared):
        raise Unsupported(
            "`utmost clean` needs a release of counts or of sums, each with its own noise",
            came="counts and sums that share their noise (--mean)",
            remedy='Release the counts alone, without --mean, by --want "region age", for example; that adds epsilon.',
        )

    if isinstance(released, NoisyTable):
        if want is not None:
            came, remedy = repr(want), "Leave out --want: the cells are written."
            raise Unsupported("--want needs a release by a plan", came=came, remedy=remedy)
        cells = released.clean(None if given is None else _facts(given), hold=hold)
        statement_with = partial(cells.statement_with, marginal=cells.domain.finest)
        return _give(released.beside(cells), statement_with, out, form, as_json=as_json)
    if not isinstance(released, NoisySums | DetailedSums):
        raise Unsupported(
            "`utmost clean` works on releases by a plan",
            came="another kind",
            remedy="Release by a plan: utmost release TABLE --want, with the counting options; or utmost detail.",
        )

    domain = released.domain
    words: tuple[Any, ...] = domain.level_names(domain.finest)  # by default the cells
    if want is not None:
        words = read_marginal(domain, want)
    elif isinstance(released, NoisySums):
        try:
            released.reconstruction.check_marginal_determined(domain.finest)
        except NotDetermined:  # the cells were not measured: the default is the only requested table
            requested = requested_tables(released.plan)
            if len(requested) != 1:
                listed = " or ".join(f'--want "{name}"' for name in requested)
                required = "the cells were not measured, so --want must name the table"
                remedy = f"Write {listed}; all clean tables of one release agree with each other."
                raise OutOfRange(required, came="no --want", remedy=remedy) from None
            (words,) = requested.values()
    if not all(isinstance(word, str) for word in words):
        raise OutOfRange(
            "--want of a clean table must name columns, without labels",
            came=repr(want),
            remedy='Write, for example, --want "region age".',
        )
    chosen = domain.marginal(words)
    cleaned = released.clean(None if given is None else _facts(given), hold=hold)
    columns = beside_estimates(released, cleaned, chosen)
    table = {name: np.array(column, dtype=object) for name, column in columns.items()}
    _give(table, partial(cleaned.statement_with, marginal=chosen), out, form, as_json=as_json)


def _give(
    table: Any,
    statement_with: Callable[[Digest | None], dict[str, Any]],
    out: Path | None,
    form: str | None,
    *,
    as_json: bool,
) -> None:
    """Write the clean table and its statement, and print them."""
    report = statement_with(None) if out is None else publish(table, statement_with, out)
    if as_json:
        return print_json(report | {"table": files.columns(table)})
    if out is None:
        table_options.give_table(table, form)
    exactly = "" if report["zero_bias_is_exact"] else "at most "
    rows = {
        "table": report["marginal"] or TOTAL_WORD,
        "bias": f"a cell whose true value is 0 is too high by {exactly}{number(report['zero_bias'], 4)} on average",
        "largest move": f"rounding changed a measured sum by at most {number(report['largest_move'], 3)}",
    }
    if "guarantee" in report:
        rows["promise"] = report["guarantee"]
    if out is not None:
        rows["written"] = f"{out} and {sidecar_path(out)}"
    headline = ScreenText("Clean, for display and for programs that need counts.", style="bold")
    shown = ScreenGroup(headline, ScreenText(f"{report['words']}\n"), facts(rows))
    screen(stderr=out is None).print(shown)


def _facts(texts: list[str]) -> dict[str, Any]:
    """Return {name of a sum: public fact}; a fact is a number, bounds, or a table from a file."""
    public: dict[str, Any] = {}
    for text in texts:
        name, colon, value = (part.strip() for part in text.rpartition(":"))
        low, dots, high = value.partition("..")
        if not colon or name in public:
            came = repr(text) if not colon else f"{name!r} twice"
            raise OutOfRange(
                '--given must be "SUM: NUMBER", with each sum only once',
                came=came,
                where="--given",
                remedy='Write, for example, --given "total: 4526".',
            )
        if Path(value).is_file():
            public[name] = files.read(Path(value))
        else:
            try:
                public[name] = between(low or None, high or None) if dots else value
            except (NotANumber, OutOfRange):
                required, remedy = (
                    "bounds must be LOW..HIGH, LOW.. or ..HIGH",
                    "Write, for example, 10..40, 10.. or ..40.",
                )
                raise OutOfRange(required, came=repr(value), where="--given", remedy=remedy) from None
    return public
