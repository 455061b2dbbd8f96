"""Points of the plane, or of n dimensions, released at epsilon per unit of distance, and relaxed later."""

import math
import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from utmost.errors import Infeasible, NotANumber, OutOfRange, Unsupported
from utmost.exact import Level, Number, checked, checked_parts, exact, level, natural, round_up
from utmost.exact.levels import integer_root
from utmost.exact.shown import Shown
from utmost.gradual import EuclideanLaplace
from utmost.gradual.euclidean_noise import MOST_DIMENSIONS
from utmost.noise.law import read_confidence
from utmost.release.accuracy import least_decimal
from utmost.release.values import read_reals, secure
from utmost.sampling.grid import COARSEST, FINEST
from utmost.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.sampling.integers import Integers
from utmost.sampling.random_bits import KEY_BYTES, Randomness

# Rounding to a 64th of 1/epsilon moves the error bar of 95 % by 0.24 % at most, in the plane.
_FINE = 64
# From about here on a product of geometric noises has the smaller error, where the values are on the grid.
_COARSEST_STEP = Fraction(17, 10)
_LARGEST = Fraction(10) ** 300
_PLACES_AT_ONCE = 1 << 22


@checked_parts
@dataclass(frozen=True, slots=True, repr=False)
class PlanarLaw(Shown):
    """The noise of one answer, and the grid that the answer is rounded to.

    Args:
        level: epsilon for each ``per`` of Euclidean distance.
        dimensions: of the points.
        per: the distance that the level is for.
        declared: the width of the grid; chosen by the level if None.

    Raises:
        OutOfRange: for lengths that are not positive, and for a grid that is wider than 1.7 of ``per/epsilon``.
    """

    level: Level
    dimensions: int
    per: Fraction
    declared: Fraction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "per", read_width(self.per, "per"))
        step = self.noise.level
        if self.declared is None:
            return
        width = read_width(self.declared, "grid")
        object.__setattr__(self, "declared", width)
        if step.scaled(width).epsilon_interval(64).lower > _COARSEST_STEP:
            raise OutOfRange(
                "a step of the grid must cost at most epsilon 1.7, the level for a distance of its width",
                came=f"a width of {width}, and {self.level} for {self.per}",
                where="grid",
                remedy="Declare a finer grid, or none; for points that are on this grid noise of each coordinate by "
                'itself is less: GradualRelease(numbers="integers") at a share 1/sqrt(n) of the level.',
            )

    @property
    def noise(self) -> EuclideanLaplace:
        """The law before rounding, in the unit of the coordinates."""
        return EuclideanLaplace(self.level.scaled(1 / self.per), self.dimensions)

    @property
    def grid(self) -> Fraction:
        """The width of the grid: the one declared, or the largest power of two that is at most per/(64 epsilon).

        >>> PlanarLaw(level(epsilon=1), 2, Fraction(200)).grid
        Fraction(2, 1)
        """
        return _fine_grid(self.noise.level) if self.declared is None else self.declared

    def radius(self, confidence: Number = "0.95") -> float:
        """The distance within which an answer lies of its point with this chance; rounding is in it, certainly enough.

        The radius of the noise, plus half the diagonal of a cell of the grid; both rounded up.

        >>> PlanarLaw(level(epsilon=1), 2, Fraction(200)).radius()
        950.187...
        """
        return round_up(_radius(self.noise, self.grid, read_confidence(confidence)))


def _radius(noise: EuclideanLaplace, grid: Fraction, confidence: Fraction) -> Fraction:
    return noise.radius_fraction(confidence) + grid * _root_above(noise.dimensions) / 2


def _fine_grid(step: Level) -> Fraction:
    """2^-k with the least k for which 2^k >= 64 epsilon, epsilon the level of one unit of length."""
    wanted = step.epsilon_interval(128 + step.power.denominator.bit_length()).upper * _FINE
    k = wanted.numerator.bit_length() - wanted.denominator.bit_length() - 1
    while Fraction(2) ** k < wanted:
        k += 1
    return Fraction(2) ** -max(COARSEST, min(FINEST, k))


