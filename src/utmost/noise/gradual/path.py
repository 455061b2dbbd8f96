"""One whole path of the process as a value: a finite list of jumps."""

import math
from dataclasses import dataclass
from functools import lru_cache

from utmost.errors import OutOfRange
from utmost.exact import Interval, Level, nearest
from utmost.noise.gradual.quantity import Quantity


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump of the noise at one level.

    Attributes:
        size: by how much the noise jumps when the level is tightened past this one; not 0.
        clock: where it happens: a cell of the unit interval that holds u = (alpha/a)^|size|, for alpha the jump's own
            alpha and a the alpha of the path's strictest level. u is uniform, whatever the size.
    """

    size: int
    clock: Interval


@dataclass(frozen=True, slots=True)
class Path:
    """The noise at every level from ``start`` up to epsilon = infinity.

    V at a level is the sum of the jumps above it: a jump counts exactly when u < (alpha/a)^|size|.

    Attributes:
        start: the strictest level of the path, per unit.
        jumps: in no order.

    >>> from utmost.exact import level
    >>> path = Path(level(alpha="1/2"), (Jump(3, Interval.of(0, 8)), Jump(-1, Interval(128, 129, 8))))
    >>> path.at(level(alpha="1/2")), path.at(level(alpha="1/3")), path.at(level(alpha="1/5")), path.at(None)
    (2, 2, 3, 0)
    """

    start: Level
    jumps: tuple[Jump, ...]

    def at(self, level: Level | None) -> int:
        """The noise at a level of the path (None: epsilon = infinity, where it is 0).

        Raises:
            OutOfRange: for a level stricter than ``start``, and for one so near a jump that the jump's cell does not
                tell on which side it is (chance below 2^-200 for a path drawn by `utmost.sampling`).
        """
        if level is None:
            return 0
        if level < self.start:
            raise OutOfRange(f"the path begins at {self.start}", came=level, mend="Tighten the noise instead.")
        return sum(jump.size for jump in self.jumps if self._is_above(jump, level))

    @property
    def levels(self) -> tuple[float, ...]:
        """The epsilons of the jumps, as floats, in the order of ``jumps``: for pictures."""
        return tuple(self._epsilon(jump) for jump in self.jumps)

    def _is_above(self, jump: Jump, level: Level) -> bool:
        """Whether the jump's epsilon is above the level's."""
        if level == self.start:
            return True
        reach = _reach(self.start, level, abs(jump.size), jump.clock.bits)
        if reach.high <= jump.clock.low:
            return False
        if jump.clock.high <= reach.low:
            return True
        raise OutOfRange("the level must not coincide with a jump of the path", came=level, mend="Move it a little.")

    def _epsilon(self, jump: Jump) -> float:
        return self.start.epsilon_float - math.log(max(nearest(jump.clock), 2.0**-1022)) / abs(jump.size)


@lru_cache(maxsize=1 << 12)
def _reach(start: Level, level: Level, power: int, bits: int) -> Interval:
    """(alpha of level / alpha of start)^power."""
    return Quantity(lambda a, b: (b / a) ** power, (start, level)).enclosure(bits)
