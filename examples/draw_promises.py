"""Draw what privacy at ln 2 promises for three secrets: in a row, and all equally far apart.

python examples/draw_promises.py docs/figures/promises.svg
"""

import sys
from pathlib import Path

import utmost as ut
from utmost.adapters.hyper_plot import promise_figure

if __name__ == "__main__":
    path = Path(sys.argv[1])
    types = {
        "Counts 0, 1, 2": ut.PrivacyType.central(2, alpha="1/2"),
        "Three secrets, all one apart": ut.PrivacyType.local(3, alpha="1/2"),
    }
    with path.open("wb") as file:
        promise_figure(types, file, path)
