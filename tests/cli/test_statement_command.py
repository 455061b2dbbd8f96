"""`utmost statement`: an entry and a page from what the other commands write, and the refusals."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = ["--title", "Admissions", "--curator", "An Office", "--curator", "B", "--use", "planning"]
SAID += ["--region", "Nowhere", "--description", "Counts.", "--published", "2026-11-22"]
SAID += ["--author", "A. Author", "--sector", "Education"]


@pytest.fixture
def released(tmp_path):
    for name in ("released_admissions.csv", "released_admissions.csv.json"):
        shutil.copy(EXAMPLES / name, tmp_path / name)
    return tmp_path / "released_admissions.csv"


def test_a_statement_is_printed_in_words_where_nothing_is_to_be_written(run, released):
    code, out, err = run("statement", released)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    assert "any one individual multiplies or divides" in words
    assert "--html page.html" in words
    assert "To be filled in" not in out


def test_the_entry_goes_to_standard_output_and_what_is_missing_is_said(run, released):
    code, out, err = run("statement", released, "--out", "-")
    assert (code, yaml.safe_load(out)["status"]) == (0, "Draft")
    assert "--title, --curator, --use, --region, --description, --published, --author" in " ".join(err.split())


def test_what_the_curator_says_is_in_the_entry_and_on_the_page(run, released, tmp_path):
    entry, page = tmp_path / "entry.yaml", tmp_path / "page.html"
    code, out, err = run("statement", f"{released}.json", *SAID, "--out", entry, "--html", page)
    assert (code, out) == (0, "")
    assert "To be filled in" not in entry.read_text() + err
    basic = yaml.safe_load(entry.read_text())["deployment"]["basic"]
    assert basic["data_curators"] == ["An Office", "B"]
    assert basic["data_product_sector"] == "Education"
    assert "<h1>Admissions</h1>" in page.read_text()


def test_a_page_alone_asks_for_nothing_else(run, released, tmp_path):
    code, out, err = run("statement", released, "--html", tmp_path / "page.html")
    assert (code, out) == (0, "")
    assert "filled in" not in err


def test_what_cannot_be_written_or_is_no_statement_is_refused(run, released, tmp_path):
    (tmp_path / "there.yaml").write_text("mine")
    for arguments, said in (
        (["--out", tmp_path / "there.yaml"], "there.yaml"),
        (["--out", tmp_path / "entry.json"], "must end in .yaml"),
        (["--html", tmp_path / "page.pdf"], "must end in .html"),
        (["--published", "yesterday"], "YYYY-MM-DD"),
        (["--sector", "Sports"], "Technology"),
    ):
        code, out, err = run("statement", released, *arguments)
        assert code in (1, 2), arguments
        assert out == ""
        assert said in " ".join(err.split())
    assert (tmp_path / "there.yaml").read_text() == "mine"
    said = json.loads(Path(f"{released}.json").read_text())
    Path(f"{released}.json").write_text(json.dumps(said | {"margin": 1}))
    assert run("statement", released)[0] == 1


def test_no_page_is_made_of_a_changed_table(run, tmp_path):
    """By the table or by its statement; without the table the page says that nothing was compared."""
    (tmp_path / "n.csv").write_text("n\n7\n9\n")
    out, page = tmp_path / "o.csv", tmp_path / "page.html"
    unit = ["--columns", "n", "--sensitivity", "1", "--cells", "1"]
    assert run("release", tmp_path / "n.csv", *unit, "--epsilon", "1", "--out", out)[0] == 0
    assert run("statement", out, "--html", page)[0] == 0
    assert "The file was compared with the statement." in page.read_text()
    page.unlink()
    out.write_text(out.read_text().replace("n,", "n,") + "5,3\n")
    for named in (out, f"{out}.json"):
        code, _, err = run("statement", named, "--html", page)
        assert (code, "was changed after it was released" in err, page.exists()) == (1, True, False)
    out.unlink()
    assert run("statement", f"{out}.json", "--html", page)[0] == 0
    assert "The file was not compared" in page.read_text()
