"""Libraries that print on file descriptor 1, as a solver of 2026 does: when imported, when made, and at work."""

import os
from pathlib import Path

NOISE = b"a library says something\n"

# Python runs `sitecustomize` before anything else. Part of the noise waits in C's own buffer until the process ends.
_AT_IMPORT = f"""
import ctypes, os, sys

class Noisy:
    names = {{"numpy", "flint", "cryptography", "highspy", "threadpoolctl", "numba", "pyarrow", "pandas", "duckdb"}}

    def find_spec(self, name, path=None, target=None):
        if name in self.names:
            self.names.remove(name)
            os.write(1, {NOISE!r})
            try:
                ctypes.CDLL(None).printf({NOISE!r})
            except (OSError, TypeError):
                pass
        return None

sys.meta_path.insert(0, Noisy())
"""

_SOLVER = f"""
import importlib, os, sys

own = sys.path.index(os.path.dirname(__file__))
folder = sys.path.pop(own)
sys.modules.pop("highspy")
real = importlib.import_module("highspy")
sys.path.insert(own, folder)
quiet = real.Highs

class Highs(quiet):
    def __init__(self):
        os.write(1, {NOISE!r})
        super().__init__()

    def run(self):
        os.write(1, {NOISE!r})
        return super().run()

real.Highs = Highs
"""


def noisy_libraries(folder: Path) -> dict[str, str]:
    """The environment of a process whose libraries print; they are laid in the folder."""
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_AT_IMPORT, encoding="utf-8")
    (folder / "highspy.py").write_text(_SOLVER, encoding="utf-8")
    sources = Path(__file__).parents[1] / "src"
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(sources)]), "NO_COLOR": "1"}
