"""Near places are merged first, and separated later.

Places that are close to each other have nearly the same row, so only privacy relates their prices, and a search over
all places spends many rounds at extreme prices. So each place is first merged into the heaviest place near it, which
gets its mass and its costs. The prices of this search start the next one, which has smaller circles. There the price of
a merged place is divided among its places in proportion to their masses. The last search is over all places
(`utmost.design.optima.column_generation`).
"""

import numpy as np

from utmost.core.exact.arrays import Floats, Indices

_RADII = (1.0, 0.5, 0.25, 0.1)  # radii of circles, as epsilon times distance
_FEWER = 0.9  # if a larger share of the places with mass are centres, circles of this size save nothing
_WORTH_IT = 0.75  # if centres are on average a larger share at the two middle sizes, nothing is merged


def merging_circles(distances: Floats, masses: Floats) -> list[Indices]:
    """Return the centre of each place, from the widest to the narrowest circles; nothing if few places are near."""
    # distances: (n, n) epsilon times distance. masses: (n,) nonnegative. Centres are places with mass and remain
    # centres of all narrower circles; no two centres of one size are within the radius. A place belongs to the nearest
    # centre.
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
    """Return, from values (.., n) of all places, their sums at the centres, and 0 elsewhere: (.., n)."""
    sums = np.zeros_like(values)
    np.add.at(sums.T, near, values.T)
    return sums


def share_by_mass(values: Floats, near: Indices, masses: Floats) -> Floats:
    """Return the values (n,) at centres divided among their places by mass; `sum_at_centres` undoes this."""
    return np.asarray(values[near] * masses / sum_at_centres(masses, near)[near])
