"""`utmost research vertices`: list or count the extreme posteriors of a privacy type, and their orbits."""

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, TextIO

import click

from utmost.core.exact.levels import Level
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.exact.written_levels import level_facts
from utmost.design.geometry.symmetries import vertex_orbits
from utmost.design.geometry.vertex_search import count_vertices, vertex_blocks
from utmost.design.geometry.vertex_search import vertices as listed
from utmost.design.privacy_types.privacy_type import PrivacyType
from utmost.errors import OutOfRange
from utmost.interfaces.cli.kernel_files import height_rows, posterior_rows
from utmost.interfaces.cli.options import file_options, research_options, table_options
from utmost.interfaces.cli.options import shared_options as options
from utmost.interfaces.cli.options.option_kinds import flag, option
from utmost.interfaces.cli.screens.screen import entry_text, facts, grid, others, screen, tallied
from utmost.interfaces.cli.screens.terminal import ScreenText
from utmost.interfaces.documents.space_names import secret_names
from utmost.publish.promises.codec import header
from utmost.tables.files.atomic import write_together
from utmost.tables.files.json_files import write_list

MOST_VERTICES_SHOWN = 24

# Posteriors of more than `_WIDEST` secrets are printed as heights only; files and JSON have the posteriors.
_WIDEST = 8


def show_vertices(
    spelled: str,
    ptype: PrivacyType,
    level: Level | None,
    total: str,
    rows: Sequence[tuple[list[str], list[str]]],
    more: bool,
    plot: Path | None,
) -> None:
    """Print the heights h of the first vertices; if ``rows`` has them, also the posteriors alpha^h / sum of alpha^h."""
    shown = {
        "secrets": f"{ptype.space.size}: {spelled}",
        **({} if level is None else {"level": str(level)}),
        "vertices": total,
        **({"drawn": str(plot)} if plot is not None else {}),
    }
    console = screen()
    console.print(facts(shown))
    names = secret_names(ptype.space)
    if any(v for _, v in rows) and len(names) <= _WIDEST:
        console.print(ScreenText("\nPosteriors v(x) = alpha^h(x) / sum", style="bold"))
        titles = ["h", *names]
        console.print(grid(titles, [[heights_text(h), *map(entry_text, v)] for h, v in rows]))
    else:
        console.print(ScreenText("\nExponents h of the posteriors v(x) = alpha^h(x) / sum", style="bold"))
        console.print(grid(["h"], [[heights_text(h)] for h, _ in rows]))
    if more:
        console.print(ScreenText("and others: --out FILE writes all vertices", style="dim"))


def show_orbits(spelled: str, count: int, rows: Sequence[dict[str, Any]]) -> None:
    """Print, for each orbit, the number of its vertices, and the heights of one vertex."""
    console = screen()
    console.print(facts({"secrets": spelled, "vertices": str(count), "orbits": str(len(rows))}))
    shown = [[heights_text(row["heights"]), str(row["size"])] for row in rows[:MOST_VERTICES_SHOWN]]
    console.print(
        grid(["one vertex, by its exponents h", "vertices"], shown),
        *others(len(rows) - MOST_VERTICES_SHOWN, "more orbits"),
    )


def heights_text(heights: Sequence[str]) -> str:
    """Return the heights of one vertex as one line of text.

    >>> heights_text(["0", "1"]), heights_text(["0", "1 + sqrt(2)"])
    ('0 1', '0, 1 + sqrt(2)')
    """
    return (", " if any("sqrt" in h for h in heights) else " ").join(heights)


# The screen says "more than" this number if there are more vertices; --count has their number.
_MOST_SHOWN = 5_000


def vertices(
    *,
    asked: research_options.PrivacyTypeOptions,
    count: research_options.CountOnly = False,
    orbits: research_options.ByOrbit = False,
    heights: Annotated[bool, flag("Print exponents h(x); the vertices v(x) are proportional to alpha^h(x).")] = False,
    out: Annotated[Path | None, option("FILE", "File for all vertices, row by row (.csv or .json).")] = None,
    plot: options.Plot = None,
    as_json: options.AsJson = False,
) -> None:
    """List or count the vertices of a privacy type: the most extreme posteriors that it allows.

    With --count, --orbits or --heights no level is needed.

    More: docs/theory/designs.md
    """
    spelled, ptype = asked.read(needed=plot is not None or not (count or orbits or heights))
    if count and orbits:
        raise OutOfRange("only one of --count and --orbits may be given", came="both", remedy="Leave one out.")
    research_options.check_unused({"--heights": count and heights}, "with --count")
    answer = options.Output(out if count or orbits else None, as_json)
    if plot is not None:
        draw_type(spelled, ptype, plot)
    if count:
        with progress_bar(f"Counting the vertices of {spelled}"):
            counted = count_vertices(ptype)
        if answer.give({"space": spelled, "vertices": counted}):
            click.echo(counted)
        return
    if orbits:
        with progress_bar(f"Sorting the vertices of {spelled} into orbits"):
            every = listed(ptype)
            parts = vertex_orbits(every)
        representatives = height_rows([every.chosen(parts.representatives)])
        sizes = [
            {"size": int(size), "heights": row} for size, row in zip(parts.sizes.tolist(), representatives, strict=True)
        ]
        report = {"space": spelled, "vertices": len(every), "orbits": sizes}
        if answer.give(report):
            show_orbits(spelled, len(every), sizes)
        return
    level = ptype.level if asked.level.is_given else None
    if out is not None and not (as_json and file_options.file_of(out) is None):
        rows = tallied(_rows(ptype, heights=heights), "vertices written")
        document = partial(_stream, spelled, ptype, level, heights=heights)
        return table_options.give_rows(secret_names(ptype.space), rows, out, document)
    if as_json:
        return _stream(spelled, ptype, level, sys.stdout, heights=heights)
    with progress_bar(f"Listing the vertices of {spelled}"):
        first = list(islice(_rows(ptype, heights=True), MOST_VERTICES_SHOWN + 1))
        posteriors = (
            [[] for _ in first[:MOST_VERTICES_SHOWN]]
            if heights
            else list(islice(_rows(ptype, heights=False), MOST_VERTICES_SHOWN))
        )
        number = sum(1 for _ in islice(_rows(ptype, heights=True), _MOST_SHOWN + 1))
    total = f"{number}" if number <= _MOST_SHOWN else f"more than {_MOST_SHOWN}: --count gives the number"
    listed_rows = list(zip(first, posteriors, strict=False))
    show_vertices(spelled, ptype, level, total, listed_rows, len(first) > MOST_VERTICES_SHOWN, plot)


def _stream(spelled: str, ptype: PrivacyType, level: Level | None, file: TextIO, *, heights: bool) -> None:
    head = {
        **header("utmost vertices"),
        "space": spelled,
        **({} if level is None else level_facts(level)),
        "secrets": secret_names(ptype.space),
        "as": "heights" if heights else "posteriors",
    }
    write_list(head, "vertices", _rows(ptype, heights=heights), file)


def _rows(ptype: PrivacyType, *, heights: bool) -> Iterator[list[str]]:
    blocks = vertex_blocks(ptype, rows=1 << 12)
    return height_rows(blocks) if heights else posterior_rows(blocks)


def draw_type(spelled: str, ptype: PrivacyType, plot: Path) -> None:
    """Plot a privacy type on three or four secrets into a file."""
    from utmost.interfaces.figures.simplex_pictures import check_drawable, type_figure

    check_drawable(ptype, plot)
    write_together({plot: lambda file: type_figure(ptype, file, plot, name=spelled)})
