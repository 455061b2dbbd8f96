"""Cells of files beside the cells that their statement implies.

The comparison is imported from where it is: a file with such a cell is refused by its digest before cells are compared.
"""

from utmost.publish.promises.statement import unlike


def test_cells_of_files_are_compared_as_numbers_blanks_or_text():
    assert [unlike("3", 3.0), unlike("", None), unlike("01", "1"), unlike("x", 3)] == [False, False, True, True]
