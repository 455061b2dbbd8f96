"""Sums, counts and means of one column that were noised together: for each sum two parts, and nothing for the count.

An event of amount x between l and h adds x - l to the one part, S, and h - x to the other, S'. Together they are h - l,
whatever x is, so one individual changes both by no more than the sum alone would be: both have the whole level, and the
count (S + S')/(h - l) costs nothing. See proofs/theory/counting.md.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import truth, wrong_kind
from utmost.core.exact.numbers import Number, read_confidence
from utmost.core.exact.progress_bar import progress_bar
from utmost.core.noise.ratio_bars import RatioBar
from utmost.core.privacy.amount import Amount
from utmost.errors import OutOfRange
from utmost.publish.promises.workload_statements import workload_table_statement
from utmost.publish.releases.estimates import Estimate, estimate_of
from utmost.publish.releases.family_tables import wanted_families
from utmost.publish.releases.noisy_sums import Families, NoisySums
from utmost.publish.releases.workload_errors import scaled
from utmost.publish.workloads.amount_pair import AmountPair
from utmost.tables.axes.domain import Where
from utmost.tables.files.saving import Digest, Publication, saved
from utmost.tables.files.table_formats import with_blanks
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import adapter_of


@dataclass(frozen=True, slots=True)
class SumsAndCounts:
    """What a release of a table with ``most_events`` says of events and of their amounts.

    Every estimate is an unbiased combination of the noisy sums; bars are certified, and nothing costs privacy. Tables,
    totals and ratios of the release are those of the amounts; here are the counts and the means beside them.

    Args:
        release: by a strategy, of such a table.

    Raises:
        OutOfRange: for a release of another table.

    >>> import utmost as ut
    >>> from utmost import release
    >>> from utmost.workloads import Strategy
    >>> sales = {"user": ["ann", "bob", "bob"], "shop": ["A", "A", "B"], "paid": [3, 7, 9]}
    >>> counting = ut.Counting("user", at_most=2)
    >>> paid = ut.sum("paid", each=(0, 10), most_events=2)
    >>> counted = ut.count_table(sales, {"shop": ["A", "B"]}, counting, measure=paid)
    >>> strategy = Strategy(counted.domain, counted.unit, {"shop": 1})
    >>> both = SumsAndCounts(release(counted, strategy, epsilon=2000).table)
    >>> both.count({"shop": "A"}).value, both.total({"shop": "A"}).value, both.mean({"shop": "A"}).estimate
    (2.0, 10, 5.0)
    """

    release: NoisySums

    def __post_init__(self) -> None:
        if not isinstance(self.release, NoisySums):
            raise wrong_kind("release", "a release by a plan", self.release)
        if not self.release.unit.is_shared:
            remedy = "Count with most_events=, beside values= and each=."
            raise OutOfRange("sums and counts must have been noised together", came="sums alone", remedy=remedy)

    @property
    def amount(self) -> Amount:
        """What is summed, between which ends."""
        return self._pair.amount

    @property
    def _pair(self) -> AmountPair:
        pair = self.release.strategy.amount_pair
        assert pair is not None, "checked when it was made"
        return pair

    def count(self, where: Where | None = None, *, confidence: Number | None = None) -> Estimate:
        """How many events a selection has.

        Args:
            where: as for `NoisySums.total`, on the axes of the domain that was declared.
            confidence: of the margin; the release's when left out.

        Raises:
            NotDetermined, OutOfRange: as for `NoisySums.total`.
        """
        release = self.release
        form = release.counted_form(where)
        value = release.reconstruction.value(release.measured, form)
        sure = release.confidence if confidence is None else read_confidence(confidence)
        return estimate_of(value, scaled(release.noise(form), 1 / self.amount.step), sure)

    def total(self, where: Where | None = None, *, confidence: Number | None = None) -> Estimate:
        """The sum of the amounts of a selection, `NoisySums.total`; arguments as for `count`."""
        return self.release.total(where, confidence=confidence)

    def mean(self, where: Where | None = None, *, confidence: Number | None = None) -> RatioBar:
        """The mean amount of the events of a selection, with its interval; arguments as for `count`."""
        return self.release.mean(self.amount.name, where=where, confidence=confidence)

    def bars(
        self, *families: Families, confidence: Number | None = None, together: bool = False
    ) -> dict[str, int | float]:
        """The margins of the counts of families, by name; arguments as for `NoisySums.bars`, which has the sums'.

        Raises:
            NotDetermined, OutOfRange: as for `NoisySums.total`.
        """
        release = self.release
        chosen = [release.domain.family(name) for name in families] or wanted_families(release.strategy)
        sure = release.confidence if confidence is None else read_confidence(confidence)
        return release.widest_bars(chosen, self._pair.count, sure, together=truth(together, "together"))

    def __getitem__(self, family: Families) -> LabelledTable:
        """One family as a table: its labels, counts and sums, each with its margin behind it.

        Args:
            family: names of levels of the domain that was declared; "" for the total.

        Raises:
            NotDetermined, OutOfRange: as for `NoisySums.total`.
        """
        return self.release[family]

    @progress_bar("Means of groups")
    def with_means(self, family: Families) -> LabelledTable:
        """One family as a table with the mean amount of each group, and the ends of its interval.

        Blank are means that are not determined: the count may be 0, as far as its noise allows to say.

        Args:
            family: as for one table.

        Raises:
            NotDetermined, OutOfRange: as for `NoisySums.total`.

        Cost: an interval for each row, a twentieth of a second.
        """
        release, name = self.release, self.amount.name
        table, names = release[family], [f"{self.amount.name}_mean{end}" for end in ("", "_lower", "_upper")]
        taken = set(adapter_of(table).names(table))
        if taken & set(names):
            came = repr(min(taken & set(names)))
            raise OutOfRange("means stand in columns of their own names", came=came, remedy="Rename the level.")
        shown_means = [_shown_mean(bar) for bar in release.group_means(family)]
        ends: list[list[float | None]] = [list(listed) for listed in zip(*shown_means, strict=True)]
        shown: LabelledTable = with_blanks(
            table, dict(zip(names, ends, strict=True)), dict.fromkeys(names, f"{name}_sum_margin")
        )
        return shown

    def save(
        self,
        path: Path | str,
        *,
        family: Families | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write one family's table with counts, sums and means, and the release beside it.

        Args:
            path: the table's file, see `saved`; `NoisySums.save` writes the whole release as .json.
            family: the levels of the table; those of the cells if left out.
            format, sign, overwrite: as for `saved`.

        Raises:
            NotDetermined, OutOfRange: for a family that the release does not have.
            Unsupported, KeyRefused: as `saved`.
        """
        release = self.release
        chosen = self._pair.name(release.domain.finest) if family is None else family

        def said(digest: Digest | None) -> dict[str, Any]:
            return workload_table_statement(release, chosen, digest, with_means=True)

        return saved(Publication(self.with_means(chosen), said), path, format=format, sign=sign, overwrite=overwrite)


def _shown_mean(bar: RatioBar) -> tuple[float | None, float | None, float | None]:
    """A mean and the ends of its interval, to three digits of its width; blank where it is not determined."""
    if not bar.determined or bar.estimate is None:
        return None, None, None
    places = 2 - floor(log10(bar.upper - bar.lower)) if bar.upper > bar.lower else 15
    unit = Fraction(10) ** -places
    rounded = round(Fraction(bar.estimate) / unit), floor(Fraction(bar.lower) / unit), ceil(Fraction(bar.upper) / unit)
    mean, lower, upper = (float(steps * unit) for steps in rounded)
    return mean, lower, upper
