"""Each kind of promised noise satisfies its level for all neighbours, and noise of cells that does not is refused."""

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import ceil
from typing import Any

import numpy as np
import pytest

import utmost as ut
from kinds import concrete_classes, noise_kinds

# The table of kinds, so that none is forgotten, and what the enumeration needs to know of them.
from utmost.core.noise.one_draw import DrawDistribution
from utmost.errors import PromiseBroken, Unsupported
from utmost.exact import Level, level
from utmost.noise import DiscreteStaircase, Geometric, IntegerDistribution, costs
from utmost.privacy import Amount
from utmost.privacy_types import check_promise, smallest_level
from utmost.promises import (
    CellNoise,
    DistributionNoise,
    OneDraw,
    OneWayDraw,
    SumNoise,
    key_noise,
    once_together,
    selected_cell_noise,
    together_noise,
)
from utmost.publish import promises
from utmost.publish.promises.noise_kinds import kind_named
from utmost.publish.promises.noise_of_universe import SelectedCellNoise
from utmost.publish.promises.promised_noise import PlannedNoise
from utmost.publish.promises.rotated_sums import ratios_of, sums_of
from utmost.publish.promises.together_at_level import grouped
from utmost.releases import CellNoiseAtLevel, Texts
from utmost.workloads import Domain, Plan

ONE, TWO = level(1), level(2)
LEVELS = [level(alpha="1/4"), level(epsilon="1/2"), level(epsilon=3)]
UNITS = [ut.Unit(1, 1), ut.Unit(1, 2), ut.Unit(5, 1), ut.Unit(3, 2, "change-one")]
SIGNED = ut.Unit(1, 3, nonnegative=True)
AMOUNT = ut.Unit(5, 2, amount=Amount("paid", "10"))
DOMAIN = Domain(sex=["men", "women"], age=["young", "old"])
EXAMPLES: dict[str, list[PlannedNoise]] = {
    "cells": [
        *(CellNoise(unit, numbers) for unit in UNITS for numbers in ("integers", "reals")),
        CellNoise(ut.Unit("5/2", 2), "reals", grid=2),
        CellNoise(ut.Unit(5, 2), half_step=True),
        CellNoise(AMOUNT),
    ],
    "cells at one level": [
        *(
            ut.Promise("n", noise=CellNoise(unit, numbers)).once().noise
            for unit in UNITS
            for numbers in ("integers", "reals")
        ),
        ut.Promise("n", noise=CellNoise(ut.Unit(20, 1), "reals", grid=8)).once().noise,
        ut.Promise("n", unit=AMOUNT).once("squared").noise,
        ut.Promise("n", unit=ut.Unit(5, 2)).once(relaxable=True).noise,
    ],
    "sums": [
        SumNoise(Plan(DOMAIN, unit, {"sex": "1/2", "age": "1/4", "": "1/4"}))
        for unit in (ut.Unit(1, 1), ut.Unit(2, 2), ut.Unit(1, 1, "change-one"))
    ],
    "together": [
        together_noise([*"ab"], unit=ut.Unit(1, 2)),
        together_noise([*"ab"], unit=ut.Unit(3, 2, "change-one")),
        together_noise([*"abc"], unit=ut.Unit(2, 3)),
        together_noise([*"abc"], unit=SIGNED, noise="signed"),
    ],
    "together at one level": [
        *(once_together([*"ab"], unit=ut.Unit(2, 2), noise=kind) for kind in ("joint", "staircase", "independent")),
        *(once_together([*"abc"], unit=SIGNED, noise=kind) for kind in ("range", "joint")),
    ],
    "cells of a distribution": [
        DistributionNoise(ut.Unit(5, 1), "DiscreteStaircase(step=1)"),
        DistributionNoise(ut.Unit(3, 2, "change-one"), "DiscreteStaircase"),
        DistributionNoise(AMOUNT, "Geometric"),
    ],
    "one draw": [
        OneDraw(ut.Unit(1, 2), 3),
        OneDraw(ut.Unit(2, 2, nonnegative=True), 3, step=1),
        OneDraw(ut.Unit(1, 2, nonnegative=True, in_total=1), 3),
    ],
    "one-way tables in one draw": [
        OneWayDraw(DOMAIN, ut.Unit(1, 1)),
        OneWayDraw(DOMAIN, ut.Unit(1, 1), table_shares={"sex age": "1/4"}),
        OneWayDraw(DOMAIN, ut.Unit(1, 1, "change-one", nonnegative=True), table_shares={"sex age": "1/4"}),
    ],
    "selected cells": [
        SelectedCellNoise(ut.Unit(1, cells), ("word", "count"), Texts("ab", 3), Fraction(1)) for cells in (1, 3)
    ],
}
ELSEWHERE = {"keys": "test_keys.py, by the recursion", "points": "test_planar.py, by the density"}
MADE_BY = {
    "together": together_noise,
    "together at one level": once_together,
    "keys": key_noise,
    "selected cells": selected_cell_noise,
    "cells at one level": ut.Promise.once,
}
"""The public function that makes a noise, where its class is not public."""
BOX = range(-3, 4)


