r"""Compute distances on the earth or in a plane as whole numbers of a step, never above the true distances.

A guarantee for smaller distances implies the guarantee for larger ones, so every distance is rounded down. The lengths
of shortest paths along the rounded distances are a metric again:

    d = closure(floor(D / step)) step,    D - k step < d <= D,

where k is the number of edges of the shortest path: 1 for most pairs, and more for places that lie in a row. On the
earth D is the length of the great circle on the sphere of radius b^2/a = 6 335 439 m, the smallest radius of curvature
of the ellipsoid WGS84. The radii of curvature M along the meridian and N across it are at least b^2/a, so

    ds^2 = M^2 dphi^2 + N^2 cos^2(phi) dlambda^2 >= (b^2/a)^2 (dphi^2 + cos^2(phi) dlambda^2),

and a geodesic between two latitudes and longitudes is never shorter than the great circle on this sphere, and at most
1.013 % longer.

The chord through the ellipsoid gives a closer bound. Let R = a^2/b be the largest radius of curvature. By Blaschke's
rolling theorem the ellipsoid lies in the ball of radius R that touches it from outside at a given point, so a point of
the ellipsoid at chord length c from the given point lies below the tangent plane of the given point by h >= c^2/(2R).
Along a geodesic of unit speed from the given point, f = c^2 satisfies f'' = 2 - 2 k h with the normal curvature
k >= 1/R. Hence f'' + f/R^2 <= 2 and f(0) = f'(0) = 0, and by Sturm's comparison theorem f <= 4 R^2 sin^2(s/2R) for
s <= pi R, a length that no shortest path exceeds. So

    s >= 2R arcsin(c/2R),

and the bound is below s by a relative error of s^2/24 (k^2 - 1/R^2) to first order: two billionths at 10 km, two
millionths at 300 km, two hundred-thousandths at 1 000 km, less than a thousandth at 5 000 km.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import isqrt, lcm

import numpy as np
from flint import arb, fmpq
from numpy.typing import NDArray

from utmost.core.exact.intervals import working_precision

SMALLEST_RADIUS = 6_335_439
"""The smallest radius of curvature of the ellipsoid WGS84, in whole metres, rounded down from 6 335 439.327."""

_EQUATOR, _INVERSE_FLATTENING = 6_378_137, 298_257_223_563
"""The largest radius of the ellipsoid WGS84 in metres, and 10^9 times the inverse of its flattening."""

Coordinates = tuple[Fraction, Fraction]
"""A position: latitude and longitude in degrees, or northing and easting."""

# A millimetre on the earth is 2^-33 of a radian. The other bits are needed for arcs between nearly opposite points.
_BITS = 128


def great_circle_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Return great-circle distances, (n, n), as numbers of steps of ``step`` metres, rounded down. The result is not
    yet a metric: see `closure`.
    """
    with working_precision(_BITS):
        vectors = []
        for position in positions:
            north, east = (arb(fmpq(d.numerator, 180 * d.denominator)) for d in position)
            around = north.cos_pi()
            vectors.append((around * east.cos_pi(), around * east.sin_pi(), north.sin_pi()))
        scale = arb(fmpq(2 * SMALLEST_RADIUS * step.denominator, step.numerator))

        def steps(x: int, y: int) -> int:
            # Half the angle between u and v is atan2(|u - v|, |u + v|), which is accurate for every angle.
            apart, along = arb(0), arb(0)
            for a, b in zip(vectors[x], vectors[y], strict=True):
                apart, along = apart + (a - b) * (a - b), along + (a + b) * (a + b)
            half = arb.atan2(apart.nonnegative_part().sqrt(), along.nonnegative_part().sqrt())
            return _floor(half * scale)

        return _symmetric(len(positions), steps)


def geodesic_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Return distances on the ellipsoid WGS84, (n, n), as numbers of steps of ``step`` metres, rounded down."""
    with working_precision(_BITS):
        flat = arb(fmpq(1000000000, _INVERSE_FLATTENING))
        squared = flat * (2 - flat)
        points = []  # Cartesian coordinates in metres from the centre of the earth
        for position in positions:
            north, east = (arb(fmpq(d.numerator, 180 * d.denominator)) for d in position)
            up, around = north.sin_pi(), north.cos_pi()
            across = arb(_EQUATOR) / (1 - squared * up * up).sqrt()
            out = across * around
            points.append((out * east.cos_pi(), out * east.sin_pi(), across * (1 - squared) * up))
        diameter = arb(2 * _EQUATOR) / (1 - flat)
        scale = diameter * arb(fmpq(step.denominator, step.numerator))

        def steps(x: int, y: int) -> int:
            # The arc over a chord of a circle, divided by the diameter, is arcsin(chord / diameter).
            squares = ((a - b) * (a - b) for a, b in zip(points[x], points[y], strict=True))
            return _floor((sum(squares, arb(0)).nonnegative_part().sqrt() / diameter).asin() * scale)

        arcs = _symmetric(len(points), steps)
    return np.maximum(arcs, great_circle_steps(positions, step))


def _floor(ball: arb) -> int:
    """Return the floor of the lower end of a ball, or 0 if it is negative."""
    whole = ball.lower().floor().unique_fmpz()
    assert whole is not None, "the floor of a number is one integer"
    return max(0, int(whole))


def plane_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Return Euclidean distances, (n, n), as numbers of steps of length ``step``, rounded down."""
    scale = lcm(*(c.denominator for position in positions for c in position))
    whole = [(int(north * scale), int(east * scale)) for north, east in positions]
    below = (scale * step) ** 2

    def steps(x: int, y: int) -> int:
        (a, b), (c, d) = whole[x], whole[y]
        return isqrt(((a - c) ** 2 + (b - d) ** 2) * below.denominator // below.numerator)

    return _symmetric(len(whole), steps)


def _symmetric(n: int, steps: Callable[[int, int], int]) -> NDArray[np.int64]:
    table = np.zeros((n, n), dtype=np.int64)
    for x in range(n):
        for y in range(x):
            table[x, y] = table[y, x] = min(steps(x, y), 2**60)
    return table


def closure(steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the lengths of shortest paths through all places: the largest metric that exceeds ``steps`` nowhere."""
    least = steps.copy()
    for z in range(len(least)):
        np.minimum(least, least[:, z, None] + least[None, z, :], out=least)
    return least
