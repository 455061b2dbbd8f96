"""How long the first name of utmost takes beyond numpy, how long `utmost --help` takes, and what the name pulls in.

`import utmost` alone loads no room, not even numpy; so what is measured is the import with the first name that most
people ask for, `release`, which loads the rooms from `exact` to `release`.

The goals are 0.3 s and 0.4 s of processor. Seconds differ by machine and by what else runs on it, so this fails by the
ratio to `import numpy`, measured in the same run, and by what is imported.
"""

import os
import subprocess
import sys

FIRST_NAME = "import utmost; utmost.release"
GOALS = {f"{FIRST_NAME}, beyond numpy": 0.3, "utmost --help": 0.4}
MOST_TIMES_NUMPY = 8
HEAVY = ("scipy", "pandas", "polars", "pyarrow", "narwhals", "matplotlib", "numba", "threadpoolctl", "click")


def seconds(*arguments: str) -> float:
    """The least processor time of five runs of Python with these arguments."""
    runs = []
    for _ in range(5):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        runs.append(after.children_user + after.children_system - before.children_user - before.children_system)
    return min(runs)


def heavy_modules() -> list[str]:
    """The modules among HEAVY that the first name brings in."""
    code = f"import sys; {FIRST_NAME}; print(*(m for m in {HEAVY!r} if m in sys.modules))"
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()


def main() -> int:
    """Report; 1 where something is heavy or far too slow."""
    numpy = seconds("-c", "import numpy")
    measured = dict(zip(GOALS, (seconds("-c", FIRST_NAME) - numpy, seconds("-m", "utmost", "--help")), strict=True))
    sys.stdout.write(f"import utmost, which loads no room: {seconds('-c', 'import utmost'):.2f} s\n")
    for name, goal in GOALS.items():
        sys.stdout.write(f"{name}: {measured[name]:.2f} s (goal {goal} s), {measured[name] / numpy:.1f} times numpy\n")
    heavy = heavy_modules()
    sys.stdout.write(f"heavy modules imported: {', '.join(heavy) or 'none'}\n")
    return int(bool(heavy) or any(time > MOST_TIMES_NUMPY * numpy for time in measured.values()))


if __name__ == "__main__":
    sys.exit(main())
