"""A column of amounts: their sums are computed as numbers of steps, such as cents, or their distinct values are
counted.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import text, truth, wrong_kind
from utmost.core.exact.arrays import PickledByFields, largest_size
from utmost.core.exact.display import decimal_text
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, natural, written_number
from utmost.errors import OutOfRange

_DECIMAL = re.compile(r"\d{1,30}(\.\d{1,30})?")
_FITS = 1 << 62
_LEFT_OUT = "left out of the sums"


@dataclass(frozen=True, slots=True, repr=False)
class Amount(PickledByFields):
    """A column of amounts that is summed. Amounts are whole multiples of ``step``; counting rounds amounts to them.

    Sums are computed, noised and stored as integer numbers of steps, and shown in the unit of the column.

    Args:
        name: Name of the column and of its sums.
        step: Positive decimal such as "0.01", of at most 30 digits on either side of the point.
        between: Low and high end of each event's amount, if the same noise serves sums and counts. An axis with the
            name of the amount then has two positions: one for the sum of (amount - low end), one for the sum of (high
            end - amount).
        distinct: Number of declared values, if cells contain numbers of distinct values instead of sums.
        missing: Whether events without an amount are left out of the sums. With ``between``, a third position of the
            axis counts the events without an amount.

    Raises:
        OutOfRange, NotANumber: if the step is no positive decimal, if the name is empty, if ``between`` is not a pair
            of ascending multiples of the step, or if ``distinct`` is passed together with ``step``, ``between`` or
            ``missing``.

    >>> euros = Amount("spent", "0.05")
    >>> euros.steps("1.25"), euros.text(25), euros.number(25), Amount("visits", 1).number(25)
    (25, '1.25', 1.25, 25)
    """

    name: str
    step: Fraction
    between: tuple[Fraction, Fraction] | None
    distinct: int | None
    missing: bool

    def __init__(
        self,
        name: str,
        step: Number = 1,
        between: Sequence[Number] | None = None,
        distinct: int | None = None,
        missing: bool = False,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise OutOfRange("amounts must have the name of a column", came=type(name).__name__)
        width = written_number(step, "step")
        if width <= 0 or not _DECIMAL.fullmatch(decimal_text(width)):
            remedy = 'Pass, for example, step="0.01" or step=1.'
            raise OutOfRange("the step of amounts must be a positive decimal", came=step, where="step", remedy=remedy)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "step", width)
        object.__setattr__(self, "between", None)
        object.__setattr__(self, "distinct", None if distinct is None else natural(distinct, "distinct", least=1))
        object.__setattr__(self, "missing", truth(missing, "missing"))
        if distinct is not None and not (width == 1 and between is None and not self.missing):
            came = "a step" if width != 1 else "missing amounts" if between is None else "two ends"
            raise OutOfRange(
                "distinct= must be passed without the arguments step, between and missing",
                came=came,
                remedy="Leave out the arguments step, between and missing.",
            )
        if between is not None:
            if not isinstance(between, Sequence) or isinstance(between, str) or len(between) != 2:
                raise wrong_kind("between", "the pair of two ends", between)
            low, high = (self.steps(end, "between") * width for end in between)
            if low >= high:
                raise OutOfRange(
                    "between= must be two different amounts, the smaller one first", came=between, where="between"
                )
            object.__setattr__(self, "between", (low, high))

    def __repr__(self) -> str:
        between = "" if self.between is None else f", between={tuple(map(decimal_text, self.between))!r}"
        distinct = "" if self.distinct is None else f", distinct={self.distinct}"
        missing = ", missing=True" if self.missing else ""
        return f"Amount({self.name!r}, step={decimal_text(self.step)!r}{between}{distinct}{missing})"

    @property
    def ends(self) -> tuple[int, int]:
        """The low and the high end of each event's amount, as numbers of steps; only for an amount with ``between``."""
        assert self.between is not None, "only shared sums have ends"
        low, high = (int(end / self.step) for end in self.between)
        return low, high

    @property
    def clipped(self) -> str | None:
        """The clipping of amounts to the two ends, in words; None without ends.

        >>> Amount("income", 1, (0, 20_000)).clipped
        'income above 20000 counts as 20000, below 0 as 0'
        """
        if self.between is None:
            return None
        low, high = map(decimal_text, self.between)
        return f"{self.name} above {high} counts as {high}, below {low} as {low}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the axis of this amount, if the same noise serves sums and counts."""
        assert self.between is not None, "only shared sums have labels"
        low, high = map(decimal_text, self.between)
        return (f"above {low}", f"below {high}", *(("missing",) if self.missing else ()))

    @classmethod
    def of(cls, value: Any) -> "Amount":
        """Return an `Amount` unchanged, or read one from the fields that `facts` wrote."""
        if isinstance(value, cls):
            return value
        others = {"between", "distinct", "missing"}
        if not isinstance(value, Mapping) or set(value) - others != {"name", "step"}:
            raise wrong_kind("amount", 'an Amount, or a mapping with "name" and "step"', value)
        if value.get("missing", _LEFT_OUT) != _LEFT_OUT:
            raise OutOfRange(f"missing amounts must be {_LEFT_OUT!r}", came=repr(value["missing"]), where="amount")
        is_open = "missing" in value
        return cls(value["name"], value["step"], value.get("between"), value.get("distinct"), is_open)

    def steps(self, value: Number, where: str = "value") -> int:
        """The number of steps in an amount. An amount that is no multiple of the step raises `OutOfRange`."""
        number = written_number(value, text(where, "where")) / self.step
        if number.denominator != 1:
            remedy = "Round the amount, or choose a finer step."
            raise OutOfRange(f"{where} must be a multiple of the step {self.text(1)}", came=value, remedy=remedy)
        return number.numerator

    def text(self, steps: int | Fraction) -> str:
        """Write a number of steps as a decimal in the unit of the column; as a fraction if the decimal does not end."""
        return decimal_text(steps * self.step)

    def number(self, steps: int | Fraction) -> int | float:
        """Convert a number of steps to the unit of the column: an int if the step and the number are whole, else the
        nearest float.
        """
        value = steps * self.step
        return int(value) if self.step.denominator == 1 and isinstance(steps, int) else float(value)

    def numbers(self, steps: NDArray[Any]) -> NDArray[Any]:
        """Convert numbers of steps to the unit of the column: integers if the step is whole, else nearest floats."""
        over, under = self.step.numerator, self.step.denominator
        largest = largest_size(steps)
        fits = largest * over < _FITS
        scaled = (steps.astype(np.int64 if fits else object)) * over
        if under == 1:
            return scaled
        # Floats represent both numbers exactly, so that only the quotient is rounded.
        if fits and largest * over < 1 << 53 and under < 1 << 53:
            return np.asarray(scaled / under, dtype=np.float64)
        flat = [float(Fraction(int(whole), under)) for whole in scaled.ravel().tolist()]
        return np.array(flat, dtype=np.float64).reshape(steps.shape)

    def margin(self, steps: int | float) -> int | float:
        """Convert a margin from a number of steps to the unit of the column: as `number` does for an int, else rounded
        up.
        """
        if isinstance(steps, int):
            return self.number(steps)
        return round_up(Fraction(steps) * self.step) if np.isfinite(steps) else steps

    def facts(self) -> dict[str, Any]:
        """The fields of this column as JSON values: name, step, ends, number of distinct values, and the rule for
        missing amounts.
        """
        ends = {} if self.between is None else {"between": list(map(decimal_text, self.between))}
        distinct = {} if self.distinct is None else {"distinct": self.distinct}
        missing = {"missing": _LEFT_OUT} if self.missing else {}
        return {"name": self.name, "step": self.text(1), **ends, **distinct, **missing}
