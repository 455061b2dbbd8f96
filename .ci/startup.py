"""How long `import utmost` takes beyond numpy, how long `utmost --help` takes, and what the import pulls in.

The goals are 0.3 s and 0.4 s on an idle machine; a shared one may be three times as slow before this fails.
"""

import subprocess
import sys
import time

GOALS = {"import utmost, beyond numpy": 0.3, "utmost --help": 0.4}
PATIENCE = 3
HEAVY = ("scipy", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "numba", "typer", "rich")


def seconds(*arguments: str) -> float:
    """The best of five runs of Python with these arguments."""
    runs = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        runs.append(time.perf_counter() - start)
    return min(runs)


def heavy_modules() -> list[str]:
    """The modules among HEAVY that `import utmost` brings in."""
    code = f"import sys, utmost; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def main() -> int:
    """Report; 1 where something is heavy or far too slow."""
    measured = {
        "import utmost, beyond numpy": seconds("-c", "import utmost") - seconds("-c", "import numpy"),
        "utmost --help": seconds("-m", "utmost", "--help"),
    }
    for name, goal in GOALS.items():
        sys.stdout.write(f"{name}: {measured[name]:.2f} s (goal {goal} s)\n")
    heavy = heavy_modules()
    sys.stdout.write(f"heavy modules imported: {', '.join(heavy) or 'none'}\n")
    return int(bool(heavy) or any(measured[name] > PATIENCE * goal for name, goal in GOALS.items()))


if __name__ == "__main__":
    sys.exit(main())