def _root_above(n: int) -> Fraction:
    """A rational just above the square root of n."""
    return Fraction(integer_root(n << 128, 2) + 1, 1 << 64)


class PlanarRelease(Shown):
    """Points and their noise at all levels at once: epsilon for each unit of Euclidean distance.

    Each point x has a hidden path of noise V, of which V_e has the density c exp(-e |v|), whatever the dimension; what
    leaves is x + V_e, rounded to a grid. Whoever has the answers at levels l_1, ..., l_m can tell x from x' no better
    than by a factor of exp(e |x - x'|), with e the largest of them: a coalition costs its largest level. The distances
    of several points add up.

    Args:
        points: shape (..., n): one point, a list of them, or an array; floats, integers, Fractions and Decimals, each
            taken for exactly the number that it is. They are copied. How many there are is not hidden.
        per: the distance that a level is for: 200 for "epsilon = 1 for 200 m", in the unit of the coordinates.
        grid: the width of the grid to which answers are rounded, any positive number; if left out, at each level the
            largest power of two that is at most a 64th of per/epsilon. Rounding follows the noise and costs no privacy.
        randomness: the operating system's if left out; a seeded source is refused.

    Raises:
        NotANumber: for a coordinate that is no finite number, with its place; nothing has been drawn then. Such a
            refusal depends on the data, and is for the curator alone.
        OutOfRange: for a distance or grid that is not positive.

    Promise: all answers together keep ``spent`` for each ``per`` of distance. Levels are chosen from what is public.
    Not promised: that nobody can tell which city a point is in. Points far apart are told apart, by design; and so is
    who is in the data, and how many points each individual has.

    Source: docs/theory/planar.md; koufogiannis2015 for one dimension, andres2013 for planar noise at one level.

    >>> homes = PlanarRelease([[651_300.0, 6_861_200.0], [652_900.5, 6_860_100.0]], per=200)
    >>> strict, loose = homes.at(epsilon="1/2"), homes.at(epsilon=2)
    >>> strict.shape, homes.spent, bool((homes.at(epsilon="1/2") == strict).all())
    ((2, 2), Level(epsilon=2), True)
    """

    __slots__ = ("_declared", "_flat", "_key", "_levels", "_lock", "_paths", "_per", "_process", "_shape")

    def __init__(
        self,
        points: Any,
        *,
        per: Number = 1,
        grid: Number | None = None,
        randomness: Randomness | None = None,
    ) -> None:
        self._open(points, per, grid, secure(randomness))

    def _open(self, points: Any, per: Number, grid: Number | None, randomness: Randomness) -> None:
        self._per = read_width(per, "per")
        self._declared = None if grid is None else read_width(grid, "grid")
        flat, shape = read_reals(points)
        if not shape or shape[-1] == 0:
            raise NotANumber(
                "points must have the shape (..., n), with n coordinates each", came="another", where="points"
            )
        natural(shape[-1], "the number of coordinates", least=1, most=MOST_DIMENSIONS)
        self._flat, self._shape = flat.copy(), shape
        self._key = randomness.words(KEY_BYTES // 8, 64).tobytes()
        self._paths: HiddenPaths | None = None
        self._levels: tuple[Level, ...] = ()
        self._lock, self._process = threading.Lock(), os.getpid()

    def at(
        self, epsilon: Number | Level | None = None, *, alpha: Number | None = None, places: Any = None
    ) -> NDArray[Any]:
        """The answer at a level; asked again, the same answer.

        Args:
            epsilon: the level for each ``per`` of distance, or alpha = exp(-epsilon) instead.
            places: allowed places, shape (k, n): the answer is then the number of the place that is nearest to each
                answer, an array of the shape of the points without its last axis. Of several nearest ones, the first.

        Returns:
            float64 of the shape of the points: the floats nearest to the points of the grid.

        Raises:
            NotALevel: for what is no level; nothing is spent then.
            OutOfRange: for a declared grid that is too wide for the level; nothing is spent then.
            Unsupported: for a new level asked for in another process than the one that made the release.

        Cost: at the first level asked for 1 us a point, at others about 1 us more for each event, of which there are
            (n + 1) |log(e/e0)| a point in the mean.
        """
        asked = level(epsilon, alpha)
        law = self._law(asked)
        allowed = None if places is None else _places(places, self.dimensions)
        with self._lock:
            answer = written(self._cells(law), law.grid).reshape(self._shape)
        return answer if allowed is None else nearest_places(answer, allowed)

    @property
    def dimensions(self) -> int:
        """How many coordinates a point has."""
        return self._shape[-1]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level that has been answered, strictest first."""
        return self._levels

    @property
    def spent(self) -> Level | None:
        """The largest level answered, for each ``per`` of distance: that of all answers together. None before any."""
        return max(self._levels, default=None)

    def radius(self, confidence: Number = "0.95", *, epsilon: Number | Level | None = None) -> float:
        """The distance within which an answer lies of its point with this chance, its rounding included.

        Args:
            confidence: the chance, for each point by itself.
            epsilon: the level of the answer; the loosest one answered, if left out.

        Raises:
            OutOfRange: where no level is given and none was answered.

        >>> PlanarRelease([0, 0], per=200).radius(epsilon=1)
        950.187...
        """
        asked = self.spent if epsilon is None else level(epsilon)
        if asked is None:
            raise OutOfRange(
                "an error bar is of an answer", came="none so far", remedy="Pass epsilon=, or ask at() first."
            )
        return self._law(asked).radius(confidence)

    def grid_at(self, epsilon: Number | Level) -> Fraction:
        """The width of the grid to which the answer at a level is rounded.

        >>> PlanarRelease([0, 0]).grid_at(epsilon=1), PlanarRelease([0, 0], grid="0.1").grid_at(epsilon=1)
        (Fraction(1, 64), Fraction(1, 10))
        """
        return self._law(level(epsilon)).grid

    def _law(self, asked: Level) -> PlanarLaw:
        return PlanarLaw(asked, self.dimensions, self._per, self._declared)

    def _cells(self, law: PlanarLaw) -> Integers:
        """The cells at a level, which is spent from here on; the first one asked for begins the paths."""
        if law.level not in self._levels and os.getpid() != self._process:
            raise Unsupported(
                "a release is relaxed by the process that made it: nobody would know what two have spent together",
                where="PlanarRelease",
                remedy="Ask for every level in one process, and pass the answers on.",
            )
        unit = law.level.scaled(1 / self._per)
        paths = self._paths or HiddenPaths(PathBits(self._key), unit, self.dimensions)
        cells = paths.cells(GridPoints(self._flat, self.dimensions, law.grid), unit)
        self._paths = paths
        self._levels = tuple(sorted({*self._levels, law.level}))
        return cells

    def __repr__(self) -> str:
        return f"PlanarRelease({self._flat.size // self.dimensions} points, spent={self.spent})"

    def __reduce__(self) -> NoReturn:
        raise Unsupported(
            "a release must not be copied: nobody would know what the copies have spent together",
            where="PlanarRelease",
            remedy="Share the object, or pass its answers on.",
        )

    def __deepcopy__(self, memo: Any) -> NoReturn:
        self.__reduce__()

    __copy__ = __reduce__


def read_width(value: Number, name: str) -> Fraction:
    """A length: a positive number.

    Raises:
        OutOfRange: for any other.
    """
    number = exact(value, name)
    if not 1 / _LARGEST <= number <= _LARGEST:
        raise OutOfRange(f"{name} must be positive, between 1e-300 and 1e300", came=value)
    return number


def written(cells: Integers, grid: Fraction) -> NDArray[np.float64]:
    """The floats nearest to so many steps of a grid; beyond the floats, the largest one.

    >>> written(np.array([3, -7]), Fraction(1, 10)).tolist()
    [0.3, -0.7]
    """
    top, bottom = grid.numerator, grid.denominator
    short = cells.dtype != object and max(top, bottom) <= _WHOLE
    if short and cells.size and int(np.abs(cells).max()) * top <= _WHOLE:
        return np.asarray(cells.astype(np.float64) * top / bottom)  # one rounding, of the quotient
    flat = [_float(int(cell) * grid) for cell in cells.reshape(-1).tolist()]
    return np.array(flat, np.float64).reshape(cells.shape)


_WHOLE = 1 << 53


def _float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.copysign(math.nextafter(math.inf, 0), number)


def _places(places: Any, dimensions: int) -> NDArray[np.float64]:
    flat, shape = read_reals(places)
    if shape is None or len(shape) != 2 or shape[1] != dimensions or not shape[0]:
        raise NotANumber(f"places must have the shape (k, {dimensions})", came=shape, where="places")
    return np.array([float(one) for one in flat.tolist()]).reshape(shape)


def nearest_places(answers: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.intp]:
    """The number of the place nearest to each answer, in floats: it happens to what is private already.

    >>> nearest_places(np.array([[0.2, 0.0], [5.0, 5.0]]), np.array([[0.0, 0.0], [4.0, 4.0]])).tolist()
    [0, 1]
    """
    rows = answers.reshape(-1, answers.shape[-1])
    found = np.empty(len(rows), np.intp)
    at_once = max(1, _PLACES_AT_ONCE // len(places))
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        squared = sum((part[:, None, axis] - places[None, :, axis]) ** 2 for axis in range(rows.shape[1]))
        found[start : start + at_once] = np.asarray(squared).argmin(axis=1)
    return found.reshape(answers.shape[:-1])


@checked
def planar_epsilon_for(
    radius: Number,
    confidence: Number = "0.95",
    *,
    per: Number = 1,
    dimensions: int = 2,
    grid: Number | None = None,
    digits: int = 3,
) -> Fraction:
    """The least epsilon, to ``digits`` significant digits, at which the error bar of a `PlanarRelease` is short enough.

    The error bar never rises with the level: neither the noise's radius nor the grid does. So the search bisects.

    Args:
        radius: the wanted distance between answer and point.
        confidence: with which chance.
        per, grid: as for `PlanarRelease`; the answer is the level for each ``per``.
        dimensions: of the points.
        digits: how many.

    Raises:
        OutOfRange: for a radius that is not positive, and where the declared grid is too wide for the level.
        Infeasible: for a radius that the declared grid alone goes beyond.

    >>> planar_epsilon_for(100), planar_epsilon_for(1000, per=200)
    (Fraction(119, 2500), Fraction(951, 1000))
    """
    wanted, distance = read_width(radius, "radius"), read_width(per, "per")
    declared = None if grid is None else read_width(grid, "grid")
    n = natural(dimensions, "dimensions", least=1)
    sure = read_confidence(confidence)
    quantile = EuclideanLaplace(level(1), n).radius_fraction(sure)
    left = wanted if declared is None else wanted - declared * _root_above(n) / 2
    if left <= 0:
        raise Infeasible("half the diagonal of a cell of the grid must be shorter than the radius", came=declared)
    # No noise at all has a shorter radius than quantile/epsilon; a thousandth is given away for rounding.
    bound = quantile * distance / left * Fraction(999, 1000)
    if not 1 / _LARGEST <= bound <= _LARGEST:
        raise OutOfRange("radius must be comparable with the distance of the level", came=radius)

    def is_met(epsilon: Fraction) -> bool:
        noise = EuclideanLaplace(level(epsilon).scaled(1 / distance), n)
        return _radius(noise, _fine_grid(noise.level) if declared is None else declared, sure) <= wanted

    found = least_decimal(is_met, float(bound), digits)
    PlanarLaw(level(found), n, distance, declared)  # refuses a grid too wide for it
    return found
