"""Standard output holds the answer of a command and nothing else, byte by byte, whatever libraries print."""

import csv
import io
import json
import subprocess
import sys

import yaml

from noisy import NOISE, noisy_libraries
from utmost.interfaces.cli.main import every_command

HALF = "--alpha 1/2"
PROMISE = "--columns n --public town --sensitivity 1 --cells 1 --epsilon 1"

FILES = {
    "events.csv": "p,town\n" + "".join(f"{p},{('Ash', 'Elm')[p % 2]}\n" for p in range(40)),
    "domain.json": '{"town": ["Ash", "Elm"]}',
    "t.csv": "town,n\nAsh,12\nElm,7\n",
    "secrets.csv": "town,n\nAsh,1\nElm,2\n",
    "policy.csv": "flu,cold\ncold,well\n",
    "edges.csv": "ann,bo\nbo,cy\n",
    "one.csv": "1/2,1/2\n1/3,2/3\n",
    "other.csv": "1/2,1/2\n1/2,1/2\n",
}

READY = f"""
count events.csv --person p --at-most 1 --domain domain.json --out c.json
count events.csv --person p --contributions at-most=1,2 --domain domain.json --out part.json
plan c.json --want town --epsilon 1 --out plan.json
release c.json --plan plan.json --epsilon 1 --out r.json
release t.csv {PROMISE} --out r.csv
release t.csv {PROMISE} --ledger l.db --create --name r --dataset d --out kept.csv
ledger backup --ledger l.db --out copy.db
design --counts 3 --prior uniform {HALF} --out design.json
"""
"""What the table below needs: files that commands make, in this order."""

JSON = {
    "count": "events.csv --person p --at-most 1 --domain domain.json --out counted.json",
    "bounds": "part.json --public --persons 40 --domain domain.json --epsilon 1",
    "plan": "c.json --want town --epsilon 1",
    "share": "plan.json --epsilon 1",
    "promise": "c.json",
    "release": f"t.csv {PROMISE} --out json.csv",
    "clean": "r.json",
    "withhold": "r.csv --below 5",
    "statement": "r.csv",
    "verify": "r.csv",
    "total": "r.json --where town=Ash",
    "read": "--response 1 --n 2 --prior uniform --epsilon 1",
    "relax": "t.csv --ledger l.db --name r --epsilon 2 --out relaxed.csv",
    "view": "--ledger l.db --name r --epsilon 1/2 --out view.csv",
    "ledger status": "--ledger l.db",
    "ledger verify": "--ledger l.db",
    "ledger history": "--ledger l.db",
    "ledger budget": "--ledger l.db --dataset d --limit 9",
    "ledger backup": "--ledger l.db --out copy2.db",
    "ledger restore": "copy.db --ledger l2.db --key-file l.db.key",
    "ledger resume": "--ledger l2.db --key-file l.db.key --reason moved --nothing-missing",
    "ledger receipt": "--ledger l.db",
    "trust": f"edges.csv --owner ann {HALF}",
    "research lossless": "1 2 --numbers reals --law laplace",
    "noise": "--epsilon 1 --sensitivity 2",
    "research compare": "",
    "epsilon-for": "--margin 10 --sensitivity 1",
    "design": f"--counts 3 --prior uniform {HALF}",
    "research policy": "policy.csv --epsilon 1",
    "research minimax": "--space counts:5 --loss absolute --epsilon 1",
    "respond": "design.json --secret 1",
    "export": "design.json --out phone --round",
    "categories": "--categories 5 --epsilon 1",
    "research words": "--epsilon 1",
    "research leakage": "one.csv",
    "research refine": "one.csv other.csv",
    "research capacity": f"--space graph:edges.csv {HALF}",
    "research vertices": f"--space line:3 {HALF}",
    "research kernels": f"--space counts:3 {HALF}",
    "research universal": f"--space counts:3 {HALF}",
    "research databases": f"--values 2 --rows 2 {HALF}",
    "doctor": "",
    "research reproduce": "ghosh",
}
"""Every command that has --json, in words that it takes."""

