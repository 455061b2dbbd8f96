"""Write a release as one HTML page to read, print or save as PDF, without scripts, other files or other hosts."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from utmost.core.exact.arguments import mapping, wrong_kind
from utmost.publish.releases.release_facts import (
    ANNEX,
    SECTIONS,
    TRUST,
    UNSIGNED,
    UNSIGNED_TRUST,
    Fact,
    ReleaseFacts,
    short_bar,
)
from utmost.publish.statements.registry_entries import Deployment, sentence_of

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --soft: #8882; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; }
h2 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
p { margin: .3rem 0; }
.promise { font-size: 1.1rem; border-left: .3rem solid #2a78b5; padding: .4rem .8rem; background: var(--soft); }
table { border-collapse: collapse; width: 100%; margin: .3rem 0; }
th, td { text-align: left; vertical-align: top; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); }
thead th { border-bottom: 2px solid var(--line); white-space: nowrap; }
tbody th { font-weight: 600; width: 11rem; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
td, th, p, li { overflow-wrap: anywhere; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
small, footer { opacity: .75; font-size: .85em; }
code { font-size: .85em; overflow-wrap: anywhere; }
@media (max-width: 30rem) { tbody th { width: auto; } }
.kind { opacity: .75; font-size: .85em; }
.released { overflow-x: auto; }
.released table { width: auto; }
.released td, .released th { padding-right: 1.4rem; white-space: nowrap; }
.released .number { text-align: right; }
@page { size: A4; margin: 8mm 12mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 8pt; line-height: 1.16; max-width: none; margin: 0; padding: 0; color: #000; background: #fff; }
  h1 { font-size: 12pt; } h2 { font-size: 9.5pt; margin: 1.2mm 0 .2mm; } p { margin: .15rem 0; }
  th, td { padding: .05rem .6rem .05rem 0; } .promise { font-size: 9pt; padding: .2rem .6rem; }
  ul { columns: 2; } tr, li, .promise, .released { break-inside: avoid; } h2 { break-after: avoid; }
  footer { font-size: 7pt; } footer p { margin: 0; }
}
"""

_WHO = "Ask who one individual is, as the publisher counted: a person, a household or a visit."

ASKED = "What is asked of you"
"""Title of the section with the questions that a reader should ask."""

HEADING = "What this release promises"

MOST_PRINTED_ROWS = 40
"""A page for readers shows the first 40 rows of a released table."""


