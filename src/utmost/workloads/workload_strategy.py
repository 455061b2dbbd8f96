"""Strategies: which families of a domain are measured, each with a fixed share of the level; and the one to choose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isinf, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.errors import NotALevel, OutOfRange, Unsupported
from utmost.exact import Level, Number, checked, exact, level, wrong_kind
from utmost.exact.shown import Shown
from utmost.privacy import Unit
from utmost.workloads.blocks import Blocks, precision
from utmost.workloads.candidates import (
    candidate_families,
    check_determined,
    finest_common,
    named_candidates,
    undetermined,
)
from utmost.workloads.domain import Domain, Family
from utmost.workloads.even_levels import EvenLevels
from utmost.workloads.least_error import AIMS, least_shares
from utmost.workloads.unequal_trees import TreeError, least_tree_shares
from utmost.workloads.workload import Workload
from utmost.workloads.workload_bounds import bounds_of
from utmost.workloads.workload_evidence import WorkloadBounds, level_of_atoms

_MANY_PARTS = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Strategy(Shown):
    """Families to measure, and the share of the level that each spends.

    Each sum over a group of a measured family gets geometric noise of its own. One individual changes at most
    ``unit.charged`` atoms, each by at most the sensitivity, and each atom lies in one group of each family; so the
    whole is private at the level of which the shares are shares. Shares do not depend on the level, so a release can be
    relaxed without loss.

    Made by `strategy`, which chooses the shares for a workload, or by hand.

    Args:
        domain: the declared domain.
        unit: what one individual changes, in atoms.
        shares: of each measured family its share of the level, positive, together 1. A family may be named by its
            levels.
        workload: the sums that are wanted, which the measured families must determine; None where nobody said.
        level: at which the strategy's variances are stated.
        tuned_at: the level at which the shares were chosen; the same where None.

    Raises:
        OutOfRange: for shares that are not so, families that the domain has not, and wanted answers that the measured
            families do not determine.
    """

    _shown = ("domain", "unit", "measured", "level")

    domain: Domain
    unit: Unit
    shares: Mapping[Family, Fraction]
    workload: Workload | None
    level: Level | None
    tuned_at: Level | None

    def __init__(
        self,
        domain: Domain,
        unit: Unit,
        shares: Mapping[Any, Number],
        workload: Workload | None = None,
        level: Level | None = None,
        tuned_at: Level | None = None,
    ) -> None:
        if not isinstance(domain, Domain):
            raise wrong_kind("domain", "a Domain", domain)
        if not isinstance(unit, Unit):
            raise wrong_kind("unit", "a Unit", unit)
        read = sorted((domain.family(family), exact(share, "share")) for family, share in shares.items())
        if len(dict(read)) < len(read) or any(share <= 0 for _, share in read) or sum(s for _, s in read) != 1:
            remedy = "Leave out what is not measured, and give each family once."
            raise OutOfRange("the shares must be positive and add up to 1", came="others", remedy=remedy)
        if workload is not None:
            if not workload.domain.same_as(domain):
                raise OutOfRange("a strategy and its workload must share their domain", came="two domains")
            _check_measured(workload, unit, dict(read))
        found = (domain, unit, dict(read), workload, level, level if tuned_at is None else tuned_at)
        for name, value in zip(Strategy.__slots__, found, strict=True):
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Strategy, (self.domain, self.unit, dict(self.shares), self.workload, self.level, self.tuned_at)

    def __str__(self) -> str:
        return _table(self)

    @property
    def measured(self) -> int:
        """How many sums are measured."""
        return sum(prod(self.domain.group_shape(family)) for family in self.shares)

    def sums(self, atoms: NDArray[Any]) -> dict[Family, NDArray[Any]]:
        """The sums over the groups of each measured family, from an array with one number for each atom."""
        return {family: self.domain.sums(atoms, family) for family in self.shares}

    def facts(self) -> dict[str, Any]:
        """Domain and shares as JSON values, which `of_facts` reads."""
        shares = [[list(self.domain.level_names(family)), str(share)] for family, share in self.shares.items()]
        return {"domain": self.domain.facts(), "shares": shares}

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], unit: Unit) -> "Strategy":
        """The strategy that JSON values describe, for a unit of privacy.

        Raises:
            OutOfRange, WrongKind, NotANumber: for what describes none.

        >>> strategy = Strategy(Domain(sex=["men", "women"]), Unit(1, 2), {"sex": "3/4", "": "1/4"})
        >>> Strategy.of_facts(strategy.facts(), Unit(1, 2)).shares == strategy.shares
        True
        """
        if not isinstance(facts, Mapping) or not {"domain", "shares"} <= set(facts):
            raise wrong_kind("facts", 'a mapping with "domain" and "shares"', facts)
        domain = Domain.of_facts(facts["domain"])
        return cls(domain, unit, {domain.family(names): share for names, share in facts["shares"]})

    @checked
    def levels(self, level: Level) -> dict[Family, Level]:
        """Of each measured family, the level of the noise on each of its sums, at the unit's sensitivity.

        >>> from utmost.exact import level
        >>> strategy = Strategy(Domain(sex=["men", "women"]), Unit(1, 2), {"sex": "3/4", "": "1/4"})
        >>> {strategy.domain.family_name(family): one.epsilon for family, one in strategy.levels(level(1)).items()}
        {'sex': Fraction(3, 8), '': Fraction(1, 8)}
        """
        return {family: self.unit.per_cell(level).scaled(share) for family, share in self.shares.items()}

    @checked
    def variances_at(self, level: Level) -> dict[str, float]:
        """Of each wanted part the mean variance of its answers, by least squares from a release at this level.

        Raises:
            OutOfRange: for a strategy without a workload.

        >>> from utmost.exact import level
        >>> domain = Domain(sex=["men", "women"])
        >>> wanted = Workload(domain, {"sex": 1, "": 1})
        >>> atoms = Strategy(domain, Unit(1, 1), {"sex": 1}, wanted)
        >>> {name: round(variance, 4) for name, variance in atoms.variances_at(level(1)).items()}
        {'sex': 1.8413, '': 3.6827}
        """
        return _variances(_wanted(self), self.unit, self.shares, level)

    @property
    def variances(self) -> dict[str, float]:
        """`variances_at` the strategy's own level."""
        return self.variances_at(_stated(self, self.level))

    @property
    def value(self) -> float:
        """The sum over the wanted parts of weight times mean variance, at the strategy's own level."""
        variances = self.variances
        return sum(float(part.weight) * variances[part.name] for part in _wanted(self).parts)

    @property
    def lower_bounds(self) -> WorkloadBounds:
        """How small the weighted error could be at the strategy's own level, class by class; see `bounds_of`.

        >>> domain = Domain(a=range(20), b=range(50))
        >>> chosen = strategy(Workload(domain, {"a": 1, "b": 1, "": 1}), Unit(1, 1), epsilon=1)
        >>> {kind: round(times, 3) for kind, times in chosen.lower_bounds.within(chosen.value).items()}
        {'per answer': 9.244, 'any unbiased': 6.454, 'any integer strategy': 3.227, 'these families': 3.227}
        """
        return bounds_of(_wanted(self), self.unit, _stated(self, self.level))

    def summary(self) -> str:
        """What is measured and wanted, and how many times the error is each lower bound; a table to print.

        >>> domain = Domain(sex=["men", "women"])
        >>> print(strategy(Workload(domain, {"sex": 1}), Unit(1, 1), epsilon=1).summary())
        epsilon=1
        measured  share
        sex       1
        wanted  answers  weight  standard deviation
        sex     2        1       1.357
        error at most  the least error of
        1 times        any mechanism and any estimate
        2 times        any mechanism with unbiased answers
        1 times        integer combinations of atoms, each with geometric noise on the integers of a level of its own
        1.001 times    the families given, every group with a level of its own
        """
        bounds = self.lower_bounds
        found = bounds.each()
        rows = [
            [
                f"{ceil(times * 1000 - 1e-6) / 1000:g} times",
                found[kind].holds_for,
            ]  # rounded up, but for a float's error
            for kind, times in bounds.within(self.value).items()
        ]
        return f"{self}\n{_aligned([['error at most', 'the least error of'], *rows])}"

    def alternatives(self, weightings: Mapping[str, Mapping[str, Number]] | None = None) -> "Alternatives":
        """Strategies for other weights of the same parts, to choose between by their `variances`.

        Args:
            weightings: by a name for each, the weights by part; a part without one has a 10^9th of the least, so that
                it is determined. None for these: every part alike, every answer alike, the least largest error, each
                part a hundred times the others (of up to 8 parts), and the finest family that any part needs, alone.

        Returns:
            By name, strategies with this one's workload, unit and levels; printed, their standard deviations by part.

        >>> domain = Domain(place=range(200), sex=["men", "women"])
        >>> chosen = strategy(Workload(domain, {"place": 1, "": 1}), Unit(1, 1), epsilon=1)
        >>> print(chosen.alternatives({"places": {"place": 1}, "both": {"place": 4, "": 1}}))
        standard deviations  place  total
        these shares         2.787  2.798
        places               1.357  19.19
        both                 2.254  3.637
        """
        workload, tuned = _wanted(self), _stated(self, self.tuned_at)
        found = {
            name: _least(_weighted(workload, weights), self.unit, tuned)
            for name, weights in (_usual_weightings(workload) if weightings is None else weightings).items()
        }
        if weightings is None:
            if not _is_unequal_tree(self.domain):
                found["least largest error"] = _least(workload, self.unit, tuned, aim="largest")
            found["atoms alone"] = {_atoms_alone(workload): Fraction(1)}
        others = {
            name: Strategy(self.domain, self.unit, shares, workload, self.level, self.tuned_at)
            for name, shares in found.items()
        }
        return Alternatives({"these shares": self, **others})


