"""Small examples with known results, for the parts of counting that no public name gives alone."""

import numpy as np

from utmost.publish.counting.added_cells import AddedCells
from utmost.publish.counting.bounding import begins, least_in_runs
from utmost.publish.counting.counting_report import percent_lost
from utmost.publish.counting.numbered_cells import NumberedCells


def test_cells_of_several_parts_are_added_up():
    added = AddedCells.of([(np.array([7, 1]), np.array([2, 1])), (np.array([7]), np.array([3]))])
    assert (added.cells.tolist(), added.sums.tolist()) == ([1, 7], [1, 5])


def test_of_equal_marks_the_first_are_kept():
    assert begins(np.array([3, 3, 7]), np.array([1, 2, 2])).tolist() == [True, True, True]
    marks = np.array([3, 1, 2, 5, 5, 5], dtype=np.uint64)
    kept = least_in_runs(marks, np.array([0, 3]), np.array([3, 3]), 2)
    assert kept.tolist() == [False, True, True, True, True, False]


def test_no_loss_is_shown_as_zero_per_cent():
    assert [percent_lost(71, 10000), percent_lost(1, 10**7), percent_lost(179, 1000)] == ["0.8 %", "0.1 %", "18 %"]


def test_cells_of_a_vast_domain_are_found_by_their_hashes():
    cells = NumberedCells((10,) * 100, 60, b"key")
    numbers = cells.numbers(np.arange(300).reshape(100, 3) % 10)
    few = cells.few(numbers[[2, 0]], np.array([7, 8]))
    assert (few.places[:2].tolist(), few.numbers.tolist()) == ([[0, 2], [3, 5]], [8, 7])
