"""Show a promise to the person who approves it: complete, in words, with nothing cut.

An approval is for one object, the request as JSON. Parts that have words are shown in words, the most important first;
all other parts are shown under their names, so that a part which is added later is shown, too. The object follows
unchanged, with its digest.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from utmost.core.exact.field_forms import json_forms, rows_of
from utmost.core.exact.levels import Level
from utmost.core.exact.numbers import written_number
from utmost.core.exact.written_levels import level_from_text, level_text, level_words
from utmost.core.privacy.amount import Amount
from utmost.core.privacy.unit import Unit
from utmost.errors import UtmostError
from utmost.interfaces.service.api.record_forms import JsonRecord
from utmost.interfaces.service.approvals import request_digest
from utmost.interfaces.service.publish_requests import plan_json, read_request
from utmost.publish.ledger.requests import PublishRequest
from utmost.publish.ledger.state import Published
from utmost.publish.promises.noise_kinds import KINDS, kind_named
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.promised_noise import Noise
from utmost.publish.promises.sum_noise import MEASURED
from utmost.publish.promises.until import Until

_YES = {True: "yes", False: "no"}
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, MemoryError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Listed(JsonRecord):
    """A complete list in a promise, such as the list of its public columns."""

    of: Annotated[str, Field(examples=["columns published as they are, without noise"])]
    names: Annotated[tuple[str, ...], Field(examples=[["department"]])]


@dataclass(frozen=True, slots=True)
class Line(JsonRecord):
    """A part of a promise, in words."""

    of: Annotated[str, Field(examples=["spends the budget of"])]
    words: Annotated[str, Field(examples=["admissions"])]


@dataclass(frozen=True, slots=True)
class ShownPromise(JsonRecord):
    """A promise at a level, in words."""

    # The guarantee in one sentence, or a sentence that the request cannot be read.
    guarantee: Annotated[str, Field(examples=["Adding or removing any one individual changes ..."])]
    # Who is protected, under which assumptions, and which budget is spent.
    first: tuple[Line, ...]
    # Facts of the noise that a decision does not need.
    experts: tuple[Line, ...]
    # Columns, measured sums, and all labels.
    lists: tuple[Listed, ...]
    # SHA-256 of the complete request, see `request_digest`.
    digest: Annotated[str, Field(examples=["9f86d081884c7d65"])]


def of_request(facts: Mapping[str, Any], proposer: str) -> ShownPromise:
    """Show a proposed request to publish; show as much of an unreadable request as can be read."""
    try:
        request = read_request(facts)
        guarantee = _guarantee(request.promise, request.level)
    except (UtmostError, *_UNREADABLE):
        guarantee = "This request cannot be read: nothing is promised by it, and it cannot be approved."
    promise = facts.get("promise")
    request_facts = {name: fact for name, fact in facts.items() if name != "promise" or not isinstance(fact, Mapping)}
    if isinstance(facts.get("independent"), bool):
        has_declared = "has declared" if facts["independent"] else "has not declared"
        request_facts["independent"] = f"{proposer} {has_declared} that these people are in no other dataset."
    return _shown_promise(guarantee, promise if isinstance(promise, Mapping) else {}, request_facts, facts)


def of_release(release: Published, level: Level) -> ShownPromise:
    """Show the promise of a release at the level to which it is to be relaxed."""
    facts, promise = relaxed_facts(release, level), release.promise
    guarantee = _guarantee(promise, level)
    return _shown_promise(
        guarantee,
        promise.facts(),
        {name: facts[name] for name in facts if name != "promise"},
        facts,
    )


def _guarantee(promise: Promise, level: Level) -> str:
    """Return the guarantee with its assumptions, as in a statement."""
    return visible_line(f"{promise.guarantee(level)} {promise.assumed}".rstrip())


def relaxed_facts(release: Published, level: Level) -> dict[str, Any]:
    """Return all facts of a request to relax a release, as JSON."""
    facts = {name: fact for name, fact in release.request.facts().items() if name not in _OF_THE_FIRST_ANSWER}
    return facts | {"level": level_text(level), "number of rows": release.rows, "promise": release.promise.facts()}


_OF_THE_FIRST_ANSWER = {"promise", "level", "request", "independent"}


def _shown_promise(
    guarantee: str, promise: Mapping[str, Any], request: Mapping[str, Any], complete_facts: Mapping[str, Any]
) -> ShownPromise:
    left = _with_plan(promise)
    noise = dict(left.pop("noise")) if isinstance(left.get("noise"), Mapping) else {}
    plan = dict(noise.pop("plan")) if isinstance(noise.get("plan"), Mapping) else {}
    unit = dict(plan.pop("unit")) if isinstance(plan.get("unit"), Mapping) else _pop_facts(noise, json_forms(Unit))
    with suppress(UtmostError, *_UNREADABLE):  # a unit that cannot be read is shown as it is
        amount = Amount.of(unit["amount"])
        changes = {name: written_number(unit[name], name) for name in ("sensitivity", "in_total") if name in unit}
        unit |= {name: f"{amount.text(steps)} of {amount.name}, {steps} steps" for name, steps in changes.items()}
    for name in ("nonnegative", "exactly"):  # a plan repeats these fields of its unit
        if name in plan and plan[name] == unit.get(name):
            del plan[name]
    if "shares" in plan and left.get("columns") == [MEASURED]:
        del left["columns"]  # `_measured_lists` names what is published with noise
    kind = noise.get("kind")
    drawn = kind_named(kind) if isinstance(kind, str) and kind in KINDS else Noise
    shown_request = dict(request)
    if shown_request.get("dataset") is not None and shown_request.get("dataset") == shown_request.get("name"):
        shown_request["dataset"] = f"{shown_request['dataset']}, a separate dataset"
    keyed = _pop_facts(left, ["keyed_by_id"])
    rows = [*_rows(Unit, unit), *_rows(Promise, {"proved": False} | _pop_facts(left, ["proved"]))]
    rows += [
        *_rows(PublishRequest, shown_request),
        *_part_lines(left),
        *_until_lines(left, request.get("level")),
        *_rows(Promise, left),
    ]
    of_noise = [*_rows(Promise, keyed), *_rows(drawn, {name: fact for name, fact in noise.items() if name != "kind"})]
    if kind is not None:
        of_noise.append(Line("kind of noise", _in_one_line(kind)))
    rows += [*(row for row in of_noise if isinstance(row, Listed)), *_measured_lists(plan)]
    rows += [Listed(visible(name), tuple(_leaves(fact))) for name, fact in plan.items() if fact not in (None, [], {})]
    lines = tuple(row for row in rows if isinstance(row, Line))
    lists = tuple(row for row in rows if isinstance(row, Listed))
    experts = tuple(row for row in of_noise if isinstance(row, Line))
    return ShownPromise(guarantee, lines, experts, lists, request_digest(complete_facts))


def _with_plan(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of a promise, with the plan as JSON where the promise has it as text."""
    noise = facts.get("noise")
    if not isinstance(noise, Mapping):
        return dict(facts)
    return {**facts, "noise": {name: plan_json(fact) if name == "plan" else fact for name, fact in noise.items()}}


