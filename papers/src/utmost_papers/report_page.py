"""Build the HTML page that shows every numbered result of the papers, its comparisons, and the pictures."""

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files

from utmost_papers.comparison import CORRECTED, DIFFERS, EQUAL, EXTENDED, Comparison
from utmost_papers.contents import Paper

VERDICTS = (EQUAL, CORRECTED, EXTENDED, DIFFERS)
_MEANINGS = {
    EQUAL: "what was computed is what the paper prints or claims",
    CORRECTED: "the paper misprints or claims too much; the right value, known beforehand, was found",
    EXTENDED: "the paper gives no value; the one known beforehand was found",
    DIFFERS: "neither: an error here or there",
}
ComparisonsByPaper = Mapping[str, Sequence[Comparison]]
"""The comparisons of each paper, by the name of the paper: "ghosh"."""
Pictures = Mapping[str, Mapping[str, bytes]]
"""For the name of each paper, the SVG text of its pictures by file name, such as "figure_1"."""


def papers_page(
    papers: Sequence[Paper], comparisons: ComparisonsByPaper, pictures: Pictures, *, at_length: bool = False
) -> str:
    """Return the report as one HTML document that loads no other file. ``at_length`` says that ``comparisons`` include
    those that take minutes.
    """
    style = (files("utmost_papers") / "report_page.css").read_text(encoding="utf-8")
    long = "" if at_length else " <code>--long</code> adds what takes minutes."
    body = [
        "<header><h1>Four papers, computed</h1>",
        "<p>Each theorem, lemma, figure, table and number of the four papers beside what this library computes for it. "
        f"Nothing here is typed in: the page is what <code>utmost-papers</code> found.{long}</p></header>",
        _contents(papers),
        '<main><section id="summary"><h2>Summary</h2>',
        _summary(papers, comparisons),
        _legend(),
        _missing(papers, comparisons),
        "</section>",
        *(_paper(paper, comparisons[paper.name], pictures.get(paper.name, {})) for paper in papers),
        "</main>",
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" '
        f'content="light dark"><title>Four papers, computed</title><style>\n{style}</style></head>\n<body>\n'
        + "\n".join(body)
        + "\n</body></html>\n"
    )


def _contents(papers: Iterable[Paper]) -> str:
    links = ['<a href="#summary">Summary</a>', '<a href="#missing">What is missing</a>']
    links += [f'<a href="#{paper.name}">{_named(paper)}</a>' for paper in papers]
    return f'<nav aria-label="Contents">{"".join(links)}</nav>'


def _named(paper: Paper) -> str:
    return f"{paper.name.capitalize()} {paper.year}"


def _summary(papers: Iterable[Paper], comparisons: ComparisonsByPaper) -> str:
    shown = [verdict for verdict in VERDICTS if verdict != DIFFERS or _differs(comparisons)]
    head = ["paper", "numbered results", "comparisons", *shown, "say nothing testable", "without a row"]
    rows = []
    for paper in papers:
        verdicts, missing = paper.verdicts(comparisons[paper.name]), paper.missing(comparisons[paper.name])
        counts = [len(paper.results), len(comparisons[paper.name]), *(verdicts[name] for name in shown)]
        numbers = [*counts, len(paper.untestable), len(missing)]
        rows.append([f'<a href="#{paper.name}">{_named(paper)}</a>', *map(str, numbers)])
    totals = [sum(int(row[k]) for row in rows) for k in range(1, len(head))]
    rows.append(["all", *map(str, totals)])
    return _table("numbers", [escape(name) for name in head], rows)


def _differs(comparisons: ComparisonsByPaper) -> bool:
    return any(row.verdict == DIFFERS for rows in comparisons.values() for row in rows)


def _legend() -> str:
    parts = [f"<dt>{_badge(name)}</dt><dd>{meaning}</dd>" for name, meaning in _MEANINGS.items()]
    return f'<dl class="legend">{"".join(parts)}</dl>'