def test_every_kind_has_a_name_in_json_and_is_public():
    assert {*concrete_classes(promises, PlannedNoise)} == {*map(kind_named, noise_kinds())}
    for kind in noise_kinds() - MADE_BY.keys():
        assert kind_named(kind).__name__ in ut.promises.__all__


def test_every_kind_is_tried():
    assert {*EXAMPLES} | {*ELSEWHERE} == noise_kinds()
    assert all(type(noise).json_kind == kind for kind, some in EXAMPLES.items() for noise in some)


def changes(unit: ut.Unit, cells: int) -> list[tuple[int, ...]]:
    """All changes of a given number of cells by the presence of one individual."""
    wide = int(unit.sensitivity)
    each = range(0 if unit.nonnegative else -wide, wide + 1)
    in_total = wide * unit.cells if unit.in_total is None else unit.in_total
    return [
        change
        for change in product(each, repeat=cells)
        if any(change) and sum(map(bool, change)) <= unit.cells and sum(map(abs, change)) <= in_total
    ]


def powers(parts: list[tuple[int, Level]]) -> Fraction:
    """The epsilon of sums that change by given steps, in units of the epsilon of level 1."""
    return sum((steps * one.power for steps, one in parts), Fraction(0))


@cache
def mass(distribution: Any, x: tuple[int, ...]) -> float:
    return float(distribution.pmf(x))


def distribution_spent(distribution: Any, change: tuple[int, ...], at: Level) -> bool:
    """Whether the noise of a few cells satisfies a level for a change, by probabilities or by the distances."""
    if isinstance(distribution, IntegerDistribution):
        return not at < smallest_level(distribution, abs(change[0]))
    if isinstance(distribution, DrawDistribution):
        near = {x: distribution.distance(x) for x in product(BOX, repeat=distribution.size)}
        moved = {x: distribution.distance(tuple(a + b for a, b in zip(x, change, strict=True))) for x in near}
        assert all((near[x] is None) == (moved[x] is None) for x in near)
        most = max(abs(near[x] - moved[x]) for x in near if near[x] is not None)
        return not at < distribution.ratio.scaled(max(most, 1))
    masses = {x: mass(distribution, x) for x in product(BOX, repeat=len(change))}
    moved = {x: mass(distribution, tuple(a + b for a, b in zip(x, change, strict=True))) for x in masses}
    return max(abs(np.log(masses[x] / moved[x])) for x in masses) <= at.epsilon_float * (1 + 1e-9)


def is_kept(noise: PlannedNoise, at: Level) -> bool:
    """Whether an answer satisfies its level for every change that the unit allows; a replacement counts as two
    changes."""
    planned = noise.at(at)
    unit = planned.unit  # with the promise of signs on which signed sums depend
    presence = at.scaled(Fraction(1, 2 if unit.neighbours == "change-one" else 1))
    if isinstance(planned, CellNoiseAtLevel):
        check_promise(planned.drawn)
        steps = ceil(unit.sensitivity / (planned.grid or 1))
        is_stored = isinstance(noise, CellNoise) and not noise.half_step
        assert not is_stored or noise.lattice.of(at) == planned.drawn.worst_level(Fraction(1))
        return not presence < smallest_level(planned.drawn, steps).scaled(unit.cells)
    if isinstance(noise, SumNoise):
        runs, tables = noise.runs, noise.plan.sums
        ratios = np.repeat([lattice.of(at).power for _, lattice in runs], [size for size, _ in runs])
        return all(
            sum(abs(np.concatenate([part.ravel() for part in tables(counted(change)).values()])) * ratios)
            <= presence.power
            for change in changes(unit, DOMAIN.size)
        )
    if isinstance(noise, SelectedCellNoise):
        return not presence < smallest_level(noise._distribution(at), 1).scaled(unit.cells)
    if isinstance(planned.distribution, DrawDistribution) and noise.is_in_steps:
        size = planned.distribution.size
        one_way = [(*a, *b) for a in ((1, 0), (0, 1)) for b in ((1, 0), (0, 1))]
        allowed = one_way if isinstance(noise, OneWayDraw) else changes(unit, size)
        changed_groups = 1
        if isinstance(noise, OneWayDraw) and unit.neighbours == "change-one":
            allowed = [tuple(np.subtract(*pair).tolist()) for pair in permutations(one_way, 2)]
            presence, changed_groups = at, 2
        for _, distribution in getattr(planned, "beside", ()):  # an individual is in one group of each further table
            spent = smallest_level(distribution, 1)
            assert spent.base == presence.base
            presence = Level(presence.base, presence.power - changed_groups * spent.power)
        return all(distribution_spent(planned.distribution, change, presence) for change in allowed)
    way = planned.way
    spent = [
        (distribution, presence.scaled(share))
        for distribution, share in zip(way.distributions, way.shares, strict=True)
    ]
    for change in changes(unit, unit.cells):
        for (distribution, share), part in zip(spent, grouped(change, way.groups), strict=True):
            if not any(part):
                continue
            if way.is_relaxable:
                sums = sums_of(distribution, [np.array([each]) for each in part])
                moved = [(abs(int(one[0])), ratio) for one, ratio in zip(sums, ratios_of(distribution), strict=True)]
                if powers(moved) > share.power:
                    return False
            elif not distribution_spent(distribution, part, share):
                return False
    return True


