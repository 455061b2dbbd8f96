"""docs/try.html, which releases counts in a browser: its parts in Node, and the whole walk in Chromium without network.

The walk needs Chromium and Playwright: ``pytest -m browser tests/docs/test_try_page.py``.
"""

import csv
import importlib.util
import json
import re
import shutil
import subprocess
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

import utmost as ut
from goodness import LEVEL, chi_square
from running import called

# The page has the rule of written files a second time, in JavaScript.
from utmost.tables.files.formulas import is_computed

ROOT = Path(__file__).parents[2]
PAGE, SCRIPT = ROOT / "docs/try.html", ROOT / ".ci/try_page/page.mjs"
CHROMIUM, NODE = shutil.which("chromium"), shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no Node")
LABELS = ["men", "two words", 'quoted "old"', "a,b", "é", "-5 to 0", "007"]


def in_node(code, **given):
    """What a line of JavaScript returns, with the parts of the page as `page` and the arguments by name."""
    names = ", ".join(given)
    listed = re.search(r'id="facts">(.*?)</script>', PAGE.read_text(encoding="utf-8"), re.S)[1]
    whole = f"""
import * as page from {json.dumps(SCRIPT.as_uri())};
const {{ {names} }} = JSON.parse(process.argv[1]);
const facts = (at) => JSON.parse({json.dumps(listed)})[at];
console.log(JSON.stringify(await (async () => {{ {code} }})()));
"""
    command = [NODE, "--input-type=module", "--eval", whole, json.dumps(given)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_page_is_the_one_that_its_sources_and_the_library_make(monkeypatch):
    """The commands of the script run in this process."""
    spec = importlib.util.spec_from_file_location("try_page", ROOT / ".ci/try_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(subprocess, "run", lambda command, cwd, **_: called(*command[3:], cwd=cwd))
    assert PAGE.read_text(encoding="utf-8") == module.page()


@needs_node
@pytest.mark.parametrize("level", [[1, 10], [1, 2], [2, 1]])
def test_noise_follows_the_distribution_that_is_stated(level):
    drawn = in_node("return Array.from({ length: 60000 }, () => page.noise(level));", level=level)
    assert chi_square(drawn, ut.noise.Geometric(f"{level[0]}/{level[1]}").cdf) > LEVEL


@needs_node
@pytest.mark.parametrize(("top", "bottom"), [(1, 1), (1, 2), (3, 4)])
def test_a_chance_of_exp_is_exact_as_far_as_it_is_followed(top, bottom):
    """Each try fails with probability top / (bottom k): the words that decide are given, and every course is summed."""
    code = """
const chances = {};
const follow = (said, chance) => {
  if (said.length > 5) return;
  let next = 0;
  const asked = [];
  const words = () => {
    if (next === said.length) throw "more";
    return said[next++];
  };
  try {
    const is = page.happens(top, bottom, words);
    chances[is] = (chances[is] ?? 0) + chance;
  } catch (more) {
    if (more !== "more") throw more;
    const n = bottom * (said.length + 1);
    for (let word = 0; word < n; word += 1) follow([...said, word], chance / n);
  }
};
follow([], 1);
return chances;
"""
    chances = in_node(code, top=top, bottom=bottom)
    gamma, factorials = top / bottom, [1, 1, 2, 6, 24, 120]
    partial = sum((-gamma) ** k / factorials[k] for k in range(6))
    # Five tries decide all but gamma^5 / 120 of the cases.
    assert chances["true"] == pytest.approx(partial, abs=gamma**5 / 120 + 1e-12)
    assert chances["true"] + chances["false"] == pytest.approx(1 - gamma**5 / 120, abs=1e-12)


@needs_node
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_rows_are_read_and_counted_as_the_library_counts_them(tmp_path, mark):
    rows = [
        (one, other, str(n)) for n, (one, other) in enumerate(product([*LABELS, "undeclared"], ["x", "y", "z"]))
    ] * 3
    path = tmp_path / "rows.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=mark).writerows([("kind", "place", "number"), *rows])
    axes = [{"name": "kind", "values": LABELS}, {"name": "place", "values": ["z", "x"]}]
    text = path.read_text(encoding="utf-8")
    found = in_node("return page.counted(page.parsed(text), axes);", text=text, axes=axes)
    seen = Counter((one, other) for one, other, _ in rows)
    assert found["counts"] == [seen[one, other] for one in LABELS for other in ("z", "x")]
    assert found["leftOut"] == len(rows) - sum(found["counts"])


@needs_node
@pytest.mark.parametrize(
    ("epsilon", "names"),
    [("1/10", ["kind"]), ("1/4", ["kind", "é"]), ("1/2", ["a", "b, c", 'd "e"']), ("1", ["kind"]), ("2", ["a", "b"])],
)
def test_a_table_and_its_statement_verify(tmp_path, epsilon, names):
    axes = [{"name": name, "values": LABELS[at : at + 3]} for at, name in enumerate(names)]
    code = """
const size = axes.reduce((size, { values }) => size * values.length, 1);
const noisy = Array.from({ length: size }, () => 10 + page.noise(facts(epsilon).level));
const csv = page.written(page.released(axes, noisy, facts(epsilon).margin));
return [csv, await page.statement(facts(epsilon), axes, csv), noisy];
"""
    table, statement, noisy = in_node(code, axes=axes, epsilon=epsilon)
    path = tmp_path / "t.csv"
    path.write_bytes(table.encode())
    (tmp_path / "t.csv.json").write_bytes(statement.encode())
    read = ut.read_release(path)
    assert [int(count) for count in read.table["count"]] == noisy
    done = called("verify", path)
    assert done.returncode == 0, done.stderr
    path.write_bytes(table.encode().replace(b"10", b"11", 1) + b" ")
    assert called("verify", path).returncode == 1


@needs_node
@pytest.mark.parametrize(
    ("code", "named"),
    [
        ('page.parsed("a,a\\n1,2\\n")', "same name"),
        ('page.parsed("a,b\\n1\\n")', "Row 1 has 1 cells"),
        ('page.parsed("a,b\\n")', "rows"),
        ("page.parsed('a\\n\"1\\n')", "does not end"),
        ('page.declared("a", "\\n  \\n")', "Write the values of a"),
        ('page.declared("a", "x\\nx")', "written twice"),
        ('page.declared("a", "=1+1")', "cannot stand"),
        ('page.declared("a", "x\\u0000")', "cannot stand"),
        ('page.declared(" ", "x")', "cannot stand"),
        ('page.declared("x;=HYPERLINK(\\"h\\")", "x")', "cannot stand"),
        ('page.counted({names: ["a"], body: []}, [{name: "a", values: Array(10001).fill("x")}])', "10001 rows"),
    ],
)
def test_a_refusal_says_what_to_do(code, named):
    assert named in in_node(f"try {{ {code}; return null; }} catch (error) {{ return error.message; }}")


@needs_node
def test_text_that_a_spreadsheet_would_compute_is_refused_wherever_the_library_refuses_it():
    starts = ["", " ", "'", '"', "\u200b", "\ufeff", "\u3000", "x;", "x|", "x,", "x\t'"]
    ends = ["=1", "＝1", "+1[", "＋cmd(", "-a!b", "@sum(", "-5 to 0", "+65", "-", "a=b", "1(2)", "+1|a!b", "-3;+f(x)"]
    texts = [start + end for start in starts for end in ends]
    found = in_node("return texts.map(page.isComputed);", texts=texts)
    for text, is_refused in zip(texts, found, strict=True):
        for written in (f"{text}\n", '"' + text.replace('"', '""') + '"\n'):
            assert is_refused or not is_computed(written.encode()), text
    assert not any(found[texts.index(plain)] for plain in ("-5 to 0", "+65", "-", "a=b", "1(2)"))


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_the_whole_walk_in_chromium_without_network(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    path = tmp_path / "people.csv"
    path.write_text("region;sex\n" + "North;women\nSouth;men\n" * 500 + "Nowhere;men\n", encoding="utf-8")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context(offline=True, viewport={"width": 390, "height": 844})
        page, problems, asked = context.new_page(), [], []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(PAGE.as_uri())
        page.set_input_files("#file", path)
        page.get_by_role("button", name="Release the table").click()
        assert page.get_by_role("alert").filter(visible=True).inner_text() == "Tick a column to count by."
        for column, values in {"region": "North\nSouth", "sex": "women\nmen"}.items():
            page.get_by_label(column, exact=True).check()
            page.get_by_label(f"Values of {column} that can occur, one on each line").fill(values)
        page.get_by_label("Privacy level (epsilon)").select_option("1/2")
        page.get_by_label("Each row is another person", exact=False).check()
        page.get_by_role("button", name="Release the table").click()
        assert "1 of 1001 rows" in page.get_by_role("alert").filter(visible=True).inner_text()
        page.get_by_role("button", name="Release the table").click()
        page.get_by_role("link", name="Save the table").wait_for()
        assert "1 of 1001 rows" in page.locator("#left-out").inner_text()
        for name in ("Save the table", "Save its statement"):
            with page.expect_download() as waiting:
                page.get_by_role("link", name=name).click()
            waiting.value.save_as(tmp_path / waiting.value.suggested_filename)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        (tmp_path / "latin.csv").write_bytes("région\nNord\n".encode("latin-1"))
        page.set_input_files("#file", tmp_path / "latin.csv")
        assert "UTF-8" in page.get_by_role("alert").filter(visible=True).inner_text()
        assert not page.get_by_role("button", name="Release the table").is_visible()
        (tmp_path / "odd.csv").write_text("constructor,sex\nx,men\n")
        page.set_input_files("#file", tmp_path / "odd.csv")
        assert not page.get_by_label("constructor", exact=True).is_checked()
        assert not page.get_by_label("Each row is another person", exact=False).is_checked()
        page.screenshot(path=tmp_path / "page.png", full_page=True)
        assert problems == []
        assert all(url.startswith(("file:", "blob:", "data:")) for url in asked)
        sent = page.evaluate("fetch('https://example.org').then(() => 'sent', () => 'refused')")
        assert sent == "refused"
        assert any("Content Security Policy" in problem for problem in problems)
        browser.close()
    assert called("verify", tmp_path / "people-released.csv").returncode == 0
    counts = [int(count) for count in ut.read_release(tmp_path / "people-released.csv").table["count"]]
    assert [round(count, -2) for count in counts] == [500, 0, 0, 500]
