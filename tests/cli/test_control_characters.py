"""What others wrote in a file acts on nobody's terminal."""

import unicodedata

import pytest

# Screens and options have no public name.
from utmost.interfaces.cli.screens.control_characters import harmless

HOSTILE = "x\x1b[1A\x1b[2Ksignature  valid\x9b31m\u202e"


def acting(text):
    return [c for c in text if (unicodedata.category(c) == "Cc" and c not in "\n\t") or c in "\u202e\u2066"]


def test_every_control_is_marked_and_nothing_else_is_changed():
    """All of Unicode: of the controls (Cc) only line breaks and tabs stay; letters of every script do."""
    turning = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    for character in map(chr, range(0x110000)):
        control = unicodedata.category(character) == "Cc" and character not in "\n\t"
        marked = control or unicodedata.bidirectional(character) in turning
        assert harmless(character) == ("\ufffd" if marked else character)


@pytest.mark.parametrize("where", ["label", "column"])
def test_no_screen_and_no_message_obeys_a_published_file(run, file, tmp_path, where):
    """A released table whose label or column holds escape sequences is released, read, summed, verified and refused."""
    name, label = ("ward", HOSTILE) if where == "label" else (HOSTILE, "north")
    table, out = file(f"{name},n\n{label},5\nsouth,6\n"), tmp_path / "r.csv"
    promise = ["--columns", "n", "--public", name, "--sensitivity", 1, "--cells", 1, "--epsilon", 1]
    for command in (
        ["release", table, *promise, "--out", out],
        ["read", out],
        ["read", out, "--where", f"{name}={label}"],
        ["read", out, "--where", f"{name}={label}?"],
        ["verify", out],
        ["release", table, *promise[2:], "--columns", name],
        ["research", "capacity", name, label],
        ["release", table, f"--{name}", "--cells", label],
        ["release", table, "--columns", "n", *promise[4:], "--out", tmp_path / "other.csv"],
    ):
        _, shown, err = run(*command)
        assert not acting(shown + err), command
