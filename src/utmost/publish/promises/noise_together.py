"""Release columns that one individual changes together, in one row: noise is added to sums of columns, not to cells.

The ledger stores, for each pair of columns, the noisy sum and the noisy difference; for a single column, the noisy
column; for columns that nobody lowers, as many noisy signed sums as columns. Each sum has its own lattice and can be
relaxed. The released cells are computed from the noisy sums, as fractions.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, one_of, sequence_of, text, truth
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.field_forms import FieldForm, form
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number
from utmost.core.noise.norm_staircase import CellCost
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import Integers
from utmost.errors import OutOfRange
from utmost.publish.promises.cell_noise import CellNoise, ColumnNoise, LatticeNoise, read_largest
from utmost.publish.promises.declared_columns import listed_names
from utmost.publish.promises.drawing import NewResponse, Responder
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.noise_at_level import NoiseAtLevel
from utmost.publish.promises.promised_noise import Response
from utmost.publish.promises.response_noise import NoiseOnLattice
from utmost.publish.promises.rotated_sums import Halves, columns_of, ratios_of, sums_of
from utmost.publish.promises.together_at_level import (
    NoiseTogetherAtLevel,
    check_changed,
    grouped,
    noise_of_way,
    noise_together_at,
    rows_facts,
    together_guarantee,
    way_of_facts,
)
from utmost.publish.workloads.measuring.cells_together import (
    NORMS,
    RAISED,
    CellsDistribution,
    CellsTogether,
    TogetherKind,
)

_ANCHOR = level(1)
"""The level for which JSON states the noise of a row; the noise at another level follows by scaling."""


def _way_facts(way: CellsTogether) -> dict[str, Any]:
    """Write the kind of noise of a row; for signed sums, which a search found, also their coefficients and shares."""
    if way.kind != "signed":
        return {"noise": way.kind}
    shares = [str(share) for share in way.shares]
    return {"noise": way.kind, "shares": shares, "signed_sums": rows_facts(way)}


_WAY = {
    "noise": FieldForm("noise of a row"),
    "groups": FieldForm("columns in each group"),
    "shares": FieldForm("share of each group"),
    "signed_sums": FieldForm("signed sums"),
}


@dataclass(frozen=True, slots=True)
class TogetherNoise(ColumnNoise, LatticeNoise):
    """Geometric noise on sums of columns, for columns in which one individual changes cells of only one row."""

    kind: ClassVar[str] = "columns that one individual changes together"
    orders_columns: ClassVar[bool] = True
    json_kind: ClassVar[str] = "together"

    # Two columns or more, in the order of the groups
    columns: tuple[str, ...] = field(metadata=form("columns of the noise", write=list))
    cost: CellCost = field(metadata=form("least error of a cell"))
    # Kind of the noise, and its distribution for each group of columns, at the level `_ANCHOR`.
    # `of_facts` reads this field together with the unit.
    way: CellsTogether = field(metadata=form("noise of a row", write=_way_facts, parts=_WAY))

    def __post_init__(self) -> None:
        object.__setattr__(self, "lattice", CellNoise(self.unit).lattice)

    @property
    def subject(self) -> str:
        return "columns changed together"

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseTogetherAtLevel:
        way = self.way.at(level, self._whom)
        return noise_of_way(self.columns, level, self._whom, way, halves="keep", confidence=confidence, cost=self.cost)

    @property
    def _whom(self) -> Unit:
        return replace(self.unit, nonnegative=self.way.kind in RAISED)

    @property
    def lattices(self) -> dict[str, Lattice]:
        """The lattice of each stored sum, under the name of a column; each lattice has the same share at all levels."""
        one = self.lattice.of(_ANCHOR).power
        ratios = [ratio.power / one for distribution in self.way.distributions for ratio in ratios_of(distribution)]
        return {name: replace(self.lattice, share=share) for name, share in zip(self.columns, ratios, strict=True)}

    @property
    def widest(self) -> Lattice:
        return min(self.lattices.values(), key=lambda lattice: lattice.share)

    def named_bars(self, level: Level, confidence: Number, most: int) -> tuple[tuple[str, int | float], ...]:
        return tuple(zip(self.columns, self.at(level, confidence).margins, strict=True))[:most]

    def stored_bound(self) -> int:
        """Return the largest absolute value of a sum of columns before noise, in steps."""
        rows = [
            row
            for distribution in self.way.distributions
            if isinstance(distribution, SignedCells)
            for row in distribution.rows
        ]
        return self.bound()[0] * max([2, *(sum(map(abs, row)) for row in rows)])

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if columns not in ((), self.columns):
            required = f"columns must be the columns that the noise names: {', '.join(self.columns)}"
            raise OutOfRange(required, came=", ".join(columns), remedy="Leave out columns=.")
        return self.columns

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        step, sums = response.step, None if values is None else self._by_group(values, sums_of)
        return SumsOfColumns(
            {name: NoiseOnLattice(step, on, response.on(on), sums) for name, on in self.lattices.items()}
        )

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the columns, computed from the noisy sums as fractions."""
        return self._by_group(response, partial(columns_of, halves="keep"))

    def _by_group(
        self, columns: Mapping[str, NDArray[Any]], transform: Callable[[CellsDistribution, list[Integers]], list[Any]]
    ) -> dict[str, Any]:
        """Apply ``transform`` to the columns of each group; return the results under the names of the columns."""
        groups = zip(grouped(self.columns, self.way.groups), self.way.distributions, strict=True)
        transformed = [
            column
            for group, distribution in groups
            for column in transform(distribution, [columns[name] for name in group])
        ]
        return dict(zip(self.columns, transformed, strict=True))

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        return self.at(level).guarantee

    def facts(self) -> dict[str, Any]:
        """Return the noise as JSON values; for signed sums, also the columns of each group."""
        facts = LatticeNoise.facts(self)
        if self.way.kind == "signed":
            facts["groups"] = [list(group) for group in grouped(self.columns, self.way.groups)]
        return facts

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "TogetherNoise":
        about = cls.arguments(facts)
        unit, columns, cost, way = (about[name] for name in ("unit", "columns", "cost", "way"))
        signed = way["noise"] == "signed"
        found = way_of_facts(way, _ANCHOR, replace(unit, nonnegative=True)) if signed else None
        kind = None if signed else way["noise"]
        noise = together_noise(columns, unit=unit, noise=kind, cost=cost, largest=about.get("largest"))
        return noise if found is None else replace(noise, way=found)


