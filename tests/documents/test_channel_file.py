"""Channel files: what is read, under which names, and what is refused by naming the cell."""

import json
from fractions import Fraction

import pytest

import utmost as ut
from running import main
from utmost.channels import Channel, geometric_channel
from utmost.errors import BadTable, NotAChannel, OutOfRange

THIRDS = [["1/3", "2/3"], ["1/2", "1/2"]]


@pytest.mark.parametrize(
    ("text", "secrets", "outcomes"),
    [
        ("1/3,2/3\n1/2,1/2\n", None, None),
        ("low,high\n1/3,2/3\n0.5,.5\n", None, ("low", "high")),
        ("secret,0,1\n0,1/3,2/3\n1,1/2,1/2\n", ("0", "1"), ("0", "1")),
        (",low,high\nann,1/3,2/3\nbob,1/2,5e-1\n", ("ann", "bob"), ("low", "high")),
        ("low,high\nann,1/3,2/3\nbob,1/2,1/2\n", ("ann", "bob"), ("low", "high")),
        ("who,low,high\nann,1/3,2/3\nbob,1/2,1/2\n", ("ann", "bob"), ("low", "high")),
        ("ann, 1/3 ,2/3\nbob,1/2,1/2\n", ("ann", "bob"), None),
        ("low,high\n1,1/3,2/3\n2,1/2,1/2\n", ("1", "2"), ("low", "high")),
    ],
)
def test_csv_with_and_without_names(file, text, secrets, outcomes):
    """The first row and the first column are names where they can be nothing else."""
    found = ut.read_design(file(text))
    assert found.is_exact
    assert found.same_as(Channel(THIRDS))
    assert (found.secrets, found.outcomes) == (secrets, outcomes)


@pytest.mark.parametrize(
    "text",
    [
        '[["1/3", "2/3"], ["1/2", 0.5]]',
        '{"matrix": [["1/3", "2/3"], [0.5, "1/2"]]}',
        '{"secrets": ["a", "b"], "outcomes": [0, 1], "matrix": [["1/3", "2/3"], [0.5, 0.5]]}',
    ],
)
def test_json_matrices_are_read_as_the_decimals_they_spell(file, text):
    found = ut.read_design(file(text, "channel.json"))
    assert found.is_exact
    assert found.same_as(Channel(THIRDS))


@pytest.mark.parametrize("name", ["channel.csv", "channel.tsv", "channel.json"])
@pytest.mark.parametrize(
    "channel",
    [
        geometric_channel(4, alpha="1/2"),
        geometric_channel(3, epsilon=1),
        Channel([["1"]], ["only, one"], ["said"]),
        Channel(THIRDS, ["a", 'b"b'], ["x", "y"]),
    ],
)
def test_what_is_written_is_read_back(tmp_path, name, channel):
    """Exactly in the exact numbers; floats come back as the same floats."""
    path = tmp_path / name
    ut.save_design(channel, path)
    found = ut.read_design(path)
    assert found.same_as(channel)
    assert found.is_exact == channel.is_exact
    assert channel.secrets is None or found.secrets == channel.secrets


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (["--space", "counts:2"], geometric_channel(3, alpha="1/2")),
        (["--space", "discrete:2"], Channel([["2/3", "1/3"], ["1/3", "2/3"]])),
    ],
)
def test_a_design_is_read_as_its_mechanism(tmp_path, space, expected):
    """On counts a remap of the geometric mechanism, elsewhere the matrix that was found; and as CSV."""
    out, matrix = tmp_path / "design.json", tmp_path / "matrix.csv"
    asked = ["design", *space, "--prior", "uniform", "--loss", "binary", "--epsilon", "alpha=1/2"]
    for path in (out, matrix):
        with pytest.raises(SystemExit):
            main([*asked, "--out", str(path)])
    assert ut.read_design(out).channel.same_as(expected)
    assert ut.read_design(matrix).same_as(expected)


def test_rounded_decimals_become_floats(file):
    """A row that misses 1 by at most 10^-9 has been rounded; one that misses it by more is refused."""
    found = ut.read_design(file("0.3333333333,0.3333333333,0.3333333333\n1/3,1/3,1/3\n"))
    assert not found.is_exact
    with pytest.raises(NotAChannel, match=r"line 1.*below"):
        ut.read_design(file("0.333,0.333,0.333\n"))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("", BadTable, "must contain numbers"),
        ("a,b\n", BadTable, "a row for each secret"),
        ("1/3,2/3\n1/2,x\n", BadTable, r"line 2, column 2: every cell must be a finite number; got text"),
        ("a,b\n1/3,2/3\n1/2,nan\n", BadTable, r"line 3, column 2"),
        ("s,1/2,1/2\nt,1/2,1/0\n", BadTable, r"line 2, column 3"),
        (
            "1/3,2/3\n1\n",
            BadTable,
            r"line 2: all rows must have the same number of cells; got a row of 1 cells after rows of 2",
        ),
        ("1/3,2/3\n3/2,-1/2\n", NotAChannel, r"line 2: a probability must not be negative; got a negative probability"),
        ("a,a\n1/3,2/3\n", BadTable, r"names of outcomes must be distinct; got numbers 0 and 1"),
        (",a,b\ns,1/3,2/3\ns,1/2,1/2\n", BadTable, r"names of secrets must be distinct; got numbers 0 and 1"),
        ("a,b,c,d\n1/3,2/3\n", BadTable, r"2 outcomes must have 2 names; got 4"),
    ],
)
def test_refused_csv(file, text, error, said):
    with pytest.raises(error, match=said):
        ut.read_design(file(text))


@pytest.mark.parametrize(
    ("text", "error", "said"),
    [
        ("{", BadTable, "must be JSON"),
        ("3", BadTable, "a list of rows"),
        ('{"rows": [[1]]}', BadTable, "a list of rows"),
        ("[]", BadTable, "a list of rows"),
        ("[[]]", BadTable, "a list of rows"),
        ("[[1], [0.5, 0.5]]", BadTable, r"row 1: all rows must have the same number of cells"),
        ("[[true]]", BadTable, r"row 0, column 0: every cell must be a finite number"),
        ("[[NaN]]", BadTable, "got the number NaN"),
        ("[[1], [null]]", BadTable, r"row 1, column 0"),
        ("[[1], [2]]", NotAChannel, r"row 1: every row must sum to 1; got a sum above 1"),
        ('{"matrix": [[1]], "secrets": ["a", "b"]}', BadTable, r"1 secrets must have 1 names; got 2"),
        ('{"matrix": [[1]], "outcomes": "a"}', BadTable, r"1 outcomes must have 1 names; got str"),
    ],
)
def test_refused_json(file, text, error, said):
    with pytest.raises(error, match=said):
        ut.read_design(file(text, "channel.json"))


def test_other_endings_are_refused(tmp_path):
    with pytest.raises(OutOfRange, match="must end in"):
        ut.read_design(tmp_path / "channel.xlsx")
    with pytest.raises(OutOfRange, match="must end in"):
        ut.save_design(Channel([[1]]), tmp_path / "channel.parquet")


def test_the_document_keeps_exact_numbers_as_text(tmp_path):
    ut.save_design(geometric_channel(2, alpha="1/2"), tmp_path / "c.json")
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["matrix"][0] == ["2/3", "1/3"]
    assert [Fraction(p) for p in document["matrix"][1]] == [Fraction(1, 3), Fraction(2, 3)]
