"""Least processor time of several repeats, side by side in one run, so that ratios hold on a busy machine too."""

import statistics
from collections.abc import Callable
from time import process_time_ns
from typing import Any, NamedTuple


class Contender(NamedTuple):
    """What is timed: a name, a call without arguments, and how many draws (or other units) one call makes."""

    name: str
    call: Callable[[], Any]
    units: int


def compared(contenders: list[Contender], repeats: int = 9) -> dict[str, tuple[float, float]]:
    """Least and median nanoseconds a unit; the contenders take turns, after one call each outside the clock."""
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for contender in contenders:
        contender.call()
    for _ in range(repeats):
        for contender in contenders:
            start = process_time_ns()
            contender.call()
            times[contender.name].append((process_time_ns() - start) / contender.units)
    return {name: (min(found), statistics.median(found)) for name, found in times.items()}


def shown(found: dict[str, tuple[float, float]], unit: str = "ns a draw") -> None:
    """A table: least and median time, and how many times the first contender's least time that is."""
    first = next(iter(found.values()))[0]
    print(f"{'':44}{'least':>12}{'median':>12}  {unit:12}{'ratio':>10}")
    for name, (least, median) in found.items():
        print(f"{name:44}{least:12.2f}{median:12.2f}  {'':12}{least / first:10.1f}")