@dataclass(frozen=True, slots=True)
class SumsOfColumns:
    """Draws the noisy sums of columns; each sum is stored under the name of a column."""

    noises: Mapping[str, NoiseOnLattice]  # Noise of each sum, by the column under whose name it is stored

    @property
    def known(self) -> tuple[Level | None, Level | None]:
        return next(iter(self.noises.values())).known

    def blocks(
        self, column: str, below: Iterator[Integers] | None, above: Iterator[Integers] | None, rows: int
    ) -> Iterator[Integers]:
        return self.noises[column].blocks(column, below, above, rows)


def together_noise(
    columns: Sequence[str],
    *,
    unit: Unit,
    noise: TogetherKind | None = None,
    cost: CellCost = "absolute",
    tuned_at: Number | Level = 1,
    largest: Number | None = None,
) -> TogetherNoise:
    """Choose noise that can be relaxed, for columns in which one individual changes cells of only one row.

    Args:
        columns: At least two columns of integers; neighbours in this order form pairs.
        unit: Unit of privacy, as for `noise_together_at`.
        noise: "rotated", "signed" or "independent"; the one of least cost at ``tuned_at`` if left out.
        cost: "absolute" for the least mean |error| of a cell, "squared" for the least mean variance.
        tuned_at: Level of the release at which the cost is to be least; the release may start at any level.
        largest: Public bound on the absolute value of every true value, as for `CellNoise`.

    Raises:
        OutOfRange, NotANumber: if `noise_together_at` refuses an argument, or if ``noise`` cannot be relaxed.

    Source: proofs/theory/cells-together.md.

    >>> noise = together_noise(["applicants", "admitted"], unit=Unit(1, 2))
    >>> noise.way.kind, noise.margin(level("1/2"), "0.95")
    ('rotated', 8.0)
    """
    names = listed_names(columns, "columns")
    for name, times in Counter(names).items():
        if times > 1:
            raise OutOfRange(
                "columns must name each column once", came=f"{name!r} twice", remedy="Leave out one of the two."
            )
    at_level = noise_together_at(names, tuned_at, unit=unit, noise=noise, relaxable=True, cost=cost)
    least, way = one_of(cost, CellCost, "cost"), at_level.way.at(_ANCHOR, at_level.unit)
    return TogetherNoise(replace(at_level.unit, nonnegative=False), read_largest(largest), names, least, way)


