"""The page for R is done as it says, where R and reticulate are there (`apt install r-base-core r-cran-reticulate`)."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rscript import ENVIRONMENT, missing_r
from utmost.statements import read_release

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(r"```r\n(.*?)```", (ROOT / "docs/howto/from-other-packages.md").read_text(encoding="utf-8"), re.S)


@pytest.mark.oracle
def test_the_page_is_done_as_it_says(tmp_path):
    """Both blocks, one after the other; what was saved is what Python reads and checks."""
    if reason := missing_r():
        pytest.skip(reason)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "page.R").write_text("\n".join(BLOCKS), encoding="utf-8")
    done = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "applicants_margin" in done.stdout
    release = read_release(tmp_path / "from_r.csv")
    assert release.total({"sex": "women"}, column="admitted").margin == 14
