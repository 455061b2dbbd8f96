"""Paths of Euclidean noise: a secret key determines the noise of each point at every level, to any precision.

`HiddenPaths` finds the exact grid cell of x + V_e. The key fixes the path of noise of each point: every uniform number
that the path uses has a name, and the binary digits of the number are AES-256 of the name under the key. So the same
path can be evaluated at any level, at any time, to any precision. At the anchor level e0, in units of 1/e0:

    S = E_1 + ... + E_a              (for even n one more term, E cos^2(2 pi U)) ~ Gamma(a), a = (n + 1)/2
    V = 2 sqrt(S E) (cos, sin)(2 pi U) for each two coordinates                       ~ N(0, 2 S I) given S
    to relax, from v = 1 up:     v += E/S; r = U^(1/a); V <- r V + N(0, 2 S r (1-r) I); S <- r S
    to tighten, from v = 1 down: v *= U^(1/a); u = E/v; V <- V + N(0, 2 u I); S <- S + u

while v has not passed (e/e0)^2; E = -log U. The formulas of the path are written once and evaluated twice: for many
points in floats with proven bounds (`Balls`), from the first 52 bits; and in intervals of Arb, from 64 bits, 128, 256,
..., for the points for which floats do not decide a comparison or a floor. Both evaluations give the same cell. Source:
proofs/theory/planar.md.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from flint import arb
from numpy.typing import NDArray

from utmost.core.exact.balls import ROUNDING, TINY, Balls
from utmost.core.exact.intervals import ball_between, working_precision
from utmost.core.exact.levels import Level
from utmost.core.sampling.integers import Integers, narrowed

_CHUNK = 1 << 15
_BLOCK_BITS = 128
_FLOAT_BITS = 52
_FIRST_BITS = 64
_GUARD_BITS = 32

_START, _HIGHER, _LOWER = range(3)
_WAIT, _SHARE, _TURN = 0, 1, 2
"""Indices of the uniform numbers of an event: for its waiting time, for the remaining fraction of the clock, and for
the move of the noise.
"""

Uniform = Callable[[int], Any]
"""A function from the number of a variable to its uniform value in one event: a `Balls`, or an arb."""


class PathBits:
    """The binary digits of named uniform numbers: AES-256 of the name, under a key that has no other use."""

    # A name is (stage, event, variable) and the point, and a block has 128 digits. No two names share a block.
    __slots__ = ("_encryptor",)

    def __init__(self, key: bytes) -> None:
        # A block cipher on distinct blocks, as in counter mode with names for counters.
        self._encryptor = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()

    def floats(self, stage: int, event: int, variable: int, points: NDArray[np.uint64]) -> Balls:
        """The uniform numbers of many points, as balls of radius 2^-53 from their first 52 digits."""
        blocks = np.empty((points.size, 2), ">u8")
        blocks[:, 0] = _prefix(stage, event, variable, 0)
        blocks[:, 1] = points
        digits = np.frombuffer(self._encryptor.update(blocks.tobytes()), ">u8")[::2]
        # The middle is the first 52 digits and half of the next: the ball contains every number with these 52 digits.
        middle = ((digits >> np.uint64(64 - _FLOAT_BITS)).astype(np.float64) + 0.5) * 2.0**-_FLOAT_BITS
        return Balls(middle, np.full(middle.shape, 2.0 ** -(_FLOAT_BITS + 1)))

    def ball(self, stage: int, event: int, variable: int, point: int, bits: int) -> arb:
        """The uniform number of one point, as the ball of all numbers with the same first binary digits."""
        digits = b"".join(
            self._encryptor.update(_prefix(stage, event, variable, part).to_bytes(8, "big") + point.to_bytes(8, "big"))
            for part in range(-(-bits // _BLOCK_BITS))
        )
        first = int.from_bytes(digits, "big") >> (-bits % _BLOCK_BITS)
        return arb((2 * first + 1, -(bits + 1)), (1, -(bits + 1)))


def _prefix(stage: int, event: int, variable: int, part: int) -> int:
    """The first half of the name of a number, 64 bits; the other half of the name is the point."""
    # An overflow would give two numbers the same name, and the path would have another distribution.
    assert max(event >> 24, variable >> 20, part >> 18) == 0, "names have room for every event"
    return stage << 62 | event << 38 | variable << 18 | part


def start_clock(uniform: Uniform, n: int) -> Any:
    """A Gamma((n + 1)/2, 1) variable: a sum of exponential variables, and for even n half of a squared normal
    variable.
    """
    whole = (n + 1) // 2
    total = -uniform(0).log()
    for variable in range(1, whole):
        total = total - uniform(variable).log()
    if n % 2 == 0:
        turn = (2 * uniform(whole + 1)).cos_pi()
        total = total - uniform(whole).log() * (turn * turn)
    return total


def normal_move(uniform: Uniform, q: Any, n: int, first: int) -> list[Any]:
    """A normal variable N(0, 2q I) in n dimensions. Each pair of coordinates is 2 sqrt(q E) (cos, sin)(2 pi U)."""
    move: list[Any] = []
    for pair in range(-(-n // 2)):
        variable = first + 2 * pair
        length = 2 * (q * -uniform(variable).log()).sqrt()
        sine, cosine = (2 * uniform(variable + 1)).sin_cos_pi()
        move += [length * cosine, length * sine]
    return move[:n]


def _remaining_fraction(uniform: Uniform, n: int) -> Any:
    """U^(1/a) = exp(2 log U/(n + 1))."""
    return (uniform(_SHARE).log() * 2 / (n + 1)).exp()


def _started(uniform: Uniform, n: int) -> tuple[Any, list[Any]]:
    clock = start_clock(uniform, n)
    return clock, normal_move(uniform, clock, n, first=(n + 1) // 2 + 2)


def _relaxed(uniform: Uniform, clock: Any, noise: list[Any]) -> tuple[Any, list[Any]]:
    """Return clock and noise after an event if epsilon increases: a Brownian bridge at the fraction r of the clock."""
    n = len(noise)
    r = _remaining_fraction(uniform, n)
    move = normal_move(uniform, clock * r * (1 - r), n, first=_TURN)
    return clock * r, [r * x + dx for x, dx in zip(noise, move, strict=True)]


def _tightened(uniform: Uniform, v: Any, clock: Any, noise: list[Any]) -> tuple[Any, list[Any]]:
    """Return clock and noise after an event at v if epsilon decreases: Brownian motion for a further time Exp(v)."""
    n = len(noise)
    more = -uniform(_WAIT).log() / v
    move = normal_move(uniform, more, n, first=_TURN)
    return clock + more, [x + dx for x, dx in zip(noise, move, strict=True)]


RationalBounds = tuple[Fraction, Fraction]
"""A lower and an upper bound of a number."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A level at which paths are evaluated, and the grid, both relative to the anchor."""

    stage: int  # _HIGHER or _LOWER if epsilon is above or below the anchor's epsilon, _START if they are equal
    level: Level
    anchor: Level
    step: Level  # level of the anchor for one step of the grid

    @classmethod
    def of(cls, level: Level, anchor: Level, grid: Fraction) -> "_Target":
        stage = _START if level == anchor else _HIGHER if anchor < level else _LOWER
        return cls(stage, level, anchor, anchor.scaled(grid))

    def goal(self, bits: int) -> RationalBounds:
        """Bounds of (e/e0)^2, the squared quotient of this epsilon and the anchor's epsilon."""
        return _squared_ratio(self.level, self.anchor, bits)

    def steps(self, bits: int) -> RationalBounds:
        """Bounds of 1/(e0 g), the number of grid steps in a unit of the path."""
        low, high = _epsilon(self.step, bits)
        return 1 / high, 1 / low


