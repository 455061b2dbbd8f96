"""The joint law of the noise at any finite set of levels."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from utmost.errors import OutOfRange
from utmost.exact import Level, checked, natural
from utmost.noise.gradual.tightening import Tightening
from utmost.noise.gradual.world import World, plain

_MOST_POINTS = 10**7


@checked
def joint_pmf(noise: Sequence[ArrayLike], levels: Sequence[Level]) -> Any:
    r"""P(V_{l_1} = v_1, ..., V_{l_m} = v_m) for levels in any order.

    Sorted so that l_1 is the strictest, with l_{m+1} = infinity and V_infinity = 0,

    .. math:: P(v_1, \dots, v_m) = \prod_i P(W_i = v_i - v_{i+1}),
        \quad W_i \text{ the tighten kernel } l_{i+1} \to l_i.

    Args:
        noise: one integer, or one array of integers, per level; they broadcast.
        levels: the levels, per unit, in the order of ``noise``.

    Returns:
        Fractions for single integers and object arrays where every alpha is rational, else floats.

    Raises:
        OutOfRange: when there is no level, or not one noise per level.

    Source: koufogiannis2015, Theorem 12, on the integers.

    >>> from utmost.exact import level
    >>> joint_pmf([3, 1], [level(alpha="1/2"), level(alpha="1/4")])
    Fraction(7, 720)
    """
    if not len(levels) or len(noise) != len(levels):
        raise OutOfRange("one noise is needed for each of one or more levels", came=f"{len(noise)} and {len(levels)}")
    world, read = World.of(levels, *noise)
    order = sorted(range(len(levels)), key=lambda i: levels[i])
    values: list[Any] = [*(read[i].astype(object) if world.exact else read[i] for i in order), 0]
    looser: list[Level | None] = [*(levels[i] for i in order[1:]), None]
    mass: Any = 1
    for i, place in enumerate(order):
        mass = mass * Tightening(looser[i], levels[place]).pmf(values[i] - values[i + 1])
    return plain(mass)


@checked
def largest_ratio(levels: Sequence[Level], reach: int = 3) -> Fraction | float:
    """The largest P(v)/P(v + 1) or P(v + 1)/P(v) of the joint law over all noise v in -reach..reach: exp of its loss.

    It is 1/alpha of the loosest level, attained: what all responses together give away about one step of the value.

    Cost: (2 reach + 1)^m probabilities for m levels.

    >>> from utmost.exact import level
    >>> largest_ratio([level(alpha="1/2"), level(alpha="1/3"), level(alpha="2/3")], reach=1)
    Fraction(3, 1)
    """
    reach = natural(reach, "reach")
    if (2 * reach + 1) ** min(len(levels), 64) > _MOST_POINTS:
        raise OutOfRange(f"the law may have at most {_MOST_POINTS} points", came="more", mend="Take a smaller reach.")
    is_rational = all(one.is_rational for one in levels)
    axis = np.arange(-reach, reach + 1).astype(object if is_rational else np.int64)
    noise = np.meshgrid(*[axis] * len(levels), indexing="ij")
    here, there = joint_pmf(noise, levels), joint_pmf([one + 1 for one in noise], levels)
    ratios = np.ravel(here / there)
    largest: Fraction | float = max(*ratios, *(1 / ratios))
    return largest


@checked
def correlation(one: Level, other: Level) -> float:
    r"""Pearson's correlation of the noise at two levels, sqrt(a_2/a_1) (1-a_1)/(1-a_2) for alphas a_1 >= a_2.

    Its square is the stay probability of the tighten kernel. For small epsilons it tends to epsilon_1/epsilon_2, the
    correlation of Laplace noise.

    >>> from utmost.exact import level
    >>> correlation(level(alpha="1/2"), level(alpha="1/4"))
    0.4714045207910317
    """
    strict, loose = min(one, other), max(one, other)
    return 1.0 if strict == loose else math.sqrt(Tightening(loose, strict).stay.number)


@checked
def expected_change(one: Level, other: Level) -> Fraction | float:
    """E|V_one - V_other|, how far a response is expected to move between two levels.

    >>> from utmost.exact import level
    >>> expected_change(level(alpha="1/2"), level(alpha="1/4"))
    Fraction(28, 27)
    """
    return Fraction(0) if one == other else Tightening(max(one, other), min(one, other)).mean_absolute
