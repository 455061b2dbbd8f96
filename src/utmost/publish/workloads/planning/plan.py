"""Plans: which marginals of a domain a release measures, with which budget shares, and the errors that follow."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, lcm, prod, sqrt
from typing import Any, NamedTuple

from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, optional, text, wrong_kind
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.levels import Level
from utmost.core.exact.levels import level as level_of
from utmost.core.exact.numbers import Number, exact
from utmost.core.privacy.unit import Unit
from utmost.errors import NotDetermined, OutOfRange, Unsupported, UtmostError
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.publish.workloads.bounds.one_way_volume import one_way_bound
from utmost.publish.workloads.bounds.rotated_bounds import integer_rows_bound
from utmost.publish.workloads.bounds.workload_evidence import WorkloadBounds
from utmost.publish.workloads.measuring.marginal_spaces import is_vast
from utmost.publish.workloads.measuring.measured_marginals import is_hats, measured_marginal
from utmost.publish.workloads.measuring.pair_axis import PairAxis
from utmost.publish.workloads.measuring.product_rows import ProductRows
from utmost.publish.workloads.measuring.wanted_sums import axes_in_order, is_unequal_tree, wants_marginals
from utmost.publish.workloads.measuring.ways.way import Measurement
from utmost.publish.workloads.measuring.ways_to_measure import measurement_of
from utmost.publish.workloads.planning.methods import INTEGER_ROWS, METHODS, least_found
from utmost.publish.workloads.planning.once_errors import OnceNoise, once_noises
from utmost.publish.workloads.planning.searches.plan_search import PlanRequest, cells_alone
from utmost.publish.workloads.planning.searches.rotated_pair import rows_alone
from utmost.publish.workloads.reconstruction.estimates import LeastSquares
from utmost.publish.workloads.reconstruction.least_squares import not_cleanable, precision_weights
from utmost.publish.workloads.row_unit import MOST_TOGETHER, WholeRows
from utmost.publish.workloads.sums_in_words import read_marginal
from utmost.publish.workloads.workload import Workload, narrowed
from utmost.tables.axes.domain import Domain, Marginal
from utmost.tables.axes.few_cells import FewCells

_SHOWN = 12  # a printed plan shows at most this many classes of listed rows
_MOST_OPEN = 1 << 16  # a clean table of more than 65 536 cells needs the cells measured
_SMALL = Fraction(1, 10**6)  # at this epsilon, errors equal their limit for epsilon -> 0 to 12 digits
_LESS = 1.02  # a gain below this factor is not printed
_MANY_PARTS = 8  # with more parts, `alternatives` has no plan that prefers a single part
_MOST_BITS = 13_288  # about 4 000 digits: a level allows no longer numbers


class Help(NamedTuple):
    """An argument that may reduce the error, and the condition under which a user may pass it."""

    argument: str
    value: str | bool
    condition: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Plan(Display):
    """Which marginals a release measures, with which budget share each, and the errors that follow.

    Each sum over a group of a measured marginal gets independent geometric noise. The level of this noise is the
    marginal's share times `Unit.per_cell`, the level that noise of single cells has. Each cell lies in one group of
    each marginal, so shares that add up to 1 satisfy the level for every unit. For some units shares may add up to more
    than 1, because one individual cannot change every measured sum that much, see `charge`. Shares do not depend on the
    level, so a release can be relaxed without loss. `choose_plan` makes the plan for a workload.

    Args:
        domain: Declared domain.
        unit: Unit of privacy.
        shares: Budget share of each measured marginal, > 0; they add up to 1, or `charge` is 1. A marginal is named by
            its levels. Along one axis, if its values are measured, marginals may also measure hat functions,
            ``"age~16"``. Along an axis of two values, a marginal may measure the first value minus the second,
            ``"age sex-"``.
        workload: Wanted sums; the measured marginals must determine them. None if the wanted sums are unknown.
        level: Privacy level at which the plan's variances are computed.
        tuned_at: Privacy level for which the shares were optimized; None for ``level``.
        together: Axis of two values, if one individual changes **both cells of a row and no others**, in
            ``unit.cells / 2`` rows. A marginal with this axis then measures differences of the two cells, and a
            marginal without this axis measures sums. The shares of sums add up to 1, and so do the shares of
            differences; a cell then has half the variance that independent noise on the cells would give. The axis may
            have three to five values if no individual lowers a cell: then ``rows`` has signed rows along this axis, see
            `SignedAxis`.
        rows: Listed rows of each axis. The plan then measures products of these rows instead of marginals, and
            ``shares`` are those of their classes. See `ProductRows`.
        narrowed_from: Domain of the counted table, if ``domain`` has only those cells that wanted answers need; else
            None.
        tried: Weighted error that each search of `choose_plan` reached, by the name of its kind of sums; None instead
            of the error if there was only one search.

    Raises:
        OutOfRange: if the shares do not satisfy these conditions, if their common denominator has more than 4 000
            digits, if the domain does not have a marginal, if the measured marginals do not determine a wanted answer,
            or if a measured or wanted sum adds up distinct counts (`Unit.check_adds`).
    """

    _shown = ("domain", "unit", "measured", "level")

    domain: Domain
    unit: Unit
    shares: Mapping[Marginal, Fraction]
    workload: Workload | None
    level: Level | None
    tuned_at: Level | None
    together: str | None
    rows: ProductRows | None
    narrowed_from: Domain | None
    tried: Mapping[str, float | None] = field(repr=False)
    measurement: Measurement = field(init=False)
    """How these marginals are measured."""

    def __init__(
        self,
        domain: Domain,
        unit: Unit,
        shares: Mapping[Any, Number],
        workload: Workload | None = None,
        level: Level | None = None,
        tuned_at: Level | None = None,
        together: str | None = None,
        rows: ProductRows | None = None,
        narrowed_from: Domain | None = None,
        tried: Mapping[str, float | None] | None = None,
    ) -> None:
        instance(domain, Domain, "domain")
        instance(unit, Unit, "unit")
        mapping(shares, "shares")
        if workload is not None:
            instance(workload, Workload, "workload")
        for name, at in (("level", level), ("tuned_at", tuned_at)):
            if at is not None:
                instance(at, Level, name)
        together = optional(together, text, "together")
        if rows is not None:
            instance(rows, ProductRows, "rows")
        if narrowed_from is not None and instance(narrowed_from, Domain, "narrowed_from").places_of(domain) is None:
            required = "the domain of a plan must be a part of narrowed_from, the domain that the plan reads"
            raise OutOfRange(required, came="other cells", where="narrowed_from", remedy="Leave out narrowed_from=.")
        amounts = AmountPair.of(domain, unit)
        if amounts is not None and together is not None:
            remedy = "Pass the domain of the counted table, and no together=."
            required = "together= cannot be combined with sums and counts that share noise"
            raise OutOfRange(required, came=f"together={together!r}", remedy=remedy)
        if unit.sensitivity.denominator != 1:
            remedy = f"Pass {-(-unit.sensitivity // 1)}, or count in smaller units."
            required = "sensitivity must be an integer for a plan"
            raise OutOfRange(required, came=str(unit.sensitivity), remedy=remedy)
        named = ((measured_marginal(domain, marginal), exact(share, "share")) for marginal, share in shares.items())
        # Every marginal measures all parts of an amount: a sum of amounts needs the parts separately, each with its
        # weight.
        read = sorted((marginal if amounts is None else amounts.both(marginal), share) for marginal, share in named)
        # Long fractions would take minutes to add.
        common = 1
        for _, share in read:
            common = lcm(common, share.denominator)
            if common.bit_length() > _MOST_BITS:
                raise OutOfRange(
                    "shares must have a common denominator of at most 4000 digits", came="a longer denominator"
                )
        if not read or len(dict(read)) < len(read) or any(share <= 0 for _, share in read):
            remedy = "Give each measured table one positive share."
            raise OutOfRange("the shares must be positive and add up to 1", came="other shares", remedy=remedy)
        measurement = measurement_of(domain, dict(read), together, rows)
        measurement.check(unit, dict(read))
        if workload is not None:
            if not workload.domain.same_as(domain):
                raise OutOfRange(
                    "a plan and its workload must have the same domain",
                    came="two domains",
                    remedy="Pass the domain of the workload.",
                )
            workload = workload if amounts is None else amounts.wanted(workload)
            workload.check_adds(unit)
            measurement.check_determined(workload, unit, dict(read))
        fields = {
            "domain": domain,
            "unit": unit,
            "shares": dict(read),
            "workload": workload,
            "level": level,
            "tuned_at": level if tuned_at is None else tuned_at,
            "together": together,
            "rows": rows,
            "narrowed_from": narrowed_from,
            "tried": {} if tried is None else dict(mapping(tried, "tried")),
            "measurement": measurement,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        optional = (self.workload, self.level, self.tuned_at, self.together, self.rows, self.narrowed_from, self.tried)
        return Plan, (self.domain, self.unit, dict(self.shares), *optional)

    def __str__(self) -> str:
        listed = list(self.shares.items())[: _SHOWN if self.rows is not None else None]
        measured = [
            [
                self.marginal_words(marginal) or "total",
                (str(share) if 10**6 % share.denominator else f"{float(share):.6g}"),
            ]
            for marginal, share in listed
        ]
        if len(listed) < len(self.shares):
            measured.append([f"and {len(self.shares) - len(listed)} more", ""])
        plain = self.measurement.adds_to_one(self.shares)
        lines = [_aligned([["measured", "share" if plain else f"share of {self.unit.cell_share_text}"], *measured])]
        if self.workload is not None and self.level is not None:
            tuned = "" if self.tuned_at == self.level else f", shares tuned at {self.tuned_at}"
            variances = self.variances
            wanted = [
                [
                    part.name or "total",
                    str(part.answers),
                    _four_digits(float(part.weight)),
                    _four_digits(sqrt(variances[part.name])),
                ]
                for part in self.workload.parts
            ]
            lines.insert(0, f"{self.level}{tuned}")
            lines.append(_aligned([["wanted", "answers", "weight", "standard deviation"], *wanted]))
        return "\n".join(lines)

    @property
    def charge(self) -> Fraction:
        """The privacy loss of one individual divided by the level, at most 1.

        The charge is below 1 if one individual can change less than the shares allow for: then the release satisfies a
        smaller epsilon than its level.

        >>> whole = Unit(1, 1, "change-one", nonnegative=True)
        >>> Plan(Domain(cell=range(100)), whole, {"cell": 1, "": 1}).charge
        Fraction(1, 1)
        """
        return self.measurement.charge(self.unit, self.shares)

    @property
    def measured(self) -> int:
        """The number of measured sums."""
        return sum(prod(self.measured_shape(marginal)) for marginal in self.shares)

    @property
    def pair(self) -> PairAxis | None:
        """The axis along which sums and differences are measured; None without such an axis."""
        return self.measurement.pair

    @property
    def amount_pair(self) -> AmountPair | None:
        """The axis that has the parts of an amount, if sums and counts share noise; else None."""
        return AmountPair.of(self.domain, self.unit)

    @property
    def tables(self) -> dict[str, dict[str, list[str]]]:
        """For each wanted table, by name, its columns of labels.

        Ranges, prefixes and single sums are no tables. Without a workload, the mapping has the measured tables.

        >>> domain = Domain(sex=["men", "women"], town=["A", "B"])
        >>> Plan(domain, Unit(1, 1), {"sex town": 1}, Workload(domain, {"sex": 1, "": 1})).tables
        {'sex': {'sex': ['men', 'women']}, '': {}}
        """
        amounts, found = self.amount_pair, dict[str, tuple[Marginal, Mapping[int, int]]]()
        for part in () if self.workload is None else self.workload.parts:
            try:
                found[part.name] = narrowed(self.domain, part.name)
            except UtmostError:
                continue
        if not found:
            measured = [marginal for marginal in self.shares if min(marginal, default=0) >= 0]
            for marginal in measured if self.rows is None else [self.rows.base]:
                found[self.domain.marginal_name(marginal) if amounts is None else amounts.name(marginal)] = marginal, {}
        tables = dict[str, dict[str, list[str]]]()
        for name, (marginal, narrow) in found.items():
            tables[name] = {}
            for place, level in enumerate(marginal if amounts is None else amounts.seen(marginal)):
                axis = self.domain.axes[place]
                for column, labels in axis.label_columns(level).items() if level < len(axis.levels) else ():
                    texts = [str(label) for label in labels]
                    tables[name][column] = [texts[narrow[place]]] if place in narrow else texts
        return tables

    def measured_shape(self, marginal: Marginal) -> tuple[int, ...]:
        """Return the shape of the sums of a measured marginal; an axis of differences has one number, not two."""
        return self.measurement.shape(marginal)

    def marginal_words(self, marginal: Marginal) -> str:
        """Describe a measured marginal for people: "department", or "department, differences of column"."""
        amounts = self.amount_pair
        if amounts is None:
            return self.measurement.words(marginal)
        return f"{self.measurement.words(amounts.seen(marginal)) or 'total'}, sums and counts of {amounts.amount.name}"

    def sums(self, cells: NDArray[Any] | FewCells) -> dict[Marginal, NDArray[Any]]:
        """Compute the true sums of each measured marginal, from an array with one number for each cell."""
        return dict(self.each_sums(cells))

    def each_sums(self, cells: NDArray[Any] | FewCells) -> Iterator[tuple[Marginal, NDArray[Any]]]:
        """Yield the true sums of one measured marginal after another, so that only one marginal's sums are in memory.

        Raises:
            Unsupported: if the domain is too large for an array, unless groups and differences are measured.
        """
        return self.measurement.sums(cells, self.shares)

    def facts(self) -> dict[str, Any]:
        """Return the domain, the shares and the names of the wanted tables as JSON values, for `of_facts`."""
        shares = [[list(self.domain.level_names(marginal)), str(share)] for marginal, share in self.shares.items()]
        promised = {name: True for name in ("nonnegative", "exactly") if getattr(self.unit, name)}
        together = {} if self.together is None else {"together": self.together}
        rows = {} if self.rows is None else {"rows": self.rows.facts()}
        whole = {} if self.narrowed_from is None else {"narrowed_from": self.narrowed_from.facts()}
        wanted = {} if not (names := self._wanted_tables) else {"wanted": names}
        return {"domain": self.domain.facts(), "shares": shares, **promised, **together, **rows, **whole, **wanted}

    @property
    def _wanted_tables(self) -> list[str]:
        """The names of the wanted tables; [] if exactly the measured tables are wanted."""
        names, marginals, amounts = list[str](), set[Any](), self.amount_pair
        for part in () if self.workload is None else self.workload.parts:
            try:
                words = read_marginal(self.domain, part.name)
            except UtmostError:  # ranges, prefixes and single sums are no tables
                continue
            names.append(part.name)
            if any(isinstance(word, tuple) for word in words):  # a table restricted to a label
                marginals.add(words)
            else:
                marginal = self.domain.marginal(words)
                marginals.add(marginal if amounts is None else amounts.both(marginal))
        return [] if marginals == self.shares.keys() else names

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any], unit: Unit) -> "Plan":
        """Read the plan from JSON values, for a unit of privacy; the wanted tables have weight 1.

        If the JSON values have ``nonnegative`` or ``exactly``, these values replace those of the unit.

        Raises:
            OutOfRange, WrongKind, NotANumber: if the values do not describe a plan.

        >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 2), {"sex": "3/4", "": "1/4"})
        >>> Plan.of_facts(plan.facts(), Unit(1, 2)).shares == plan.shares
        True
        """
        if not isinstance(facts, Mapping) or not {"domain", "shares"} <= set(facts):
            raise wrong_kind("facts", 'a mapping with "domain" and "shares"', facts)
        domain = Domain.of_facts(facts["domain"])
        promised = {name: facts[name] for name in ("nonnegative", "exactly") if name in facts}
        unit = replace(unit, **promised)
        shares = {measured_marginal(domain, names): share for names, share in facts["shares"]}
        rows = None if facts.get("rows") is None else ProductRows.of_facts(domain, facts["rows"])
        wider = facts.get("narrowed_from")
        whole = None if wider is None else Domain.of_facts(wider)
        named = [read_marginal(domain, name) for name in facts.get("wanted", ())]
        workload = Workload(domain, dict.fromkeys(named, 1)) if named else None
        return cls(domain, unit, shares, workload, together=facts.get("together"), rows=rows, narrowed_from=whole)

    def levels(self, level: Level) -> dict[Marginal, Level]:
        """For each measured marginal, return the level of the noise on each of its sums.

        Each level is for a change of a sum by the unit's sensitivity. For hat functions of spacing s the level is for a
        change by s times the sensitivity.

        >>> from utmost.exact import level
        >>> plan = Plan(Domain(sex=["men", "women"]), Unit(1, 2), {"sex": "3/4", "": "1/4"})
        >>> {plan.domain.marginal_name(marginal): one.epsilon for marginal, one in plan.levels(level(1)).items()}
        {'sex': Fraction(3, 8), '': Fraction(1, 8)}
        """
        instance(level, Level, "level")
        return {marginal: self.unit.per_cell(level).scaled(share) for marginal, share in self.shares.items()}

    def variances_at(self, level: Level) -> dict[str, float]:
        """Return the mean variance of each wanted part's answers, by least squares from a release at this level.

        For amounts, the variances are in the amount's unit squared, while `value` and its bounds are in steps squared.
        If sums and counts share noise, these are variances of sums; `count_variances_at` has those of counts.

        Raises:
            OutOfRange: if the plan has no workload.

        >>> from utmost.exact import level
        >>> domain = Domain(sex=["men", "women"])
        >>> wanted = Workload(domain, {"sex": 1, "": 1})
        >>> cells = Plan(domain, Unit(1, 1), {"sex": 1}, wanted)
        >>> {name: round(variance, 4) for name, variance in cells.variances_at(level(1)).items()}
        {'sex': 1.8413, '': 3.6827}
        """
        instance(level, Level, "level")
        square = float(self.unit.step**2)
        if (amounts := self.amount_pair) is not None:
            square *= float(sum(weight**2 for weight in amounts.total))
        return {name: square * variance for name, variance in self._variances(level).items()}

    def count_variances_at(self, level: Level) -> dict[str, float]:
        """Return the mean variance of each wanted part's counts, if sums and counts share noise.

        Raises:
            OutOfRange: if the plan has no workload, or is of counts only or of sums only.
        """
        instance(level, Level, "level")
        if (amounts := self.amount_pair) is None:
            remedy = "Count with values=, each= and most_events=."
            came = "a plan of counts alone" if self.unit.amount is None else "a plan of sums alone"
            raise OutOfRange("variances of counts are known only for a plan for ut.mean", came=came, remedy=remedy)
        # All parts have the same variance and independent noise, since every measured marginal has all parts.
        square = float(sum(weight**2 for weight in amounts.count))
        return {name: square * variance for name, variance in self._variances(level).items()}

    def _variances(self, level: Level) -> dict[str, float]:
        return self.measurement.variances(_wanted(self), self.unit, self.shares, level)

    @property
    def variances(self) -> dict[str, float]:
        """The mean variance of each wanted part's answers, see `variances_at`, at the plan's own level."""
        return self.variances_at(_stated(self.level))

    @property
    def value(self) -> float:
        """The weighted error at the plan's own level: the sum over the wanted parts of weight times mean variance."""
        return self.value_at(_stated(self.level))

    def value_at(self, level: Level) -> float:
        """Return `value` at another level."""
        variances = self._variances(level)
        return sum(float(part.weight) * variances[part.name] for part in _wanted(self).parts)

    @property
    def lower_bounds(self) -> WorkloadBounds:
        """Lower bounds on the weighted error at the plan's own level, for each class of mechanisms; see `bounds_of`.

        For a plan of signed sums, the bounds are for individuals who change all cells of one row. The bounds hold if
        individuals change several rows, too, because protecting these needs at least as much noise.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(a=range(20), b=range(50))
        >>> chosen = choose_plan(Workload(domain, {"a": 1, "b": 1, "": 1}), Unit(1, 1), epsilon=1)
        >>> [(kind, round(times, 3)) for kind, times in chosen.lower_bounds.ratios(chosen.value).items()][:3]
        [('per answer', 9.244), ('any mechanism', 3.227), ('any unbiased', 6.454)]
        """
        return self.measurement.bounds(_wanted(self), self.unit, self.shares, _stated(self.level))

    @property
    def independent_times(self) -> float:
        """The least error found with independent noise of cells, divided by the plan's error; 1 without ``together``.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(row=range(3), column=["visits", "nights"])
        >>> chosen = choose_plan(Workload(domain, {"row column": 1}), Unit(1, 2), epsilon=1, together="column")
        >>> round(chosen.independent_times, 6)
        2.0
        """
        if self.together is None:
            return 1.0
        alone = least_found(self._request(_wanted(self)), METHODS["marginals"]).sums
        return Plan(self.domain, self.unit, alone.shares, self.workload, self.level, self.tuned_at).value / self.value

    def _request(self, workload: Workload, aim: str = "mean") -> PlanRequest:
        """Return the request for a plan for another workload, with this plan's unit, level and axis ``together``."""
        rows = None if self.together is None else WholeRows.of(self.domain, self.together)
        return PlanRequest(workload, self.unit, _stated(self.tuned_at), None, aim, rows)

    @property
    def rows_bound(self) -> float | None:
        """A lower bound on the error of every plan of integer combinations, if one individual changes whole rows.

        None if the plan measures no rotated sums, or if the bound is not known. See `integer_rows_bound`.
        """
        if self.pair is None:
            return None
        return integer_rows_bound(self.pair, _wanted(self), self.unit, _stated(self.level))

    @property
    def one_way_times(self) -> float | None:
        """The plan's error divided by a lower bound for any mechanism, for small epsilon, rounded up.

        The bound follows from the volume of the changes that one individual may make, see `one_way_bound`. None if the
        wanted sums are not several one-way tables, with or without the total, or if no such bound is known for the
        unit.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(a=range(5), b=range(5))
        >>> choose_plan(Workload(domain, {"a": 1, "b": 1}), Unit(1, 1), epsilon=1).one_way_times
        1.65...
        """
        tables = [part for part in _wanted(self).parts if part.name]
        # For one table, `lower_bounds` are larger at every level.
        is_of_tables = self.together is None and len(tables) > 1
        bound = one_way_bound(_wanted(self), self.unit) if is_of_tables else None
        if bound is None:
            return None
        small = level_of(_SMALL)
        return round_up(Fraction(self.value_at(small)) * _SMALL**2 / Fraction(bound))

    def bound_ratios(self) -> list[tuple[str, float]]:
        """For each class of mechanisms, return its description, and the plan's error divided by the bound."""
        bounds = self.lower_bounds
        lower = bounds.by_class()
        listed = [(lower[kind].holds_for, times) for kind, times in bounds.ratios(self.value).items()]
        rows = self.rows_bound
        if (times := self.one_way_times) is not None:
            listed.append(
                ("any mechanism, where epsilon is small, by the volume of what one individual changes", times)
            )
        if rows:
            listed.append(
                ("the same, where one individual changes whole rows", round_up(Fraction(self.value) / Fraction(rows)))
            )
        return listed

    def check_clean(self, reconstruction: LeastSquares | None = None) -> None:
        """Check, before a release, that clean tables can be computed from a release by this plan.

        Args:
            reconstruction: Reconstruction of the release; None to compute it.

        Raises:
            NotDetermined: if the cells are distinct counts; or if the measured sums do not determine the cells, and
                there are more than 65 536 cells or measured hat functions.
            Unsupported: if sums and counts share noise, or if the plan measures differences or listed rows.

        >>> Plan(Domain(sex=["men", "women"]), Unit(1, 1), {"": 1}).check_clean()
        """
        self.unit.check_adds(is_one_cell=False, came="a clean table, whose sums agree")
        if self.amount_pair is not None:
            remedy = "Release counts alone, without means, and clean them."
            raise Unsupported("clean needs a release of counts alone or of sums alone", came="means", remedy=remedy)
        if reconstruction is None:
            reconstruction = self.measurement.reconstruction(precision_weights(self.levels(level_of(1))))
        if self.domain.size > _MOST_OPEN or any(map(is_hats, self.shares)):
            reconstruction.check_marginal_determined(self.domain.finest)
        if not self.measurement.is_cleanable:
            raise not_cleanable()

    @property
    def clean_needs(self) -> str | None:
        """The name of a further table to measure, so that clean tables can be computed; None if this would not help.

        >>> shares = {"age": "1/2", "place": "1/2"}
        >>> Plan(Domain(age=range(100), place=range(1000)), Unit(1, 1), shares).clean_needs
        'age place'
        """
        try:
            self.check_clean()
        except NotDetermined:
            return None if self.unit.is_distinct else self.domain.marginal_name(self.domain.finest)
        except Unsupported:
            return None
        return None

    @property
    def would_help(self) -> list["Help"]:
        """Arguments that may reduce the error; most of them are assumptions about the data, see `Help.condition`.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(row=range(9), column=["visits", "nights"])
        >>> choose_plan(Workload(domain, {"row column": 1}), Unit(1, 2), epsilon=1).would_help[0]
        Help(argument='together', value='column', condition='if one individual changes both cells of whole rows and...')
        """
        unit, domain, found = self.unit, self.domain, list[Help]()
        if unit.neighbours == "change-one" and not unit.nonnegative:
            found.append(Help("nonnegative", True, "if no individual lowers a cell"))
        if self.together is None and not unit.needs_sizes and unit.cells < domain.size:
            for axis in domain.axes:
                fits = len(axis.levels) == 1 and 2 <= axis.size <= (MOST_TOGETHER if unit.nonnegative else 2)
                if fits and not axis.extras and unit.cells % axis.size == 0:
                    cells = "both" if axis.size == 2 else f"all {axis.size}"
                    condition = f"if one individual changes {cells} cells of whole rows and no others"
                    found.append(Help("together", axis.levels[0], condition))
        is_left = self.tried and INTEGER_ROWS.name not in self.tried and self.together is None
        if is_left and axes_in_order(_wanted(self)) and INTEGER_ROWS.obstacle(self._request(_wanted(self))) is None:
            found.append(Help("method", "rows", "a search of seconds to minutes"))
        return found

    @property
    def once_errors(self) -> dict[str, float]:
        """The weighted error of noise for a single release (``once=True``), by the kind of noise.

        There are three kinds: a staircase for each cell, if the sensitivity is above 1; one draw of all cells, for at
        most 50 cells; and one draw of all one-way tables, with separate noise for the other wanted tables. One draw of
        tables needs at most 200 groups in all; and at least 8 tables, unless the number of groups minus the number of
        tables is at most 60. The mapping is empty if no kind has a closed form, or if a plan has the same noise.

        >>> from utmost.workloads import choose_plan
        >>> wanted = Workload(Domain(sex=["men", "women"]), {"sex": 1})
        >>> choose_plan(wanted, Unit(5, 1), epsilon=4).once_errors
        {'a staircase for each cell': 1.75..., 'one draw of all cells': 1.75...}
        """
        return {noise.name: noise.error for noise in once_noises(_wanted(self), self.unit, _stated(self.level))}

    @property
    def least_once(self) -> OnceNoise | None:
        """The noise of least error for a single release (``once=True``); None if the plan's error is not larger.

        >>> from utmost.workloads import choose_plan
        >>> wanted = Workload(Domain(cell=range(10)), {"cell": 1, "": 1})
        >>> choose_plan(wanted, Unit(1, 5, nonnegative=True), epsilon=1).least_once
        OnceNoise(kind='one draw of all cells', total_share=Fraction(61, 100), table_shares={}, error=208...)
        """
        noises = once_noises(_wanted(self), self.unit, _stated(self.level))
        least = min(noises, key=lambda noise: noise.error, default=None)
        return None if least is None or least.error >= self.value else least

    @property
    def once_words(self) -> str | None:
        """`least_once` in one line for people; None if this noise reduces the error by less than 2 %."""
        least = self.least_once
        if least is None or self.value < least.error * _LESS:
            return None
        return f"{least.name} has a {self.value / least.error:.3g} times smaller error, and cannot be relaxed later"

    def summary(self) -> str:
        """Return a text to print: measured marginals, wanted sums, and the error divided by each lower bound.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(sex=["men", "women"])
        >>> print(choose_plan(Workload(domain, {"sex": 1}), Unit(1, 1), epsilon=1).summary())
        epsilon=1
        measured  share
        sex       1
        wanted  answers  weight  standard deviation
        sex     2        1       1.357
        error at most  the least error of
        1 times        any mechanism and any estimate, each answer at its own worst data
        1 times        any mechanism and any estimate, all answers together, at the worst data
        2 times        any mechanism with unbiased answers, at every data set
        1 times        integer combinations of cells, each with geometric noise on the integers at its own level
        1.001 times    plans over the given marginals, every group with its own level
        tried, with the weighted variance: marginals 1.841
        """
        # round up; 1e-6 keeps rounding errors of floats from adding a thousandth
        rows = [[f"{ceil(times * 1000 - 1e-6) / 1000:g} times", holds_for] for holds_for, times in self.bound_ratios()]
        sums = "differences" if self.pair is not None else "signed sums"
        gain = "" if self.together is None else f"{self.independent_times:.4g} times the error without {sums}\n"
        cells = self.clean_needs
        clean = "" if cells is None else f"\nno clean table follows: want {cells!r}, too, with a weight such as 1/100"
        errors = (
            f"{name} {self.value_at(_stated(self.tuned_at)) if error is None else error:.4g}"
            for name, error in self.tried.items()
        )
        tried = f"\ntried, with the weighted variance: {', '.join(errors)}" if self.tried else ""
        helps = "".join(f"\nmay help: {help.argument}={help.value!r}, {help.condition}" for help in self.would_help)
        once = "" if (words := self.once_words) is None else f"\nmade once (once=True): {words}"
        return f"{self}\n{gain}{_aligned([['error at most', 'the least error of'], *rows])}{clean}{tried}{helps}{once}"

    def alternatives(self, weightings: Mapping[str, Mapping[str, Number]] | None = None) -> "Alternatives":
        """Return plans for other weights of the same parts, to choose from by their `variances`.

        Args:
            weightings: Dict from the name of each plan to weights of the workload's parts. A part without a weight gets
                10^-9 times the least weight, so that the plan determines its answers. None for a default list: equal
                weights of parts; equal weights of answers; the smallest largest error; each part with 100 times the
                weight of the others (for up to 8 parts); and only the finest needed marginal.

        Returns:
            Dict from names to plans, with this plan's workload, unit and levels. If printed, it shows the standard
            deviation of each part.

        >>> from utmost.workloads import choose_plan
        >>> domain = Domain(place=range(200), sex=["men", "women"])
        >>> chosen = choose_plan(Workload(domain, {"place": 1, "": 1}), Unit(1, 1), epsilon=1)
        >>> print(chosen.alternatives({"places": {"place": 1}, "both": {"place": 4, "": 1}}))
        standard deviations  place  total
        these shares         2.787  2.798
        places               1.357  19.19
        both                 2.254  3.637
        """
        workload, pair, method = _wanted(self), self.pair, METHODS[self.measurement.method]
        alternatives: dict[str, Mapping[Marginal, Fraction]] = {}
        for name, weights in (_usual_weightings(workload) if weightings is None else weightings).items():
            read = {part: exact(weight, "weight") for part, weight in weights.items()}
            trace = min(read.values(), default=Fraction(1)) / 10**9
            weighted = workload.reweighted({**{part.name: trace for part in workload.parts}, **read})
            alternatives[name] = least_found(self._request(weighted), method).sums.shares
        if weightings is None:
            if not is_unequal_tree(self.domain) and pair is None and not wants_marginals(workload):
                largest = least_found(self._request(workload, "largest"), METHODS["marginals"])
                alternatives["least largest error"] = largest.sums.shares
            if not is_vast(self.domain):
                cells = cells_alone(workload, self.unit) if pair is None else rows_alone(pair, workload, self.unit)
                alternatives["cells alone"] = cells
        stated = self.level, self.tuned_at, None if pair is None else self.together, None, self.narrowed_from
        others = {
            name: Plan(self.domain, self.unit, shares, workload, *stated) for name, shares in alternatives.items()
        }
        return Alternatives({"these shares": self, **others})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Alternatives(Display):
    """A dict from names to plans for the same parts and levels; if printed, it shows each part's standard deviation."""

    plans: Mapping[str, Plan]

    def __getitem__(self, name: str) -> Plan:
        return self.plans[name]

    @property
    def deviations(self) -> dict[str, dict[str, float]]:
        """For each plan, the square root of the mean variance of each part."""
        return {
            name: {part: sqrt(variance) for part, variance in plan.variances.items()}
            for name, plan in self.plans.items()
        }

    def __str__(self) -> str:
        rows = [[name, *map(_four_digits, deviations.values())] for name, deviations in self.deviations.items()]
        parts = [part or "total" for part in next(iter(self.deviations.values()))]
        return _aligned([["standard deviations", *parts], *rows])


def _usual_weightings(workload: Workload) -> dict[str, dict[str, Number]]:
    parts = workload.parts
    if len(parts) == 1:
        return {}
    weightings: dict[str, dict[str, Number]] = {
        "every part alike": {part.name: 1 for part in parts},
        "every answer alike": {part.name: part.answers for part in parts},
    }
    for first in parts if len(parts) <= _MANY_PARTS else ():
        weightings[f"{first.name or 'total'} above all"] = {
            part.name: 1 if part is first else Fraction(1, 100) for part in parts
        }
    return weightings


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _four_digits(number: float) -> str:
    return f"{number:.4g}"


def _wanted(chosen: Plan) -> Workload:
    if chosen.workload is None:
        remedy = "Pass workload= with the shares, or let ut.choose_plan choose the shares."
        raise OutOfRange("the errors of a plan are known only for a workload", came="no workload", remedy=remedy)
    return chosen.workload


def _stated(level: Level | None) -> Level:
    if level is None:
        raise OutOfRange(
            "the errors of a plan are known only at a level",
            came="no level",
            remedy="Call variances_at(level) instead.",
        )
    return level
