"""R14: every document that a released version wrote opens, checks and says what it said. The files stay for ever."""

import json
import shutil
from pathlib import Path

import pytest

from utmost.ledger import Ledger
from utmost.version import __version__

FORMATS = Path(__file__).parent / "formats"
VERSIONS = sorted(path.name for path in FORMATS.iterdir() if path.is_dir())
COMMANDS = (
    "design --check design.json",
    "design --check design-of-places.json",
    "capacity --check capacity.json",
    "universal --check verdict.json",
    "verify released.csv",
    "verify together.csv",
    "verify places.csv",
    "verify workload.json",
    "total workload.json --where sex=women",
    "clean workload.json --out clean.csv",
    "release counted.json --plan plan.json --epsilon 1 --out again.json",
    "respond design.json --secret 2",
    "respond design.json --file answers-in.csv --column secret --public id --id id --kept answers.csv --out more.csv",
)


@pytest.fixture(params=VERSIONS)
def kept(request, tmp_path, monkeypatch):
    """A copy of all that a version kept, as the working directory."""
    for path in (FORMATS / request.param).iterdir():
        shutil.copy(path, tmp_path)
        (tmp_path / path.name).chmod(0o600)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_this_version_has_kept_its_documents():
    """Where it has not: python .ci/keep_documents.py, once for each release."""
    assert __version__ in VERSIONS


@pytest.mark.parametrize("words", COMMANDS)
def test_every_kept_document_opens_and_checks(kept, run, words):
    code, _, err = run(*words.split())
    assert code == 0, err


def test_a_kept_document_that_was_changed_is_refused(kept, run):
    design = json.loads((kept / "design.json").read_text())
    (kept / "design.json").write_text(json.dumps(design | {"expected_loss": "1/1000"}))
    assert run("design", "--check", "design.json")[0] == 1
    released = (kept / "released.csv").read_text().splitlines()
    (kept / "released.csv").write_text("\n".join([*released[:-1], "Oak,9999,3"]) + "\n")
    assert run("verify", "released.csv")[0] == 1


def test_a_kept_ledger_says_what_it_said_and_goes_on(kept):
    said = json.loads((kept / "ledger.said").read_text())
    with Ledger.open("ledger.db", key=(kept / "ledger.key").read_bytes(), witness="ledger.witness") as book:
        book.verify()
        again = {
            asked: [int(count) for count in book.view(*asked.split("@")[:1], epsilon=asked.split("@")[1])["n"]]
            for asked in said
        }
        assert again == said
        table = {"town": ["Ash", "Elm", "Oak"], "n": [12, 7, 31]}
        relaxed = [int(count) for count in book.relax("items", table, epsilon=3)["n"]]
        assert relaxed == [int(count) for count in book.view("items", epsilon=3)["n"]]


def test_the_columns_and_rows_of_answers_are_compared(kept, run):
    """Their statement names them; only the digest of the file was compared, which a forger writes."""
    statement = json.loads(Path("answers.csv.json").read_text())
    assert run("verify", "answers.csv")[0] == 0
    others = [{"public": []}, {"rows": statement["rows"] + 1}]
    others += [{"mechanism": statement["mechanism"] | change} for change in ({"more": "1"}, {"sha256": "é" * 64})]
    for forged in ({"column": "another"}, {"public": ["name"]}, *others):
        Path("answers.csv.json").write_text(json.dumps(statement | forged))
        assert run("verify", "answers.csv")[0] == 1
