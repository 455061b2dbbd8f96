"""R with reticulate, where they are there (`apt install r-base-core r-cran-reticulate`).

Debian's reticulate of 2023 runs Python up to 3.11: UTMOST_R_PYTHON names one in which utmost's dependencies are.
"""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src"
PYTHON = os.environ.get("UTMOST_R_PYTHON", sys.executable)
ENVIRONMENT = os.environ | {"RETICULATE_PYTHON": PYTHON, "PYTHONPATH": str(SOURCES)}


@functools.cache
def missing_r():
    """Why R cannot run utmost here; empty where it can."""
    script = shutil.which("Rscript")
    if script is None:
        return "there is no Rscript"
    asked = [script, "-e", "invisible(reticulate::import('utmost'))"]
    done = subprocess.run(asked, capture_output=True, text=True, env=ENVIRONMENT)
    return "" if done.returncode == 0 else f"reticulate has no utmost in {PYTHON}"
