"""A promise as whoever approves it is shown it: all of it, in words, with nothing cut.

What is approved is an object, the terms as JSON. Its parts that have words are shown by them, the most important ones
first; whatever else stands in it is shown under its own name, so that a part which is added later is shown, too. The
object itself stands below, letter for letter, with its digest.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from utmost.core.exact.levels import Level
from utmost.errors import UtmostError
from utmost.interfaces.service.api.record_forms import Written
from utmost.interfaces.service.approvals import request_digest
from utmost.interfaces.service.publish_requests import read_request
from utmost.publish.ledger.state import Published

_NEIGHBOURS = {
    "add-remove": "whether a person is in the data (add-remove)",
    "change-one": "what a person's record says; how many people there are is public (change-one)",
}
_UNIT = {
    "neighbours": "hidden is",
    "cells": "one individual is in at most so many cells",
    "sensitivity": "one individual changes each cell by at most, in steps",
    "in_all": "and all cells together by at most, in steps",
    "amount": "what is summed",
    "nonnegative": "assumed: nobody lowers a cell",
    "exactly": "assumed: everybody counts with all of this, so that the total is public",
}
_ROWS = {
    "declared": "the list of rows was fixed without looking at the data (declared)",
    "observed": "the list of rows was found in the data, and the promise does not cover it (observed)",
}
_YES = {True: "yes", False: "no"}
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Listed(Written):
    """A list in a promise, such as its public columns: all of it."""

    of: Annotated[str, Field(examples=["public columns, published as they are"])]
    names: Annotated[tuple[str, ...], Field(examples=[["department"]])]


@dataclass(frozen=True, slots=True)
class Line(Written):
    """A part of a promise, in words."""

    of: Annotated[str, Field(examples=["spends the budget of"])]
    words: Annotated[str, Field(examples=["admissions"])]


@dataclass(frozen=True, slots=True)
class PromiseShown(Written):
    """A promise at a level.

    Attributes:
        guarantee: in one sentence; or that it cannot be read.
        first: whom it protects, what it assumes, and whose budget it spends.
        lists: columns, what is measured, and every label.
        digest: of the whole, see `request_digest`.
    """

    guarantee: Annotated[str, Field(examples=["Whatever anyone concludes from the released columns, ..."])]
    first: tuple[Line, ...]
    lists: tuple[Listed, ...]
    digest: Annotated[str, Field(examples=["9f86d081884c7d65"])]


def of_request(facts: Mapping[str, Any]) -> PromiseShown:
    """A proposed request to publish.

    Args:
        facts: The request as it is kept, see `approved_facts`; of others as much as can be read.
    """
    promise = facts.get("promise")
    try:
        request = read_request(facts)
        guarantee = request.promise.guarantee(request.level)
    except (UtmostError, *_UNREADABLE):
        guarantee = "This request cannot be read: nothing is promised by it, and it cannot be approved."
    beside = {name: fact for name, fact in facts.items() if name != "promise"}
    said = dict(promise) if isinstance(promise, Mapping) else {"promise": promise}
    return _shown(guarantee, {**{name: said[name] for name in said if name not in beside}, **beside}, facts)


def of_release(release: Published, level: Level) -> PromiseShown:
    """The promise of a release that is to be relaxed to a level."""
    words = {name: word for name, word in release.noise.words().items() if word is not None}
    facts = {
        "columns": list(release.columns),
        "public": list(release.public),
        "rows": release.promise.rows,
        "id_column": release.promise.id_columns,
        "part": None if release.part is None else list(release.part),
        "name": release.name,
        "dataset": release.dataset,
        **words,
        "number of rows": release.rows,
    }
    return _shown(release.noise.guarantee(level, release.columns), facts, facts)


def _shown(guarantee: str, said: Mapping[str, Any], whole: Mapping[str, Any]) -> PromiseShown:
    left = dict(said)
    strategy = _parsed(left.pop("strategy", None))
    of_strategy = dict(strategy) if isinstance(strategy, Mapping) else {}
    unit = _unit(left, of_strategy)
    first = [*_whom(unit), *_whose(left), *_how(left)]
    lists = [*_columns(left), *_measured(of_strategy)]
    # Whatever nobody gave words to: a noise of another kind, say.
    rest = {"strategy": strategy} if strategy is not None and not isinstance(strategy, Mapping) else {}
    for name, fact in (left | of_strategy | rest).items():
        if fact not in (None, [], {}):
            lists.append(Listed(visible(name), tuple(_leaves(fact))))
    return PromiseShown(guarantee, tuple(first), tuple(lists), request_digest(whole))


def exact_text(facts: Mapping[str, Any]) -> str:
    """A request letter for letter, a line for each part; a strategy, which it holds as text, as what that text says."""
    promise = facts.get("promise")
    whole = dict(facts)
    if isinstance(promise, Mapping) and promise.get("strategy") is not None:
        whole["promise"] = {**promise, "strategy": _parsed(promise["strategy"])}
    return "\n".join(map(visible_line, json.dumps(whole, indent=1, ensure_ascii=False).split("\n")))


def visible(text: object) -> str:
    r"""Text as it can be read: signs that do not show are written out, and blanks at the ends stand in quotes.

    >>> print(visible("salary"), visible("sal\u200bary"), visible(" age"), visible(""))
    salary sal\u200bary " age" ""
    """
    shown = visible_line(str(text))
    is_plain = shown == shown.strip() and "  " not in shown and shown != ""
    return shown if is_plain else f'"{shown}"'


def visible_line(text: str) -> str:
    """A line, in which signs that do not show are written out."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _parsed(strategy: Any) -> Any:
    """The JSON in the text of a strategy; the text itself where it is none."""
    if not isinstance(strategy, str):
        return strategy
    try:
        parsed = json.loads(strategy)
    except (ValueError, RecursionError):
        return strategy
    return parsed


