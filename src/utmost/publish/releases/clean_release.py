"""Clean tables: nonnegative integers whose sums all agree, computed from noisy sums and published beside them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from utmost.core.exact.arguments import mapping
from utmost.core.exact.arrays import frozen, unpickler
from utmost.core.exact.display import Display
from utmost.core.noise.combination import Combination
from utmost.core.noise.noise_of_others import DeclaredSum
from utmost.core.privacy.amount import Amount
from utmost.core.sampling.integers import narrowed
from utmost.errors import FactsFarOff, warn
from utmost.publish.promises.codec import table_statement
from utmost.publish.promises.statement_kinds import CLEAN_KIND
from utmost.publish.releases.given_facts import GivenFacts, read_given, read_table
from utmost.publish.workloads.bounds.clean_certificate import (
    CleanCertificate,
    MeasuredSums,
    certificate_of,
    proof_of,
    rounded_up,
)
from utmost.publish.workloads.measuring.forms import selected
from utmost.publish.workloads.reconstruction.clean import controlled_rounding, kept_in_rounding
from utmost.publish.workloads.reconstruction.estimates import LeastSquares, SumSquares
from utmost.publish.workloads.reconstruction.nonnegative_squares import nonnegative_least_squares
from utmost.publish.workloads.reconstruction.public_facts import MOST_NAMED, PublicFacts, with_sums
from utmost.publish.workloads.reconstruction.rotated_reconstruction import numbers_of
from utmost.tables.axes.domain import Domain, Marginal, Where
from utmost.tables.files.saving import Digest, SavedContent, saved
from utmost.tables.frames.adapters import LabelledTable
from utmost.tables.frames.any_table import labelled

if TYPE_CHECKING:  # noisy_sums imports this module
    from utmost.publish.releases.noisy_sums import NoisySums

FAR_OFF = Fraction(1, 10**6)
"""Bound on the probability that noise alone causes a warning about any of the public facts."""
_CANCELS = 1e-6  # below this epsilon cancellation leaves too few digits of 1/alpha - alpha


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CleanTable(Display):
    """Nonnegative integer cells nearest to a release, and the tables that are sums of these cells.

    Use these cells for display, and for programs that need counts. The cells are biased: noise can only enlarge a cell
    whose true value is 0. Margins of error hold for the sums of the release, not for these cells.

    Attributes:
        domain: Declared domain.
        cells: Integers >= 0 of the domain's shape.
        kind: Kind of the tables: the name of a table adapter.
        objective: Half of the weighted sum of squared residuals, before rounding.
        gap: Bound on the amount by which ``objective`` exceeds its least value over cells >= 0; proved up to rounding
            of floats.
        residual: Bound on the Euclidean distance between all cells before rounding and the exact minimiser; the
            certificate proves it exactly. No cell is farther than this bound from its value in the minimiser. If the
            measured sums do not determine the cells, the bound holds for the sums of each measured marginal instead.
        facts_moved: The exact minimiser satisfies public sums that differ from the given ones by at most this number; 0
            without public facts.
        exact_rounding: Whether every measured sum was rounded to an adjacent integer.
        largest_move: Largest change of a measured sum by rounding.
        cell_move: Largest change of a cell by rounding.
        zero_bias: Mean increase of a cell with the true value 0, if only this cell is cut off at zero.
        zero_bias_is_exact: True if ``zero_bias`` is exact, False if it is an upper bound.
        sums: SHA-256 of the noisy sums from which the cells were computed, as in the statement of the release.
        given: Public facts that hold for the cells; None without public facts.
        guarantee: Guarantee of the release as a sentence; with public facts, under the condition that these hold.
        held: Marginal whose sums are those of the release, only rounded; None if there is no such marginal.
        certificate: Proof of ``residual``, ``facts_moved``, ``largest_move`` and ``cell_move``; the check of this proof
            needs no solver.
        determined_by: Least-squares estimator that decides which sums the measured sums determine; only such sums can
            be read. None if the measured sums determine the cells, and so every sum.
        amount: Amount that is summed: cells are in its steps, tables and sums in its unit. None for counts.
    """

    domain: Domain
    cells: NDArray[Any] = field(repr=False)
    kind: str
    objective: float
    gap: float
    residual: float
    facts_moved: float
    exact_rounding: bool
    largest_move: float
    cell_move: float
    zero_bias: float
    zero_bias_is_exact: bool
    sums: str | None = None
    amount: Amount | None = None
    given: PublicFacts | None = None
    guarantee: str | None = None
    held: Marginal | None = None
    certificate: CleanCertificate | None = field(default=None, repr=False)
    determined_by: SumSquares | None = field(default=None, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        values = [getattr(self, name) for name in CleanTable.__slots__]
        return _rebuilt, tuple(values)

    def __getitem__(self, marginal: str | Sequence[str] | Marginal) -> LabelledTable:
        """Return one marginal as a table: its labels, and the integers in the column "clean".

        Raises:
            OutOfRange: if a name is not in the domain, or if a level has the name "clean".
            NotDetermined: if the measured sums do not determine the table.
        """
        chosen = self.domain.marginal(marginal)
        if self.determined_by is not None:
            self.determined_by.check_marginal_determined(chosen)
        steps = self.domain.sums(self.cells, chosen).ravel()
        numbers = steps if self.amount is None else self.amount.numbers(steps)
        return labelled(self.kind, self.domain.group_labels(chosen), {"clean": numbers})

    def total(self, where: Where | None = None) -> int | float:
        """Return the sum over a selection of cells.

        Raises:
            OutOfRange: if a name or label is not in the domain.
            NotDetermined: if the measured sums do not determine this sum.
        """
        form = selected(self.domain, {} if where is None else mapping(where, "where"))
        if self.determined_by is not None:
            self.determined_by.check_determined(form)
        steps = int(form.of(self.domain.sums(self.cells, form.marginal), form.marginal))
        return steps if self.amount is None else self.amount.number(steps)

    def statement_with(self, digest: Digest | None, marginal: str | Sequence[str] | Marginal) -> dict[str, Any]:
        """Return the statement for the table of one marginal, with a digest of that table."""
        return table_statement(CLEAN_KIND, self.fields(marginal), digest)

    def fields(self, marginal: str | Sequence[str] | Marginal) -> dict[str, Any]:
        """Return the fields of the statement for the table of one marginal, all but `kind` and the table's digest."""
        facts = self.facts()
        stated = (*("words", "zero_bias", "zero_bias_is_exact"), *("exact_rounding", "largest_move", "cell_move"))
        assert self.certificate is not None, "a clean table that is saved has its certificate"
        return {
            **({} if self.guarantee is None else {"guarantee": self.guarantee}),
            **({} if self.given is None else {"given": self.given.facts()}),
            **({} if self.held is None else {"held": list(self.domain.level_names(self.held))}),
            "marginal": self.domain.marginal_name(self.domain.marginal(marginal)),
            "of": {"sums": self.sums},
            **{name: facts[name] for name in (*stated, "residual", "facts_moved")},
            "certificate": self.certificate.facts(self.domain),
        }

    def save(
        self,
        path: Path | str,
        *,
        marginal: str | Sequence[str] | Marginal | None = None,
        format: str | None = None,
        sign: Path | str | None = None,
        overwrite: bool = False,
    ) -> dict[str, Any]:
        """Write the table of one marginal and its statement: both files appear, or none.

        Args:
            marginal: Levels of the table; those of the cells if left out.
            path, format, sign, overwrite: Arguments of `saved`.

        Raises:
            Unsupported, OutOfRange, KeyRefused: as for `saved`.
        """
        chosen = self.domain.finest if marginal is None else marginal
        publication = SavedContent(self[chosen], lambda digest: self.statement_with(digest, chosen))
        return saved(publication, path, format=format, sign=sign, overwrite=overwrite)

    @property
    def words(self) -> str:
        """The sentences of the statement beside a clean table."""
        about = "" if self.zero_bias_is_exact else "at most "
        raised = f"{about}{self.zero_bias:.4g}"
        step, whole, many = 1.0, "whole number", "counts"
        if self.amount is not None:
            step, whole, many = float(self.amount.step), f"multiple of {self.amount.text(1)}", "sums"
        if self.largest_move < step:
            how = f"every measured sum was rounded to the {whole} below or above it"
        elif self.cell_move < step:
            how = f"every count was rounded to the {whole} below or above it"
        else:
            how = f"no count was changed by more than {_above(self.cell_move)}"
        within = f"within {_above(self.residual)} of " if self.residual else ""
        near = f"{within}the non-negative numbers"
        moved = f", and met public sums to within {_above(self.facts_moved)}" if self.facts_moved else ""
        facts = "" if self.given is None else f" These facts are public, and hold for them: {self.given.words}."
        are = "whole" if self.amount is None else f"multiples of {self.amount.text(1)}"
        before = "they were"
        if self.determined_by is not None:
            before = "all their measured sums were"
            near = f"{within}those of the non-negative table"
        held = ""
        if self.held is not None:
            name = self.domain.marginal_name(self.held)
            which = f"The sums over {name!r} are" if name else "The total is"
            held = (
                f" {which} held: as released, rounded to the nearest {whole}, or 0 where that is negative. The error "
                "bars of the release, half a step wider, hold for them."
            )
        return (
            f"These {many} are {are}, not negative, and all sums of them agree. They are biased, for display and for "
            f"programs that need {many}: a true zero can only be raised (by {raised} on average if only that "
            f"cell is cut off at zero), and larger {many} are lowered in return. The unbiased sums and their error "
            f"bars are in the release. Before rounding, {before} {near} nearest to the released sums, by weighted "
            f"least squares{moved}: the certificate beside them proves it. In rounding, {how}; the largest change of a "
            f"measured sum was {self.largest_move:.3g}."
            f"{facts}{held}"
        )

    def facts(self) -> dict[str, Any]:
        """Return the sentences for readers, the figures, and the cells in the domain's order, as JSON values."""
        return {
            "words": self.words,
            "zero_bias": self.zero_bias,
            "zero_bias_is_exact": self.zero_bias_is_exact,
            "exact_rounding": self.exact_rounding,
            "largest_move": self.largest_move,
            "cell_move": self.cell_move,
            "residual": self.residual,
            "facts_moved": self.facts_moved,
            "domain": self.domain.facts(),
            **({} if self.amount is None else {"amount": self.amount.facts()}),
            "counts": self.cells.ravel().tolist(),
        }


