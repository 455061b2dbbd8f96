"""What a recipient sees depends on the data through the noise only: types, lengths, order, names, digits, files.
Planted noise turns two data sets into the same response; then everything must be equal."""

import io
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import utmost as ut
from asking import asked

# Noise is planted where it is added.
from utmost.core.sampling.grid import snapped
from utmost.core.sampling.integers import narrowed
from utmost.errors import BadTable, NotANumber, UtmostError
from utmost.exact import objects
from utmost.ledger import Ledger
from utmost.local import PermanentResponses
from utmost.noise import Geometric, Laplace
from utmost.publish.promises import level_steps
from utmost.publish.promises import values as values_file
from utmost.releases import GradualRelease, add_noise, bridge, relax, tighten
from utmost.tables.files import csv_table, files
from utmost.tables.frames import dataframes

for adapter in (csv_table, dataframes):
    adapter.register()

ENDS = [0, 1, -7, 2**62, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**40, -(10**40)]
wholes = st.sampled_from(ENDS) | st.integers(-(2**70), 2**70)
PROMISE = {"epsilon": 1, "sensitivity": 1, "cells": 1}


def as_some_type(value, kind):
    """The same integer as a float, Decimal, Fraction or NumPy integer, if that type can hold it."""
    if kind in (np.int64, np.uint64):
        return kind(value) if np.iinfo(kind).min <= value <= np.iinfo(kind).max else value
    if kind is float:
        return float(value) if abs(value) < 10**300 and int(float(value)) == value else value
    return kind(value)


@st.composite
def neighbours(draw):
    """A response, and two columns that noise can turn into it: any numbers, each of any type."""
    size = draw(st.integers(1, 4))
    target = draw(st.lists(wholes, min_size=size, max_size=size))
    kinds = st.sampled_from([int, float, Decimal, Fraction, np.int64, np.uint64])
    columns = [[as_some_type(draw(wholes), draw(kinds)) for _ in range(size)] for _ in range(2)]
    return target, *columns


def planting(target, column, exponent=None):
    """Noise that turns the column into the target; in a narrow integer type where possible, as real draws are."""
    true = list(map(int, column)) if exponent is None else snapped(objects(map(Fraction, column)), exponent).tolist()
    noise = np.empty(len(true), object)
    noise[:] = [t - x for t, x in zip(target, true, strict=True)]
    return lambda *_, **__: iter([narrowed(noise)])


def response(monkeypatch, target, column, made, exponent=None):
    """Everything that a column with planted noise is released as, to the last byte."""
    plant = planting(target, column, exponent)
    with monkeypatch.context() as planted:
        for module in (values_file, level_steps):
            planted.setattr(module, "draws", plant)
        planted.setattr(values_file, "sample", lambda *_, **__: int(next(plant())[0]))
        return pickle.dumps(made(column))


def table(column, kind):
    """A released table of some kind, as a recipient sees it: names, types, cells."""
    frames = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
    if kind in frames:
        # A dataframe's own types are public; its cells come as one column of objects.
        column = pd.Series(column, dtype=object) if kind == "pandas" else column
        made = ut.release(frames[kind]({"n": column}), **asked(columns="n", **PROMISE), once=True).table
        return str(made.schema if kind != "pandas" else dict(made.dtypes)), [*map(int, made["n"].to_numpy())]
    array = np.empty(len(column), object)
    array[:] = column
    made = ut.release({"n": array if kind == "array" else column}, **asked(columns="n", **PROMISE), once=True).table
    return made, made["n"].dtype if kind == "array" else [*map(type, made["n"])]


ON_INTEGERS = {
    "release of a list": lambda x: add_noise(x, Geometric(1)),
    "release of a number": lambda x: [add_noise(x[0], Geometric(1))],
    "gradual release": lambda x: GradualRelease(x, 1).at(epsilon=1),
    "table of lists": lambda x: table(x, "list"),
    "table of arrays": lambda x: table(x, "array"),
    "pandas": lambda x: table(x, "pandas"),
}


