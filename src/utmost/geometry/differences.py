"""Vertices as numbers that keep their digits at every level."""

import numpy as np
from numpy.typing import NDArray

from utmost.geometry.vertices import Vertices


def scaled_differences(vertices: Vertices) -> NDArray[np.float64]:
    """v(0) and (v(x) - v(0)) / (1 - alpha), (n, N), each number from intervals wide enough to keep its digits."""
    powers = vertices.powers
    pairs = np.concatenate(
        [np.broadcast_to(vertices.exponents[:, :1], vertices.exponents.shape), vertices.exponents], 2
    )
    flat = pairs.reshape(-1, pairs.shape[-1])
    different, which = np.unique(flat, axis=0, return_inverse=True)
    half = different.shape[1] // 2
    gaps = np.array([powers.difference(tuple(map(int, d[half:])), tuple(map(int, d[:half]))) for d in different])
    table = gaps[which.reshape(-1)].reshape(pairs.shape[:2]).T.copy()
    table[0] = powers.floats(vertices.exponents[:, 0])
    return table
