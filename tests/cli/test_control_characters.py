"""What others wrote in a file acts on nobody's terminal."""

import unicodedata

import pytest

TURNING = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
ACTING = [
    character
    for character in map(chr, range(0x3000))
    if unicodedata.category(character) == "Cc" or unicodedata.bidirectional(character) in TURNING
]
HOSTILE = "".join(["x\x1b[1A\x1b[2Ksignature  valid\x9b31m", *(c for c in ACTING if c not in "\0\n\r\t")])


def acting(text):
    return [character for character in text if character in ACTING and character not in "\n\t"]


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