_NOISE_OF_ROW: dict[str, FieldForm] = {
    name: FieldForm(title)
    for name, title in {
        "groups": "columns in each group",
        "shares": "share of each group",
        "signed_sums": "signed sums",
        "step": "step of the staircase",
    }.items()
}


_SEARCHED = (*RAISED, *NORMS)


@dataclass(frozen=True, slots=True)
class OnceTogether(ColumnNoise):
    """Noise with the least error at one level, for columns in which one individual changes cells of only one row."""

    kind: ClassVar[str] = "columns with noise for one level"
    orders_columns: ClassVar[bool] = True
    json_kind: ClassVar[str] = "together at one level"

    columns: tuple[str, ...] = field(metadata=form("columns of the noise", write=list))
    # Kind of the noise; None for the kind of least cost
    noise: TogetherKind | None = field(metadata=form("noise of a row"))
    relaxable: bool = field(metadata=form("noise that can be relaxed"))
    cost: CellCost = field(metadata=form("least error of a cell"))
    # "toss" rounds multiples of 1/2 at random, "keep" leaves them; None as for `noise_together_at`
    halves: Halves | None = field(metadata=form("multiples of 1/2"))
    # Noise that a search found at the level of the release; None before the search
    found: Mapping[str, Any] | None = field(metadata=form("noise that was found", parts=_NOISE_OF_ROW))

    @property
    def needs_search(self) -> bool:
        """Whether a search must still choose the kind of noise, its signed sums or its step."""
        return self.noise is None or (self.noise in _SEARCHED and self.found is None)

    @property
    def subject(self) -> str:
        return "integers"

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> "OnceTogether":
        about = cls.arguments(facts)
        found = about.pop("found", None)
        if found is not None and about.get("noise") not in _SEARCHED:
            raise OutOfRange(
                "signed sums and steps are allowed only in noise that a search finds",
                came="another kind of noise",
                where="noise",
            )
        return replace(once_together(listed_names(about.pop("columns"), "columns"), **about), found=found)

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> NoiseTogetherAtLevel:
        if self.found is not None:
            way, ends = way_of_facts({"noise": self.noise, **self.found}, level, self.unit), one_of_halves(self.halves)
            return noise_of_way(self.columns, level, self.unit, way, halves=ends, confidence=confidence, cost=self.cost)
        return noise_together_at(
            self.columns,
            level,
            unit=self.unit,
            noise=self.noise,
            relaxable=self.relaxable,
            cost=self.cost,
            halves=self.halves,
            confidence=confidence,
        )

    def as_drawn(self, noise: NoiseAtLevel) -> "OnceTogether":
        """Return this noise, with the kind and the sums or step that a search found for ``noise``, at one level."""
        if not isinstance(noise, NoiseTogetherAtLevel):
            return self
        found = noise.search_facts or None
        return OnceTogether(
            noise.unit, noise.columns, noise.way.kind, noise.is_relaxable, noise.cost, noise.halves, found
        )

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        return together_guarantee(level, self.unit)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        if columns and sorted(columns) != sorted(self.columns):
            required = f"columns must be the columns that the noise names: {', '.join(self.columns)}"
            raise OutOfRange(required, came=", ".join(columns), remedy="Leave out columns=.")
        return self.columns


def one_of_halves(halves: object) -> Halves:
    ends: Halves = one_of(halves, Halves, "halves")
    return ends


def once_together(
    columns: Sequence[str],
    *,
    unit: Unit,
    noise: TogetherKind | None = None,
    relaxable: bool = False,
    cost: CellCost = "absolute",
    halves: Halves | None = None,
) -> OnceTogether:
    """Return the noise that `noise_together_at` would choose at each level, for a release made once.

    >>> from utmost.exact import level
    >>> once_together(["applicants", "admitted"], unit=Unit(1, 2)).at(level(1)).way.kind
    'joint'
    """
    names, whom = tuple(sequence_of(columns, text, "columns")), instance(unit, Unit, "unit")
    check_changed(whom, names)
    kind = None if noise is None else one_of(noise, TogetherKind, "noise")
    ends = None if halves is None else one_of_halves(halves)
    least = one_of(cost, CellCost, "cost")
    return OnceTogether(whom, names, kind, truth(relaxable, "relaxable"), least, ends, None)
