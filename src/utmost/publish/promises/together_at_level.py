"""Noise for columns in which one individual changes cells of only one row, such as men and women in each department.

One of the methods adds noise to the sum and the difference of two columns instead of the columns. An individual who
changes both cells by at most s changes sum and difference by at most 2s in all, so that sum and difference need no more
noise than the two cells would. A column is then (sum + difference)/2, a multiple of 1/2. The noise of sum and
difference is geometric, so that a release can be answered at any levels in any order.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from math import ceil
from typing import Any

from utmost.core.exact.arguments import instance, one_of
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.cells_draw import CellsDraw
from utmost.core.noise.discrete_staircase import DiscreteStaircase
from utmost.core.noise.geometric import Geometric
from utmost.core.noise.joint_cells import RotatedPair
from utmost.core.noise.norm_staircase import BallMixture, CellCost, NormStaircase
from utmost.core.noise.signed_cells import SignedCells
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.draw import sample
from utmost.core.sampling.integers import Integers, add
from utmost.core.sampling.joint_draws import sample_joint_cells
from utmost.core.sampling.one_draws import sample_one_draw
from utmost.core.sampling.random_bits import Randomness
from utmost.errors import BadTable, OutOfRange
from utmost.publish.promises.noise_at_level import cell_noise_at
from utmost.publish.promises.rotated_sums import Halves, columns_of, ratios_of, sums_of
from utmost.publish.promises.table_statements import promise_text
from utmost.publish.workloads.measuring.cells_together import (
    NORMS,
    RAISED,
    CellsTogether,
    TogetherKind,
    presence,
    two_sided,
    ways_together,
)
from utmost.publish.workloads.planning.signed_search import LARGEST_GROUP
from utmost.tables.cells.columns import RowName, integer_column

_MOST_KINDS = 16


@dataclass(frozen=True, slots=True, repr=False)
class NoiseTogetherAtLevel(Display):
    """The noise at one level of columns that one individual changes together, in one row.

    Attributes:
        level: Level of the whole release.
        unit: Unit of privacy: one individual changes the cells of one row, in all released columns, and no other cell.
            The unit has ``nonnegative`` only if the noise depends on this property.
        way: Kind of noise, and its distribution for each group of columns.
        columns: Released columns, in the order of the groups.
        halves: "toss" if multiples of 1/2 are rounded at random, "keep" if they are not rounded.
        confidence: Probability with which a released cell lies within its margin of the true one.
        margins: Margin of each column.
        cost: Cost that the noise minimises: "absolute" for the mean |error| of a cell, "squared" for the mean variance.
    """

    level: Level
    unit: Unit
    way: CellsTogether
    columns: tuple[str, ...]
    halves: Halves
    confidence: Fraction
    margins: tuple[int | float, ...]
    cost: CellCost

    @property
    def distribution(self) -> Any:
        """The joint distribution of the noise in the first group of columns."""
        return self.way.distributions[0]

    @property
    def margin(self) -> int | float:
        return max(self.margins)

    def with_confidence(self, confidence: Fraction) -> "NoiseTogetherAtLevel":
        return noise_of_way(
            self.columns, self.level, self.unit, self.way, halves=self.halves, confidence=confidence, cost=self.cost
        )

    def bars(self, columns: Sequence[str]) -> dict[str, tuple[str, int | float]]:
        return {f"{name}_margin": (name, margin) for name, margin in zip(self.columns, self.margins, strict=True)}

    def weakness(self) -> str:
        """Return the reason why the level protects practically nobody, as for independent noise of cells."""
        return cell_noise_at(self.level, unit=self.unit).weakness()

    def read(self, column: Any, name: str, place: RowName) -> Integers:
        return integer_column(column, name, place)

    def facts(self) -> dict[str, Any]:
        return {
            "drawn": self.drawn,
            "theorem": self.why,
            "epsilon_parts": self.unit.epsilon_parts,
            "kind": self.way.kind,
            "distributions": [repr(distribution) for distribution in self.way.distributions],
            "groups": [list(group) for group in self._groups],
            "shares": [str(share) for share in self.way.shares],
            "relaxable": self.is_relaxable,
        }

    def noised(self, cells: Mapping[str, Integers], randomness: Randomness) -> dict[str, Any]:
        noised: list[Any] = []
        for group, distribution in zip(
            grouped([cells[name] for name in self.columns], self.way.groups), self.way.distributions, strict=True
        ):
            rows = len(group[0])
            if isinstance(distribution, BallMixture | CellsDraw):
                if isinstance(distribution, CellsDraw):
                    noise = sample_one_draw(distribution, rows, randomness=randomness)
                else:
                    noise = sample_joint_cells(distribution, rows, randomness=randomness)
                noised += [add(column, noise[:, i]) for i, column in enumerate(group)]
            elif isinstance(distribution, DiscreteStaircase):
                noised += [add(column, sample(distribution, rows, randomness=randomness)) for column in group]
            else:
                noisy = [
                    add(sums, sample(Geometric(ratio), rows, randomness=randomness))
                    for sums, ratio in zip(sums_of(distribution, group), ratios_of(distribution), strict=True)
                ]
                noised += columns_of(distribution, noisy, halves=self.halves, randomness=randomness)
        return dict(zip(self.columns, noised, strict=True))

    @property
    def guarantee(self) -> str:
        return together_guarantee(self.level, self.unit)

    @property
    def is_relaxable(self) -> bool:
        """Whether the noise can later be relaxed without loss; random rounding after the noise prevents it."""
        whole = self.way.kind not in ("rotated", "signed") or self.halves == "keep"
        return self.way.is_relaxable and self.way.is_read_back and whole

    @property
    def why(self) -> str:
        least = {"absolute": "mean error", "squared": "mean variance"}[self.cost]
        lowers = " and that one individual does not lower" * self.unit.nonnegative
        return f"the noise of least {least} among those offered for cells that one individual changes together{lowers}"

    @property
    def drawn(self) -> str:
        distribution = self.way.distributions[0]
        if isinstance(distribution, BallMixture | CellsDraw):
            return (
                f"one draw for each row, all its released cells together: {distribution!r}; it cannot be relaxed later"
            )
        if self.way.kind == "independent":
            return f"separate noise for each cell: {distribution!r}"
        if self.way.kind == "signed":
            return self._signed(range(len(self.way.groups)))
        ends = {
            "toss": "rounded to an integer by a fair coin",
            "keep": "multiples of 1/2; it can be relaxed later without loss",
        }[self.halves]
        pairs = " and ".join(" with ".join(pair) for pair in self._groups if len(pair) == 2)
        alone = "".join(f", and on {group[0]} by itself" for group in self._groups if len(group) == 1)
        return (
            f"geometric noise on the sum and on the difference of each pair of columns ({pairs}), from which the "
            f"columns are read{alone}, {ends}"
        )

    def drawn_for(self, column: int) -> str:
        """Return the distribution of the noise of one column, or of the sums of its group, in plain words."""
        if self.way.kind != "signed":
            return self.drawn
        ends = list(accumulate(self.way.groups))
        return self._signed([next(at for at, end in enumerate(ends) if column < end)])

    def _signed(self, places: Iterable[int]) -> str:
        groups = self._groups
        sums = "; ".join(
            f"{in_words(groups[place], row)} at {self.way.shares[place] * part} of the level"
            for place in places
            for distribution in [self.way.distributions[place]]
            if isinstance(distribution, SignedCells)
            for row, part in zip(distribution.rows, distribution.shares, strict=True)
        )
        ends = {"toss": "rounded to an integer by a coin weighed by the fraction", "keep": "fractions kept"}[
            self.halves
        ]
        later = "; it can be relaxed later without loss" * self.is_relaxable
        return f"geometric noise on signed sums of the columns ({sums}), from which the columns are read, {ends}{later}"

    @property
    def search_facts(self) -> dict[str, Any]:
        """The noise that a search found, as JSON values for `way_of_facts`; empty if the kind determines the noise."""
        if self.way.kind == "signed":
            groups, shares = [list(group) for group in self._groups], [str(share) for share in self.way.shares]
            return {"groups": groups, "shares": shares, "signed_sums": rows_facts(self.way)}
        return {"step": self.distribution.step} if isinstance(self.distribution, NormStaircase | CellsDraw) else {}

    @property
    def _groups(self) -> list[tuple[str, ...]]:
        return grouped(self.columns, self.way.groups)


def together_guarantee(level: Level, unit: Unit) -> str:
    """Return the guarantee for columns that one individual changes together, in plain words."""
    where = f"only the {unit.cells} released cells of one row, each by at most {unit.sensitivity}"
    where += ", and lowers none of them" * unit.nonnegative
    return promise_text(level, unit, "the released columns", where)


def grouped(columns: Sequence[Any], groups: Sequence[int]) -> list[tuple[Any, ...]]:
    """Split the columns into consecutive groups of these sizes."""
    ends = list(accumulate(groups))
    return [tuple(columns[end - n : end]) for end, n in zip(ends, groups, strict=True)]


def in_words(columns: Sequence[str], row: Sequence[int]) -> str:
    """Return a signed sum of columns as text, such as "x - y"."""
    named = zip(columns, row, strict=True)
    terms = [(factor, name if abs(factor) == 1 else f"{abs(factor)} {name}") for name, factor in named]
    words = "".join(f" {'-' if factor < 0 else '+'} {term}" for factor, term in terms if factor)
    return words[3:] if words.startswith(" + ") else words.strip()


def noise_together_at(
    columns: Sequence[str],
    epsilon: Number | Level,
    *,
    unit: Unit,
    noise: TogetherKind | None = None,
    relaxable: bool = False,
    cost: CellCost = "absolute",
    halves: Halves | None = None,
    confidence: Number = DEFAULT_CONFIDENCE,
) -> NoiseTogetherAtLevel:
    """Choose the noise of columns in which one individual changes cells of only one row; draw nothing.

    Args:
        columns: Two columns or more. Neighbours in this order form pairs; a last odd column stays single.
        epsilon: Privacy level of the whole release.
        unit: Unit of privacy with as many cells as columns; ``nonnegative`` reduces the noise of three columns and
            more.
        noise: "joint", "staircase", "range", "two-sided", "rotated", "signed" or "independent"; the one of least cost
            if left out.
        relaxable: Whether to use only noise that can be relaxed later without loss: "rotated", "signed" or
            "independent", with ``halves="keep"``.
        cost: "absolute" for the least mean |error| of a cell, "squared" for the least mean variance.
        halves: For "rotated" and "signed", "toss" rounds fractions at random and "keep" leaves them; if left out,
            "keep" if ``relaxable``, else "toss".
        confidence: Confidence of the margins.
    """
    names, spent = tuple(columns), level_of(epsilon)
    whom = instance(unit, Unit, "unit")
    check_changed(whom, names)
    ways = {way.kind: way for way in ways_together(spent, whom, relaxable=relaxable, cost=cost)}
    kind = next(iter(ways)) if noise is None else one_of(noise, TogetherKind, "noise")
    if kind not in ways:
        if kind == "signed":
            remedy = "Pass three or more columns and nonnegative=True in the unit, if no individual lowers a cell."
            raise OutOfRange(
                'noise="signed" needs three or more cells, and a unit with nonnegative=True',
                came=noise,
                remedy=remedy,
            )
        if (kind in NORMS or kind == "two-sided") and not relaxable:
            remedy = 'Pass noise="joint"; or nonnegative=True in the unit, if no individual lowers a cell.'
            required = f"{kind} noise needs a unit with nonnegative=True, or a sensitivity above 1"
            raise OutOfRange(required, came=noise, remedy=remedy)
        raise OutOfRange('noise must be "signed", "rotated" or "independent" if it is to be relaxed later', came=noise)
    ends: Halves = one_of(halves or ("keep" if relaxable else "toss"), Halves, "halves")
    if relaxable and ends == "toss" and kind in ("rotated", "signed"):
        raise OutOfRange('halves must be "keep" if the release is to be relaxed later', came=halves)
    return noise_of_way(names, spent, whom, ways[kind], halves=ends, confidence=confidence, cost=cost)


def check_changed(unit: Unit, columns: Sequence[str]) -> None:
    """Check that one individual changes cells of one row only, and that there are at least two columns."""
    unit.check_plain()
    if len(columns) < 2 or unit.cells != len(columns):
        raise OutOfRange(
            f"cells must be the number of columns, {len(columns)}, and at least 2, since one individual "
            "changes one row",
            came=f"cells={unit.cells}",
            remedy="Use Promise(columns, unit=) if one individual may change several rows, or columns independently.",
        )


def noise_of_way(
    columns: Sequence[str],
    level: Level,
    unit: Unit,
    way: CellsTogether,
    *,
    halves: Halves,
    confidence: Number,
    cost: CellCost,
) -> NoiseTogetherAtLevel:
    """Return noise of a chosen kind with its margins; the unit has ``nonnegative`` only if this kind needs it."""
    sure = read_confidence(confidence)
    of_distributions = dict[Any, Sequence[int | float]]()
    for distribution, cells in dict(zip(way.distributions, way.groups, strict=True)).items():
        of_distributions[distribution] = (
            distribution.margins(sure) if isinstance(distribution, SignedCells) else [distribution.margin(sure)] * cells
        )
        # The true values and the rounded ones are integers.
        if halves == "toss" and isinstance(distribution, SignedCells | RotatedPair):
            of_distributions[distribution] = [ceil(margin) for margin in of_distributions[distribution]]
    margins = [margin for distribution in way.distributions for margin in of_distributions[distribution]]
    plain = replace(unit, nonnegative=way.kind in RAISED, exactly=False)
    return NoiseTogetherAtLevel(level, plain, way, tuple(columns), halves, sure, tuple(margins), cost)


def way_of_facts(facts: Mapping[str, Any], level: Level, unit: Unit) -> CellsTogether:
    """Read the noise that a statement describes; compute its level again, but do not check its optimality."""
    kind, spent = one_of(facts["noise"], TogetherKind, "noise"), presence(level, unit)
    if kind in RAISED and not unit.nonnegative:
        raise BadTable(
            f"{kind} noise needs a unit with nonnegative=True",
            came="a unit without nonnegative=True",
            where="nonnegative",
        )
    if kind in NORMS or kind == "two-sided":
        if type(facts["step"]) is not int:
            raise BadTable("a step must be a whole number", came="another value", where="step")
        distribution: NormStaircase | CellsDraw
        if kind == "two-sided":
            distribution = two_sided(spent, unit, facts["step"])
        else:
            distribution = NormStaircase(spent, unit.cells, unit.sensitivity, NORMS[kind], facts["step"])
        return CellsTogether(kind, (unit.cells,), (distribution,), (Fraction(1),))
    rows = list(facts["signed_sums"])
    sizes, shares = tuple(map(len, facts["groups"])), tuple(exact(share, "share") for share in facts["shares"])
    if sum(sizes) != unit.cells or len({*map(len, (sizes, shares, rows))}) != 1:
        raise BadTable("the signed sums must contain every released column", came="other sums", where="signed_sums")
    if min(shares) <= 0 or sum(shares) != 1:
        raise BadTable("the shares of the groups of columns must add up to 1", came="other shares", where="shares")
    # A search makes small groups of few kinds: each kind is parsed only once, since parsing is slow.
    texts = [(share, repr(listed["rows"]), repr(listed["shares"])) for share, listed in zip(shares, rows, strict=True)]
    kinds = dict(zip(texts, rows, strict=True))
    if max(sizes) > LARGEST_GROUP or len(kinds) > _MOST_KINDS:
        required = (
            f"signed sums must have groups of at most {LARGEST_GROUP} columns, and at most "
            f"{_MOST_KINDS} kinds of groups"
        )
        raise BadTable(required, came="larger groups or more kinds", where="groups")
    of_kinds = {
        text: SignedCells(spent.scaled(text[0]), listed["rows"], listed["shares"], unit.sensitivity)
        for text, listed in kinds.items()
    }
    distributions = tuple(of_kinds[text] for text in texts)
    if any(distribution.cells != size for distribution, size in zip(distributions, sizes, strict=True)):
        raise BadTable(
            "each row of a group must have an entry for each column of the group",
            came="other rows",
            where="signed_sums",
        )
    return CellsTogether("signed", sizes, distributions, shares)


def rows_facts(way: CellsTogether) -> list[dict[str, Any]]:
    """For each group with signed sums, return coefficients, budget shares, and the share that each change spends."""
    return [
        {
            "rows": [list(row) for row in distribution.rows],
            "shares": [str(share) for share in distribution.shares],
            "spent": [[list(change), str(spent)] for change, spent in distribution.changes],
        }
        for distribution in way.distributions
        if isinstance(distribution, SignedCells)
    ]
