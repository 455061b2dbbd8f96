"""The statement of an answer: a promise, a level and a digest, and all that follows from them.

The statement is plain data, ready for JSON, and holds no true value. Its one checker takes from a document the facts
that nothing else implies, writes the statement again, and compares every field. It needs no data and no solver.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from utmost.core.exact.arguments import wrong_kind
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import read_confidence
from utmost.core.exact.written_levels import level_facts, stated_level
from utmost.errors import Unsupported
from utmost.publish.promises.codec import check_header, header
from utmost.publish.promises.ledger_facts import LedgerFacts
from utmost.publish.promises.plan import Planned
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.statement_fields import (
    check_follows,
    digest_of,
    does_not_follow,
    promise_that_holds,
    stated_field,
    stated_rows,
)
from utmost.publish.promises.statement_kinds import STATEMENT_KIND
from utmost.publish.promises.table_statements import taken_for_granted


@dataclass(frozen=True, slots=True)
class Statement:
    """The statement of one answer that is a table: cells, points, columns changed together, named keys.

    Attributes:
        promise: Promise, with the columns and public columns of the table as it is published.
        level: Level of the answer.
        confidence: Confidence of the margins.
        rows: Number of rows of the table.
        digest: SHA-256 of the published table, see `cells_digest`; None where there is no table.
        ledger: Facts that a memory adds; None for a release that nothing remembers.

    >>> from utmost import Promise, Unit, exact
    >>> promise = Promise("n", unit=Unit(1, 2))
    >>> statement = Statement(promise, exact.level(1), Fraction(19, 20), 12, None, None)
    >>> statement.plan.law, statement.facts()["margins"]
    (Geometric(epsilon='1/2', sensitivity=1), {'n_margin': 6})
    >>> Statement.of_facts(statement.facts()) == statement
    True
    """

    promise: Promise
    level: Level
    confidence: Fraction
    rows: int
    digest: Mapping[str, str] | None
    ledger: LedgerFacts | None

    @property
    def plan(self) -> Planned:
        """Distribution of the noise at the level."""
        return self.promise.noise.plan(self.level, self.confidence)

    @property
    def margins(self) -> dict[str, int | float]:
        """Margins of error, by the names of their columns."""
        return {name: margin for name, (_, margin) in self.plan.bars(self.promise.columns).items()}

    @property
    def delta(self) -> Fraction | None:
        """Chance that the bound of epsilon does not cover; None where there is none."""
        noise = self.promise.noise
        return noise.delta if isinstance(noise, Noise) else None

    @property
    def guarantee(self) -> str:
        """The promise in sentences."""
        promise = self.promise
        sentence = promise.noise.guarantee(self.level, promise.columns)
        if promise.noise.names_rows:
            return sentence
        return f"{sentence} {taken_for_granted(promise.public, promise.rows)}"

    def facts(self) -> dict[str, Any]:
        """The statement as JSON values."""
        return {
            **header(STATEMENT_KIND),
            "guarantee": self.guarantee,
            **level_facts(self.level),
            **({} if self.delta is None else {"delta": str(self.delta)}),
            "promise": self.promise.as_published().facts(),
            "noise": self.plan.facts(),
            "confidence_exactly": str(self.confidence),
            "margins": self.margins,
            "rows": self.rows,
            "table": None if self.digest is None else dict(self.digest),
            **({} if self.ledger is None else self.ledger.facts()),
        }

    @classmethod
    def of_facts(cls, document: Mapping[str, Any]) -> "Statement":
        """The statement in a document, once it was written again and every field was found equal.

        Raises:
            BadTable: naming the first field that does not follow from the others.
            Unsupported: for a format or a cost that is not known.
            WrongKind: for what is no mapping.

        >>> from utmost import Promise, Unit, exact
        >>> facts = Statement(Promise("n", unit=Unit(1, 2)), exact.level(1), Fraction(19, 20), 12, None, None).facts()
        >>> Statement.of_facts(facts | {"margins": {"n_margin": 5}})
        Traceback (most recent call last):
        utmost.errors.BadTable: margins: what a statement says must follow from its promise and level; ...
        """
        if not isinstance(document, Mapping):
            raise wrong_kind("statement", "a statement, as a mapping", document)
        check_header(document, STATEMENT_KIND, "a statement")
        with promise_that_holds(Unsupported):
            level = stated_level(document)
            promise = Promise.of_facts(stated_field(document, "promise", dict))
            if promise.noise.needs_search:
                raise does_not_follow("promise")
            statement = cls(
                promise,
                level,
                read_confidence(stated_field(document, "confidence_exactly", str)),
                stated_rows(document),
                digest_of(document),
                LedgerFacts.of_statement(document, level),
            )
            if promise.as_drawn(statement.plan) != promise:
                raise does_not_follow("promise")
            expected = json.loads(json.dumps(statement.facts()))
        check_follows(document, expected)
        return statement
