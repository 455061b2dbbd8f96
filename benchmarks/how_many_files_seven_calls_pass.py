"""How many of the package's files run when seven things are done: what a reader must open to follow them.

Run: PYTHONPATH=src python benchmarks/how_many_files_seven_calls_pass.py [--files]

A file is passed when one of its functions is called; loading a module does not count, and is done before. The calls are
written so that they run on the layout before decision 0007 too, with its src folder on PYTHONPATH: a name that moved is
looked up in both places.
"""

import inspect
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import utmost as ut

HOME = Path(ut.__file__).parent
TABLE = "town,cases\nAsh,12\nElm,7\nOak,31\n"


def passed(call: Callable[[str], object]) -> list[str]:
    """The files of the package whose functions a call runs at alpha 1/2, after one at 1/3 that loads them all."""
    files = set()
    call("1/3")

    def seen(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    sys.setprofile(seen)
    try:
        call("1/2")
    finally:
        sys.setprofile(None)
    return sorted(str(Path(file).relative_to(HOME)) for file in files if Path(file).is_relative_to(HOME))


def found(*places: str) -> Any:
    """The first of these that there is, each as module or module:name."""
    for place in places:
        module, _, name = place.partition(":")
        try:
            return getattr(import_module(module), name) if name else import_module(module)
        except (ImportError, AttributeError):
            continue
    raise LookupError(places)


def only_known(function: Any, **arguments: Any) -> dict[str, Any]:
    """The arguments that a function takes; one that takes words takes all of them."""
    known = inspect.signature(function).parameters
    takes_words = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values())
    return {name: value for name, value in arguments.items() if takes_words or name in known}


def column_to_file(folder: Path, alpha: str) -> object:
    """A table's column, from its file through `release` to a file."""
    files = found("utmost.tables.files.files", "utmost.adapters.files")
    promise = ut.Promise("cases", public="town", unit=ut.Unit(1, 1))
    released = ut.release(files.read(folder / "cases.csv"), promise, epsilon=ut.level(alpha=alpha), once=True)
    out = BytesIO()
    files.write(released.table, out, folder / "noised.csv")
    return out


CASES = {"town": ["Ash", "Elm", "Oak"], "cases": [12, 7, 31]}
WORDS: dict[str, Any] = {"columns": "cases", "public": "town", "unit": ut.Unit(1, 1)}


def in_process(alpha: str) -> object:
    """A first answer that this process remembers."""
    return ut.release(CASES, ut.Promise(**WORDS), epsilon=ut.level(alpha=alpha))


def ledger_in(folder: Path) -> Any:
    """A ledger, open, with one release at its first level."""
    folder.mkdir()
    opening = only_known(ut.Ledger.open, create=True, key=b"k" * 32, witness=folder / "witness")
    ledger = ut.Ledger.open(folder / "releases.db", **opening)
    ledger.publish("cases", CASES, ut.Promise(**WORDS), epsilon=ut.level(alpha="4/5"), dataset="towns")
    return ledger


def response_published(folder: Path) -> Callable[[str], object]:
    """A table in `Ledger.publish`: of other values, in a dataset of its own."""
    ledger = ledger_in(folder / "published")

    def publish(alpha: str) -> object:
        table = {**CASES, "cases": [12, 7, int(alpha[-1])]}
        return ledger.publish(
            f"cases at {alpha}", table, ut.Promise(**WORDS), epsilon=ut.level(alpha=alpha), dataset=f"towns at {alpha}"
        )

    return publish


def response_viewed(folder: Path) -> Callable[[str], object]:
    """A response in `Ledger.view`, at a level that is stored."""
    ledger = ledger_in(folder / "viewed")
    for alpha in ("1/2", "1/3"):
        ledger.relax("cases", CASES, epsilon=ut.level(alpha=alpha))
    return lambda alpha: ledger.view("cases", epsilon=ut.level(alpha=alpha)).table


def response_relaxed(folder: Path) -> Callable[[str], object]:
    """A response in `Ledger.relax`: the ledger is open, the first level published."""
    ledger = ledger_in(folder / "relaxed")
    relaxed = {"1/3": "2/3"}  # the first call at the stricter level
    return lambda alpha: ledger.relax("cases", CASES, epsilon=ut.level(alpha=relaxed.get(alpha, alpha))).table


def consumer_served(alpha: str) -> object:
    """A consumer in `optimal_mechanism`."""
    counts = found("utmost.design.spaces:counts", "utmost:counts")
    ptype = ut.PrivacyType(counts(3), alpha=alpha)
    return ut.optimal_mechanism(ptype, ut.Consumer(ut.priors.uniform(4), ut.losses.absolute))


def metric_measured(alpha: str) -> object:
    """A metric in the capacity of its type."""
    points = found("utmost.design.spaces:points", "utmost:points")
    capacity = found(
        "utmost:capacity", "utmost.design.capacities:multiplicative_capacity", "utmost:multiplicative_capacity"
    )
    return capacity(ut.PrivacyType(points([(0, 0), (1, 0), (0, 2), (3, 3)]), alpha=alpha))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cases.csv").write_text(TABLE, encoding="utf-8")
        walks = {
            "a table's column, from release to the file": passed(partial(column_to_file, folder)),
            "a table's column, in ut.release": passed(in_process),
            "a table in Ledger.publish": passed(response_published(folder)),
            "a response in Ledger.view": passed(response_viewed(folder)),
            "a response in Ledger.relax": passed(response_relaxed(folder)),
            "a consumer in optimal_mechanism": passed(consumer_served),
            "a metric in capacity": passed(metric_measured),
        }
    for walk, files in walks.items():
        lines = sum(len((HOME / file).read_text(encoding="utf-8").splitlines()) for file in files)
        print(f"{len(files):3} files, {lines:6} lines: {walk}")
        if "--files" in sys.argv:
            print(*(f"      {file}" for file in files), sep="\n")


if __name__ == "__main__":
    main()
