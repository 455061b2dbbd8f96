"""Geometric noise on the sums that a plan measures in a counted table; each marginal has its own budget share."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.field_forms import form
from utmost.core.exact.levels import Level, level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.written_levels import level_facts
from utmost.core.noise.geometric import Geometric
from utmost.core.privacy.unit import Unit
from utmost.core.sampling.integers import Integers
from utmost.errors import OutOfRange, UtmostError, WrongKind
from utmost.publish.counting.counted import CountedTable
from utmost.publish.promises.cell_noise import CellNoise, LatticeNoise, read_largest
from utmost.publish.promises.drawing import BLOCK, NewResponse, Responder
from utmost.publish.promises.lattice import Lattice
from utmost.publish.promises.promised_noise import AnyNoiseAtLevel, Response
from utmost.publish.promises.response_noise import NoiseByRuns, NoiseOnLattice
from utmost.publish.promises.sum_distributions import noise_distributions, weakness_of_distributions
from utmost.publish.promises.table_statements import LISTS_ASSUMED, assumed_line, promise
from utmost.publish.workloads.amount_pair import value_column
from utmost.publish.workloads.measuring.measured_marginals import load_of
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.reconstruction.least_squares import precision_weights
from utmost.publish.workloads.row_unit import WholeRows
from utmost.tables.axes.domain import Domain, Marginal

MEASURED = "measured"
"""Name of the one column that contains all measured sums, marginal after marginal."""


def plan_facts(plan: Plan) -> dict[str, Any]:
    """Write a plan and its unit as JSON values, for `read_plan_text`."""
    return plan.facts() | {"unit": plan.unit.facts()}


def plan_text(plan: Plan) -> str:
    """Write a plan and its unit as JSON text, so that axes and labels keep their order where a ledger sorts names."""
    return json.dumps(plan_facts(plan), separators=(",", ":"))


def read_plan_text(written: Any, name: str = "plan") -> Plan:
    """Parse a plan from the output of `plan_facts` or `plan_text`; return a plan unchanged."""
    if isinstance(written, Plan):
        return written
    try:
        facts: dict[str, Any] = dict(json.loads(written) if isinstance(written, str) else written)
        return Plan.of_facts(facts, Unit.of_facts(facts.pop("unit")))
    except UtmostError:
        raise
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
        remedy = "Pass the plan as Promise.facts() writes it."
        raise OutOfRange(f"{name} must be a plan and its unit as JSON text", came="other text", remedy=remedy) from None


@dataclass(frozen=True, slots=True, init=False)
class SumNoise(LatticeNoise):
    """Geometric noise on the sums of a plan; the noise of each marginal satisfies the marginal's budget share.

    Args:
        plan: Plan that says which sums of a counted table are measured; its unit is the unit of the noise.
        largest: Bound on the absolute value of every possible true value, as for `CellNoise`.

    Raises:
        WrongKind: if ``plan`` is not a plan.
        OutOfRange, NotANumber: if the bound is invalid.

    Source: proofs/theory/marginals.md.

    >>> from utmost.workloads import Domain
    >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 1), {"sex": "3/4", "": "1/4"})
    >>> [float(noisy) for _, noisy in SumNoise(plan).named_bars(level(1), "0.95", 2)]
    [12.0, 4.0]
    """

    kind: ClassVar[str] = "the sums of a plan"
    json_kind: ClassVar[str] = "sums"
    is_by_plan: ClassVar[bool] = True

    unit: Unit
    plan: Plan = field(metadata=form("plan", write=plan_text, read=read_plan_text))

    def __init__(self, plan: Plan, *, largest: Number | None = None) -> None:
        plan = instance(plan, Plan, "plan")
        object.__setattr__(self, "unit", plan.unit)
        object.__setattr__(self, "plan", plan)
        object.__setattr__(self, "largest", read_largest(largest))
        object.__setattr__(self, "lattice", CellNoise(plan.unit).lattice)

    @property
    def subject(self) -> str:
        return "many questions at once"

    def published_facts(self) -> dict[str, Any]:
        """Return the noise as JSON for a statement, with the plan as JSON values instead of text."""
        return {**self.facts(), "plan": plan_facts(self.plan)}

    def at(self, level: Level, confidence: Number = DEFAULT_CONFIDENCE) -> "SumsAtLevel":
        return SumsAtLevel(self, level, read_confidence(confidence))

    @property
    def runs(self) -> tuple[tuple[int, Lattice], ...]:
        """For each marginal, in the order of the plan, the number of its sums and the lattice of their noise."""
        sizes = (prod(self.plan.measured_shape(marginal)) for marginal in self.plan.shares)
        shares = self.plan.shares.items()
        lattices = (replace(self.lattice, share=share / load_of(marginal)) for marginal, share in shares)
        return tuple(zip(sizes, lattices, strict=True))

    @property
    def rows(self) -> int:
        """The number of sums that are measured."""
        return sum(prod(self.plan.measured_shape(marginal)) for marginal in self.plan.shares)

    @property
    def whom(self) -> str:
        return f"one individual, who {assumed_line(self.unit, 'cell')}"

    @property
    def widest(self) -> Lattice:
        """The lattice of the marginal with the most noise."""
        return min((lattice for _, lattice in self.runs), key=lambda lattice: lattice.share)

    def margin(self, level: Level, confidence: Number) -> int | float:
        """Return the margin of error of a sum in the marginal with the most noise."""
        return self._bar(self.widest.of(level), confidence)

    def weakness(self, level: Level) -> str:
        return weakness_of_distributions(self.plan, level, noise_distributions(self.plan, level))

    def named_bars(self, level: Level, confidence: Number, most: int) -> tuple[tuple[str, int | float], ...]:
        """Return pairs (name, margin of error) of marginals, the noisiest first and no more pairs than ``most``."""
        marginals = zip(self.plan.shares, self.runs, strict=True)
        widest = sorted(marginals, key=lambda measured: measured[1][1].share)
        named = ((marginal, lattice.of(level)) for marginal, (_, lattice) in islice(widest, most))
        if (amounts := self.plan.amount_pair) is None:
            words = self.plan.marginal_words
            return tuple((words(marginal) or "total", self._bar(ratio, confidence)) for marginal, ratio in named)
        return tuple(
            (f"{amounts.name(marginal) or 'total'}: {column}", margin)
            for marginal, ratio in named
            for column, margin in amounts.bars(ratio, confidence)
        )

    def _bar(self, ratio: Level, confidence: Number) -> int | float:
        """Return the margin, in the unit of the amount, of a sum whose noise has the level ``ratio`` per step."""
        return self.unit.margin(int(Geometric(ratio).margin(confidence)))

    def check(self) -> None:
        """Check that the measured sums determine every wanted sum of the workload."""
        weights = precision_weights(self.plan.levels(level(1)))
        self.plan.measurement.reconstruction(weights)

    def check_size(self, rows: int, columns: int) -> None:
        """Accept every size: each group of the domain has a sum."""

    def check_names(self, columns: Sequence[str], public: Sequence[str]) -> None:
        """Check that no level of the domain has the name of a column that released tables add."""
        check_level_names(self.plan.domain, self.plan.unit)

    def released(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the name of the column of measured sums; refuse another name."""
        if columns not in ((), (MEASURED,)):
            raise OutOfRange(
                "only one of noise=plan and columns= may be given, since a plan names its columns",
                came="both",
                remedy="Leave out columns=.",
            )
        return (MEASURED,)

    def rows_of(self, table: Any, columns: Sequence[str]) -> CountedTable:
        """Return the counted table, unchanged; refuse another kind of table."""
        if not isinstance(table, CountedTable):
            required, came = "a release by a plan needs a counted table", type(table).__name__
            remedy = "Count the events with ut.count_table over the domain of the plan."
            raise WrongKind(required, came=came, where="table", remedy=remedy)
        return table

    def measured(self, rows: Any) -> tuple[Any, str | None]:
        """Compute the true sums, as one column, marginal after marginal."""
        rows.check_fits(self.plan)
        sums = [marginal.ravel() for marginal in self.plan.sums(rows.read_by(self.plan)).values()]
        return {MEASURED: np.concatenate(sums)}, rows.kind

    def responder(self, response: NewResponse, values: Mapping[str, NDArray[Any]] | None) -> Responder:
        """Return the object that draws a response; each marginal has its own noise."""
        sizes, lattices = zip(*self.runs, strict=True)
        runs = (response.on(lattice, str(at)) for at, lattice in enumerate(lattices))
        noise = NoiseByRuns(tuple(zip(sizes, runs, strict=True)), BLOCK)
        return NoiseOnLattice(response.step, self.lattice, noise, values)

    def written(self, level: Level, response: Response) -> dict[str, NDArray[Any]]:
        """Return the noisy sums in steps, which is also their form in documents."""
        return dict(response)

    def by_marginal(self, column: Integers) -> dict[Marginal, Integers]:
        """Split the column of all measured sums into the sums of each marginal."""
        measured, start = {}, 0
        for marginal in self.plan.shares:
            shape = self.plan.measured_shape(marginal)
            measured[marginal] = column[start : start + prod(shape)].reshape(shape)
            start += prod(shape)
        return measured

    def drawn(self, level: Level) -> str:
        return "geometric noise on each sum that is measured"

    @property
    def theorem(self) -> str:
        return self.plan.measurement.theorem(self.unit, self.plan.shares)

    def bars(self, columns: Sequence[str]) -> dict[str, str]:
        """Return no columns of margins of error: each marginal has one margin for all its sums."""
        return {}

    def guarantee(self, level: Level, columns: Sequence[str]) -> str:
        """Return the guarantee at a level, in plain words, with its assumptions."""
        plan = self.plan
        # Assumptions beyond those of the unit: no negative numbers, and which cells change together
        amount, assumed = plan.unit.amount, ""
        if amount is not None and amount.clipped is not None:
            assumed += f"In sums and means, {amount.clipped}. "
        if plan.unit.nonnegative:
            assumed += "The promise also assumes that no individual lowers the number of any cell. "
        if plan.unit.exactly:
            assumed += (
                "The promise also assumes that every individual changes exactly so many cells by all of that, and that "
                "nobody is left out: the total is public. "
            )
        if plan.together is not None:
            whole = WholeRows.of(plan.domain, plan.together)
            rows, count = plan.unit.cells // whole.values, ("two", "three", "four", "five")[whole.values - 2]
            which = f"the {count} cells of one row" if rows == 1 else f"the cells of at most {rows} rows"
            assumed += (
                f"The promise also assumes that these are {which}, a row having a cell for {whole.words} of "
                f"{plan.together!r}, and that no other cell changes. "
            )
        return f"{promise(level, self.unit, 'the released sums', 'cell')} {assumed}{LISTS_ASSUMED}"


