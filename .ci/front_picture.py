"""Draw the picture of the front page again: one table, published at epsilon = 1/4 and sharpened to 1.

python .ci/front_picture.py docs/figures/admissions.svg       # needs utmost with its extra plot
"""

import csv
import sys
from pathlib import Path

from utmost.interfaces.figures.canvas import BLUE, INK, PALE, bare, page, write
from utmost.noise import Geometric
from utmost.testing import seeded_gradual_release

ROOT = Path(__file__).resolve().parents[1]
LEVELS = (("1/4", PALE, 9, "first published, at epsilon = 1/4"), ("1", BLUE, 4, "sharpened later, to epsilon = 1"))


def draw(path: Path) -> None:
    """Write the picture as SVG; the noise is that of a seed, and the table has been public for fifty years."""
    with (ROOT / "examples/berkeley_admissions.csv").open(newline="", encoding="utf-8") as file:
        women = {row["department"]: int(row["admitted"]) for row in csv.DictReader(file) if row["sex"] == "women"}
    release = seeded_gradual_release(list(women.values()), 1, "front page")
    figure, axes = page(6.2, 3)
    for level, colour, width, said in LEVELS:
        counts = release.at(epsilon=level)
        margin = Geometric(epsilon=level).margin(0.95)
        for place, count in enumerate(counts):
            axes.barh(place, 2 * margin, left=count - margin, height=0.06 * width, color=colour, alpha=0.55)
            axes.plot([count, count], [place - 0.03 * width, place + 0.03 * width], color=colour, linewidth=2.5)
        axes.plot([], [], color=colour, linewidth=width, alpha=0.7, label=f"{said}: ± {margin}")
    axes.plot(list(women.values()), range(len(women)), "|", color=INK, markersize=17, label="the truth")
    axes.set_yticks(range(len(women)), [f"department {name}" for name in women])
    axes.invert_yaxis()
    axes.set_xlabel("women admitted")
    axes.legend(frameon=False, loc="lower right", fontsize=8)
    bare(axes)
    figure.patch.set_facecolor("white")
    with path.open("wb") as file:
        write(figure, file, "svg")


if __name__ == "__main__":
    draw(Path(sys.argv[1]))
