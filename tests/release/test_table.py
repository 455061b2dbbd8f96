"""Releasing a table: completely or not at all, in the kind of the input, each cell with noise once at its share of the
level."""

import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

import utmost as ut
from asking import asked
from utmost.errors import (
    BadTable,
    LittleProtection,
    NotALevel,
    NotANumber,
    NotDeclared,
    OutOfRange,
    RowsObserved,
)
from utmost.exact import level
from utmost.noise import DiscreteStaircase, Geometric, Laplace, Staircase
from utmost.privacy import Unit
from utmost.releases import cell_noise_at

# At this level the noise is 0 but for a chance below 1e-40, so a release can be compared with its table.
SILENT = {"epsilon": 100, "unit": ut.Unit(1, 1)}
OTHERS = {"public": "department", "drop": "applicants"}
TABLE = {"department": ["A", "B", "C"], "applicants": [933, 585, 918], "admitted": [601, 370, 322]}


def test_released_values_stand_under_their_own_names_with_a_margin_behind():
    release = ut.release(TABLE, **asked(columns="admitted", **OTHERS, **SILENT), once=True)
    assert list(release.table.items()) == [
        ("department", ["A", "B", "C"]),
        ("admitted", [601, 370, 322]),
        ("admitted_margin", [0, 0, 0]),
    ]
    assert release.columns == ("admitted",)
    assert release.public == ("department",)
    assert release.rows == 3
    assert release.unit == Unit(1, 1)


def test_every_cell_gets_its_share_of_the_level():
    """k cells at epsilon/k each cost epsilon together; under change-one each record costs twice."""
    release = ut.release(
        TABLE,
        ut.Promise(columns=["applicants", "admitted"], public="department", unit=ut.Unit(1, 2)),
        epsilon=1,
        once=True,
    )
    assert release.distribution == Geometric("1/2")
    assert release.level.epsilon == 1
    replaced = ut.release(
        TABLE,
        ut.Promise(columns=["applicants", "admitted"], public="department", unit=ut.Unit(1, 2, "change-one")),
        epsilon=1,
        once=True,
    )
    assert replaced.distribution == Geometric("1/4")
    assert replaced.level.epsilon == 1


@pytest.mark.parametrize(
    ("sensitivity", "distribution"),
    [(1, Geometric(1)), (2, DiscreteStaircase(1, 2)), (5, DiscreteStaircase(1, 5))],
)
def test_the_distribution_is_the_optimal_one(sensitivity, distribution):
    assert (
        ut.release(
            TABLE, ut.Promise(columns="admitted", **OTHERS, unit=ut.Unit(sensitivity, 1)), epsilon=1, once=True
        ).distribution
        == distribution
    )


def test_reals_are_released_on_a_grid():
    """Every released value is a multiple of the grid's width, and the margin covers the rounding."""
    table = {"income": [1234.5, Decimal("0.1"), Fraction(1, 3), 7]}
    release = ut.release(
        table,
        ut.Promise(columns="income", noise=ut.CellNoise(ut.Unit(10, 1), numbers="reals", grid="1/8")),
        epsilon=1,
        once=True,
    )
    assert isinstance(release.distribution, Staircase)
    assert all((value * 8).is_integer() for value in release.table["income"])
    assert release.noise.grid == Fraction(1, 8)
    assert release.margin() == (release.noise.drawn.margin("0.95") + 0.5) / 8
    silent = ut.release(
        table,
        ut.Promise(columns="income", noise=ut.CellNoise(ut.Unit(1, 1), numbers="reals", grid="1/8")),
        epsilon=200,
        once=True,
    )
    assert silent.table["income"] == [1234.5, 0.125, 0.375, 7.0]


def test_a_table_of_no_rows_is_refused():
    with pytest.raises(BadTable, match="one row"):
        ut.release({"n": []}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon="1/2", once=True)


@pytest.mark.parametrize("do", [ut.release, partial(ut.release, once=True)])
def test_a_column_that_nobody_declared_is_refused_by_name(do):
    """A column that is neither released nor public nor dropped was once published without noise."""
    promise = {"columns": "admitted", "epsilon": 1, "unit": ut.Unit(1, 1)}
    with pytest.raises(NotDeclared, match=r"'department', 'applicants'.*drop=.*public="):
        do(TABLE, **asked(**promise))
    with pytest.raises(NotDeclared, match="got 'applicants'"):
        do(TABLE, **asked(public="department", **promise))
    with pytest.raises(OutOfRange, match=r"'department'.*public= and drop="):
        do(TABLE, **asked(public=["department", "applicants"], drop=["department"], **promise))
    with pytest.raises(OutOfRange, match=r"'admitted'.*columns= and public="):
        do(TABLE, **asked(public=["department", "admitted"], drop="applicants", **promise))
    with pytest.raises(BadTable, match="no column 'sex'"):
        do(TABLE, **asked(public=["sex"], **promise))
    with pytest.raises(OutOfRange, match=r"^public"):
        do(TABLE, **asked(public=[3.5], **promise))


