"""Optimal mechanisms for hundreds of places, with a proven gap, by column generation over extreme rays.

Run: PYTHONPATH=src python benchmarks/design/large_maps_are_designed_in_minutes.py [case ...]

A case is spaces,places,prior[,gap[,epsilon]]: grid, random (points of a square, one per unit of area), road (shortest
paths in a random geometric graph, which needs networkx) or towns (the largest of France, in units of 20 km); a number
of places; uniform, dirichlet, heavy (Pareto of index 1.1), sparse (Dirichlet with three fifths of the places empty),
france (examples/france_10x10.csv and france_20x20.csv, with empty places) or population (of towns). Loss: distance;
epsilon 1 per unit if left out. All places and all actions count. The gap that is asked for is relative to the loss,
1e-7 if left out.

Printed: seconds of processor in one thread for the search and for making and checking the certificate, rounds, and
the relative gap that the certificate proves, in rationals or rounded outward. A search ends after UTMOST_SECONDS of
processor, 600 if left out. Compilation by numba is left out (a small design comes first).
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np

from utmost.design.optima.column_generation import certificate_of_rays
from utmost.design.optima.tree_pricing import compile_if_it_pays
from utmost.design.spaces import losses
from utmost.interfaces.documents.consumer_files import prior_file
from utmost.privacy_types import PrivacyType
from utmost.spaces import Consumer, Space, grid

LIMIT = float(os.environ.get("UTMOST_SECONDS", "600"))  # of processor
CASES = (
    "grid,100,dirichlet grid,100,france random,100,dirichlet road,100,sparse random,196,heavy grid,400,uniform "
    "grid,400,dirichlet random,400,dirichlet grid,400,france grid,784,uniform grid,784,dirichlet random,1000,uniform"
)


def main():
    compiled()
    for case in sys.argv[1:] or CASES.split():
        design(case)


def compiled():
    """Let nothing be compiled later."""
    compile_if_it_pays(100)
    design("grid,16,dirichlet", shown=False)


def design(case, shown=True):
    kind, places, prior, *further = case.split(",")
    n, (gap, epsilon) = int(places), (*further, *("1e-7", "1")[len(further) :])
    space = SPACES[kind](n)
    consumer, ptype = Consumer(beliefs(prior, n), losses.distance(space)), PrivacyType(space, epsilon=epsilon)
    last = [0, 0.0]

    def keep(rounds, _):
        last[:] = rounds, time.process_time()
        if last[1] - start > LIMIT:
            raise KeyboardInterrupt  # ends the search with what is proven

    start = time.process_time()
    found = certificate_of_rays(ptype, consumer, gap=float(gap), progress=keep)
    end = time.process_time()
    if shown:
        print(
            f"{case:30} search {last[1] - start:6.1f} s, certificate {end - last[1]:5.1f} s, {last[0]:4} rounds, "
            f"loss {float(found.upper):.7f}, relative gap {float(found.gap / found.upper):.0e}",
            flush=True,
        )


def squares(n):
    side = round(n**0.5)
    return grid(side, side)


def points(n):
    at = np.random.default_rng(5).random((n, 2)) * np.sqrt(n)
    return Space(np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1)))


def roads(n):
    import networkx as nx

    at = np.random.default_rng(0).random((n, 2)) * np.sqrt(n)
    radius = 1.3
    while not nx.is_connected(graph := nx.random_geometric_graph(n, radius, pos=dict(enumerate(at)))):
        radius *= 1.1
    for u, v in graph.edges:
        graph[u][v]["weight"] = float(np.hypot(*(at[u] - at[v])))
    found = np.zeros((n, n))
    for u, ways in nx.all_pairs_dijkstra_path_length(graph):
        found[u, list(ways)] = list(ways.values())
    return Space(np.maximum(found, found.T))


def beliefs(kind, n):
    rng = np.random.default_rng(0)
    if kind == "france":
        side = round(n**0.5)
        return prior_file(f"weights:examples/france_{side}x{side}.csv", n).astype(float)
    if kind == "population":
        from a_city_of_400_places_end_to_end import towns as in_kilometres

        return np.asarray(in_kilometres(n)[1], dtype=float)
    weights = {
        "uniform": lambda: np.ones(n),
        "dirichlet": lambda: rng.dirichlet(np.ones(n)),
        "heavy": lambda: rng.pareto(1.1, n) + 1e-3,
        "sparse": lambda: rng.dirichlet(np.ones(n)) * (rng.random(n) >= 0.6),
    }[kind]()
    return weights / weights.sum()


def towns(n):
    from a_city_of_400_places_end_to_end import towns as in_kilometres

    return Space(np.asarray(in_kilometres(n)[0].distances, dtype=float) / 20)


SPACES = {"grid": squares, "random": points, "road": roads, "towns": towns}


if __name__ == "__main__":
    main()
