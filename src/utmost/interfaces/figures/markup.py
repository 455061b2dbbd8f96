"""The pieces of a notebook's cards: tables, and small pictures as inline SVG that follow the page's colours."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from utmost.core.exact.shown import brief

BLUE = "#2a78b5"
_MARKS = {"down": "↓", "up": "↑", "slack": "·", "zero": "0"}
_MOST_CELLS = 40
_CELL, _GAP = 22, 34


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


def heat_map(
    matrix: Any, rows: Sequence[Any] | None = None, columns: Sequence[Any] | None = None, marks: Any = None
) -> str:
    """Shaded cells, the larger the darker, with the number on pointing; on the lines between rows, marks.

    Args:
        matrix: (n, m); of larger ones the first 40 rows and columns.
        rows, columns: names, where there are any.
        marks: (n - 1, m) of "down", "up", "slack" and "zero": how each entry is bound to the one below.
    """
    shades = np.asarray(matrix[:_MOST_CELLS, :_MOST_CELLS]).astype(float)
    top = float(np.nanmax(shades, initial=0)) or 1.0
    n, m = shades.shape
    drawn = [
        _cell(_GAP + c * _CELL, _GAP + r * _CELL, shades[r, c] / top, f"{_name(rows, r)}, {_name(columns, c)}: ", cell)
        for r, line in enumerate(matrix[:_MOST_CELLS, :_MOST_CELLS])
        for c, cell in enumerate(line)
    ]
    drawn += [_label(_GAP - 5, _GAP + (r + 0.65) * _CELL, _name(rows, r), "end") for r in range(n)]
    drawn += [_label(_GAP + (c + 0.5) * _CELL, _GAP - 6, _name(columns, c), "middle") for c in range(m)]
    if marks is not None:
        drawn += [
            _label(_GAP + (c + 0.5) * _CELL, _GAP + (r + 1.17) * _CELL, _MARKS[str(mark)], "middle", bold=True)
            for r, line in enumerate(marks[: n - 1, :m])
            for c, mark in enumerate(line)
        ]
    return _picture(_GAP + m * _CELL + 4, _GAP + n * _CELL + 4, drawn)


def bars(heights: Sequence[float], names: Sequence[Any] | None = None, marked: Sequence[int] = ()) -> str:
    """Upright bars from 0 to the largest, some of them marked; the first and the last are named."""
    tall, top = 90, max([float(h) for h in heights], default=0) or 1.0
    wide = max(2.0, min(16.0, 420 / max(1, len(heights))))
    drawn = []
    for k, height in enumerate(heights):
        size = tall * float(height) / top
        colour = "#d1495b" if k in marked else BLUE
        drawn.append(
            f'<rect x="{4 + k * wide:.1f}" y="{4 + tall - size:.1f}" width="{wide * 0.85:.1f}" height="{size:.1f}" '
            f'fill="{colour}"><title>{escape(_name(names, k))}: {float(height):.4g}</title></rect>'
        )
    ends = sorted({0, len(heights) - 1}) if len(heights) else []
    drawn += [_label(4 + (k + 0.4) * wide, tall + 18, _name(names, k), "start" if k == 0 else "end") for k in ends]
    return _picture(8 + wide * len(heights), tall + 24, drawn)


def curve(xs: Sequence[float], ys: Sequence[float]) -> str:
    """A line through points, from 0 to the highest."""
    wide, tall = 420, 90
    low, high = float(min(xs)), float(max(xs))
    top, span = float(max(ys)) or 1.0, (high - low) or 1.0
    points = " ".join(
        f"{4 + wide * (float(x) - low) / span:.1f},{4 + tall * (1 - float(y) / top):.1f}"
        for x, y in zip(xs, ys, strict=True)
    )
    line = f'<polyline points="{points}" fill="none" stroke="{BLUE}" stroke-width="1.6"/>'
    ends = [_label(4, tall + 18, f"{low:.4g}", "start"), _label(4 + wide, tall + 18, f"{high:.4g}", "end")]
    return _picture(wide + 8, tall + 24, [line, *ends])


def _picture(width: float, height: float, drawn: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%">{"".join(drawn)}</svg>'
    )


def _cell(x: float, y: float, share: float, where: str, value: Any) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="{BLUE}" fill-opacity="{share:.3f}" '
        f'stroke="currentColor" stroke-opacity=".15"><title>{escape(where + text(value))}</title></rect>'
    )


def _label(x: float, y: float, words: str, anchor: str, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="9" fill="currentColor" text-anchor="{anchor}"{weight}>'
        f"{escape(words[:12])}</text>"
    )


def _name(names: Sequence[Any] | None, k: int) -> str:
    return str(k) if names is None else text(names[k])
