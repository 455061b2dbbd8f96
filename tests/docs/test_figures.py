"""The pictures in the docs are what the commands beside them draw now."""

import re
from pathlib import Path

import pytest

from running import called

ROOT = Path(__file__).parents[2]
CHANNELS = ROOT / "examples" / "channels"
matplotlib = pytest.importorskip("matplotlib")

HYPERS = {
    "geometric-and-response": ("geometric", "response", "line:3"),
    "geometric-and-coarse": ("geometric", "coarse", "line:3"),
    "response-and-dual": ("response", "dual", "discrete:3"),
}


def check_same(drawn, name):
    """Byte for byte, where the picture was drawn by the matplotlib that is installed."""
    kept = (ROOT / "docs" / "figures" / name).read_text(encoding="utf-8")
    if re.search(rf"Matplotlib v{re.escape(matplotlib.__version__)},", kept):
        assert drawn.read_text(encoding="utf-8") == kept, f"docs/figures/{name} must be drawn again"


@pytest.mark.parametrize("name", HYPERS)
def test_hypers(name, tmp_path):
    one, other, space = HYPERS[name]
    drawn = tmp_path / f"{name}.svg"
    files = [CHANNELS / f"{title}.csv" for title in (one, other)]
    called("leakage", *files, "--space", space, "--plot", drawn).check_returncode()
    check_same(drawn, drawn.name)


def test_the_map_of_paris(tmp_path):
    drawn = tmp_path / "paris.svg"
    asked = ["--prior", "column:population", "--loss", "distance", "--epsilon-at", "2km=ln2", "--plot", drawn]
    called("design", ROOT / "examples" / "paris.csv", *asked).check_returncode()
    check_same(drawn, drawn.name)