def counted(change: tuple[int, ...]) -> Any:
    return np.array(change).reshape(DOMAIN.shape)


@pytest.mark.parametrize("at", LEVELS, ids=str)
@pytest.mark.parametrize("kind", EXAMPLES)
def test_every_kind_keeps_its_promise(kind, at):
    """One individual more or less changes no probability by more than e^epsilon, by enumeration."""
    for noise in EXAMPLES[kind]:
        assert is_kept(noise, at), noise


def cells_with(distribution: Any, unit: ut.Unit, grid: Fraction | None = None) -> CellNoiseAtLevel:
    return CellNoiseAtLevel(level(1), unit, distribution, distribution, costs.absolute, False, Fraction(19, 20), grid)


@pytest.mark.parametrize(
    ("distribution", "unit", "remedy"),
    [
        (Geometric(1, 1), ut.Unit(1, 2), "Make the distribution with the level unit.per_cell(level)."),
        (Geometric(100, 5), ut.Unit(5, 1), "Make the distribution with the level unit.per_cell(level)."),
        (Geometric(1, 1), ut.Unit(1, 1, "change-one"), "Make the distribution with the level unit.per_cell(level)."),
        (Geometric("1/2", 1), ut.Unit(5, 2), "Make the distribution with the sensitivity unit.sensitivity"),
        (DiscreteStaircase("1/2", 4), AMOUNT, "Make the distribution with the sensitivity unit.sensitivity"),
    ],
)
def test_cells_whose_noise_breaks_its_promise_are_refused(distribution, unit, remedy):
    """Whoever made the noise; following the remedy works."""
    with pytest.raises(PromiseBroken) as raised:
        cells_with(distribution, unit)
    assert remedy in str(raised.value)
    mended = type(distribution)(unit.per_cell(level(1)), unit.sensitivity)
    assert cells_with(mended, unit).margin == unit.margin(mended.margin("0.95"))


def test_steps_of_a_grid_are_counted():
    """On a grid of 1/4 a change by 1 is 4 steps; promised and drawn noise are both checked."""
    with pytest.raises(PromiseBroken, match=r"sensitivity.* 4"):
        cells_with(Geometric(1, 1), ut.Unit(1, 1), Fraction(1, 4))
    assert cells_with(Geometric(1, 4), ut.Unit(1, 1), Fraction(1, 4)).margin == (12 + Fraction(1, 2)) / 4


class _Understated(IntegerDistribution):
    """Geometric noise of epsilon 2 that claims epsilon 1."""

    sensitivity = 1
    level, levels = ONE, (TWO,)

    def mass(self, arithmetic, i):
        b = arithmetic(TWO)
        return b.complement / (1 + b.b) * b.power(i)

    def tail(self, arithmetic, i):
        b = arithmetic(TWO)
        return b.power(i) / (1 + b.b)


class _Unsearched(_Understated):
    """It also answers itself where its loss is largest, and how large it is."""

    def worst_place(self, distance):
        return None

    def worst_level(self, distance):
        return self.level


class _Unanswered(_Understated):
    def worst_level(self, distance):
        return None


class _Inherited(Geometric):
    """Closed forms of geometric noise with other probabilities."""

    def mass(self, arithmetic, i):
        return _Understated().mass(arithmetic, i)

    def tail(self, arithmetic, i):
        return _Understated().tail(arithmetic, i)


@pytest.mark.parametrize("noise", [_Understated(), _Unsearched(), _Unanswered(), _Inherited(1, 1)])
def test_a_level_that_a_distribution_does_not_keep_is_refused(noise):
    with pytest.raises(PromiseBroken, match=r"epsilon=1; got (epsilon=|None from worst_level)|canonical and"):
        cells_with(noise, ut.Unit(1, 1))


def test_noise_without_a_theorem_claims_nothing():
    for unit, noise in (
        (ut.Unit(3, 1), DiscreteStaircase(1, 3, step=1)),
        (ut.Unit(3, 2), DiscreteStaircase("1/2", 3, step=1)),
    ):
        words = cells_with(noise, unit).theorem
        assert ("not claimed" in words, "This" in words) == (True, False)


def test_cells_bounded_in_total_take_geometric_noise_alone():
    unit = ut.Unit(2, 4, in_total=4)
    with pytest.raises(Unsupported, match="need geometric noise"):
        cells_with(DiscreteStaircase(unit.per_cell(level(1)), 2), unit)
