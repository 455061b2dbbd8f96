"""One class of table for every answer: the same methods for every kind of input, and the same type for every file."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import utmost as ut
from every_format import WRITTEN

COLUMNS = {"town": ["Ash", "Elm", "Oak"], "n": [12, 7, 30]}
PROMISE = ut.Promise("n", public="town", unit=ut.Unit(1, 1))
ENDINGS = (*WRITTEN, ".csv.gz")


def check_verbs(table, values):
    """Check that every method gives the same columns."""
    assert list(table) == list(values) == ["town", "n", "n_margin"]
    assert table.rows == 3
    assert {name: list(column) for name, column in dict(table).items()} == values
    assert table.to_pandas().to_dict("list") == values
    assert table.to_polars().to_dict(as_series=False) == values
    assert table.to_arrow().to_pydict() == values
    assert pa.table(table).to_pydict() == values
    card = table._repr_html_()
    assert "<svg" in card
    assert f"{values['n'][0]} ± {values['n_margin'][0]}" in card


@pytest.mark.parametrize("array", [list, np.array])
def test_columns_give_a_table(array):
    answer = ut.release({name: array(column) for name, column in COLUMNS.items()}, PROMISE, epsilon=1)
    assert isinstance(answer.table, ut.Table)
    assert isinstance(answer.table, dict)
    values = {name: list(column) for name, column in answer.table.items()}
    check_verbs(answer.table, values)
    again = pickle.loads(pickle.dumps(answer.table))
    assert type(again) is ut.Table
    assert {name: list(column) for name, column in again.items()} == values
    assert isinstance(answer.with_confidence("0.99").table, ut.Table)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_gives_a_table_and_is_read_back_as_one(ending, tmp_path):
    answer = ut.release(COLUMNS, PROMISE, epsilon=1)
    answer.save(tmp_path / f"r{ending}")
    read = ut.read_release(tmp_path / f"r{ending}")
    assert type(read.table) is ut.Table
    check_verbs(read.table, dict(answer.table))
    assert read.total() == answer.total()
    read.table.write(tmp_path / f"w{ending}")
    with pytest.raises(ut.errors.Unsupported):
        read.table.write(tmp_path / f"w{ending}")
    read.table.write(tmp_path / f"w{ending}", overwrite=True)
    assert not (tmp_path / f"w{ending}.json").exists()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_dataframe_gives_one_of_its_kind(frame):
    assert type(ut.release(frame(COLUMNS), PROMISE, epsilon=1).table) is type(frame(COLUMNS))


def test_marginals_are_tables_and_answers_have_cards():
    domain = ut.Domain(sex=["m", "w"], age=ut.workloads.edges([0, 18, 65, None]))
    people = {"sex": ["m", "w"] * 200, "age": [*range(100)] * 4}
    counted = ut.count_table(people, domain, ut.Counting(each_row=True))
    plan = ut.choose_plan(ut.Workload(domain, {"sex age": 1, "sex": 1}), counted.unit, epsilon=1)
    release = ut.release(counted, plan, epsilon=1)
    assert type(release["sex"]) is ut.Table
    assert release["sex"].to_pandas().columns.tolist() == ["sex", "count", "count_margin"]
    ratio, median, total = release.ratio({"sex": "m"}, {}), release.median("age"), release.total({"sex": "m"})
    for value in (ratio, median, total, release.statement, release["age sex"]):
        assert value._repr_html_().startswith("<div")
    assert str(release.statement["guarantee"])[:20] in release.statement._repr_html_()
    assert Path(ut.__file__).parent.name not in ratio._repr_html_()
    assert type(release.clean()["sex"]) is ut.Table


def test_a_table_of_several_amounts_is_one():
    people = {"region": ["N", "N", "S"], "income": [20, 40, 30], "rent": [5, 9, 7]}
    measures = {"income": ut.mean("income", each=(0, 100)), "rent": ut.mean("rent", each=(0, 20))}
    tables = ut.count_measures(people, ut.Domain(region=["N", "S"]), ut.Counting(each_row=True), measures)
    table = ut.releases.release_measures(tables, epsilon=2000).table
    assert type(table) is ut.Table
    assert table.to_pandas()["income_sum"].tolist() == [60, 30]