@pytest.mark.parametrize("made", ON_INTEGERS.values(), ids=ON_INTEGERS)
@given(found=neighbours())
@example(found=([2**63], [2**63 - 1], [10**40]))
@example(found=([5, 6], [3, 4], [3, 4.0]))
@example(found=([0, 0], [2**63, 1], [0, 1]))
def test_one_response_looks_the_same_whatever_was_noised_to_it(made, found):
    target, one, other = found
    monkeypatch = pytest.MonkeyPatch()
    response(monkeypatch, target, one, made)  # what the first call caches is shared with its own answer alone
    assert response(monkeypatch, target, one, made) == response(monkeypatch, target, other, made)


ON_REALS = {
    "release of a list": lambda x: add_noise(x, Laplace(1), grid="1/4"),
    "release of a number": lambda x: [add_noise(x[0], Laplace(1), grid="1/4")],
    "gradual release": lambda x: GradualRelease(x, 1, numbers="reals", grid="1/4").at(epsilon=1),
    "table": lambda x: ut.release({"n": x}, **asked(columns="n", numbers="reals", grid="1/4", **PROMISE), once=True),
}


@pytest.mark.parametrize("made", ON_REALS.values(), ids=ON_REALS)
@given(found=neighbours(), half=st.booleans())
@example(found=([5, 6], [3, 4], [3, 4.0]), half=True)
def test_one_response_on_the_reals_looks_the_same_whatever_was_noised_to_it(made, found, half):
    """Also if only one of the columns consists of integers."""
    target, one, other = found
    if half:
        other = [*other[:-1], 6.5]
    monkeypatch = pytest.MonkeyPatch()
    response(monkeypatch, target, one, made, 2)
    assert response(monkeypatch, target, one, made, 2) == response(monkeypatch, target, other, made, 2)


def seen(answer):
    """The type of an answer with all inner types, without its numbers."""
    if isinstance(answer, dict):
        return {name: seen(one) for name, one in answer.items()}
    return (type(answer), answer.dtype, answer.shape) if isinstance(answer, np.ndarray) else type(answer)


NEIGHBOURS = [
    ([3, 4, 5, 6], [3, 4, 5, 7]),
    ([3, 4, 5, 6], [3, 4, 5, 6.0]),
    ([3, 4, 5, 6], [3.0, 4.0, 5.0, 6.0]),
    ([3, 4, 5, 6], [Decimal(3), Fraction(4), np.int8(5), 6]),
]


@pytest.mark.parametrize("numbers", ["integers", "reals"])
@pytest.mark.parametrize(("one", "other"), [*NEIGHBOURS, ([3, 4, 5, 6], [3, 4, 5, 6.5])])
def test_neighbours_get_answers_of_one_type(one, other, numbers, tmp_path):
    """[3, 4, 5, 6.5] is a neighbour on the reals only; on the integers it is refused, and only the curator sees
    this."""
    noise = ut.CellNoise(ut.Unit(1, 1), numbers)
    calls = {
        "gradual": lambda x: GradualRelease(x, 1, numbers=numbers).at(epsilon=1),
        "relax": lambda x: relax(x, 1, 2, cell_noise=noise),
        "tighten": lambda x: tighten(x, 2, 1, cell_noise=noise),
        "bridge": lambda x: bridge(x, x, 1, 2, 3, cell_noise=noise),
        "distribution": lambda x: add_noise(x, Geometric(1) if numbers == "integers" else Laplace(1)),
        "table": lambda x: ut.release(
            {"n": x, "k": [1] * 4}, **asked(columns="n", public="k", numbers=numbers, **PROMISE), once=True
        ).table["n"],
    }
    for name, call in calls.items():
        if numbers == "integers" and other[-1] == 6.5:
            with pytest.raises((NotANumber, BadTable)) as refused:
                call(other)
            assert "6.5" not in str(refused.value), name
            assert "3" not in str(refused.value).replace("[3]", "").replace("(index 3)", ""), name
        else:
            assert seen(call(one)) == seen(call(other)), name


