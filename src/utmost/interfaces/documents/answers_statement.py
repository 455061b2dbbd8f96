"""Write, check and put into words the statements of answers that were drawn from a mechanism."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from utmost.core.exact.display import number_words
from utmost.core.exact.levels import Level
from utmost.core.exact.written_levels import (
    factor_text,
    level_facts,
    level_from_facts,
    level_from_text,
    level_name,
    level_text,
)
from utmost.design.spaces.space import Space
from utmost.errors import BadTable, UtmostError
from utmost.interfaces.documents.space_names import distances_words, space_facts, stated_space
from utmost.publish.promises import codec
from utmost.publish.promises.codec import StatementForm, does_not_follow, names_of, stated_field, stated_rows
from utmost.publish.promises.ledger_facts import MOST_VERSIONS
from utmost.publish.promises.statement import ON_TRUST_OF_DRAWS
from utmost.publish.promises.statement_kinds import ANSWERS_KIND
from utmost.publish.releases.release_facts import ReleaseFacts

EACH_ROW_IS_A_PERSON = "each row, which is one person"
"""The persons in a table without a column of persons, in words."""

BY_DESIGN = "primal and dual prove the design"
BY_ROWS = "computed from all rows: the least level that it keeps"
ROUNDED = "; rounded, and its privacy checked again"
HOW_CHECKED = (BY_DESIGN, BY_DESIGN + ROUNDED, BY_ROWS)
"""All texts that say how the level of a mechanism was checked."""

MECHANISM_TRUSTED = "the mechanism with this SHA-256 has the stated secrets and satisfies the level: its file proves it"
"""The assumption that `utmost verify` checks with the file of the mechanism."""

_DIGEST = re.compile("[0-9a-f]{64}")
_TABLE_FIELDS = ("public", "rows", "column", "of")
_IN_LEDGER = ("name", "data_version", "together")
_METADATA = (*_TABLE_FIELDS, "repeated", *_IN_LEDGER)
"""Fields of a statement about the table of the answers, or about the ledger that keeps them."""

AGAIN = (
    "Each further answer about the same person adds up: k answers cost k times epsilon. So answer once, keep the "
    "answer, and repeat it."
)

ANSWER_IS_STORED = (
    "The ledger keeps the answer: whoever asks about the same person under this name and version gets it again, at "
    "no further cost. Answers under other names and versions add up."
)


def is_discrete(space: Space) -> bool:
    """Check whether any two secrets are at distance 1; a guarantee then needs no distances."""
    first = space.metric.lengths(0, np.arange(1, space.size))
    if space.size == 1 or not all(length == 1 for length in np.atleast_1d(first).tolist()):
        return False
    return bool((space.metric.length_table() == 1 - np.eye(space.size, dtype=int)).all())


def answers_guarantee(epsilon: str, unit: str | None, *, by_ledger: bool, discrete: bool) -> str:
    """Return the guarantee of one answer in words, with the cost of further answers."""
    if epsilon == "0.0":
        return f"No answer says anything about the secret (epsilon = 0). {ANSWER_IS_STORED if by_ledger else AGAIN}"
    at = level_from_text(epsilon)
    if discrete:
        return (
            f"Replacing the secret by another multiplies or divides the chance of any result of one answer by at most "
            f"{factor_text(at)} ({level_name(at)}). {ANSWER_IS_STORED if by_ledger else AGAIN}"
        )
    once = _example_distance(at)
    near, far = (
        f"at {_distance(times * once, unit)}, at most {factor_text(at.scaled(times * once))}" for times in (1, 2)
    )
    return (
        f"Replacing the secret by another multiplies or divides the chance of any result of one answer by a factor "
        f"that grows with the distance of the two secrets: {near}; {far} (epsilon = {epsilon} for each "
        f"{_distance(Fraction(1), unit)}). {ANSWER_IS_STORED if by_ledger else AGAIN}"
    )


def _example_distance(at: Level) -> Fraction:
    """Return a distance at which the guarantee is easy to picture: 2 km for "ln 2 for 2 km", else a power of ten."""
    if at.power.numerator == 1:
        return 1 / at.power
    return Fraction(10) ** max(0, math.ceil(-math.log10(at.epsilon_float)))


def _distance(distance: Fraction, unit: str | None) -> str:
    return number_words(distance) + ("" if unit is None else f" {unit}")


@dataclass(frozen=True, slots=True)
class StatedAnswers:
    """Facts of a statement of answers: level, space, mechanism, and the table or the persons."""

    level: Mapping[str, Any]  # of one unit of distance, as JSON; an irrational level is rounded up to a decimal
    space: Space
    by_ledger: bool
    mechanism: Mapping[str, str]  # SHA-256 of the file, and how the level was checked
    metadata: Mapping[str, Any]  # the fields that name the table or the persons of the answers

    def _fields(self) -> dict[str, Any]:
        return {
            "guarantee": answers_guarantee(
                self.level["epsilon"], self.space.unit, by_ledger=self.by_ledger, discrete=is_discrete(self.space)
            ),
            **self.level,
            "space": space_facts(self.space),
            "mechanism": dict(self.mechanism),
            **self.metadata,
        }

    @classmethod
    def _of_fields(cls, statement: Mapping[str, Any]) -> "StatedAnswers":
        level, epsilon = level_from_facts(statement), stated_field(statement, "epsilon", str)
        is_exact = "alpha" in statement or "epsilon_rounded_up" in statement
        # Fields that name the table or the persons are checked as far as possible without the table.
        if "repeated" in statement and stated_field(statement, "repeated", int) < 0:
            raise does_not_follow("repeated")
        by_ledger = any(name in statement for name in _IN_LEDGER)
        if by_ledger:
            if not stated_field(statement, "name", str):
                raise does_not_follow("name")
            if not 1 <= stated_field(statement, "data_version", int) <= MOST_VERSIONS:
                raise does_not_follow("data_version")
            text = stated_field(statement, "together", str)  # the level of all versions
            try:
                together = level_from_text(text)
            except UtmostError:
                raise does_not_follow("together") from None
            if level_text(together) != text or together < level:
                raise does_not_follow("together")
        if any(name in statement for name in _TABLE_FIELDS):
            names_of(statement, "public")
            if stated_field(statement, "repeated", int) > stated_rows(statement):
                raise does_not_follow("repeated")
            if not stated_field(statement, "column", str) or statement.get("of") != EACH_ROW_IS_A_PERSON:
                raise does_not_follow("of")
        with codec.fields("a statement of answers", "space"):
            space = stated_space(statement["space"])
        metadata = {name: statement[name] for name in _METADATA if name in statement}
        facts = level_facts(level) if is_exact else {"epsilon": epsilon}
        return cls(facts, space, by_ledger, stated_mechanism(statement), metadata)


ANSWERS_FORM = StatementForm(ANSWERS_KIND, "a statement of answers", StatedAnswers._fields, StatedAnswers._of_fields)
"""Form of statements of answers. The design file, whose digest a statement names, proves the level."""


def answers_in_words(statement: Mapping[str, Any]) -> ReleaseFacts:
    """Check a statement of answers, and put it into words."""
    space = ANSWERS_FORM.checked(statement).space
    at, measured, rows = level_from_facts(statement), distances_words(space), statement.get("rows")
    repeated = statement.get("repeated")
    unit_distance = "1" if space.unit is None else f"1 {space.unit}"
    adds = "Each further answer about the same person adds its epsilon."
    if "together" in statement and isinstance(statement["together"], str):
        adds = (
            f"A ledger keeps each person's answer and repeats it. All versions together cost {statement['together']}."
        )
    public = ", ".join(names_of(statement, "public")) if "public" in statement else ""
    discrete, once = is_discrete(space), _example_distance(at)
    another, each = f"another at a distance of {_distance(once, space.unit)}", f" for each {unit_distance}"
    if discrete:
        another, each, once = "another", "", Fraction(1)
    line = (
        f"Replacing one secret by {another} multiplies or divides the chance of any answer by at most "
        f"{factor_text(at.scaled(once))} ({level_name(at)}{each})."
    )
    return ReleaseFacts(
        statement=statement,
        level=at,
        own_level=at,
        line=line,
        per=unit_distance,
        domain=f"Each person has one of {space.size} possible secrets"
        + (", any two at distance 1." if discrete else ", with distances between them."),
        released="an answer for each person" + ("" if rows is None else f" ({rows})"),
        unit="one person's secret",
        neighbours="the same data with one person's secret replaced by another"
        + (", which multiplies" if discrete else " at distance d, which multiplies")
        + f" or divides the chance of any answer by at most exp(epsilon{'' if discrete else ' d'})",
        mechanism=f"an answer was drawn for each secret from the mechanism with SHA-256 "
        f"{statement['mechanism']['sha256']}; its level was checked: {statement['mechanism']['checked']}",
        why="the mechanism satisfies this level for all pairs of secrets, as was checked from the file with this "
        "digest",
        public=f"the columns {public}, and the list of persons" if public else "the list of persons",
        unprotected="which persons were asked, and how many" + ("" if rows is None else f": {rows}"),
        after="nothing: each answer is published as it was drawn",
        composition=adds,
        on_trust=(
            *(() if measured is None else (f"each secret is the place with its name, and distances are {measured}",)),
            MECHANISM_TRUSTED,
            "the public columns and the list of persons would be the same without any one individual",
            *(() if repeated is None else (f"{repeated} of the answers were given before, the others drawn now",)),
            ON_TRUST_OF_DRAWS,
        ),
    )


def stated_mechanism(statement: Mapping[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of the mechanism's file, and how its level was checked."""
    mechanism: dict[str, str] = stated_field(statement, "mechanism", dict)
    if set(mechanism) != {"sha256", "checked"} or not all(isinstance(fact, str) for fact in mechanism.values()):
        raise BadTable("a statement of answers must name its mechanism", came="none", where="mechanism")
    if not _DIGEST.fullmatch(mechanism["sha256"]):
        raise BadTable(
            "a mechanism must be named by its SHA-256, 64 hexadecimal digits", came="other text", where="mechanism"
        )
    if mechanism["checked"] not in HOW_CHECKED:
        required = f"the field that says how a mechanism was checked must be one of: {' | '.join(HOW_CHECKED)}"
        raise BadTable(required, came="another sentence", where="mechanism")
    return mechanism
