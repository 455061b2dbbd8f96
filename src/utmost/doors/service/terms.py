"""The terms of a publication: everything that is said beside the table and the level, in one canonical JSON form."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from utmost.errors import OutOfRange, UtmostError, WrongKind
from utmost.laws.exact import checked, checked_parts, exact
from utmost.laws.exact.shown import Shown
from utmost.laws.privacy.unit import Unit
from utmost.publish.counting.counted import CountedTable
from utmost.publish.workloads import Strategy

_MOST_BITS = 13_952  # 4 200 digits: Python writes and reads integers of 4 300
_LISTS = ("columns", "public", "drop")
_BESIDE = ("strategy", "dataset", "independent", "rows", "part")
"""What may be said where a strategy is."""


@checked_parts
@dataclass(frozen=True, slots=True, repr=False)
class Terms(Shown):
    """What a curator promises of a table, as the arguments of `Ledger.publish`; numbers are text, so that none changes.

    Attributes:
        columns, public, drop, rows, sensitivity, cells, neighbours, numbers, grid, largest, half_step, id_column,
            dataset, independent: as for `Ledger.publish`.
        part: where individuals were counted in parts that share nobody, the partition and which part this is. Levels of
            parts do not add up, so it must be said here, where it is approved, and be that of the counted table.
        strategy: a strategy as JSON text, instead of columns and unit: text, since the order of its axes is part of it.
            It says all that is promised, so nothing that it would overrule is taken beside it.

    Raises:
        OutOfRange: for what would be approved beside a strategy, and not be published.
    """

    columns: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    rows: str = "declared"
    sensitivity: str | None = None
    cells: str | None = None
    neighbours: str | None = None
    numbers: str = "integers"
    grid: str | None = None
    largest: str | None = None
    half_step: bool = False
    id_column: str | None = None
    dataset: str | None = None
    independent: bool = False
    strategy: str | None = None
    part: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        default = {field.name: field.default for field in fields(self)}
        said = [name for name in default if name not in _BESIDE and getattr(self, name) != default[name]]
        if self.strategy is not None and said:
            raise OutOfRange(
                "a strategy says itself what is measured and promised",
                came=f"{said[0]} beside it",
                where="terms",
                remedy=f"Leave {', '.join(said)} out; the strategy's own unit and columns are published.",
            )

    @classmethod
    @checked
    def read(cls, given: Mapping[str, Any]) -> "Terms":
        """Terms from JSON, or from keyword arguments of `Ledger.publish`.

        Raises:
            OutOfRange: for an argument that is none.

        >>> Terms.read({"columns": "admitted", "sensitivity": 1, "cells": 1}).facts()["cells"]
        '1'
        """
        known = {field.name for field in fields(cls)}
        unknown = sorted(given.keys() - known - {"unit"})
        if unknown:
            raise OutOfRange(f"terms must be among {', '.join(sorted(known))}", came=unknown[0], where="terms")
        read = {name: value for name, value in given.items() if value is not None}
        unit = read.pop("unit", None)
        if isinstance(unit, Unit):
            read |= {"sensitivity": unit.sensitivity, "cells": unit.cells, "neighbours": unit.neighbours}
        strategy = read.get("strategy")
        if isinstance(strategy, Strategy):
            strategy = strategy.facts() | {"unit": _unit_facts(strategy.unit)}
        if isinstance(strategy, Mapping):
            read["strategy"] = json.dumps(strategy, separators=(",", ":"))
        for name in _LISTS:
            if name in read:
                read[name] = _names(name, read[name])
        for name in ("sensitivity", "cells", "grid", "largest"):
            if name in read:
                read[name] = _number(read[name], name)
        if "part" in read:
            read["part"] = _part(read["part"])
        return cls(**read)

    def facts(self) -> dict[str, Any]:
        """The terms as JSON: what an approval is for. Of a whole nothing is said of parts, as before there were any."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if self.part is None:
            del values["part"]
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    def arguments(self) -> dict[str, Any]:
        """The terms as keyword arguments of `Ledger.publish`, which finds the part in the counted table."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "part"}
        given = {name: value for name, value in values.items() if value is not None}
        if self.strategy is None:
            return given | {name: list(given[name]) for name in _LISTS}
        beside = {name: getattr(self, name) for name in _BESIDE if name != "part"}
        return beside | {"strategy": _read_strategy(self.strategy)}


def counted_terms(table: CountedTable, *, is_planned: bool) -> dict[str, Any]:
    """What a counted table says of itself: which part it is; where no strategy does, its columns and unit."""
    terms: dict[str, Any] = {"part": table.part}
    if not is_planned:
        terms |= {"columns": ["count"], "public": table.domain.level_names(table.domain.finest)}
        terms |= {name: getattr(table.unit, name) for name in ("sensitivity", "cells", "neighbours")}
    return terms


def _read_strategy(text: str) -> Strategy:
    """The strategy that `Terms.read` wrote as text.

    Raises:
        OutOfRange: for text that holds none.
    """
    try:
        facts = json.loads(text)
        return Strategy.of_facts(facts, Unit(**facts.pop("unit")))
    except UtmostError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        remedy = "Take the text of Terms.read(strategy=...).strategy."
        raise OutOfRange("a strategy must be JSON text with a unit", where="strategy", remedy=remedy) from None


def _number(given: Any, name: str) -> str:
    """An exact number as text, which Python reads again.

    Raises:
        OutOfRange: for one of more digits than that.
    """
    value = exact(given, name)
    if max(abs(value.numerator), value.denominator).bit_length() > _MOST_BITS:
        raise OutOfRange(f"{name} must have at most 4200 digits", came="more", where=name)
    return str(value)


def _part(given: object) -> tuple[str, str]:
    """A partition, and one part of it."""
    if not isinstance(given, list | tuple) or len(given) != 2 or not all(isinstance(name, str) for name in given):
        raise WrongKind("a part must be two names: of the partition, and of the part", where="part")
    return given[0], given[1]


def _names(what: str, given: object) -> tuple[str, ...]:
    """One name, or several."""
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise WrongKind(f"{what} must be names of columns", came=type(given).__name__, where=what)
    return tuple(given)


def _unit_facts(unit: Unit) -> dict[str, Any]:
    return {"sensitivity": str(unit.sensitivity), "cells": unit.cells, "neighbours": unit.neighbours}
