"""Where one action is best: the corners of the regions of priors on which a vulnerability or uncertainty is linear."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import gcd, lcm

from utmost.exact import Array, frozen, objects

_Ray = tuple[int, ...]


def corner_priors(payments: Array, is_gain: bool) -> Array:
    """All corners of the regions {p : action w is best}, over all actions w, as the rows of a (c, n) array.

    On a region the prior measure is linear and the posterior one is convex (or concave), so that their difference and
    their ratio are largest at a corner of some region.

    Args:
        payments: (n, k), gains or losses; floats are taken as the rationals that they are.
        is_gain: whether the best action has the largest payment; the smallest otherwise.

    Returns:
        Fractions, each row a prior.

    Cost: the double description method; time grows with the number of corners, which can be exponential in n.

    >>> from utmost.exact import as_array
    >>> [[str(p) for p in corner] for corner in corner_priors(as_array([[1, 0], [0, 1]]), True)]
    [['0', '1'], ['1/2', '1/2'], ['1', '0']]
    """
    actions = _whole_columns(payments, 1 if is_gain else -1)
    found: set[tuple[Fraction, ...]] = set()
    for best in actions:
        cuts = [tuple(a - b for a, b in zip(best, other, strict=True)) for other in actions if other != best]
        for ray in _extreme_rays(len(payments), cuts):
            found.add(tuple(Fraction(x, sum(ray)) for x in ray))
    return frozen(objects((p for corner in sorted(found) for p in corner), (len(found), len(payments))))


def _whole_columns(payments: Array, sign: int) -> list[_Ray]:
    """Each action's payments as integers over one denominator; equal actions once."""
    rational = [[Fraction(x) for x in column] for column in payments.T]
    scale = sign * lcm(*(x.denominator for column in rational for x in column))
    return list(dict.fromkeys(tuple(int(x * scale) for x in column) for column in rational))


def _extreme_rays(n: int, cuts: list[_Ray]) -> list[_Ray]:
    """The extreme rays of {p >= 0 : a . p >= 0 for every cut a}, as integers without a common factor."""
    rays = [tuple(int(i == x) for i in range(n)) for x in range(n)]
    faces: list[_Ray] = list(rays)  # the rows p_x >= 0 are the first constraints
    for cut in cuts:
        sums = [sum(a * b for a, b in zip(cut, ray, strict=True)) for ray in rays]
        zeros = [frozenset(k for k, face in enumerate(faces) if _dot(face, ray) == 0) for ray in rays]
        kept = [ray for ray, value in zip(rays, sums, strict=True) if value >= 0]
        rays = kept + list(_new_rays(rays, sums, zeros, n))
        faces.append(cut)
    return rays


def _new_rays(rays: list[_Ray], sums: list[int], zeros: list[frozenset[int]], n: int) -> Iterator[_Ray]:
    """Where the new face cuts an edge: the zero combination of two adjacent rays on its two sides.

    Two rays are adjacent when no third lies on every face on which both lie.
    """
    ups, downs = ([k for k, value in enumerate(sums) if value * way > 0] for way in (1, -1))
    for up, down in product(ups, downs):
        both = zeros[up] & zeros[down]
        if len(both) >= n - 2 and not any(both <= zeros[k] for k in range(len(rays)) if k not in (up, down)):
            joined = [sums[up] * b - sums[down] * a for a, b in zip(rays[up], rays[down], strict=True)]
            common = gcd(*joined)
            yield tuple(x // common for x in joined)


def _dot(one: _Ray, other: _Ray) -> int:
    return sum(a * b for a, b in zip(one, other, strict=True))