def _pop_facts(facts: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: facts.pop(name) for name in names if name in facts}


def _rows(kind: type, facts: Mapping[str, Any]) -> Iterator[Line | Listed]:
    """Yield a line for each field with a single value, and a list for each other field."""
    for title, fact in rows_of(kind, facts):
        if isinstance(fact, list | Mapping):
            yield Listed(visible(title), tuple(_leaves(fact)))
        else:
            yield Line(visible(title), _in_one_line(fact))


def exact_text(facts: Mapping[str, Any]) -> str:
    """Return a request as indented JSON without any change, except that the text of a plan becomes JSON."""
    promise = facts.get("promise")
    complete_facts = {**facts, "promise": _with_plan(promise)} if isinstance(promise, Mapping) else dict(facts)
    return "\n".join(map(visible_line, json.dumps(complete_facts, indent=1, ensure_ascii=False).split("\n")))


def visible(text: object) -> str:
    r"""Make text readable: escape invisible characters, and quote text with blanks at its ends.

    >>> print(visible("salary"), visible("sal\u200bary"), visible(" age"), visible(""))
    salary sal\u200bary " age" ""
    """
    shown = visible_line(str(text))
    is_plain = shown == shown.strip() and "  " not in shown and shown != ""
    return shown if is_plain else f'"{shown}"'


