"""`utmost research refine`: verdicts in both directions, proofs shown and written, and what is refused."""

import json
import re
from fractions import Fraction

import pytest

import utmost as ut
from utmost.channels import Channel, geometric_channel, randomized_response
from utmost.geometry import prefers
from utmost.spaces import Consumer


@pytest.fixture
def files(tmp_path):
    """The channels of this page as files."""
    channels = {
        "higher": geometric_channel(3, alpha="1/4"),
        "lower": geometric_channel(3, alpha="1/2"),
        "response": randomized_response(3, alpha="1/2"),
        "swapped": Channel(geometric_channel(3, alpha="1/2").matrix[:, ::-1]),
        "rounded": geometric_channel(3, epsilon=1),
        "two": Channel([[1], [1]]),
    }
    for name, channel in channels.items():
        ut.save_design(channel, tmp_path / f"{name}.csv")
    return lambda name: tmp_path / f"{name}.csv"


@pytest.mark.parametrize(
    ("first", "second", "order", "relation"),
    [
        ("higher", "lower", "refinement", "the first is above"),
        ("lower", "swapped", "refinement", "equal"),
        ("lower", "response", "refinement", "incomparable"),
        ("higher", "lower", "max-case", "the first is above"),
        ("lower", "response", "max-case", "incomparable"),
        ("lower", "swapped", "privacy", "equal"),
    ],
)
def test_relations(run, files, first, second, order, relation):
    """Either, both or neither; the proofs are checked before they are shown."""
    code, out, err = run("research", "refine", files(first), files(second), "--order", order, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["relation"] == relation
    assert found["second_below_first"]["verified"]
    assert found["first_below_second"]["verified"]
    code, out, err = run("research", "refine", files(first), files(second), "--order", order)
    assert (code, err) == (0, "")
    assert re.search(r"checked\s+yes", out)


def test_the_remap_is_written_and_does_what_it_says(run, files, tmp_path):
    """As CSV the remap alone, whichever direction has one; as JSON all that was found."""
    for pair in (("higher", "lower"), ("lower", "higher")):
        path = tmp_path / f"{pair[0]}-remap.csv"
        code, out, _ = run("research", "refine", files(pair[0]), files(pair[1]), "--out", path)
        assert code == 0
        assert "written" in out
        remap = ut.read_design(path)
        assert (ut.read_design(files("higher")) @ remap).same_as(ut.read_design(files("lower")))
    path = tmp_path / "found.json"
    run("research", "refine", files("lower"), files("response"), "--out", path)
    found = json.loads(path.read_text(encoding="utf-8"))
    consumer = found["second_below_first"]["consumer"]
    who = Consumer(consumer["prior"], consumer["loss"])
    assert prefers(who, ut.read_design(files("response")), ut.read_design(files("lower")))
    gap = Fraction(consumer["expected_loss_above_exact"]) - Fraction(consumer["expected_loss_below_exact"])
    assert gap > 0


def test_large_witnesses_are_counted_and_not_shown(run, tmp_path):
    for name, alpha in (("a", "1/3"), ("b", "1/2")):
        ut.save_design(geometric_channel(21, alpha=alpha), tmp_path / f"{name}.json")
    _, out, _ = run("research", "refine", tmp_path / "a.json", tmp_path / "b.json")
    assert "21 x 21 entries: --out or --json has them" in out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["lower", "two"], 1, "both channels must have the same number of secrets; got 3 in"),
        (["lower", "higher", "--order", "best"], 2, "must be one of refinement, max-case, privacy; got best"),
        (["lower", "higher", "--out", "out.txt"], 2, "--out must end in .json"),
        (["lower", "response", "--out", "out.csv"], 1, "--out can be a .csv file only if a remap"),
        (["lower"], 2, "Missing argument"),
        (["lower", "missing"], 2, "does not exist"),
    ],
)
def test_refusals(run, files, tmp_path, monkeypatch, arguments, code, said):
    monkeypatch.chdir(tmp_path)
    given = [files(a) if k < 2 else a for k, a in enumerate(arguments)]
    ended, out, err = run("research", "refine", *given)
    assert (ended, out) == (code, "")
    assert said in " ".join(err.split())
    assert not (tmp_path / "out.csv").exists()
