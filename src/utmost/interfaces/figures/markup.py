"""The pieces of a notebook's cards: a title, sentences and tables."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from utmost.core.exact.display import brief


def page_of(title: str, summary: str, parts: Iterable[str]) -> str:
    """One card: a title, a line under it, and what follows.

    >>> page_of("A & B", "", ["<p>c</p>"])
    '<div style="font-size:90%;max-width:60em"><b>A &amp; B</b><p>c</p></div>'
    """
    line = f' <span style="opacity:.75">{escape(summary)}</span>' if summary else ""
    return f'<div style="font-size:90%;max-width:60em"><b>{escape(title)}</b>{line}{"".join(parts)}</div>'


def text(value: Any) -> str:
    """A value as it stands in a card: floats to six digits, anything else in a few words."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return value if isinstance(value, str) else brief(value)


def rows_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A table with a header; every cell as text.

    >>> rows_table(["n"], [[1]])
    '<table><thead><tr><th>n</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>'
    """
    top = "".join(f"<th>{escape(text(name))}</th>" for name in header)
    lines = ("".join(f"<td>{escape(text(cell))}</td>" for cell in row) for row in rows)
    head = f"<thead><tr>{top}</tr></thead>" if header else ""
    return f"<table>{head}<tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def facts_table(facts: Iterable[tuple[str, Any]]) -> str:
    """Names and what they are, one a row; what is None is left out."""
    return rows_table((), [(name, fact) for name, fact in facts if fact is not None])


def sentence(words: str) -> str:
    """A line of text."""
    return f'<p style="margin:.3em 0">{escape(words)}</p>'
