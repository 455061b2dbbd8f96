"""The terms of a publication: what is promised, and whose budget is spent; what a second person approves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from utmost.core.exact.arguments import instance, mapping, optional, text, truth
from utmost.core.exact.levels import Level
from utmost.core.exact.shown import Shown
from utmost.interfaces.service.workers.axis_limits import check_listed
from utmost.publish.promises.promise import Promise

LONGEST_TERMS = 1 << 19
"""How many characters the terms of a proposal have at most, as JSON: as many as a page shows whole. What it does not
show whole, nobody can approve."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Brought:
    """A table that is brought to be published, or relaxed, at a level: alone, or with others in one transaction.

    Attributes:
        table: with its values, as for `Ledger.publish`.
        level: at which.
        promise: of a publication, see `fitting`; None to relax, as what is promised then is known.
        dataset, independent, version, request: as for `Ledger.publish`.
        proposal: the name of the approved one, where a service asks for a second person.
    """

    table: Any
    level: Level
    promise: Promise | None = None
    dataset: str | None = None
    independent: bool = False
    version: int | None = None
    request: str | None = None
    proposal: str | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Terms(Shown):
    """What is said of a publication beside its name, its level and the table.

    Attributes:
        promise: of the table: all that is published follows from it, so there is nothing that could be approved and not
            be published.
        dataset, independent: as for `Ledger.publish`.
    """

    promise: Promise
    dataset: str | None = None
    independent: bool = False

    def __post_init__(self) -> None:
        # Here, so that a client is told by name what no service offers, and not by the shape of a request.
        instance(self.promise, Promise, "promise").noise.check_served()
        optional(self.dataset, text, "dataset")
        truth(self.independent, "independent")

    @classmethod
    def read(cls, members: Mapping[str, Any]) -> "Terms":
        """Terms from JSON, as `facts` writes it, or from keyword arguments of `Ledger.publish`.

        >>> Terms.read({"columns": "admitted", "sensitivity": 1, "cells": 1}).facts()["cells"]
        '1'
        """
        words = {name: value for name, value in mapping(members, "members").items() if value is not None}
        call = {name: words.pop(name) for name in ("dataset", "independent") if name in words}
        check_listed(_facts_in(words.get("strategy")))
        return cls(Promise.of_facts(words), **call)

    @classmethod
    def of(cls, brought: Brought) -> "Terms":
        """The terms by which a table is brought."""
        assert brought.promise is not None, "of a publication"
        return cls(brought.promise, brought.dataset, brought.independent)

    def brought(self, table: Any, level: Level, version: int | None = None, proposal: str | None = None) -> Brought:
        """A table that is brought by them."""
        return Brought(table, level, self.promise, self.dataset, self.independent, version, proposal=proposal)

    def facts(self) -> dict[str, Any]:
        """The terms as JSON: what an approval is for."""
        return self.promise.facts() | {"dataset": self.dataset, "independent": self.independent}


def _facts_in(strategy: Any) -> Any:
    """The JSON values in the text of a strategy; None where there are none."""
    try:
        return json.loads(strategy) if isinstance(strategy, str) else strategy
    except (ValueError, RecursionError):
        return None
