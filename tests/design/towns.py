"""The inhabitants of cells of a grid, from the files beside the examples."""

import csv


def weights_of(path, size):
    """How many live in each cell; none where the file has no line."""
    weights = [0] * size
    with open(path, encoding="utf-8", newline="") as file:
        for cell, inhabitants in csv.reader(file):
            weights[int(cell)] = int(inhabitants)
    return weights
