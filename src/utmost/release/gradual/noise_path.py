"""One path of the noise, from a level up to epsilon = infinity, as a value."""

from dataclasses import dataclass

from utmost.errors import OutOfRange
from utmost.exact import Level, Number, checked, level
from utmost.noise.gradual import Path
from utmost.release.gradual.unit import Unit, unit_of
from utmost.release.secure import secure
from utmost.sampling.bits import Randomness
from utmost.sampling.gradual_path import sample_path
from utmost.sampling.grid import unsnapped_one


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisePath:
    """The noise of one value at every level at once; as secret as the value itself.

    Attributes:
        start: the strictest level.
        unit: of the noise.
        steps: the path in steps of the noise.
    """

    start: Level
    unit: Unit
    steps: Path

    def at(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> int | float:
        """The noise at a level of the path.

        Raises:
            OutOfRange: for a level stricter than ``start``.
        """
        return self._written(self.steps.at(self.unit.of(level(epsilon, alpha))))

    @property
    def jumps(self) -> tuple[tuple[float, int | float], ...]:
        """(epsilon, size): relaxed past epsilon, the noise moves by ``size``; strictest first."""
        per_step = self.unit.of(self.start).epsilon_float / self.start.epsilon_float
        found = zip(self.steps.levels, self.steps.jumps, strict=True)
        return tuple(sorted((epsilon / per_step, self._written(-jump.size)) for epsilon, jump in found))

    def _written(self, steps: int) -> int | float:
        return steps if self.unit.exponent is None else unsnapped_one(steps, self.unit.exponent)

    def __repr__(self) -> str:
        return f"NoisePath(start={self.start}, {len(self.steps.jumps)} jumps)"


@checked
def path(
    start: Number | Level,
    *,
    noise: int | float | None = None,
    sensitivity: Number = 1,
    cells: Number = 1,
    domain: str = "integers",
    grid: Number | None = None,
    randomness: Randomness | None = None,
) -> NoisePath:
    """A path of geometric noise from the level ``start`` up to epsilon = infinity, where the noise is 0.

    Evaluated at any levels in any order it has the joint law of `GradualRelease`: relax, tighten and bridge are its
    conditional laws. Below ``start`` tighten the noise instead.

    Args:
        start: an epsilon or a level.
        noise: the noise at ``start``; drawn, if left out.
        sensitivity, cells: of the values.
        domain: "integers" or "reals".
        grid: for reals, the width of the grid, a power of two.
        randomness: the operating system's if left out.

    Source: koufogiannis2015, Theorem 1B and Figure 1, on the integers.

    >>> found = path("1/10")
    >>> found.at(epsilon=1) == found.at(epsilon=1), found.at(epsilon=500)
    (True, 0)
    """
    bits = secure(randomness)
    unit = unit_of(domain, sensitivity, cells, grid)
    given = None
    if noise is not None:
        read = unit.read(noise)
        if read.shape is not None:
            raise OutOfRange("a path has one noise", came=f"noise of shape {read.shape}", where="noise")
        given = int(unit.steps(read)[0])
    first = level(start)
    return NoisePath(first, unit, sample_path(unit.of(first), noise=given, randomness=bits))
