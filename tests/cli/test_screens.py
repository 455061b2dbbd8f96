"""Screens: no text is lost, wider than the line or acts on a terminal; and the progress of files and searches."""

import io
import re
import sys
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

# A page is laid out for every width and every text, and progress is drawn at every moment; a command has the widths of
# its own texts, and draws after a second of work.
from utmost.core.exact.progress_bar import ProgressLine, progress_on
from utmost.interfaces.cli.screens import screen as progress
from utmost.interfaces.cli.screens.terminal import Screen, ScreenColumn, ScreenGroup, ScreenTable, ScreenText, cells
from utmost.tables.files.sidecars import publish

LONG = "longlonglonglonglonglongword"
WORDS = st.sampled_from(
    ["a", "bee", "cedar", "東京", "extraordinarily", "x=1", "12", "−7", "Ärger", "[b]", "e\u0301te\u0301", "(y)", LONG]
)
SENTENCES = st.lists(WORDS, max_size=12).map(" ".join)
WIDTHS = st.integers(30, 110)


def shown(member, width):
    return [line.characters for line in member.lines(width)]


def squeezed(text):
    return re.sub(r"\s", "", text)


@given(st.lists(SENTENCES, min_size=1, max_size=3).map("\n".join), st.integers(2, 60))
def test_words_wrap_and_none_is_lost(text, width):
    lines = shown(ScreenText(text), width)
    assert squeezed("".join(lines)) == squeezed(text)
    assert all(cells(line) <= width for line in lines)


def test_a_long_text_takes_time_by_its_length():
    lines = shown(ScreenText("東京 " * 100_000), 60)
    assert len(lines) == 8334
    assert squeezed("".join(lines)) == "東京" * 100_000


@given(st.lists(st.tuples(WORDS, SENTENCES, WORDS), min_size=1, max_size=4), WIDTHS, st.booleans())
def test_columns_share_the_width_and_lose_nothing_that_wraps(rows, width, has_titles):
    table = ScreenTable([ScreenColumn("town"), ScreenColumn("words"), ScreenColumn("n")], rows, has_titles, "the end")
    lines = shown(table, width)
    assert all(cells(line) <= width for line in lines)
    titles = "townwordsn" * has_titles
    if has_titles and "─" not in "".join(lines):  # cells are facts, each with its title; empty ones are left out
        titles = "".join(title for row in rows for title, cell in zip(("town", "words", "n"), row, strict=True) if cell)
    wanted = "".join(sorted(squeezed("".join("".join(row) for row in rows)) + titles + "theend"))
    assert "".join(sorted(squeezed("".join(lines)).replace("─", ""))) == wanted


@given(st.lists(st.tuples(SENTENCES, WORDS), min_size=1, max_size=4))
def test_as_wide_as_it_needs_to_be_no_number_is_cut(rows):
    table = ScreenTable([ScreenColumn("words"), ScreenColumn("n", right=True, wraps=False)], rows, has_titles=True)
    lines = shown(table, table.least_width)
    assert not any("…" in line for line in lines)
    assert all(number in squeezed("".join(lines)) for _, number in rows)


@pytest.mark.parametrize(
    ("member", "width", "wanted"),
    [
        (ScreenTable([ScreenColumn(), ScreenColumn()], [("level", "epsilon = 1 in all"), ("of", "x")]), 14,
         ["level  epsilon", "       = 1 in", "       all", "of     x"]),
        (ScreenTable([ScreenColumn("town"), ScreenColumn("n", right=True, wraps=False)],
                     [("Ash", "14"), ("Beech", "1234")], True), 40,
         ["", " town       n", " ────────────", " Ash       14", " Beech   1234", ""]),
        (ScreenTable([ScreenColumn("n", right=True, wraps=False)], [("123456789",)], True, "and 1 more row"), 8,
         ["", "      n", " ──────", " 12345…", " and 1 more row"]),
        (ScreenTable([ScreenColumn("town"), ScreenColumn("n,\nall", right=True)], [("Ash", "14")], True), 40,
         ["", "         n,", " town   all", " ──────────", " Ash     14", ""]),
        (ScreenTable([ScreenColumn("department"), ScreenColumn("count,\nall", right=True, wraps=False)],
                     [("Ash", "123456"), ("Beech", "7")], True, "and more"), 15,
         ["", "departm  Ash", "ent", "count,   123456", "all", "",
          "departm  Beech", "ent", "count,   7", "all", "and more"]),
        (ScreenGroup(ScreenText("head"), ScreenText("\ntail\n")), 9, ["head", "", "tail", ""]),
        (ScreenGroup(), 9, []),
        (ScreenTable([], []), 9, []),
    ],
)  # fmt: skip
def test_a_few_pages_are_as_they_are_here(member, width, wanted):
    assert shown(member, width) == wanted


