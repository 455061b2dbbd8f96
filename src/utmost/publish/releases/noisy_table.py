"""Tables with the noise of another tool: margins from the declared noise, and the same methods as an answer.

utmost drew no noise and gives no guarantee: any sentence about privacy is a claim of the other tool. The margins hold
if the noise is as declared and independent in each cell, and if the values were not changed after the noise was
added.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, optional, sequence, text
from utmost.core.exact.defaults import DEFAULT_CONFIDENCE
from utmost.core.exact.display import Display
from utmost.core.exact.intervals import round_up
from utmost.core.exact.numbers import Number, exact, read_confidence
from utmost.core.noise.combination import missed_by_each
from utmost.core.noise.distribution import positive_number
from utmost.core.noise.noise_of_others import DeclaredNoise, DeclaredTails, NoiseKind, ratio_of_sums
from utmost.core.noise.ratio_bars import RatioBar
from utmost.core.privacy.unit import Unit
from utmost.errors import BadTable, OutOfRange, Unsupported, UtmostError
from utmost.publish.promises.codec import StatementForm, does_not_follow, names_of, stated_field, stated_rows
from utmost.publish.promises.statement import unlike
from utmost.publish.promises.statement_kinds import NOISY_TABLE_KIND, WITHHELD_KIND
from utmost.publish.promises.table_statements import cells_digest
from utmost.publish.releases.clean_release import FAR_OFF, CleanedRelease, CleanProblem, CleanTable, warn_far_off
from utmost.publish.releases.estimates import Estimate
from utmost.publish.releases.released_cells import (
    Combined,
    ReleasedCells,
    RowSet,
    plain_number,
    row_labels,
    sum_of,
    with_interval_ends,
)
from utmost.publish.releases.withholding import WithholdingRule, shown_bias
from utmost.publish.workloads.planning.plan import Plan
from utmost.publish.workloads.reconstruction.public_facts import PublicFacts
from utmost.tables.axes.domain import Domain, Where
from utmost.tables.files import files
from utmost.tables.files.saving import Digest, SavedTable
from utmost.tables.frames.adapters import LabelledTable, check_columns_exist, no_column
from utmost.tables.frames.any_table import adapter_of, is_engine_table, opened_table
from utmost.tables.frames.table import Table

if TYPE_CHECKING:
    from utmost.publish.releases.given_facts import GivenFacts
    from utmost.publish.releases.noisy_sums import MarginalNames
    from utmost.publish.releases.withheld import WithheldTable

_KINDS = get_args(NoiseKind)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoiseDeclaration(Display):
    """The declaration about a table with the noise of another tool; the statement of the table is made from it."""

    noise: Mapping[str, DeclaredNoise]  # Noise of each noisy column
    public: tuple[str, ...]  # All other columns
    rows: int
    source: str  # Name of who declared the noise: a tool with its version, or a publication
    claim: str | None  # Claim of this source about privacy, in its own words; None without a claim
    confidence: Fraction

    @property
    def guarantee(self) -> str:
        """Sentences for readers: no guarantee of utmost, the declared noise, and the claim of the source."""
        listed = "; ".join(f"{name!r}: {noise.words}" for name, noise in self.noise.items())
        claim = "No claim about privacy was passed on."
        if self.claim is not None:
            claim = f'Its claim about privacy, which utmost did not check: "{self.claim}".'
        return (
            "utmost promises nothing about this table: it drew no noise and saw no data. Noise as declared by "
            f"{self.source}: {listed}. {claim}"
        )

    @property
    def on_trust(self) -> tuple[str, ...]:
        """The assumptions on which the margins rest, and which a reader cannot check."""
        return (
            f"the noise is as {self.source} declared it, and that of each cell is independent of all others",
            "no value was rounded, cut off or changed in another way after the noise was added",
            "whatever is claimed about privacy",
        )

    @property
    def margins(self) -> dict[str, int | float | None]:
        """The margin of each noisy column, by the margin column's name; None if margins differ between rows."""
        return {
            f"{name}_margin": None if noise.column is not None else noise.margin(self.confidence)
            for name, noise in self.noise.items()
        }

    @property
    def widest(self) -> DeclaredNoise:
        return max(self.noise.values(), key=lambda noise: noise.margin(self.confidence))

    def bias(self, rule: WithholdingRule) -> list[dict[str, Any]]:
        """Return the effect of a rule on cells with the largest noise, see `shown_bias`."""
        return shown_bias(rule, DeclaredTails.of(self.widest), self.widest.margin(self.confidence))

    def margin_columns(self, columns: Mapping[str, Sequence[Any]]) -> dict[str, list[int | float]]:
        """Return each cell's margin, by name of the margin column; raise BadTable if a size of noise is invalid."""
        laid: dict[str, list[int | float]] = {}
        for name, noise in self.noise.items():
            sizes = self.sizes(name, columns)
            known = {size: replace(noise, size=size, column=None).margin(self.confidence) for size in set(sizes)}
            laid[f"{name}_margin"] = [known[size] for size in sizes]
        return laid

    def sizes(self, name: str, columns: Mapping[str, Sequence[Any]]) -> list[Fraction]:
        """Return the size of the noise in each row of a noisy column."""
        noise = self.noise[name]
        if noise.column is None:
            return [noise.size] * self.rows
        sizes = row_sizes(noise.column, columns[noise.column])
        if max(sizes, default=noise.size) != noise.size:
            raise BadTable(
                "the largest size of noise in the column must be the declared size",
                came="another size",
                where=noise.column,
            )
        return sizes

    def facts(self) -> dict[str, Any]:
        return {
            "guarantee": self.guarantee,
            "source": self.source,
            "claim": self.claim,
            "noise": {
                name: {"kind": noise.kind, noise.parameter: str(noise.size), "column": noise.column}
                for name, noise in self.noise.items()
            },
            "public": list(self.public),
            "rows": self.rows,
            "confidence_exactly": str(self.confidence),
            "margins": self.margins,
            "on_trust": list(self.on_trust),
        }

    @classmethod
    def _of_facts(cls, document: Mapping[str, Any]) -> "NoiseDeclaration":
        noise: dict[str, DeclaredNoise] = {}
        for name, stated in stated_field(document, "noise", dict).items():
            kind, column = stated["kind"], stated["column"]
            size = stated.get("scale", stated.get("variance"))
            if kind not in _KINDS or not isinstance(size, str) or not isinstance(column, str | None):
                raise does_not_follow("noise")
            noise[name] = DeclaredNoise(kind, positive_number(size, "size", "noise"), column)
        claim, public = document["claim"], tuple(names_of(document, "public"))
        if not noise or not isinstance(claim, str | None) or set(noise) & set(public):
            raise does_not_follow("noise")
        if any(one.column is not None and one.column not in public for one in noise.values()):
            raise does_not_follow("public")
        confidence = read_confidence(stated_field(document, "confidence_exactly", str))
        source = _one_line(stated_field(document, "source", str), "source")
        return cls(noise, public, stated_rows(document), source, _claim(claim), confidence)