PIPE = {name: f"{words} --out -" for name, words in JSON.items() if "--out " not in words and name != "trust"} | {
    "count": "events.csv --person p --at-most 1 --domain domain.json --out - --format csv",
    "release": f"t.csv {PROMISE} --out -",
    "read": "r.csv --out -",
    "relax": "t.csv --ledger l.db --name r --epsilon 3 --out -",
    "view": "--ledger l.db --name r --epsilon 1/3 --out -",
    "ledger restore": "copy.db --ledger l3.db --key-file l.db.key --out -",
    "ledger resume": "--ledger l3.db --key-file l.db.key --reason moved --nothing-missing --out -",
    "respond": "design.json --file secrets.csv --column n --drop town --out -",
    "categories": "--labels 1,2 --epsilon 1 --file secrets.csv --column n --out -",
}
"""Every command that takes `--out -`."""

TABLES = {
    "count",
    "release",
    "clean",
    "withhold",
    "relax",
    "view",
    "respond",
    "research vertices",
    "research kernels",
    "categories",
}

DRIVER = """
import json, os, sys
from utmost.interfaces.cli.main import main

told = []
for line in json.load(open("lines.json")):
    before = os.path.getsize("said")
    try:
        main(line)
    except SystemExit as ended:
        code = ended.code or 0
    sys.stdout.flush()
    told.append([code, before, os.path.getsize("said")])
json.dump(told, open("told.json", "w"))
"""


def parts():
    for words, command in every_command():
        yield words, {option: each for each in command.params for option in each.opts}


def test_each_command_that_answers_on_standard_output_is_tried():
    """A new command, or a new option of an old one, belongs into the tables above."""
    options = dict(parts())
    assert set(JSON) == {name for name, there in options.items() if "--json" in there}
    assert set(PIPE) >= {name for name, there in options.items() if "--out" in there and "- " in there["--out"].help}


def check(name, line, said):
    """What came is one document, or one table, from its first byte to its last."""
    assert said
    assert NOISE.strip() not in said
    text = said.decode("utf-8")
    if "--json" in line or name not in TABLES | {"statement"}:
        json.loads(text)
    elif name == "statement":
        assert yaml.safe_load(text)
    else:
        rows = list(csv.reader(io.StringIO(text), strict=True))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


def test_what_libraries_print_is_in_no_answer(tmp_path):
    """Every --json and every --out - of every command, in a process whose libraries print wherever they can."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    lines = [("", line.split()) for line in READY.strip().splitlines()]
    lines += [(name, [*name.split(), *words.split(), "--json"]) for name, words in JSON.items()]
    lines += [(name, [*name.split(), *words.split()]) for name, words in PIPE.items()]
    (tmp_path / "lines.json").write_text(json.dumps([line for _, line in lines]))
    environment = noisy_libraries(tmp_path / "noisy")
    with (tmp_path / "said").open("wb") as out, (tmp_path / "err").open("wb") as err:
        subprocess.run(
            [sys.executable, "-c", DRIVER], cwd=tmp_path, env=environment, stdout=out, stderr=err, check=True
        )
    said, err = (tmp_path / "said").read_bytes(), (tmp_path / "err").read_bytes()
    told, faults = json.loads((tmp_path / "told.json").read_text()), {}
    for (name, line), (code, begin, end) in zip(lines, told, strict=True):
        try:
            assert code == 0
            if name:
                check(name, line, said[begin:end])
        except (AssertionError, ValueError, csv.Error) as error:
            faults[" ".join(line)] = repr(error), code, said[begin:end][:300]
    assert not faults, (faults, err[-3000:])
    assert said[told[-1][2] :] == b"", "what a library held back is printed when the process ends"
    assert err.count(NOISE) > 20, "the libraries did print"
