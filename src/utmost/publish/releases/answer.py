"""The result of a release: noisy values at one epsilon, with methods for their sums, ratios, margins and files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from numpy.typing import NDArray

from utmost.core.exact.arguments import instance, mapping, truth
from utmost.core.exact.display import Display
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.privacy.unit import Unit
from utmost.errors import OutOfRange, Unsupported
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.noise_at_level import NoiseAtLevel, bar_column
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.statement import Statement, StatementFacts
from utmost.publish.promises.table_statements import cells_digest
from utmost.tables.files import files
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.frames.adapters import LabelledTable, TableAdapter
from utmost.tables.frames.any_table import adapter_of, is_engine_table, published_names, table_of
from utmost.tables.frames.table import Table

if TYPE_CHECKING:  # a release of one table need not load these modules
    from utmost.core.noise.ratio_bars import RatioBar
    from utmost.publish.promises.until import Stop
    from utmost.publish.releases.clean_release import CleanTable
    from utmost.publish.releases.estimates import Estimate
    from utmost.publish.releases.given_facts import GivenFacts
    from utmost.publish.releases.noisy_sums import MarginalNames, NoisySums
    from utmost.publish.releases.quantiles import QuantileBar
    from utmost.publish.releases.release import Release
    from utmost.publish.releases.released_cells import IndependentCells, OneDrawCells
    from utmost.publish.releases.withheld import WithheldTable, WithheldTables
    from utmost.publish.releases.withholding import WithholdingRule
    from utmost.publish.workloads.measuring.forms import LevelNumbers
    from utmost.tables.axes.domain import Where

TableT_co = TypeVar("TableT_co", covariant=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(Display, Generic[TableT_co]):
    """Noisy values at one epsilon. The values of an answer never change, even if further levels are answered.

    The functions that draw noise return answers: `release`, `Ledger.publish`, `Ledger.relax`, `Ledger.view`, and the
    methods of a service's client. Without a plan, the noisy values are columns of ``table``. With a plan, read the
    noisy sums by the name of a marginal: ``answer["sex age"]``. ``answer.release`` gives further answers to the same
    promise.

    Attributes:
        table: The released and the public columns: a `Table`, or a dataframe of the kind of the input. Each released
            column keeps its name, and a column ``<name>_margin`` with its margins follows it; all coordinates of a
            point have one common column of margins. For a plan the table is a `NoisySums`; for a selection of keys it
            has the selected keys.
        promise: Promise; its columns and public columns are those of the table, in the same order.
        noise: Level, unit, distribution and margin of the noise: a `NoiseAtLevel`.
        rows: Number of rows of the table; for a plan, number of measured sums.
        ledger_facts: Name, version and levels of the release, for the statement; None if the release is made once.

    >>> import utmost as ut
    >>> promise = ut.Promise("admitted", public="department", unit=ut.Unit(1, 1))
    >>> answer = ut.release({"department": ["A", "B"], "admitted": [601, 370]}, promise, epsilon=1)
    >>> answer.level, answer.margin(), answer.margin("0.99")
    (level(epsilon=1), 3, 4)
    >>> answer.total({"department": "A"}).margin, answer.total().margin
    (3, 4)
    >>> sharper = answer.release.at(2)
    >>> answer.level, sharper.level, answer.release.spent
    (level(epsilon=1), level(epsilon=2), level(epsilon=2))
    """

    _shown = ("columns", "rows", "level", "distribution")

    table: TableT_co = field(repr=False)
    promise: Promise
    noise: NoiseAtLevel
    rows: int
    ledger_facts: LedgerFacts | None
    _release: "Release | None" = field(repr=False)
    _digest: Digest | None = field(default=None, repr=False)  # digest in the statement that was read

    def __reduce__(self) -> tuple[Any, ...]:
        return Answer, (self.table, self.promise, self.noise, self.rows, self.ledger_facts, None, self._digest)

    @classmethod
    def of_statement(cls, table: Any, statement: Mapping[str, Any]) -> "Answer[Any]":
        """Make the answer from a published table and its statement; `read_release` reads these two files.

        Args:
            table: Table as it was published, of any kind.
            statement: Statement of the table.

        Raises:
            BadTable: if a field of the statement does not follow from the others, or if the statement is about another
                table. A digest of the table's file is not compared with the file.
        """
        checked = Statement.of_facts(statement)
        in_memory = checked.digest is not None and checked.digest["of"] == "cells"
        noise = checked.check(table, digested=in_memory)
        return cls(table, checked.promise, noise, checked.rows, checked.ledger, None, checked.digest)

    @classmethod
    def of_sums(cls, sums: "NoisySums") -> "Answer[NoisySums]":
        """Make the answer of a release by a plan from its noisy sums."""
        from utmost.publish.releases.noisy_sums import NoisySums

        rows = instance(sums, NoisySums, "sums").plan.measured
        return Answer(sums, sums.promise, sums.at_level, rows, sums.ledger_facts, None)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the released columns."""
        return self.promise.columns

    @property
    def public(self) -> tuple[str, ...]:
        """The names of the public columns, which are published without noise."""
        return self.promise.public

    @property
    def level(self) -> Level:
        """The level of the answer; ``epsilon`` is its epsilon as a number."""
        return self.noise.level

    @property
    def epsilon(self) -> Fraction | float:
        """The epsilon of the answer."""
        return self.level.epsilon

    @property
    def confidence(self) -> Fraction:
        """The default confidence of the margins; it also holds if a stopping rule chose the level."""
        return self.noise.confidence if self.stop is None else self.stop.confidence

    @property
    def stop(self) -> "Stop | None":
        """The result of the stopping rule (`within`) at this level; None without a rule."""
        return None if self.ledger_facts is None else self.ledger_facts.stop

    @property
    def is_met(self) -> bool:
        """Whether the answer is as accurate as the stopping rule requires.

        Raises:
            Unsupported: if no stopping rule chose the level of the answer.
        """
        if self.stop is None or self.stop.is_met is None:
            required = "is_met is known only for an answer at which a stopping rule stopped"
            remedy = "Make the promise with until=within(...); or read answer.margin()."
            raise Unsupported(required, came="an answer at a level that the caller chose", remedy=remedy)
        return self.stop.is_met

    @property
    def distribution(self) -> Any:
        """The distribution of the noise of one released cell, or of a whole row if its cells share noise."""
        return self.noise.distribution

    @property
    def unit(self) -> Unit:
        """The unit of privacy: what one individual can change."""
        return self.noise.unit

    @property
    def is_by_plan(self) -> bool:
        """Whether the release measured the sums of a plan; if so, ``table`` is a `NoisySums`."""
        return self.promise.noise.is_by_plan

    @property
    def release(self) -> "Release":
        """The release that remembers all answers to this promise; its method `at` gives answers at other levels.

        Raises:
            Unsupported: if nothing remembers the release: the answer was made with ``once=True``, read from a file, or
                unpickled.
        """
        if self._release is None:  # such an answer has no history
            raise Unsupported(
                "answer.release needs an answer that this process, a ledger or a service remembers",
                came="an answer that was made with once=True, read from a file, opened by a key, or unpickled",
                remedy="Open the ledger of the answer and read ledger[name]; or release the table with "
                "ut.release, without once=True.",
            )
        return self._release

    @property
    def memory_identity(self) -> str | None:
        """The random name of the ledger or process that remembers the release; None if no name is known."""
        return None if self._release is None else self._release.memory_identity

    def margin(self, confidence: Number | None = None) -> int | float:
        """The margin of error of the noisiest column: a released value is at most this far from the true value.

        Args:
            confidence: Probability with which the margin holds; if left out, that of the margins in the table (95 % by
                default).

        >>> from utmost import Promise, Unit, release
        >>> answer = release({"n": [7]}, Promise(columns="n", unit=Unit(1, 1)), epsilon=1)
        >>> answer.margin(), answer.margin("0.999")
        (3, 7)
        """
        return self.noise.margin if confidence is None else self._noise_of(read_confidence(confidence)).margin

    def _noise_of(self, confidence: Fraction) -> NoiseAtLevel:
        """Return the noise with margins at this confidence, which also hold if a stopping rule chose the level."""
        if self.stop is None:
            return self.noise.with_confidence(confidence)
        return self.promise.at_stop(self.level, replace(self.stop, confidence=confidence))

    def with_confidence(self, confidence: Number) -> "Answer[TableT_co]":
        """Return this answer with margins at another confidence in the table, the statement and the methods.

        Raises:
            Unsupported: if the noise is drawn while the table's file is written.
        """
        sure = read_confidence(confidence)
        if sure == self.confidence:
            return self
        if self.stop is not None:
            assert self.ledger_facts is not None, "the facts of a stop come from a ledger"
            facts = replace(self.ledger_facts, stop=replace(self.stop, confidence=sure))
            return replace(self, ledger_facts=facts)._with_noise(self._noise_of(sure), sure)
        return self._with_noise(self.noise.with_confidence(sure), sure)

    def _with_noise(self, noise: NoiseAtLevel, sure: Fraction) -> "Answer[TableT_co]":
        table, sums = self.table, self._sums_of_plan
        if sums is not None:
            others = replace(sums, confidence=sure, ledger_facts=self.ledger_facts)
            return replace(self, noise=noise, table=cast("TableT_co", others))
        bars = {name: margin for name, (_, margin) in noise.bars(self.columns).items()}
        if is_engine_table(table):
            from utmost.tables.engines.engines import with_constants

            there = published_names(table)
            changed = with_constants(table, {name: noise.margin for name in bars if name in there})
            return replace(self, noise=noise, table=cast("TableT_co", changed))
        if self.is_drawn_later:
            required = "a table that is drawn while it is written has margins at one confidence only"
            raise Unsupported(
                required, came=str(sure), remedy="Call margin(confidence) for margins at another confidence."
            )
        adapter = adapter_of(table)
        rows = len(adapter.column(table, self.columns[0]))
        margins = {name: bar_column(bars[name], rows) for name in adapter.names(table) if name in bars}
        table = adapter.with_columns(table, margins, {})
        return replace(self, noise=noise, table=table, _digest=None)  # a new digest: it covers the margins, too

    @property
    def statement(self) -> dict[str, Any]:
        """The statement to publish beside the table, as a dict with the digest of the table's cells.

        For a frame that an engine evaluates there is no digest yet: `save` writes the frame and its statement.
        """
        if self._digest is not None:
            return StatementFacts(self.statement_with(self._digest), self.table)
        later = self.is_by_plan or self.is_drawn_later
        return StatementFacts(self.statement_with(None if later else cells_digest(self.table)))

    def statement_with(self, digest: Digest | None) -> dict[str, Any]:
        """Return the statement with a digest of the published table; the sums of a plan have their own digest."""
        if (sums := self._sums_of_plan) is not None:
            return sums.statement
        return Statement(self.promise, self.noise, self.rows, digest, self.ledger_facts).facts()

    def save(
        self,
        path: Path | str,
        *,
        confidence: Number | None = None,
        marginal: "MarginalNames | None" = None,
        means: bool = False,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table, and its statement as ``path`` plus ".json": both files appear, or none.

        Args:
            confidence: Confidence of the margins; that of the answer if left out.
            marginal: Marginal of a plan whose table is written, see `NoisySums.save`.
            means: Whether to add means to counts and sums of a plan, see `with_means`.
            path, format, sign, overwrite: Arguments of `utmost.tables.files.saving.saved`.

        Returns:
            The statement, with the digest of the file; for a plan and a path that ends in .json, the document with
            statement and noisy sums.

        Raises:
            OutOfRange: if ``marginal`` or ``means`` is passed for an answer without a plan.
            Unsupported, KeyRefused: as for `saved`.
        """
        answer = self if confidence is None else self.with_confidence(confidence)
        if (sums := answer._sums_of_plan) is not None:
            return sums.save(path, marginal=marginal, means=means, format=format, sign=sign, overwrite=overwrite)
        if marginal is not None or means:
            name = "means" if marginal is None else "marginal"
            remedy = f"Leave out {name}=, and read one table by answer[...]."
            raise OutOfRange(f"{name}= needs a release by a plan", came="a table of cells", where=name, remedy=remedy)
        return saved(answer.publication, path, format=format, sign=sign, overwrite=overwrite)

    @property
    def publication(self) -> SavedContent:
        """The table and its statement, ready to be written into files."""
        return SavedContent(self.table, self.statement_with)

    def __getitem__(self, marginal: "MarginalNames") -> LabelledTable:
        """Return one marginal as a table: labels, sums and the margins of the sums.

        Args:
            marginal: For a plan, names of levels, see `NoisySums`; for a table of cells, names of public columns; ""
                for the total.

        Raises:
            NotDetermined: if the measured marginals do not determine this one.
            OutOfRange: if the answer does not have these names.
            Unsupported: if the cells have dependent noise that was not drawn in one draw for all cells, or if the noise
                is drawn while the table's file is written.

        >>> from utmost import Promise, Unit, release
        >>> table = {"ward": ["a", "a", "b"], "sex": ["f", "m", "f"], "ill": [4, 7, 9]}
        >>> release(table, Promise("ill", public=["ward", "sex"], unit=Unit(1, 1)), epsilon=1)["ward"]["ill_margin"]
        array([4, 3])
        """
        return self._read[marginal]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of a plan's tables: ``{name: answer[name] for name in answer}``.

        Raises:
            Unsupported: if the answer is a table of cells, which has columns instead of tables.
        """
        return iter(self._sums("a list of tables", "Its columns are in its table: answer.table."))

    def total(
        self, where: "Where | None" = None, *, column: str | None = None, confidence: Number | None = None
    ) -> "Estimate":
        """Return a sum of released values with its margin; for a plan, the number of individuals or events.

        Args:
            where: Selection of cells: a mapping from names of levels or of public columns to one label or a list of
                labels, such as ``{"ward": ["a", "b"]}``; all cells if left out.
            column: Name of the released column, if the table has several; for a plan, name of the amount to sum, if
                this amount shares noise with counts.
            confidence: Confidence of the margin; that of the answer if left out.

        Raises:
            OutOfRange, BadTable: if the answer does not have a level, column or label of the selection.
            NotDetermined: if the measured marginals do not determine the total.
            Unsupported: if points, columns that change together or selected keys were released, because their cells
                have no independent noise; or if the noise is drawn while the table's file is written.
        """
        return self._read.total(where, column=column, confidence=confidence)

    def ratio(
        self,
        where: "Where",
        over: "Where | None" = None,
        *,
        column: str | None = None,
        over_column: str | None = None,
        confidence: Number | None = None,
    ) -> "RatioBar":
        """Return an interval that contains the true sum over ``where`` divided by that over ``over`` (or all cells).

        If a plan has counts and sums of an amount, counts are divided; pass the amount's name as ``column`` to divide
        sums. The arguments and errors are those of `total`.
        """
        if (sums := self._sums_of_plan) is not None:
            if over_column is not None:
                came, remedy = "the sums of a plan", "Leave out over_column=; `mean` divides a sum by a count."
                raise OutOfRange("over_column= needs a table of cells", came=came, where="over_column", remedy=remedy)
            return sums.ratio(where, {} if over is None else over, column=column, confidence=confidence)
        return self.cells.ratio(where, over, column=column, over_column=over_column, confidence=confidence)

    def difference(
        self, first: "Where", second: "Where", *, column: str | None = None, confidence: Number | None = None
    ) -> "Estimate":
        """Return the total of one selection minus the total of another, with the margin of the difference.

        Args:
            first, second: Two selections, which may overlap.
            column, confidence: Arguments of `total`.
        """
        selections = mapping(first, "first"), mapping(second, "second")
        return self._read.difference(*selections, column=column, confidence=confidence)

    def with_means(self, marginal: "MarginalNames") -> LabelledTable:
        """Return a table of a plan with counts, sums and means of an amount that was counted with ``most_events``.

        Args:
            marginal: Name of the table; "" for the total.

        Raises:
            NotDetermined: if the plan does not determine the table.
            OutOfRange: if the plan is of counts only or of sums only.
        """
        return self._sums("a table with means").with_means(marginal)

    def column_bars(
        self, *marginals: "MarginalNames", confidence: Number | None = None, together: bool = False
    ) -> dict[str, dict[str, int | float]]:
        """Return the margins of counts, sums and means with shared noise, by table and column; see `bars`."""
        return self._sums("margins of columns").column_bars(*marginals, confidence=confidence, together=together)

    def mean(
        self,
        name: str | None = None,
        *,
        where: "Where | None" = None,
        values: "LevelNumbers" = "midpoints",
        sums: "Answer[Any] | None" = None,
        confidence: Number | None = None,
    ) -> "RatioBar":
        """Return an interval for the mean of a number over a selection of a plan's cells: a sum divided by a count.

        For an axis of bins, the interval contains the mean of the numbers that stand for the bins, not of the values
        within them. With ``values="ends"`` the interval contains the mean of the values, if each value lies in its bin.

        Args:
            name: Name of a level whose labels stand for numbers; leave it out with ``sums``, and for the mean of
                amounts that share noise with their counts.
            where: Selection of cells, as for `total`; all cells if left out.
            values: Numbers for which the labels stand, in the order of the labels or by label; for bins, "midpoints" or
                "ends".
            sums: Another answer, which released the sums of the number; its domain must have the levels that ``where``
                names.
            confidence: Confidence of the interval; that of the answer if left out.

        Raises:
            NotDetermined, OutOfRange: as for `total`.
        """
        over = None if sums is None else instance(sums, Answer, "sums")._sums("a mean")
        return self._sums("a mean").mean(name, where=where, values=values, sums=over, confidence=confidence)

    def variance(
        self,
        name: str,
        *,
        where: "Where | None" = None,
        values: "LevelNumbers" = "midpoints",
        confidence: Number | None = None,
    ) -> "RatioBar":
        """Return an interval for the variance of a number over a selection; see `NoisySums.variance`."""
        return self._sums("a variance").variance(name, where=where, values=values, confidence=confidence)

    def spread(
        self,
        name: str,
        *,
        where: "Where | None" = None,
        values: "LevelNumbers" = "midpoints",
        confidence: Number | None = None,
    ) -> "RatioBar":
        """Return an interval for the standard deviation of a number over a selection; see `NoisySums.spread`.

        All individuals of a bin are counted with one number, which represents the bin.
        """
        return self._sums("a deviation").spread(name, where=where, values=values, confidence=confidence)

    def cumulative(
        self, name: str, *, where: "Where | None" = None, confidence: Number | None = None, together: bool = False
    ) -> LabelledTable:
        """Return the cumulative sums along an ordered level of a plan's domain; see `NoisySums.cumulative`."""
        sums = self._sums("a cumulative table")
        return sums.cumulative(name, where=where, confidence=confidence, together=together)

    def bars(
        self, *marginals: "MarginalNames", confidence: Number | None = None, together: bool = False
    ) -> dict[str, int | float]:
        """Return the margins of the tables of a plan, by name; see `NoisySums.bars`."""
        return self._sums("margins of several tables").bars(*marginals, confidence=confidence, together=together)

    def quantile(
        self, name: str, q: Number, *, where: "Where | None" = None, confidence: Number | None = None
    ) -> "QuantileBar":
        """Return the cells of an ordered axis that can contain a quantile; see `NoisySums.quantile`."""
        return self._sums("a quantile").quantile(name, q, where=where, confidence=confidence)

    def median(self, name: str, *, where: "Where | None" = None, confidence: Number | None = None) -> "QuantileBar":
        """Return the cells that can contain the median: `quantile` at 1/2."""
        return self.quantile(name, "1/2", where=where, confidence=confidence)

    def clean(self, given: "GivenFacts | None" = None, *, hold: "MarginalNames | None" = None) -> "CleanTable":
        """Compute nonnegative integers whose sums all agree; the arguments are those of `NoisySums.clean`."""
        return self._sums("a clean table").clean(given, hold=hold)

    def withhold(
        self,
        *marginals: "MarginalNames",
        below: Number | None = None,
        relative_margin: Number | None = None,
        complementary: bool = False,
        mark: str = "withheld",
    ) -> "WithheldTable[TableT_co] | WithheldTables":
        """Return the table, or tables of a plan, with cells withheld by a public rule on their noisy values.

        Withholding costs no epsilon.

        Args:
            marginals: Marginals of a plan to publish, see `NoisySums.withhold`; none for a table of cells.
            below, relative_margin, complementary, mark: Arguments of `WithholdingRule`; pass ``complementary`` only for
                a plan, because cells with independent noise do not follow from each other.

        Raises:
            OutOfRange, NotANumber: if the rule is invalid.
            Unsupported: if an engine evaluates the table, or if the cells do not have independent noise.
        """
        from utmost.publish.releases.withholding import WithholdingRule

        rule = WithholdingRule.of(below, relative_margin, complementary=complementary, mark=mark)
        if marginals or self.is_by_plan:
            sums = self._sums("a marginal with cells withheld")
            return sums.withhold(
                *marginals, below=below, relative_margin=relative_margin, complementary=complementary, mark=mark
            )
        return self.withheld(rule)

    def withheld(self, rule: "WithholdingRule") -> "WithheldTable[TableT_co]":
        """Return the table with cells withheld by a rule; see `withhold`."""
        from utmost.publish.promises.noise_at_level import CellNoiseAtLevel
        from utmost.publish.releases.withheld import withheld_table

        if not isinstance(self.noise, CellNoiseAtLevel):
            required = "withhold needs a release whose cells have independent noise"
            remedy = "Release each cell by sensitivity= and cells=, or publish all cells of the release."
            raise Unsupported(required, came=f"{self.distribution}", remedy=remedy)
        if rule.complementary:
            raise OutOfRange(
                "complementary=True needs a release by a plan",
                came="cells with independent noise, none of which follows from others",
                remedy="Leave out complementary=True.",
            )
        return withheld_table(self.table, self.columns, self.noise, self.statement_with(None), rule)

    def to_pandas(self, marginal: "MarginalNames | None" = None, *, means: bool = False) -> Any:
        """Convert the table to a dataframe of pandas.

        Args:
            marginal: Marginal of a plan; the cells if left out.
            means: Whether to add means to counts and sums of a plan, see `with_means`.

        Raises:
            Unsupported: if pandas is not installed, or if the noise is drawn while the table's file is written.
        """
        return self._in_memory(marginal, means).to_pandas()

    def to_polars(self, marginal: "MarginalNames | None" = None, *, means: bool = False) -> Any:
        """Convert the table to a dataframe of Polars; see `to_pandas`."""
        return self._in_memory(marginal, means).to_polars()

    def to_arrow(self, marginal: "MarginalNames | None" = None, *, means: bool = False) -> Any:
        """Convert the table to a table of PyArrow; see `to_pandas`."""
        return self._in_memory(marginal, means).to_arrow()

    def _in_memory(self, marginal: "MarginalNames | None", means: bool) -> Table:
        """Return the columns of the table, or of a marginal, as a `Table`; refuse values that are not drawn yet."""
        averaged = truth(means, "means")
        if marginal is not None or averaged or self.is_by_plan:
            sums = self._sums("a marginal")
            chosen = sums.finest_table if marginal is None else marginal
            return Table(files.columns(sums.with_means(chosen) if averaged else sums[chosen]))
        if self.is_drawn_later:
            came, remedy = (
                "a table that is drawn while it is evaluated",
                "Evaluate answer.table with the engine of the table.",
            )
            raise Unsupported("the values of a table must be in memory to be converted", came=came, remedy=remedy)
        return Table(files.columns(self.table))

    @property
    def is_drawn_later(self) -> bool:
        """Whether the values are drawn only when a frame is evaluated or a file is written."""
        return is_engine_table(self.table) or hasattr(type(self.table), "written")

    @property
    def _sums_of_plan(self) -> "NoisySums | None":
        return cast("NoisySums", self.table) if self.is_by_plan else None

    @property
    def cells(self) -> "IndependentCells | OneDrawCells":
        """The released cells as numbers; its methods compute sums, differences, means and ratios of cells.

        Raises:
            Unsupported: as for `total`.
        """
        from utmost.publish.releases.released_cells import cells_of

        return cells_of(self)

    @property
    def _read(self) -> "NoisySums | IndependentCells | OneDrawCells":
        """The object that computes totals and differences: the sums of a plan, or the cells of a table."""
        sums = self._sums_of_plan
        return self.cells if sums is None else sums

    def _sums(self, verb: str, remedy: str | None = None) -> "NoisySums":
        if (sums := self._sums_of_plan) is not None:
            return sums
        raise Unsupported(
            f"{verb} needs sums over a declared domain",
            came="a table of cells",
            remedy=remedy
            or "Count the table over a domain and release the counts by a plan; without a plan, call total and ratio.",
        )


def drawn_answer(
    promise: Promise,
    noise: NoiseAtLevel,
    columns: Mapping[str, NDArray[Any]],
    kind: str,
    remembered: LedgerFacts | None,
    bare: Callable[[], tuple[TableAdapter, Any]],
) -> Answer[Any]:
    """Make an answer from drawn columns; ``bare`` returns the table to which columns of released cells are added."""
    rows, drawn = len(next(iter(columns.values()))), promise.noise
    if drawn.is_by_plan:
        from utmost.publish.releases.noisy_sums import sums_in_one_column

        sums = sums_in_one_column(promise, noise.level, columns, kind, remembered)
        return Answer(sums, promise, noise, rows, remembered, None)
    if drawn.names_rows:
        return Answer(table_of(kind, columns), promise, noise, rows, remembered, None)
    adapter, table = bare()
    bars = noise.bars(tuple(columns))
    margins = {name: bar_column(margin, rows) for name, (_, margin) in bars.items()}
    behind = {name: owner for name, (owner, _) in bars.items()}
    return Answer(adapter.with_columns(table, {**columns, **margins}, behind), promise, noise, rows, remembered, None)