NOISY_TABLE_FORM = StatementForm(
    NOISY_TABLE_KIND, "a statement of declared noise", NoiseDeclaration.facts, NoiseDeclaration._of_facts
)
"""How the statement of a table with the noise of another tool is written, and read and checked."""


def declared_in(statement: Mapping[str, Any]) -> NoiseDeclaration | None:
    """Return the declaration in a noisy table's statement, also if cells are withheld; None for other statements."""
    noisy = statement.get("release") if statement.get("kind") == WITHHELD_KIND else statement
    if not isinstance(noisy, Mapping) or noisy.get("kind") != NOISY_TABLE_KIND:
        return None
    return NOISY_TABLE_FORM.checked(noisy)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoisyTable(SavedTable):
    """A table to which another tool added noise, with margins from the declared noise; made by `noisy_table`.

    A noisy table has the methods of an `Answer`, but no guarantee of utmost: ``guarantee`` names the source. Margins
    hold if the noise is as declared and independent in each cell, and if the values were not changed after the
    noise was added.

    Attributes:
        table: Table, with ``<name>_margin`` after each noisy column.
        declaration: Noise, its source, and the claim about privacy.
    """

    _shown = ("columns", "rows", "source", "confidence")

    table: Any = field(repr=False)
    declaration: NoiseDeclaration
    _digest: Digest | None = field(default=None, repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the noisy columns."""
        return tuple(self.declaration.noise)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.declaration.rows

    @property
    def source(self) -> str:
        """The name of the tool or publication that declared the noise."""
        return self.declaration.source

    @property
    def confidence(self) -> Fraction:
        """The default confidence of the margins."""
        return self.declaration.confidence

    @property
    def guarantee(self) -> str:
        """Sentences for readers: no guarantee of utmost, the declared noise, and the claim of the source."""
        return self.declaration.guarantee

    def margin(self, confidence: Number | None = None) -> int | float:
        """The margin of error of the noisiest cell: a noisy value is at most this far from the true value."""
        sure = self.confidence if confidence is None else read_confidence(confidence)
        return max(noise.margin(sure) for noise in self.declaration.noise.values())

    def with_confidence(self, confidence: Number) -> "NoisyTable":
        """Return this table with margins at another confidence."""
        declaration = replace(self.declaration, confidence=read_confidence(confidence))
        return NoisyTable(_with_margins(self.table, declaration), declaration)

    @property
    def statement(self) -> dict[str, Any]:
        """The statement beside the table, as a dict with the digest of its cells."""
        return self.statement_with(cells_digest(self.table) if self._digest is None else self._digest)

    def statement_with(self, digest: Digest | None) -> dict[str, Any]:
        """Return the statement, with the digest of the published table."""
        return NOISY_TABLE_FORM.statement(self.declaration, digest)

    @property
    def cells(self) -> "DeclaredCells":
        """The noisy cells as numbers; its methods compute sums, differences, means and ratios of cells."""
        return DeclaredCells.of(self)

    def __getitem__(self, names: str | Sequence[str]) -> LabelledTable:
        """Return one marginal as a table: labels of public columns, sums of cells, and their margins."""
        return self.cells[names]

    def total(
        self, where: Where | None = None, *, column: str | None = None, confidence: Number | None = None
    ) -> Estimate:
        """Return a sum of noisy values with its margin, which holds if the noise is independent, as declared.

        Args:
            where: Selection of rows: a mapping from names of public columns to one label or a list of labels; all rows
                if left out.
            column: Name of the noisy column, if the table has several.
            confidence: Confidence of the margin; that of the table if left out.

        Raises:
            OutOfRange, BadTable: if the table does not have a column or label of the selection.
        """
        return self.cells.total(where, column=column, confidence=confidence)

    def difference(
        self, first: Where, second: Where, *, column: str | None = None, confidence: Number | None = None
    ) -> Estimate:
        """Return the total of one selection minus the total of another; cells in both selections cancel.

        Args:
            first, second: Two selections, which may overlap.
            column, confidence: Arguments of `total`.
        """
        return self.cells.difference(
            mapping(first, "first"), mapping(second, "second"), column=column, confidence=confidence
        )

    def ratio(
        self,
        where: Where,
        over: Where | None = None,
        *,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number | None = None,
    ) -> RatioBar:
        """Return an interval that contains the true sum over ``where`` divided by that over ``over`` (or all cells).

        Args:
            where, over: Two selections, as for `total`.
            column, over_column: Noisy columns of the numerator and of the denominator.
            confidence: Confidence of the interval; that of the table if left out.
        """
        return self.cells.ratio(
            mapping(where, "where"), over, column=column, over_column=over_column, confidence=confidence
        )

    def withhold(
        self, *, below: Number | None = None, relative_margin: Number | None = None, mark: str = "withheld"
    ) -> "WithheldTable[Any]":
        """Return the table with cells withheld by a public rule on their noisy values.

        Args:
            below, relative_margin, mark: Arguments of `WithholdingRule`.

        Raises:
            OutOfRange, NotANumber: if the rule is invalid.
        """
        return self.withheld(WithholdingRule.of(below, relative_margin, mark=mark))

    def withheld(self, rule: WithholdingRule) -> "WithheldTable[Any]":
        """Return the table with cells withheld by a rule; see `withhold`."""
        from utmost.publish.releases.withheld import withheld_columns

        if rule.complementary:
            remedy = "Leave out complementary=: the noise of the cells is independent."
            raise Unsupported("complementary= needs a release by a plan", came="a noisy table", remedy=remedy)
        margins = self.declaration.margin_columns(files.columns(self.table))
        return withheld_columns(
            self.table,
            {name: np.array(margins[f"{name}_margin"]) for name in self.columns},
            self.declaration.bias(rule),
            self.statement_with(None),
            rule,
        )

    def clean(
        self, given: "GivenFacts | None" = None, *, hold: "MarginalNames | None" = None, column: str | None = None
    ) -> CleanTable:
        """Compute nonnegative integers nearest to the noisy cells, such that all their sums agree.

        The integers are biased: use them for display.

        Args:
            given, hold: Arguments of `NoisySums.clean`: public facts that must hold, and one table whose sums are only
                rounded.
            column: Name of the noisy column, if the table has several.

        Raises:
            BadTable: if the rows are not every combination of the labels of the public columns, once each.
            Unsupported: if the size of the noise differs between rows.
            OutOfRange, WrongKind, NotANumber: if a fact is invalid.
            Infeasible: if the facts hold for no table.

        Warns:
            FactsFarOff: if a fact is so far from the noisy sum that noise alone explains it with probability at most
                10^-6.
        """
        problem = self.clean_problem(given, hold, column)
        whole = problem.solved()
        if (facts := problem.facts) is not None:
            # Warn of facts that the noisy sums practically exclude
            domain, noise = problem.reconstruction.domain, self.declaration.noise[self.cells.column(column)]
            (cells, divisor), far = problem.measured[domain.finest], []
            miss = FAR_OFF / sum(len(facts.places(marginal)) for marginal in facts.bounds)
            for marginal, (lower, upper) in facts.bounds.items():
                sums = domain.sums(cells.astype(object), marginal).ravel()
                reach = exact(noise.sum_of([noise.size] * (domain.size // len(sums))).margin_for_miss(miss))
                for place in facts.places(marginal):
                    value = Fraction(int(sums[place]), divisor)
                    if lower.ravel()[place] - value > reach or value - upper.ravel()[place] > reach:
                        far.append(f"{facts.fact(marginal, place)}, where {plain_number(value)} was published")
            warn_far_off(far)
        return whole

    def clean_problem(
        self, given: "GivenFacts | None" = None, hold: "MarginalNames | None" = None, column: str | None = None
    ) -> CleanProblem:
        """Return the least-squares problem whose solution is the clean table, see `clean`."""
        cells = self.cells
        name = cells.column(column)
        noise = self.declaration.noise[name]
        if noise.column is not None:
            remedy = "Clean a separate table for each size of noise."
            raise Unsupported(
                "a table can be cleaned only if the noise of all rows has one size", came=noise.words, remedy=remedy
            )
        domain, places = self._domain_and_indices(cells)
        divisor = np.lcm.reduce([cell.denominator for cell in cells.cells[name]], dtype=object)
        laid = np.empty(domain.size, dtype=object)
        laid[places] = [int(cell * int(divisor)) for cell in cells.cells[name]]
        measured = laid.reshape(domain.shape)
        if max(map(abs, laid.tolist())) < 1 << 62:
            measured = measured.astype(np.int64)
        plan = Plan(domain, Unit(1, 1), {domain.marginal_name(domain.finest): 1})
        squares, _ = plan.measurement.reconstruction({domain.finest: 1}).on_cells({domain.finest: measured})

        def guarantee(facts: PublicFacts | None) -> str:
            held = "" if facts is None else f" It holds given facts that are public: {facts.words}."
            return f"{self.guarantee}{held}"

        release = CleanedRelease(None, self.digest(name), guarantee)
        one = noise.sum_of([noise.size])
        whole = {domain.finest: (measured, int(divisor))}
        return CleanProblem.posed(release, squares, whole, one, "columns:", given, hold)

    def digest(self, column: str) -> str:
        """Return the SHA-256 of the labels and one noisy column; a clean table names its source by this digest."""
        cells = self.cells
        values = [str(cell) for cell in cells.cells[column]]
        return cells_digest({**cells.labels, column: values})["sha256"]

    @property
    def domain(self) -> Domain:
        """The domain of the cells: the public columns are its axes.

        Raises:
            BadTable: if the rows are not every combination of these labels, once each.
        """
        return self._domain_and_indices(self.cells)[0]

    def _domain_and_indices(self, cells: "DeclaredCells") -> tuple[Domain, NDArray[np.intp]]:
        """Return the domain of the cells, and the index of each row's cell in the flattened domain."""
        sized = {noise.column for noise in self.declaration.noise.values()}
        axes = {name: column for name, column in cells.labels.items() if name not in sized}
        listed = {name: list(dict.fromkeys(column)) for name, column in axes.items()}
        places = np.zeros(self.rows, dtype=np.intp)
        for name, column in axes.items():
            place = {label: at for at, label in enumerate(listed[name])}
            places = places * len(place) + np.array([place[label] for label in column], dtype=np.intp)
        domain = Domain(listed)
        if domain.size != self.rows or len(np.unique(places)) != self.rows:
            remedy = "Add the missing rows, and leave out subtotals and columns that follow from other columns."
            required = "the table must have one row for each combination of the labels of its public columns"
            raise BadTable(required, came=f"{self.rows} rows of {domain.size} combinations", remedy=remedy)
        return domain, places

    def beside(self, clean: CleanTable) -> dict[str, list[Any]]:
        """Return the columns of a clean table's file: labels, noisy values, margins, and integers row by row."""
        for name in self.columns:
            if self.digest(name) == clean.sums:
                domain, places = self._domain_and_indices(self.cells)
                columns = files.columns(self.table)
                labels = {label: columns[label] for label in domain.level_names(domain.finest)}
                released = {name: columns[name], f"{name}_margin": columns[f"{name}_margin"]}
                return {**labels, **released, "clean": clean.cells.ravel()[places].tolist()}
        raise BadTable("the clean table must be computed from this table", came="another clean table", where="of")

    def to_pandas(self) -> Any:
        """Convert the table to a dataframe of pandas; without pandas this raises `Unsupported`."""
        return Table(files.columns(self.table)).to_pandas()

    def to_polars(self) -> Any:
        """Convert the table to a dataframe of Polars; without Polars this raises `Unsupported`."""
        return Table(files.columns(self.table)).to_polars()

    def to_arrow(self) -> Any:
        """Convert the table to a table of PyArrow; without PyArrow this raises `Unsupported`."""
        return Table(files.columns(self.table)).to_arrow()


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredCells(ReleasedCells):
    """The cells of a table with the noise of another tool."""

    declaration: NoiseDeclaration
    sizes: Mapping[str, list[Fraction]]  # Size of the noise of each cell, by column

    @classmethod
    def of(cls, release: NoisyTable) -> "DeclaredCells":
        columns, declared = files.columns(release.table), release.declaration
        cells = {name: noisy_numbers(name, columns[name], noise) for name, noise in declared.noise.items()}
        sizes = {name: declared.sizes(name, columns) for name in declared.noise}
        labels = row_labels(release.table, release.columns)
        return cls(release.table, cells, labels, declared.confidence, None, None, declared, sizes)

    def alike(self, column: str, rows: RowSet) -> Any:
        return tuple(sorted(self.sizes[column][row] for row in rows))

    def margin(self, column: str, combined: Combined, confidence: Fraction) -> int | float:
        of_size = dict[Fraction, list[Fraction]]()  # Sizes of the cells' noise, by the size of the cell's coefficient
        for size, rows in combined:
            of_size.setdefault(abs(size), []).extend(self.sizes[column][row] for row in rows)
        each = 1 - (1 - confidence) / max(1, len(of_size))
        noise = self.declaration.noise[column]
        margins = {size: noise.sum_of(sizes).margin(each) for size, sizes in of_size.items()}
        if of_size.keys() <= {1}:
            return sum(margins.values())
        return round_up(sum(size * exact(margin) for size, margin in margins.items()))

    def variance(self, column: str, combined: Combined) -> float:
        sizes, noise = self.sizes[column], self.declaration.noise[column]
        return sum(float(size) ** 2 * noise.sum_of(sizes[row] for row in rows).variance for size, rows in combined)

    def ratio_bar(self, above: tuple[str, RowSet], below: tuple[str, RowSet], confidence: Fraction) -> RatioBar:
        shared = above[1] & below[1] if above[0] == below[0] else RowSet()

        def part(name: str, rows: RowSet) -> tuple[Fraction, DeclaredNoise, list[Fraction]]:
            own = [self.sizes[name][row] for row in rows - shared]
            return self.value(name, sum_of(rows)), self.declaration.noise[name], own

        both = [self.sizes[above[0]][row] for row in shared]
        return ratio_of_sums(part(*above), part(*below), both, confidence)

    def alone(self, confidence: Number) -> int | float:
        """Return the margin of the noisiest cell; it holds for that cell alone."""
        sure = read_confidence(confidence)
        return max(noise.margin(sure) for noise in self.declaration.noise.values())

    def together(self, confidence: Number) -> int | float:
        """Return the margin of the noisiest cell, if all margins together hold with the probability ``confidence``."""
        return self.alone(self._each(confidence))

    def _each(self, confidence: Number) -> Fraction:
        """Return the confidence of each cell's margin such that all margins together have ``confidence``."""
        miss = 1 - read_confidence(confidence)
        return 1 - missed_by_each(miss, max(1, self.rows * len(self.cells)))

    def with_bars(self, confidence: Number) -> Any:
        """Add columns with the ends of each cell's two intervals: one for this cell, one for all cells together."""
        margins = {}
        for name, sizes in self.sizes.items():
            ends = []
            for chance in (read_confidence(confidence), self._each(confidence)):
                noise = self.declaration.noise[name]
                known = {size: exact(noise.sum_of([size]).margin(chance)) for size in set(sizes)}
                ends.append([known[size] for size in sizes])
            margins[name] = (ends[0], ends[1])
        return with_interval_ends(self.table, self.cells, margins)


def noisy_table(
    table: Any,
    noise: Mapping[str, DeclaredNoise],
    *,
    source: str,
    claim: str | None = None,
    drop: Sequence[str] = (),
    confidence: Number = DEFAULT_CONFIDENCE,
) -> NoisyTable:
    """Read a table with the noise of another tool, for margins, totals, ratios, clean tables and withheld cells.

    utmost draws no noise, and checks no claim about privacy: the result names the source of the noise.

    Args:
        table: Table as it was published: dict of columns, dataframe, Arrow table, or path of a file.
        noise: Mapping from each noisy column to its noise, as `declared_noise` makes it. All other columns are labels.
        source: Name of the source of the declaration: "Tumult Analytics 0.8.3", "US Census, noisy measurements of
            2023".
        claim: Claim of the source about privacy, in its words: "epsilon = 1 for each person".
        drop: Columns that are left out.
        confidence: Confidence of the margins.

    Raises:
        BadTable: if a column is missing, if a noisy cell is not a number, or if it has decimals although its declared
            noise is of integers.
        OutOfRange, WrongKind: if another argument is invalid.
        Unsupported: if an engine evaluates the table later, as for a lazy frame.

    >>> from utmost.interop import declared_noise
    >>> counts = {"region": ["north", "south"], "people": [412, 388]}
    >>> noise = {"people": declared_noise("discrete laplace", scale=2)}
    >>> noisy = noisy_table(counts, noise, source="OpenDP 0.12")
    >>> noisy.table["people_margin"], noisy.total().margin, noisy.ratio({"region": "north"}).determined
    ([6, 6], 8, True)
    """
    source, claim = _one_line(text(source, "source"), "source"), _claim(optional(claim, text, "claim"))
    declared = {
        text(name, "noise"): instance(one, DeclaredNoise, f"noise of {name!r}")
        for name, one in mapping(noise, "noise").items()
    }
    if not declared:
        remedy = 'Pass, for example, noise={"count": ut.interop.declared_noise("laplace", scale=2)}.'
        raise OutOfRange("noise must name at least one column", came="none", remedy=remedy)
    opened = opened_table(table)
    if is_engine_table(opened):
        remedy = "Fetch the table first, for example by table.collect()."
        raise Unsupported("a noisy table must be in memory", came=type(opened).__name__, remedy=remedy)
    adapter = adapter_of(opened)
    names, dropped = adapter.names(opened), tuple(text(name, "drop") for name in sequence(drop, "drop"))
    check_columns_exist((*declared, *dropped), names)
    kept = Table({name: cells for name, cells in files.columns(opened).items() if name not in dropped})
    public = tuple(name for name in kept if name not in declared)
    for name in declared:
        if f"{name}_margin" in public:
            remedy = f"Pass drop={f'{name}_margin'!r}, or rename the column."
            required = f"no column of the table may have the name '{name}_margin', which the column of margins gets"
            raise BadTable(required, came="a column of this name", remedy=remedy)
    sized = dict[str, DeclaredNoise]()
    for name, one in declared.items():
        sized[name] = one
        if one.column is not None:
            # If a column has the size of the noise of each row, the declaration states the largest size.
            if one.column not in public:
                raise no_column(one.column, list(public))
            sized[name] = replace(one, size=max(row_sizes(one.column, kept[one.column]), default=Fraction(1)))
    for name, one in sized.items():
        kept[name] = [plain_number(cell) for cell in noisy_numbers(name, kept[name], one)]
    declaration = NoiseDeclaration(
        sized, public, len(kept[next(iter(sized))]), source, claim, read_confidence(confidence)
    )
    return NoisyTable(_with_margins(kept, declaration), declaration)


def row_sizes(name: str, column: Sequence[Any]) -> list[Fraction]:
    """Read the size of the noise of each row; raise BadTable if a size is not a positive number."""
    try:
        return [positive_number(exact(cell, name), name, "row") for cell in column]
    except UtmostError as error:
        raise BadTable("the size of noise must be a positive number", came=str(error.came)[:60], where=name) from None


def noisy_numbers(name: str, column: Sequence[Any], noise: DeclaredNoise) -> list[Fraction]:
    """Read the noisy cells of a column as numbers; raise BadTable if a cell is missing or invalid."""
    numbers = []
    for row, cell in enumerate(column):
        try:
            number = exact(cell, name)
        except UtmostError:
            came = "nothing" if cell in (None, "") else type(cell).__name__
            raise BadTable("a noisy cell must be a number", came=came, where=f"{name!r}, row {row + 1}") from None
        if noise.is_whole and number.denominator != 1:
            remedy = f"Declare {noise.kind.split()[-1]!r} noise, which is continuous; or drop the column."
            raise BadTable(
                f"a cell with {noise.kind} noise must be an integer",
                came="a number with decimals",
                where=f"{name!r}, row {row + 1}",
                remedy=remedy,
            )
        numbers.append(number)
    return numbers


def check_noisy_table(statement: Mapping[str, Any], table: Any) -> NoisyTable:
    """Check the columns, rows, sizes of noise and margins of a noisy table against its statement; return the table."""
    declared, columns = NOISY_TABLE_FORM.checked(statement), files.columns(table)
    expected = {*declared.public, *declared.noise, *declared.margins}
    if set(columns) != expected or any(len(cells) != declared.rows for cells in columns.values()):
        required = "the table must have the columns and the number of rows that its statement gives"
        raise BadTable(required, came=", ".join(columns)[:200], where="table")
    for name, noise in declared.noise.items():
        columns[name] = [plain_number(cell) for cell in noisy_numbers(name, columns[name], noise)]
    for name, margins in declared.margin_columns(columns).items():
        if any(map(unlike, columns[name], margins)):
            raise BadTable("the margins must follow from the declared noise", came="other margins", where=repr(name))
        columns[name] = margins
    return NoisyTable(Table(columns), declared, statement.get("table"))


def _with_margins(table: Any, declaration: NoiseDeclaration) -> Any:
    adapter = adapter_of(table)
    margins: dict[str, Any] = dict(declaration.margin_columns(files.columns(table)))
    return adapter.with_columns(table, margins, {name: name.removesuffix("_margin") for name in margins})


_LONGEST = 500


def _one_line(words: str, name: str) -> str:
    """Return the text if it is one line of at most 500 printable characters; refuse any other text."""
    if not words.strip() or not words.isprintable() or len(words) > _LONGEST:
        example = "OpenDP 0.12" if name == "source" else "epsilon = 1"
        remedy = f'Pass, for example, {name}="{example}".'
        required = f"{name} must be one line of at most {_LONGEST} printable characters"
        raise OutOfRange(required, came=repr(words)[:60], remedy=remedy)
    return words


def _claim(claim: str | None) -> str | None:
    return None if claim is None else _one_line(claim, "claim")
