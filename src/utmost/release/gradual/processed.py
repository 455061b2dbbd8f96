"""What comes before and after the noise: any preprocessing of known sensitivity, any reading of the response."""

import threading
from collections.abc import Callable, Mapping
from typing import Any

from utmost.exact import Level, Number, checked, level
from utmost.release.gradual.answer import GradualRelease
from utmost.sampling.bits import Randomness

Before = Callable[[Any], Any]
After = Callable[[Any, Level], Any]


class ProcessedRelease:
    """A gradual release of ``before(data)`` whose responses are read by ``after(response, level)``.

    The raw responses stay inside: what the reading hides, a clamped tail say, the next level still needs. Each level is
    read once and its reading kept, so that a reading that tosses coins is not asked twice.

    Args:
        data: anything that ``before`` takes.
        before: the query, evaluated once. It must not look at a level.
        sensitivity: how much one individual can change one of its values. It cannot be checked here.
        after: any function of the response and its level: clamp, round, a consumer's remap.
        cells, domain, grid, half_step, randomness: as for `GradualRelease`.

    Promise: the level `spent`, for all readings together: they are functions of the responses.

    Source: koufogiannis2015, Corollary 13.

    >>> ages = [34, 51, 12, 29]
    >>> adults = ProcessedRelease(
    ...     ages, before=lambda a: sum(x >= 18 for x in a), sensitivity=1, after=lambda y, _: min(max(y, 0), 4)
    ... )
    >>> 0 <= adults.at(epsilon="1/10") <= 4, adults.at(epsilon=60)
    (True, 3)
    """

    __slots__ = ("_after", "_lock", "_raw", "_read")

    @checked
    def __init__(
        self,
        data: Any,
        *,
        before: Before,
        sensitivity: Number | Mapping[Any, Number],
        after: After,
        cells: Number = 1,
        domain: str | Mapping[Any, str] = "integers",
        grid: Number | None = None,
        half_step: bool = False,
        randomness: Randomness | None = None,
    ) -> None:
        values = before(data)
        self._raw = GradualRelease(
            values, sensitivity, cells=cells, domain=domain, grid=grid, half_step=half_step, randomness=randomness
        )
        self._after, self._lock = after, threading.Lock()
        self._read: dict[Level, Any] = {}

    def at(self, epsilon: Number | Level | None = None, *, alpha: Number | None = None) -> Any:
        """The reading at a level; asked again, the same reading."""
        asked = level(epsilon, alpha)
        with self._lock:
            if asked not in self._read:
                self._read[asked] = self._after(self._raw.at(asked), asked)
            return self._read[asked]

    @property
    def levels(self) -> tuple[Level, ...]:
        """Every level asked for so far, strictest first."""
        return self._raw.levels

    @property
    def spent(self) -> Level | None:
        """The largest of them."""
        return self._raw.spent

    def __repr__(self) -> str:
        return f"ProcessedRelease(spent={self.spent})"
