"""Share one level among several measures of the same individuals, with the least weighted sum of errors.

    minimise    sum_m w_m E_m(a_m eps)    over shares a_m > 0 that add up to 1,

where E_m(e) is the error of the plan for measure m at level e. Shares are multiples of 1/N; dynamic programming finds
the best multiples, for any E_m. Each E_m decreases in its level. So any shares of M measures have at least the error of
these shares rounded up, and so at least that of the best multiples that add up to (N + M - 1)/N. This bound certifies
how far the best multiples are from the best shares. At small levels E_m(e) = c_m / e^2, and a_m is proportional to (w_m
c_m)^(1/3).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, real, wrong_kind
from utmost.core.exact.arrays import Floats
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, exact
from utmost.core.exact.progress_bar import progress_bar
from utmost.errors import NotALevel, OutOfRange
from utmost.publish.workloads.planning.plan import Plan

_PARTS, _MOST = 20, 50
_FLOATS = 1 + Fraction(1, 10**9)
"""Bound on the relative rounding error of a plan's error, which is a float."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SharedLevel(Display):
    """Plans for several measures, and the share of each in one privacy level.

    The shares are exact and add up to 1. So releases at these shares of a level together spend that level, and each
    release can be relaxed to its share of a larger level. `share_level` finds the shares.

    Attributes:
        plans: Dict from the name of each measure to its plan, at the measure's share of the level.
        shares: Dict from the name of each measure to its share, > 0.
        level: Privacy level of all measures together.
        within: Upper bound on the ratio of the weighted error to the least weighted error at any shares, at the level
            for which the shares were optimized; None for shares that were not optimized.

    Raises:
        OutOfRange: if a share is not positive, if the shares do not add up to 1, if ``shares`` has other names than
            ``plans``, or if the units have different neighbouring relations, whose levels do not add up.
    """

    _shown = ("shares", "level")

    plans: Mapping[str, Plan]
    shares: Mapping[str, Fraction]
    level: Level
    within: float | None = field(default=None)

    def __post_init__(self) -> None:
        instance(self.level, Level, "level")
        mapping(self.plans, "plans")
        mapping(self.shares, "shares")
        if self.within is not None:
            object.__setattr__(self, "within", real(self.within, "within"))
        shares = {name: exact(share, "share") for name, share in self.shares.items()}
        if set(shares) != set(self.plans) or not shares:
            raise OutOfRange(
                "shares must have one share for each plan", came=f"shares of {', '.join(map(str, shares)) or 'none'}"
            )
        if min(shares.values()) <= 0 or sum(shares.values()) != 1:
            raise OutOfRange("the shares must be positive and add up to 1", came="other shares", where="shares")
        plans = dict[str, Plan]()
        for name, plan in self.plans.items():
            if not isinstance(plan, Plan):
                raise wrong_kind("a plan", "a Plan", plan)
            plans[name] = replace(plan, level=self.level.scaled(shares[name]))
        relations = {plan.unit.neighbours for plan in plans.values()}
        if len(relations) > 1:
            remedy = "Count all measures with the same neighbours=."
            raise OutOfRange(
                "plans that share a level must have the same neighbouring relation",
                came=" and ".join(sorted(relations)),
                remedy=remedy,
            )
        object.__setattr__(self, "shares", shares)
        object.__setattr__(self, "plans", plans)

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedLevel, (dict(self.plans), dict(self.shares), self.level, self.within)

    def levels(self, level: Level) -> dict[str, Level]:
        """Return the level of each measure, if all measures together spend ``level``.

        >>> from utmost.exact import level
        >>> from utmost.privacy import Unit
        >>> from utmost.workloads import Domain
        >>> alone = Plan(Domain(), Unit(1, 1), {"": 1})
        >>> shared = SharedLevel({"visits": alone, "spent": alone}, {"visits": "1/4", "spent": "3/4"}, level(1))
        >>> {name: str(own.epsilon) for name, own in shared.levels(level(8)).items()}
        {'visits': '2', 'spent': '6'}
        """
        instance(level, Level, "level")
        return {name: level.scaled(share) for name, share in self.shares.items()}

    def __str__(self) -> str:
        lines = [f"{self.level}, shared"]
        for name, plan in self.plans.items():
            lines.append(f"{name}: {self.shares[name]}")
            deviations = {} if plan.workload is None else plan.variances
            lines += [f"  {part or 'total'}: standard deviation {sqrt(v):.4g}" for part, v in deviations.items()]
        return "\n".join(lines)