@dataclass(frozen=True, slots=True, repr=False)
class SumsAtLevel(AnyNoiseAtLevel):
    noise: SumNoise

    def facts(self) -> dict[str, Any]:
        """Return the noise as JSON values, for a statement: budget share, noise, margin and weight of each marginal."""
        plan, distributions = self.noise.plan, noise_distributions(self.noise.plan, self.level)
        weights = precision_weights({marginal: distribution.ratio for marginal, distribution in distributions.items()})
        marginals = [
            {
                "marginal": plan.domain.marginal_name(marginal),
                "sums": prod(plan.measured_shape(marginal)),
                **({"of": kind} if (kind := plan.measurement.kind(marginal)) else {}),
                "share": str(plan.shares[marginal]),
                "per_sum": level_facts(distribution.level),
                "distribution": type(distribution).__name__,
                "sensitivity": distribution.sensitivity,
                "margin": self.unit.margin(distribution.margin(self.confidence)),
                "weight": weights[marginal],
            }
            for marginal, distribution in distributions.items()
        ]
        about = {
            "epsilon_parts": self.unit.epsilon_parts_json,
            "marginals": marginals,
            "confidence": float(self.confidence),
        }
        return AnyNoiseAtLevel.facts(self) | about


def check_level_names(domain: Domain, unit: Unit) -> None:
    """Check that no level of an axis has the name of a column that released tables add."""
    levels = [name for axis in domain.axes for name in axis.levels]
    amount, own = unit.amount, value_column(unit)
    added = {own, f"{own}_margin"}
    if amount is not None and unit.is_shared:
        answers = "count", f"{amount.name}_count", f"{amount.name}_sum"
        added |= {f"{name}{end}" for name in answers for end in ("", "_margin")}
        added |= {f"{amount.name}_mean{end}" for end in ("", "_lower", "_upper")}
    for name in levels:
        if name in added:
            required = "no level may have the name of a column that the released table has"
            raise OutOfRange(required, came=repr(name), remedy="Rename the level.")
