"""One noise at every entrance, judged by the draws only: the protected individual, the number of cells, the
distribution. At each entrance, for both neighbouring relations, one and two columns, geometric and half-step noise, the
draws are a uniform block plus block times geometric noise of level * block / (charged cells * sensitivity), which is
computed here again; two columns share neither noise nor position in the block."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import utmost as ut
from asking import asked
from goodness import LEVEL, chi_square
from utmost.exact import level
from utmost.ledger import Ledger
from utmost.noise import Geometric
from utmost.privacy import Unit
from utmost.releases import GradualRelease, KeySelection

# The pieces of a file are made by a command alone.
from utmost.tables.files import csv_table, files

ROWS = 3000
TRUE = 7


def table_of(names):
    return {"id": list(range(ROWS)), **{name: [TRUE] * ROWS for name in names}}


def duckdb_of(names):
    return pytest.importorskip("duckdb").from_arrow(pl.DataFrame(table_of(names)).to_arrow())


def lazy_of(names):
    return pl.LazyFrame(table_of(names))


def columns_of(made, names):
    if isinstance(made, pl.LazyFrame):
        made = made.collect()
    elif hasattr(made, "to_arrow_table"):
        made = pl.from_arrow(made.to_arrow_table())
    return [np.asarray(made[name], np.int64) - TRUE for name in names]


def by_release(made, unit, at, half_step):
    """Draws of a single release, and whether it chose the staircase, as relaxable noise may."""

    def door(names, folder):
        where = {"columns": names, "drop": "id", "id_column": "id", "unit": unit, "epsilon": at}
        release = ut.release(made(names), **asked(**where, relaxable=True), once=True)
        block = 1 if isinstance(release.noise.drawn, Geometric) else int(unit.sensitivity)
        return columns_of(release.table, names), block

    return door


def by_stream(unit, at, half_step):
    def door(names, folder):
        pl.DataFrame(table_of(names)).write_csv(folder / "t.csv")
        csv_table.register()
        where = {"columns": names, "drop": "id", "id_column": "id", "unit": unit, "epsilon": at}
        release = ut.release(
            csv_table.CsvPieces(csv_table.read(folder / "t.csv")), **asked(**where, relaxable=True), once=True
        )
        with (folder / "out.csv").open("w+b") as file:
            files.write(release.table, file, folder / "out.csv")
        block = 1 if isinstance(release.noise.drawn, Geometric) else int(unit.sensitivity)
        return columns_of(pl.read_csv(folder / "out.csv"), names), block

    return door


def by_memory(kind, unit, at, half_step):
    def door(names, folder):
        values = {name: np.full(ROWS, TRUE) for name in names}
        release = kind(values, unit, half_step)
        return columns_of(release(at), names), int(unit.sensitivity) if half_step else 1

    return door


def by_ledger(made, noise, unit, at, half_step, *, relaxed=False):
    def door(names, folder):
        where = {"columns": names, "drop": "id", "unit": unit, "half_step": half_step}
        where |= {"id_column": "id"} | ({"noise": noise} if noise else {})
        with Ledger.open(folder / "l.db", create=True, witness=False) as ledger:
            found = ledger.publish("t", made(names), **asked(**where, epsilon=Fraction(at, 3) if relaxed else at)).table
            if relaxed:
                found = ledger.relax("t", made(names), epsilon=at).table
            return columns_of(found, names), int(unit.sensitivity) if half_step else 1

    return door


def gradual(values, unit, half_step):
    release = GradualRelease(np.array([*values.values()]), unit=unit, half_step=half_step)
    release.at(epsilon="1/7")
    return lambda at: dict(zip(values, release.at(epsilon=at), strict=True))


DOORS = {
    "once": lambda *how: by_release(table_of, *how),
    "once, DuckDB": lambda *how: by_release(duckdb_of, *how),
    "once, lazy Polars": lambda *how: by_release(lazy_of, *how),
    "a file in pieces": lambda *how: by_stream(*how),
    "GradualRelease": lambda *how: by_memory(gradual, *how),
    "a ledger, by rows": lambda *how: by_ledger(table_of, "rows", *how),
    "a ledger, by items": lambda *how: by_ledger(table_of, "items", *how),
    "a ledger, DuckDB": lambda *how: by_ledger(duckdb_of, None, *how),
    "a ledger, lazy Polars": lambda *how: by_ledger(lazy_of, None, *how),
    "a ledger, relaxed by rows": lambda *how: by_ledger(table_of, "rows", *how, relaxed=True),
    "a ledger, relaxed by DuckDB": lambda *how: by_ledger(duckdb_of, None, *how, relaxed=True),
}
AT = 2


def cdf(step, block):
    """The distribution function of a uniform block plus block times geometric noise of a level."""
    alpha = np.exp(-float(step))
    reach = block * (int(80 / float(step)) + 2)
    near = np.arange(-reach, reach + 1)
    coarse = np.floor_divide(near + block // 2, block)
    mass = (1 - alpha) / (1 + alpha) * alpha ** np.abs(coarse) / block
    below = np.cumsum(mass)
    return lambda k: np.where(k < -reach, 0.0, np.where(k > reach, 1.0, below[np.clip(k + reach, 0, 2 * reach)]))


@pytest.mark.parametrize(
    ("neighbours", "many", "half_step"),
    [("add-remove", 1, False), ("change-one", 2, True)],
)
@pytest.mark.parametrize("door", DOORS)
def test_every_door_draws_the_noise_that_is_promised(door, neighbours, many, half_step, tmp_path):
    unit, names = Unit(5 if half_step else 2, many, neighbours), ["a", "b"][:many]
    noise, block = DOORS[door](unit, AT, half_step)(names, tmp_path)
    charged = many * (2 if neighbours == "change-one" else 1)
    step = Fraction(AT * block, charged * int(unit.sensitivity))
    for column in noise:
        assert chi_square(column, cdf(step, block)) > LEVEL
    if many == 2:
        same = float(np.mean((noise[0] - noise[1]) % block == 0)) if block > 1 else 0.2
        assert abs(same - 1 / 5) < 0.06, "the places in a block are shared"
        ranks = [np.argsort(np.argsort(column)) for column in noise]
        assert abs(np.corrcoef(*ranks)[0, 1]) < 0.12


@pytest.mark.parametrize("neighbours", ["add-remove", "change-one"])
@pytest.mark.parametrize("half_step", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 3, 5, 10**9 + 1])
@pytest.mark.parametrize("cells", [1, 4])
def test_a_step_has_its_share_of_the_level_exactly(sensitivity, cells, half_step, neighbours):
    unit = Unit(sensitivity, cells, neighbours)
    lattice = ut.CellNoise(unit, half_step=half_step).lattice
    assert (lattice.cells, lattice.block) == (unit.epsilon_parts, sensitivity if half_step else 1)
    assert unit.epsilon_parts == cells * (1 + (neighbours == "change-one"))
    for epsilon in (Fraction(1, 10**6), Fraction(2, 3), Fraction(50)):
        assert lattice.of(level(epsilon)).epsilon == epsilon * lattice.block / (unit.epsilon_parts * sensitivity)


def test_each_delta_names_what_was_named_and_as_many_as_it_says():
    """One draw for each key at all deltas: selected keys stay selected, and each list has the stated probability."""
    keys = KeySelection({f"key {n}": 1 for n in range(ROWS)}, epsilon=1)
    named = set()
    for delta in (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2)):
        now, chance = (
            set(keys.at(delta).keys),
            float(ut.promises.key_noise(delta=delta).distribution(level(1)).chance(1)),
        )
        assert named <= now
        assert abs(len(now) / ROWS - chance) < 6 * (chance * (1 - chance) / ROWS) ** 0.5
        named = now
