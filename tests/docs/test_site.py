"""The documentation site: every page is in its navigation and rewritten rightly, and a broken site is told."""

import ast
import runpy
import tomllib
from pathlib import Path

import pytest

import utmost as ut

ROOT = Path(__file__).parents[2]
site = runpy.run_path(str(ROOT / ".ci/build_site.py"))


def pages_named(entry):
    """The pages of a part of the navigation."""
    if isinstance(entry, str):
        return [entry]
    if isinstance(entry, list):
        return [page for one in entry for page in pages_named(one)]
    return [page for one in entry.values() for page in pages_named(one)]


def test_the_navigation_has_every_page_once_and_no_other():
    named = pages_named(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])
    written = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    rooms = [*(ROOT / "src/utmost").glob("[a-z]*.py"), *(ROOT / "src/utmost").glob("*/__init__.py")]
    public = [room for room in rooms if "__all__" in room.read_text(encoding="utf-8")]
    listed = {room.parent.name if room.stem == "__init__" else room.stem for room in public}
    made = {f"reference/python/{room}.md" for room in listed | {"errors"}} | {"papers.md"}
    assert sorted(named) == sorted(written | made | set(site["BESIDE"].values()))


def test_the_names_of_a_room_are_those_that_it_gives():
    """Read from its file, without loading it."""
    noise = ROOT / "src/utmost/noise.py"
    assert sorted(site["public_names"](ast.parse(noise.read_text(encoding="utf-8")))) == ut.noise.__all__


def entries(part):
    """Each page of a part of the navigation, with its name there."""
    if isinstance(part, list):
        return [entry for inner in part if not isinstance(inner, str) for entry in entries(inner)]
    return [
        entry
        for name, inner in part.items()
        for entry in ([(name, inner)] if isinstance(inner, str) else entries(inner))
    ]


def test_the_menu_calls_each_page_as_it_calls_itself():
    """Tutorials, how-tos and reference by their titles; those of details without "in full"."""
    nav = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    pages = [(name, ROOT / "docs" / page) for name, page in entries(nav) if page.startswith(("tut", "how", "ref"))]
    pages = [(name, page) for name, page in pages if page.exists() and page.name != "api.md"]
    titles = [page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for _, page in pages]
    assert [name for name, _ in pages] == [title.removesuffix(", in full") for title in titles]
    assert len(titles) > 25


def rewritten(text, name="docs/howto/count-people.md"):
    target = site["PAGES"] / name.removeprefix("docs/")
    return site["written_for_site"](text, ROOT / name, target, {"geng2012"})


def test_links_follow_the_pages_to_where_they_are_on_the_site():
    assert rewritten("[s](../../SECURITY.md#how-to-report)") == "[s](../security.md#how-to-report)\n"
    assert rewritten("[s](docs/index.md)", "SECURITY.md") == "[s](index.md)\n"
    assert rewritten("[k](../references.bib) and [geng2012, Theorem 3]") == (
        "[k](../papers.md) and [[geng2012](../papers.md#geng2012), Theorem 3]\n"
    )


def test_what_is_fenced_stays_as_it_is():
    assert rewritten("```text\n[geng2012]\n- 1\n```") == "```text\n[geng2012]\n- 1\n```\n"


def test_an_option_is_marked_so_that_it_is_not_broken():
    assert rewritten("`--epsilon` and ``--x`` and `utmost --help`") == (
        "`--epsilon`{ .option } and ``--x`` and `utmost --help`\n"
    )


def test_a_bar_in_the_code_of_a_table_needs_no_backslash_on_the_site():
    assert rewritten(r"| `a \| b` | a \| b |") == "| `a | b` | a \\| b |\n"


def test_a_list_begins_after_a_blank_line():
    assert rewritten("For curators\n- one\n  more\n- two") == "For curators\n\n- one\n  more\n- two\n"


def test_a_link_or_a_key_that_leads_nowhere_is_refused():
    with pytest.raises(SystemExit, match=r"nowhere\.md is not there"):
        rewritten("[n](nowhere.md)")
    with pytest.raises(SystemExit, match="has no nobody2099"):
        rewritten("[nobody2099]")


def test_every_entry_of_the_bibliography_is_closed():
    """Between two entries all braces are, so that every key is found; no key has two entries."""
    text = (ROOT / "docs/references.bib").read_text(encoding="utf-8")
    keys = [entry.partition("{")[2].partition(",")[0] for entry in text.split("\n@")]
    assert all(entry.count("{") == entry.count("}") for entry in text.split("\n@")), keys
    assert len(set(keys)) == len(keys)


def test_a_broken_site_is_told(tmp_path):
    """A link to no page, one to no heading, and a script or a font of another host."""
    (tmp_path / "a.html").write_text('<h1 id="one">1</h1><a href="b.html#two">2</a><a href="c.html">3</a>')
    (tmp_path / "b.html").write_text('<script src="https://cdn.example/x.js"></script><a href="a.html#one">1</a>')
    (tmp_path / "s.css").write_text("@font-face { src: url(//fonts.example/f.woff) }")
    assert sorted(site["check"](tmp_path)) == [
        "a.html links to b.html#two, which has no such heading",
        "a.html links to c.html, which is not there",
        "b.html loads https://cdn.example/x.js",
        "s.css loads //fonts.example/f.woff",
    ]