def test_a_ledger_answers_neighbours_in_one_type(tmp_path):
    answers = []
    for at, (one, other) in enumerate([([3, 4], [3, 4.0]), ([2**62, 1], [2**62, 2]), ([3.5, 4], [3, 4.0])]):
        for side, column in enumerate((one, other)):
            options = {"columns": "n", "numbers": "reals" if at == 2 else "integers"} | PROMISE
            with Ledger.open(tmp_path / f"{at}{side}.db", create=True, key=bytes(range(32))) as ledger:
                first = ledger.publish("r", {"n": column}, **asked(**options)).table
                higher, lower = ledger.relax("r", {"n": column}, epsilon=2).table, ledger.view("r", epsilon="1/2").table
            answers.append([[*map(type, each["n"])] for each in (first, higher, lower)])
        assert answers[-1] == answers[-2]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
@pytest.mark.parametrize("numbers", ["integers", "reals"])
def test_dataframes_of_neighbours_get_one_schema(library, numbers):
    """Their types are public; a float column of integers is released as ``numbers`` says."""
    schemas = set()
    for column in ([3, 4], [3.0, 4.0], np.array([3, 4], np.uint8), np.array([3.0, 4.0], np.float32)):
        made = ut.release(
            library({"n": column, "k": [1, 2]}), **asked(columns="n", public="k", numbers=numbers, **PROMISE), once=True
        ).table
        schemas.add(str(dict(made.dtypes)["n"]) if library is pd.DataFrame else str(made.schema))
    assert len(schemas) == 1


def test_csv_files_of_neighbours_differ_by_the_noise_alone(tmp_path, monkeypatch):
    """With planted noise both files are equal, however the cells were written."""
    found = set()
    for at, cells in enumerate(["3 4", "3.0 4", "30e-1 +4", "9223372036854775808 -1", "1e40 0"]):
        path = tmp_path / f"{at}.csv"
        path.write_text("n\n" + "\n".join(cells.split()) + "\n")
        monkeypatch.setattr(values_file, "draws", planting([17, 2**63], [*map(Decimal, cells.split())]))
        out = io.BytesIO()
        files.write_text(ut.release(csv_table.read(path), **asked(columns="n", **PROMISE), once=True).table, out)
        found.add(out.getvalue())
    assert found == {b"n,n_margin\n17,3\n9223372036854775808,3\n"}


SECRET = "9876543"
REFUSED = {
    "release": lambda: add_noise([1, "9876543x"], Geometric(1)),
    "release of reals": lambda: add_noise([1.0, "9876543x"], Laplace(1)),
    "gradual": lambda: GradualRelease([9876543.5], 1),
    "relax off the grid": lambda: relax(
        [0.5, 9876543.3], 1, 2, cell_noise=ut.CellNoise(ut.Unit(1, 1), "reals", grid="1/4")
    ),
    "a table's cell": lambda: ut.release({"n": [1, 9876543.5]}, **asked(columns="n", **PROMISE), once=True),
    "a table's text": lambda: ut.release({"n": [1, "9876543x"]}, **asked(columns="n", **PROMISE), once=True),
    "an identifier": lambda: ut.release(
        {"id": [9876543, 9876543], "n": [1, 2]}, **asked(columns="n", id_column="id", public="id", **PROMISE), once=True
    ),
    "a column that is text": lambda: ut.release({"n": "9876543"}, **asked(columns="n", **PROMISE), once=True),
    "a column that is a set": lambda: ut.release({"n": {9876543}}, **asked(columns="n", **PROMISE), once=True),
    "a file without a header": lambda: ut.release({"9876543": [1]}, **asked(columns="n", **PROMISE), once=True),
    "bits": lambda: PermanentResponses([0, 9876543]),
}


@pytest.mark.parametrize("refused", REFUSED.values(), ids=REFUSED)
def test_no_refusal_tells_what_the_data_are(refused):
    with pytest.raises(UtmostError) as found:
        refused()
    shown = f"{found.value} {found.value!r} {found.value.came!r} {found.value.args} {found.value.remedy}"
    assert SECRET not in shown
    assert found.value.__cause__ is None
