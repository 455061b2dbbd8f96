"""Release numbers at any levels, in any order: all answers together cost the largest level."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.gradual.process import Path
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import DrawMethod
from utmost.core.sampling.grid import unsnapped_one
from utmost.core.sampling.level_draws import sample_path
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.core.sampling.random_bits import Randomness, secure
from utmost.errors import OutOfRange
from utmost.publish.promises.lattice import Lattice, lattice_of
from utmost.publish.releases.noised_cells import NoisedColumn


class GradualRelease(Display, ProcessMemory):
    """Release numbers at several levels: an array of any shape, in which each cell may have its own level.

    For tables with statements use `utmost.release`; a table has one level.

    Each cell has independent noise, geometric on the integers, or geometric on a fine grid (Laplace noise) on the
    reals. The noise at several levels has the joint distribution of one Markov process. So the answers at levels l_1,
    ..., l_m together satisfy the largest of these levels, and each answer has the distribution of a single release at
    its level.

    Args:
        values: An integer or real number, or a list or array of any shape. It is copied.
        sensitivity: Largest change of a value by one individual.
        cells: Number of values that one individual changes, 1 if left out. Each value gets 1/cells of the level.
        unit: Unit of privacy, instead of sensitivity and cells; see `Unit`.
        numbers: "integers" or "reals"; declared, since a guess from the values would reveal something about them.
        grid: Width of the grid for reals, a power of two. If left out, the width depends only on the sensitivity; up to
            epsilon 16 the grid reduces the accuracy by less than a millionth.
        half_step: Whether to use half-step staircase noise, for odd sensitivities above 1. Half-step noise is smaller
            than geometric noise if each cell gets at most epsilon 2.5, and can be relaxed without loss. With half-step
            noise the privacy loss grows with the number of changed cells, not with the l1 distance.
        randomness: Source of random bits, the operating system's if left out; a seeded source is refused.
        method: "constant" or "table", as for `sample`.

    Raises:
        NotANumber, BadTable: if a value cannot be released; the message gives its position. Nothing is drawn then. The
            error depends on the data, so show it only to the curator.
        OutOfRange: if the sensitivity is not positive, ``cells`` is below 1, or ``numbers`` is unknown.

    Guarantee: all answers together satisfy the level `spent`. Choose each level from answers, budgets and costs; a
    level chosen by looking at the true error is not covered.

    Source: [koufogiannis2015], Theorems 1, 11 and 12; on the integers, the process of geometric noise.

    >>> from utmost.exact import level
    >>> answer = GradualRelease([1198, 557], sensitivity=1)
    >>> lower, higher, between = answer.at(epsilon="1/4"), answer.at(epsilon=1), answer.at(epsilon="1/2")
    >>> answer.levels, answer.spent
    ((level(epsilon='1/4'), level(epsilon='1/2'), level(epsilon=1)), level(epsilon=1))
    >>> (answer.at(epsilon="1/4") == lower).all()
    np.True_
    """

    __slots__ = ("_method", "_noised", "_randomness")

    def __init__(
        self,
        values: Any,
        sensitivity: Number | None = None,
        *,
        unit: Unit | None = None,
        cells: Number | None = None,
        numbers: str = "integers",
        grid: Number | None = None,
        half_step: bool = False,
        randomness: Randomness | None = None,
        method: DrawMethod | None = None,
    ) -> None:
        one = read_unit(unit, sensitivity, cells, needs=("sensitivity",))
        self._open(
            values,
            lattice_of(numbers, one, grid, half_step),
            secure(randomness, instead="utmost.testing.seeded_gradual_release"),
            method,
        )

    def _open(self, values: Any, lattice: Lattice, randomness: Randomness, method: DrawMethod | None) -> None:
        self._noised = NoisedColumn.of(values, lattice)
        self._randomness, self._method = randomness, method

    def at(self, epsilon: Number | Level | NDArray[Any] | None = None) -> Any:
        """Return the answer at a level; a repeated call returns the same answer.

        Args:
            epsilon: Privacy level: a number or a `Level`; or an array with a level for each cell, in the shape of the
                values.

        Returns:
            A number if the release has one number, else an array. On the integers, an array has int64, or Python
            integers if a *released* number exceeds int64; on the reals, floats.

        Raises:
            NotALevel: if the level is invalid; nothing is spent then.
            Unsupported: if the level is new, and another process made the release.
        """
        with self._alone():
            noised, answer = self._noised.answered(epsilon, self._randomness, self._method)
            if noised.levels != self._noised.levels:
                self._check_owner()
            self._noised = noised
        return answer

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels at which some cell was answered, smallest epsilon first."""
        return tuple(sorted(self._noised.levels))

    @property
    def spent(self) -> Level | None:
        """The largest level answered: the cost of all answers together. None before the first answer."""
        return max(self._noised.levels, default=None)

    def __repr__(self) -> str:
        return f"GradualRelease({self._noised.values.size} cells, spent={self.spent})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisePath(Display):
    """The noise of one value at every level; keep it as secret as the value itself.

    Attributes:
        start: Smallest level.
        lattice: Lattice of the noise.
        steps: Noise at each level, in steps of the lattice.
    """

    start: Level
    lattice: Lattice
    steps: Path

    def at(
        self,
        epsilon: Number | Level | None = None,
    ) -> int | float:
        """Return the noise at a level of the path.

        Raises:
            OutOfRange: if the level is below ``start``.
        """
        return self._written(self.steps.at(self.lattice.of(level(epsilon))))

    @property
    def jumps(self) -> tuple[tuple[float, int | float], ...]:
        """Pairs (epsilon, size), by epsilon: where the level rises past epsilon, the noise changes by ``size``."""
        per_step = self.lattice.of(self.start).epsilon_float / self.start.epsilon_float
        jumps_by_level = zip(self.steps.levels, self.steps.jumps, strict=True)
        return tuple(sorted((epsilon / per_step, self._written(-jump.size)) for epsilon, jump in jumps_by_level))

    def _written(self, steps: int) -> int | float:
        return steps if self.lattice.exponent is None else unsnapped_one(steps, self.lattice.exponent)

    def __repr__(self) -> str:
        return f"NoisePath(start={self.start}, {len(self.steps.jumps)} jumps)"


