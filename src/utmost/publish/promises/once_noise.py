"""Noise that is the least at one level: of a table that is released once, and remembered by nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Unpack

from utmost.errors import OutOfRange
from utmost.laws.exact import Level, Number
from utmost.laws.noise.costs import Cost
from utmost.laws.noise.norm_staircase import CellCost
from utmost.laws.privacy.unit import RowWords, Unit, read_unit
from utmost.publish.promises.lattice import read_numbers
from utmost.publish.promises.plan import Planned, plan_release
from utmost.publish.promises.planned_noise import ColumnNoise
from utmost.publish.workloads.cells_together import TogetherKind


@dataclass(frozen=True, slots=True)
class OnceNoise(ColumnNoise):
    """Noise that is chosen for its level.

    It leads to no other level, or only by its own law, so that no memory takes it: see `Promise.noise`.

    Attributes:
        numbers: "integers" or "reals".
        choose: from a level, and the ``confidence`` of the error bars, to the plan.
        together: the columns that the plan noises together; none where each cell is by itself.
    """

    kind: ClassVar[str] = "columns with noise for one level"

    numbers: str
    choose: Callable[..., Planned]
    together: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """ "integers" or "reals"."""
        return self.numbers

    def plan(self, level: Level, confidence: Number = "0.95") -> Planned:
        """The least noise at a level."""
        return self.choose(level, confidence=confidence)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """The columns; where they are noised together, those that the noise names."""
        if self.together and sorted(columns or self.together) != sorted(self.together):
            required = f"the released columns are those of the noise: {', '.join(self.together)}"
            raise OutOfRange(required, came=", ".join(columns), where="columns", remedy="Leave columns= out.")
        return self.together or columns


def once_cells(
    unit: Unit,
    *,
    cost: str | Cost = "absolute",
    numbers: str = "integers",
    relaxable: bool = False,
    grid: Number | None = None,
) -> OnceNoise:
    """The noise of cells that is least at its level: the words of `plan_release`.

    >>> from utmost.laws.exact import level
    >>> once_cells(Unit(5, 1), cost="squared").plan(level(8)).law
    DiscreteStaircase(epsilon=8, sensitivity=5, step=1)
    """
    words: dict[str, Any] = {"cost": cost, "numbers": numbers, "relaxable": relaxable, "grid": grid}
    plain = read_unit(unit)
    return OnceNoise(plain, read_numbers(numbers), partial(plan_release, unit=plain, **words))


def once_together(
    columns: Sequence[str],
    *,
    noise: TogetherKind | None = None,
    relaxable: bool = False,
    cost: CellCost = "absolute",
    halves: Any = None,
    **words: Unpack[RowWords],
) -> OnceNoise:
    """The noise of columns changed together that is least at its level: the words of `plan_together`.

    >>> from utmost.laws.exact import level
    >>> once_together(["applicants", "admitted"], sensitivity=1).plan(level(1)).way.kind
    'joint'
    """
    from utmost.publish.promises.together_plan import check_changed, plan_together, unit_of_row

    whom = unit_of_row(columns, words)
    check_changed(whom, columns)
    about: dict[str, Any] = {"noise": noise, "relaxable": relaxable, "cost": cost, "halves": halves}
    return OnceNoise(whom, "integers", partial(plan_together, tuple(columns), unit=whom, **about), tuple(columns))
