"""What a release promises at every level: whom it protects, and on which lattice its noise lives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, get_args

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, round_up
from utmost.noise import DiscreteStaircase, Geometric
from utmost.noise.law import read_confidence
from utmost.release.gradual.unit import Unit as Lattice
from utmost.release.gradual.unit import unit_of
from utmost.release.unit import Unit
from utmost.sampling.grid import Snapping, reach


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise of a release, whatever its levels.

    Attributes:
        unit: what one individual changes.
        half_step: whether the noise is the half-step staircase rather than geometric.
        grid: the width 2^-k of the grid on which reals are released; None for integers.
        lattice: the same in steps of the noise, with the rule by which reals get to the grid.
    """

    unit: Unit
    half_step: bool
    grid: Fraction | None
    lattice: Lattice

    @property
    def domain(self) -> str:
        """ "integers" or "reals"."""
        return "integers" if self.grid is None else "reals"

    def radius(self, level: Level, confidence: Number) -> int | float:
        """The least distance within which a released value lies of the true one, with this confidence."""
        sure = read_confidence(confidence)
        if self.half_step:
            steps = DiscreteStaircase.half_step(self.unit.per_cell(level), self.lattice.sensitivity).radius(sure)
        else:
            steps = Geometric(self.lattice.of(level)).radius(sure)
        return int(steps) if self.grid is None else round_up((steps + reach(self.lattice.snapping)) * self.grid)

    def facts(self) -> dict[str, Any]:
        """The promise as an event keeps it."""
        return {
            "sensitivity": str(self.unit.sensitivity),
            "cells": self.unit.cells,
            "neighbours": self.unit.neighbours,
            "half_step": self.half_step,
            "grid": None if self.grid is None else str(self.grid),
            "snapping": None if self.grid is None else self.lattice.snapping,
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Promise":
        """The promise that an event keeps; one of before there was a choice snapped by floor."""
        domain = "integers" if facts["grid"] is None else "reals"
        names = ("sensitivity", "cells", "neighbours", "half_step", "grid")
        promise = promised(domain=domain, **{name: facts[name] for name in names})
        return promise if facts["grid"] is None else promise.snapped_by(facts.get("snapping", "floor"))

    def snapped_by(self, rule: str) -> "Promise":
        """The same promise with another rule of snapping.

        Raises:
            OutOfRange: for a rule that is none.

        >>> promised(sensitivity=1, cells=1, domain="reals").snapped_by("floor").lattice.snapping
        'floor'
        """
        if rule not in get_args(Snapping):
            raise OutOfRange('snapping must be "nearest" or "floor"', came=rule)
        return replace(self, lattice=replace(self.lattice, snapping=rule))  # type: ignore[arg-type]


def promised(
    *,
    sensitivity: Number,
    cells: Number,
    neighbours: str = "add-remove",
    domain: str = "integers",
    grid: Number | None = None,
    half_step: bool = False,
) -> Promise:
    """Read a promise.

    Raises:
        OutOfRange, NotANumber: for a parameter that is no such thing.

    >>> promised(sensitivity=1, cells=2, neighbours="change-one").lattice.cells
    4
    """
    unit = Unit(sensitivity, cells, neighbours)
    if not isinstance(half_step, bool):
        raise OutOfRange("half_step must be true or false", came=half_step)
    lattice = unit_of(domain, unit.sensitivity, 1, grid, half_step)
    width = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
    return Promise(unit, half_step, width, replace(lattice, cells=unit.charged))
