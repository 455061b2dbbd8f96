"""`utmost respond`: draw answers from a saved mechanism, for one secret or for each row of a table."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from utmost.errors import OutOfRange
from utmost.interfaces.cli.answers_in_ledger import AnswerLedgerOptions
from utmost.interfaces.cli.options import file_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import option
from utmost.interfaces.cli.options.people_options import split_names
from utmost.interfaces.cli.screens.screen import facts, screen
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.answers import ColumnsToAnswer, SavedMechanism, answered_table, saved_mechanism
from utmost.interfaces.documents.reports import print_json
from utmost.interfaces.documents.space_names import space_named
from utmost.tables.files.sidecars import check_free, publish, sidecar_path
from utmost.tables.files.text_files import PIPE

MechanismFile = Annotated[
    file_options.File,
    file_options.file_argument("DESIGN", "Design of `utmost design --out`, or a channel (.csv, .json)."),
]

RARE = ("--dataset", "--independent", "--data-version", "--drop", "--space")


def respond(
    design: MechanismFile,
    *,
    secret: Annotated[str | None, option("NAME", "Secret, by name or number; - reads it from standard input.")] = None,
    table: Annotated[
        file_options.File | None,
        file_options.file_option("TABLE", "Table with one person's secret in each row.", "--file"),
    ] = None,
    column: Annotated[str | None, option("NAME", "Column of the secrets in --file.")] = None,
    public: Annotated[list[str] | None, option("NAMES", "Columns of --file to publish without noise.")] = None,
    drop: Annotated[list[str] | None, option("NAMES", "Columns of --file to leave out.")] = None,
    id_column: Annotated[
        str | None,
        option(
            "PERSON",
            "Public column of --file that names persons; without --file, one person's name.",
            "--id",
        ),
    ] = None,
    kept: Annotated[
        file_options.File | None,
        file_options.file_option("TABLE", "Table of earlier answers to repeat; needs --id."),
    ] = None,
    ledger: AnswerLedgerOptions,
    space: options.SpaceSpec = None,
    spelling: table_options.TextFileOptions,
    out: file_options.TableOut = None,
    form: options.Format = None,
    as_json: options.AsJson = False,
) -> None:
    """Draw an answer for a secret, or for each row of a table, from a mechanism in a file.

    utmost respond design.json --secret 3

    Each new answer about a person costs the level again; with --ledger or --kept the old answer is repeated.

    More: docs/howto/hide-a-location.md
    """
    if ledger.ledger is not None and id_column is None:
        remedy = "Add --id person: the column that identifies persons, or the name of one person."
        raise OutOfRange("--ledger needs --id", came="none", remedy=remedy)
    if table is None and ledger.ledger is None and id_column is not None:
        raise OutOfRange(
            "--id needs --file or --ledger", came="neither", remedy="Add --file or --ledger, or leave out --id."
        )
    if (secret is not None and table is not None) or (secret is None and table is None and ledger.ledger is None):
        remedy = "Write --secret 3 for one answer, or --file TABLE --column COLUMN for an answer in each row."
        raise OutOfRange(
            "exactly one of --secret and --file must be given", came="none" if table is None else "both", remedy=remedy
        )
    if table is None and any((column, public, drop, kept, out)):
        remedy = "Add --file TABLE, or leave them out."
        raise OutOfRange("--column, --public, --drop, --kept and --out need --file", came="none", remedy=remedy)
    if table is None:
        options.refuse("needs --file", spelling)
        if form is not None:
            raise OutOfRange("--format needs --file", came="none", remedy="Leave out --format.")
    if kept is not None and ledger.ledger is not None:
        raise OutOfRange("only one of --kept and --ledger may be given", came="both", remedy="Leave out --kept.")

    saved = saved_mechanism(design, None if space is None else space_named(space))
    in_ledger = ledger.kept(saved, design)
    if table is None:
        typed = None if secret is None else _typed(secret)
        if in_ledger is None:
            (answer,) = saved.draw([str(typed)])
            if as_json:
                return print_json({"answer": answer, "statement": saved.statement()})
            screen().print(facts({"answer": answer}))
            return _print_guarantee(saved, {})
        answers, repeated = in_ledger.answers({_typed(str(id_column)): typed})
        (answer,), about = answers.values(), in_ledger.facts()
        if as_json:
            statement = saved.statement(by_ledger=True, repeated=repeated, **about)
            return print_json({"answer": answer, "statement": statement})
        how = "repeated from the ledger" if repeated else "drawn now, and stored in the ledger"
        screen().print(facts({"answer": answer, "which is": how}))
        return _print_guarantee(saved, _ledger_rows(about), by_ledger=True)

    if column is None:
        raise OutOfRange(
            "--file needs --column", came="none", remedy="Add the column of the secrets, for example --column answer."
        )
    request = ColumnsToAnswer(column, split_names(public or []), split_names(drop or []), id_column, kept)
    source, out = spelling.of(table), table_options.output(out, form)
    check_free(source, out)
    answered = answered_table(saved, source, request, None if in_ledger is None else in_ledger.answers)
    about = {} if in_ledger is None else in_ledger.facts()
    answered = replace(answered, facts=answered.facts | about)
    statement = answered.facts if out is None else publish(answered.table, answered.statement_with, out)
    if as_json:
        return print_json(statement if out is not None else {"statement": statement, "table": answered.table})
    if out is None:
        table_options.give_table(answered.table, form)
    rows = f"{statement['rows']} rows ({statement['repeated']} repeated), in the column {statement['column']}"
    done = {"answered": rows, **({} if out is None else {"written": f"{out} and {sidecar_path(out)}"})}
    promised = {} if in_ledger is None else _ledger_rows(about)
    _print_guarantee(saved, done | promised, by_ledger=in_ledger is not None, stderr=out is None)


def _typed(text: str) -> str:
    """Return the text of a secret or person; "-" stands for standard input, so that no shell history has the text."""
    return sys.stdin.readline().strip() if text == PIPE else text


def _ledger_rows(about: Mapping[str, Any]) -> dict[str, str]:
    """Return, for the screen, the name and version of the mechanism in a ledger, and the level of all its answers."""
    return {
        "kept as": f"{about['name']}, version {about['data_version']}",
        "together": f"epsilon = {about['together']} for all versions together",
    }


def _print_guarantee(
    saved: SavedMechanism, more: dict[str, Any], *, by_ledger: bool = False, stderr: bool = False
) -> None:
    """Print how much the answers reveal, and what further answers cost."""
    unit_distance = " ".join(["1", *([] if saved.space.unit is None else [saved.space.unit])])
    level = f"epsilon = {saved.facts['epsilon']} for secrets at distance {unit_distance}"
    shown = {**more, "level": level, "checked": saved.checked}
    console = screen(stderr=stderr)
    console.print(facts(shown))
    console.print(ScreenText(f"\n{saved.guarantee(by_ledger=by_ledger)}"))
