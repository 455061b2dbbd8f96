"""Independent noise for each cell with a distribution of `utmost.noise` that the promise names, at one level only.

A new distribution needs no code in this file: a promise can name every public class of noise on the integers.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.arguments import text
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence, written_number
from utmost.core.noise.integer_distribution import IntegerDistribution
from utmost.core.privacy.unit import Unit, read_unit
from utmost.core.sampling.draw import draws, method_for
from utmost.core.sampling.integers import Integers, add, joined
from utmost.core.sampling.random_bits import SYSTEM, Randomness
from utmost.errors import OutOfRange
from utmost.publish.promises.cell_noise import LARGEST, UNDECLARED_BOUND, ColumnNoise, read_largest
from utmost.publish.promises.drawing import BLOCK, NewResponse, Responder
from utmost.publish.promises.lattice import whole_sensitivity, width_of
from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
from utmost.publish.promises.promised_noise import Noise, Response, at_one_level
from utmost.tables.cells.columns import integer_column

_TAIL = Fraction(1, 1 << 513)  # as for other stored cells, longer noise makes its block longer


@dataclass(frozen=True, slots=True, init=False)
class DistributionNoise(ColumnNoise, Noise):
    """Independent noise for each cell, of any distribution on the integers; a ledger publishes such noise at one level.

    Args:
        unit: Unit of privacy: the largest change of the table by one individual.
        distribution: Name of a class of noise on the integers in `utmost.noise`, with its arguments other than level
            and sensitivity, such as "Geometric" or "DiscreteStaircase(step=1)".
        largest: Bound on the absolute value of every possible true value, as for `CellNoise`.

    Raises:
        OutOfRange, NotANumber: if the class or one of its arguments does not exist, or if the class refuses a value.
        Unsupported: if the unit bounds all cells together.

    >>> DistributionNoise(Unit(5, 2), "DiscreteStaircase(step=1)").at(level(1)).distribution
    DiscreteStaircase(epsilon='1/2', sensitivity=5, step=1)
    """

    kind: ClassVar[str] = "columns with noise of a named distribution"
    json_kind: ClassVar[str] = "cells of a distribution"
    subject: ClassVar[str] = "integers"
    is_relaxed: ClassVar[bool] = False

    distribution: str = field(metadata=form("distribution of the noise"))
    largest: Fraction | None = field(metadata=LARGEST)

    def __init__(self, unit: Unit, distribution: str, *, largest: Number | None = None) -> None:
        plain = read_unit(unit)
        plain.check_each_cell("noise of a named distribution")
        name, numbers = _parsed(text(distribution, "distribution"))
        arguments = ", ".join(f"{key}={number}" for key, number in sorted(numbers.items()))
        object.__setattr__(self, "unit", plain)
        object.__setattr__(self, "distribution", f"{name}({arguments})" if numbers else name)
        object.__setattr__(self, "largest", read_largest(largest))
        self.at(level(1))

    @property
    def is_bounded(self) -> bool:
        return self.largest is not None

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> CellNoiseAtLevel:
        """Return the noise of an answer at this level."""
        return _at(self, level, read_confidence(confidence))

    def check_level(self, level: Level) -> None:
        """Check that the noise at this level has a margin and can be drawn."""
        draws(self.at(level).drawn, 0, randomness=SYSTEM, method=None)

    def bound(self) -> tuple[int, str]:
        """Return the bound on the absolute value of true values, in steps and as text; 2^126 steps by default."""
        return (UNDECLARED_BOUND, "2^126 steps") if self.largest is None else (-(-self.largest // 1), f"{self.largest}")

    def word(self, level: Level) -> int:
        return width_of(2 + max(self.bound()[0], self.at(level).drawn.first_at_most(_TAIL)).bit_length())

    def cells(self, column: Any, name: str, place: Callable[[int], str]) -> NDArray[Any]:
        """Read a column; return its values in steps of the unit."""
        return integer_column(column, name, place)

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Return the object that draws the only response of a release."""
        if response.step.how != "fresh":
            raise at_one_level(response.step.to, repr(response.name))
        assert values is not None, "a first response has the table"
        return _Drawn(self.at(response.step.to).drawn, values, response.bits)

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the released columns: integers, or amounts in their own unit."""
        return {name: self.unit.numbers(steps) for name, steps in response.items()}


def _parsed(distribution: str) -> tuple[str, dict[str, Fraction]]:
    """Read the name of a class and its arguments, written as in the repr of the noise: "DiscreteStaircase(step=1)"."""
    name, _, rest = distribution.strip().removesuffix(")").partition("(")
    pairs = [part.partition("=") for part in rest.split(",") if part.strip()]
    numbers = {
        key.strip(): written_number(number.strip(" '\""), f"the argument {key.strip()}") for key, _, number in pairs
    }
    if len(numbers) < len(pairs):
        required = "a distribution must name each argument once"
        raise OutOfRange(required, came=distribution, where="distribution", remedy="Leave out all values but one.")
    return name.strip(), numbers


def named_distribution(distribution: str, level: Level, sensitivity: int) -> IntegerDistribution:
    """Make noise on the integers from the name of a public class and its arguments other than level and sensitivity."""
    from utmost import noise

    name, numbers = _parsed(distribution)
    named = {each: getattr(noise, each) for each in noise.__all__}
    kinds = {each for each, kind in named.items() if isinstance(kind, type) and issubclass(kind, IntegerDistribution)}
    if name not in kinds - {"IntegerDistribution"}:
        required = f"the noise must be one of {', '.join(sorted(kinds - {'IntegerDistribution'}))}"
        raise OutOfRange(required, came=name, where="distribution")
    made: IntegerDistribution = named[name](level, sensitivity)
    known = made.parameters.keys() - {"sensitivity"}
    if unknown := sorted(numbers.keys() - known):
        arguments = ", ".join(sorted(known)) or "none"
        required = f"the arguments of {name} besides level and sensitivity are {arguments}"
        raise OutOfRange(required, came=unknown[0], where="distribution")
    return named[name](level, sensitivity, **numbers) if numbers else made


@lru_cache(maxsize=512)
def _at(noise: DistributionNoise, level: Level, confidence: Fraction) -> CellNoiseAtLevel:
    """Return the noise of an answer; cached, so that a further release reuses its distribution and sampler."""
    unit = noise.unit
    made = named_distribution(noise.distribution, unit.per_cell(level), whole_sensitivity(unit.sensitivity))
    return CellNoiseAtLevel.of_integers(level, unit, made, confidence)


@dataclass(frozen=True, slots=True)
class _Drawn:
    """True values plus independent noise, in blocks; each column has its own random bits."""

    distribution: IntegerDistribution
    values: Mapping[str, Integers]
    bits: Callable[[str], Randomness]  # From the name of a column

    @property
    def known(self) -> tuple[None, None]:
        return None, None

    def blocks(self, column: str, below: object, above: object, rows: int) -> Iterator[Integers]:
        randomness, method = self.bits(column), method_for(rows * len(self.values))
        for start in range(0, rows, BLOCK):
            true = self.values[column][start : start + BLOCK]
            yield add(
                true, joined(draws(self.distribution, len(true), randomness=randomness, method=method), len(true))
            )
