"""Merge near places (secrets) for the first searches of a column generation, and separate them later.

Places that are close to each other have nearly the same row of a channel, so the prices of single places are hardly
determined, and a search over all places spends many rounds at extreme prices. So in the first search each place is
merged into a near place with a large mass, the centre of a circle: the mass and the costs of the merged place are added
to those of the centre. The next search has smaller circles, and starts with the prices that the first search found: the
price of a centre is divided among the places of its circle in proportion to their masses. The last search is over all
places (`utmost.design.optima.column_generation`).
"""

import numpy as np

from utmost.core.exact.arrays import Floats, Indices

_RADII = (1.0, 0.5, 0.25, 0.1)  # radii of circles, as epsilon times distance
_FEWER = 0.9  # a radius is skipped if more than this fraction of the places with mass would be centres
_WORTH_IT = 0.75  # nothing is merged if the mean fraction of centres for the two middle radii is larger


def merging_circles(distances: Floats, masses: Floats) -> list[Indices]:
    """Return, for each radius, the largest first, the centre of each place, (n,); nothing if few places are near."""
    # ``distances`` (n, n) are epsilon times distance; ``masses`` (n,) are nonnegative. Centres are places with mass,
    # and remain centres for all smaller radii; two centres are at least the radius apart. A place belongs to the
    # nearest centre.
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
    """Return an array (.., n) with, at each centre, the sum of the values (.., n) of its places, and 0 elsewhere."""
    sums = np.zeros_like(values)
    np.add.at(sums.T, near, values.T)
    return sums


def share_by_mass(values: Floats, near: Indices, masses: Floats) -> Floats:
    """Divide the value of each centre among its places in proportion to their masses, (n,); `sum_at_centres` adds them
    up again.
    """
    return np.asarray(values[near] * masses / sum_at_centres(masses, near)[near])
