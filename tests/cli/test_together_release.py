"""`utmost release --once row`, and `utmost verify` of what it wrote."""

import json

import pytest

from running import main, with_recipe

TABLE = "department,applicants,admitted\nA,933,601\nB,585,370\n"
ASKED = [
    "--columns",
    "applicants,admitted",
    "--public",
    "department",
    "--epsilon",
    "1/2",
    "--sensitivity",
    "1",
    "--once",
    "row",
]


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    printed = capsys.readouterr()
    return ended.value.code or 0, printed.out, printed.err


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


def test_a_release_is_written_verified_and_found_changed(capsys, table, tmp_path):
    """Table and statement; the statement follows from itself; a changed cell is found."""
    out = tmp_path / "released.csv"
    code, screen, _ = run(capsys, "release", table, *ASKED, "--out", out)
    assert code == 0
    assert "only the 2 released cells of one row" in " ".join(screen.split())
    assert out.read_text().startswith("department,applicants,applicants_margin,admitted,admitted_margin\n")
    said = json.loads((tmp_path / "released.csv.json").read_text())
    assert said["noise"]["kind"] == "joint"
    code, screen, _ = run(capsys, "verify", out)
    assert code == 0
    assert "is what its statement says" in " ".join(screen.split())
    out.write_text(out.read_text().replace("A,", "A,1"))
    assert run(capsys, "verify", out)[0] == 1


def test_what_would_be_promised_is_said_without_drawing(capsys, table, tmp_path):
    """--dry-run, with halves kept where the release is to be relaxed; as JSON, too."""
    path = tmp_path / "promise.json"
    say = [*ASKED[:4], *ASKED[6:8], "--together", "any"]
    assert run(capsys, "promise", *say, "--out", path)[0] == 0
    code, screen, _ = run(capsys, "release", table, "--promise", path, "--epsilon", "1/2", "--dry-run")
    assert code == 0
    assert "Nothing was drawn" in screen
    assert "relaxed later without loss" in " ".join(screen.split())
    assert "guarantee" in json.loads(run(capsys, "release", table, *ASKED, "--dry-run", "--json")[1])


def test_counts_that_nobody_lowers_are_promised_so(capsys, table):
    def guarantee(changes):
        return json.loads(run(capsys, "release", table, *ASKED[:-1], changes, "--dry-run", "--json")[1])["guarantee"]

    assert "lowers none of them" in guarantee("row-counts")
    assert "lowers" not in guarantee("row")
    assert run(capsys, "release", table, *ASKED[:-1], "all")[0] == 2


def test_standard_output_and_json(capsys, table):
    """The table on standard output, the words on standard error; or both as JSON."""
    code, out, err = run(capsys, "release", table, *ASKED)
    assert code == 0
    assert out.count("\n") == 3
    assert "margins" in err
    both = json.loads(run(capsys, "release", table, *ASKED, "--json")[1])
    assert set(both) == {"statement", "table"}


@pytest.mark.parametrize("more", [["--cells", 2], ["--ledger", "l.db"], ["--numbers", "reals"]])
def test_what_goes_not_with_it_is_refused(capsys, table, more):
    """Exit code 2, and the option is named."""
    code, _, err = run(capsys, *with_recipe("release", table, *ASKED, *more))
    assert code == 2
    assert more[0].removeprefix("--") in err
