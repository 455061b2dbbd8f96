"""Standard output holds the answer of a command and nothing else, byte by byte, whatever libraries print."""

import csv
import io
import json
import subprocess
import sys
import tomllib

import yaml

from command_lines import FILES, JSON, PIPE, READY

# A driver runs all commands in one process, whose standard output is a file.
from noisy import NOISE, noisy_libraries
from running import every_command

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
from utmost.__main__ import main

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
    """A new command, or a new option of an old one, belongs into the tables of command_lines.py."""
    options = dict(parts())
    assert set(JSON) == {name for name, there in options.items() if "--json" in there}
    assert set(PIPE) >= {name for name, there in options.items() if "--out" in there and "- " in there["--out"].help}


def check(name, line, said):
    """What came is one document, or one table, from its first byte to its last."""
    assert said
    assert NOISE.strip() not in said
    text = said.decode("utf-8")
    if "--json" in line or name not in TABLES | {"statement", "init"}:
        json.loads(text)
    elif name == "statement":
        assert yaml.safe_load(text)
    elif name == "init":
        assert tomllib.loads(text)
    else:
        rows = list(csv.reader(io.StringIO(text), strict=True))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1


def test_what_libraries_print_is_in_no_answer(tmp_path):
    """Every --json and every --out - of every command, in a process whose libraries print wherever they can."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    lines = [("", line.split()) for line in READY.strip().replace(" && ", "\n").splitlines()]
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