def _above(figure: float) -> str:
    """Write a number with three digits, rounded up."""
    return f"{float(rounded_up(Fraction(figure))):.3g}"


@unpickler
def _rebuilt(domain: Domain, cells: NDArray[Any], *rest: Any) -> CleanTable:
    return CleanTable(domain, frozen(cells.copy()), *rest)


@dataclass(frozen=True, slots=True)
class CleanedRelease:
    amount: Amount | None
    digest: str  # SHA-256 of its noisy sums
    # Computes the guarantee in a clean table's statement from its public facts; for None, the release's guarantee
    guarantee: Callable[[PublicFacts | None], str | None]


@dataclass(frozen=True, slots=True, eq=False)
class CleanProblem:
    """The least-squares problem of a clean table: sums to approximate, and facts that must hold for its cells."""

    release: CleanedRelease
    reconstruction: SumSquares  # Least-squares estimator, with the weight of each measured marginal
    measured: MeasuredSums
    # Error of the least accurate estimate of a cell; if the cells are not determined, of a measured sum
    cell_noise: Combination | DeclaredSum
    kind: str
    facts: PublicFacts | None
    held: Marginal | None  # Marginal whose sums are those of the release, only rounded; or None
    bounds: PublicFacts | None  # Public facts and rounded sums of ``held``: all must hold for the cells

    @classmethod
    def of(
        cls,
        release: "NoisySums",
        reconstruction: LeastSquares,
        cell_noise: Combination,
        kind: str,
        given: GivenFacts | None,
        hold: str | Sequence[str] | Marginal | None,
    ) -> "CleanProblem":
        def guarantee(facts: PublicFacts | None) -> str | None:
            if facts is None:
                return None
            return (
                f"{release.stated.guarantee} It holds given facts that are public and not protected: {facts.words}. It "
                "compares two tables for which all these facts hold; if two such tables differ in several individuals, "
                "the level is multiplied by their number."
            )

        squares, measured = reconstruction.on_cells(release.measured)
        cleaned = CleanedRelease(release.plan.unit.amount, release.digest, guarantee)
        return cls.posed(cleaned, squares, measured, cell_noise, kind, given, hold)

    @classmethod
    def posed(
        cls,
        release: CleanedRelease,
        reconstruction: SumSquares,
        measured: MeasuredSums,
        cell_noise: Combination | DeclaredSum,
        kind: str,
        given: GivenFacts | None,
        hold: str | Sequence[str] | Marginal | None,
    ) -> "CleanProblem":
        domain, amount = reconstruction.domain, release.amount
        facts = None if given is None else read_given(domain, given, amount)
        facts = facts if facts is not None and facts.bounds else None
        held, bounds = None if hold is None else read_table(domain, hold), facts
        if held is not None:
            numbers = {marginal: numbers_of(*sums) for marginal, sums in measured.items()}
            estimates, divisor = reconstruction.estimates(numbers, held)
            # hold="total" keeps the released total: rounded to an integer, half to even, and 0 where it is negative.
            whole = [max(0, round(Fraction(estimate) / divisor)) for estimate in estimates.ravel().tolist()]
            bounds = with_sums(domain, facts, held, whole, amount)
        return cls(release, reconstruction, measured, cell_noise, kind, facts, held, bounds)

    def solved(self) -> CleanTable:
        domain, numbers = self.reconstruction.domain, {name: numbers_of(*sums) for name, sums in self.measured.items()}
        squares = nonnegative_least_squares(self.reconstruction, numbers, facts=self.bounds)
        known = () if self.bounds is None else self.bounds.bounds
        rounded = controlled_rounding(
            *kept_in_rounding(domain, dict.fromkeys([*self.measured, *known])), squares, self.bounds
        )
        near = squares.whole, squares.rest
        certificate = certificate_of(self.reconstruction, rounded.cells, near, squares.multipliers, self.bounds)
        return self.certified(certificate, (squares.objective, squares.gap))

    def certified(self, certificate: CleanCertificate, objective: tuple[float, float] = (nan, nan)) -> CleanTable:
        """Make the clean table that a certificate proves; ``objective`` has its fields ``objective`` and ``gap``."""
        proof = proof_of(self.reconstruction, self.measured, certificate, self.bounds)
        amount = self.release.amount
        (bias, exactly), wide = zero_bias(self.cell_noise), Fraction(1) if amount is None else amount.step
        return CleanTable(
            self.reconstruction.domain,
            frozen(narrowed(certificate.cells)),
            self.kind,
            *objective,
            residual=float(proof.residual * wide),
            facts_moved=float(proof.facts_moved * wide),
            exact_rounding=proof.largest_move < 1,
            largest_move=float(proof.largest_move * wide),
            cell_move=float(proof.cell_move * wide),
            zero_bias=bias * float(wide),
            zero_bias_is_exact=exactly,
            sums=self.release.digest,
            amount=amount,
            given=self.facts,
            guarantee=self.release.guarantee(self.facts),
            held=self.held,
            certificate=certificate,
            determined_by=None if self.reconstruction.curvatures[0] else self.reconstruction,
        )


def warn_far_off(far: Sequence[str]) -> None:
    """Warn (FactsFarOff) of public facts far outside the margins of the released sums, such as a mistyped total."""
    if far:
        listed = "; ".join(far[:MOST_NAMED]) + (f"; and {len(far) - MOST_NAMED} more" if far[MOST_NAMED:] else "")
        text = f"public facts lie far outside the margins of what was released: {listed}. Check them for typing errors."
        warn(text, FactsFarOff)


def zero_bias(noise: Combination | DeclaredSum) -> tuple[float, bool]:
    """Return E max(S, 0) for a symmetric error S, and whether this number is exact or only an upper bound."""
    # For one geometric noise it is alpha/(1 - alpha^2). Otherwise it is E|S|/2 <= sd/2, since (E|S|)^2 <= E S^2.
    if isinstance(noise, Combination) and noise.counts == (1,) and noise.coefficients[0] == 1:
        (of,) = noise.levels
        if of.epsilon_float < _CANCELS:
            return 0.5 / math.sinh(of.epsilon_float), True
        alpha = float(of.alpha)
        return (1 / (1 / alpha - alpha) if alpha else 0.0), True
    return float(noise.variance) ** 0.5 / 2, False