def test_a_dropped_column_is_nowhere_in_the_release():
    release = ut.release(TABLE, ut.Promise(columns="admitted", unit=ut.Unit(1, 1), **OTHERS), epsilon=1, once=True)
    assert list(release.table) == ["department", "admitted", "admitted_margin"]
    assert "applicants" not in str(release.statement)


def test_an_identifier_is_published_only_where_it_is_declared():
    table = {"id": ["x", "y"], "n": [1, 2]}
    with pytest.raises(NotDeclared, match="'id'"):
        ut.release(table, **asked(columns="n", id_column="id", **SILENT), once=True)
    assert "id" not in ut.release(table, **asked(columns="n", id_column="id", drop="id", **SILENT), once=True).table


def test_the_statement_says_where_the_rows_come_from():
    promise = {"columns": "n", "epsilon": 1, "unit": ut.Unit(1, 1)}
    said = ut.release({"n": [1, 2]}, **asked(**promise), once=True).statement
    assert said["promise"]["rows"] == "declared"
    assert said["guarantee"].endswith(
        "The promise also assumes that the list of rows would be the same without any one individual."
    )
    with pytest.warns(RowsObserved, match="list of rows"):
        said = ut.release({"n": [1, 2]}, **asked(rows="observed", **promise), once=True).statement
    assert said["promise"]["rows"] == "observed"
    assert "Which rows there are was found in the data: the promise does not cover it." in said["guarantee"]
    with pytest.raises(OutOfRange, match="declared, observed"):
        ut.release({"n": [1, 2]}, **asked(rows="sorted", **promise), once=True)


@pytest.mark.parametrize(
    "copy",
    [
        [601, 370, 322],
        [601.0, 370.0, 322.0],
        ["601", " 370", "322 "],
        np.array([601, 370, 322]),
        [Decimal(601), 370, 322],
    ],
    ids=["integers", "floats", "text", "array", "decimals"],
)
def test_a_public_copy_of_a_released_column_is_refused(copy):
    """Under another name it would reveal every true value, whatever the noise."""
    table = {"admitted": [601, 370, 322], "n": copy}
    with pytest.raises(BadTable, match=r"'n'.*'admitted'"):
        ut.release(table, ut.Promise(columns="admitted", public="n", unit=ut.Unit(1, 1)), epsilon=1, once=True)
    ut.release(
        table | {"n": [601, 370, 323]},
        ut.Promise(columns="admitted", public="n", unit=ut.Unit(1, 1)),
        epsilon=1,
        once=True,
    )


@pytest.mark.parametrize("row", [0, 63, 64, 199])
def test_a_public_column_that_differs_in_one_row_is_no_copy(row):
    """If the first rows are equal, every row is compared; otherwise only the first rows are read."""
    true = np.arange(200)
    near = true + (np.arange(200) == row)
    ut.release({"n": true, "m": near}, **asked(columns="n", public="m", **SILENT), once=True)
    with pytest.raises(BadTable, match="must not repeat"):
        ut.release({"n": true, "m": true.tolist()}, **asked(columns="n", public="m", **SILENT), once=True)


def test_nobody_changes_more_cells_than_there_are():
    with pytest.raises(OutOfRange, match=r"cells.*6.*7"):
        ut.release(
            {"a": [1, 2, 3], "b": [4, 5, 6]}, ut.Promise(columns=["a", "b"], unit=ut.Unit(1, 7)), epsilon=1, once=True
        )


@pytest.mark.parametrize(
    ("epsilon", "why"), [("10.01", "odds"), (4, "true ones"), (1000, "odds"), ("1/100", None), (3, None), ("3.6", None)]
)
def test_a_level_that_protects_nobody_is_warned_of_before_anything_is_drawn(epsilon, why):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ut.release({"n": [1]}, ut.Promise(columns="n", unit=ut.Unit(1, 1)), epsilon=epsilon, once=True)
    assert [one.category for one in said] == ([] if why is None else [LittleProtection])
    assert all(why in str(one.message) for one in said)


