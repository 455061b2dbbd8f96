"""The terms of a publication: what is promised, and whose budget is spent; what a second person approves."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from utmost.doors.service.axis_limits import check_axes
from utmost.errors import OutOfRange
from utmost.laws.exact import checked, checked_parts
from utmost.laws.exact.shown import Shown
from utmost.publish.ledger.promise import Promise

LONGEST_TERMS = 2 << 20
"""How many characters the terms of a proposal have at most, as JSON: pages read them for as long as it is there."""

_ELSEWHERE = ("per", "noise")


@checked_parts
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

    @classmethod
    @checked
    def read(cls, given: Mapping[str, Any]) -> "Terms":
        """Terms from JSON, as `facts` writes it, or from keyword arguments of `Ledger.publish`.

        Raises:
            OutOfRange: for an argument that is none, and for points and noise by item, which no service publishes.

        >>> Terms.read({"columns": "admitted", "sensitivity": 1, "cells": 1}).facts()["cells"]
        '1'
        """
        words = {name: value for name, value in given.items() if value is not None}
        call = {name: words.pop(name) for name in ("dataset", "independent") if name in words}
        strange = [name for name in _ELSEWHERE if name in words]
        if strange:
            raise OutOfRange("a service publishes tables and sums", came=strange[0], where="terms")
        check_axes(_domain_in(words.get("strategy")))
        return cls(Promise.of_facts(words), **call)

    def facts(self) -> dict[str, Any]:
        """The terms as JSON: what an approval is for."""
        return self.promise.facts() | {"dataset": self.dataset, "independent": self.independent}


def _domain_in(strategy: Any) -> Any:
    """The domain in the JSON text of a strategy; None where there is none."""
    try:
        facts = json.loads(strategy) if isinstance(strategy, str) else strategy
    except (ValueError, RecursionError):
        return None
    return facts.get("domain") if isinstance(facts, Mapping) else None
