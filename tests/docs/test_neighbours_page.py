"""The page for people who come from other packages: its blocks of OpenDP and PipelineDP, run where these are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/howto/from-other-packages.md"


@pytest.mark.oracle
@pytest.mark.parametrize("package", ["opendp", "pipeline_dp"])
def test_the_same_release_in_a_neighbour(package, monkeypatch):
    """Twelve counts, near those of the table: within 20, which Laplace noise of scale 1 passes once in 10^8."""
    pytest.importorskip(package)
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(import .*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (code for code in blocks if package in code)
    names = {}
    exec(block, names)
    counts = [getattr(count, "count", count) for count in map(last, names["counts"])]
    assert len(counts) == 12
    assert abs(max(counts) - 825) < 20


def last(count):
    """The count, without the key that stands before it."""
    return count[1] if isinstance(count, tuple) else count
