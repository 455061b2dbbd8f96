"""Small tables: whatever stands between cells and before decimals, and in whatever encoding, they say the same."""

import codecs
import json
from fractions import Fraction

import pytest

import utmost as ut

# Readers of hostile bytes and cells, and their limits, are tried without a release behind them.
from utmost import Spelling
from utmost.errors import BadTable
from utmost.interfaces.documents.channel_files import read as channel_in
from utmost.interfaces.documents.cost_files import cost_of
from utmost.interfaces.documents.space_names import edges_file, graph_file
from utmost.tables.files.json_files import read_json
from utmost.tables.files.small_tables import number_rows, small_table
from utmost.tables.files.text_files import TextFile

SPELLINGS = [
    pytest.param(separator, mark, encoding, id=f"{separator!r} {mark} {encoding}")
    for separator in (",", ";", "\t", "|")
    for mark in (".", ",")
    for encoding in ("utf-8", "utf-8-sig")
    if (separator, mark) != (",", ",")
]


@pytest.fixture
def written(tmp_path):
    def write(text, separator=",", mark=".", encoding="utf-8", name="file.csv"):
        path = tmp_path / name
        path.write_bytes(text.replace(".", mark).replace(" ", separator).encode(encoding))
        return path

    return write


@pytest.mark.parametrize(("separator", "mark", "encoding"), SPELLINGS)
def test_a_policy_hides_the_same_however_it_is_spelled(run, written, separator, mark, encoding):
    """With commas alone "flu;cold" was one lone secret, hidden from none, and the identity was certified."""
    policy = written("flu cold\ncold well 1.5\n", separator, mark, encoding)
    code, out, err = run("research", "policy", policy, "--epsilon", "1", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["parts"] == [["flu", "cold", "well"]]
    assert found["capacities"]["multiplicative"]["value"] == pytest.approx(2.0972661096)


@pytest.mark.parametrize(("separator", "mark", "encoding"), SPELLINGS)
def test_numbers_are_the_same_however_they_are_spelled(written, separator, mark, encoding):
    rows = written("0.5 0.25\n1 1.125\n", separator, mark, encoding)
    assert number_rows(rows) == [[Fraction(1, 2), Fraction(1, 4)], [1, Fraction(9, 8)]]
    channel = channel_in(written("secret x y\na 0.25 0.75\nb 0.5 0.5\n", separator, mark, encoding))
    assert channel.matrix.tolist() == [[Fraction(1, 4), Fraction(3, 4)], [Fraction(1, 2)] * 2]
    assert (list(channel.secrets), list(channel.outcomes)) == (["a", "b"], ["x", "y"])
    network = written("from to length\na b 1.5\nb c 2\n", separator, mark, encoding)
    assert graph_file(network).length(0, 2) == Fraction(7, 2)
    assert edges_file(network) == [("a", "b"), ("b", "c")]
    assert cost_of(str(written("0 0\n1 0.5\n2 1.5\n", separator, mark, encoding)))(2) == Fraction(3, 2)
    towns = written("name latitude longitude\nbern 46.95 7.45\nbasel 47.56 7.59\n", separator, mark, encoding)
    assert ut.spaces.places(towns).labels == ("bern", "basel")


def test_other_encodings_and_separators_are_said(run, written):
    policy = written("Köln;Rhein|Main\nBonn;Köln\n", encoding="utf-16")
    with pytest.raises(BadTable, match="UTF-8"):
        small_table(policy)
    code, out, _ = run(
        "research", "policy", policy, "--epsilon", "1", "--encoding", "utf-16", "--separator", ";", "--json"
    )
    assert code == 0
    assert json.loads(out)["secrets"] == ["Köln", "Rhein|Main", "Bonn"]
    code, out, err = run("research", "policy", policy, "--epsilon", "1", "--encoding", "utf-16", "--json")
    assert (code, out) == (1, "")
    assert "--separator" in err


@pytest.mark.parametrize("text", ["a,b;c\n", "a,b\nc;d\n", "a;b\nc,d\n", "1,2\n3;4\n"])
def test_two_separators_in_one_file_are_refused(written, text):
    with pytest.raises(BadTable, match="one character must separate"):
        small_table(written(text))
    assert small_table(TextFile.of(written(text), ",")).rows
    assert small_table(written('"a,b";c\n')).rows == [(1, ["a,b", "c"])]


def test_thousands_are_not_taken_for_decimals(written):
    """1,500 alone may be either; beside 0,5 the comma stands before decimals."""
    with pytest.raises(BadTable, match="thousands"):
        number_rows(written("1;1,500\n"))
    assert number_rows(written("1;1,500\n2;0,5\n"))[0][1] == Fraction(3, 2)
    assert number_rows(TextFile.of(written("1;1,500\n"), spelling=Spelling(",")))[0][1] == Fraction(3, 2)


@pytest.mark.parametrize("text", ["flu\ncold\n", "flu cold well\n", "flu:cold\ncold:well\n", "flu flu\n", "flu\n"])
def test_a_policy_that_hides_nothing_is_refused(run, written, text):
    path = written(text, separator="/")
    code, out, err = run("research", "policy", path, "--epsilon", "1", "--json")
    assert (code, out) == (1, "")
    assert "must hide a secret from another" in err


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (b"", "utf-8"),
    ],
)
def test_json_is_read_with_a_byte_order_mark(run, tmp_path, mark, encoding):
    """Of a domain and a channel, as editors on Windows write them."""
    domain, events, channel = tmp_path / "d.json", tmp_path / "e.csv", tmp_path / "c.json"
    domain.write_bytes(mark + '{"city": ["Köln", "Bonn"]}'.encode(encoding))
    events.write_text("city\nKöln\n", encoding="utf-8")
    channel.write_bytes(mark + '[["1/2", "1/2"], [0, 1]]'.encode(encoding))
    assert read_json(domain, "a domain must") == {"city": ["Köln", "Bonn"]}
    code, out, err = run("count", events, "--each-row", "--domain", domain, "--out", "-", "--format", "csv")
    assert (code, out) == (0, "city,count\nKöln,1\nBonn,0\n"), err
    assert run("research", "leakage", channel)[0] == 0
