"""Write the HTML of cards for notebooks: a title, sentences and tables."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from utmost.core.exact.display import brief


def page_of(title: str, summary: str, parts: Iterable[str]) -> str:
    """Return HTML of one card: a title, a summary beside it, and parts below."""
    line = f' <span style="opacity:.75">{escape(summary)}</span>' if summary else ""
    return f'<div style="font-size:90%;max-width:60em"><b>{escape(title)}</b>{line}{"".join(parts)}</div>'


def text(value: Any) -> str:
    """Format a value in a card: floats to six digits, other values in brief."""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return value if isinstance(value, str) else brief(value)


def rows_table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    top = "".join(f"<th>{escape(text(name))}</th>" for name in header)
    lines = ("".join(f"<td>{escape(text(cell))}</td>" for cell in row) for row in rows)
    head = f"<thead><tr>{top}</tr></thead>" if header else ""
    return f"<table>{head}<tbody>{''.join(f'<tr>{line}</tr>' for line in lines)}</tbody></table>"


def facts_table(facts: Iterable[tuple[str, Any]]) -> str:
    """Return HTML of a table of names and values, without values that are None."""
    return rows_table((), [(name, fact) for name, fact in facts if fact is not None])


def sentence(words: str) -> str:
    return f'<p style="margin:.3em 0">{escape(words)}</p>'
