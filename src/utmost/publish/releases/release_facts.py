"""The facts of a release in words: rows of a label, a value and margins, which all user interfaces show.

Whoever reads a statement converts it to `ReleaseFacts`. Terminal, notebook, printed page, the service's pages and the
entry in a registry show the rows or fields of this object, and add no wording of their own. To add a fact about all
releases, add a field and a row here, and a sentence in the reader of each kind of statement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from fractions import Fraction
from typing import Any

from utmost.core.exact.display import Display, few
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import factor_text, level_from_facts, level_from_text, level_words
from utmost.publish.promises.ledger_facts import stated_stop
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.until import Stop, Until

Bars = tuple[tuple[Fraction, int | float], ...]
"""Pairs of a confidence and the margin at that confidence."""

PROTECTED = "Whom it protects, and how strongly"
NOISE = "Noise and margins of error"
HANDLED = "What is public, and what was done to the numbers"
TRUST = "What no check can show: you rely on the publisher for it"
ANNEX = "Annex for experts"
SECTIONS = (PROTECTED, NOISE, HANDLED, TRUST, ANNEX)
"""The titles of the sections of a page."""

UNSIGNED = "none: whoever can change the table and its statement can make them agree; ask for a signed copy"
UNSIGNED_TRUST = "these files come from the publisher: they are not signed"


@dataclass(frozen=True, slots=True)
class Fact:
    label: str
    value: str
    bars: Bars = ()  # Confidences with their margins
    section: str = PROTECTED  # Title of the section, one of `SECTIONS`
    is_first: bool = False  # Whether a screen shows this fact if it has room for only a few


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """One kind of noise in a release."""

    name: str  # Short name of the noisy values
    of: str  # Description of the noisy values, such as "each cell of the columns a, b"
    distribution: str  # Distribution that was drawn, in words
    level: str  # Epsilon of one cell, in words; empty if one cell gets the whole epsilon
    bars: Bars  # Confidences with their margins
    margin_text: str = "± {}"  # Text of a margin; the number replaces {}


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseFacts(Display):
    """The facts of a statement in words, as every user interface shows them.

    Attributes:
        statement: Statement of the release.
        level: Level that is spent; in a ledger, by all answers of the release together.
        own_level: Level of this answer.
        line: Guarantee in one line.
        per: Distance for which the level is stated, in a release of points; None for other releases.
        released: Columns published with noise.
        unit: Individuals that the guarantee protects.
        neighbours: Description of how two neighbouring datasets differ.
        noises: The noise of the release: one entry for each kind.
        why: Reason for the choice of the noise: a theorem.
        public: Columns published without noise.
        unprotected: What the guarantee does not cover.
        beyond: Statement that an individual's data in excess of the unit of privacy are not counted. For a table that
            utmost did not count, this field says that the publisher declared the unit. The field is empty if no data
            are left out.
        before: Steps that changed the data before noise was added.
        after: Steps that changed noisy values before publication, and numbers computed from noisy values.
        composition: How the level is divided, and how the levels of several releases add up.
        on_trust: Assumptions that a reader cannot check.
        delta: Delta of (epsilon, delta); None for pure differential privacy.
        domain: Datasets that the guarantee covers, if no other field says so.
        mechanism: Mechanism, if there is no noise with margins.
        is_relaxed: Whether stored data allow answers at other levels.
        promise: Promise of a release of a table. If the release has several promises, the field has the first one,
            since all protect the same individuals.
    """

    _shown = ("released", "level", "unit")

    statement: Mapping[str, Any]
    level: Level
    own_level: Level
    line: str
    released: str
    unit: str
    neighbours: str
    why: str
    public: str
    unprotected: str
    composition: str
    on_trust: tuple[str, ...]
    noises: tuple[StatedNoise, ...] = ()
    beyond: str = ""
    before: str = "nothing"
    after: str = "nothing"
    per: str | None = None
    delta: Fraction | None = None
    domain: str = ""
    mechanism: str = ""
    is_relaxed: bool = True
    promise: Promise | None = None

    @property
    def individual(self) -> str | None:
        return None if self.promise is None else self.promise.individual

    @property
    def is_proved(self) -> bool:
        """Whether utmost counted the table, and so proved the unit."""
        return self.promise is not None and self.promise.proved

    @property
    def beyond_label(self) -> str:
        return "not counted" if self.is_proved else "on the publisher's word"

    @property
    def variant(self) -> str:
        """The name that a registry gives to the definition of privacy; "Custom" for metric privacy."""
        return "Custom" if self.per is not None else "Pure DP" if self.delta is None else "Approximate DP"

    @property
    def answered(self) -> tuple[str, ...]:
        """The levels that a ledger has answered, as written in the statement; empty without a ledger."""
        return tuple(self.statement.get("levels", ()))

    @property
    def guarantee(self) -> str:
        return str(self.statement["guarantee"])

    @property
    def drawn(self) -> str:
        return self.mechanism or "; ".join(dict.fromkeys(noise.distribution for noise in self.noises))

    @property
    def rows(self) -> tuple[Fact, ...]:
        return tuple(self._rows())

    @property
    def first(self) -> tuple[Fact, ...]:
        """The facts that a screen shows if it has room for only a few."""
        return tuple(fact for fact in self._rows() if fact.is_first)

    def of_section(self, section: str) -> tuple[Fact, ...]:
        return tuple(fact for fact in self._rows() if fact.section == section)

    def _rows(self) -> Iterator[Fact]:
        statement = self.statement
        if "name" in statement:
            named = f"{statement['name']}, version {statement.get('data_version', 1)}"
            yield Fact("release", named, is_first=True)
        yield Fact("released", self.released, is_first=True)
        if self.promise is not None and (quantity := self.promise.quantity):
            yield Fact("values", quantity, is_first=True)
        yield Fact("protects", self.unit, is_first=True)
        for title, words in ({} if self.promise is None else self.promise.texts).items():
            yield Fact(title, words, is_first=True)
        yield Fact("neighbouring datasets", self.neighbours)
        variant = f"{'pure' if self.delta is None else 'approximate'} differential privacy"
        yield Fact("definition", variant if self.per is None else "metric privacy (geo-indistinguishability)")
        yield Fact("level", self._level_text, is_first=True)
        # For an attacker who knows that a person took part, the bound compares two records of this person.
        if self.promise is not None and self.per is None and self.delta is None:
            steps = self.promise.unit.steps_of_a_record
            factor = factor_text(self.level.scaled(steps))
            told = f"changing your record multiplies or divides the chance of any result by at most {factor}"
            if self.stop is not None:
                beforehand = factor_text(self.stop.promised.scaled(steps))
                told = f"{told} for this outcome, {beforehand} as promised beforehand"
            yield Fact("if somebody knows that you took part", told)
        # The stopping rule, its levels, and the level promised before the data were read
        if (stop := self.stop) is not None:
            levels, promised = [level_words(level) for level in stop.levels], level_words(stop.promised)
            rule = Until.of_facts(statement["promise"]["until"]).words
            met = "somebody asked for this level; the rule did not choose it"
            if stop.is_met is not None:
                met = "it is met at this level" if stop.is_met else "it is not met, and this is the last level"
            yield Fact("stops as soon as", f"{rule}: {met}. The rule reads released values alone", is_first=True)
            yield Fact("ladder", f"epsilon = {', '.join(levels)}")
            yield Fact("loss of this outcome", f"epsilon = {level_words(self.own_level)}", is_first=True)
            yield Fact("promised beforehand", f"epsilon = {promised}, whatever the outcome", is_first=True)
        if self.delta is not None:
            yield Fact("delta", f"{self.delta}, the chance that the bound of epsilon fails", is_first=True)
        if self.answered:
            yield Fact(
                "answered at",
                f"epsilon = {', '.join(level_words(level_from_text(text)) for text in self.answered)}",
                is_first=True,
            )
            if len(self.answered) > 1:
                cost = f"epsilon = {level_words(self.level)}{self.each}, for all answers of this release"
                yield Fact("together", cost, is_first=True)
        yield Fact("how it adds up", self.composition)
        yield Fact("noise" if self.noises else "how it was drawn", self.drawn, section=NOISE, is_first=True)
        for noise in self.noises:
            yield Fact(
                noise.of,
                f"{noise.distribution}; {noise.level}" if noise.level else noise.distribution,
                noise.bars,
                NOISE,
            )
        if self.noises:
            yield Fact(
                "margins" if len(self.noises) > 1 else "margin", self._margins_text, section=NOISE, is_first=True
            )
        if self.beyond:
            yield Fact(self.beyond_label, self.beyond, section=HANDLED, is_first=True)
        yield Fact("without noise", self.public, section=HANDLED, is_first=True)
        yield Fact("not protected", self.unprotected, section=HANDLED)
        yield Fact("before the noise", self.before, section=HANDLED)
        yield Fact("after the noise", self.after, section=HANDLED)
        for line in self.on_trust:
            yield Fact("", line, section=TRUST)
        yield Fact("why this noise", self.why, section=ANNEX, is_first=True)

    @property
    def stop(self) -> Stop | None:
        """The result of the stopping rule; None without such a rule."""
        return stated_stop(self.statement["stopped"]) if "stopped" in self.statement else None

    @property
    def _noise(self) -> Mapping[str, Any]:
        """The field ``noise`` of the statement; empty if the statement has no such field."""
        noise: Mapping[str, Any] = self.statement.get("noise", {})
        return noise

    @property
    def each(self) -> str:
        """The distance for which a release of points states its level, as words to append; "" for other releases."""
        measured = "Euclidean distance" if "distance" in self._noise else "distance"
        return "" if self.per is None else f" for each {self.per} of {measured}"

    @property
    def _level_text(self) -> str:
        if self.per is not None:
            return f"epsilon = {level_words(self.own_level)}{self.each}"
        facts = self._noise.get("per_cell")
        cell = self.own_level if facts is None else level_from_facts(facts)
        shared = "" if cell == self.own_level else f"; epsilon = {level_words(cell)} for each cell"
        if (stop := self.stop) is not None:
            reached = f"the level of an approval; {level_words(self.own_level)} was reached"
            return f"epsilon = {level_words(stop.promised)} promised beforehand, {reached}{shared}"
        return f"epsilon = {level_words(self.own_level)}{shared}"

    @property
    def confidence(self) -> Fraction:
        stop = self.stop
        return Fraction(self.statement.get("confidence_exactly", "19/20")) if stop is None else stop.confidence

    @property
    def _margins_text(self) -> str:
        """The margins at the statement's own confidence, as text for one row."""
        stop, sure = self.stop, self.confidence
        bars = [(noise, dict(noise.bars).get(sure)) for noise in self.noises]
        many = len(self.noises) > 1
        shown = [
            (f"{noise.name} " if many else "") + noise.margin_text.format(short_bar(bar))
            for noise, bar in bars
            if bar is not None
        ]
        where = ""
        if stop is not None:
            where = (
                ", at whatever level of the ladder" if stop.is_met is None else ", at the level where the rule stopped"
            )
        return f"{few(shown, MOST_MARGINS_IN_A_ROW)}, at {float(100 * sure):g} % confidence{where}"


MOST_MARGINS_IN_A_ROW = 24
"""The largest number of kinds of noise whose margins are shown in one row."""


def short_bar(margin: int | float) -> str:
    """Write a margin with six digits, rounded up."""
    if isinstance(margin, int) or float(margin).is_integer():
        return str(int(margin))
    rounded = _SIX_UP.create_decimal(repr(float(margin))).normalize()
    return f"{rounded:f}" if -7 < rounded.adjusted() < 16 else f"{rounded:g}"


_SIX_UP = Context(prec=6, rounding=ROUND_CEILING)
