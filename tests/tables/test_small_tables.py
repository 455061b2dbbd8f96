"""Small tables: whatever stands between cells and before decimals, and in whatever encoding, they say the same."""

import codecs
import json

import pytest

import utmost as ut

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
def test_numbers_are_the_same_however_they_are_spelled(run, written, separator, mark, encoding):
    channel = written("secret x y\na 0.25 0.75\nb 0.5 0.5\n", separator, mark, encoding)
    code, out, err = run("research", "leakage", channel, "--json")
    assert (code, err) == (0, "")
    fractions = written("secret x y\na 1/4 3/4\nb 1/2 1/2\n")
    assert json.loads(out) == json.loads(run("research", "leakage", fractions, "--json")[1])
    towns = written("name latitude longitude\nbern 46.95 7.45\nbasel 47.56 7.59\n", separator, mark, encoding)
    assert ut.spaces.places(towns).labels == ("bern", "basel")


def test_other_encodings_and_separators_are_said(run, written):
    policy = written("Köln;Rhein|Main\nBonn;Köln\n", encoding="utf-16")
    code, _, err = run("research", "policy", policy, "--epsilon", "1")
    assert (code, "UTF-8" in err) == (1, True)
    code, out, _ = run(
        "research", "policy", policy, "--epsilon", "1", "--encoding", "utf-16", "--separator", ";", "--json"
    )
    assert code == 0
    assert json.loads(out)["secrets"] == ["Köln", "Rhein|Main", "Bonn"]
    code, out, err = run("research", "policy", policy, "--epsilon", "1", "--encoding", "utf-16", "--json")
    assert (code, out) == (1, "")
    assert "--separator" in err


@pytest.mark.parametrize("text", ["a,b;c\n", "a,b\nc;d\n", "a;b\nc,d\n", "1,2\n3;4\n"])
def test_two_separators_in_one_file_are_refused(run, written, text):
    asked = ["research", "policy", written(text), "--epsilon", "1"]
    code, _, err = run(*asked)
    assert (code, "one character must separate" in err) == (1, True)
    assert run("research", "policy", written('"a,b";c\n'), "--epsilon", "1")[0] == 0


def test_thousands_are_not_taken_for_decimals(run, written):
    """1,500 alone may be either; beside 0,5 the comma stands before decimals."""
    code, _, err = run("research", "leakage", written("s;x;y\na;1,000;0\nb;0;1,000\n"))
    assert (code, "thousands" in err) == (1, True)
    assert run("research", "leakage", written("s;x;y\na;1,000;0\nb;0,5;0,500\n"))[0] == 0


@pytest.mark.parametrize("text", ["flu\ncold\n", "flu cold well\n", "flu:cold\ncold:well\n", "flu flu\n", "flu\n"])
def test_a_policy_that_hides_nothing_is_refused(run, written, text):
    path = written(text, separator="/")
    code, out, err = run("research", "policy", path, "--epsilon", "1", "--json")
    assert (code, out) == (1, "")
    assert "must protect at least one pair of secrets" in err


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
    code, out, err = run("count", events, "--each-row", "--domain", domain, "--out", "-", "--format", "csv")
    assert (code, out) == (0, "city,count\nKöln,1\nBonn,0\n"), err
    assert run("research", "leakage", channel)[0] == 0