def _missing(papers: Iterable[Paper], comparisons: ComparisonsByPaper) -> str:
    """Return HTML that lists results without a comparison (an oversight), and untestable results with the reasons."""
    rows = [
        [_named(paper), escape(name), "no row"] for paper in papers for name in paper.missing(comparisons[paper.name])
    ]
    text = f"Without a row: {len(rows)} numbered results." if rows else "Without a row: nothing."
    listed = _table("plain", ["paper", "result", ""], rows) if rows else ""
    silent = [
        [_named(paper), escape(", ".join(names)), escape(reason)]
        for paper in papers
        for reason in dict.fromkeys(paper.untestable.values())
        for names in [[name for name, why in paper.untestable.items() if why == reason]]
    ]
    heads = ["paper", "results that say nothing testable", "reason"]
    return f'<h3 id="missing">What is missing</h3><p>{text}</p>{listed}{_table("plain", heads, silent)}'


def _paper(paper: Paper, comparisons: Sequence[Comparison], pictures: Mapping[str, bytes]) -> str:
    command = f"<code>utmost-papers {paper.name}</code>"
    parts = [
        f'<section id="{paper.name}"><h2>{_named(paper)}</h2>',
        f"<p>{escape(paper.authors)}: <cite>{escape(paper.title)}</cite> ({paper.year}). Command: {command}; one "
        f'result alone by <code>--only "{escape(_tested(paper))}"</code>.</p>',
    ]
    shown: set[str] = set()
    for name in paper.results:
        parts.append(_result(paper, name, comparisons))
        parts += [_picture(file, svg) for file, svg in pictures.items() if _figure_of(file) == name]
        shown |= {row.place for row in paper.rows_of(name, comparisons)}
    rest = [row for row in comparisons if row.place not in shown]
    if rest:
        parts.append(f'<h3 id="{paper.name}-other">Equations and sections</h3>{_comparisons(paper, rest, placed=True)}')
    return "\n".join([*parts, "</section>"])


def _tested(paper: Paper) -> str:
    return next(name for name in paper.results if name not in paper.untestable)


def _result(paper: Paper, name: str, comparisons: Sequence[Comparison]) -> str:
    title = f'<h3 id="{paper.name}-{_anchor(name)}">{escape(name)}</h3>'
    if name in paper.untestable:
        return f'{title}<p class="silent">Says nothing testable: {escape(paper.untestable[name])}.</p>'
    if name in paper.again:
        other = paper.again[name]
        return f'{title}<p class="silent">See <a href="#{paper.name}-{_anchor(other)}">{escape(other)}</a>.</p>'
    rows = paper.rows_of(name, comparisons)
    return title + (_comparisons(paper, rows) if rows else '<p class="silent">No row.</p>')


def _comparisons(paper: Paper, rows: Sequence[Comparison], *, placed: bool = False) -> str:
    lines = [
        [
            *([escape(row.place)] if placed else []),
            escape(row.what),
            _text(row.paper) or '<span class="silent">nothing</span>',
            _text(row.found) + (f'<p class="note">{escape(row.note)}</p>' if row.note else ""),
            _badge(row.verdict),
        ]
        for row in rows
    ]
    head = [*(["where"] if placed else []), "what", "the paper", "found", "status"]
    table = _table("rows", head, lines)
    if placed:
        return table
    command = f'utmost-papers {paper.name} --only "{escape(rows[0].place)}"'
    return f'{table}<p class="command"><code>{command}</code></p>'


def _text(text: str) -> str:
    """Return a text as HTML. A text of several lines, such as a matrix, keeps its lines."""
    return f"<pre>{escape(text)}</pre>" if "\n" in text else escape(text)


def _picture(file: str, svg: bytes) -> str:
    source = b64encode(svg).decode("ascii")
    name = file.replace("_", " ")
    return f'<figure><img alt="{escape(name)}, drawn anew" src="data:image/svg+xml;base64,{source}"></figure>'


def _figure_of(file: str) -> str:
    """Return which figure of the paper a picture file shows: "Figure 6" for "figure_6_les_miserables"."""
    return f"Figure {file.split('_')[1]}"


def _badge(verdict: str) -> str:
    return f'<span class="badge {verdict.lower()}">{verdict}</span>'


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")


def _table(kind: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "".join(f"<tr>{''.join(map(_cell, head, row))}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>'


def _cell(head: str, cell: str) -> str:
    """Return a table cell in HTML. It contains the heading of its column, which narrow screens show beside the cell."""
    return f'<td data-head="{head}">{cell}</td>'