def statement_page(
    stated: ReleaseFacts,
    deployment: Deployment | None = None,
    *,
    tables: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
    is_signed: bool = False,
    is_compared: bool = False,
) -> str:
    """Write the page of a release: promise, unit, levels, noise with margins of error, public facts, post-processing.

    Args:
        stated: Statement in words.
        deployment: The curator's description, for the head of the page.
        tables: Dict from the title of each released table to the table's columns, as a dict from names to cells. The
            page shows the first 40 rows of each table; of a table without columns it shows only the title.
        is_signed: True if the statement has a signature; the page then explains how to check it.
        is_compared: True if the released file was compared with the digest in the statement; the page says so.

    Returns:
        A complete HTML document; all text of the statement is escaped.

    >>> from utmost import Unit
    >>> from utmost.promises import Promise
    >>> from utmost.statements import stated_release
    >>> from utmost import release
    >>> answer = release({"a<b": [7]}, Promise(columns="a<b", unit=Unit(1, 1)), epsilon="1/2")
    >>> page = statement_page(stated_release(answer.statement))
    >>> "a&lt;b" in page, "a<b" in page
    (True, False)
    """
    if not isinstance(stated, ReleaseFacts):
        raise wrong_kind("stated", "ReleaseFacts", stated)
    deployment = Deployment() if deployment is None else deployment
    title = deployment.title or str(stated.statement.get("name", ""))
    head = " · ".join(
        text for text in (", ".join(deployment.curators), deployment.published, deployment.region) if text
    )
    questions = (
        "Ask the publisher about each point of the list above.",
        *((_WHO,) if (stated.per is None and stated.individual is None) else ()),
        "Ask what else was published about the same people: levels add up.",
        "Check the signature with the publisher's public key: utmost verify FILE --public-key KEY."
        if is_signed
        else "Ask for a signed copy, and check the files: utmost verify FILE.",
    )
    asked = f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in questions)}</ul>"
    # Sentences of the guarantee that the line of the promise repeats are left out.
    guarantee = stated.guarantee
    first, _, rest = guarantee.partition(". ")
    _, _, factor = first.partition(" by at most ")
    if factor and f" by at most {factor}." in f"{stated.line}.":
        guarantee = rest
        for sentence in stated.line.removesuffix(".").split(". "):
            guarantee = guarantee.replace(f"{sentence}. ", "")
    released = {} if tables is None else mapping(tables, "tables")
    shown = [_released(name, columns) for name, columns in released.items() if columns]
    others = ", ".join(name for name, columns in released.items() if not columns)
    unsigned = {title: [Fact("", UNSIGNED_TRUST)] if title == TRUST and not is_signed else [] for title in SECTIONS}
    parts = [
        f'<p class="kind">{HEADING}</p>\n<h1>{escape(title)}</h1>' if title else f"<h1>{HEADING}</h1>",
        f"<p><small>{escape(head)}</small></p>" if head else "",
        _paragraph(deployment.description),
        f'<p class="promise">{escape(stated.line)}</p>',
        _paragraph(guarantee),
        *(
            (_section(ASKED, asked) if title == ANNEX else "")
            + _section(title, _section_content(title, [*stated.of_section(title), *unsigned[title]], stated))
            for title in SECTIONS
        ),
        _footer(stated, is_signed, is_compared),
        *shown,
        _paragraph(f"Also released, and not shown: {others}." if others else ""),
        _paragraph(f"Each margin holds at {float(100 * stated.confidence):g} % confidence." if shown else ""),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(f'{title}: {HEADING}' if title else HEADING)}</title>\n<style>{_STYLE}</style>\n"
        f"</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _section_content(title: str, facts: Sequence[Fact], stated: ReleaseFacts) -> str:
    """Write the facts of one section: a table, with margins of error for noise; or a list of assumptions."""
    if title == TRUST:
        return f"<ul>{''.join(f'<li>{escape(sentence_of(fact.value))}</li>' for fact in facts)}</ul>"
    barred = [fact for fact in facts if fact.bars]
    if not barred:
        return _table("", ((fact.label, escape(fact.value)) for fact in facts))
    confidences = "".join(f"<th>± at {float(100 * sure):g} %</th>" for sure, _ in barred[0].bars)
    true = "true value"
    if stated.is_proved:
        true = "counted value, to which each individual contributes no more than is stated above"
    releases, early = "releases", ""
    if stated.stop is not None:
        releases = "releases by this rule, whatever the level at which each stopped,"
        early = " Among releases that stopped unusually early, more values are outside their margins."
    words = (
        f"Noise is a random amount, added before a value is published. In at least 95 of 100 {releases} a published "
        f"value is within its 95 % margin of the {true}; this holds for each value by itself.{early}"
    )
    head = f"<thead><tr><th>published</th><th>noise, as experts write it</th>{confidences}</tr></thead>"
    cells = ((fact.label, escape(fact.value), *(short_bar(margin) for _, margin in fact.bars)) for fact in barred)
    return _table(head, cells) + _paragraph(words)


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    lines = (
        f"<tr><th>{escape(label)}</th><td>{value}</td>"
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + "</tr>"
        for label, value, *numbers in rows
    )
    return f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"


def _released(name: str, columns: Mapping[str, Sequence[Any]]) -> str:
    """Write the first rows of a released table, with its margins, and the number of all rows."""
    of_page = {column: list(values[:MOST_PRINTED_ROWS]) for column, values in mapping(columns, "tables").items()}
    rows = max((len(values) for values in columns.values()), default=0)
    numeric = {
        column: all(value is None or _NUMBER.fullmatch(str(value)) for value in values)
        for column, values in of_page.items()
    }
    kinds = {column: ' class="number"' if is_number else "" for column, is_number in numeric.items()}
    head = "".join(f'<th scope="col"{kinds[column]}>{escape(column)}</th>' for column in of_page)
    lines = (
        "<tr>"
        + "".join(
            f"<td{kinds[column]}>{'' if value is None else escape(str(value))}</td>"
            for column, value in zip(of_page, row, strict=True)
        )
        + "</tr>"
        for row in zip(*of_page.values(), strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    note = (
        ""
        if rows <= MOST_PRINTED_ROWS
        else f"The first {MOST_PRINTED_ROWS} of {rows} rows; all are in the released file."
    )
    title = f"The released table: {name}" if name else "The released table"
    return f'<section class="released"><h2>{escape(title)}</h2>{table}{_paragraph(note)}</section>'


_NUMBER = re.compile(r"-?\d+(\.\d*)?(e[-+]?\d+)?|nan", re.ASCII)


def _footer(stated: ReleaseFacts, is_signed: bool, is_compared: bool) -> str:
    digest, version = stated.statement.get("table") or {}, stated.statement["utmost"]
    of = {"file": "the released file", "cells": "the released cells"}.get(digest.get("of", ""), "the noisy sums")
    compared = "was compared with the statement" if is_compared else "was not compared: utmost verify FILE does it"
    lines = [f"Made from the statement by utmost {version}; the figures of the statement were computed again."]
    if digest:
        file = f" The file {compared}." if digest.get("of") == "file" else ""
        lines.append(f"SHA-256 of {of}: {digest['sha256']}.{file}")
    signature = "there is one; check whose it is: utmost verify FILE --public-key KEY" if is_signed else UNSIGNED
    lines.append(f"Signature: {signature}.")
    return f"<footer>{''.join(f'<p>{escape(line)}</p>' for line in lines)}</footer>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{content}</section>"


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>" if text else ""
