"""`utmost release --promise` of a noise that has no options: drawn once, in the memory of the process."""

from pathlib import Path

from rich.text import Text

from utmost.doors.cli.release_options import ReleaseOptions
from utmost.doors.cli.screen import DRY, screen, shown_facts
from utmost.doors.cli.table_options import check_fits, give_table
from utmost.doors.documents.reports import print_json
from utmost.laws.exact.long_work import long_work
from utmost.publish.ledger.process_release import rehearse, release
from utmost.publish.statements.statement_readers import stated_release
from utmost.publish.tables import files


def publish_once(table: Path, told: ReleaseOptions) -> None:
    """Release a table by a promise once and for all, and show it; or what that would promise."""
    answer, promise, level = told.answer, told.promised.stated, told.level.read()
    assert promise is not None, "of a file"
    answer.check_free(table)
    source = files.read(table)
    check_fits(answer, source, promise.columns, promise.public)
    if told.dry_run:
        statement = rehearse(source, promise, epsilon=level, confidence=answer.confidence)
        return (
            print_json(statement)
            if answer.as_json
            else screen().print(shown_facts(DRY, stated_release(statement), is_whole=True))
        )
    with long_work(f"Checking and noising {table.name}"):
        published = release(source, promise, epsilon=level)
    statement, out = published.statement, answer.file
    if out is not None:
        statement = published.save(out, sign=answer.sign, confidence=answer.confidence)
    if answer.as_json:
        return print_json(statement if out else {"statement": statement, "table": files.columns(published.table)})
    if out is None:
        give_table(published.table, answer.form)
    screen(stderr=out is None).print(Text(), shown_facts("Released.", stated_release(statement), out), sep="\n")
