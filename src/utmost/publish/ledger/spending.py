"""Sums of levels: their epsilons added up, exact where the sum can be written, and the rest of a limit."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce

from utmost.core.exact.arguments import iterable, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, is_lower, round_down, round_up, settled
from utmost.core.exact.levels import Level
from utmost.publish.counting.counted_facts import Part

# Two sums that agree to so many bits and are written differently are taken for unequal, to the spender's disadvantage.
_MOST_BITS = 1 << 12


@dataclass(frozen=True, slots=True, repr=False)
class Spending(Display):
    """A sum of epsilons, as powers of bases: sum over bases b of power * (-log b), where None stands for 1/e.

    Attributes:
        powers: (base, power) with power > 0, each base once.
    """

    _shown = ("epsilon",)

    powers: tuple[tuple[Fraction | None, Fraction], ...] = ()

    @classmethod
    def of(cls, levels: Iterable[Level]) -> "Spending":
        """The sum of these levels.

        >>> from utmost.exact import level
        >>> Spending.of([level(1), level("1/2"), level(alpha="1/4"), level(alpha="1/2")]).powers
        ((None, Fraction(3, 2)), (Fraction(1, 2), Fraction(3, 1)))
        """
        sums: dict[Fraction | None, Fraction] = {}
        for level in iterable(levels, "levels"):
            if not isinstance(level, Level):
                raise wrong_kind("levels", "levels", level)
            sums[level.base] = sums.get(level.base, Fraction(0)) + level.power
        return cls(tuple(sorted(sums.items(), key=_by_base)))

    @property
    def levels(self) -> tuple[Level, ...]:
        """The sum as levels, one for each base."""
        return tuple(Level(base, power) for base, power in self.powers)

    @property
    def level(self) -> Level | None:
        """The sum as one level: exactly, where it has one base; else rounded up. None for nothing."""
        if len(self.powers) > 1:
            return Level(None, Fraction(round_up(settled(self._around))))
        return next(iter(self.levels), None)

    @property
    def epsilon(self) -> Fraction | float:
        """The sum as a Fraction where it is rational, else as a float rounded up."""
        level = self.level
        return Fraction(0) if level is None else level.epsilon

    def __add__(self, other: "Spending") -> "Spending":
        return Spending.of((*self.levels, *other.levels))

    def plus(self, level: Level) -> "Spending":
        """The sum with a level more."""
        powers = dict(self.powers)
        powers[level.base] = powers.get(level.base, 0) + level.power
        return Spending(tuple(sorted(powers.items(), key=_by_base)))

    def minus(self, level: Level) -> "Spending":
        """The sum without a level that is one of its summands."""
        powers = dict(self.powers)
        powers[level.base] -= level.power
        return Spending(tuple((base, power) for base, power in powers.items() if power))

    def larger(self, other: "Spending") -> "Spending":
        """The larger of two sums; where that cannot be settled in 2^12 bits, a number above both.

        >>> from utmost.exact import level
        >>> Spending.of([level(1)]).larger(Spending.of([level(alpha="1/2")])).epsilon
        Fraction(1, 1)
        """
        if not other.powers or self.powers == other.powers:
            return self
        is_less = is_lower(self._around, other._around, _MOST_BITS)
        if is_less is not None:
            return other if is_less else self
        tops = (Fraction(round_up(settled(spending._around))) for spending in (self, other))
        return Spending(((None, max(tops)),))

    def exceeds(self, limit: Level) -> bool:
        """Whether the sum is larger than a limit; yes where that cannot be settled in 2^12 bits."""
        if self.powers == ((limit.base, limit.power),):
            return False
        return is_lower(limit.epsilon_interval, self._around, _MOST_BITS) is not False

    def left(self, limit: Level) -> Fraction | float:
        """The rest of a limit: a Fraction where it is rational, else a float rounded down; 0 where nothing is left."""
        if all(base is None for base, _ in (*self.powers, (limit.base, limit.power))):
            return max(Fraction(0), limit.power - sum((power for _, power in self.powers), Fraction(0)))

        return max(0.0, round_down(settled(lambda bits: limit.epsilon_interval(bits) - self._around(bits))))

    def _around(self, bits: int) -> Interval:
        total = Interval.of(0, bits)
        for level in self.levels:
            total = total + level.epsilon_interval(bits)
        return total


def _by_base(item: tuple[Fraction | None, Fraction]) -> tuple[bool, Fraction | int]:
    return item[0] is not None, item[0] or 0


@dataclass(frozen=True, slots=True)
class Account:
    """The cost of releases of one dataset together, kept as a sum that grows release by release.

    Releases of all individuals add up. Of releases of the parts of one partition, which share nobody, each individual
    meets those of its own part alone, so they cost what the part that costs most does; partitions add up.

    Attributes:
        whole: Sum of the largest levels of the releases of all individuals.
        parts: The same of each part, by partition and part.

    Source: parallel composition: [mcsherry2009], Theorem 4.

    >>> from utmost.exact import level
    >>> account = Account().plus(level(1)).plus(level(1), ("by country", "A")).plus(level("1/5"), ("by country", "B"))
    >>> account.spending.epsilon, account.minus(level(1)).spending.epsilon
    (Fraction(2, 1), Fraction(1, 1))
    """

    whole: Spending = Spending()
    parts: Mapping[str, Mapping[str, Spending]] = field(default_factory=dict)

    def plus(self, level: Level, part: Part | None = None) -> "Account":
        """The account with a release at this largest level more."""
        return self._changed(lambda spent: spent.plus(level), part)

    def minus(self, level: Level, part: Part | None = None) -> "Account":
        """The account without a release that is in it at this largest level."""
        return self._changed(lambda spent: spent.minus(level), part)

    @property
    def spending(self) -> Spending:
        """The cost of all of them."""
        return sum((reduce(Spending.larger, parts.values()) for parts in self.parts.values()), self.whole)

    def _changed(self, change: Callable[[Spending], Spending], part: Part | None) -> "Account":
        if part is None:
            return Account(change(self.whole), self.parts)
        parts = self.parts.get(part[0], {})
        changed = {**parts, part[1]: change(parts.get(part[1], Spending()))}
        return Account(self.whole, {**self.parts, part[0]: changed})


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Display):
    """The budget of a dataset.

    Attributes:
        dataset: Name of the dataset.
        limit: Level that may be spent; None for no limit.
        spending: Sum that is spent, exactly.
    """

    _shown = ("dataset", "limit", "spent", "remaining")

    dataset: str
    limit: Level | None
    spending: Spending

    @property
    def spent(self) -> Fraction | float:
        """The epsilon that is spent; rounded up where it is irrational."""
        return self.spending.epsilon

    @property
    def remaining(self) -> Fraction | float | None:
        """The epsilon that is left; rounded down where it is irrational, None without a limit."""
        return None if self.limit is None else self.spending.left(self.limit)