@given(st.data(), WIDTHS)
def test_sentences_and_facts_are_laid_out_as_rich_lays_them_out(data, width):
    """Another program, word by word; where there is no room it leaves columns out, so tables are looked at above."""
    rich = pytest.importorskip("rich.console")
    from rich.table import Table as Rows
    from rich.text import Text as Sentence

    out = io.StringIO()
    console = rich.Console(file=out, width=width, highlight=False, color_system=None)
    sentence = data.draw(st.lists(SENTENCES, min_size=1, max_size=3).map("\n".join))
    rows = data.draw(st.lists(st.tuples(WORDS.filter(lambda word: len(word) < 10), SENTENCES), min_size=1, max_size=4))
    theirs = Rows(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    theirs.add_column(no_wrap=True)
    theirs.add_column(overflow="fold")
    for row in rows:
        theirs.add_row(*map(Sentence, row))
    console.print(Sentence(sentence), theirs)
    ours = shown(
        ScreenGroup(ScreenText(sentence), ScreenTable([ScreenColumn(wraps=False), ScreenColumn()], rows)), width
    )
    assert [line.rstrip() for line in ours] == [line.rstrip() for line in out.getvalue().split("\n")[:-1]]


@pytest.mark.parametrize(
    ("environment", "styled"),
    [
        ({"FORCE_COLOR": "1", "TERM": "xterm"}, "\033[1mbold\033[0m \033[1;36mboth\033[0m plain"),
        ({"FORCE_COLOR": "1", "TERM": "xterm", "NO_COLOR": "1"}, "\033[1mbold\033[0m \033[1mboth\033[0m plain"),
        ({"FORCE_COLOR": "1", "TERM": "dumb"}, "bold both plain"),
        ({"TERM": "xterm"}, "bold both plain"),
    ],
)
def test_styles_are_for_terminals_that_want_them(environment, styled, monkeypatch):
    for name in ("FORCE_COLOR", "TERM", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with redirect_stdout(io.StringIO()) as out:
        Screen().print(ScreenText("bold", "bold").append(" ").append("both", "bold cyan").append(" plain"))
    assert out.getvalue() == f"{styled}\n"


def test_no_text_acts_on_the_terminal_and_what_a_stream_cannot_spell_is_plain(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    out = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", out)
    Screen().print(ScreenText("ward\x1b[1A"), ScreenTable([ScreenColumn("to\x9bwn")], [("Ash\x07",)], has_titles=True))
    out.flush()
    assert out.buffer.getvalue().decode("latin-1").split("\n")[:4] == [r"ward\ufffd[1A", "", r" to\ufffdwn", " -----"]


def test_signs_are_as_wide_as_a_terminal_shows_them():
    assert [cells(text) for text in ("abc", "東京", "e\N{COMBINING ACUTE ACCENT}")] == [3, 4, 1]


def test_words_stay_whole_while_the_columns_have_room():
    """The columns that lack least become whole first, so that a short label is not split for a long one."""
    rows = [["position_abolished", "18 to 29", "one two three four five six seven eight nine ten"]]
    table = ScreenTable([ScreenColumn("job"), ScreenColumn("age"), ScreenColumn("about")], rows, has_titles=True)
    for width in (80, 60, 50, 44):
        shown = "\n".join(line.characters for line in table.lines(width))
        assert re.search("position_abolished +18 to 29 +one", shown), width


def test_a_narrow_screen_lists_no_empty_cells():
    rows = [("region: cost", "123456789"), ("count", "")]
    table = ScreenTable([ScreenColumn("wanted"), ScreenColumn("n", right=True, wraps=False)], rows, has_titles=True)
    first = [line.characters.strip()[:1] for line in table.lines(12)]
    assert (first.count("n"), first.count("w")) == (1, 2)


ROWS = [["1"], ["2"]]
PIECES = [(400_000, b"1\n"), (600_000, b"2\n")]


class Lines(list):
    """A screen that remembers."""

    width = 80
    show = list.append


@pytest.fixture
def lines():
    """What somebody sees to whom each moment is two seconds later."""
    lines, now = Lines(), iter(range(0, 1000, 2))
    line = ProgressLine(lines, clock=lambda: next(now), ticks=False)
    with progress_on(line):
        yield lines, line


class InPieces:
    """A table that is looked at while it is written."""

    rows, names, shown = 1_000_000, ["n"], []

    def __init__(self, look):
        self.look = look

    def written(self, file):
        for piece in PIECES:
            self.look()
            yield piece
        self.look()


def test_rows_that_are_written_have_a_bar(lines, tmp_path):
    shown, line = lines
    publish(InPieces(line.draw), lambda table: {"table": table}, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes() == b"1\n2\n"
    assert shown[0].startswith("Writing")
    assert "40 %" in shown[1]
    assert "100 %" in shown[2]
    assert shown[-1] == ""


def test_items_without_end_are_tallied(lines):
    shown, line = lines
    for _ in progress.tallied(iter(ROWS), "vertices written"):
        line.draw()
    assert shown[0].startswith("vertices written, 1,")
    assert shown[-1] == ""


def test_a_pipe_sees_neither_pieces_nor_tally(capsys, tmp_path):
    publish(InPieces(lambda: None), lambda table: {"table": table}, tmp_path / "t.csv")
    assert list(progress.tallied(ROWS, "written")) == ROWS
    with progress.logged_progress("Searching") as report:
        report(0.5, 1)
    assert capsys.readouterr() == ("", "")
