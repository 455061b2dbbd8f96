"""How much of the package runs for one call: its classes made, functions, and files, at the second call.

Run: PYTHONPATH=src python benchmarks/road.py [--functions NAME]

A file counts when one of its functions is called; loading modules happens in the first call, which is not counted.
Comprehensions and generator expressions are no functions of their own. `--functions publish` lists what one call ran.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import utmost as ut

HOME = Path(ut.__file__).parent
NO_FUNCTIONS = {"<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>"}
PROMISE = ut.Promise("admitted", public="department", unit=ut.Unit(1, 1))


class Road:
    """What a call ran."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.functions: dict[tuple[str, int, str], int] = {}
        self.classes: set[str] = set()
        sys.setprofile(self._seen)
        try:
            call()
        finally:
            sys.setprofile(None)
        self.files = {file for file, _, _ in self.functions}

    def _seen(self, frame: Any, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or code.co_name in NO_FUNCTIONS:
            return
        if code.co_name in ("__init__", "__post_init__") and code.co_argcount:
            made = type(frame.f_locals[code.co_varnames[0]])
            if made.__module__.partition(".")[0] == "utmost":
                self.classes.add(made.__qualname__)
        if (file := Path(code.co_filename)).is_relative_to(HOME):
            place = str(file.relative_to(HOME)), code.co_firstlineno, code.co_qualname
            self.functions[place] = self.functions.get(place, 0) + 1


def table(last: int) -> dict[str, list[Any]]:
    """Two rows, whose values no other dataset has."""
    return {"department": ["A", "B"], "admitted": [601, last]}


def calls(folder: Path) -> dict[str, tuple[Callable[[], object], Callable[[], object]]]:
    """For each name the first call, and the second one, which is measured."""
    ledger = ut.Ledger.open(folder / "l.db", create=True, key=b"k" * 32, witness=folder / "w")
    for name in ("relaxed", "viewed"):
        ledger.publish(name, table(len(name)), PROMISE, epsilon="1/8", dataset=name, independent=True)
    ledger.relax("viewed", table(6), epsilon=1)
    events = {"person": [n // 2 for n in range(20)], "department": ["A", "B"] * 10}
    domain, counting = ut.Domain(department=["A", "B"]), ut.Counting(person="person", at_most=1, key=b"k" * 32)

    def publish(number: int) -> Callable[[], object]:
        return lambda: ledger.publish(
            f"r{number}", table(number), PROMISE, epsilon=f"1/{number}", dataset=f"d{number}", independent=True
        )

    def relax(number: int) -> Callable[[], object]:
        return lambda: ledger.relax("relaxed", table(7), epsilon=number)

    def view(epsilon: str) -> Callable[[], object]:
        return lambda: ledger.view("viewed", epsilon=epsilon)

    def once(epsilon: int) -> Callable[[], object]:
        return lambda: ut.release(table(1), PROMISE, epsilon=epsilon, once=True)

    def process(epsilon: int) -> Callable[[], object]:
        return lambda: ut.release(table(1), PROMISE, epsilon=epsilon)

    def count() -> object:
        return ut.count_table(events, domain, counting)

    return {
        "publish": (publish(3), publish(5)),
        "relax": (relax(1), relax(2)),
        "view": (view("1/3"), view("1/2")),
        "count_table": (count, count),
        "once": (once(1), once(2)),
        "process": (process(1), process(2)),
    }


def main() -> None:
    shown = sys.argv[sys.argv.index("--functions") + 1] if "--functions" in sys.argv else None
    with tempfile.TemporaryDirectory() as name:
        for word, (first, second) in calls(Path(name)).items():
            first()
            road = Road(second)
            print(
                f"{word:12} {len(road.classes):3} classes {len(road.functions):4} functions {len(road.files):3} files"
            )
            if shown == word:
                for (file, line, function), times in sorted(road.functions.items()):
                    print(f"    {file}:{line} {function} {times}")
                print("    classes:", *sorted(road.classes))


if __name__ == "__main__":
    main()
