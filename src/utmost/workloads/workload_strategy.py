"""Strategies: which families of a domain are measured, each with a fixed share of the level."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked, exact, wrong_kind
from utmost.privacy import Unit
from utmost.workloads.domain import Domain, Family


@dataclass(frozen=True, slots=True, eq=False)
class Strategy:
    """Families to measure, and the share of the level that each spends.

    Each sum over a group of a measured family gets geometric noise of its own. One individual changes at most
    ``unit.charged`` atoms, each by at most the sensitivity, and each atom lies in one group of each family; so the
    whole is private at the level of which the shares are shares. Shares do not depend on the level, so a release can be
    relaxed without loss.

    Args:
        domain: the declared domain.
        unit: what one individual changes, in atoms.
        shares: of each measured family its share of the level, positive, together 1. A family may be named by its
            levels.

    Raises:
        OutOfRange: for shares that are not so, and families that the domain has not.
    """

    domain: Domain
    unit: Unit
    shares: Mapping[Family, Fraction]

    def __init__(self, domain: Domain, unit: Unit, shares: Mapping[Any, Number]) -> None:
        if not isinstance(domain, Domain):
            raise wrong_kind("domain", "a Domain", domain)
        if not isinstance(unit, Unit):
            raise wrong_kind("unit", "a Unit", unit)
        read = sorted((domain.family(family), exact(share, "share")) for family, share in shares.items())
        if len(dict(read)) < len(read) or any(share <= 0 for _, share in read) or sum(s for _, s in read) != 1:
            remedy = "Leave out what is not measured, and give each family once."
            raise OutOfRange("the shares must be positive and add up to 1", came="others", remedy=remedy)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "unit", unit)
        object.__setattr__(self, "shares", dict(read))

    def __reduce__(self) -> tuple[Any, ...]:
        return Strategy, (self.domain, self.unit, dict(self.shares))

    @checked
    def levels(self, level: Level) -> dict[Family, Level]:
        """Of each measured family, the level of the noise on each of its sums, at the unit's sensitivity.

        >>> from utmost.exact import level
        >>> strategy = Strategy(Domain(sex=["men", "women"]), Unit(1, 2), {"sex": "3/4", "": "1/4"})
        >>> {strategy.domain.family_name(family): one.epsilon for family, one in strategy.levels(level(1)).items()}
        {'sex': Fraction(3, 8), '': Fraction(1, 8)}
        """
        return {family: self.unit.per_cell(level).scaled(share) for family, share in self.shares.items()}
