"""A distribution of one's own whose ratios tend to its level: the sum of two geometric draws."""

from dataclasses import dataclass
from fractions import Fraction

import pytest

from goodness import LEVEL, chi_square
from utmost.errors import PromiseBroken, Unsupported
from utmost.exact import Level, level
from utmost.noise import Geometric, IntegerDistribution
from utmost.privacy_types import check_promise, smallest_level
from utmost.sampling import sample


@dataclass(frozen=True)
class TwoGeometric(IntegerDistribution):
    """P(X = x) = ((1 - q)/(1 + q))^2 q^|x| (|x| + (1 + q^2)/(1 - q^2)): private like one of the two alone."""

    level: Level
    stated: Fraction = Fraction(1)
    sensitivity: int = 1

    @property
    def levels(self):
        return (self.level,)

    def mass(self, arithmetic, i):
        q = arithmetic(self.level)
        one = 1 + q.b
        return q.power(i) * q.complement * (q.complement * one * i + (1 + q.b * q.b)) / (one * one * one)

    def tail(self, arithmetic, i):
        q = arithmetic(self.level)
        one = 1 + q.b
        return q.power(i) * (q.complement * one * i + (one + 2 * q.b * q.b)) / (one * one * one)

    def worst_place(self, distance):
        return None

    def worst_level(self, distance):
        return self.level.scaled(self.stated * int(distance)) if int(distance) else None


@pytest.mark.parametrize("at", [level(alpha="1/2"), level(1), level("1/20"), level(20)], ids=str)
def test_its_level_is_checked_as_a_limit(at):
    distribution = TwoGeometric(at)
    check_promise(distribution)
    assert smallest_level(distribution, 2) == at.scaled(2)
    part = Geometric(at)
    span = range(-60 * round(1 + 1 / at.epsilon_float), 60 * round(1 + 1 / at.epsilon_float))
    assert float(distribution.pmf(3)) == pytest.approx(
        float(sum(part.pmf(x) * part.pmf(3 - x) for x in span)), rel=1e-9
    )
    assert chi_square(sample(distribution, 20_000), distribution.cdf) > LEVEL
    for stated in (Fraction(9, 10), Fraction(3, 2)):  # a level that is exceeded, and one that wastes noise
        if at.epsilon_float >= 1:
            with pytest.raises(PromiseBroken):
                check_promise(TwoGeometric(at, stated), at.scaled(stated))


def test_a_distribution_without_a_worst_place_states_its_level():
    class Silent(TwoGeometric):
        worst_level = IntegerDistribution.worst_level

    with pytest.raises(Unsupported, match="Override worst_level"):
        Silent(level(1)).worst_level(Fraction(1))
