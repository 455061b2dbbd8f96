"""Define the command `utmost-papers`, which recomputes the results of four papers and compares them with the printed
ones.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import click

from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import OutOfRange
from utmost.interfaces.cli import main as command_line
from utmost.interfaces.cli.options import file_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import argument, flag, option
from utmost.interfaces.cli.screens.screen import grid, screen
from utmost.interfaces.cli.screens.terminal import ScreenColumn, ScreenTable, ScreenText
from utmost.interfaces.documents.reports import print_json
from utmost.tables.files.atomic import Writer, check_absent_in, write_together
from utmost_papers.comparison import CORRECTED, DIFFERS, EQUAL, EXTENDED, Comparison

if TYPE_CHECKING:
    from utmost_papers.contents import Paper

_STYLES = {EQUAL: "green", CORRECTED: "yellow", EXTENDED: "cyan", DIFFERS: "bold red"}


def show_comparisons(comparisons: Sequence[Comparison]) -> None:
    """Print the comparisons as a table, then the number of comparisons with each verdict."""
    titles = ("where", "what", "the paper", "found", "")
    rows: list[tuple[str | ScreenText, ...]] = []
    for each in comparisons:
        shown = ScreenText(each.found).append(f"\n{each.note}" if each.note else "", "dim")
        verdict = ScreenText(each.verdict, _STYLES[each.verdict])
        rows.append((each.place, each.what, each.paper or ScreenText("nothing", "dim"), shown, verdict))
    table = grid(titles, rows, left=len(titles))
    counts = Counter(each.verdict for each in comparisons)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES if counts[verdict])
    screen().print(table, ScreenText(summary, "bold red" if counts[DIFFERS] else "bold"))


WHICH = "ghosh (2009), geng (2012), koufogiannis (2015), fernandes (2022), or all."


@dataclass(frozen=True, slots=True)
class ReportOutput(options.Output):
    """Destination of the comparisons: a JSON file, or a folder for a report page with pictures and JSON."""

    out: Annotated[
        Path | None,
        option(
            "FILE|DIR",
            "File for the comparisons (.json), or folder for a report.",
        ),
    ] = None

    def __post_init__(self) -> None:
        if self.folder is None:
            options.Output.__post_init__(self)
        elif self.folder.suffix:
            raise OutOfRange(
                "--out must end in .json, or name a folder", came=self.folder.name, remedy="Write --out report."
            )

    @property
    def folder(self) -> Path | None:
        """The folder for the report; None if the comparisons go to a file or the screen."""
        path = file_options.file_of(self.out)
        return path if path is not None and path.suffix.lower() != ".json" else None


def reproduce(
    paper: Annotated[str, argument("PAPER", WHICH)],
    *,
    long: Annotated[bool, flag("Also compute the results that take minutes (only fernandes has some).")] = False,
    only: Annotated[str | None, option("RESULT", 'Show only this numbered result, say "Theorem 4".')] = None,
    plot: Annotated[Path | None, option("DIR", "Folder for the paper's pictures (.svg).")] = None,
    answer: ReportOutput,
) -> None:
    """Recompute the figures, theorems and numbers of the four papers.

    utmost-papers all --out report

    Each number is marked equal, corrected (the paper is wrong) or extended (the paper prints none).
    If a number differs, the command ends with exit code 1.
    """
    from utmost_papers.contents import papers_named

    papers = papers_named(paper)
    if plot is not None:
        with progress_bar(f"Drawing the pictures of {paper}"):
            _draw(papers, plot)
    comparisons = {}
    for each in papers:
        with progress_bar(f"Computing what {each.name} prints"):
            comparisons[each.name] = _chosen(each, list(each.comparisons(long)), only)
    if only is not None and not any(comparisons.values()):
        known = ", ".join(dict.fromkeys(name for each in papers for name in each.results))
        remedy = f"Name one of {known}; or leave out --only to see all."
        raise OutOfRange("--only must name a result of the paper", came=only, remedy=remedy)
    _give(papers, comparisons, answer, long)
    if any(row.verdict == DIFFERS for rows in comparisons.values() for row in rows):
        raise click.exceptions.Exit(1)


def _chosen(paper: "Paper", rows: list[Comparison], only: str | None) -> list[Comparison]:
    return rows if only is None else paper.rows_of(only, rows)


def _give(
    papers: Sequence["Paper"], comparisons: dict[str, list[Comparison]], answer: ReportOutput, long: bool
) -> None:
    """Write the report folder or the JSON file that ``answer`` requests. If it requests neither, print to the
    screen.
    """
    as_data = {name: [asdict(row) for row in rows] for name, rows in comparisons.items()}
    data = as_data if len(papers) > 1 else as_data[papers[0].name]

    if answer.folder is None:
        if answer.give(data):
            for paper in papers:
                if len(papers) > 1:
                    screen().print(ScreenText(f"{paper.name} ({paper.year})", "bold"))
                show_comparisons(comparisons[paper.name])
        return
    with progress_bar("Drawing the pictures"):
        _write_report(papers, comparisons, answer.folder, data, long)
    if answer.as_json:
        print_json(data)
    else:
        show_summary(papers, comparisons)
        screen().print(ScreenText(f"The report is {answer.folder / 'index.html'}."))


def show_summary(papers: Sequence["Paper"], comparisons: dict[str, list[Comparison]]) -> None:
    """Print, for each paper, the number of comparisons with each verdict, and the results that have no comparison."""
    titles = ("paper", "numbered results", *_STYLES, "without a row")
    rows: list[tuple[str | ScreenText, ...]] = []
    for paper in papers:
        verdicts, missing = paper.verdicts(comparisons[paper.name]), paper.missing(comparisons[paper.name])
        counts = [ScreenText(str(verdicts[name]), style) for name, style in _STYLES.items()]
        shown = ", ".join(missing) or "nothing"
        rows.append((f"{paper.name} ({paper.year})", str(len(paper.results)), *counts, shown))
    columns = [ScreenColumn(title, right=title != "paper") for title in titles]
    screen().print(ScreenTable(columns, rows, has_titles=True))


def _write_report(
    papers: Sequence["Paper"], comparisons: dict[str, list[Comparison]], folder: Path, data: Any, long: bool
) -> None:
    """Write the HTML page and the JSON file, or neither if one fails. If matplotlib is not installed, the page has no
    pictures.
    """
    from utmost.tables.files.json_files import write_json
    from utmost_papers.report_page import papers_page

    page = papers_page(papers, comparisons, _drawn(papers), at_length=long)
    writers: dict[Path, Writer] = {
        folder / "comparisons.json": lambda file: write_json(data, file),
        folder / "index.html": lambda file: file.write(page.encode()),
    }
    check_absent_in(folder, writers)
    folder.mkdir(parents=True, exist_ok=True)
    write_together(writers)


def _drawn(papers: Sequence["Paper"]) -> dict[str, dict[str, bytes]]:
    """Return, for the name of each paper, its pictures as SVG by file name. There are none if matplotlib is not
    installed.
    """
    if find_spec("matplotlib") is None:
        return {}
    from utmost_papers.paper_pictures import pictures

    return {paper.name: {name: _svg(draw) for name, draw in pictures(paper.name).items()} for paper in papers}


def _svg(picture: Callable[[BinaryIO, str], None]) -> bytes:
    file = BytesIO()
    picture(file, "svg")
    return file.getvalue()


def _draw(papers: Sequence["Paper"], folder: Path) -> None:
    """Write all pictures to a folder, or none if one fails. For several papers, each file name starts with the name of
    the paper.
    """
    from utmost_papers.paper_pictures import pictures

    writers: dict[Path, Writer] = {
        folder / f"{f'{paper.name}_' if len(papers) > 1 else ''}{name}.svg": partial(_as_svg, picture)
        for paper in papers
        for name, picture in pictures(paper.name).items()
    }
    check_absent_in(folder, writers)
    folder.mkdir(parents=True, exist_ok=True)
    write_together(writers)


def _as_svg(picture: Callable[[BinaryIO, str], None], file: BinaryIO) -> None:
    picture(file, "svg")


def main(arguments: list[str] | None = None) -> None:
    """Run the command `utmost-papers`, and exit with its exit code."""
    command_line.main(arguments, command_line.command_of("utmost-papers", reproduce, ()))
