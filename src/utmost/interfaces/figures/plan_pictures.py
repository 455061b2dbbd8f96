"""Pictures of plans: the error of each wanted table by plan; a table as released, and clean."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from utmost.errors import OutOfRange
from utmost.interfaces.figures.canvas import BLUE, GOLD, GREEN, INK, PALE, RED, bare, check_format, page, write
from utmost.publish.releases.noisy_sums import NoisySums
from utmost.publish.workloads.planning.plan import Alternatives
from utmost.tables.axes.domain import Family

_MARKS = ("o", "s", "D", "^", "v", "P", "X", "<", ">", "p", "h", "*")
_SHADES = (BLUE, RED, GOLD, GREEN, INK)
_MOST_ROWS = 100


def plan_figure(choices: Alternatives, file: BinaryIO, path: Path, *, title: str = "") -> None:
    """Draw the standard deviation of each wanted table for each plan, on a logarithmic axis."""
    check_format(path)
    deviations = choices.deviations
    parts = list(next(iter(deviations.values())))
    figure, axes = page(7.2, 1.5 + 0.42 * len(parts) + 0.1 * len(deviations))
    rows = np.arange(len(parts))[::-1]
    for row, part in zip(rows.tolist(), parts, strict=True):
        values = [deviation[part] for deviation in deviations.values()]
        axes.plot([min(values), max(values)], [row, row], color=PALE, linewidth=1, zorder=1)
    for place, (name, by_part) in enumerate(deviations.items()):
        mark, shade = _MARKS[place % len(_MARKS)], _SHADES[place % len(_SHADES)]
        axes.plot([by_part[part] for part in parts], rows, mark, color=shade, label=name, markersize=6, alpha=0.9)
    axes.set_xscale("log")
    axes.set_yticks(rows, labels=[part or "total" for part in parts])
    axes.set_ylim(-0.6, len(parts) - 0.4)
    axes.set_xlabel("standard deviation")
    # Round numbers on a logarithmic axis: 1, 2 and 5 times powers of ten.
    everything = [value for deviation in deviations.values() for value in deviation.values()]
    low, high = np.log10(min(everything)), np.log10(max(everything))
    powers = range(int(np.floor(low)) - 1, int(np.ceil(high)) + 1)
    ticks = [size * 10.0**power for power in powers for size in (1, 2, 5)]
    shown = [tick for tick in ticks if 10**low / 1.6 <= tick <= 10**high * 1.6]
    axes.set_xlim(10**low / 1.15, 10**high * 1.15)
    axes.set_xticks(shown, labels=[f"{tick:g}" for tick in shown], minor=False)
    axes.set_xticks([], minor=True)
    axes.set_xlim(10**low / 1.15, 10**high * 1.15)
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=8.5)
    axes.set_title(title, loc="left", fontsize=10)
    bare(axes)
    write(figure, file, path.suffix[1:].lower())


def clean_figure(
    released: NoisySums,
    family: str | Sequence[str] | Family,
    file: BinaryIO,
    path: Path,
    *,
    truth: NDArray[Any] | None = None,
) -> None:
    """Draw a marginal as released, with margins, and clean, sorted by estimate; `truth` is for public data."""
    check_format(path)
    chosen = released.domain.family(family)
    columns = released.domain.group_labels(chosen)
    labels = [" ".join(map(str, row)) for row in zip(*columns.values(), strict=True)] or ["total"]
    if len(labels) > _MOST_ROWS:
        raise OutOfRange(f"a picture shows {_MOST_ROWS} groups at most", came=len(labels), remedy="Name a coarser one.")
    table, names = released[chosen], released.value_columns[0]
    raw, margins = (np.asarray(table[name], dtype=float) for name in names)
    clean = np.asarray(released.clean()[chosen]["clean"], dtype=float)
    order = np.argsort(-raw, kind="stable")
    figure, axes = page(max(5.0, 1.5 + 0.13 * len(labels)), 3.6)
    across = np.arange(len(labels))
    axes.axhline(0, color=PALE, linewidth=1)
    axes.errorbar(across, raw[order], margins[order], fmt="o", color=BLUE, ecolor=PALE, markersize=4, label="released")
    axes.plot(across, clean[order], "_", color=RED, markersize=8, markeredgewidth=2, label="clean")
    if truth is not None:
        axes.plot(across, np.asarray(truth, dtype=float).ravel()[order], "x", color=INK, markersize=4, label="true")
    axes.set_xticks(across, labels=[labels[place] for place in order], rotation=90, fontsize=6.5)
    axes.set_ylabel("count")
    axes.legend(frameon=False, fontsize=8.5)
    bare(axes)
    write(figure, file, path.suffix[1:].lower())
