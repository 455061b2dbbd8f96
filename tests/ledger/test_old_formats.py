"""R14: a ledger of each format that was ever written opens, says what it said, and goes on. The files stay for ever."""

import json
import shutil
from pathlib import Path

import pytest

from utmost.errors import KeyRefused
from utmost.ledger import Ledger, read_sealed
from utmost.promises import Noise
from utmost.statements import check_statement

FORMATS = Path(__file__).parent / "formats"
VISITS = {"person": ["p", "q", "r"], "visits": [10, 200, 3000]}


@pytest.fixture(params=[f"format-{n}-{kind}" for n in (1, 2, 3, 4, 5) for kind in ("sealed", "open", "derived")])
def kept(request, tmp_path):
    """A copy of a ledger with its key and its witness, and what it said when it was written."""
    for ending in ("", ".key", ".witness"):
        shutil.copy(FORMATS / f"{request.param}.db{ending}", tmp_path / f"l.db{ending}")
        (tmp_path / f"l.db{ending}").chmod(0o600)
    return tmp_path / "l.db", json.loads((FORMATS / f"{request.param}.json").read_text())


def viewed(ledger, said):
    """The stored responses, asked for again."""
    asked = [key.split("@") for key in said if "@" in key and " " not in key]
    return {f"{name}@{at}": released(ledger.view(name, epsilon=at)) for name, at in asked}


def released(table):
    """The columns without the error bars, which views have had since format 5."""
    return {name: list(cells) for name, cells in table.items() if not name.endswith("_margin")}


def test_an_old_ledger_says_what_it_said_and_goes_on(kept):
    place, said = kept
    answers = {key: value for key, value in said.items() if "@" in key and " " not in key}
    with Ledger.open(place) as ledger:
        assert ledger.status().quarantine is None
        assert viewed(ledger, said) == answers
        ledger.check(said["receipt"])
        assert ledger.verify().responses == len(answers)
        ledger.relax("visits", VISITS, epsilon=2)
        ledger.publish("new", {"n": [1]}, columns="n", epsilon=1, sensitivity=1, cells=1)
    with Ledger.open(place) as ledger:
        assert viewed(ledger, said) == answers
        assert ledger.verify().responses == len(answers) + 2
        assert ledger.status().quarantine is None
        assert str(ledger.budget("study").spent) == "5/2"


def test_a_sealed_copy_of_an_old_ledger_is_read_with_a_level_key_that_carries_the_facts(kept):
    """A bare key of the first format binds no fact, and is refused; the ledger gives out the longer one."""
    place, said = kept
    for name, key in said.items():
        if name.startswith("level_key "):
            asked = name.removeprefix("level_key ")
            release, _, at = asked.partition("@")
            with Ledger.open(place) as ledger:
                given = ledger.level_key(release, epsilon=at)
            assert given[:32].hex() == key
            if given.hex() != key:
                with pytest.raises(KeyRefused, match="of another level, version or ledger"):
                    read_sealed(place, release, given[:32])
            read = read_sealed(place, release, given)
            assert released(read) == said[asked]


def test_an_old_ledger_that_was_put_back_is_found_out(kept):
    """Its witness, of the old format too, is as good as it was."""
    place, _ = kept
    shutil.copy(place, f"{place}.old")
    with Ledger.open(place) as ledger:
        ledger.relax("visits", VISITS, epsilon=2)
    shutil.copy(f"{place}.old", place)
    with Ledger.open(place) as ledger:
        assert "witness has seen" in ledger.status().quarantine
        ledger.resume("put back")
        assert str(ledger.budget("study").spent) == "5/2"


def test_noise_by_item_of_an_old_ledger_goes_on(kept):
    """Since format 4: the noise of a stored level is found again, so that the next is relaxed from it."""
    place, said = kept
    table = {"id": ["c", "a", "b"], "n": [7, 5, 6]}
    with Ledger.open(place) as ledger:
        if "items@1/2" not in said:
            assert all(release.items is None for release in ledger.releases)
            return
        answer = dict(zip(("a", "b", "c"), said["items@1/2"]["n"], strict=True))
        assert list(ledger.relax("items", table, epsilon="1/2")["n"]) == [answer[one] for one in table["id"]]
        ledger.relax("items", table, epsilon=1)
        ledger.view("items", epsilon="3/8")
        assert str(ledger.spent("items").epsilon) == "1"
        assert ledger.verify()


def test_a_column_that_has_the_name_of_a_margin_by_now_has_none_and_is_verified(tmp_path, monkeypatch):
    """As a ledger held it whose margins were called otherwise: its views are what their statements say."""
    monkeypatch.setattr(Noise, "check_names", lambda *_: None)
    table = {"n_margin": ["a", "b"], "n": [3, 4], "m": [5, 6]}
    with Ledger.open(tmp_path / "l.db", create=True) as ledger:
        ledger.publish("r", table, columns=["n", "m"], public="n_margin", sensitivity=1, cells=1, epsilon=1)
        release = ledger["r"]
        assert list(release.table) == ["n_margin", "n", "m", "m_margin"]
        assert list(release.table["n_margin"]) == ["a", "b"]
        check_statement(release.statement, release.table)
