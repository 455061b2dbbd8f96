"""Fernandes, McIver, Palamidessi and Ding (2022): Figures 1 to 8, Tables 4 to 7, the theorems, and their repairs."""

from collections.abc import Iterator

from utmost.adapters.reproduce.comparison import Comparison
from utmost.adapters.reproduce.fernandes_figures import figures_1_to_3, figures_6_and_7, kernel_figures
from utmost.adapters.reproduce.fernandes_tables import tables
from utmost.adapters.reproduce.fernandes_theorems import characterisation, optimality


def fernandes(long: bool = False) -> Iterator[Comparison]:
    """Every comparison, in the order of the paper.

    Args:
        long: also what takes minutes: the kernels of the line of 7, an estimate for 9 points of the plane.
    """
    yield from figures_1_to_3()
    yield from characterisation()
    yield from optimality(long)
    yield from tables(long)
    yield from figures_6_and_7()
    yield from kernel_figures()
