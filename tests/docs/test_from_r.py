"""The page for R is done as it says, where R and reticulate are there (`apt install r-base-core r-cran-reticulate`)."""

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from utmost.statements import read_release

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```r\n(.*?)```", (ROOT / "docs/howto/from-other-packages.md").read_text(encoding="utf-8"), re.S)


@functools.cache
def has_reticulate():
    script = shutil.which("Rscript")
    asked = [script, "-e", "quit(status = !requireNamespace('reticulate', quietly = TRUE))"]
    return script is not None and subprocess.run(asked, capture_output=True).returncode == 0


@pytest.mark.oracle
def test_the_page_is_done_as_it_says(tmp_path):
    """Both blocks, one after the other; what was saved is what Python reads and checks."""
    if not has_reticulate():
        pytest.skip("there is no R with reticulate")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "page.R").write_text("\n".join(BLOCKS), encoding="utf-8")
    environment = os.environ | {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "applicants_margin" in done.stdout
    release = read_release(tmp_path / "from_r.csv")
    assert release.total({"sex": "women"}, "admitted").margin == 14
