"""Release points of the plane, or of n dimensions, with epsilon per unit of distance, and relax them later."""

from fractions import Fraction
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, natural
from utmost.core.gradual.euclidean_noise import MOST_DIMENSIONS
from utmost.core.sampling.hidden_paths import GridPoints, HiddenPaths, PathBits
from utmost.core.sampling.process_memory import ProcessMemory
from utmost.core.sampling.random_bits import KEY_BYTES, Randomness, secure
from utmost.errors import NotANumber
from utmost.publish.promises.planar_distribution import PlanarDistribution, read_width, written
from utmost.publish.promises.tangent_plane import warn_of_degrees
from utmost.publish.releases.release import level_of_answer
from utmost.tables.cells.cell_values import read_reals

_PLACES_AT_ONCE = 1 << 22


class PlanarRelease(Display, ProcessMemory):
    """Release points at one or several levels: epsilon for each unit of Euclidean distance.

    Points are in arrays, as a phone or a map has them; for a table of points use `utmost.release` with `PointNoise`.

    Each point x has hidden noise V_e for every level e. In any number of dimensions V_e has the density c exp(-e |v|);
    the answer at e is x + V_e, rounded to a grid. Let e now be the largest of the levels l_1, ..., l_m. The joint
    density of the answers at these levels differs between x and x' by a factor of at most exp(e |x - x'|): recipients
    who combine their answers tell points apart no better than the recipient of the answer at e. If an individual has
    several points, the distances by which these points move add up.

    Args:
        points: Points, shape (..., n): one point, a list of them, or an array; floats, integers, Fractions and
            Decimals, all read exactly. They are copied. The release does not hide the number of points.
        per: Distance for which a level is stated, in the unit of the coordinates: 200 for "epsilon = 1 for 200 m".
            Convert degrees to metres by `TangentPlane`.
        grid: Width of the grid to which answers are rounded, > 0; if left out, at each level the largest power of two
            that is at most per/(64 epsilon). Answers are rounded after the noise was added, so rounding costs no
            privacy.
        randomness: Source of random bits, the operating system's if left out; a seeded source is refused.

    Raises:
        NotANumber: if a coordinate is not a finite number; the message gives its position. Nothing is drawn then. The
            error depends on the data, so show it only to the curator.
        OutOfRange: if ``per`` or ``grid`` is not positive.

    Warns:
        DegreesAsLengths: if the coordinates can only be degrees; this warning depends on the data, too.

    Guarantee: all answers together satisfy the level ``spent`` for points at the distance ``per``. Choose levels from
    public facts.

    The guarantee does not hide the city of a point, since distant points are distinguishable by design; nor does it
    hide who is in the data, with how many points.

    Source: proofs/theory/planar.md; [koufogiannis2015] for one dimension, [andres2013] for planar noise at one level.

    >>> homes = PlanarRelease([[651_300.0, 6_861_200.0], [652_900.5, 6_860_100.0]], per=200)
    >>> lower, higher = homes.at(epsilon="1/2"), homes.at(epsilon=2)
    >>> lower.shape, homes.spent, bool((homes.at(epsilon="1/2") == lower).all())
    ((2, 2), level(epsilon=2), True)
    """

    __slots__ = ("_declared", "_flat", "_key", "_levels", "_paths", "_per", "_shape")

    def __init__(
        self, points: ArrayLike, *, per: Number = 1, grid: Number | None = None, randomness: Randomness | None = None
    ) -> None:
        self._open(points, per, grid, secure(randomness, instead="utmost.testing.seeded_planar_release"))

    def _open(self, points: ArrayLike, per: Number, grid: Number | None, randomness: Randomness) -> None:
        self._per = read_width(per, "per")
        self._declared = None if grid is None else read_width(grid, "grid")
        flat, shape = read_reals(points)
        if not shape or shape[-1] == 0:
            raise NotANumber(
                "points must have the shape (..., n), with n coordinates each",
                came=f"shape {shape}",
                remedy="Pass, for example, [[0.0, 1.0]].",
            )
        natural(shape[-1], "the number of coordinates", least=1, most=MOST_DIMENSIONS)
        warn_of_degrees(flat, shape[-1], self._per)
        self._flat, self._shape = flat.copy(), shape
        self._key = randomness.words(KEY_BYTES // 8, 64).tobytes()
        self._paths: HiddenPaths | None = None
        self._levels: tuple[Level, ...] = ()

    @overload
    def at(self, epsilon: Number | Level | None = None, *, places: None = None) -> NDArray[np.float64]: ...

    @overload
    def at(self, epsilon: Number | Level | None = None, *, places: ArrayLike) -> NDArray[np.intp]: ...

    def at(
        self, epsilon: Number | Level | None = None, *, places: ArrayLike | None = None
    ) -> NDArray[np.float64] | NDArray[np.intp]:
        """Return the answer at a level; a repeated call returns the same answer.

        Args:
            epsilon: Privacy level, for points at the distance ``per`` of the release.
            places: Allowed points, shape (k, n). If places are passed, each answer is the index of the nearest allowed
                point (the first one, if several are nearest).

        Returns:
            Released points, float64, of the shape of the true points: each coordinate is on the grid, rounded to the
            nearest float. With ``places``, the indices of the nearest places, in the shape of the true points without
            the last axis.

        Raises:
            NotALevel: if the level is invalid; nothing is spent then.
            OutOfRange: if ``grid`` is too wide for the level; nothing is spent then.
            Unsupported: if the level is new, and another process made the release.

        Cost: about 1 us a point at the first level e0; at another level e about 1 us more for each jump of the hidden
            path, with a mean of (n + 1) |log(e/e0)| jumps a point.
        """
        wanted = level(epsilon)
        distribution = self._distribution(wanted)
        allowed: NDArray[np.float64] | None = None
        if places is not None:
            flat, shape = read_reals(places)
            if shape is None or len(shape) != 2 or shape[1] != self.dimensions or not shape[0]:
                raise NotANumber(f"places must have the shape (k, {self.dimensions})", came=shape, where="places")
            allowed = np.array([float(number) for number in flat.tolist()]).reshape(shape)
        with self._alone():
            # The hidden paths begin at the level that is answered first.
            if distribution.level not in self._levels:
                self._check_owner()
            unit = distribution.level.scaled(1 / self._per)
            paths = self._paths or HiddenPaths(PathBits(self._key), unit, self.dimensions)
            cells = paths.cells(GridPoints(self._flat, self.dimensions, distribution.grid), unit)
            self._paths = paths
            self._levels = tuple(sorted({*self._levels, distribution.level}))
            answer = written(cells, distribution.grid).reshape(self._shape)
        return answer if allowed is None else nearest_places(answer, allowed)

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a point."""
        return self._shape[-1]

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels that were answered, smallest epsilon first."""
        return self._levels

    @property
    def spent(self) -> Level | None:
        """The largest level answered: the cost of all answers together. None before the first answer."""
        return max(self._levels, default=None)

    def margin(self, confidence: Number = DEFAULT_CONFIDENCE, *, epsilon: Number | Level | None = None) -> float:
        """Return the margin of error, including rounding: an answer is at most this far from its point.

        Args:
            confidence: Probability with which the margin holds for one point.
            epsilon: Level of the answer; required if several levels were answered.

        Raises:
            NotALevel: if no level is given, and none or several were answered.

        >>> PlanarRelease([0, 0], per=200).margin(epsilon=1)
        950.187...
        """
        return self._distribution(level_of_answer(epsilon, lambda: self.levels, "margin")).margin(confidence)

    def grid_at(self, epsilon: Number | Level) -> Fraction:
        """Return the width of the grid to which the answer at a level is rounded.

        >>> PlanarRelease([0, 0]).grid_at(epsilon=1), PlanarRelease([0, 0], grid="0.1").grid_at(epsilon=1)
        (Fraction(1, 64), Fraction(1, 10))
        """
        return self._distribution(level(epsilon)).grid

    def _distribution(self, level_of_distribution: Level) -> PlanarDistribution:
        return PlanarDistribution(level_of_distribution, self.dimensions, self._per, self._declared)

    def __repr__(self) -> str:
        return f"PlanarRelease({self._flat.size // self.dimensions} points, spent={self.spent})"


def nearest_places(answers: NDArray[np.float64], places: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the index of the place nearest to each answer, the first one if several are nearest."""
    rows = answers.reshape(-1, answers.shape[-1])
    nearest = np.empty(len(rows), np.intp)
    at_once = max(1, _PLACES_AT_ONCE // len(places))
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        squared = sum((part[:, None, axis] - places[None, :, axis]) ** 2 for axis in range(rows.shape[1]))
        nearest[start : start + at_once] = np.asarray(squared).argmin(axis=1)
    return nearest.reshape(answers.shape[:-1])
