"""`utmost withhold`: leave out or mark cells of a release, by a public rule on their noisy values."""

from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from utmost.errors import OutOfRange, Unsupported
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import facts, number, percent, screen
from utmost.interfaces.cli.screens.terminal import ScreenGroup, ScreenText
from utmost.interfaces.cli.screens.workload_screens import file_names
from utmost.interfaces.documents.published_files import read_release
from utmost.interfaces.documents.reports import print_json
from utmost.publish.releases.answer import Answer
from utmost.publish.releases.marginal_tables import wanted_marginals
from utmost.publish.releases.noisy_table import NoisyTable
from utmost.publish.releases.withheld import WithheldTable
from utmost.publish.releases.withholding import WithholdingRule
from utmost.publish.workloads.sums_in_words import TOTAL_WORD, read_marginal
from utmost.tables.files import files
from utmost.tables.files.atomic import Writer, check_absent_in, write_together
from utmost.tables.files.sidecars import check_free, sidecar_path, table_writers
from utmost.tables.files.signatures import signer_of

RARE = ("--complementary", "--mark", "--statement")


def withhold(
    release: file_options.ReleaseFile,
    *,
    below: Annotated[str | None, option("NUMBER", "Withhold cells whose noisy value is below this number.")] = None,
    relative_margin: Annotated[
        str | None, option("PART", "Withhold cells whose margin exceeds PART times the value, say 1/4.")
    ] = None,
    complementary: Annotated[bool, flag("Withhold further cells, so that no withheld cell follows from sums.")] = False,
    mark: Annotated[
        str,
        option(
            "WORD", "Mark of cells that the rule selects: withheld (cells are blank) or unreliable (values are shown)."
        ),
    ] = "withheld",
    want: Annotated[
        list[str] | None, option("SUMS", 'Table to show, if the release is by a plan: "department sex".')
    ] = None,
    statement: file_options.StatementFile = None,
    spelling: table_options.TextFileOptions,
    out: file_options.TableOut = None,
    tables: Annotated[Path | None, option("DIR", "Folder to which the tables are written, as .csv files.")] = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
    sign: options.Sign = None,
) -> None:
    """Withhold small or unreliable cells of a release by a public rule.

    utmost withhold released.csv --below 90 --out shown.csv

    Withholding costs no privacy and adds none. Publish the result instead of the release.

    More: docs/howto/publish-less-than-you-released.md
    """
    rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
    out = table_options.output(out, form)
    if tables is not None and out is not None:
        remedy = "Leave out --out: each table goes to a separate file in the folder."
        raise OutOfRange("only one of --out and --tables may be given", came="both", remedy=remedy)
    if tables is not None and form is not None:
        raise OutOfRange("--tables writes only .csv files", came="--format", remedy="Leave out --format.")
    check_free(Path("table.csv"), out, None if tables is not None else sign)

    published = read_release(release, statement, separator=spelling.separator, encoding=spelling.encoding)
    withheld: dict[str, WithheldTable[Any]]  # by the names of marginals; a released table has no name
    if isinstance(published, Answer) and published.is_by_plan:
        words = [read_marginal(published.table.domain, name) for name in want or ()]
        withheld = dict(published.table.withheld(rule, words or wanted_marginals(published.table.plan)))
    elif not isinstance(published, Answer | NoisyTable):
        remedy = (
            "Name a released table, or a release by a plan; utmost detail already publishes no details of small groups."
        )
        raise Unsupported(
            "utmost withhold reads a released table or a release by a plan", came="another file", remedy=remedy
        )
    elif want:
        raise OutOfRange("--want needs a release by a plan", came="a released table", remedy="Leave out --want.")
    else:
        withheld = {"": published.withheld(rule)}

    paths: dict[str, Path] = {}
    if tables is not None:
        paths = dict(zip(withheld, file_names(tables, withheld), strict=True))
        check_absent_in(tables, [file for path in paths.values() for file in (path, sidecar_path(path))])
        tables.mkdir(parents=True, exist_ok=True)
    elif out is not None and len(withheld) > 1:
        remedy = "Name a folder: --tables DIR; or one table: --want."
        raise OutOfRange("a file can have only one table", came=f"{len(withheld)} tables", where="--out", remedy=remedy)
    elif out is not None:
        paths = dict.fromkeys(withheld, out)

    signer = None if sign is None else signer_of(sign)
    writers: dict[Path, Writer] = {}
    statements: dict[str, dict[str, Any]] = {name: table.statement_with(None) for name, table in withheld.items()}
    for name, path in paths.items():
        check_free(Path("table.csv"), path, sign)
        mine, statements[name] = table_writers(withheld[name].table, withheld[name].statement_with, path, signer=signer)
        writers |= mine
    if writers:
        write_together(writers)

    if as_json:
        return print_json(
            [statements[name] | {"table": files.columns(table.table)} for name, table in withheld.items()]
        )
    is_printed = not paths and len(withheld) == 1
    if is_printed:
        table_options.give_table(next(iter(withheld.values())).table, form)

    first, first_table = next(iter(withheld.items()))
    rows = {
        name
        or (TOTAL_WORD if table.marginal is not None else "table"): f"{table.shown} of {table.cells} cells are shown"
        for name, table in withheld.items()
    }
    for fact in first_table.bias:
        if fact["bias"] is not None:
            true = number(Fraction(fact["true"]), 12)
            rows[f"a true value {true}" + (f" of {first or TOTAL_WORD}" if len(withheld) > 1 else "")] = (
                f"is shown in {percent(fact['chance_shown'])} of releases, with a mean error of "
                f"{number(fact['bias'], 3)}"
            )
    if paths:
        rows["written"] = ", ".join(f"{path} and {sidecar_path(path)}" for path in paths.values())
    elif not is_printed:
        rows["not written"] = "add --tables DIR for all tables; or --want for one of them"
    headline = ScreenText("Cells were withheld by a public rule; nothing was spent.", style="bold")
    screen(stderr=is_printed).print(ScreenGroup(headline, ScreenText(f"{first_table.rule_words}\n"), facts(rows)))
