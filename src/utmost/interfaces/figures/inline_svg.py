"""Make charts as inline SVG, coloured by a page's style sheet or, in a notebook, by inline styles."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil, floor, isfinite, log10
from typing import Any

from utmost.core.exact.display import brief

_WIDE, _TALL = 640, 296
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 30, 44
_ROW = 30
_MOST_NAME = 28
_BETWEEN_ROWS = {"down": "↓", "up": "↑", "slack": "·", "zero": "0"}

_BLUE = "#2a78b5"
# Styles of classes in the service's style sheet, for pages without that style sheet.
_STYLES = {
    "chart": "display:block;width:100%;max-width:32em;height:auto;overflow:visible",
    "tick": "font-size:13px;fill:currentColor",
    "name": "font-size:12px;fill:currentColor",
    "end": "text-anchor:end",
    "middle": "text-anchor:middle",
    "grid": "stroke:currentColor;stroke-opacity:.15",
    "axis": "stroke:currentColor;stroke-opacity:.4",
    "line": "fill:none;stroke-width:2",
    "s0": f"stroke:{_BLUE}",
    "bar": f"fill:{_BLUE}",
    "mark": "stroke-width:2.2;stroke:#d1495b",
    "cell": f"fill:{_BLUE};stroke:currentColor;stroke-opacity:.15",
    "in": "fill:currentColor",
    "dark": "fill:white",
}


class Svg(str):
    """Markup that templates and `tag` insert unchanged; they escape all other text."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def short(number: Any) -> str:
    """Format a number: integers with thin spaces, others to four digits."""
    if number is None:
        return ""
    if isinstance(number, float) and number != number:
        return "none"
    value = float(number)
    if abs(value) < 1e15 and value == int(value):
        return f"{int(value):,}".replace(",", "\u202f")
    return f"{value:.4g}"


def tag(name: str, *content: Any, **attributes: Any) -> Svg:
    """Return an SVG element; ``class_`` stands for the attribute class, and ``a_b`` for a-b."""
    written_attributes = ""
    for key, value in attributes.items():
        if value is not None:
            shown = f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else escape(str(value))
            written_attributes += f' {key.rstrip("_").replace("_", "-")}="{shown}"'
    inner = "".join(part if isinstance(part, Svg) else escape(str(part)) for part in content)
    return Svg(f"<{name}{written_attributes}>{inner}</{name}>")


def chart(title: str, drawn: Iterable[Svg], wide: float = _WIDE, tall: float = _TALL) -> Svg:
    about = {"viewBox": f"0 0 {wide:.0f} {tall:.0f}", "class_": "chart", "role": "img", "aria_label": title}
    return tag("svg", tag("title", title), *drawn, **about)


def self_coloured(picture: Svg) -> Svg:
    """Replace classes by inline styles, for a page without the service's style sheet."""

    def style(classes: re.Match[str]) -> str:
        return f'style="{";".join(_STYLES[name] for name in classes[1].split() if name in _STYLES)}"'

    return Svg(re.sub(r'class="([^"]*)"', style, picture))


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from low to high, about `most` of them."""
    if not high > low:
        return [low]
    least = (high - low) / most
    size = 10.0 ** floor(log10(least))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= least * (1 - 1e-9))
    return [step * k for k in range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)]


class Axes:
    """Converts numbers to positions on a chart, and draws its axes; the ends of a logarithmic axis are positive."""

    def __init__(
        self,
        xs: tuple[float, float],
        ys: tuple[float, float],
        names: tuple[str, str],
        *,
        log_x: bool = False,
        log_y: bool = False,
        tall: float = _TALL,
    ) -> None:
        self._xs, self._ys, self._names, self._logs, self.tall = xs, ys, names, (log_x, log_y), tall

    def x(self, value: float) -> float:
        """Return the position of a number, from the left."""
        return _LEFT + _share(value, self._xs, self._logs[0]) * (_WIDE - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Return the position of a number, from the top."""
        return self.tall - _BOTTOM - _share(value, self._ys, self._logs[1]) * (self.tall - _TOP - _BOTTOM)

    def drawn(self) -> list[Svg]:
        """Return the grid, the numbers and the names of the axes."""
        bottom = self.tall - _BOTTOM
        shapes = []
        for value in _marks(self._ys, self._logs[1]):
            at = self.y(value)
            shapes.append(tag("line", x1=_LEFT, x2=_WIDE - _RIGHT, y1=at, y2=at, class_="grid"))
            shapes.append(tag("text", short(value), x=_LEFT - 8, y=at + 4, class_="tick end"))
        for value in _marks(self._xs, self._logs[0]):
            shapes.append(tag("text", short(value), x=self.x(value), y=bottom + 18, class_="tick middle"))
        shapes.append(tag("line", x1=_LEFT, x2=_WIDE - _RIGHT, y1=bottom, y2=bottom, class_="axis"))
        shapes.append(tag("text", self._names[0], x=_WIDE - _RIGHT, y=self.tall - 6, class_="name end"))
        shapes.append(tag("text", self._names[1], x=4, y=13, class_="name"))
        return shapes


