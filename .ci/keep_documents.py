"""Write one of every document that this version writes to tests/documents/formats/VERSION, once for each release.

python .ci/keep_documents.py

A test opens and checks what every version has kept (tests/documents/test_kept_documents.py); nothing is written over.
"""

import contextlib
import json
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "tests/documents/formats"
DOMAIN = {"sex": ["men", "women"], "outcome": ["admitted", "rejected"]}
EVENTS = [(f"p{k}", "women" if k % 3 else "men", "admitted" if k % 5 else "rejected") for k in range(60)]
PROMISE = "--public town --sensitivity 1 --epsilon 1"
COMMANDS = (
    "design --counts 3 --alpha 1/2 --prior uniform --loss absolute --out design.json",
    "design --grid 2x2 --epsilon 1 --prior uniform --loss binary --out design-of-places.json",
    "capacity --grid 2x2 --alpha 1/2 --out capacity.json",
    "universal --discrete 3 --alpha 1/2 --loss binary --out verdict.json",
    f"release table.csv --columns men --drop women --cells 1 {PROMISE} --out released.csv",
    "promise --columns men --public town --drop women --sensitivity 1 --cells 1 --out promise.json",
    f"release table.csv --columns men,women --together {PROMISE} --out together.csv",
    "release points.csv --columns x,y --public id --planar --epsilon 1 --out places.csv",
    "count events.csv --person person --domain domain.json --at-most 1 --out counted.json",
    "plan counted.json --want sex,outcome --epsilon 1 --out plan.json",
    "release counted.json --plan plan.json --epsilon 1 --out workload.json",
    "categories --labels tea,milk,water --epsilon 1/2 --short --save survey.json",
    "respond design.json --file answers-in.csv --column secret --public id --out answers.csv",
)


def inputs() -> None:
    """The tables that the commands read, in this folder."""
    rows = {
        "table.csv": ["town,men,women", "Ash,12,3", "Elm,7,4", "Oak,31,2"],
        "points.csv": ["id,x,y", "a,1,2", "b,5,6"],
        "events.csv": ["person,sex,outcome", *(",".join(event) for event in EVENTS)],
        "answers-in.csv": ["id,secret", "a,0", "b,3", "c,2"],
        "domain.json": [json.dumps(DOMAIN)],
    }
    for name, lines in rows.items():
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def ledger() -> None:
    """A ledger with a table, one relaxed and one by item, and what it said."""
    import utmost as ut

    Path("ledger.key").write_bytes(bytes(range(32)))
    table = {"town": ["Ash", "Elm", "Oak"], "n": [12, 7, 31]}
    promise = {"columns": "n", "public": "town", "sensitivity": 1, "cells": 1, "dataset": "d"}
    with ut.Ledger.open("ledger.db", create=True, key=bytes(range(32)), witness="ledger.witness") as book:
        book.publish("towns", table, **promise, epsilon="1/2")
        book.relax("towns", table, epsilon=1)
        book.publish("items", table, **promise, noise="items", id_column="town", epsilon="1/2")
        said = {
            f"{name}@{at}": [int(count) for count in book.view(name, epsilon=at)["n"]]
            for name, at in (("towns", "1/2"), ("towns", "1"), ("items", "1/2"))
        }
    Path("ledger.said").write_text(json.dumps(said) + "\n", encoding="utf-8")


def main() -> int:
    """Keep them, unless this version has."""
    sys.path.insert(0, str(ROOT / "src"))
    from utmost.interfaces.cli.main import main as command
    from utmost.version import __version__

    folder = KEPT / __version__
    if folder.exists():
        sys.stderr.write(f"{folder} is there, and stays as it is\n")
        return 1
    folder.mkdir(parents=True)
    try:
        with contextlib.chdir(folder):
            inputs()
            for words in COMMANDS:
                try:
                    command(words.split())
                except SystemExit as ended:
                    if ended.code:
                        raise RuntimeError(words) from ended
            ledger()
    except BaseException:
        shutil.rmtree(folder)
        raise
    return 0


if __name__ == "__main__":
    sys.exit(main())