@checked
def strategy(
    wanted: Workload,
    unit: Unit,
    *,
    epsilon: Number | Level | None = None,
    alpha: Number | None = None,
    up_to: Number | Level | None = None,
    candidates: Iterable[Any] | None = None,
    aim: str = "mean",
) -> Strategy:
    """The best strategy that a search finds for a workload: which families to measure, and their shares of the level.

    The search exchanges shares between pairs of families from several starts; the strategy is never worse than the
    atoms alone, equal shares of the wanted families, and equal shares of all. It need not be the best there is: how far
    it can be is what lower bounds say. Shares are multiples of 1/1000 (of finer steps for more than 50 families), or
    equal ones.

    Args:
        wanted: the sums that are wanted, with the weights of their errors.
        unit: what one individual changes, in atoms.
        epsilon, alpha: exactly one of them: the level of the whole release.
        up_to: the highest level to which it will ever be relaxed, as epsilon or a `Level`. Shares are tuned there, as
            levels spread over many families cost most at high levels.
        candidates: families that may be measured; None for all that can be of use, see `candidate_families`.
        aim: "mean" for the least weighted sum of mean variances, "largest" for the least weighted mean variance of the
            worst part.

    Raises:
        OutOfRange: for candidates that do not determine a wanted answer, and an aim that has no name here.
        NotALevel: for a level that is none, and up_to below the level.
        Unsupported: for a candidate whose groups differ in size beside other axes; on a single tree of such groups, for
            candidates, for another aim than the mean, and for wanted sums that are no groups.

    Cost: independent of the number of atoms; seconds for 64 families.

    >>> domain = Domain(a=range(20), b=range(50))
    >>> print(strategy(Workload(domain, {"a": 1, "b": 1}, per_answer=True), Unit(1, 1), epsilon=1))
    epsilon=1
    measured  share
    a         0.423
    b         0.577
    wanted  answers  weight  standard deviation
    a       20       20      3.283
    b       50       50      2.403
    """
    now = level(epsilon, alpha)
    highest = now if up_to is None else level(up_to)
    if highest < now:
        raise NotALevel("up_to must be at least the level of the release", came=up_to)
    if aim not in AIMS:
        raise OutOfRange(f"aim must be one of {', '.join(AIMS)}", came=aim)
    return Strategy(wanted.domain, unit, _least(wanted, unit, highest, candidates, aim), wanted, now, highest)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alternatives(Shown):
    """Strategies to choose between; printed, the standard deviation of each wanted part by each.

    Attributes:
        strategies: by name, all for the same parts and levels.
    """

    strategies: Mapping[str, Strategy]

    def __getitem__(self, name: str) -> Strategy:
        return self.strategies[name]

    @property
    def deviations(self) -> dict[str, dict[str, float]]:
        """Of each strategy, by part the root of the mean variance."""
        return {
            name: {part: sqrt(variance) for part, variance in one.variances.items()}
            for name, one in self.strategies.items()
        }

    def __str__(self) -> str:
        rows = [[name, *map(_shown, found.values())] for name, found in self.deviations.items()]
        parts = [part or "total" for part in next(iter(self.deviations.values()))]
        return _aligned([["standard deviations", *parts], *rows])


