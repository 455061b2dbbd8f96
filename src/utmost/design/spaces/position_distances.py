r"""Distances of places on the earth or in the plane as whole numbers of a step, never above the true ones.

A promise at distance d covers all the better the smaller d is taken to be, so every distance here is rounded down, and
the shortest path through the rounded ones makes them a metric again:

    d = closure(floor(D / step)) step,    D - k step < d <= D,

with k the number of legs of the path: 1 for most pairs, more along a chain of places in a row. On the earth D is
the length of the great circle on the sphere of radius 6 335 439 m. That is b^2/a of the ellipsoid WGS84, its smallest
radius of curvature: with M, N the radii along and across the meridian, both are at least b^2/a, so that

    ds^2 = M^2 dphi^2 + N^2 cos^2(phi) dlambda^2 >= (b^2/a)^2 (dphi^2 + cos^2(phi) dlambda^2),

and no geodesic between two latitudes and longitudes is shorter than the great circle here, nor longer by more than
1.013 %.

The chord through the ellipsoid comes nearer. Let R = a^2/b be its largest radius of curvature. By Blaschke's rolling
theorem it lies in the ball of radius R that touches it from within at any of its points, so that a point at the chord c
from the point of touch lies below the tangent plane there by h >= c^2/(2R). Along a geodesic of unit speed from that
point f = c^2 has f'' = 2 - 2 k h, k >= 1/R the normal curvature, hence f'' + f/R^2 <= 2, f(0) = f'(0) = 0; and by
Sturm f <= 4 R^2 sin^2(s/2R) as far as s = pi R, which no shortest way exceeds. So

    s >= 2R arcsin(c/2R),

short of s by s^2/24 (k^2 - 1/R^2) in the first order, at most s^2/24R^2 2 %: 10 km by two billionths, 300 km by two
millionths, 1 000 km by two hundred-thousandths, 5 000 km by less than a thousandth.
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
"""WGS84: largest radius in metres, and 10^9 times the inverse of the flattening."""

Coordinates = tuple[Fraction, Fraction]
"""Latitude and longitude in degrees, or northing and easting."""

# A millimetre on the earth is 2^-33 of a radian; what is left bounds the arcs of points nearly opposite each other.
_BITS = 128

BallVector = tuple[arb, arb, arb]


def great_circle_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Great-circle distances in whole steps, rounded down.

    Args:
        positions: (n) latitude and longitude in degrees, exact.
        step: Step in metres.

    Returns:
        (n, n), before closure: some triangles may be broken by up to two steps.

    Cost: one certified arc tangent for each pair: 400 places take about a second.

    >>> great_circle_steps([(Fraction(0), Fraction(0)), (Fraction(90), Fraction(0))], Fraction(1000)).tolist()
    [[0, 9951], [9951, 0]]
    """
    with working_precision(_BITS):
        vectors = [_on_sphere(*position) for position in positions]
        scale = arb(fmpq(2 * SMALLEST_RADIUS * step.denominator, step.numerator))
        return _symmetric(len(positions), lambda x, y: _floor(_half_angle(vectors[x], vectors[y]) * scale))


def geodesic_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Distances along the ellipsoid WGS84 in whole steps, rounded down, by the arc over the chord.

    Args:
        positions: (n) latitude and longitude in degrees, exact.
        step: Step in metres.

    Returns:
        (n, n), before closure.

    Cost: one certified arc sine and one root for each pair.

    >>> paris_and_london = [(Fraction("48.8566"), Fraction("2.3522")), (Fraction("51.5074"), Fraction("-0.1278"))]
    >>> int(geodesic_steps(paris_and_london, Fraction(1))[0, 1])      # 343 923 m along the ellipsoid
    343922
    """
    with working_precision(_BITS):
        points = [_on_ellipsoid(*position) for position in positions]
        diameter = arb(2 * _EQUATOR) / (1 - arb(fmpq(1000000000, _INVERSE_FLATTENING)))
        scale = diameter * arb(fmpq(step.denominator, step.numerator))
        arcs = _symmetric(len(points), lambda x, y: _floor(_arc(points[x], points[y], diameter) * scale))
    return np.maximum(arcs, great_circle_steps(positions, step))


def _on_ellipsoid(latitude: Fraction, longitude: Fraction) -> BallVector:
    """Cartesian coordinates in metres from the centre of the earth."""
    north, east = (arb(fmpq(d.numerator, 180 * d.denominator)) for d in (latitude, longitude))
    up, around = north.sin_pi(), north.cos_pi()
    flat = arb(fmpq(1000000000, _INVERSE_FLATTENING))
    squared = flat * (2 - flat)
    across = arb(_EQUATOR) / (1 - squared * up * up).sqrt()
    return across * around * east.cos_pi(), across * around * east.sin_pi(), across * (1 - squared) * up


def _chord(u: BallVector, v: BallVector) -> arb:
    return sum(((a - b) * (a - b) for a, b in zip(u, v, strict=True)), arb(0)).nonnegative_part().sqrt()


def _arc(u: BallVector, v: BallVector, diameter: arb) -> arb:
    """arcsin(chord / diameter): times the diameter of the circle it is the length of the arc over the chord."""
    return (_chord(u, v) / diameter).asin()


def _on_sphere(latitude: Fraction, longitude: Fraction) -> BallVector:
    north, east = (arb(fmpq(d.numerator, 180 * d.denominator)) for d in (latitude, longitude))
    around = north.cos_pi()
    return around * east.cos_pi(), around * east.sin_pi(), north.sin_pi()


def _half_angle(u: BallVector, v: BallVector) -> arb:
    """Half the angle between two unit vectors: atan2(|u - v|, |u + v|), which cancels at no angle."""
    apart, along = arb(0), arb(0)
    for a, b in zip(u, v, strict=True):
        apart, along = apart + (a - b) * (a - b), along + (a + b) * (a + b)
    return arb.atan2(apart.nonnegative_part().sqrt(), along.nonnegative_part().sqrt())


def _floor(ball: arb) -> int:
    """The largest integer that is certainly not above any number of the ball, and 0 at least."""
    whole = ball.lower().floor().unique_fmpz()
    assert whole is not None, "the floor of a number is one integer"
    return max(0, int(whole))


def plane_steps(positions: Sequence[Coordinates], step: Fraction) -> NDArray[np.int64]:
    """Euclidean distances in whole steps, rounded down, from exact coordinates: integer square roots.

    >>> plane_steps([(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))], Fraction(1, 100)).tolist()
    [[0, 141], [141, 0]]
    """
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
    """The largest distances below these that keep the triangle inequality: shortest paths through all places.

    Cost: n^3 additions of int64: 0.1 seconds for 400 places, 2 for 1 000.

    >>> closure(np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]]))[0].tolist()
    [0, 1, 2]
    """
    least = steps.copy()
    for z in range(len(least)):
        np.minimum(least, least[:, z, None] + least[None, z, :], out=least)
    return least