@pytest.mark.parametrize(
    ("neighbours", "cells", "joint"), [("add-remove", 1, True), ("add-remove", 2, False), ("change-one", 1, False)]
)
def test_optimality_of_all_cells_together_is_claimed_only_where_an_individual_changes_one(neighbours, cells, joint):
    """With cells=2 a joint distribution has mean error 1.43 at an alpha where independent noise has 1.92."""
    plan = ut.Promise(columns=["a", "b"], unit=ut.Unit(1, cells, neighbours)).once().at(1)
    together = "for the whole table and costs that add up over cells, since one individual changes only one cell"
    each = "This is proved for one cell at its share of epsilon. A whole table may have noise with smaller errors"
    assert plan.theorem.startswith("no other noise")
    assert plan.theorem.endswith(together if joint else each)


def test_arrays_stay_arrays_and_lists_stay_lists():
    release = ut.release(
        {"a": np.array([1, 2]), "b": [1, 2], "c": (1, 2)}, **asked(columns=["a", "b", "c"], **SILENT), once=True
    )
    assert [type(release.table[name]) for name in "abc"] == [np.ndarray, list, list]
    assert type(release.table["b"][0]) is int


@pytest.mark.parametrize(("epsilon", "distribution"), [(1, Staircase.half_step(1, 2)), (5, Laplace(5, 2))])
def test_relaxable_reals_use_half_steps_or_laplace(epsilon, distribution):
    """The one of smaller cost; on the grid both are distributions on the integers that can be relaxed without loss."""
    noise = ut.CellNoise(ut.Unit(2, 1), numbers="reals")
    plan = ut.Promise(columns="x", noise=noise).once(relaxable=True).at(epsilon)
    assert plan.distribution == distribution
    if isinstance(distribution, Staircase):
        assert 2 * plan.drawn.step == plan.drawn.sensitivity + 1
    else:
        assert isinstance(plan.drawn, Geometric)


def test_a_promise_has_its_margins_before_a_table_is_read():
    promise = ut.Promise("admitted", unit=ut.Unit(3, 2), **OTHERS).once("squared")
    answer = ut.release(TABLE, promise, epsilon=1, once=True)
    assert (answer.margin(), answer.distribution) == (promise.margin(1), promise.at(1).distribution)
    assert promise.at(1, confidence="0.99").margin == answer.margin("0.99")


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ("missing", BadTable, "no column 'missing'. None of the 3 columns"),
        ([], OutOfRange, "at least one column"),
        ("", OutOfRange, "at least one column"),
        (None, OutOfRange, "at least one column"),
        ([1.5], OutOfRange, "at least one column"),
        ([1], BadTable, "no column '1'"),
        (["admitted", "admitted"], OutOfRange, "each column once"),
        ("admited", BadTable, "Did you mean 'admitted'"),
        (["department"], BadTable, "must be an integer; got text"),
    ],
)
def test_columns_that_cannot_be_released_are_refused(columns, error, message):
    drop = [name for name in TABLE if not isinstance(columns, list) or name not in columns]
    with pytest.raises(error, match=message):
        ut.release(TABLE, **asked(columns=columns, drop=drop, **SILENT), once=True)


def test_the_identifier_is_no_number_to_release():
    with pytest.raises(OutOfRange, match="identifier"):
        ut.release({"n": [1, 2]}, **asked(columns="n", id_column="n", **SILENT), once=True)
    with pytest.raises(BadTable, match="no column 'id'"):
        ut.release({"n": [1, 2]}, **asked(columns="n", id_column="id", **SILENT), once=True)


def test_columns_of_different_lengths_are_no_table():
    with pytest.raises(BadTable, match="number of rows"):
        ut.release({"a": [1], "b": [1, 2]}, **asked(columns="a", **SILENT), once=True)


@pytest.mark.parametrize("missing", ["unit", "columns"])
def test_the_unit_of_privacy_has_no_default(missing):
    arguments = {"columns": "admitted", **OTHERS, **SILENT}
    del arguments[missing]
    with pytest.raises(OutOfRange, match="columns" if missing == "columns" else "largest change by one individual"):
        ut.release(TABLE, **asked(**arguments), once=True)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"epsilon": None}, NotALevel),
        ({"epsilon": 0}, NotALevel),
        ({"sensitivity": 0}, OutOfRange),
        ({"sensitivity": "1/2"}, NotANumber),
        ({"cells": 0}, OutOfRange),
        ({"cost": "cubic"}, OutOfRange),
        ({"cost": "moment:x"}, OutOfRange),
        ({"numbers": "complex"}, OutOfRange),
        ({"neighbours": "all"}, OutOfRange),
        ({"confidence": 1}, OutOfRange),
        ({"confidence": "likely"}, NotANumber),
        ({"grid": "1/8"}, OutOfRange),
        ({"grid": "1/3", "numbers": "reals"}, OutOfRange),
    ],
    ids=str,
)
def test_a_parameter_out_of_range_is_refused_before_the_table_is_read(change, error):
    with pytest.raises(error):
        ut.release({"admitted": [None]}, **asked(columns="admitted", **(SILENT | change)), once=True)