def _wanted(chosen: Strategy) -> Workload:
    if chosen.workload is None:
        remedy = "Give workload= with the shares, or let ut.strategy choose them."
        raise OutOfRange("a strategy must know what is wanted", came="shares alone", remedy=remedy)
    return chosen.workload


def _stated(chosen: Strategy, level: Level | None) -> Level:
    if level is None:
        raise OutOfRange("a strategy must know its level", came="none", remedy="Ask for .variances_at(level).")
    return level


def _is_unequal_tree(domain: Domain) -> bool:
    """Whether the domain is one axis with a level of groups of several sizes: these are measured, too."""
    return len(domain.axes) == 1 and domain.axes[0].blocks is None


def _least(
    workload: Workload, unit: Unit, level: Level, candidates: Iterable[Any] | None = None, aim: str = "mean"
) -> dict[Family, Fraction]:
    """The shares that the search for the domain's kind finds."""
    if not _is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        named = None if candidates is None else [even.reduced(workload.domain.family(name)) for name in candidates]
        families = candidate_families(even.workload) if named is None else named_candidates(even.workload, named)
        found = least_shares(even.workload, families, float(level_of_atoms(unit, level).epsilon_float), aim)
        return {even.whole(family): share for family, share in found.items()}
    if candidates is not None or aim != "mean":
        remedy = "Leave candidates= and aim= out, or declare levels whose groups have one size."
        raise Unsupported("over groups of several sizes all levels are candidates", came="others", remedy=remedy)
    return least_tree_shares(workload, unit, level)


