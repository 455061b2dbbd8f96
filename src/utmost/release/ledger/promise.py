"""What a release promises at every level: whom it protects, and on which lattice its noise lives."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, round_up
from utmost.noise import DiscreteStaircase, Geometric
from utmost.noise.law import read_confidence
from utmost.release.gradual.unit import Unit as Lattice
from utmost.release.gradual.unit import unit_of
from utmost.release.protection import warn_of_level
from utmost.release.unit import Unit


@dataclass(frozen=True, slots=True)
class Promise:
    """The promise of a release, whatever its levels.

    Attributes:
        unit: what one individual changes.
        half_step: whether the noise is the half-step staircase rather than geometric.
        grid: the width 2^-k of the grid on which reals are released; None for integers.
        lattice: the same in steps of the noise.
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
        # Snapping moves a value down by less than one step of the grid.
        return int(steps) if self.grid is None else round_up((steps + 1) * self.grid)

    def warn(self, level: Level) -> None:
        """Warn of a level at which practically nobody is protected, see `warn_of_level`."""
        warn_of_level(level, Geometric(self.unit.per_cell(level), self.lattice.sensitivity))

    def facts(self) -> dict[str, Any]:
        """The promise as an event keeps it."""
        return {
            "sensitivity": str(self.unit.sensitivity),
            "cells": self.unit.cells,
            "neighbours": self.unit.neighbours,
            "half_step": self.half_step,
            "grid": None if self.grid is None else str(self.grid),
        }

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "Promise":
        """The promise that an event keeps."""
        domain = "integers" if facts["grid"] is None else "reals"
        names = ("sensitivity", "cells", "neighbours", "half_step", "grid")
        return promised(domain=domain, **{name: facts[name] for name in names})


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
    if not isinstance(domain, str) or domain not in ("integers", "reals"):
        raise OutOfRange('domain must be "integers" or "reals"', came=domain)
    if domain == "integers" and grid is not None:
        raise OutOfRange("whole numbers have no grid", came=grid, mend='Leave out grid=, or pass domain="reals".')
    if not isinstance(half_step, bool):
        raise OutOfRange("half_step must be true or false", came=half_step)
    lattice = unit_of(0 if domain == "integers" else 0.0, unit.sensitivity, 1, grid, half_step)
    width = None if lattice.exponent is None else Fraction(2) ** -lattice.exponent
    return Promise(unit, half_step, width, replace(lattice, cells=unit.charged))
