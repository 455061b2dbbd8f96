"""Facts of a release in words, once: rows of a label, a value and error bars, which every face shows.

Each reader of a statement makes `ReleaseFacts` of it. Terminal, notebook, printed page, pages of the service and the
registry's entry render them: each goes through the rows, or takes a field, and words nothing itself. A fact that all
releases have is a field and a row here, and a sentence for each kind of statement.
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
"""Confidence, and the distance that a released value lies within with that confidence."""

PROTECTED = "Whom it protects, and how strongly"
NOISE = "Noise and margins of error"
HANDLED = "What is public, and what was done to the numbers"
TRUST = "What no check can show: you rely on the publisher for it"
ANNEX = "Annex for experts"
SECTIONS = (PROTECTED, NOISE, HANDLED, TRUST, ANNEX)
"""Under which title a fact stands on a page."""

UNSIGNED = "none: whoever can change the table and its statement can make them agree; ask for a signed copy"
UNSIGNED_TRUST = "these files come from the publisher: they are not signed"


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact of a release.

    Attributes:
        label: Subject of the row.
        value: Fact.
        bars: Confidences of the noise, each with the distance to the true value.
        section: one of `SECTIONS`.
        is_first: whether a screen shows it, which has room for a few.
    """

    label: str
    value: str
    bars: Bars = ()
    section: str = PROTECTED
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """One kind of noise in a release.

    Attributes:
        name: Name of the noised figures, in a word or two.
        of: the same in full: columns, or sums.
        law: the law that was drawn.
        level: Share of epsilon of one of these cells, in words; empty for the whole.
        bars: its error bars.
        within: Sentence of an error bar, whose number stands in place of {}.
    """

    name: str
    of: str
    law: str
    level: str
    bars: Bars
    within: str = "± {}"


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseFacts(Display):
    """A statement in words.

    Attributes:
        statement: Statement that says it.
        level: Level that is spent: of a ledger's answer, by all answers of the release together.
        own_level: Level of this release by itself.
        line: the promise in one line.
        per: the distance that the level is for, where it is for one.
        released: Columns published with noise.
        unit: whom the promise protects.
        neighbours: Neighbouring data sets, and what may differ between them.
        noises: the noise, of each kind.
        why: the theorem for which the noise was chosen.
        public: Columns published without noise.
        unprotected: Facts that the promise does not cover.
        beyond: the part of what one individual has that no figure counts; or of a table that utmost did not count, who
            declared how much that is; empty where nothing is cut.
        before: Steps on the data before the noise.
        after: Steps on noisy values before they are published, and numbers computed of them.
        composition: Division of the level, and the way in which releases add up.
        on_trust: Facts that no check can show.
        delta: the chance that the bound of epsilon does not cover; None where there is none.
        domain: Data sets of which it speaks, where the statement's own fields do not say it.
        mechanism: Way in which it was drawn, where there is no noise with error bars.
        is_relaxed: whether what is kept may be answered at other levels.
        promise: Promise of the release, where it is of a table; of several the first, which says whom all protect.
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
        """Who one individual is; None where nobody said it."""
        return None if self.promise is None else self.promise.individual

    @property
    def is_proved(self) -> bool:
        """Whether utmost counted the table, so that what one individual changes is no mere declaration."""
        return self.promise is not None and self.promise.proved

    @property
    def beyond_label(self) -> str:
        """The title of the fact about what one individual has beyond the unit."""
        return "not counted" if self.is_proved else "on the publisher's word"

    @property
    def variant(self) -> str:
        """A registry's name of the promise: "Custom" where it is for a distance."""
        return "Custom" if self.per is not None else "Pure DP" if self.delta is None else "Approximate DP"

    @property
    def answered(self) -> tuple[str, ...]:
        """The levels at which a ledger has answered; empty for a release that no ledger keeps."""
        return tuple(self.statement.get("levels", ()))

    @property
    def guarantee(self) -> str:
        """The whole of the promise."""
        return str(self.statement["guarantee"])

    @property
    def drawn(self) -> str:
        """The distribution of the noise, in words."""
        return self.mechanism or "; ".join(dict.fromkeys(noise.law for noise in self.noises))

    @property
    def rows(self) -> tuple[Fact, ...]:
        """Every fact, in the order in which they are read."""
        return tuple(self._rows())

    @property
    def first(self) -> tuple[Fact, ...]:
        """The facts that a screen has room for."""
        return tuple(fact for fact in self._rows() if fact.is_first)

    def of_section(self, section: str) -> tuple[Fact, ...]:
        """The facts that stand under one title."""
        return tuple(fact for fact in self._rows() if fact.section == section)

    def _rows(self) -> Iterator[Fact]:
        statement = self.statement
        if "name" in statement:
            named = f"{statement['name']}, version {statement.get('data_version', 1)}"
            yield Fact("release", named, is_first=True)
        yield Fact("released", self.released, is_first=True)
        yield Fact("protects", self.unit, is_first=True)
        for title, words in ({} if self.promise is None else self.promise.texts).items():
            yield Fact(title, words, is_first=True)
        yield Fact("neighbouring datasets", self.neighbours)
        yield Fact("definition", self._variant)
        yield Fact("level", self._at, is_first=True)
        yield from self._of_participants()
        yield from self._stopped()
        if self.delta is not None:
            yield Fact("delta", f"{self.delta}, the chance that epsilon does not bound", is_first=True)
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
            yield Fact(noise.of, f"{noise.law}; {noise.level}" if noise.level else noise.law, noise.bars, NOISE)
        if self.noises:
            yield Fact("margins" if len(self.noises) > 1 else "margin", self._bars, section=NOISE, is_first=True)
        if self.beyond:
            yield Fact(self.beyond_label, self.beyond, section=HANDLED, is_first=True)
        yield Fact("without noise", self.public, section=HANDLED, is_first=True)
        yield Fact("not protected", self.unprotected, section=HANDLED)
        yield Fact("before the noise", self.before, section=HANDLED)
        yield Fact("after the noise", self.after, section=HANDLED)
        for line in self.on_trust:
            yield Fact("", line, section=TRUST)
        yield Fact("why this noise", self.why, section=ANNEX, is_first=True)

    def _of_participants(self) -> Iterator[Fact]:
        """The bound for what a person's record says, where it is known that the person took part."""
        if self.promise is None or self.per is not None or self.delta is not None:
            return
        steps = 2 if self.promise.unit.neighbours == "add-remove" else 1
        told = f"the factor between any two values of your record is up to {factor_text(self.level.scaled(steps))}"
        if self.stop is not None:
            told = f"{told} for this outcome, {factor_text(self.stop.promised.scaled(steps))} as promised beforehand"
        yield Fact("if somebody knows that you took part", told)

    def _stopped(self) -> Iterator[Fact]:
        """The rule by which a level was reached, and what was promised beforehand; nothing for a chosen level."""
        if (stop := self.stop) is None:
            return
        levels, promised = [level_words(level) for level in stop.levels], level_words(stop.promised)
        rule = Until.of_facts(self.statement["promise"]["until"]).words
        met = "this level was asked for beside it"
        if stop.is_met is not None:
            met = "it is met at this level" if stop.is_met else "it is not met, and this is the last level"
        yield Fact("stops as soon as", f"{rule}: {met}. The rule reads released values alone", is_first=True)
        yield Fact("ladder", f"epsilon = {', '.join(levels)}")
        yield Fact("loss of this outcome", f"epsilon = {level_words(self.own_level)}", is_first=True)
        yield Fact("promised beforehand", f"epsilon = {promised}, whatever the outcome", is_first=True)

    @property
    def stop(self) -> Stop | None:
        """Facts of the stop, where a rule has chosen the level."""
        return stated_stop(self.statement["stopped"]) if "stopped" in self.statement else None

    @property
    def _noise(self) -> Mapping[str, Any]:
        """The numbers of the noise in the statement; none in one of another form."""
        noise: Mapping[str, Any] = self.statement.get("noise", {})
        return noise

    @property
    def _variant(self) -> str:
        if self.per is not None:
            return "metric privacy (geo-indistinguishability)"
        return f"{'pure' if self.delta is None else 'approximate'} differential privacy"

    @property
    def each(self) -> str:
        """The distance that the level is for, where it is for one."""
        measured = "Euclidean distance" if "distance" in self._noise else "distance"
        return "" if self.per is None else f" for each {self.per} of {measured}"

    @property
    def _at(self) -> str:
        if self.per is not None:
            return f"epsilon = {level_words(self.own_level)}{self.each}"
        facts = self._noise.get("per_cell")
        cell = self.own_level if facts is None else level_from_facts(facts)
        shared = "" if cell == self.own_level else f"; epsilon = {level_words(cell)} for each cell"
        return f"epsilon = {level_words(self.own_level)}{shared}"

    @property
    def _bars(self) -> str:
        """The error bars at the statement's own confidence, or at 95 %."""
        stop = self.stop
        sure = Fraction(self.statement.get("confidence_exactly", "19/20")) if stop is None else stop.confidence
        bars = [(noise, dict(noise.bars).get(sure)) for noise in self.noises]
        many = len(self.noises) > 1
        shown = [
            (f"{noise.name} " if many else "") + noise.within.format(short_bar(bar))
            for noise, bar in bars
            if bar is not None
        ]
        where = ""
        if stop is not None:
            where = (
                ", at whatever level of the ladder" if stop.is_met is None else ", at the level where the rule stopped"
            )
        return f"{few(shown, MOST_BARS)}, at {float(100 * sure):g} % confidence{where}"


MOST_BARS = 24
"""Largest number of kinds of noise whose error bars are shown in one row."""


def short_bar(margin: int | float) -> str:
    """A margin to six digits, rounded up; a float is the decimal that it prints, as in the published column.

    >>> short_bar(3.0), short_bar(950.1871), short_bar(12345678), short_bar(1198292.91)
    ('3', '950.188', '12345678', '1198300')
    """
    if isinstance(margin, int) or float(margin).is_integer():
        return str(int(margin))
    rounded = _SIX_UP.create_decimal(repr(float(margin))).normalize()
    return f"{rounded:f}" if -7 < rounded.adjusted() < 16 else f"{rounded:g}"


_SIX_UP = Context(prec=6, rounding=ROUND_CEILING)
