"""What stands in tests/documents/older_words is read for ever, whatever today's statements call things."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import utmost as ut
from documents.test_every_statement import is_on_trust, leaves, others, put, refused
from utmost.errors import BadTable
from utmost.ledger import Ledger, ResponseFolder
from utmost.publish.promises.older_words import columns_of_today, margin_word
from utmost.publish.promises.statement_kinds import WORKLOAD_KIND
from utmost.releases import WorkloadRelease
from utmost.statements import bound_costs, read_release, read_workload, stated_release
from utmost.workloads import Domain

OLDER = Path(__file__).parent / "older_words"
STATEMENTS = json.loads((OLDER / "statements.json").read_text(encoding="utf-8"))


@pytest.fixture
def older(tmp_path, monkeypatch):
    """A copy of all that was kept, as the working directory."""
    shutil.copytree(OLDER, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for file in ("ledger.db", "ledger.key", "sizes.json"):
        Path(file).chmod(0o600)


@pytest.mark.parametrize("name", STATEMENTS)
def test_every_older_statement_is_read_and_no_changed_one_is(name):
    """Each leaf is compared, in the older words, too: today's word in an older statement is refused."""
    statement = STATEMENTS[name]
    stated_release(statement)
    believed = [
        (path, other)
        for path, value in leaves(statement)
        for other in others(value)[:2]
        if other != value and not is_on_trust(path, value, other) and not refused(put(statement, path, other))
    ]
    assert believed == []
    if margin_word(statement) == "radius":
        text = json.dumps(statement)
        changed = [
            text.replace(old, new) for old, new in (('"radi', '"margi'), ("an atom", "a cell"), ("atoms", "cells"))
        ]
        assert all(refused(json.loads(other)) for other in changed if other != text)


def test_a_plan_read_from_older_words_is_written_in_todays(older):
    release = read_workload("plan.json")
    written = json.loads(json.dumps(release.facts()))
    assert (written["format"], written["domain_cells"], "atom" in json.dumps(written)) == (2, 4, False)
    assert WorkloadRelease.of_facts(written).total() == release.total()


def test_an_older_clean_table_has_no_certificate_and_is_to_be_made_again(older, run):
    code, _, err = run("verify", "clean.csv", "--release", "plan.json")
    assert (code, "Make the clean table again" in err) == (1, True)
    assert run("clean", "plan.json", "--out", "again.csv")[0] == 0
    assert run("verify", "again.csv", "--release", "plan.json")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        "verify table.csv",
        "verify withheld.csv --release table.csv",
        "verify plan.json",
        "verify plan-sex.csv",
        "verify plan-withheld.csv --release plan.json",
        "verify plan-withheld.csv --release plan-sex.csv",
        "verify sizes.csv",
        "total plan-sex.csv --where sex=men",
        "read table.csv --column n",
        "bounds sizes.json --domain domain.json --epsilon 1 --public",
    ],
)
def test_every_older_file_is_verified_and_read(older, run, words):
    Path("domain.json").write_text('{"sex": ["men", "women"]}')
    code, _, err = run(*words.split())
    assert code == 0, err


def test_an_older_table_is_read_with_its_labels_and_withheld(older):
    table = read_release("table.csv")
    assert (table.labels, table.total(table.chosen(["place=a"])).margin) == ({"place": list("abcd")}, 1)
    table.withhold(below=90).save("again.csv")
    assert read_release("again.csv").shown == 3


def test_bounds_are_chosen_by_sizes_that_were_released_in_older_words(older):
    assert bound_costs(read_release("sizes.csv"), Domain(sex=["men", "women"]), epsilon=1).name == "per_cell"


def test_responses_that_were_kept_with_radii_are_of_their_ledger(older):
    with Ledger.open("ledger.db", key=Path("ledger.key").read_bytes(), witness=False) as ledger:
        folder = ResponseFolder(ledger, "responses")
        assert [Path(file).name for file in folder.files("visits", epsilon=1)] == ["part-00000.parquet"]
        assert list(ledger.view("towns", epsilon=1)["n_margin"]) == [3, 3]


def test_a_level_called_margin_which_older_releases_may_have(tmp_path):
    """Beside it the margin of error has the older word: such a table was refused, and its release never shown."""
    domain = ut.Domain(margin=["low", "high"])
    unit = ut.Unit(1, 1)
    chosen = ut.strategy(ut.Workload(domain, {"margin": 1}), unit, epsilon=1)
    release = ut.release_workload(np.array([3, 4]), chosen, epsilon=1)
    assert list(release["margin"]) == ["margin", "estimate", "radius"]
    release.save(tmp_path / "t.csv", family="margin")
    assert read_release(tmp_path / "t.csv").strategy.shares == chosen.shares
    older = {"margin": ["low"], "estimate": [5], "radius": [3]}
    assert columns_of_today({"kind": WORKLOAD_KIND, "format": 1}, older) == older


def test_sensitivities_are_said_as_decimals_and_older_sentences_with_fractions_are_read():
    """Whole numbers in the format of before; other ones in a format of which earlier versions know nothing."""
    columns, promise = {"a": [1.5, 2.0], "b": [0.5, 4.0]}, {"numbers": "reals", "cells": 2, "epsilon": "0.7"}
    table = ut.release_table(columns, columns=["a", "b"], sensitivity="18074.46", **promise).sidecar
    together = ut.releases.release_together(
        {"a": [1, 2], "b": [3, 4]}, columns=["a", "b"], sensitivity=2, epsilon=1
    ).sidecar
    assert "each by at most 18074.46" in table["guarantee"]
    assert (table["format"], together["format"]) == (4, 2)
    before = table["guarantee"].replace("at most 18074.46", "at most 903723/50")
    stated_release(table)
    stated_release(table | {"format": 3, "guarantee": before})
    whole = ut.release_table(columns, columns=["a", "b"], sensitivity=3, **promise).sidecar
    assert whole["format"] == 3
    for forged in (
        table | {"format": 3},
        table | {"guarantee": before},
        whole | {"format": 4},
        together | {"format": 3},
    ):
        with pytest.raises(BadTable):
            stated_release(forged)
