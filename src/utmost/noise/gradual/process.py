r"""The noise at all levels at once, as a process that jumps: run down from epsilon = infinity, where it is 0.

Jumps of size j != 0 arrive while alpha grows with intensity alpha^{|j|-1} d alpha, independently of each other. Hence
the jumps between two levels are Poisson in number, finitely many even from infinity down, and V at a level is the sum
of the jumps above it. In epsilon the intensity is 2/(e^epsilon - 1) d epsilon and a jump at alpha has size j with
probability (1-alpha)/(2 alpha) alpha^{|j|}.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Level
from utmost.noise.gradual.quantity import Quantity
from utmost.noise.gradual.world import World, plain


def jump_intensity(level: Level) -> Fraction | float:
    """2/(e^epsilon - 1) = 2 alpha/(1 - alpha), the expected number of jumps per unit of epsilon at a level.

    >>> from utmost.exact import level
    >>> jump_intensity(level(alpha="1/2"))
    Fraction(2, 1)
    """
    return Quantity(lambda a: 2 * a / (1 - a), (level,)).number


def expected_jumps(strict: Level, loose: Level | None = None) -> float:
    """2 ln((1-b)/(1-a)), the mean number of jumps between two levels (None: up to epsilon = infinity).

    >>> from utmost.exact import level
    >>> expected_jumps(level(alpha="1/2"), level(alpha="1/4"))
    0.8109302162163288
    """
    odds = Quantity(lambda a, b: (1 - b) / (1 - a) - 1, (_stricter(strict, loose), loose))
    return 2 * math.log1p(odds.float)


def no_jump_probability(strict: Level, loose: Level | None = None) -> Fraction | float:
    """((1-a)/(1-b))^2, the chance that the noise does not move anywhere between two levels.

    It is less than P(V_strict = V_loose), since a path may leave and come back.
    """
    return Quantity(lambda a, b: ((1 - a) / (1 - b)) ** 2, (_stricter(strict, loose), loose)).number


def jump_count_pmf(n: ArrayLike, strict: Level, loose: Level | None = None) -> Any:
    """P(the process jumps n times between two levels): Poisson with mean `expected_jumps`.

    >>> from utmost.exact import level
    >>> float(jump_count_pmf(0, level(alpha="1/2")))
    0.25
    """
    _, (counts,) = World.of((), n)
    mean = expected_jumps(strict, loose)
    terms = [0.0 if k < 0 else math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in np.ravel(counts)]
    return plain(np.array(terms).reshape(np.shape(counts)))


def jump_pmf(j: ArrayLike, level: Level) -> Any:
    """P(a jump at this level has size j) = (1-alpha)/(2 alpha) alpha^{|j|}, j != 0.

    >>> from utmost.exact import level
    >>> jump_pmf(-1, level(alpha="1/2")), jump_pmf([0, 1, 2], level(alpha="1/2")).tolist()
    (Fraction(1, 4), [0.0, 0.25, 0.125])
    """
    world, (sizes,) = World.of((level,), j)
    half = world.number(Quantity(lambda a: (1 - a) / 2, (level,)))
    return plain(world.where(sizes != 0, half) * world.powers(level, np.maximum(np.abs(sizes), 1) - 1))


def expected_jumps_of_size(j: int, strict: Level, loose: Level | None = None) -> Fraction | float:
    """(a^k - b^k)/k with k = |j|: the mean number of jumps of one size j between two levels.

    >>> from utmost.exact import level
    >>> expected_jumps_of_size(-2, level(alpha="1/2"))
    Fraction(1, 8)
    """
    k = abs(j)
    if k == 0:
        raise OutOfRange("a jump has a size other than 0", came=j)
    return Quantity(lambda a, b: (a**k - b**k) / k, (_stricter(strict, loose), loose)).number


def forward_intensities(x: ArrayLike, level: Level) -> tuple[Any, Any, Any]:
    """Jumps per unit of epsilon when the level is relaxed from noise x: (inward, across, outward).

    Inward, to 0, s, ..., s(m-1) with equal chances: m = |x|. Across 0, to -s(1 + Geom(alpha^2)), and outward, to
    s(m + 1 + Geom(alpha^2)): alpha^2/(1 - alpha^2) each.
    """
    world, (noise,) = World.of((level,), x)
    size = np.abs(noise)
    flat = plain(world.number(Quantity(lambda a: a * a / (1 - a * a), (level,))) + 0 * size)
    return plain(size), flat, flat


def _stricter(strict: Level, loose: Level | None) -> Level:
    if loose is not None and loose < strict:
        raise OutOfRange(f"the first level must not be looser than {loose}", came=strict, mend="Swap the levels.")
    return strict
