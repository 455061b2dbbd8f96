"""Requests to publish, as a service reads them: from JSON, from a form, and from a proposal that was approved."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from utmost.core.exact.arguments import mapping
from utmost.core.exact.written_levels import level_text
from utmost.interfaces.service.api.requested_levels import read_level
from utmost.interfaces.service.workers.axis_limits import check_listed
from utmost.publish.ledger.requests import AnswerRequest, PublishRequest

LONGEST_REQUEST = 1 << 19
"""The largest number of characters of a proposed request as JSON: so many a page shows whole. What it does not show
whole, nobody can approve."""


def read_request(members: Mapping[str, Any]) -> PublishRequest:
    """The request that JSON values describe, see `PublishRequest.facts`; what is left out has its default.

    Raises:
        OutOfRange, NotANumber, NotALevel, WrongKind: for values that describe none, or a promise that no service keeps.

    >>> promise = {"columns": "admitted", "noise": {"kind": "cells", "sensitivity": 1, "cells": 1}}
    >>> read_request({"name": "admissions", "level": "1/4", "promise": promise}).dataset
    'admissions'
    """
    noise = mapping(mapping(members, "request").get("promise") or {}, "promise").get("noise")
    check_listed(_parsed(noise.get("plan")) if isinstance(noise, Mapping) else None)
    return served(PublishRequest.of_facts(_with_short_level(members)))


def read_answer_request(members: Mapping[str, Any]) -> AnswerRequest:
    """The request to answer a release that JSON values describe, see `AnswerRequest.facts`.

    Raises:
        OutOfRange, NotANumber, NotALevel: for values that describe none.

    >>> read_answer_request({"name": "admissions", "level": "1"}).level
    level(epsilon=1)
    """
    return AnswerRequest.of_facts(_with_short_level(members))


def served(request: PublishRequest) -> PublishRequest:
    """The request, once it promises what a service can keep; a refusal names the field, for a client as well.

    Raises:
        OutOfRange: where a service might take minutes to answer it. Unsupported: for noise of one level alone.
    """
    request.promise.lasting_noise.check_served()
    return request


def proposable(request: PublishRequest) -> PublishRequest:
    """The request as a second person approves it: of the version that it makes, whatever its idempotency key."""
    return replace(request, version=1 if request.version is None else request.version, request=None)


def approved_facts(request: PublishRequest | AnswerRequest) -> dict[str, Any]:
    """The facts of a request that a proposal keeps beside name, version and level: all of a publication, as JSON."""
    return request.facts() if isinstance(request, PublishRequest) else {}


def _with_short_level(members: Mapping[str, Any]) -> dict[str, Any]:
    """The values, their level found short enough that an answer at it is drawn at once."""
    written = members.get("level")
    return {**members} if written is None else {**members, "level": level_text(read_level(written))}


def _parsed(plan: Any) -> Any:
    """The JSON values in the text of a plan; None where there are none."""
    try:
        return json.loads(plan) if isinstance(plan, str) else plan
    except (ValueError, RecursionError):
        return None
