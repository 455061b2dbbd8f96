"""Places near each other are taken for one first, and parted later.

Between places of nearly one distribution prices are tied by nothing but privacy, and a search over all of them is lost
among wild ones. So each first answers as the heaviest place near it: that one gets its mass and its costs. What this
program's search has found begins the next, with smaller circles, in which each place has its share of the price, by
mass; the last one is over the places themselves (`utmost.design.optima.column_generation`).
"""

import numpy as np

from utmost.core.exact.arrays import Floats, Indices

_RADII = (1.0, 0.5, 0.25, 0.1)  # of circles, as epsilon times distance
_FEWER = 0.9  # of the places with mass: where more are centres, circles of this size spare nothing
_WORTH_IT = 0.75  # of the places with mass: how many are centres of the two middle sizes at most, on average


def merging_circles(distances: Floats, masses: Floats) -> list[Indices]:
    """The centre that represents each place, from the widest circles to the narrowest; none where few are near.

    No two centres of circles of one size are as near as their radius, each is a place with mass and remains a centre of
    all narrower ones; a place belongs to the nearest.

    Args:
        distances: (n, n) epsilon times distance.
        masses: (n,) not negative, not all 0.

    Cost: O(n^2) for each size.

    >>> at = np.array([0.0, 0.2, 5.0])
    >>> [near.tolist() for near in merging_circles(abs(at[:, None] - at), np.array([0.2, 0.5, 0.3]))]
    [[1, 1, 2], [1, 1, 2], [1, 1, 2]]
    """
    with_mass = [place for place in np.argsort(-masses, kind="stable") if masses[place] > 0]
    centres: list[np.intp] = []
    sizes, shares = [], []
    for radius in _RADII:
        for place in with_mass:
            if not centres or distances[place, centres].min() >= radius:
                centres.append(place)
        among = np.sort(np.array(centres))
        sizes.append(among[distances[:, among].argmin(axis=1)])
        shares.append(len(centres) / len(with_mass))
    if np.mean(shares[1:3]) > _WORTH_IT:
        return []
    return [near for near, share in zip(sizes, shares, strict=True) if share <= _FEWER]


def sum_at_centres(values: Floats, near: Indices) -> Floats:
    """(.., n): of values (.., n) of all places, at each centre the sum of those that it stands for, and else 0."""
    sums = np.zeros_like(values)
    np.add.at(sums.T, near, values.T)
    return sums


def share_by_mass(values: Floats, near: Indices, masses: Floats) -> Floats:
    """Shares (n,) of the values (n,) at centres, for each place by its mass; `sum_at_centres` undoes this.

    >>> near, masses = np.array([0, 0, 2]), np.array([3.0, 1.0, 1.0])
    >>> share_by_mass(sum_at_centres(np.array([1.0, 1.0, 5.0]), near), near, masses).tolist()
    [1.5, 0.5, 5.0]
    """
    return np.asarray(values[near] * masses / sum_at_centres(masses, near)[near])