def visible_line(text: str) -> str:
    """Escape the invisible characters of a line."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def _part_lines(left: dict[str, Any]) -> Iterator[Line]:
    part = left.pop("part", None)
    if isinstance(part, list) and len(part) == 2:
        partition, name = map(visible, part)
        yield Line("part", f"{name} of {partition}: its level does not add up with the levels of the other parts")
    elif part is not None:
        yield Line("part", _in_one_line(part))


def _until_lines(left: dict[str, Any], level: Any) -> Iterator[Line | Listed]:
    """Yield lines about the stopping rule and its levels, and remove the rule from `left` if it can be read."""
    if left.get("until") is None:
        return
    try:
        until = Until.of_facts(left["until"])
        ladder = () if level is None else until.levels(level_from_text(level))
    except (UtmostError, *_UNREADABLE):
        return
    del left["until"]
    yield Line("stops as soon as", visible(until.words))
    if ladder:
        shown = ", ".join(level_words(at) for at in ladder)
        yield Line("ladder", f"epsilon = {shown}: the level reached is spent, at most {level_words(ladder[-1])}")
    else:
        yield Line("ladder", f"{until.steps} levels, each twice the one before")


def _measured_lists(of_plan: dict[str, Any]) -> Iterator[Listed]:
    shares = of_plan.get("shares")
    if isinstance(shares, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in shares):
        of_plan.pop("shares")
        measured = []
        for names, share in shares:
            name = " ".join(map(visible, names)) if isinstance(names, list) else _in_one_line(names)
            measured.append(f"{name or 'total'}, with {_in_one_line(share)} of the level")
        yield Listed("sums published with noise", tuple(measured))
    domain = of_plan.get("domain")
    if isinstance(domain, Mapping):
        of_plan.pop("domain")
        for axis, facts in domain.items():
            what = "declaration" if isinstance(facts, Mapping) else "labels"  # bins are declared by their edges
            yield Listed(f"{what} of {visible(axis)}", tuple(_leaves(_with_open_ends(facts))))


def _with_open_ends(facts: Any) -> Any:
    """Return the facts of an axis with the words "no end" for open ends of bins."""
    if isinstance(facts, Mapping):
        return {name: _with_open_ends(fact) for name, fact in facts.items()}
    if isinstance(facts, list):
        return list(map(_with_open_ends, facts))
    return "no end" if facts is None else facts


def _in_one_line(fact: Any) -> str:
    if isinstance(fact, bool):
        return _YES[fact]
    if isinstance(fact, Mapping):
        return "; ".join(f"{visible(name)}: {_in_one_line(part)}" for name, part in fact.items())
    if isinstance(fact, list):
        return ", ".join(map(_in_one_line, fact))
    return visible(fact)


def _leaves(fact: Any, before: str = "") -> Iterator[str]:
    """Yield each single value in a fact after the names that lead to it; a part of a list is one value."""
    if isinstance(fact, Mapping):
        for name, part in fact.items():
            yield from _leaves(part, f"{before}{visible(name)}: ")
    elif isinstance(fact, list) and fact:
        yield from (f"{before}{_in_one_line(part)}" for part in fact)
    else:
        yield f"{before}{_in_one_line(fact)}"
