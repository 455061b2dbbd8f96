"""Small examples with known results, for the parts of counting that no public name gives alone."""

import numpy as np

from utmost.publish.counting.added_cells import AddedCells
from utmost.publish.counting.counting_report import percent_lost


def test_cells_of_several_parts_are_added_up():
    added = AddedCells.of([(np.array([7, 1]), np.array([2, 1])), (np.array([7]), np.array([3]))])
    assert (added.cells.tolist(), added.sums.tolist()) == ([1, 7], [1, 5])


def test_no_loss_is_shown_as_zero_per_cent():
    assert [percent_lost(71, 10000), percent_lost(1, 10**7), percent_lost(179, 1000)] == ["0.8 %", "0.1 %", "18 %"]