@progress_bar("Sharing a level")
def share_level(
    plans: Mapping[str, Plan],
    *,
    epsilon: Number | Level,
    weights: Mapping[str, Number] | None = None,
    up_to: Number | Level | None = None,
) -> SharedLevel:
    """Share one privacy level among several measures of the same individuals, with the least weighted sum of errors.

    The error of a measure is the mean variance of its wanted sums, weighted as in its workload, divided by the square
    of the unit's sensitivity. So visits and euros are compared by the largest change of one individual. Counts and sums
    of a column with shared noise are one measure.

    Args:
        plans: Dict from the name of each measure to its plan with its workload; the plans keep their marginals and
            shares.
        epsilon: Privacy level of all measures together, as a number or a `Level`.
        weights: Weight of the error of each measure, > 0; 1 for a measure that is not named.
        up_to: Highest level to which the releases will ever be relaxed; the shares are optimized for this level.

    Returns:
        The best shares among multiples of 1/200 (smaller steps for more than 10 measures). The attribute ``within``
        bounds how much less the error of other shares can be.

    Raises:
        OutOfRange, WrongKind, NotANumber: if a plan has no workload, if there are no plans or more than 50, if
            ``weights`` has unknown names, or if a weight is not positive.
        NotALevel: if a level is invalid, if ``up_to`` is below ``epsilon``, or if an error is too large for a float.

    Cost: 200 errors are computed for each plan; each error takes a tenth of a second.
    Source: composition; proofs/theory/counting.md, "One level for several measures".

    >>> from utmost.privacy import Unit
    >>> from utmost.workloads import Domain, Workload, choose_plan
    >>> domain, visits, spent = Domain(page=["home", "shop"]), Unit(3, 2), Unit(5000, 2)
    >>> plans = {
    ...     "visits": choose_plan(Workload(domain, {"page": 1}), visits, epsilon=1),
    ...     "spent": choose_plan(Workload(domain, {"page": 1}), spent, epsilon=1),
    ... }
    >>> shared = share_level(plans, epsilon=1, weights={"visits": 8})
    >>> {name: str(share) for name, share in shared.shares.items()}
    {'visits': '133/200', 'spent': '67/200'}
    """
    mapping(plans, "plans")
    if weights is not None:
        mapping(weights, "weights")
    now = level(epsilon)
    highest = now if up_to is None else level(up_to)
    if highest < now:
        remedy = "Pass a larger up_to=, or leave out up_to=."
        raise NotALevel("up_to= must be at least epsilon", came=up_to, remedy=remedy)
    read = _read_weights(plans, weights)
    if len(read) == 1:
        return SharedLevel(plans, dict.fromkeys(read, Fraction(1)), now, 1.0)
    whole = _PARTS * max(10, len(read))
    errors = np.array([read[name] * _errors(plan, highest, whole) for name, plan in plans.items()])
    if not np.isfinite(errors).all():
        raise NotALevel(f"the error of each plan at 1/{whole} of the level must fit a float", came=highest)
    value, parts = _best_multiples(errors, whole)
    bound, _ = _best_multiples(errors, whole + len(read) - 1)
    shares = {name: Fraction(part, whole) for name, part in zip(read, parts, strict=True)}
    within = round_up(_FLOATS * Fraction(value) / Fraction(bound)) if bound > 0 else None
    return SharedLevel(plans, shares, now, within)


def _read_weights(plans: Any, weights: Any) -> dict[str, float]:
    if not isinstance(plans, Mapping) or not all(isinstance(name, str) and name for name in plans):
        raise wrong_kind("plans", "a mapping from names to plans", plans)
    if not 1 <= len(plans) <= _MOST:
        raise OutOfRange(f"a level can be shared by 1 to {_MOST} plans", came=len(plans))
    for name, plan in plans.items():
        if not isinstance(plan, Plan):
            raise wrong_kind(f"the plan of {name!r}", "a Plan", plan)
        if plan.workload is None:
            remedy = "Pass workload= with the shares, or let ut.choose_plan choose the shares."
            raise OutOfRange(
                "the errors of a plan are known only for a workload", came="no workload", where=name, remedy=remedy
            )
    if weights is not None and not isinstance(weights, Mapping):
        raise wrong_kind("weights", "a mapping from names to numbers", weights)
    read = dict.fromkeys(plans, 1.0)
    for name, weight in ({} if weights is None else weights).items():
        if name not in read:
            remedy = f"The plans are {', '.join(read)}."
            raise OutOfRange("weights must have names of plans", came=repr(name), remedy=remedy)
        try:
            read[name] = float(exact(weight, "weights"))
        except OverflowError:
            read[name] = np.inf
        if not 0 < read[name] < np.inf:
            raise OutOfRange("weights must be positive numbers that fit a float", came=weight, where=name)
    return read


def _errors(plan: Plan, level: Level, parts: int) -> Floats:
    """Divide a level into equal parts; return the error of a plan at one part, two parts, ..., the whole level."""
    assert plan.workload is not None, "checked before"
    scale = float(plan.workload.weight) * float(plan.unit.sensitivity) ** 2
    levels = (level.scaled(Fraction(part, parts)) for part in range(1, parts + 1))
    return np.array([plan.value_at(own) / scale for own in levels])


def _best_multiples(errors: Floats, budget: int) -> tuple[float, list[int]]:
    """Choose columns 1, 2, ..., one in each row, that add up to ``budget``; return the least sum, and the columns."""
    # `errors` has the shape (measures, N); column b - 1 has the errors with b parts of the level.
    sums = np.full(budget + 1, np.inf)
    sums[0], choices = 0.0, list[NDArray[np.int64]]()
    # grown[b] is the least error of the rows so far with b parts; choice[b] is the number of parts of the last row.
    for row in errors:
        grown, choice = np.full(budget + 1, np.inf), np.zeros(budget + 1, dtype=np.int64)
        for parts, error in enumerate(row[:budget], 1):
            sums_with = sums[: budget + 1 - parts] + error
            better = sums_with < grown[parts:]
            grown[parts:][better], choice[parts:][better] = sums_with[better], parts
        sums, choices = grown, [*choices, choice]
    left, taken = budget, list[int]()
    for choice in reversed(choices):
        taken.append(int(choice[left]))
        left -= taken[-1]
    return float(sums[budget]), taken[::-1]


def levels_of_tables(
    tables: Any,
    shared: Any,
    epsilon: Number | Level | None,
) -> tuple[Level, dict[str, Level]]:
    """Return the level of all tables together (by default that of ``shared``), and the level of each table."""
    if not isinstance(shared, SharedLevel):
        raise wrong_kind("shared", "a SharedLevel", shared)
    if not isinstance(tables, Mapping) or set(tables) != set(shared.plans):
        remedy = f"The plans are {', '.join(shared.plans)}."
        raise OutOfRange("tables must have one table for each plan", came="other names", remedy=remedy)
    whole = shared.level if epsilon is None else level(epsilon)
    return whole, shared.levels(whole)
