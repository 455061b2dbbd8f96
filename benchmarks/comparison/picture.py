"""The picture of a comparison: how many times as long neighbours take, and how far each goal is reached."""

from pathlib import Path
from typing import Any

from utmost.interfaces.figures.canvas import BLUE, GOLD, INK, PALE, RED, bare, page, write


def furthest(line: dict[str, Any]) -> list[tuple[str, float]]:
    """Of each neighbour the ratio at the last work that it did."""
    found = {one["who"]: one["times utmost"] for one in line["timings"] if one["times utmost"] is not None}
    return list(found.items())


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Two panels on logarithmic axes; what is right of 1 is in our favour."""
    done = [line for line in lines if "failed" not in line]
    theirs = [(f"{line['key']}: {who}", ratio) for line in done for who, ratio in furthest(line)]
    goals = [
        (f"{line['key']}: {goal['says']}", goal["ratio"], goal["verdict"]) for line in done for goal in line["goals"]
    ]
    rows = max(1, len(theirs)), max(1, len(goals))
    figure, axes = page(8.5, 1.4 + 0.19 * sum(rows), nrows=2, height_ratios=rows)
    bars(
        axes[0],
        [one[0] for one in theirs],
        [one[1] for one in theirs],
        [BLUE if one[1] >= 1 else RED for one in theirs],
    )
    axes[0].set_title("A neighbour's time, in times of utmost's, at its largest work", fontsize=8)
    colours = {"met": BLUE, "missed": RED, "not judged": GOLD}
    bars(axes[1], [one[0] for one in goals], [one[1] for one in goals], [colours[one[2]] for one in goals])
    axes[1].set_title("Goals, reached so many times over; red: missed, gold: not judged", fontsize=8)
    figure.patch.set_facecolor("white")
    with path.open("wb") as file:
        write(figure, file, "svg")


def bars(axes: Any, names: list[str], ratios: list[float], colours: list[str]) -> None:
    """A bar from 1 to each ratio, with the number at its end."""
    axes.set_xscale("log")
    places = range(len(names))
    axes.barh(places, [ratio - 1 for ratio in ratios], left=1, height=0.7, color=colours)
    for place, ratio in zip(places, ratios, strict=True):
        side = 3 if ratio >= 1 else -3
        axes.annotate(
            f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}",
            (ratio, place),
            xytext=(side, 0),
            textcoords="offset points",
            ha="left" if ratio >= 1 else "right",
            va="center",
            fontsize=6.5,
            color=INK,
        )
    axes.set_yticks(places, names, fontsize=6.5)
    axes.tick_params(axis="x", labelsize=7)
    axes.axvline(1, color=PALE, linewidth=1)
    axes.margins(x=0.08, y=0.01)
    axes.invert_yaxis()
    bare(axes)
