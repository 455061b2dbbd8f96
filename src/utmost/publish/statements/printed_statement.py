"""A release on one HTML page to read, print or keep as PDF, without scripts, other files or other hosts."""

from collections.abc import Iterable, Sequence
from html import escape

from utmost.core.exact.arguments import wrong_kind
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
small, footer { opacity: .75; font-size: .85rem; }
code { font-size: .85em; overflow-wrap: anywhere; }
@media (max-width: 30rem) { tbody th { width: auto; } }
@page { size: A4; margin: 14mm 16mm; }
@media print {
  :root { color-scheme: light; }
  body { font-size: 9.2pt; line-height: 1.28; max-width: none; margin: 0; padding: 0; color: #000; background: #fff; }
  h1 { font-size: 15pt; } h2 { font-size: 10.5pt; margin: 2.2mm 0 .6mm; } .promise { font-size: 11pt; }
  th, td { padding: .18rem .6rem .18rem 0; } .promise { padding: .25rem .6rem; }
  table, .promise, ul { break-inside: avoid; } h2 { break-after: avoid; } footer { font-size: 7.5pt; }
}
"""


_WHO = "Ask who one individual is, as the publisher counted: a person, a household or a visit."

ASKED = "What is asked of you"
"""The title of the section with questions that a reader should ask."""


def statement_page(
    stated: ReleaseFacts, deployment: Deployment | None = None, *, is_signed: bool = False, is_compared: bool = False
) -> str:
    """The page of a release: promise, unit, levels, noise with margins of error, public facts, and post-processing.

    Args:
        stated: Statement in words.
        deployment: The curator's description, for the head of the page.
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
    said = Deployment() if deployment is None else deployment
    title = said.title or str(stated.statement.get("name", "")) or "What this release promises"
    by = ", ".join(said.curators)
    head = " · ".join(text for text in (by, said.published, said.region) if text)
    unsigned = {title: [Fact("", UNSIGNED_TRUST)] if title == TRUST and not is_signed else [] for title in SECTIONS}
    first, _, rest = stated.guarantee.partition(". ")
    _, _, factor = first.partition(" by at most ")
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p><small>{escape(head)}</small></p>" if head else "",
        _paragraph(said.description),
        f'<p class="promise">{escape(stated.line)}</p>',
        _paragraph(
            rest if factor and stated.line.removesuffix(".").endswith(f" by at most {factor}") else stated.guarantee
        ),
        *(
            (_section(ASKED, _asked(stated, is_signed)) if title == ANNEX else "")
            + _section(title, _rows(title, [*stated.of_section(title), *unsigned[title]], stated))
            for title in SECTIONS
        ),
        _footer(stated, is_signed, is_compared),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _rows(title: str, facts: Sequence[Fact], stated: ReleaseFacts) -> str:
    """The facts of one section: a table, with margins of error for noise; or a list of assumptions."""
    if title == TRUST:
        return f"<ul>{''.join(f'<li>{escape(sentence_of(fact.value))}</li>' for fact in facts)}</ul>"
    barred = [fact for fact in facts if fact.bars]
    if not barred:
        return _table("", ((fact.label, escape(fact.value)) for fact in facts))
    confidences = "".join(f"<th>± at {float(100 * sure):g} %</th>" for sure, _ in barred[0].bars)
    true = "true value"
    if stated.is_proved:
        true = "counted value, in which each individual has no more than is stated above"
    releases, early = "releases", ""
    if stated.stop is not None:
        releases = "releases by this rule, wherever each stopped,"
        early = " Among those that stopped unusually early more are beyond it."
    words = (
        f"Noise is a random amount, added before a value is published. In at least 95 of 100 {releases} a published "
        f"value is within its 95 % margin of the {true}; this holds for each value by itself.{early}"
    )
    head = f"<thead><tr><th>published</th><th>noise, as experts write it</th>{confidences}</tr></thead>"
    cells = ((fact.label, escape(fact.value), *(short_bar(margin) for _, margin in fact.bars)) for fact in barred)
    return _table(head, cells) + _paragraph(words)


def _asked(stated: ReleaseFacts, is_signed: bool) -> str:
    """The list of questions that a reader should ask."""
    lines = (
        "Ask the publisher about each point of the list above.",
        *((_WHO,) if (stated.per is None and stated.individual is None) else ()),
        "Ask what else was published about the same people: levels add up.",
        "Check the signature with the publisher's public key: utmost verify FILE --public-key KEY."
        if is_signed
        else "Ask for a signed copy, and check the files: utmost verify FILE.",
    )
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    lines = (
        f"<tr><th>{escape(label)}</th><td>{value}</td>"
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + "</tr>"
        for label, value, *numbers in rows
    )
    return f"<table>{head}<tbody>{''.join(lines)}</tbody></table>"


def _footer(stated: ReleaseFacts, is_signed: bool, is_compared: bool) -> str:
    said = stated.statement
    digest = said.get("table") or {}
    of = {"file": "the released file", "cells": "the released cells"}.get(digest.get("of", ""), "the noisy sums")
    compared = "was compared with the statement" if is_compared else "was not compared: utmost verify FILE does it"
    lines = [f"Made from the statement by utmost {said['utmost']}; the figures of the statement were computed again."]
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
