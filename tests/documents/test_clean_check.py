"""A clean table is a function of its release: made again, compared cell by cell, and refused where it is another."""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from utmost.errors import BadTable, WrongKind
from utmost.laws.privacy import Amount, Unit
from utmost.publish.counting.counted import CountedTable
from utmost.publish.releases import WorkloadRelease, clean_release
from utmost.publish.releases.noised_workloads import release_workload
from utmost.publish.statements.clean_check import check_clean
from utmost.publish.statements.codec import read_json
from utmost.publish.statements.statement_check import unlike
from utmost.publish.statements.workload_files import check_workload
from utmost.publish.workloads import Domain, Strategy

RELEASE = Path(__file__).parent / "formats/0.2.0/workload.json"


@pytest.fixture
def clean(tmp_path, run):
    """A clean table of a release that is kept, as the command writes it."""
    shutil.copy(RELEASE, tmp_path / "release.json")
    assert run("clean", tmp_path / "release.json", "--out", tmp_path / "clean.csv")[0] == 0
    return tmp_path / "clean.csv", tmp_path / "release.json"


def verified(run, clean):
    return run("verify", clean[0], "--release", clean[1])


def test_a_clean_table_is_verified(clean, run):
    code, shown, _ = verified(run, clean)
    assert code == 0, shown
    assert run("verify", clean[0])[0] == 2, "without its release nothing can be computed"
    assert run("verify", clean[1], "--release", clean[1])[0] == 2


@pytest.mark.parametrize("many", [0, 10_000])
def test_a_large_table_may_be_that_of_an_earlier_version(clean, monkeypatch, many):
    """Which is said where it can be so, and nowhere else: another optimum is as near, and the table is a function."""
    monkeypatch.setattr("utmost.publish.statements.clean_check.MANY", many)
    table = clean[0].read_text().splitlines()
    columns = dict(zip(table[0].split(","), zip(*(row.split(",") for row in table[1:]), strict=True), strict=True))
    columns["clean"] = [str(int(cell) + 1) for cell in columns["clean"]]
    said = json.loads(clean[0].with_name("clean.csv.json").read_text())
    with pytest.raises(BadTable, match="its release gives") as refused:
        check_clean(said, columns, read_json(clean[1], "a release must"))
    assert ("earlier versions" in str(refused.value)) == (many == 0)


def test_the_total_and_a_table_saved_in_python_are_verified(tmp_path, run):
    made = check_workload(read_json(RELEASE, "a release must"))
    assert isinstance(made, WorkloadRelease)
    for family in ("", "sex"):
        place = tmp_path / f"clean{len(family)}.csv"
        made.clean().save(place, family=family)
        assert verified(run, (place, RELEASE))[0] == 0


def test_a_forged_cell_is_refused_whatever_the_digest_says(clean, run):
    """The file's digest is put right after each change, as a forger would."""
    place, _ = clean
    beside = place.with_name("clean.csv.json")
    header, *rows = place.read_text().splitlines()
    for column in range(len(header.split(","))):
        cells = rows[0].split(",")
        cells[column] = "7777"
        place.write_text("\n".join([header, ",".join(cells), *rows[1:]]) + "\n")
        said = json.loads(beside.read_text())
        beside.write_text(
            json.dumps(said | {"table": {"of": "file", "sha256": sha256(place.read_bytes()).hexdigest()}})
        )
        assert verified(run, clean)[0] == 1


def test_a_statement_without_a_digest_is_refused_by_type(clean, run):
    """It ended in a KeyError."""
    beside = clean[0].with_name("clean.csv.json")
    statement = json.loads(beside.read_text())
    for digest in ({}, {"table": None}, {"table": {}}, {"table": [1]}):
        beside.write_text(json.dumps({name: fact for name, fact in statement.items() if name != "table"} | digest))
        code, _, err = verified(run, clean)
        assert (code, "digest" in err) == (1, True), err


def test_numbers_are_compared_exactly():
    """A count above 2^53 that is one off is another count, though a float says that they are equal."""
    for cell, expected in (("9007199254740993", 9007199254740992), (2**53 + 1, 2.0**53), (True, 1), (None, 0)):
        assert unlike(cell, expected)
    for cell, expected in (("9007199254740993", 2**53 + 1), ("2.5", 2.5), ("1e3", 1000), (np.int64(7), 7), ("m", "m")):
        assert not unlike(cell, expected)


