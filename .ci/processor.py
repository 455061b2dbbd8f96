"""What tests cost in seconds of processor, what they start included: for each room, its files and its dearest tests.

    python .ci/processor.py tests/ledger tests/noise      each in a process of its own

Processor, not clock: the figures hold on a machine that others use. Of a first run leave out what compiles.
"""

import collections
import os
import subprocess
import sys
from pathlib import Path

import pytest

COSTS: dict[str, float] = {}
DEAREST = 12

sys.path[:] = [path for path in sys.path if Path(path).resolve() != Path(__file__).parent]  # cli.py hides tests/cli


def seconds() -> float:
    """Of this process and of all that it has started and that has ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """One test with its fixtures."""
    before = seconds()
    done = yield
    COSTS[item.nodeid] = seconds() - before
    return done


def pytest_terminal_summary(terminalreporter):
    """The table."""
    line = terminalreporter.write_line
    line(f"{seconds():8.1f} s of processor, {sum(COSTS.values()):.1f} of them in {len(COSTS)} tests")
    for part, least in (("::", 0.5), ("[", 0.5)):
        sums = collections.Counter()
        for name, cost in COSTS.items():
            sums[name.split(part)[0]] += cost
        for name, cost in sums.most_common(DEAREST):
            if cost >= least:
                line(f"{cost:8.1f} {name}")


if __name__ == "__main__":
    for room in sys.argv[1:] or ["tests"]:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(["src", ".ci", os.environ.get("PYTHONPATH", "")])}
        command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "processor", room]
        if subprocess.run(command, env=environment, check=False).returncode:
            sys.exit(1)