def _share(value: float, ends: tuple[float, float], is_log: bool) -> float:
    low, high = (log10(end) for end in ends) if is_log else ends
    at = log10(value) if is_log else value
    return 0.5 if high == low else (at - low) / (high - low)


def _marks(ends: tuple[float, float], is_log: bool) -> list[float]:
    if not is_log:
        return ticks(*ends)
    powers = range(floor(log10(ends[0])), ceil(log10(ends[1])) + 1)
    steps = (1,) if len(powers) > 4 else (1, 2, 5)
    every = max(1, len(powers) // 7)
    marks = [step * 10.0**power for power in powers[::every] for step in steps]
    return [mark for mark in marks if ends[0] * (1 - 1e-9) <= mark <= ends[1] * (1 + 1e-9)]


def curves(
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    names: tuple[str, str],
    *,
    points: Sequence[tuple[float, float, str]] = (),
    log_x: bool = False,
    log_y: bool = False,
) -> Svg:
    """Return a chart of lines and named points."""
    every = [point for line in lines.values() for point in line] + [(x, y) for x, y, _ in points]
    xs, ys = ([float(point[k]) for point in every] for k in (0, 1))
    low = min(ys) if log_y else 0.0
    axes = Axes((min(xs), max(xs)), (low, max(ys) or 1.0), names, log_x=log_x, log_y=log_y)
    drawn = axes.drawn()
    for k, line in enumerate(lines.values()):
        drawn.append(tag("polyline", points=_path(axes, line), class_=f"line s{k}"))
    for x, y, title_of_point in points:
        drawn.append(tag("circle", tag("title", title_of_point), cx=axes.x(x), cy=axes.y(y), r=5, class_="dot"))
    return chart(title, drawn)


def _path(axes: Axes, line: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{axes.x(x):.1f},{axes.y(float(y)):.1f}" for x, y in line)


def columns_chart(
    title: str,
    heights: Sequence[tuple[float, float]],
    names: tuple[str, str],
    *,
    line: Sequence[tuple[float, float]] = (),
    marks: Sequence[tuple[float, str]] = (),
    shaded: tuple[float, float] | None = None,
) -> Svg:
    """Return a chart of bars of width one, a line over them, named vertical lines, and a shaded interval."""
    xs = [x for x, _ in (*heights, *line)] + [x for x, _ in marks]
    tops = [float(y) for _, y in (*heights, *line)]
    axes = Axes((min(xs) - 0.7, max(xs) + 0.7), (0.0, max(tops, default=1.0) or 1.0), names)
    bottom, width = axes.tall - _BOTTOM, max(1.0, 0.8 * (axes.x(1) - axes.x(0)))
    drawn = []
    if shaded is not None:
        left, right = axes.x(shaded[0] - 0.5), axes.x(shaded[1] + 0.5)
        drawn.append(tag("rect", x=left, y=_TOP, width=right - left, height=bottom - _TOP, class_="stretch"))
    drawn += axes.drawn()
    for x, y in heights:
        at = axes.y(float(y))
        title_of_bar = tag("title", f"{short(x)}: {short(float(y))}")
        drawn.append(
            tag("rect", title_of_bar, x=axes.x(x) - width / 2, y=at, width=width, height=bottom - at, class_="bar")
        )
    if line:
        drawn.append(tag("polyline", points=_path(axes, line), class_="line s1"))
    for k, (x, title_of_mark) in enumerate(marks):
        at = axes.x(x)
        drawn.append(tag("line", tag("title", title_of_mark), x1=at, x2=at, y1=_TOP, y2=bottom, class_=f"mark m{k}"))
    return chart(title, drawn)


def error_bars(title: str, rows: Sequence[tuple[str, float]], margin: float) -> Svg:
    """Return a chart of released values, each with the interval within its margin."""
    values = [float(value) for _, value in rows]
    gap = float(margin)
    spare = 0.03 * (max(values) - min(values) + 2 * gap) or 1.0
    low, high = min(values) - gap - spare, max(values) + gap + spare
    left = 16 + 10.5 * max(len(name[:_MOST_NAME]) for name, _ in rows)  # letters are larger on a phone
    wide, tall = _WIDE - _RIGHT, _ROW * len(rows) + 34

    def x(value: float) -> float:
        return left + (value - low) / (high - low) * (wide - left)

    drawn = []
    for mark in ticks(low, high):
        drawn.append(tag("line", x1=x(mark), x2=x(mark), y1=4, y2=tall - 26, class_="grid"))
        drawn.append(tag("text", short(mark), x=x(mark), y=tall - 8, class_="tick middle"))
    for k, ((name, _), value) in enumerate(zip(rows, values, strict=True)):
        at, ends = _ROW * (k + 0.5) + 4, (x(value - gap), x(value + gap))
        bar_title = f"{name}: {short(value)}, the true value within {short(gap)}"
        parts = [
            tag("title", bar_title),
            tag("line", x1=ends[0], x2=ends[1], y1=at, y2=at, class_="whisker"),
            *(tag("line", x1=end, x2=end, y1=at - 5, y2=at + 5, class_="whisker") for end in ends),
            tag("circle", cx=x(value), cy=at, r=4.5, class_="dot"),
        ]
        drawn.append(tag("g", *parts))
        drawn.append(tag("text", name[:_MOST_NAME], x=left - 12, y=at + 4, class_="tick end"))
    return chart(title, drawn, tall=tall)


def heat_map(
    title: str,
    matrix: Sequence[Sequence[Any]],
    rows: Sequence[str],
    names: Sequence[str],
    bound: Sequence[Sequence[str]] = (),
) -> Svg:
    """Return a chart of cells, darker for larger numbers; tooltips show the numbers, and so do large cells."""
    # `bound` has the relation of each entry to the entry below: "down", "up", "slack" or "zero".
    n, m = len(matrix), len(matrix[0])
    top = max((float(cell) for line in matrix for cell in line if isfinite(float(cell))), default=0.0) or 1.0
    full, gap = 560.0, 64
    edge = max(9.0, min(52.0, full / max(n, m)))
    drawn = []
    for r, line in enumerate(matrix):
        for c, cell in enumerate(line):
            share = min(1.0, float(cell) / top)
            x, y = gap + c * edge, 30 + r * edge
            number = short(cell) if isinstance(cell, float) else brief(cell)
            cell_title = tag("title", f"{rows[r]} to {names[c]}: {number}")
            shape = {"x": x, "y": y, "width": edge - 1, "height": edge - 1}
            drawn.append(tag("rect", cell_title, **shape, fill_opacity=f"{share:.3f}", class_="cell"))
            if edge >= 40:
                shade = "in dark" if share > 0.55 else "in"
                number = f"{float(cell):.2f}"
                drawn.append(tag("text", number, x=x + edge / 2, y=y + edge / 2 + 4, class_=f"tick middle {shade}"))
    for r, line in enumerate(bound):
        for c, mark in enumerate(line):
            at = {"x": gap + (c + 0.5) * edge, "y": 30 + (r + 1) * edge + 4}
            drawn.append(tag("text", _BETWEEN_ROWS[str(mark)], **at, class_="tick middle"))
    every = max(1, ceil(18 / edge))
    drawn += [
        tag("text", name[:9], x=gap - 6, y=30 + (r + 0.5) * edge + 4, class_="tick end")
        for r, name in enumerate(rows)
        if r % every == 0
    ]
    wide_every = max(1, ceil((8 + 7 * max(len(name[:9]) for name in names)) / edge))
    drawn += [
        tag("text", name[:9], x=gap + (c + 0.5) * edge, y=20, class_="tick middle")
        for c, name in enumerate(names)
        if c % wide_every == 0
    ]
    return chart(
        title, drawn, gap + max(m * edge, full) + 8, 36 + n * edge
    )  # a small number of cells is not enlarged to the full width


def rings(
    title: str,
    positions: Mapping[str, tuple[float, float]],
    edges: Iterable[tuple[str, str]],
    kinds: Mapping[str, int],
    titles: Mapping[str, str],
) -> Svg:
    """Return a chart of a network: `positions` are in [-1, 1] x [-1, 1], and `kinds` are distances from one member."""
    # A member that cannot be reached has distance -1. The distance decides the colour. `titles` appear on pointing.
    half, top = 300.0, min(y for _, y in positions.values())

    def at(name: str) -> tuple[float, float]:
        x, y = positions[name]
        return half + x * (half - 56), 34 + (y - top) * (half - 40)

    drawn = []
    for member, other in edges:
        (x1, y1), (x2, y2) = at(member), at(other)
        drawn.append(tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_="edge"))
    for name in positions:
        x, y = at(name)
        kind = "away" if kinds[name] < 0 else f"t{min(kinds[name], 6)}"
        drawn.append(tag("circle", tag("title", titles[name]), cx=x, cy=y, r=11, class_=f"member {kind}"))
        if len(positions) <= 40:
            drawn.append(tag("text", name[:14], x=x, y=y - 15, class_="tick middle"))
    return chart(title, drawn, 2 * half, max(at(name)[1] for name in positions) + 26)


def meter(title: str, share: float) -> Svg:
    """Return a bar that is filled up to `share`, from 0 to 1."""
    used = max(0.0, min(1.0, share)) if isfinite(share) else 1.0
    drawn = [
        tag("rect", x=0, y=0, width=100, height=6, rx=3, class_="trough"),
        tag("rect", x=0, y=0, width=100 * used, height=6, rx=3, class_="fill full" if used >= 1 else "fill"),
    ]
    about = {"viewBox": "0 0 100 6", "class_": "meter", "role": "img", "aria_label": title}
    return tag("svg", tag("title", title), *drawn, **about, preserveAspectRatio="none")