def path(
    start: Number | Level,
    *,
    noise: int | float | None = None,
    unit: Unit | None = None,
    sensitivity: Number | None = None,
    cells: Number | None = None,
    numbers: str = "integers",
    grid: Number | None = None,
    randomness: Randomness | None = None,
) -> NoisePath:
    """Draw a path of geometric noise from the level ``start`` up to epsilon = infinity, where the noise is 0.

    The values of the path at several levels have the joint distribution of the noise in a `GradualRelease`. Given the
    noise at other levels, the noise at a level has the distribution of relaxing, tightening or bridging. For levels
    below ``start``, tighten the noise instead.

    Args:
        start: Epsilon or level at which the path begins.
        noise: Noise at ``start``; drawn if left out.
        unit: Unit of privacy, instead of ``sensitivity`` and ``cells``.
        sensitivity: Largest change of one cell by one individual, 1 if left out.
        cells: Largest number of cells that one individual changes, 1 if left out.
        numbers: "integers" or "reals".
        grid: Width of the grid for reals, a power of two.
        randomness: Source of random bits, the operating system's if left out.

    Source: [koufogiannis2015], Theorem 1B and Figure 1, on the integers.

    >>> found = path("1/10")
    >>> found.at(epsilon=1) == found.at(epsilon=1), found.at(epsilon=500)
    (True, 0)
    """
    bits = secure(randomness)
    lattice = lattice_of(numbers, read_unit(unit, sensitivity, cells, needs=()), grid)
    noise_there = None
    if noise is not None:
        read = lattice.read(noise)
        if read.shape is not None:
            raise OutOfRange(
                "the noise of one path must be a single number", came=f"noise of shape {read.shape}", where="noise"
            )
        noise_there = int(lattice.steps(read)[0])
    first = level(start)
    return NoisePath(first, lattice, sample_path(lattice.of(first), noise=noise_there, randomness=bits))