def _unit(left: dict[str, Any], of_strategy: dict[str, Any]) -> dict[str, Any]:
    """The unit among the facts, or among those of a strategy or of another noise, taken out of them.

    Where two of them say it and do not agree, the second stays where it is, and is shown there.
    """
    unit: dict[str, Any] = {}
    for holder, inner in ((left, None), (left, "noise"), (of_strategy, None), (of_strategy, "unit")):
        facts = holder if inner is None else holder.get(inner)
        if not isinstance(facts, Mapping):
            continue
        rest: dict[str, Any] = {}
        for name, fact in facts.items():
            is_unit = name in _UNIT and fact is not None and unit.get(name, fact) == fact
            (unit if is_unit else rest)[name] = fact
        if inner is not None:
            holder[inner] = rest
        else:
            holder.clear()
            holder.update(rest)
    return unit


def _whom(unit: dict[str, Any]) -> Iterator[Line]:
    for name, title in _UNIT.items():
        fact = unit.get(name, False if name in ("nonnegative", "exactly") else None)
        if name == "neighbours" and isinstance(fact, str):
            fact = _NEIGHBOURS.get(fact, fact)
        if fact is not None:
            yield Line(title, _said(fact))


def _whose(left: dict[str, Any]) -> Iterator[Line]:
    name, dataset, part = left.get("name"), left.pop("dataset", None), left.pop("part", None)
    yield Line("spends the budget of", f"{_said(dataset)}, a dataset of its own" if dataset == name else _said(dataset))
    if "independent" in left:
        yield Line("declared: none of these individuals is in another dataset", _said(left.pop("independent")))
    if isinstance(part, list) and len(part) == 2:
        partition, name = map(visible, part)
        yield Line("part", f"{name} of {partition}: its level does not add up with those of the other parts")
    elif part is not None:
        yield Line("part", _said(part))


def _how(left: dict[str, Any]) -> Iterator[Line]:
    words = {
        "name": "release",
        "version": "version of the data",
        "level": "epsilon",
        "rows": "rows",
        "number of rows": "number of rows",
        "numbers": "values",
        "grid": "grid of reals",
        "largest": "largest true value",
        "per": "level for each so much distance",
        "half_step": "noise in half steps",
        "id_column": "column of identifiers",
    }
    for name, title in words.items():
        fact = left.pop(name, None)
        if name == "rows" and isinstance(fact, str):
            fact = _ROWS.get(fact, fact)
        if fact is not None:
            yield Line(title, _said(fact))
    noise = left.get("noise")
    if isinstance(noise, str):
        left.pop("noise")
        yield Line("noise", "a function of each row's identifier (items)" if noise == "items" else _said(noise))


def _columns(left: dict[str, Any]) -> Iterator[Listed]:
    words = {
        "public": "public columns, published as they are, without noise",
        "columns": "columns that get noise",
        "drop": "columns left out",
    }
    for name, title in words.items():
        fact = left.pop(name, None)
        if fact not in (None, []):
            yield Listed(title, tuple(map(_said, fact)) if isinstance(fact, list) else (_said(fact),))


def _measured(of_strategy: dict[str, Any]) -> Iterator[Listed]:
    shares = of_strategy.get("shares")
    if isinstance(shares, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in shares):
        of_strategy.pop("shares")
        measured = (f"{_names(names) or 'total'}, with {_said(share)} of the level" for names, share in shares)
        yield Listed("what is measured", tuple(measured))
    domain = of_strategy.get("domain")
    if isinstance(domain, Mapping):
        of_strategy.pop("domain")
        for axis, facts in domain.items():
            yield Listed(f"labels of {visible(axis)}", tuple(_leaves(facts)))


def _names(names: Any) -> str:
    return " ".join(map(visible, names)) if isinstance(names, list) else _said(names)


def _said(fact: Any) -> str:
    """A fact in one line, whatever it is made of."""
    if isinstance(fact, bool):
        return _YES[fact]
    if isinstance(fact, Mapping):
        return "; ".join(f"{visible(name)}: {_said(part)}" for name, part in fact.items())
    if isinstance(fact, list):
        return ", ".join(map(_said, fact))
    return visible(fact)


def _leaves(fact: Any, before: str = "") -> Iterator[str]:
    """Every leaf of a fact, behind the names that lead to it; a list has a leaf for each of its parts."""
    if isinstance(fact, Mapping):
        for name, part in fact.items():
            yield from _leaves(part, f"{before}{visible(name)}: ")
    elif isinstance(fact, list) and fact:
        yield from (f"{before}{_said(part)}" for part in fact)
    else:
        yield f"{before}{_said(fact)}"
