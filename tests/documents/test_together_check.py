"""A statement on columns changed together follows from itself, and each change of it is found."""

import json

import pytest

import utmost as ut
from utmost.errors import BadTable
from utmost.privacy import Unit
from utmost.promises import once_together
from utmost.statements import check_statement, stated_release

TABLE = {"department": ["A", "B"], "a": [933, 585], "b": [601, 370], "c": [5, 6]}


def released(table, *, columns, epsilon, public=(), drop=(), randomness=None, **noise):
    promise = ut.Promise(columns, public=public, drop=drop, noise=once_together(columns, **noise))
    return ut.release(table, promise, epsilon=epsilon, randomness=randomness, once=True)


def made(noise=None, **how):
    unit = Unit(1, len(how.get("columns", "abc")))
    how = {"epsilon": "1/2", "unit": unit, "noise": noise, "public": "department", "columns": ["a", "b", "c"]} | how
    return released(TABLE, drop=[name for name in "abc" if name not in how["columns"]], **how)


@pytest.mark.parametrize("noise", ["joint", "rotated", "independent", None])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"halves": "keep"},
        {"unit": Unit(1, 3, "change-one")},
        {"columns": ["b", "a"], "epsilon": 3},
    ],
)
def test_a_statement_as_it_was_made_passes(noise, how):
    """All kinds of noise, and what else can be chosen."""
    release = made(noise, **how)
    plan = check_statement(release.statement, release.table)
    assert plan.margins == release.noise.margins
    assert plan.way == release.noise.way


def places(said):
    """The records of a statement: a field stands in the first that has it."""
    return said["promise"]["noise"], said["promise"], said["noise"], said


def field_of(said, name):
    return next(place for place in places(said) if name in place)[name]


def with_fields(said, changed):
    """A copy with other values of fields, each in its record."""
    copied = json.loads(json.dumps(said))
    for name, value in changed.items():
        next((place for place in places(copied) if name in place), copied)[name] = value
    return copied


SIGNED = {"unit": Unit(1, 3, nonnegative=True), "noise": "signed"}


def signed(**how):
    return made(**{**SIGNED, **how})


@pytest.mark.parametrize("how", [{}, {"halves": "keep"}, {"cost": "squared"}, {"relaxable": True, "noise": None}])
def test_signed_sums_pass_as_they_were_made(how):
    """With the promise, the rows, and what every change spends."""
    release = signed(**how)
    said = json.loads(json.dumps(release.statement))
    assert said["promise"]["noise"]["nonnegative"] is True
    assert check_statement(said, release.table).way == release.noise.way


def dearer(said):
    """The same rows with more of the level than there is."""
    return [{**group, "shares": ["9/15", "7/15", "7/15"]} for group in field_of(said, "signed_sums")]


FORGED = {
    "shares of rows": lambda said: {"signed_sums": dearer(said)},
    "rows": lambda said: {
        "signed_sums": [{**field_of(said, "signed_sums")[0], "rows": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}]
    },
    "what changes spend": lambda said: {"signed_sums": [{**field_of(said, "signed_sums")[0], "spent": []}]},
    "rows of text": lambda said: {"signed_sums": [{"rows": ["1", "2"], "shares": ["1/2", "1/2"]}]},
    "groups": lambda said: {"groups": [["a", "b"], ["c"]]},
}


@pytest.mark.parametrize("what", FORGED)
def test_forged_signed_sums_are_found(what):
    """Rows that would spend more than the level, and other sums; test_every_statement.py changes each field alone."""
    release = signed()
    with pytest.raises(BadTable):
        check_statement(with_fields(release.statement, FORGED[what](release.statement)), release.table)


def test_the_words_of_a_statement_say_who_is_protected():
    """On the page: the sums of each column's group, why, and that nobody lowers a cell."""
    release = signed()
    stated = stated_release(release.statement)
    assert "lowers none" in release.statement["guarantee"]
    assert all("signed sums" in noise.distribution for noise in stated.noises)
    assert "mean error" in stated.why


@pytest.mark.parametrize("noise", ["range", "staircase", "two-sided"])
def test_staircases_pass_and_their_forgeries_do_not(noise):
    """The step is stated, and error bars follow from it; the range needs its promise."""
    release = made(unit=Unit(3, 3, nonnegative=True), noise=noise, epsilon=2)
    said = json.loads(json.dumps(release.statement))
    assert field_of(said, "step") == release.noise.way.distributions[0].step
    assert check_statement(said, release.table).way == release.noise.way
    for change in (
        {"step": field_of(said, "step") % 3 + 1},
        {"step": 4},
        {"step": "1"},
        {"noise": "joint"},
        {"relaxable": True},
    ):
        with pytest.raises(BadTable):
            check_statement(with_fields(said, change), release.table)
    assert ("nonnegative" in said["promise"]["noise"]) == (noise != "staircase")
    if noise != "staircase":
        del said["promise"]["noise"]["nonnegative"]
        with pytest.raises(BadTable):
            check_statement(said, release.table)
