"""`utmost statement`: an entry and a page from what the other commands write, and the refusals."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from running import with_recipe

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


PERSONS = "month,kind\n" + "".join(f"2025-{m:02},{kind}\n" for m in range(1, 13) for kind in "abcab")
DOMAIN = {"month": {"months": ["2025", "2026"]}, "kind": ["a", "b", "c", "<d>", "e"]}


@pytest.fixture
def persons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text(PERSONS)
    Path("d.json").write_text(json.dumps(DOMAIN))
    return ["p.csv", "--each-row", "--domain", "d.json", "--epsilon", "1"]


def page_of(run, released, *options):
    code, page, err = run("statement", released, "--html", "-", *options)
    assert code == 0, err
    return page


def test_a_title_stands_beside_the_heading_that_says_what_the_page_is(run, released):
    assert "<h1>What this release promises</h1>" in page_of(run, released)
    page = page_of(run, released, "--title", "A & B")
    assert '<p class="kind">What this release promises</p>\n<h1>A &amp; B</h1>' in page
    assert "<title>A &amp; B: What this release promises</title>" in page


def test_the_page_shows_the_released_table_with_its_margins(run, released, persons):
    """Up to 40 rows; of a longer table the first, and where all are. Labels stay text."""
    page = page_of(run, released)
    assert '<th scope="col" class="number">admitted_margin</th>' in page
    assert '<tr><td>A</td><td>men</td><td class="number">512</td><td class="number">6</td></tr>' in page
    assert "Each margin holds at 95 % confidence." in page
    assert "rows; all are" not in page
    assert page_of(run, f"{released}.json") == page  # the table lies beside its statement
    Path(released).unlink()
    assert "admitted_margin" not in page_of(run, f"{released}.json")
    assert run("release", *persons, "--by", "month,kind", "--out", "long.csv")[0] == 0
    page = page_of(run, "long.csv")
    assert "The first 40 of 60 rows; all are in the released file." in page
    assert page.count("<tr><td>") == 40
    assert "<td>&lt;d&gt;</td>" in page


def test_the_page_of_a_plan_and_of_means_shows_their_tables(run, persons):
    wanted = ["--want", "month", "--want", "month kind", "--want", "kind"]
    assert run("release", *persons, *wanted, "--out", "plan.json")[0] == 0
    page = page_of(run, "plan.json")
    titles = ["The released table: kind", "The released table: month", "The released table: month kind"]
    assert [page.index(f"<h2>{title}</h2>") for title in titles] == sorted(page.index(f"<h2>{t}</h2>") for t in titles)
    Path("p.csv").write_text("kind,paid,cost\n" + "a,1,5\nb,3,9\n" * 50)
    Path("d.json").write_text(json.dumps({"kind": ["a", "b"]}))
    means = ["--mean", "paid=0,5", "--mean", "cost=0,10"]
    code, _, err = run("release", *persons, "--by", "kind", *means, "--out", "m.csv")
    assert code == 0, err
    page = page_of(run, "m.csv")
    assert '<th scope="col" class="number">cost_mean</th>' in page


COUNTED = {
    "number of people, each at most once": [],
    "number of people; the cells together count each up to 2 times": ["--at-most", 2],
    "number of events, at most 3 of each person in a cell": ["--per-cell", 3],
    "number of events, at most 3 of each person in total": ["--at-most", 3, "--in-total", 3],
    "number of people, each at most once; and sums and means of amounts": ["--mean", "paid=0,5"],
    "number of rows": ["--each-row"],
}


@pytest.mark.parametrize(
    ("quantity", "counted", "command"),
    [*((*row, "release") for row in COUNTED.items()), *((*row, "plan") for row in [*COUNTED.items()][1:4])],
)
def test_screen_page_and_statement_say_whether_people_or_events_were_counted(
    run, tmp_path, monkeypatch, quantity, counted, command
):
    monkeypatch.chdir(tmp_path)
    Path("p.csv").write_text("id,kind,paid\n" + "1,a,1\n1,b,3\n2,b,2\n" * 50)
    Path("d.json").write_text(json.dumps({"kind": ["a", "b"]}))
    persons = ["--at-most", 1] if "--at-most" not in counted else []
    persons = [] if "--each-row" in counted else ["--person", "id", *persons]
    asked = ["release", "p.csv", *persons, "--domain", "d.json", *counted, "--epsilon", 1]
    asked += ["--by", "kind"] if "--mean" in counted or command == "release" else ["--want", "kind"]
    out = "r.json" if "--want" in asked else "r.csv"
    code, screen, err = run(*with_recipe(*asked, "--out", out))
    assert code == 0, err
    assert quantity in " ".join(screen.split())
    assert quantity in page_of(run, out)
    written = json.loads(run(*with_recipe(*asked, "--json"))[1])
    assert f"The table gives the {quantity}." in written.get("statement", written)["guarantee"]


@pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium prints the page")
def test_the_page_of_a_release_that_stopped_by_a_rule_is_one_sheet(run, persons, tmp_path):
    """With its table, if that has two rows; a longer one has the second sheet to itself."""
    Path("d.json").write_text(json.dumps({"kind": ["a", "b"]}))
    assert run("release", *persons, "--by", "kind", "--until", "60 % where kind=a", "--out", "s.csv")[0] == 0
    said = ["--title", "Persons by kind", "--curator", "An Office", "--published", "2026-11-22", "--region", "Nowhere"]
    Path("s.html").write_text(page_of(run, "s.csv", *said, "--description", "Persons of 2025, by kind."))
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer"]
    print_it = [*command, f"--user-data-dir={tmp_path}/c", f"--print-to-pdf={tmp_path}/s.pdf", f"{tmp_path}/s.html"]
    subprocess.run(print_it, check=True, capture_output=True, timeout=120)
    assert len(re.findall(rb"/Type\s*/Page\b", Path("s.pdf").read_bytes())) == 1