def _check_measured(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction]) -> None:
    if not _is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        check_determined(even.workload, even.reduced_shares(shares))
        return
    for name, variance in _variances(workload, unit, shares, level(1)).items():
        if isinf(variance):
            raise undetermined(name)


def _variances(workload: Workload, unit: Unit, shares: Mapping[Family, Fraction], level: Level) -> dict[str, float]:
    whole = float(level_of_atoms(unit, level).epsilon_float)
    if not _is_unequal_tree(workload.domain):
        even = EvenLevels.of(workload)
        blocks = Blocks.of(even.workload.domain, even.reduced_shares(shares), even.workload.eigenspaces)
        levels = np.array([float(share) for share in shares.values()]) * whole
        return {part.name: blocks.value(part.spectrum(blocks), levels) for part in even.workload.parts}
    by_level = np.zeros(len(workload.domain.axes[0].levels) + 1)
    for family, share in shares.items():
        by_level[family[0]] = float(share)
    errors = {part.name: TreeError.of(workload.reweighted({part.name: 1}), unit, level) for part in workload.parts}
    return {name: float(error(by_level)) / float(precision(whole)) for name, error in errors.items()}


def _atoms_alone(workload: Workload) -> Family:
    """The coarsest family that may be measured and determines all that is wanted."""
    if _is_unequal_tree(workload.domain):
        return finest_common(workload.families)
    even = EvenLevels.of(workload)
    return even.whole(finest_common(even.workload.families))


def _weighted(workload: Workload, weights: Mapping[str, Number]) -> Workload:
    """The workload with these weights, and a trace of weight on what they leave out."""
    read = {name: exact(weight, "weight") for name, weight in weights.items()}
    trace = min(read.values(), default=Fraction(1)) / 10**9
    return workload.reweighted({**{part.name: trace for part in workload.parts}, **read})


def _usual_weightings(workload: Workload) -> dict[str, dict[str, Number]]:
    parts = workload.parts
    if len(parts) == 1:
        return {}
    found: dict[str, dict[str, Number]] = {
        "every part alike": {part.name: 1 for part in parts},
        "every answer alike": {part.name: part.answers for part in parts},
    }
    for first in parts if len(parts) <= _MANY_PARTS else ():
        found[f"{first.name or 'total'} above all"] = {
            part.name: 1 if part is first else Fraction(1, 100) for part in parts
        }
    return found


def _table(chosen: Strategy) -> str:
    """What is measured, and what is wanted with its standard deviation."""
    name = chosen.domain.family_name
    measured = [[name(family) or "total", _share(share)] for family, share in chosen.shares.items()]
    lines = [_aligned([["measured", "share"], *measured])]
    if chosen.workload is not None and chosen.level is not None:
        tuned = "" if chosen.tuned_at == chosen.level else f", shares tuned at {chosen.tuned_at}"
        variances = chosen.variances
        wanted = [
            [part.name or "total", str(part.answers), _shown(float(part.weight)), _shown(sqrt(variances[part.name]))]
            for part in chosen.workload.parts
        ]
        lines.insert(0, f"{chosen.level}{tuned}")
        lines.append(_aligned([["wanted", "answers", "weight", "standard deviation"], *wanted]))
    return "\n".join(lines)


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _share(share: Fraction) -> str:
    """A share as a decimal where it is a short one, else as a fraction."""
    return str(share) if 10**6 % share.denominator else f"{float(share):.6g}"


def _shown(number: float) -> str:
    return f"{number:.4g}"