def test_another_release_and_other_figures_are_refused():
    document = read_json(RELEASE, "a release must")
    release = check_workload(document)
    made = release.clean()
    table, statement = made["sex"], json.loads(json.dumps(made.said(None, "sex")))
    check_clean(statement, table, document)
    for name, other in (
        ("of", {"measured": "0" * 64}),
        ("words", "These counts are exact."),
        ("zero_bias", 0.0),
        ("family", "outcome"),
        ("largest_move", 0.5),
        ("format", 9),
    ):
        with pytest.raises(Exception, match=name if name != "family" else "clean table") as refused:
            check_clean(statement | {name: other}, table, document)
        assert refused.type.__module__ == "utmost.errors"
    totals = ["9", ["9"]], [None, "1e999"], ["9", "5"]
    forgeries = [
        {"note": "by the way"},
        {"family": "nothing"},
        *({"format": 2, "held": held} for held in (["nothing"], [{}])),
        *({"format": 2, "given": [{"family": [], "sums": [[[], *ends]]}]} for ends in totals),
    ]
    for forged in forgeries:
        with pytest.raises(BadTable):
            check_clean(statement | forged, table, document)
    with pytest.raises(WrongKind):
        check_clean(statement, table, [document])
    with pytest.raises(BadTable, match="column 'clean'"):
        check_clean(statement, {"sex": ["men", "women"]}, document)


def test_a_clean_table_with_public_facts_is_verified_with_them(tmp_path, run):
    """By the command: numbers, bounds and a file; other facts than those stated give another table, and are refused."""
    shutil.copy(RELEASE, tmp_path / "release.json")
    public, place = tmp_path / "public.csv", tmp_path / "clean.csv"
    public.write_text("sex,n\nmen,25\nwomen,40\n")
    told = ["--given", "total: 65", "--given", f"sex: {public}", "--given", "sex=men outcome=admitted: 18..20"]
    code, shown, err = run("clean", tmp_path / "release.json", *told, "--out", place)
    assert (code, err) == (0, "")
    assert "given facts that are public" in " ".join(shown.split())
    code, shown, _ = run("verify", place, "--release", tmp_path / "release.json")
    assert code == 0
    assert "that the public facts are true" in " ".join(shown.split())
    assert "sex=men = 25" in run("read", place)[1].replace("\n", " ")
    beside = place.with_name("clean.csv.json")
    stated = json.loads(beside.read_text())
    for name, other in (("guarantee", "Nothing is promised."), ("format", 1)):
        beside.write_text(json.dumps(stated | {name: other}))
        assert run("verify", place, "--release", tmp_path / "release.json")[0] == 1
    stated["given"][1]["sums"][0][1:] = ["24", "25"]
    beside.write_text(json.dumps(stated))
    assert run("verify", place, "--release", tmp_path / "release.json")[0] == 1
    for wrong in ("total 65", "total: 64.5", "total: x", "sex=mne: 3"):
        assert run("clean", tmp_path / "release.json", "--given", wrong)[0] == 2
    assert run("clean", tmp_path / "release.json", "--hold", "sex", "--out", tmp_path / "held.csv")[0] == 0
    assert run("verify", tmp_path / "held.csv", "--release", tmp_path / "release.json")[0] == 0
    assert run("clean", tmp_path / "release.json", *told, "--given", "total: 3")[0] == 2
    code, _, err = run("clean", tmp_path / "release.json", *told[2:], "--given", "total: 3")
    assert code == 1, err
    assert "sex=women = 40" in err


@pytest.mark.parametrize("epsilon", ["1e-7", "3e-12", "1e-15"])
@pytest.mark.parametrize("amount", [None, Amount("paid", "0.01")])
def test_what_earlier_versions_said_of_zeros_at_little_levels_is_verified(tmp_path, run, monkeypatch, epsilon, amount):
    """They took 1/(1/alpha - alpha), which loses digits below 10^-6; what nobody said is refused."""
    domain = Domain(sex=["men", "women"])
    unit = Unit(1, 1, amount=amount)
    release = release_workload(
        CountedTable(domain, np.array([3, 5]), unit), Strategy(domain, unit, {"sex": 1}), epsilon=epsilon
    )
    release.save(tmp_path / "release.json")

    def before(noise):
        alpha = float(noise.levels[0].alpha)
        return 1 / (1 / alpha - alpha), True

    for name, factor, code in (("now", 0, 0), ("before", 1, 0), ("forged", 1 + 1e-4, 1)):
        if factor:
            monkeypatch.setattr(clean_release, "zero_bias", lambda noise, by=factor: (by * before(noise)[0], True))
        release.clean().save(tmp_path / f"{name}.csv")
        monkeypatch.undo()
        assert verified(run, (tmp_path / f"{name}.csv", tmp_path / "release.json"))[0] == code, name