@pytest.mark.parametrize(
    "id_column", [5, ["row", "n"], np.array(["row", "n"]), object()], ids=lambda value: type(value).__name__
)
def test_an_identifier_must_be_named_by_text(id_column):
    with pytest.raises(OutOfRange, match=r"id_column must be"):
        ut.release(
            {"row": [1], "n": [2]},
            ut.Promise(columns="n", unit=ut.Unit(1, 1), id_column=id_column),
            epsilon=1,
            once=True,
        )


@pytest.mark.parametrize("cost", ["absolute", "squared", "moment:3", lambda x: abs(x) >= 20])
@pytest.mark.parametrize("grid", [8, 1, "1/4", None])
def test_what_is_claimed_of_reals_is_claimed_of_the_distribution_drawn(cost, grid):
    """Of all steps of the staircase on the grid, the drawn one has the least cost; cost and margin are computed for
    it."""
    plan = cell_noise_at(epsilon=2, unit=ut.Unit(3, 1), cost=cost, numbers="reals", grid=grid)
    drawn, width = plan.drawn, plan.grid
    steps = -(-3 // width)
    assert (drawn.level, drawn.sensitivity) == (level(2), steps)
    assert plan.margin == float((drawn.margin("0.95") + Fraction(1, 2)) * width)
    assert f"by at most {width / 2}" in plan.theorem
    if steps <= 12:
        goal = lambda x: plan.cost(x * float(width))  # noqa: E731
        costs = [float(DiscreteStaircase(2, steps, step=r).expected_cost(goal)) for r in range(1, steps + 1)]
        assert plan.expected_cost == pytest.approx(min(costs), rel=1e-9)
    if steps <= 12 or isinstance(cost, str):
        assert "has a smaller expected cost" in plan.theorem
    else:
        assert "not claimed" in plan.theorem


def test_a_coarse_grid_does_not_borrow_the_claim_of_the_reals():
    """The optimum on the reals costs .4255; the drawn noise at sensitivity 1 on a grid of 8 costs 2.206."""
    plan = cell_noise_at(epsilon=2, unit=ut.Unit(1, 1), numbers="reals", grid=8)
    assert plan.distribution.expected_cost(abs) == pytest.approx(0.4255, abs=1e-4)
    assert plan.expected_cost == pytest.approx(2.2058, abs=1e-4)
    assert "on the reals" not in plan.theorem
    release = ut.release(
        {"x": np.zeros(100_000)},
        ut.Promise(columns="x", noise=ut.CellNoise(ut.Unit(1, 1), numbers="reals", grid=8)),
        epsilon=2,
        once=True,
    )
    assert np.abs(release.table["x"]).mean() == pytest.approx(2.2058, rel=0.03)
    assert release.statement["noise"]["theorem"] == plan.theorem


@pytest.mark.parametrize("grid", [None, 1, 8])
def test_a_relaxable_distribution_on_a_grid_is_called_the_least_where_it_is(grid):
    plan = cell_noise_at(epsilon="1/2", unit=ut.Unit(8, 1), numbers="reals", grid=grid, relaxable=True)
    D = -(-8 // plan.grid)
    rivals = [Geometric("1/2", D), *([DiscreteStaircase.half_step("1/2", D | 1)] if D > 1 else [])]
    least = min(float(distribution.moment(1)) for distribution in rivals)
    is_best = "No noise that is known to allow this has a smaller expected cost" in plan.theorem
    said = is_best or "Theorem 11" in plan.theorem
    assert said == (float(plan.drawn.moment(1)) <= least)


@pytest.mark.parametrize("relaxable", [False, True])
def test_a_cost_need_not_be_hashable(relaxable):
    """NumPy's polynomials are not hashable; the noise is that of the same cost by name, and the theorem names the
    cost."""
    made = [
        ut.Promise("n", unit=ut.Unit(3, 1)).once(cost, relaxable=relaxable).at(level(1))
        for cost in (np.poly1d([1, 0, 0]), "squared")
    ]
    assert made[0].drawn == made[1].drawn
    assert all("cost" in noise.theorem or "lossless" in noise.theorem for noise in made)
