"""Where the members of a network are drawn: as far from each other as they are in the network, as well as can be."""

import numpy as np
from numpy.typing import NDArray

from utmost.spaces import graph

_ROUNDS = 300


def layout(edges: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
    r"""A place in the plane for each member, by stress majorisation.

    Minimises the sum over pairs of d^-2 (|p - q| - d)^2, for d the length of the shortest path, from a circle of all
    members in their order; each round is a step that cannot increase it.

    >>> places = layout([("a", "b"), ("b", "c")])
    >>> round(abs(complex(*places["a"]) - complex(*places["c"])), 1)
    2.0
    """
    space = graph(edges)
    d = np.asarray(space.distances, dtype=float)
    n = len(d)
    weights = 1 / np.where(d > 0, d, 1) ** 2 - np.eye(n)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    inverse = np.linalg.inv(laplacian + np.ones((n, n)) / n)
    turns = 2 * np.pi * np.arange(n) / n
    places: NDArray[np.float64] = np.stack([np.cos(turns), np.sin(turns) * 0.8 + 0.01 * turns], axis=1) * d.max() / 2
    for _ in range(_ROUNDS):
        apart = places[:, None] - places[None, :]
        length = np.sqrt((apart**2).sum(axis=2)) + np.eye(n)
        pull = weights * d / np.maximum(length, 1e-9)
        places = inverse @ ((np.diag(pull.sum(axis=1)) - pull) @ places)
    # The longest axis lies flat.
    places = places @ np.linalg.svd(places, full_matrices=False)[2].T
    return {str(name): (float(x), float(y)) for name, (x, y) in zip(space.labels, places, strict=True)}