@lru_cache(maxsize=256)
def _squared_ratio(level: Level, anchor: Level, bits: int) -> RationalBounds:
    if level.base == anchor.base:
        ratio = (level.power / anchor.power) ** 2
        # With one base the logarithms cancel, and the ratio is rational.
        return ratio, ratio
    (low, high), (least, most) = _epsilon(level, bits), _epsilon(anchor, bits)
    return (low / most) ** 2, (high / least) ** 2


@lru_cache(maxsize=256)
def _epsilon(level: Level, bits: int) -> RationalBounds:
    """epsilon, to at least ``bits`` significant bits."""
    if level.base is None:
        return level.power, level.power
    small = level.power.denominator.bit_length() + level.base.denominator.bit_length()
    around = level.epsilon_interval(bits + small)
    return around.lower, around.upper


@dataclass(frozen=True, slots=True, eq=False)
class HiddenPaths:
    """The noise of many points at all levels, beginning at the anchor level. Levels are for one unit of distance."""

    bits: PathBits
    anchor: Level
    dimensions: int

    def cells(self, points: "GridPoints", level: Level) -> Integers:
        """floor((x + V)/g + 1/2) for each coordinate of each point, shape (m, n)."""
        # Cost: about 1 us per point at the anchor, and as much for each event; (n + 1) |log(e/e0)| events are expected.
        target = _Target.of(level, self.anchor, points.grid)
        cells_of_points: Any = np.empty((points.count, self.dimensions), np.int64)
        for start in range(0, points.count, _CHUNK):
            stop = min(start + _CHUNK, points.count)
            cells, sure = self.float_cells(points, target, start, stop)
            cells_of_points[start:stop] = cells
            # These points are few: floats are undecided only if the edge of a cell, or an event, lies within their
            # bounds.
            for point in (start + np.flatnonzero(~sure)).tolist():
                exactly = self.exact_cell(points, target, point)
                if cells_of_points.dtype != object and any(abs(cell) >> 62 for cell in exactly):
                    cells_of_points = cells_of_points.astype(object)
                cells_of_points[point] = exactly
        return (
            cells_of_points
            if cells_of_points.dtype != object
            else narrowed(cells_of_points.reshape(-1)).reshape(cells_of_points.shape)
        )

    def target(self, points: "GridPoints", level: Level) -> _Target:
        """The level and the grid relative to the anchor, as `float_cells` and `exact_cell` need them."""
        return _Target.of(level, self.anchor, points.grid)

    def float_cells(
        self, points: "GridPoints", target: _Target, start: int, stop: int
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Cells of the points ``start`` to ``stop`` - 1, by floats with bounds, and whether each is certain."""
        with np.errstate(all="ignore"):
            noise, sure = self._float_noise(target, np.arange(start, stop, dtype=np.uint64))
            steps = Balls.between(*target.steps(_FIRST_BITS))
            half = Balls.of(0.5)
            cells = np.empty((stop - start, self.dimensions), np.int64)
            for axis, (whole, part) in enumerate(points.parts(start, stop)):
                rest, certain = (part + noise[axis] * steps + half).floor
                sure &= certain & (np.abs(whole) < _MOST_CELL)
                cells[:, axis] = np.where(sure, whole, 0.0).astype(np.int64) + np.where(sure, rest, 0.0).astype(
                    np.int64
                )
        return cells, sure

    def exact_cell(self, points: "GridPoints", target: _Target, point: int) -> list[int]:
        """Return the grid cell of one point from intervals, with as many bits as needed."""
        x = [number / points.grid for number in points.exactly(point)]
        bits = _FIRST_BITS
        # The loop ends with probability one: the noise has a density, and lies on an edge of the grid with probability
        # 0.
        while (rests := self._exact_rest(target, point, [number % 1 for number in x], bits)) is None:
            bits *= 2
        return [int(number // 1) + rest for number, rest in zip(x, rests, strict=True)]

    def _exact_rest(self, target: _Target, point: int, parts: list[Fraction], bits: int) -> list[int] | None:
        """floor(remainder + noise in steps + 1/2) for each coordinate, or None if the bits do not suffice."""
        goal, steps = target.goal(bits + _GUARD_BITS), target.steps(bits + _GUARD_BITS)
        with working_precision(bits + _GUARD_BITS):
            noise = self._exact_noise(target.stage, point, ball_between(*goal), bits)
            if noise is None:
                return None
            unit, half = ball_between(*steps), arb((1, -1))
            floors = [
                (ball_between(part, part) + step * unit + half).floor().unique_fmpz()
                for part, step in zip(parts, noise, strict=True)
            ]
        return None if any(floor is None for floor in floors) else [int(floor) for floor in floors]

    def _exact_noise(self, stage: int, point: int, goal: arb, bits: int) -> list[Any] | None:
        """V in units of 1/e0, or None if the bits do not decide whether an event is before the level."""

        def uniform(stage: int, event: int) -> Uniform:
            return lambda variable: self.bits.ball(stage, event, variable, point, bits)

        n = self.dimensions
        clock, noise = _started(uniform(_START, 0), n)
        v, event = arb(1), 0
        while stage != _START:
            here = uniform(stage, event)
            v = v - here(_WAIT).log() / clock if stage == _HIGHER else v * _remaining_fraction(here, n)
            if (v > goal) if stage == _HIGHER else (v < goal):
                break
            # The event is neither certainly before the level nor certainly past it: more digits decide.
            if not ((v < goal) if stage == _HIGHER else (v > goal)):
                return None
            clock, noise = _relaxed(here, clock, noise) if stage == _HIGHER else _tightened(here, v, clock, noise)
            event += 1
        return noise

    def _float_noise(self, target: _Target, points: NDArray[np.uint64]) -> tuple[list[Balls], NDArray[np.bool_]]:
        """Return V in units of 1/e0 for many points, and a mask of the points for which every comparison of an event
        with the level is certain.
        """
        n, stage = self.dimensions, target.stage
        clock, noise = _started(_named(self.bits, _START, 0, points), n)
        sure = np.ones(points.size, np.bool_)
        if stage == _START:
            return noise, sure
        goal = Balls.between(*target.goal(_FIRST_BITS))
        open_paths = _OpenPaths(np.arange(points.size), Balls.of(np.ones(points.size)), clock, noise)
        event = 0
        while open_paths.where.size:
            here = _named(self.bits, stage, event, points[open_paths.where])
            if stage == _HIGHER:
                v = open_paths.v - here(_WAIT).log() / open_paths.clock
                past, before = (v - goal).is_positive, (goal - v).is_positive
            else:
                v = open_paths.v * _remaining_fraction(here, n)
                past, before = (goal - v).is_positive, (v - goal).is_positive
            # Undecided points end here: `exact_cell` computes them again, with more of the same digits.
            sure[open_paths.where[~(past | before)]] = False
            open_paths = open_paths.left(v, before)
            here = _named(self.bits, stage, event, points[open_paths.where])
            moved = (
                _relaxed(here, open_paths.clock, open_paths.noise)
                if stage == _HIGHER
                else _tightened(here, open_paths.v, open_paths.clock, open_paths.noise)
            )
            open_paths = open_paths.at(*moved)
            for axis, moved_axis in enumerate(open_paths.noise):
                noise[axis].middle[open_paths.where] = moved_axis.middle
                noise[axis].radius[open_paths.where] = moved_axis.radius
            event += 1
        return noise, sure


_MOST_CELL = 2.0**61
_MOST_SCALED = 1000


def _named(bits: PathBits, stage: int, event: int, points: NDArray[np.uint64]) -> Uniform:
    return lambda variable: bits.floats(stage, event, variable, points)


@dataclass(frozen=True, slots=True, eq=False)
class _OpenPaths:
    """The points whose next event is before the level: their indices, times v, clocks and noise."""

    where: NDArray[np.intp]
    v: Balls
    clock: Balls
    noise: list[Balls]

    def left(self, v: Balls, keep: NDArray[np.bool_]) -> "_OpenPaths":
        """The points under the mask ``keep``, each with the time v of the next event."""
        return _OpenPaths(
            self.where[keep], v.part(keep), self.clock.part(keep), [coordinate.part(keep) for coordinate in self.noise]
        )

    def at(self, clock: Balls, noise: list[Balls]) -> "_OpenPaths":
        """The same points, with their clock and noise after the event."""
        return _OpenPaths(self.where, self.v, clock, noise)


@dataclass(frozen=True, slots=True, eq=False)
class GridPoints:
    """Points, and the width of the grid to which they are rounded."""

    flat: NDArray[Any]  # coordinates of all points in one row: floats, integers, Fractions or Decimals, read exactly
    dimensions: int  # number of coordinates of a point
    grid: Fraction  # width > 0

    @property
    def count(self) -> int:
        return self.flat.size // self.dimensions

    def exactly(self, point: int) -> list[Fraction]:
        start = point * self.dimensions
        return [
            Fraction(*map(int, number.as_integer_ratio()))
            for number in self.flat[start : start + self.dimensions].tolist()
        ]

    def parts(self, start: int, stop: int) -> Iterator[tuple[NDArray[np.float64], Balls]]:
        """Yield x/g for each axis as an integer (a float) and a remainder (a ball)."""
        rows = self.flat.reshape(-1, self.dimensions)[start:stop]
        for axis in range(self.dimensions):
            steps = _in_steps(rows[:, axis], self.grid)
            whole = np.rint(steps.middle)
            # A float minus its nearest integer is exactly a float, so nothing is rounded.
            yield whole, Balls(steps.middle - whole, np.where(np.isfinite(whole), steps.radius, np.inf))


def _in_steps(column: NDArray[Any], grid: Fraction) -> Balls:
    """Return x/g as balls, which are exact, except for underflow, if all x are floats and g is a power of two."""
    if column.dtype.kind == "f" and column.dtype.itemsize <= 8:
        numbers = Balls.of(column)
    else:
        rounded = np.array([_nearest(number) for number in column.tolist()]) if column.dtype.kind == "O" else column
        middle = rounded.astype(np.float64)
        numbers = Balls(middle, np.abs(middle) * 2 * ROUNDING + TINY)
    top, bottom = grid.numerator, grid.denominator
    if top & (top - 1) or bottom & (bottom - 1) or max(top, bottom).bit_length() > _MOST_SCALED:
        return numbers / Balls.between(grid, grid)
    by = float(1 / grid)
    return Balls(numbers.middle * by, numbers.radius * by + TINY)


def _nearest(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf")
