"""Read requests to publish from JSON, from a form and from an approved proposal, and check them for a service."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.core.exact.written_levels import level_text
from utmost.errors import BadTable, OutOfRange
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.workers.axis_limits import MOST_DRAWN, check_listed
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest
from utmost.publish.promises.declared_columns import check_released, declared_columns
from utmost.publish.promises.promise import Promise
from utmost.publish.promises.sum_noise import SumNoise
from utmost.publish.releases.tables_before_draw import table_before_draw
from utmost.tables.files import files

LONGEST_REQUEST = 1 << 19
"""The largest number of characters of a proposed request as JSON, so that a page can show it. A request that is not
shown completely cannot be approved."""


_LISTS = ("columns", "public", "drop", "id_column")


def read_request(members: Mapping[str, Any]) -> PublishRequest:
    """Read a request to publish from JSON values, see `PublishRequest.facts`; missing fields have defaults."""
    promise = mapping(mapping(members, "request").get("promise") or {}, "promise")
    noise = promise.get("noise")
    for name in _LISTS:
        listed = promise.get(name)
        if not all(isinstance(one, str) for one in (listed if isinstance(listed, list | tuple) else (listed or "",))):
            raise OutOfRange(
                f"{name} must list names of columns", came=listed, remedy=f'Send, for example, "{name}": ["n"].'
            )
    check_listed(plan_json(noise.get("plan")) if isinstance(noise, Mapping) else None)
    return served(PublishRequest.of_facts(_with_short_level(members)))


def read_answer_request(members: Mapping[str, Any]) -> AnswerRequest:
    """Read a request for another level from JSON values, see `AnswerRequest.facts`."""
    return AnswerRequest.of_facts(_with_short_level(members))


def served(request: PublishRequest) -> PublishRequest:
    """Return a request after checks: a table can have its columns, its draw is fast, its answer can be a CSV file."""
    promise, noise = request.promise, request.promise.lasting_noise
    noise.check_served()
    if isinstance(noise, SumNoise):
        _check_drawn(noise.rows, promise, "the plan of a request must measure", "sums")
    if not noise.is_by_plan:
        names = list(dict.fromkeys((*promise.columns, *promise.public, *promise.drop, *promise.id_column)))
        check_released(promise.columns, names, promise.single_id_column)
        declared_columns(names, promise.columns, promise.public, promise.drop)
    _check_given_as_csv({name: [] for name in (*promise.columns, *promise.public)})
    for axis in noise.plan.domain.axes if isinstance(noise, SumNoise) else ():
        for level in range(len(axis.levels)):
            _check_given_as_csv(axis.label_columns(level))
    return request


def check_table_served(table: Any, promise: Promise) -> None:
    """Check, before any draw, that a page can offer the table of an answer as CSV, and that its draw is fast."""
    made = None if promise.noise.is_by_plan else table_before_draw(table, promise)
    if made is not None:
        _check_given_as_csv(made)
        if promise.until is not None and not promise.noise.is_by_plan:
            cells = sum(map(len, (made[name] for name in promise.columns)))
            _check_drawn(cells, promise, "a table that stops by a rule must have", "cells")


def check_drawn_together(requests: Sequence[PublishRequest]) -> None:
    """Check that the plans of all tables of one request draw few enough numbers, at all levels of stopping rules."""
    drawn = 0
    for promise in (request.promise for request in requests):
        steps = 1 if promise.until is None else promise.until.steps
        drawn += promise.noise.rows * steps if isinstance(promise.noise, SumNoise) else 0
    if drawn > MOST_DRAWN:
        required = f"the plans of one request must measure at most {MOST_DRAWN} sums together, at all levels"
        remedy = "Publish the tables in several requests, or on the machine that has the ledger."
        raise OutOfRange(required, came=drawn, where="measures", remedy=remedy)


def _check_drawn(numbers: int, promise: Promise, must: str, noun: str) -> None:
    """Check that a request draws few enough numbers, at all levels of its stopping rule."""
    most = MOST_DRAWN if promise.until is None else MOST_DRAWN // promise.until.steps
    if numbers > most:
        remedy = "Measure smaller tables, or publish the release on the machine that has the ledger."
        if promise.until is not None:
            remedy = f"Use fewer steps in until=. {remedy}"
        raise OutOfRange(f"{must} at most {most} {noun} in a service", came=numbers, where="promise", remedy=remedy)


def _check_given_as_csv(columns: Any) -> None:
    try:
        files.check_fits(columns, Path("released.csv"))
    except BadTable as error:
        remedy = "Rename the column: a service also gives each release as CSV."
        raise BadTable(error.required, came=error.came, remedy=remedy) from None


def proposable(request: PublishRequest) -> PublishRequest:
    """Return the request as a second person approves it: with a version, and without its idempotency key."""
    return replace(request, version=1 if request.version is None else request.version, request=None)


def approved_facts(request: PublishRequest | AnswerRequest) -> dict[str, Any]:
    """Return the facts that a proposal stores beside name, version and level: for a publication, its request."""
    return request.facts() if isinstance(request, PublishRequest) else {}


def _with_short_level(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a request, after a check that the level has few enough digits for a fast draw."""
    written = members.get("level")
    return {**members} if written is None else {**members, "level": level_text(read_level(written))}


def plan_json(plan: Any) -> Any:
    """Return the JSON in the text of a plan; the text itself if it is no JSON."""
    try:
        return json.loads(plan) if isinstance(plan, str) else plan
    except (ValueError, RecursionError):
        return plan
