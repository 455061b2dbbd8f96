"""Every coalition of recipients, checked: what its views give away, from their joint law, against its largest level."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from utmost.exact import Level, Number, checked, level
from utmost.noise.gradual import largest_ratio


@dataclass(frozen=True, slots=True)
class Coalitions:
    """What was found of all coalitions of some recipients.

    Attributes:
        coalitions: how many there are, 2^n - 1.
        laws: how many joint laws they have between them, 2^k - 1 for k different levels.
        exact: whether every loss was computed in rationals and found equal to the largest level.
        discrepancy: the largest relative difference between exp(loss) and 1/alpha of the largest level; 0 where exact.
    """

    coalitions: int
    laws: int
    exact: bool
    discrepancy: float


@checked
def check_coalitions(levels: Mapping[Hashable, Number | Level], *, reach: int = 1) -> Coalitions:
    """Compute the loss of every coalition from the joint law of its views, and compare it with its largest level.

    Recipients of one level see one response, so a coalition's views are those of the set of its levels. For each set
    the law of the noise at these levels is enumerated, and with it the largest likelihood ratio under a shift of the
    value by one; by the Markov property it is attained at any noise, so a small ``reach`` sees it.

    Args:
        levels: {recipient: epsilon or Level}, per unit of the value.
        reach: noise from -reach to reach at each level.

    Cost: (2 reach + 1)^k probabilities for the set of all k levels.

    Source: koufogiannis2015, Section 4.2.

    >>> check_coalitions({"ann": level(alpha="1/2"), "bo": level(alpha="2/3"), "cy": level(alpha="2/3")})
    Coalitions(coalitions=7, laws=3, exact=True, discrepancy=0.0)
    """
    read = {recipient: level(given) for recipient, given in levels.items()}
    different = sorted(set(read.values()))
    sets = [some for size in range(1, len(different) + 1) for some in combinations(different, size)]
    exact, worst = True, 0.0
    for some in sets:
        found, top = largest_ratio(some, reach), max(some)
        if isinstance(found, Fraction):
            exact = exact and found == 1 / top.alpha_fraction()
            worst = max(worst, abs(float(found * top.alpha_fraction() - 1)))
        else:
            exact = False
            worst = max(worst, float(abs(found * float(top.alpha) - 1)))
    return Coalitions(2 ** len(read) - 1, len(sets), exact, worst)


@checked
def independent_loss(levels: Mapping[Hashable, Number | Level]) -> Fraction:
    """exp of what *independent* geometric noise gives away: the product of 1/alpha over a coalition, rational alphas.

    >>> independent_loss({"ann": level(alpha="1/2"), "bo": level(alpha="2/3"), "cy": level(alpha="2/3")})
    Fraction(9, 2)
    """
    return prod((1 / level(given).alpha_fraction() for given in levels.values()), start=Fraction(1))
