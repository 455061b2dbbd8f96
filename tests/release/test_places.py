"""Columns of coordinates as points: what is released, what is refused, whether the statement follows."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import utmost as ut
from utmost import PointNoise
from utmost.errors import BadTable, NotALevel, NotDeclared, OutOfRange, PromiseBroken
from utmost.exact import level
from utmost.gradual import EuclideanLaplace
from utmost.promises import Promise
from utmost.statements import check_statement
from utmost.testing import SeededRandomness

TABLE = {"name": ["A", "B", "C"], "x": [1.5, Decimal("2.25"), 3], "y": [0, 1, Fraction(1, 3)], "size": [7, 8, 9]}
PROMISE = {"columns": ["x", "y"], "public": "name", "drop": "size", "epsilon": 1}
CALL = ("epsilon", "confidence", "randomness")


def release_places(table, *, per=1, grid=None, **words):
    """Release points once, from the arguments of the promise and of the call."""
    call = {name: words.pop(name) for name in CALL if name in words}
    noise = PointNoise(per, grid=grid, dimensions=len(words["columns"]) or 1)
    return ut.release(table, Promise(noise=noise, **words), once=True, **call)


def test_points_are_released_with_one_margin_and_nothing_else_unasked():
    made = release_places(TABLE, **PROMISE, per=200)
    assert list(made.table) == ["name", "x", "y", "x_y_margin"]
    assert made.table["name"] == ["A", "B", "C"]
    assert set(made.table["x_y_margin"]) == {made.margin()}
    assert (made.level, made.rows, made.public) == (level(1), 3, ("name",))
    assert made.table["x"] != TABLE["x"]
    assert TABLE["x"][0] == 1.5


def test_the_noise_of_a_table_is_that_of_the_plane():
    r"""Both coordinates share one noise: \|V\| has the distribution Gamma(2, e), which two independent Laplace
    variables do not."""
    zeros = np.zeros(20_000)
    made = release_places({"x": zeros, "y": zeros}, columns=["x", "y"], epsilon="1/2", per=3)
    off = np.hypot(made.table["x"], made.table["y"])
    assert stats.kstest(off, EuclideanLaplace(level("1/6")).within).pvalue > 1e-9
    assert (off <= made.margin()).mean() == pytest.approx(0.95, abs=0.01)


def test_one_and_three_columns():
    for columns in (["x"], ["x", "y", "z"]):
        table = {name: [1.0, 2.0] for name in columns}
        made = release_places(table, columns=columns, epsilon=1)
        assert made.distribution.dimensions == len(columns)
        check_statement(made.statement, made.table)


def test_polars_frames_come_back_as_they_came():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"x": [1.0, 2.0], "y": [3, 4], "n": ["a", "b"]})
    made = release_places(frame, columns=["x", "y"], public="n", epsilon=ut.level(alpha="1/2"), grid="1/10")
    assert made.table.columns == ["x", "y", "x_y_margin", "n"]
    check_statement(json.loads(json.dumps(made.statement)), made.table)


@pytest.mark.parametrize(
    ("table", "promise", "error"),
    [
        (TABLE, {"columns": ["x", "z"]}, BadTable),
        (TABLE, {"columns": []}, OutOfRange),
        (TABLE, {"drop": ()}, NotDeclared),
        (TABLE, {"epsilon": 0}, NotALevel),
        (TABLE, {"per": 0}, OutOfRange),
        (TABLE, {"grid": 2}, OutOfRange),
        (TABLE, {"confidence": 1}, OutOfRange),
        (TABLE, {"rows": "x"}, OutOfRange),
        (TABLE, {"randomness": SeededRandomness(1)}, PromiseBroken),
        (TABLE | {"x": [1, None, 2]}, {}, BadTable),
        (TABLE | {"x": [1, float("nan"), 2]}, {}, BadTable),
        (TABLE | {"x": [1, "98765", 2]}, {}, BadTable),
        (TABLE | {"name": [1.5, 2.25, 3]}, {}, BadTable),
        (TABLE | {"name": ["A", "A", "B"]}, {"id_column": "name"}, BadTable),
        (TABLE | {"x_y_margin": [1, 2, 3]}, {"public": ["name", "x_y_margin"]}, BadTable),
        ({"x": [], "y": []}, {"public": (), "drop": ()}, BadTable),
    ],
)
def test_what_cannot_be_released(table, promise, error):
    with pytest.raises(error) as refusal:
        release_places(table, **PROMISE | promise)
    assert "98765" not in str(refusal.value)


@pytest.fixture
def said():
    return json.loads(json.dumps(release_places(TABLE, **PROMISE, per=200).statement))


def test_a_changed_table_is_found_out():
    made = release_places(TABLE, **PROMISE)
    said = made.statement
    for changed in ({"x": [0.0, 0.0, 0.0]}, {"x_y_margin": [1.0] * 3}, {"name": ["A", "B", "D"]}, {"more": [1, 2, 3]}):
        with pytest.raises(BadTable):
            check_statement(said, made.table | changed)
    with pytest.raises(BadTable):
        check_statement(said, {name: column[:2] for name, column in made.table.items()})


def test_the_guarantee_names_the_unit_and_what_is_not_hidden(said):
    """The guarantee is per distance: it names the distance, and says that far points can be distinguished."""
    text = said["guarantee"]
    for words in ("at most 2.72", "Euclidean distance", "(x, y)", "for each 200", "does not hide who is in"):
        assert words in text
    assert "all noise that is added" in said["noise"]["theorem"]
