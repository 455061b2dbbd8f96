"""Spaces as text and as plain data: what is read, what is written, what is refused."""

import json
from fractions import Fraction

import pytest

from utmost.errors import BadTable, NotAMetric, NotANumber, OutOfRange, UtmostError
from utmost.exact import Surd

# A name of a space is read alone: a command shows no space, and would start anew for each of sixty texts.
from utmost.interfaces.documents.space_names import graph_file, space_facts, space_named, stated_space
from utmost.spaces import Space, counts, discrete, graph, grid, hamming

NAMED = {
    "line:6": counts(5), "line:1": counts(0), "counts:5": counts(5), "Discrete:3": discrete(3),
    " hamming:4 ": hamming(4), "grid:4x3": grid(4, 3), "grid:2X2": grid(2, 2), "manhattan:2x5": grid(2, 5, "manhattan"),
}  # fmt: skip


@pytest.mark.parametrize("text", NAMED)
def test_a_name_gives_its_space(text):
    assert space_named(text).same_as(NAMED[text])


@pytest.mark.parametrize(
    "text", ["", "grid", "grid:", ":3", "grid:4", "grid:4x4x4", "circle:3", "discrete:0", "line:0"]
)
def test_what_is_no_name_is_refused(text):
    with pytest.raises(OutOfRange):
        space_named(text)


@pytest.mark.parametrize("text", ["discrete:x", "grid:axb", "hamming:1.5", "line:nan"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(NotANumber):
        space_named(text)


SPACES = {
    **NAMED,
    "table of fractions": Space([[0, Fraction(1, 3)], [Fraction(1, 3), 0]]),
    "table of surds": Space([[0, Surd.sqrt(2) + 1], [Surd.sqrt(2) + 1, 0]], labels=["a", "b"]),
    "table of floats": Space([[0, 0.1], [0.1, 0]]),
    "graph": graph([("hub", "a"), ("hub", "b", "3/2")]),
    "part of a grid": grid(3, 3).restrict([0, 4, 8]),
}


@pytest.mark.parametrize("name", SPACES)
def test_a_space_is_read_back_from_json_as_it_was(name):
    space = SPACES[name]
    again = stated_space(json.loads(json.dumps(space_facts(space))))
    assert again.size == space.size
    assert all(again.length(x, y) == space.length(x, y) for x in range(space.size) for y in range(space.size))


@pytest.mark.parametrize(
    "facts", [{}, {"kind": "grid"}, {"kind": "circle", "sizes": [3]}, {"kind": "distances", "distances": [["x"]]}]
)
def test_what_is_no_space_is_refused(facts):
    with pytest.raises(UtmostError):
        stated_space(facts)


@pytest.mark.parametrize("header", ["", "from,to,length\n", "a,b,km\n"])
def test_a_graph_is_read_with_and_without_a_header(file, header):
    space = graph_file(file(header + "hub,a,1\nhub,b,1/2\n"))
    assert (space.labels, space.length(1, 2)) == (("hub", "a", "b"), Fraction(3, 2))
    plain = graph_file(file("source,target\n1,0\n1,2\n"))
    assert (list(plain.labels), plain.length(0, 2)) == ([0, 1, 2], 2)


def test_the_name_of_a_file_is_a_graph(file):
    path = file("a,b\nb,c\n")
    assert space_named(str(path)).size == space_named(f"graph:{path}").size == 3
    path = file("0,1.5\n1.5,0\n", "distances.csv")
    assert space_named(f"distances:{path}").length(0, 1) == Fraction(3, 2)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", BadTable), ("from,to\n", BadTable), ("a\n", BadTable), ("a,b,1,2\n", BadTable), ("a,\n", BadTable),
        ("a,a\n", NotAMetric), ("a,b,0\n", NotAMetric), ("a,b\nc,d\n", NotAMetric), ("a,b,1\nb,c,long\n", NotAMetric),
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused_and_the_file_is_named(file, text, error):
    with pytest.raises(error, match=r"table\.csv"):
        graph_file(file(text))


def test_distances_that_are_none_are_refused_and_the_file_is_named(file):
    path = file("0,1\n2,0\n")
    with pytest.raises(NotAMetric, match=r"table\.csv"):
        space_named(f"distances:{path}")
