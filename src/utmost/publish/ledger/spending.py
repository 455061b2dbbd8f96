"""Add up epsilons, exactly where possible, and compare the sum with the limit of a budget."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from utmost.core.exact.arguments import iterable, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import Interval, is_lower, narrow_interval, round_down, round_up
from utmost.core.exact.levels import Level
from utmost.publish.counting.counted_facts import Part

# Sums of different form are compared to at most this many bits; if these agree, the sum counts as the larger one, in
# favour of privacy.
_MOST_BITS = 1 << 12


@dataclass(frozen=True, slots=True, repr=False)
class Spending(Display):
    """A sum of epsilons: the sum over bases b of power * (-log b), where the base None stands for 1/e."""

    _shown = ("epsilon",)

    powers: tuple[tuple[Fraction | None, Fraction], ...] = ()  # (base, power) with power > 0, each base once

    @classmethod
    def of(cls, levels: Iterable[Level]) -> "Spending":
        total = cls()
        for level in iterable(levels, "levels"):
            if not isinstance(level, Level):
                raise wrong_kind("levels", "levels", level)
            total = total.plus(level)
        return total

    @property
    def levels(self) -> tuple[Level, ...]:
        """The sum as levels, one for each base."""
        return tuple(Level(base, power) for base, power in self.powers)

    @property
    def level(self) -> Level | None:
        """The sum as one level: exact if it has one base, else rounded up; None for an empty sum."""
        if len(self.powers) > 1:
            return Level(None, Fraction(round_up(narrow_interval(self._around))))
        return next(iter(self.levels), None)

    @property
    def epsilon(self) -> Fraction | float:
        """The sum as a Fraction if it is rational, else as a float rounded up."""
        level = self.level
        return Fraction(0) if level is None else level.epsilon

    def __add__(self, other: "Spending") -> "Spending":
        return self._plus(other.powers)

    def plus(self, level: Level) -> "Spending":
        return self._plus([(level.base, level.power)])

    def minus(self, level: Level) -> "Spending":
        """Return the sum without ``level``, which must be one of its summands."""
        return self._plus([(level.base, -level.power)])

    def _plus(self, powers: Iterable[tuple[Fraction | None, Fraction]]) -> "Spending":
        sums = dict(self.powers)
        for base, power in powers:
            sums[base] = sums.get(base, Fraction(0)) + power
        # 1/e comes first, then the bases in ascending order, so that equal sums have equal fields.
        ordered = sorted(sums.items(), key=lambda item: (item[0] is not None, item[0] or 0))
        return Spending(tuple((base, power) for base, power in ordered if power))

    def larger(self, other: "Spending") -> "Spending":
        """Return the larger of two sums; if 2^12 bits do not show which is larger, a number above both."""
        if not other.powers or self.powers == other.powers:
            return self
        is_less = is_lower(self._around, other._around, _MOST_BITS)
        if is_less is not None:
            return other if is_less else self
        tops = (Fraction(round_up(narrow_interval(spending._around))) for spending in (self, other))
        return Spending(((None, max(tops)),))

    def exceeds(self, limit: Level) -> bool:
        """Whether the sum is larger than a limit; True if 2^12 bits do not decide."""
        if self.powers == ((limit.base, limit.power),):
            return False
        return is_lower(limit.epsilon_interval, self._around, _MOST_BITS) is not False

    def left(self, limit: Level) -> Fraction | float:
        """Return the limit minus the sum: a Fraction if it is rational, else a float rounded down; at least 0."""
        if all(base is None for base, _ in (*self.powers, (limit.base, limit.power))):
            return max(Fraction(0), limit.power - sum((power for _, power in self.powers), Fraction(0)))

        return max(0.0, round_down(narrow_interval(lambda bits: limit.epsilon_interval(bits) - self._around(bits))))

    def _around(self, bits: int) -> Interval:
        total = Interval.of(0, bits)
        for level in self.levels:
            total = total + level.epsilon_interval(bits)
        return total


@dataclass(frozen=True, slots=True)
class Account:
    """The spending of one dataset, as a sum that grows with each release.

    The levels of releases that cover all individuals add up. Releases of the parts of one partition share no
    individual, so that together they cost as much as the most expensive part; the costs of different partitions add up
    (parallel composition: [mcsherry2009], Theorem 4).
    """

    # Sum of the largest levels of the releases of each part; under None, of the releases of all individuals
    sums: Mapping[Part | None, Spending] = field(default_factory=dict)

    def plus(self, level: Level, part: Part | None = None) -> "Account":
        """Return the account with one more release, whose largest level is ``level``."""
        return Account({**self.sums, part: self.sums.get(part, Spending()).plus(level)})

    def minus(self, level: Level, part: Part | None = None) -> "Account":
        """Return the account without one of its releases, whose largest level is ``level``."""
        return Account({**self.sums, part: self.sums[part].minus(level)})

    @property
    def spending(self) -> Spending:
        """The sum that the dataset has spent; of parts that share nobody, only the part that has spent most counts."""
        largest = dict[str | None, Spending]()
        for part, spent in self.sums.items():
            partition = None if part is None else part[0]
            largest[partition] = largest[partition].larger(spent) if partition in largest else spent
        return sum(largest.values(), Spending())


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Display):
    """The budget of a dataset.

    Attributes:
        dataset: Name of the dataset.
        limit: Level that may be spent; None for no limit.
        spending: Exact sum that is spent.
    """

    _shown = ("dataset", "limit", "spent", "remaining")

    dataset: str
    limit: Level | None
    spending: Spending

    @property
    def spent(self) -> Fraction | float:
        """The epsilon that is spent, rounded up if it is irrational."""
        return self.spending.epsilon

    @property
    def remaining(self) -> Fraction | float | None:
        """The epsilon that is left, rounded down if it is irrational; None without a limit."""
        return None if self.limit is None else self.spending.left(self.limit)
