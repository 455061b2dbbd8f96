"""The check of public functions: what is of another kind is refused, and what denotes an integer is one."""

import inspect
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

import numpy as np
import pytest

# The arithmetic that every room stands on is proved by itself.
from utmost.core.exact.kinds import checked, spelled
from utmost.errors import NotANumber, OutOfRange, Unsupported, WrongKind
from utmost.exact import Level, level


@checked
def take(
    at: Level | None = None,
    n: int = 0,
    share: float = 0.0,
    sure: bool = False,
    name: str = "",
    rows: Sequence[int] = (),
    labels: Sequence[Hashable] = (),
    file: str | Path = "x",
    *levels: Level,
):
    return at, n, share, sure, name, rows, labels, file, levels


@pytest.mark.parametrize(
    ("name", "value", "error", "says"),
    [
        ("at", 1, WrongKind, "at must be a Level; got int"),
        ("n", [], NotANumber, "n must be a finite number"),
        ("n", 1.5, NotANumber, "n must be an integer"),
        ("share", "one", NotANumber, "share must be a finite number"),
        ("share", 10**400, OutOfRange, "share must be at most"),
        ("sure", 1, WrongKind, "sure must be True or False; got int"),
        ("name", b"r", WrongKind, "name must be text; got bytes"),
        ("rows", 5, WrongKind, "rows must be a sequence; got int"),
        ("rows", [0, "a"], NotANumber, "every element of rows"),
        ("rows", range(10**12), OutOfRange, "rows must have at most"),
        ("labels", None, WrongKind, "labels must be a sequence; got None"),
        ("file", 5, WrongKind, "file must be a path; got int"),
        ("file", "a\0b", OutOfRange, "without NUL"),
        ("file", "\ud800", OutOfRange, "in Unicode"),
        ("file", "a" * 5000, OutOfRange, "at most 4096 bytes"),
    ],
)
def test_what_is_of_another_kind_is_refused_and_never_shown(name, value, error, says):
    with pytest.raises(error, match=says):
        take(**{name: value})


def test_what_is_right_passes_and_integers_are_pythons():
    half = level("1/2")
    came = take(half, np.int8(3), "1/4", np.True_, "r", np.arange(2), "ab", Path("y"), half, half)
    assert type(came[1]) is int
    assert came[2] == 0.25
    assert came[3] is True
    assert came[-1] == (half, half)
    assert take(None)[0] is None


def test_every_one_of_many_arguments_is_read():
    with pytest.raises(WrongKind, match="levels must be a Level"):
        take(None, 0, 0.0, False, "", (), (), "x", level(1), 2)


def test_a_memory_that_does_not_suffice_is_told():
    @checked
    def huge():
        raise MemoryError

    with pytest.raises(Unsupported, match="huge: what is asked for must fit the memory"):
        huge()


class Words(TypedDict, total=False):
    n: int
    name: str


def told(first: int, **words: Unpack[Words]):
    return first, words


@pytest.mark.parametrize("decorate", [checked, spelled])
def test_shared_words_are_spelled_out_and_no_other_is_taken(decorate):
    """Who asks what a function takes sees each word; one that is none is refused as Python does."""
    function = decorate(told)
    assert list(inspect.signature(function).parameters) == ["first", "n", "name"]
    assert function(1, name="a") == (1, {"name": "a"})
    with pytest.raises(TypeError, match=r"told\(\) got an unexpected keyword argument 'nmae'"):
        function(1, nmae="a")


def test_shared_words_are_checked_one_by_one():
    assert checked(told)(1, n="2") == (1, {"n": 2})
    with pytest.raises(WrongKind, match="name must be text; got bytes"):
        checked(told)(1, name=b"a")
