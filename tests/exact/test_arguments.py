"""The readers of arguments: what is of another kind is refused by the parameter's name, and an integer is one however
it is written.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest

# The readers of arguments, which every public call shares, each with all kinds of wrong values.
from utmost.core.exact import arguments as read
from utmost.errors import NotANumber, OutOfRange, WrongKind
from utmost.exact import Level, level

Side = Literal["left", "right"]


class Unhashable:
    def __hash__(self):
        raise RuntimeError("no hash")


@pytest.mark.parametrize(
    ("reader", "value", "error", "says"),
    [
        (read.integer, [], NotANumber, "x must be a finite number"),
        (read.integer, 1.5, NotANumber, "x must be an integer"),
        (read.real, "one", NotANumber, "x must be a finite number"),
        (read.real, float("nan"), NotANumber, "x must be a finite number"),
        (read.real, 10**400, OutOfRange, "x must be at most 1e308"),
        (read.truth, 1, WrongKind, "x must be True or False; got int"),
        (read.text, b"r", WrongKind, "x must be text; got bytes"),
        (read.text, None, WrongKind, "x must be text; got None"),
        (read.label, Unhashable(), WrongKind, "x must be a label"),
        (read.path, 3, WrongKind, "x must be a path; got int"),
        (read.path, "a\0b", OutOfRange, "x must be a path .* without NUL"),
        (read.path, "a" * 5000, OutOfRange, "x must be a path of at most 4096"),
        (read.path, "\ud800", OutOfRange, "x must be a path in Unicode"),
        (read.sequence, 5, WrongKind, "x must be a sequence; got int"),
        (read.sequence, "abc", WrongKind, "x must be a sequence; got str"),
        (read.sequence, np.array(1), WrongKind, "x must be a sequence; got ndarray"),
        (read.collection, iter([1]), WrongKind, "x must be a collection"),
        (read.iterable, 5, WrongKind, "x must be iterable"),
        (read.mapping, [1], WrongKind, "x must be a mapping; got list"),
    ],
)
def test_another_kind_is_refused_by_the_name_of_the_parameter(reader, value, error, says):
    with pytest.raises(error, match=says):
        reader(value, "x")


def test_an_instance_is_of_the_class_or_of_one_of_several():
    half = level(alpha="1/2")
    assert read.instance(half, Level, "at") is half
    assert read.instance("a", (Level, str), "at") == "a"
    with pytest.raises(WrongKind, match=r"^at .*Level or a str.*float"):
        read.instance(0.5, (Level, str), "at")


def test_a_word_is_one_of_a_literal_type():
    assert read.one_of("left", Side, "side") == "left"
    with pytest.raises(OutOfRange, match=r"^side .*left, right.*up"):
        read.one_of("up", Side, "side")
    with pytest.raises(WrongKind, match=r"^side .*left, right.*None"):
        read.one_of(None, Side, "side")


def test_every_element_is_read():
    assert read.sequence_of([1, "2"], read.integer, "sizes") == [1, "2"]
    with pytest.raises(NotANumber, match="element of sizes"):
        read.sequence_of([1, 2.5], read.integer, "sizes")
    with pytest.raises(WrongKind, match="element of sides"):
        read.sequence_of([3], read.text, "sides")
    with pytest.raises(OutOfRange, match=r"^sizes"):
        read.sequence_of(range(10**12), read.integer, "sizes")


def test_what_may_be_left_out_is_read_where_it_is_given():
    assert read.optional(None, read.truth, "flag") is None
    with pytest.raises(WrongKind, match=r"^flag.*True or False"):
        read.optional(1, read.truth, "flag")


def test_paths_come_back_as_they_came_and_bytes_as_text():
    assert read.path(Path("a"), "path") == Path("a")
    assert read.path(b"a/b.csv", "path") == "a/b.csv"
