"""Figure 7 of Koufogiannis et al.: views from one path, and what a coalition makes of independent ones."""

from typing import Any, BinaryIO

import numpy as np

from utmost.adapters.figures.canvas import BLUE, GOLD, INK, PALE, RED, bare, page, write
from utmost.exact import Level
from utmost.noise import Geometric
from utmost.release.gradual import levels_by_distance
from utmost.sampling import sample
from utmost.testing import SeededRandomness, seeded_gradual_release

Edges = list[tuple[str, str]]


def trust_views(file: BinaryIO, kind: str, edges: Edges, owner: str, *, value: int = 1984, seed: int = 5) -> None:
    """Left: what each member sees. Right: how far the average of a growing coalition of the farthest is from the truth.

    Views of one path at one level are one response, so averaging them gains nothing; independent ones average out.
    """
    levels = levels_by_distance(edges, owner)
    figure, (left, right) = page(9.4, 4.0, nrows=1, ncols=2)
    _views(left, levels, value, seed)
    _averages(right, min(levels.values()), value)
    write(figure, file, kind)


def _views(axes: Any, levels: dict[Any, Level], value: int, seed: int) -> None:
    release = seeded_gradual_release(value, 1, seed=seed)
    different = sorted(set(levels.values()))
    seen = {each: release.at(each) for each in different}
    rng = np.random.default_rng(seed)  # only where in a column a dot is drawn
    for place, each in enumerate(different):
        count = sum(found == each for found in levels.values())
        fresh = value + sample(Geometric(each), count, randomness=SeededRandomness(f"{seed} {place}"))
        spread = place + rng.uniform(-0.26, 0.26, count)
        axes.plot(
            spread, fresh, "o", color=GOLD, markersize=3.6, alpha=0.7, label=None if place else "drawn for each member"
        )
        note = None if place else "one path for all"
        axes.plot([place - 0.34, place + 0.34], [seen[each]] * 2, color=BLUE, linewidth=3, label=note)
    axes.axhline(value, color=RED, linewidth=1, linestyle="--", label=f"the value, {value}")
    names = [f"ε = {each.epsilon}\n{sum(found == each for found in levels.values())} members" for each in different]
    axes.set_xticks(range(len(different)), names, fontsize=8.5)
    axes.set(ylabel="response")
    axes.set_title("What each member sees", loc="left", fontsize=10)
    axes.legend(frameon=False, fontsize=8)
    axes.ticklabel_format(axis="y", useOffset=False, style="plain")
    bare(axes)


def _averages(axes: Any, strictest: Level, value: int) -> None:
    sizes = np.unique(np.geomspace(1, 1000, 60).astype(int))
    noise = sample(Geometric(strictest), (2000, 1000), randomness=SeededRandomness("averages"))
    running = np.abs(np.cumsum(noise, axis=1) / np.arange(1, 1001)).mean(axis=0)
    alone = float(Geometric(strictest).moment(1))
    axes.plot(sizes, running[sizes - 1], color=GOLD, linewidth=2)
    axes.plot(sizes, np.full(sizes.shape, alone), color=BLUE, linewidth=2)
    axes.annotate("views of one path", (sizes[-1], alone), xytext=(-4, 6), ha="right", **_NOTE)
    axes.annotate("drawn for each member", (sizes[-1], running[-1]), xytext=(-60, -2), ha="right", **_NOTE)
    axes.set(
        xscale="log", yscale="log", ylim=(0.13, 8), xlabel="colluding members", ylabel="mean error of their average"
    )
    axes.set_yticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    axes.minorticks_off()
    axes.set_title(f"A coalition at ε = {strictest.epsilon} averages", loc="left", fontsize=10)
    axes.grid(alpha=0.25, color=PALE)
    bare(axes)


_NOTE: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8.5, "color": INK}
