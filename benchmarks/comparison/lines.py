"""What one line of the comparison says, and how time, memory and growth are measured for it."""

import math
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]
OURS = "utmost"


@dataclass(frozen=True)
class Timing:
    """What somebody took for a work; ``amount`` is None where it was not measured, and ``note`` says why."""

    who: str
    work: str
    amount: float | None
    unit: str
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """A figure of the goals beside what was measured; both in one unit."""

    says: str
    measured: float
    limit: float
    unit: str
    at_least: bool = False
    is_judged: bool = True

    @property
    def ratio(self) -> float:
        """How much of the goal is reached: 1 or more is met, whichever way the goal points."""
        small, large = (self.limit, self.measured) if self.at_least else (self.measured, self.limit)
        return large / small if small > 0 else math.inf

    @property
    def verdict(self) -> str:
        """Met, missed, or not judged, where the run was smaller than the goal is about."""
        return ("met" if self.ratio >= 1 else "missed") if self.is_judged else "not judged"


@dataclass
class Line:
    """One work: what it takes, the goals, what was checked of the results, growth, and the peak of memory in MiB."""

    key: str
    work: str
    quick: bool
    timings: list[Timing] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    checks: dict[str, bool] = field(default_factory=dict)
    growth: dict[str, list[str]] = field(default_factory=dict)
    memory: float = 0.0
    is_alone: bool = True

    def alone(self, *calls: Callable[[], Any]) -> None:
        """Do the work of utmost once and keep the peak of memory, before a neighbour's package is loaded."""
        for call in calls:
            call()
        self.memory, self.is_alone = peak(), False

    def took(self, who: str, work: str, amount: float, unit: str = "s", note: str = "") -> float:
        """Keep a time; and the peak of memory, as long as no neighbour has been asked."""
        self.timings.append(Timing(who, work, amount, unit, note))
        self.is_alone = self.is_alone and who.startswith(OURS)
        if self.is_alone:
            self.memory = peak()
        return amount

    def absent(self, who: str, work: str, note: str = "not installed") -> None:
        """Name a neighbour that was not measured."""
        self.timings.append(Timing(who, work, None, "", note))

    def goal(self, says: str, measured: float, limit: float, unit: str = "s", at_least: bool = False) -> None:
        """Hold a figure against its goal; a quick run judges nothing."""
        self.goals.append(Goal(says, measured, limit, unit, at_least, not self.quick))

    def grows(self, who: str, times: dict[int, float]) -> None:
        """The exponents of a growth, from each size to the next."""
        self.growth[who] = [
            f"{small:,} to {large:,}: n^{math.log(times[large] / times[small]) / math.log(large / small):.1f}"
            for small, large in pairwise(times)
        ]


def beside(timings: list[Timing], timing: Timing) -> float | None:
    """How many times as long as utmost, in its first figure for the same work; None for utmost and the unmeasured."""
    ours = next((one.amount for one in timings if one.who.startswith(OURS) and one.work == timing.work), None)
    return None if timing.who.startswith(OURS) or not ours or timing.amount is None else timing.amount / ours


def peak() -> float:
    """The peak of this process's memory so far, in MiB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def is_installed(module: str) -> bool:
    """Whether a neighbour can be asked."""
    return find_spec(module) is not None


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of processor, and the answer."""
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def script(room: str, name: str) -> Any:
    """A script of benchmarks/ as a module, whose cases and neighbours are used here."""
    folder = str(HERE / room)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return import_module(name)
