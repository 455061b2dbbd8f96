"""Cells that no wanted answer reads are left out of a plan where an individual then changes fewer of them."""

import numpy as np
import pytest

from utmost import Unit, read_release, release
from utmost.counting import CountedTable
from utmost.errors import OutOfRange
from utmost.workloads import Domain, Workload, choose_plan, read_plan, save_plan

DOMAIN = Domain(department=list("ABC"), sex=["men", "women"])
CELLS = np.array([[100, 1], [200, 2], [300, 3]])
COUNTS = Unit(1, 8, nonnegative=True)


@pytest.mark.parametrize(
    ("wanted", "unit", "shape", "cells", "variance"),
    [
        ({"department=B sex=men": 1}, Unit(1, 6), (1, 1), 1, 1.841),
        ({"department=B": 1}, Unit(1, 6), (1, 2), 2, 7.835),
        ({"department sex=men": 1}, COUNTS, (3, 1), 3, 6.440),
        ({"department sex": 1}, Unit(1, 6), (3, 2), 6, None),  # all are read
        ({"department=B sex=men": 1}, Unit(1, 1), (3, 2), 1, 1.841),  # nothing is gained
    ],
)
def test_an_individual_changes_no_more_cells_than_are_read(wanted, unit, shape, cells, variance):
    plan = choose_plan(Workload(DOMAIN, wanted), unit, epsilon=1)
    assert (plan.domain.shape, plan.unit.cells) == (shape, cells)
    assert (plan.narrowed_from is None) == (shape == DOMAIN.shape)
    assert plan.charge <= 1
    if variance is not None:
        assert plan.value == pytest.approx(variance, rel=1e-3)


def test_the_cells_that_are_read_are_released_relaxed_saved_and_read(tmp_path):
    plan = choose_plan(Workload(DOMAIN, {"department sex=men": 1, "sex=men": 1}), COUNTS, epsilon=1, up_to=30)
    save_plan(plan, tmp_path / "plan.json")
    assert read_plan(tmp_path / "plan.json").narrowed_from.same_as(DOMAIN)
    table = CountedTable(DOMAIN, CELLS, COUNTS)
    answer = release(table, read_plan(tmp_path / "plan.json"), epsilon=1)
    exact = answer.release.at(30).table
    assert np.allclose(exact["department sex=men"]["count"], [100, 200, 300], atol=2)
    assert abs(float(exact.total({"sex": "men"}).value) - 600) < 4
    answer.table.save(tmp_path / "released.json")
    assert read_release(tmp_path / "released.json")["department"]["department"].tolist() == ["A", "B", "C"]
    with pytest.raises(OutOfRange, match="plan's domain"):
        release(CountedTable(plan.domain, CELLS[:, :1], COUNTS), plan, epsilon=1)
    with pytest.raises(OutOfRange, match="smaller"):
        release(CountedTable(DOMAIN, CELLS, Unit(2, 8, nonnegative=True)), plan, epsilon=1)


def test_a_total_is_public_no_more_where_a_record_may_leave_the_cells_that_are_read():
    exactly = Unit(1, 3, "change-one", nonnegative=True, exactly=True)
    plan = choose_plan(Workload(DOMAIN, {"department=A sex=men": 1, "department=B sex=men": 1}), exactly, epsilon=1)
    assert (plan.domain.shape, plan.unit.exactly, plan.unit.cells) == ((2, 1), False, 2)
